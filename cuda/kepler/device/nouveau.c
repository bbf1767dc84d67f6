// SPDX-License-Identifier: MIT
/*
 * GPUs that nouveau drives, through libdrm_nouveau. Each opened device has its own file, and with
 * it its own address space. count() opens each GPU to look at it, and keeps that device as the
 * GPU's spare, for a later open(). GPUs are sorted by their places on the bus: render nodes have
 * the order in which drivers happened to be ready.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nouveau_drm.h>
#include <xf86drm.h>

#include <nvif/class.h>
#include <nvif/cl0080.h>

#include "../../api/process.h"
#include "board.h"
#include "nv.h"

enum { FIRST_RENDER_NODE = 128, MAX_NODES = 64, CHIP_GK110 = 0xf0, CHIP_GK110B = 0xf1 };
#define GETPARAM_VRAM_USED 19 /* of a newer uapi nouveau_drm.h */

/*
 * When a GPU is opened first, libdrm_nouveau empties the file that this variable names, and writes
 * there: not in a program that may write files which its caller may not.
 */
static bool libdrm_may_write(void)
{
	if (environment_is_own() || !getenv("NOUVEAU_LIBDRM_OUT"))
		return true;
	fprintf(stderr,
		"libcuda: no GPU is used in a program with rights that its caller lacks while NOUVEAU_LIBDRM_OUT is set: unset it\n");
	return false;
}

static int open_node(unsigned int node)
{
	char path[32];
	drmVersionPtr v;
	bool ours;
	int fd;

	snprintf(path, sizeof(path), "/dev/dri/renderD%u", FIRST_RENDER_NODE + node);
	fd = own_descriptor(open(path, O_RDWR | O_CLOEXEC));
	if (fd < 0)
		return -1;
	v = drmGetVersion(fd);
	ours = v && !strcmp(v->name, "nouveau");
	drmFreeVersion(v);
	if (ours)
		return fd;
	close(fd);
	return -1;
}

static bool attach(struct nv_device *d, int fd)
{
	struct nv_device_v0 args = { .device = ~0ull };

	d->fd = fd;
	if (nouveau_drm_new(fd, &d->drm) ||
	    nouveau_device_new(&d->drm->client, NV_DEVICE, &args, sizeof(args), &d->dev) ||
	    nouveau_client_new(d->dev, &d->client))
		return false;
	return d->dev->chipset == CHIP_GK110 || d->dev->chipset == CHIP_GK110B;
}

static void detach(struct nv_device *d)
{
	nouveau_client_del(&d->client);
	nouveau_device_del(&d->dev);
	nouveau_drm_del(&d->drm);
	close(d->fd);
	free(d);
}

/* NULL: no GPU for this library, or it can't be opened */
static struct nv_device *try_node(unsigned int node)
{
	struct nv_device *d;
	int fd = open_node(node);

	if (fd < 0)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d) {
		close(fd);
		return NULL;
	}
	if (attach(d, fd))
		return d;
	detach(d);
	return NULL;
}

/* .spare: a device not in use, or NULL */
static pthread_mutex_t gpus_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpu {
	unsigned int node;
	uint64_t place; /* on the bus */
	struct nv_device *spare;
} gpus[MAX_NODES];
static unsigned int nr_gpus;

/* Sorts GPUs by their place on the bus; unknown places come last. */
static uint64_t place_of(struct nv_device *d)
{
	drmDevicePtr pci = NULL;
	uint64_t place = UINT64_MAX;

	if (!drmGetDevice2(d->fd, 0, &pci) && pci->bustype == DRM_BUS_PCI)
		place = (uint64_t)pci->businfo.pci->domain << 16 | pci->businfo.pci->bus << 8 |
			pci->businfo.pci->dev << 3 | pci->businfo.pci->func;
	if (pci)
		drmFreeDevice(&pci);
	return place;
}

