// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second way of the kernel's interface (6.6 and later; what NVK uses): the program places
 * buffers in its address space with VM_BIND and runs pushbuffers with EXEC. Direct ioctls: libdrm
 * has no calls for them. The pushbuffers run on a GR channel, whose runlist is 0 in every layout,
 * because completion is a sleeping wait (see sleep.c).
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <drm/nouveau_drm.h> /* the kernel's; the copy in libdrm has no VM_BIND */
#include <xf86drm.h>

#include "methods.h"
#include "pattern.h"
#include "tap.h"

#define KERNEL_PART (1ull << 38) /* where the kernel may place its own buffers */
enum {
	LEN = 1 << 20,
	VA_PUSH = 0x10000,
	VA_SRC = 0x4000000,
	VA_DST = 0x8000000,
	VA_ALIAS = 0xc000000,
	BUFFER_PAGES = LEN / 4096
};

struct vm_bo {
	uint32_t handle;
	void *map;
};

struct vm {
	int fd, channel;
	uint32_t syncobj;
	struct vm_bo push;
	uint32_t words;
};

static struct vm_bo new_bo(struct vm *vm, uint32_t domain, uint64_t size)
{
	struct drm_nouveau_gem_new req = {
		.info = { .size = size, .domain = domain | NOUVEAU_GEM_DOMAIN_MAPPABLE },
		.align = 4096
	};
	struct vm_bo bo;

	if (drmCommandWriteRead(vm->fd, DRM_NOUVEAU_GEM_NEW, &req, sizeof(req)))
		bail("GEM_NEW: %s", strerror(errno));
	bo.handle = req.info.handle;
	bo.map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->fd, req.info.map_handle);
	if (bo.map == MAP_FAILED)
		bail("mmap of a buffer");
	return bo;
}

static int bind_pages(struct vm *vm, uint32_t op, uint32_t handle, uint64_t va, uint64_t offset,
		      uint64_t size)
{
	struct drm_nouveau_vm_bind_op one = {
		.op = op, .handle = handle, .addr = va, .bo_offset = offset, .range = size
	};
	struct drm_nouveau_vm_bind req = { .op_count = 1, .op_ptr = (uintptr_t)&one };

	return drmCommandWriteRead(vm->fd, DRM_NOUVEAU_VM_BIND, &req, sizeof(req));
}

static void must_bind(struct vm *vm, uint32_t op, uint32_t handle, uint64_t va, uint64_t offset,
		      uint64_t size)
{
	int ret = bind_pages(vm, op, handle, va, offset, size);

	if (ret)
		bail("VM_BIND at 0x%llx: %s", (unsigned long long)va, strerror(-ret));
}

/* false when the kernel doesn't know this interface */
static bool vm_open(struct vm *vm, const struct client_options *o)
{
	struct drm_nouveau_vm_init init = { .kernel_managed_addr = KERNEL_PART,
					    .kernel_managed_size = KERNEL_PART };
	struct drm_nouveau_channel_alloc chan = { .fb_ctxdma_handle = ~0u,
						  .tt_ctxdma_handle = ENGINE_GR };
	struct gpu g;

	gpu_open(&g, o->node);
	memset(vm, 0, sizeof(*vm));
	vm->fd = open(drmGetDeviceNameFromFd2(g.fd), O_RDWR | O_CLOEXEC);
	gpu_close(&g);
	if (vm->fd < 0)
		bail("opening the node again");
	if (drmCommandWriteRead(vm->fd, DRM_NOUVEAU_VM_INIT, &init, sizeof(init)))
		return false;
	if (drmCommandWriteRead(vm->fd, DRM_NOUVEAU_CHANNEL_ALLOC, &chan, sizeof(chan)))
		bail("CHANNEL_ALLOC after VM_INIT: %s", strerror(errno));
	vm->channel = chan.channel;
	if (drmSyncobjCreate(vm->fd, 0, &vm->syncobj))
		bail("syncobj");
	vm->push = new_bo(vm, NOUVEAU_GEM_DOMAIN_GART, 4096);
	must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, vm->push.handle, VA_PUSH, 0, 4096);
	return true;
}

static void vm_close(struct vm *vm)
{
	struct drm_nouveau_channel_free req = { .channel = vm->channel };

	drmCommandWrite(vm->fd, DRM_NOUVEAU_CHANNEL_FREE, &req, sizeof(req));
	close(vm->fd);
}

static void add(struct vm *vm, uint32_t mthd, const uint32_t *data, unsigned int count)
{
	uint32_t *p = (uint32_t *)vm->push.map + vm->words;

	*p++ = pb_header(PB_OP_INC, SUBC_COPY, mthd, count);
	memcpy(p, data, 4 * count);
	vm->words += count + 1;
}

static void add_copy(struct vm *vm, uint64_t src, uint64_t dst, uint32_t len)
{
	const uint32_t place[] = { src >> 32, src, dst >> 32, dst, 0, 0, len, 1 };
	const uint32_t launch[] = { CE_NON_PIPELINED | CE_FLUSH | CE_SRC_PITCH | CE_DST_PITCH };

	/* no SET_OBJECT: NVK relies on the copy class being there (gk110/facts.md) */
	add(vm, CE_OFFSET_IN, place, 8);
	add(vm, CE_LAUNCH_DMA, launch, 1);
}

