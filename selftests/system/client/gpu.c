// SPDX-License-Identifier: GPL-2.0-only
/* gpu.h has the contracts. selftests/model/attacks/linux.c uses bail() without a session. */
#include "gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <nouveau_drm.h>
#include <nvif/class.h>
#include <nvif/cl0080.h>
#include <xf86drm.h>

#include "methods.h"
#include "tap.h"

/* channel table of PFIFO (rnndb fifo/gf100_pfifo.xml, nouveau fifo/gk104.c) */
enum { CHANNEL_TABLE = 0x800000, CHANNEL_INST_MASK = 0x0fffffff, CHANNEL_RUNLIST_SHIFT = 16 };
enum { BAR0_SIZE = 16 << 20 };

void bail(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	exit(1);
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

bool kernel_before(unsigned int major, unsigned int minor)
{
	unsigned int x = 0, y = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &x, &y) != 2)
		bail("no kernel version");
	return x < major || (x == major && y < minor);
}

static int open_nouveau_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmVersionPtr v;
	bool ours;

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

static int find_node(void)
{
	char path[32];
	int i, fd;

	for (i = 128; i < 192; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		fd = open_nouveau_node(path);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static const volatile uint32_t *map_bar0(int drm_fd)
{
	char path[64];
	struct stat st;
	void *map;
	int fd;

	if (fstat(drm_fd, &st))
		return NULL;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/resource0", major(st.st_rdev),
		 minor(st.st_rdev));
	fd = open(path, O_RDONLY | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = mmap(NULL, BAR0_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

void gpu_open(struct gpu *g, const char *node)
{
	struct nv_device_v0 args = { .device = ~0ull };

	memset(g, 0, sizeof(*g));
	g->fd = node ? open_nouveau_node(node) : find_node();
	if (g->fd < 0)
		bail("no render node driven by nouveau%s%s", node ? " at " : "", node ? node : "");
	if (nouveau_drm_new(g->fd, &g->drm))
		bail("nouveau_drm_new");
	if (nouveau_device_new(&g->drm->client, NV_DEVICE, &args, sizeof(args), &g->dev))
		bail("nouveau_device_new");
	if (nouveau_client_new(g->dev, &g->client))
		bail("nouveau_client_new");
	if (g->dev->chipset != 0xf0 && g->dev->chipset != 0xf1)
		bail("chipset 0x%x is not a GK110 or GK110B", g->dev->chipset);
	g->bar0 = map_bar0(g->fd);
}

void gpu_close(struct gpu *g)
{
	if (g->bar0)
		munmap((void *)g->bar0, BAR0_SIZE);
	while (g->nr_parked)
		nouveau_object_del(&g->parked[--g->nr_parked]);
	nouveau_client_del(&g->client);
	nouveau_device_del(&g->dev);
	nouveau_drm_del(&g->drm);
	close(g->fd);
}

uint64_t gpu_param(struct gpu *g, uint64_t param, uint64_t otherwise)
{
	uint64_t value;

	return nouveau_getparam(g->dev, param, &value) ? otherwise : value;
}

struct nouveau_bo *bo_new(struct gpu *g, uint32_t domain, uint64_t size)
{
	struct nouveau_bo *bo = NULL;

	if (nouveau_bo_new(g->dev, domain | NOUVEAU_BO_MAP, 4096, size, NULL, &bo))
		bail("buffer of %llu bytes in %s", (unsigned long long)size,
		     domain & NOUVEAU_BO_VRAM ? "VRAM" : "GART");
	if (nouveau_bo_map(bo, 0, g->client))
		bail("mapping a buffer");
	return bo;
}

struct nouveau_bo *bo_new_kind(struct gpu *g, uint64_t size, uint8_t kind, uint32_t tile_mode)
{
	union nouveau_bo_config config = { .nvc0 = { .memtype = kind, .tile_mode = tile_mode } };
	struct nouveau_bo *bo = NULL;

	if (nouveau_bo_new(g->dev, NOUVEAU_BO_VRAM, 0x20000, size, &config, &bo))
		bail("buffer of kind 0x%02x", kind);
	return bo;
}

void bo_free(struct nouveau_bo **bo)
{
	nouveau_bo_ref(NULL, bo);
}

int bo_idle(struct nouveau_bo *bo)
{
	struct drm_nouveau_gem_cpu_prep req = {
		.handle = bo->handle,
		.flags = NOUVEAU_GEM_CPU_PREP_NOWAIT | NOUVEAU_GEM_CPU_PREP_WRITE,
	};

	return drmCommandWrite(nouveau_drm(&bo->device->object)->fd, DRM_NOUVEAU_GEM_CPU_PREP, &req,
			       sizeof(req));
}

int chan_open(struct gpu *g, enum gpu_engine engine, struct gpu_chan *c)
{
	struct nve0_fifo args = { .engine = engine };
	int ret;

	memset(c, 0, sizeof(*c));
	c->g = g;
	c->engine = engine;
	ret = nouveau_object_new(&g->dev->object, 0, NOUVEAU_FIFO_CHANNEL_CLASS, &args,
				 sizeof(args), &c->obj);
	if (ret)
		return ret;
	c->chid = ((struct nouveau_fifo *)c->obj->data)->channel;
	ret = nouveau_pushbuf_new(g->client, c->obj, 4, 32 * 1024, true, &c->push);
	if (ret)
		goto err_chan;
	ret = nouveau_object_new(c->obj, 0xbeef0000 | CLASS_COPY, CLASS_COPY, NULL, 0, &c->copy);
	if (ret)
		goto err_push;
	c->done = bo_new(g, NOUVEAU_BO_GART, 4096);
	memset(c->done->map, 0, 4096);
	return 0;

err_push:
	nouveau_pushbuf_del(&c->push);
err_chan:
	nouveau_object_del(&c->obj);
	return ret;
}

void chan_must_open(struct gpu *g, enum gpu_engine engine, struct gpu_chan *c)
{
	int ret = chan_open(g, engine, c);

	if (ret)
		bail("channel on %s: %s", engine == ENGINE_CE ? "CE" : "GR", strerror(-ret));
	job_begin(c, 8);
	emit(c, SUBC_COPY, SET_OBJECT, CLASS_COPY);
	ret = job_run(c);
	if (ret)
		bail("first job of a channel: %s", strerror(-ret));
}

void chan_close(struct gpu_chan *c)
{
	bo_free(&c->done);
	nouveau_object_del(&c->copy);
	nouveau_pushbuf_del(&c->push);
	/*
	 * Stock nouveau (Linux 6.12.117) forgets to take the channel out of a fence that is waited
	 * for when the GPU has just reached it (nouveau_fence_no_signaling()). When the channel's
	 * memory is used again, the next submission with a buffer that has this fence is an oops in
	 * nouveau_fence_sync(). So the first channels go when the GPU is closed.
	 */
	if (c->obj && c->g->nr_parked < sizeof(c->g->parked) / sizeof(c->g->parked[0])) {
		c->g->parked[c->g->nr_parked++] = c->obj;
		c->obj = NULL;
	}
	nouveau_object_del(&c->obj);
}

struct nouveau_object *chan_object(struct gpu_chan *c, uint32_t class)
{
	struct nouveau_object *obj = NULL;

	if (nouveau_object_new(c->obj, 0xbeef0000 | class, class, NULL, 0, &obj))
		return NULL;
	return obj;
}

int chan_runlist(struct gpu_chan *c)
{
	if (!c->g->bar0)
		return -1;
	return c->g->bar0[(CHANNEL_TABLE + 8 * c->chid + 4) / 4] >> CHANNEL_RUNLIST_SHIFT & 0xf;
}

uint64_t chan_instance(struct gpu_chan *c)
{
	if (!c->g->bar0)
		return 0;
	return (uint64_t)(c->g->bar0[(CHANNEL_TABLE + 8 * c->chid) / 4] & CHANNEL_INST_MASK) << 12;
}

/* an empty submission tells -ENODEV for a killed channel */
bool chan_dead(struct gpu_chan *c)
{
	return nouveau_check_dead_channel(c->g->drm, c->obj);
}

void job_begin(struct gpu_chan *c, unsigned int words)
{
	if (nouveau_pushbuf_space(c->push, words + 16, 0, 0))
		bail("no room in the pushbuffer");
	job_use(c, c->done, NOUVEAU_BO_WR);
}

void job_use(struct gpu_chan *c, struct nouveau_bo *bo, uint32_t access)
{
	struct nouveau_pushbuf_refn ref = { bo, (bo->flags & NOUVEAU_BO_APER) | access };

	if (nouveau_pushbuf_refn(c->push, &ref, 1))
		bail("buffer reference");
}

void emit_words(struct gpu_chan *c, uint32_t subc, uint32_t mthd, const uint32_t *words,
		unsigned int count)
{
	*c->push->cur++ = pb_header(PB_OP_INC, subc, mthd, count);
	memcpy(c->push->cur, words, count * 4);
	c->push->cur += count;
}

void emit_semaphore(struct gpu_chan *c, uint64_t va, uint32_t payload, uint32_t operation)
{
	emit(c, SUBC_HOST, HOST_SEMAPHORE_A, va >> 32, va, payload, operation);
}

int job_kick(struct gpu_chan *c)
{
	emit_semaphore(c, c->done->offset, ++c->seq, SEMAPHORE_RELEASE | SEMAPHORE_4BYTE);
	return nouveau_pushbuf_kick(c->push, c->obj);
}

int job_wait(struct gpu_chan *c, unsigned int timeout_ms)
{
	const volatile uint32_t *done = c->done->map;
	uint64_t end = now_us() + timeout_ms * 1000ull;
	unsigned int pause_us = 20;

	/* the kernel's own fence comes after the number: wait for both */
	while ((int32_t)(*done - c->seq) < 0 || bo_idle(c->done)) {
		if (chan_dead(c))
			return -ENODEV;
		if (now_us() > end)
			return -ETIMEDOUT;
		usleep(pause_us);
		pause_us = pause_us < 2000 ? pause_us * 2 : 2000;
	}
	/* a killed channel's fences are signalled, too */
	return (int32_t)(*done - c->seq) < 0 ? -ENODEV : 0;
}

int job_run(struct gpu_chan *c)
{
	int ret = job_kick(c);

	return ret ? ret : job_wait(c, JOB_TIMEOUT_MS);
}