static int by_place(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static unsigned int count(void)
{
	bool may = libdrm_may_write();
	unsigned int node, i;

	pthread_mutex_lock(&gpus_lock);
	for (i = 0; i < nr_gpus; i++)
		if (gpus[i].spare)
			detach(gpus[i].spare);
	nr_gpus = 0;
	for (node = 0; node < MAX_NODES && may; node++) {
		gpus[nr_gpus].spare = try_node(node);
		gpus[nr_gpus].node = node;
		if (gpus[nr_gpus].spare) {
			gpus[nr_gpus].place = place_of(gpus[nr_gpus].spare);
			nr_gpus++;
		}
	}
	qsort(gpus, nr_gpus, sizeof(gpus[0]), by_place);
	i = nr_gpus;
	pthread_mutex_unlock(&gpus_lock);
	return i;
}

static struct nv_device *take_device(unsigned int index)
{
	struct nv_device *d = NULL;

	pthread_mutex_lock(&gpus_lock);
	if (index < nr_gpus) {
		d = gpus[index].spare;
		gpus[index].spare = NULL;
		d = d ? d : try_node(gpus[index].node);
	}
	pthread_mutex_unlock(&gpus_lock);
	return d;
}

/* Keep @d as the GPU's spare; close it where there is one. */
static void put_back(unsigned int index, struct nv_device *d)
{
	struct nv_device *other;

	pthread_mutex_lock(&gpus_lock);
	other = gpus[index].spare;
	gpus[index].spare = other ? other : d;
	pthread_mutex_unlock(&gpus_lock);
	if (other)
		detach(d);
}

static uint64_t param(struct nv_device *d, uint64_t which, uint64_t otherwise)
{
	uint64_t value;

	return nouveau_getparam(d->dev, which, &value) ? otherwise : value;
}

static uint32_t nr_smx(struct nv_device *d)
{
	uint32_t n = param(d, NOUVEAU_GETPARAM_GRAPH_UNITS, 0) >> 8 & 0xffff;

	return n ? n : 13;
}

/* of a vGPU whose copies run beside kernels, though all engines are on one runlist in the guest */
enum { REVISION_COPIES_APART = 0xc1 };

/*
 * Whether a copy engine is on another runlist than GR. If not, one PBDMA takes the work of both,
 * and a copy waits for the kernel before it. If nouveau does not answer, it is taken for no.
 * Numbers: nvif/cl0080.h of Linux.
 */
static bool copies_apart(struct nv_device *d)
{
	enum { ENGINES_GR = 1 << 1, ENGINES_CE = 1 << 7, MAX_RUNLISTS = 8 };
	struct {
		uint8_t version, count, pad[6];
		struct {
			uint64_t what, value;
		} info[MAX_RUNLISTS];
	} ask = { .version = 1, .count = MAX_RUNLISTS };
	unsigned int i;

	for (i = 0; i < MAX_RUNLISTS; i++) {
		ask.info[i].what = 1ull << 32 | 0x100; /* the engines of a runlist */
		ask.info[i].value = i;
	}
	if (nouveau_object_mthd(&d->dev->object, NV_DEVICE_V0_INFO, &ask, sizeof(ask)))
		return false;
	for (i = 0; i < MAX_RUNLISTS; i++)
		if (ask.info[i].what != UINT64_MAX && (ask.info[i].value & ENGINES_CE) &&
		    !(ask.info[i].value & ENGINES_GR))
			return true;
	return false;
}

static enum device_status describe(unsigned int index, struct device_facts *out)
{
	struct nv_device *d = take_device(index);
	drmDevicePtr pci = NULL;

	memset(out, 0, sizeof(*out));
	if (!d)
		return DEVICE_NONE;
	out->vram = d->dev->vram_size;
	out->nr_smx = nr_smx(d);
	out->copies_apart = copies_apart(d);
	if (!drmGetDevice2(d->fd, DRM_DEVICE_GET_PCI_REVISION, &pci) &&
	    pci->bustype == DRM_BUS_PCI) {
		out->copies_apart |= pci->deviceinfo.pci->revision_id == REVISION_COPIES_APART;
		out->pci_id = pci->deviceinfo.pci->device_id;
		out->domain = pci->businfo.pci->domain;
		out->bus = pci->businfo.pci->bus;
		out->slot = pci->businfo.pci->dev;
	}
	if (pci)
		drmFreeDevice(&pci);
	snprintf(out->name, sizeof(out->name), "%s", board_name(out->pci_id));
	put_back(index, d);
	return DEVICE_OK;
}

static void nv_close(struct device *dev)
{
	struct nv_device *d = nv(dev);
	unsigned int i;

	for (i = 0; i < NR_GPU_QUEUES; i++)
		nv_queue_close(d, i);
	nv_memory_close(d);
	nv_log_close(d);
	pthread_mutex_destroy(&d->check_lock);
	detach(d);
}

static enum device_status nv_open(unsigned int index, bool moves, struct device **out)
{
	struct nv_device *d = take_device(index);
	struct device_memory *marks;
	enum device_status ret;

	if (!d)
		return DEVICE_NONE;
	d->base.ops = &device_nouveau;
	pthread_mutex_init(&d->check_lock, NULL);
	d->nr_smx = nr_smx(d);
	d->moves = moves;
	nv_log_open(d);
	ret = nv_alloc(&d->base, PLACE_HOST, 4096, &marks);
	if (!ret) {
		d->marks = nv_memory(marks);
		nv_marks_open(d);
		ret = nv_launch_open(d);
	}
	if (!ret)
		ret = nv_queue_open(d, QUEUE_COMPUTE);
	if (!ret)
		ret = nv_wait(d, QUEUE_COMPUTE, d->queue[QUEUE_COMPUTE].seq);
	if (ret) {
		nv_close(&d->base);
		return ret;
	}
	*out = &d->base;
	return DEVICE_OK;
}

/* Where the kernel does not tell: what this context has. */
static uint64_t vram_used(struct device *dev)
{
	struct nv_device *d = nv(dev);
	uint64_t mine = 0;
	unsigned int i;

	for (i = 0; i < d->nr_refs; i++)
		if (d->buffer[i]->kind != PLACE_HOST && !d->away)
			mine += d->buffer[i]->bo->size;
	return param(d, GETPARAM_VRAM_USED, mine);
}

static uint64_t in_use(unsigned int index)
{
	struct nv_device *d = take_device(index);
	uint64_t used;

	if (!d)
		return 0;
	used = param(d, GETPARAM_VRAM_USED, 0);
	put_back(index, d);
	return used;
}

const struct device_ops device_nouveau = {
	.count = count,
	.describe = describe,
	.open = nv_open,
	.close = nv_close,
	.vram_used = vram_used,
	.in_use = in_use,
	.alloc = nv_alloc,
	.view = nv_view,
	.release = nv_release,
	.move = nv_move,
	.copies_beside = nv_copies_beside,
	.copy = nv_copy,
	.fill = nv_fill,
	.launch = nv_launch,
	.stamp = nv_stamp,
	.host_begin = nv_host_begin,
	.host_done = nv_host_done,
	.poll = nv_poll,
	.cause = nv_cause,
};