static int execute(struct vm *vm)
{
	struct drm_nouveau_exec_push push = { .va = VA_PUSH, .va_len = vm->words * 4 };
	struct drm_nouveau_sync sig = { .flags = DRM_NOUVEAU_SYNC_SYNCOBJ, .handle = vm->syncobj };
	struct drm_nouveau_exec req = { .channel = vm->channel,
					.push_count = 1,
					.push_ptr = (uintptr_t)&push,
					.sig_count = 1,
					.sig_ptr = (uintptr_t)&sig };
	struct timespec t;
	int64_t end;
	int ret;

	drmSyncobjReset(vm->fd, &vm->syncobj, 1);
	ret = drmCommandWriteRead(vm->fd, DRM_NOUVEAU_EXEC, &req, sizeof(req));
	vm->words = 0;
	if (ret)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &t);
	end = (t.tv_sec + 20) * 1000000000ll + t.tv_nsec;
	return drmSyncobjWait(vm->fd, &vm->syncobj, 1, end, 0, NULL) ? -ETIMEDOUT : 0;
}

static void plain_copies(struct vm *vm, struct vm_bo *src, struct vm_bo *vram, struct vm_bo *dst)
{
	int64_t bad;
	int ret;

	must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, src->handle, VA_SRC, 0, LEN);
	must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, dst->handle, VA_DST, 0, LEN);
	must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, vram->handle, VA_ALIAS, 0, LEN);
	memset(dst->map, 0, LEN);
	add_copy(vm, VA_SRC, VA_ALIAS, LEN);
	add_copy(vm, VA_ALIAS, VA_DST, LEN);
	ret = execute(vm);
	bad = first_difference(src->map, dst->map, LEN);
	tap_result(!ret && bad < 0, "EXEC copies through VRAM at addresses of our choice",
		   "result %d, wrong byte %lld", ret, (long long)bad);
}

/* pages in another order: each page of an alias is bound by itself, reversed */
static void scattered_pages(struct vm *vm, struct vm_bo *src, struct vm_bo *dst)
{
	const uint8_t *in = src->map, *out = dst->map;
	unsigned int i, wrong = 0;
	int ret;

	must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_UNMAP, 0, VA_ALIAS, 0, LEN);
	for (i = 0; i < BUFFER_PAGES; i++)
		must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, src->handle, VA_ALIAS + i * 4096ull,
			  (BUFFER_PAGES - 1 - i) * 4096ull, 4096);
	memset(dst->map, 0, LEN);
	add_copy(vm, VA_ALIAS, VA_DST, LEN);
	ret = execute(vm);
	for (i = 0; i < BUFFER_PAGES; i++)
		wrong += memcmp(out + i * 4096, in + (BUFFER_PAGES - 1 - i) * 4096, 4096) != 0;
	tap_result(!ret && !wrong, "EXEC reads single pages bound in reverse",
		   "result %d, %u pages wrong", ret, wrong);
}

/* the address stays, the page behind it changes: a stale translation would give the old contents */
static void rebound_pages(struct vm *vm, struct vm_bo *src, struct vm_bo *dst, unsigned int rounds,
			  uint64_t seed)
{
	const uint8_t *in = src->map, *out = dst->map;
	unsigned int i, wrong = 0;
	struct rng r;
	int ret = 0;

	rng_init(&r, seed);
	for (i = 0; !ret && i < rounds; i++) {
		uint64_t page = rng_range(&r, 0, BUFFER_PAGES - 1) * 4096;

		must_bind(vm, DRM_NOUVEAU_VM_BIND_OP_MAP, src->handle, VA_ALIAS, page, 4096);
		add_copy(vm, VA_ALIAS, VA_DST, 4096);
		ret = execute(vm);
		wrong += memcmp(out, in + page, 4096) != 0;
	}
	tap_result(!ret && !wrong, "EXEC never sees the page that was bound before",
		   "%u rebinds, result %d, %u stale", i, ret, wrong);
}

void test_exec(const struct client_options *o)
{
	struct vm_bo src, dst, vram;
	struct vm vm;

	if (!vm_open(&vm, o)) {
		tap_skip("VM_BIND and EXEC", "this kernel's nouveau has no such interface");
		close(vm.fd);
		return;
	}
	src = new_bo(&vm, NOUVEAU_GEM_DOMAIN_GART, LEN);
	dst = new_bo(&vm, NOUVEAU_GEM_DOMAIN_GART, LEN);
	vram = new_bo(&vm, NOUVEAU_GEM_DOMAIN_VRAM, LEN);
	pattern_fill(src.map, LEN, o->seed);
	plain_copies(&vm, &src, &vram, &dst);
	scattered_pages(&vm, &src, &dst);
	rebound_pages(&vm, &src, &dst, o->quick ? 20 : 200, o->seed);
	vm_close(&vm);
}
