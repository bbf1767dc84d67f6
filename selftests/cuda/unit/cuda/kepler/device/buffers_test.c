// SPDX-License-Identifier: MIT
/*
 * Memory and submissions of cuda/kepler/device/, on a stand-in for libdrm_nouveau in this file:
 * where pieces of memory lie, for the GPU and for the CPU; that each submission names all buffers;
 * that there are few buffers; where buffers go that a submission names for other memory.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <nouveau_drm.h>
#include <xf86drm.h>

#include <cuda/kepler/device/nv.h>

#define OK(call) assert_int_equal(call, DEVICE_OK)

/* DEVICE_BYTES: size of the memfd that stands for the DRM device's file. */
enum {
	MAX_BOS = 4096,
	WORDS = 8192,
	CODE = 40000,
	FIRST_VA = 0x20000000,
	DEVICE_BYTES = 0x20000000
};

/* as nouveau has it: .valid is where it may be, and .in where it is (NOUVEAU_BO_VRAM, _GART) */
struct bo {
	struct nouveau_bo base;
	uint32_t valid, in;
};

static struct nouveau_bo *bos[MAX_BOS];
static unsigned int nr_bos, kicks, launches;
/* of most tests' GPU, and of a second one */
static uint64_t next_va, next_va_of_other;
static struct nouveau_device nouveau, other_gpu;
static unsigned int made;
static uint32_t nr_handles;
static int device_file = -1;
static bool refuse_large, nowhere;
static bool stuck; /* the fake GPU ends no work */
static uint64_t vram_room, gart_room; /* bytes that no buffer has */
static uint64_t local_at; /* what a launch last told of local memory's begin */
/* what was filled with zeros; how many waits were submitted */
static struct {
	uint64_t begin, end;
} zeros[MAX_BOS];
static unsigned int nr_zeros, acquired;

/* the commands, and the buffers that the last submission named */
static struct {
	struct nouveau_pushbuf base;
	uint32_t words[WORDS];
	unsigned int nr;
	struct nouveau_bo *named[MAX_BOS];
	uint32_t flags[MAX_BOS];
} push[3];
static unsigned int nr_push;

/* ------------------------------------------------------------------ libdrm_nouveau */

static uint64_t *room_in(uint32_t place)
{
	return place == NOUVEAU_BO_VRAM ? &vram_room : &gart_room;
}

static int put_in(struct bo *bo, uint32_t place)
{
	if (bo->in == place)
		return 0;
	if (*room_in(place) < bo->base.size)
		return -ENOMEM;
	*room_in(place) -= bo->base.size;
	if (bo->in)
		*room_in(bo->in) += bo->base.size;
	bo->in = place;
	return 0;
}

/*
 * nouveau_bo_alloc(), nouveau_vma_new(): a buffer has large pages if it is large and stays in
 * VRAM; its address is a multiple of its pages' size, whatever @align is. nouveau_bo_init(): VRAM
 * first, if both will do.
 */
int nouveau_bo_new(struct nouveau_device *dev, uint32_t flags, uint32_t align, uint64_t size,
		   union nouveau_bo_config *config, struct nouveau_bo **out)
{
	uint64_t *next = dev == &other_gpu ? &next_va_of_other : &next_va;
	uint32_t valid = flags & (NOUVEAU_BO_VRAM | NOUVEAU_BO_GART);
	uint64_t page = valid == NOUVEAU_BO_VRAM && size >= 128 * 1024 ? 128 * 1024 : 4096;
	struct bo *bo;

	made++;
	if (refuse_large && size > 256 * 1024)
		return -1;
	bo = calloc(1, sizeof(*bo));
	*next = (*next + page - 1) & ~(page - 1);
	*bo = (struct bo){ .base = { .offset = *next, .handle = ++nr_handles, .size = size },
			   .valid = valid };
	if ((!(valid & NOUVEAU_BO_VRAM) || put_in(bo, NOUVEAU_BO_VRAM)) &&
	    (!(valid & NOUVEAU_BO_GART) || put_in(bo, NOUVEAU_BO_GART))) {
		free(bo);
		return -ENOMEM;
	}
	*next += size;
	bos[nr_bos++] = &bo->base;
	*out = &bo->base;
	return 0;
}

void nouveau_bo_ref(struct nouveau_bo *bo, struct nouveau_bo **at)
{
	unsigned int i;

	for (i = 0; !bo && i < nr_bos; i++)
		if (bos[i] == *at) {
			bos[i] = bos[--nr_bos];
			*room_in(((struct bo *)*at)->in) += (*at)->size;
			if ((*at)->map)
				munmap((*at)->map, (*at)->size);
			free(*at);
			break;
		}
	*at = bo;
}

int nouveau_bo_map(struct nouveau_bo *bo, uint32_t access, struct nouveau_client *client)
{
	bo->map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(bo->map != MAP_FAILED);
	return 0;
}

/* DRM_NOUVEAU_GEM_INFO: a buffer's offset in the device's file is its address less FIRST_VA. */
int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size)
{
	struct drm_nouveau_gem_info *info = data;
	unsigned int i;

	assert_true(fd == device_file && command == DRM_NOUVEAU_GEM_INFO && size == sizeof(*info));
	for (i = 0; i < nr_bos; i++) {
		if (bos[i]->handle == info->handle) {
			info->map_handle = bos[i]->offset - FIRST_VA;
			return nowhere ? -1 : 0;
		}
	}
	return -1;
}

int nouveau_pushbuf_new(struct nouveau_client *client, struct nouveau_object *channel, int nr,
			uint32_t size, bool immediate, struct nouveau_pushbuf **out)
{
	push[nr_push].base.cur = push[nr_push].words;
	*out = &push[nr_push++].base;
	return 0;
}

void nouveau_pushbuf_del(struct nouveau_pushbuf **at)
{
	*at = NULL;
}

int nouveau_pushbuf_space(struct nouveau_pushbuf *p, uint32_t words, uint32_t relocs,
			  uint32_t pushes)
{
	((typeof(&push[0]))p)->nr = 0;
	p->cur = ((typeof(&push[0]))p)->words;
	return 0;
}

int nouveau_pushbuf_refn(struct nouveau_pushbuf *p, struct nouveau_pushbuf_refn *refs, int nr)
{
	typeof(&push[0]) q = (void *)p;

	for (; nr; nr--, refs++) {
		assert_false(refs->flags & NOUVEAU_BO_WR);
		q->flags[q->nr] = refs->flags & (NOUVEAU_BO_VRAM | NOUVEAU_BO_GART);
		q->named[q->nr++] = refs->bo;
	}
	return 0;
}

/* The CPU's address of a word, for semaphores, which the fake GPU writes at once. */
static uint32_t *word_at(uint64_t va)
{
	unsigned int i;

	for (i = 0; i < nr_bos; i++)
		if (va >= bos[i]->offset && va < bos[i]->offset + bos[i]->size)
			return (uint32_t *)((uint8_t *)bos[i]->map + (va - bos[i]->offset));
	fail_msg("nothing at 0x%llx", (unsigned long long)va);
	return NULL;
}

/* @offset: the method after the constant, with destination, and width in units of 4 bytes */
static void note_fill(uint32_t value, const uint32_t *offset)
{
	uint64_t dst = (uint64_t)offset[3] << 32 | offset[4];

	assert_int_equal(offset[0], push_header(SUBC_COPY, COPY_OFFSET_IN_UPPER, 8));
	if (value || nr_zeros == MAX_BOS)
		return;
	zeros[nr_zeros].begin = dst;
	zeros[nr_zeros++].end = dst + 4ull * offset[7];
}

/* filled with zeros, by fills in rising order */
static bool is_clear(uint64_t begin, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < nr_zeros; i++)
		if (zeros[i].begin <= begin && begin < zeros[i].end)
			begin = zeros[i].end;
	return begin >= end;
}

/* validate_list(), nouveau_gem_set_domain(): each buffer goes where it is named for */
static int validate(const typeof(push[0]) *p)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < p->nr && !ret; i++) {
		struct bo *bo = (struct bo *)p->named[i];

		ret = bo->valid & p->flags[i] ? put_in(bo, p->flags[i]) : -EINVAL;
	}
	return ret;
}

int nouveau_pushbuf_kick(struct nouveau_pushbuf *p, struct nouveau_object *channel)
{
	int ret = validate((typeof(&push[0]))p);
	const uint32_t *w;

	kicks++;
	if (ret)
		return ret;
	for (w = ((typeof(&push[0]))p)->words; w < p->cur; w += 1 + (w[0] >> 16 & 0x1fff)) {
		if (w[0] == push_header(SUBC_HOST, HOST_SEMAPHORE_A, 4) &&
		    w[4] & SEMAPHORE_RELEASE && !stuck)
			*word_at((uint64_t)w[1] << 32 | w[2]) = w[3];
		acquired += w[0] == push_header(SUBC_HOST, HOST_SEMAPHORE_A, 4) &&
			    !(w[4] & SEMAPHORE_RELEASE);
		if (w[0] == push_header(SUBC_COPY, COPY_SET_REMAP_CONST_A, 3))
			note_fill(w[1], w + 4);
		if (w[0] == push_header(SUBC_COMPUTE, COMPUTE_LOCAL_MEMORY_A, 2))
			local_at = (uint64_t)w[1] << 32 | w[2];
		if (w[0] == push_header(SUBC_COMPUTE, COMPUTE_SEND_PCAS_A, 1))
			*word_at(((uint64_t)w[1] << 8) + SLOT_RELEASE) = ++launches | 1u << 31;
	}
	return 0;
}

int nouveau_object_new(struct nouveau_object *parent, uint64_t handle, uint32_t oclass, void *data,
		       uint32_t size, struct nouveau_object **out)
{
	*out = calloc(1, sizeof(**out));
	return 0;
}

void nouveau_object_del(struct nouveau_object **at)
{
	free(*at);
	*at = NULL;
}

bool nouveau_check_dead_channel(struct nouveau_drm *drm, struct nouveau_object *channel)
{
	return false;
}

/* --------------------------------- a device as nouveau.c opens it, and what a context allocates */

static struct nv_device device;

static struct device_memory *memory(enum device_place place, uint64_t size)
{
	struct device_memory *m;

	OK(nv_alloc(&device.base, place, size, &m));
	assert_true(m->va && m->size >= size && m->va % 4096 == 0 &&
		    (place == PLACE_HOST) == (m->map != NULL));
	return m;
}

static uint64_t vram_used(struct device *d)
{
	return nouveau.vram_size - vram_room;
}

static uint64_t nothing_used(struct device *d)
{
	return 0;
}

static int set_up(void **state)
{
	static const struct device_ops ops = { .vram_used = vram_used };

	memset(&device, 0, sizeof(device));
	device.base.ops = &ops;
	vram_room = gart_room = nouveau.vram_size = 1ull << 42;
	nr_push = nr_bos = kicks = launches = nr_zeros = acquired = 0;
	stuck = false;
	next_va = next_va_of_other = FIRST_VA;
	refuse_large = nowhere = false;
	device_file = memfd_create("device", 0);
	assert_int_equal(ftruncate(device_file, DEVICE_BYTES), 0);
	device.fd = device_file;
	device.dev = &nouveau;
	device.nr_smx = 13;
	pthread_mutex_init(&device.check_lock, NULL);
	device.marks = nv_memory(memory(PLACE_HOST, 4096));
	nv_marks_open(&device);
	OK(nv_launch_open(&device));
	OK(nv_queue_open(&device, QUEUE_COMPUTE));
	OK(nv_queue_open(&device, QUEUE_COPY));
	memory(PLACE_HOST, 2 << 20);
	memory(PLACE_HOST, 65536);
	return 0;
}

static int tear_down(void **state)
{
	nv_queue_close(&device, QUEUE_COMPUTE);
	nv_queue_close(&device, QUEUE_COPY);
	nv_memory_close(&device);
	pthread_mutex_destroy(&device.check_lock);
	close(device_file);
	return nr_bos || device.nr_refs;
}

static void launch(uint64_t code)
{
	static const uint8_t const0[0x140];
	struct device_launch l = { .code = code,
				   .grid = { 1, 1, 1 },
				   .block = { 32, 1, 1 },
				   .regs = 16,
				   .const0 = const0,
				   .const0_size = sizeof(const0),
				   .l1_kb = 48 };
	unsigned int before = kicks;
	uint64_t seq;

	OK(nv_launch(&device.base, NULL, &l, &seq));
	OK(nv_poll(&device.base, QUEUE_COMPUTE, seq, false));
	assert_int_equal(kicks, before + 1);
}

static void named_all(void)
{
	unsigned int i, j;

	assert_int_equal(push[0].nr, nr_bos);
	for (i = 0; i < nr_bos; i++) {
		for (j = 0; j < push[0].nr && push[0].named[j] != bos[i]; j++)
			;
		assert_true(j < push[0].nr);
	}
}

/* ------------------------------------------------------------------ tests */

static void few_buffers(void **state)
{
	struct device_memory *code = memory(PLACE_VRAM, CODE);
	unsigned int i;

	assert_int_equal(nr_bos, 2);
	launch(code->va);
	named_all();
	for (i = 0; i < 5; i++) {
		memory(PLACE_VRAM, CODE);
		memory(PLACE_VRAM, 100);
		memory(PLACE_HOST, 4096);
	}
	memory(PLACE_VRAM, 2 << 20);
	assert_int_equal(nr_bos, 3);
	launch(code->va);
	named_all();
}

static void large_ones_are_alone(void **state)
{
	struct device_memory *a = memory(PLACE_VRAM, 128 * 1024), *b = memory(PLACE_TILED, 4096),
			     *c = memory(PLACE_HOST, 8 << 20);

	assert_int_equal(nr_bos, 4);
	assert_true(a->va % (128 * 1024) == 0 && b->va % (128 * 1024) == 0);
	launch(a->va);
	named_all();
	nv_release(&device.base, a);
	nv_release(&device.base, b);
	nv_release(&device.base, c);
	assert_int_equal(nr_bos, 1);
}

static void a_chunk_that_there_is_no_room_for(void **state)
{
	struct device_memory *m;

	refuse_large = true;
	memory(PLACE_VRAM, CODE);
	memory(PLACE_VRAM, CODE);
	assert_int_equal(nr_bos, 3);
	assert_int_equal(nv_alloc(&device.base, PLACE_VRAM, 1 << 20, &m), DEVICE_NO_MEMORY);
	assert_int_equal(nv_alloc(&device.base, PLACE_VRAM, 0, &m), DEVICE_NO_MEMORY);
}

/* Random allocations and frees: pieces do not overlap, and freed space is used again. */
static void pieces(void **state)
{
	enum { PIECES = 300, STEPS = 20000 };
	struct device_memory *all[PIECES] = { NULL };
	uint32_t seed = 1, i, j;

	for (i = 0; i < STEPS; i++) {
		struct device_memory **m = &all[(seed = seed * 1664525 + 1013904223) >> 8 & 255];
		enum device_place place = seed >> 30 & 1 ? PLACE_HOST : PLACE_VRAM;

		if (*m) {
			nv_release(&device.base, *m);
			*m = NULL;
			continue;
		}
		*m = memory(place, 1 + (seed >> 4) % 130000);
		for (j = 0; j < PIECES; j++)
			if (all[j] && all[j] != *m)
				assert_true(all[j]->va + all[j]->size <= (*m)->va ||
					    (*m)->va + (*m)->size <= all[j]->va);
		if (place == PLACE_HOST)
			memset((*m)->map, seed, (*m)->size);
	}
	for (j = 0; j < PIECES; j++)
		if (all[j])
			nv_release(&device.base, all[j]);
	assert_int_equal(nr_bos, 1);
	/* the freed pieces of the first chunk are one again */
	memory(PLACE_HOST, 300 * 1024);
	assert_int_equal(nr_bos, 1);
}

/*
 * The process sees host memory at the GPU's address, if nothing lies there. Else the driver tries a
 * few further addresses.
 */
static void one_address(void **state)
{
	struct device_memory *a = memory(PLACE_HOST, 8 << 20), *b, *c;
	unsigned int before = nr_bos, i;
	void *taken;

	assert_int_equal(a->va, (uintptr_t)a->map);
	memset(a->map, 1, a->size);
	taken = mmap((void *)(uintptr_t)next_va, 20 << 20, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_int_equal((uintptr_t)taken, next_va);
	b = memory(PLACE_HOST, 8 << 20);
	assert_int_equal(b->va, (uintptr_t)b->map);
	assert_true(b->va >= (uintptr_t)taken + (20 << 20));
	assert_int_equal(nr_bos, before + 1);
	munmap(taken, 20 << 20);
	/* a process that uses that address space gets two addresses */
	taken = mmap((void *)(uintptr_t)next_va, 200 << 20, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_int_equal((uintptr_t)taken, next_va);
	c = memory(PLACE_HOST, 8 << 20);
	assert_true(c->va != (uintptr_t)c->map);
	memset(c->map, 1, c->size);
	munmap(taken, 200 << 20);
	assert_int_equal(nr_bos, before + 2);
	nowhere = true;
	for (i = 0; i < 3; i++)
		memset(memory(PLACE_HOST, 1 << 20)->map, 1, 1 << 20);
	assert_int_equal(nr_bos, before + 5);
}

static void apart_from_all_of(const struct nv_device *d, const struct device_memory *m)
{
	unsigned int i;

	for (i = 0; i < d->nr_refs; i++)
		assert_true(m->va + m->size <= d->buffer[i]->bo->offset ||
			    m->va >= d->buffer[i]->bo->offset + d->buffer[i]->bo->size);
}

/* nouveau counts each file's addresses from the same begin. */
static void two_devices(void **state)
{
	static const struct {
		enum device_place place;
		uint64_t size;
	} wanted[] = {
		{ PLACE_HOST, 4096 },	  { PLACE_VRAM, 2 << 20 },  { PLACE_VRAM, 100 },
		{ PLACE_TILED, 1 << 20 }, { PLACE_VRAM, 70 << 20 }, { PLACE_HOST, 8 << 20 },
	};
	struct nv_device other = { .fd = device_file, .dev = &other_gpu };
	struct device_memory *m;
	unsigned int i;

	OK(nv_alloc(&other.base, PLACE_HOST, 4096, &m));
	other.marks = nv_memory(m);
	nv_marks_open(&other);
	OK(nv_queue_open(&other, QUEUE_COMPUTE));
	memory(PLACE_VRAM, 64 << 20);
	made = 0;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		OK(nv_alloc(&other.base, wanted[i].place, wanted[i].size, &m));
		apart_from_all_of(&device, m);
		m = memory(wanted[i].place, wanted[i].size);
		apart_from_all_of(&other, m);
	}
	assert_int_equal(nr_bos, other.nr_refs + device.nr_refs);
	assert_true(made < 40);
	nv_queue_close(&other, QUEUE_COMPUTE);
	nv_memory_close(&other);
	made = 0;
	next_va = next_va_of_other;
	memory(PLACE_VRAM, 4 << 20);
	assert_int_equal(made, 1);
}

/* A view shows one piece, and stays when the buffer is freed. */
static void views(void **state)
{
	struct device_memory *large = memory(PLACE_HOST, 1 << 20),
			     *first = memory(PLACE_HOST, 8192), *second = memory(PLACE_HOST, 12288);
	uint8_t *a = nv_view(&device.base, large), *b = nv_view(&device.base, second);
	unsigned char in_core;

	assert_true(a && b && (void *)a != large->map);
	a[5] = 1;
	assert_int_equal(((uint8_t *)large->map)[5], 1);
	memset(first->map, 2, 8192);
	memset(second->map, 3, 12288);
	assert_int_equal(b[0], 3);
	assert_int_equal(b[12287], 3);
	assert_int_equal(mincore(b - 4096, 4096, &in_core), -1);
	assert_int_equal(mincore(b + 12288, 4096, &in_core), -1);
	nv_release(&device.base, large);
	assert_int_equal(a[5], 1);
	munmap(a, 1 << 20);
	munmap(b, 12288);
	assert_null(nv_view(&device.base, memory(PLACE_VRAM, 4096)));
	nowhere = true;
	assert_null(nv_view(&device.base, first));
}

/* All of a new buffer is cleared; what this process uses again is not. */
static void new_memory_is_clear(void **state)
{
	static const uint64_t sizes[] = { 100, CODE, 128 << 10, 5 << 20, 3ull << 30 };
	unsigned int i, cleared;
	struct device_memory *m;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		m = memory(PLACE_VRAM, sizes[i]);
		assert_true(is_clear(m->va, m->va + m->size));
		m = memory(PLACE_TILED, sizes[i]);
		assert_true(is_clear(m->va, m->va + m->size));
	}
	for (i = 0; i < device.nr_refs; i++)
		assert_true(device.buffer[i]->kind == PLACE_HOST ||
			    is_clear(device.buffer[i]->bo->offset,
				     device.buffer[i]->bo->offset + device.buffer[i]->bo->size));
	cleared = nr_zeros;
	memory(PLACE_HOST, 8 << 20);
	nv_release(&device.base, memory(PLACE_VRAM, CODE));
	memory(PLACE_VRAM, CODE);
	assert_int_equal(nr_zeros, cleared);
}

static void work_comes_after_clearing(void **state)
{
	struct device_copy c = { .src = FIRST_VA, .dst = FIRST_VA, .width = 4, .lines = 1 };
	struct device_fill f = { .dst = FIRST_VA, .unit = 4, .width = 1, .lines = 1, .value = 1 };
	uint64_t seq;

	stuck = true;
	memory(PLACE_VRAM, 5 << 20);
	assert_int_equal(acquired, 0);
	OK(nv_fill(&device.base, QUEUE_COMPUTE, NULL, &f, &seq));
	assert_int_equal(acquired, 1);
	/* without their own queue copies are made by the other one */
	device.queue[QUEUE_COPY].live = false;
	device.queue[QUEUE_COPY].refused = true;
	memory(PLACE_VRAM, 6 << 20);
	device.queue[QUEUE_COPY].live = true;
	acquired = 0;
	OK(nv_copy(&device.base, QUEUE_COPY, NULL, &c, &seq));
	assert_int_equal(acquired, 1);
	stuck = false;
}

static void *end_work(void *nothing)
{
	unsigned int q;

	usleep(30000);
	for (q = 0; q < NR_GPU_QUEUES; q++)
		__atomic_store_n(device.queue[q].done, (uint32_t)device.queue[q].seq,
				 __ATOMIC_SEQ_CST);
	return NULL;
}

/* Freeing waits for the clearing. */
static void freeing_waits_for_clearing(void **state)
{
	struct device_memory *m;
	pthread_t thread;

	stuck = true;
	m = memory(PLACE_VRAM, 5 << 20);
	assert_int_equal(nv_poll(&device.base, QUEUE_COPY, device.cleared.seq[QUEUE_COPY], false),
			 DEVICE_BUSY);
	assert_int_equal(pthread_create(&thread, NULL, end_work, NULL), 0);
	nv_release(&device.base, m);
	assert_int_equal(nv_poll(&device.base, QUEUE_COPY, device.cleared.seq[QUEUE_COPY], false),
			 DEVICE_OK);
	pthread_join(thread, NULL);
	stuck = false;
}

/* ------------------------------------------------------------------ moving */

static void all_video_memory_is_in(uint32_t place)
{
	unsigned int i;

	for (i = 0; i < device.nr_refs; i++)
		assert_int_equal(((struct bo *)device.buffer[i]->bo)->in,
				 device.buffer[i]->kind == PLACE_HOST ? NOUVEAU_BO_GART : place);
}

/* a launch that needs local memory, whose begin has to be aligned */
static void launch_with_local(void)
{
	static const uint8_t const0[0x140];
	struct device_launch l = { .code = 0x1000,
				   .grid = { 1, 1, 1 },
				   .block = { 32, 1, 1 },
				   .regs = 16,
				   .local = 512,
				   .const0 = const0,
				   .const0_size = sizeof(const0) };
	const struct nouveau_bo *bo;
	uint64_t seq;

	OK(nv_launch(&device.base, NULL, &l, &seq));
	bo = device.local->buffer->bo;
	assert_int_equal(local_at % (128 * 1024), 0);
	/* 13 SMs of 64 warps with 32 threads */
	assert_in_range(local_at, bo->offset, bo->offset + bo->size - 13 * 64 * 32 * 512);
}

static void memory_moves(void **state)
{
	struct device_memory *m;
	unsigned int i, before;

	launch_with_local();
	nv_release(&device.base, &device.local->base);
	device.local = NULL;
	device.moves = true;
	next_va += 4096;
	memory(PLACE_VRAM, CODE);
	memory(PLACE_HOST, 12288);
	m = memory(PLACE_VRAM, 3 << 20);
	assert_int_not_equal(m->va % (128 * 1024), 0);
	memory(PLACE_TILED, 1 << 20);
	launch_with_local();
	for (i = 0; i < 3; i++) {
		OK(nv_move(&device.base, true));
		all_video_memory_is_in(NOUVEAU_BO_GART);
		assert_int_equal(vram_used(NULL), 0);
		before = kicks;
		OK(nv_move(&device.base, true));
		assert_int_equal(kicks, before);
		OK(nv_move(&device.base, false));
		all_video_memory_is_in(NOUVEAU_BO_VRAM);
		launch(m->va);
		all_video_memory_is_in(NOUVEAU_BO_VRAM);
	}
}

/* Memory stays, or comes back, whole. */
static void no_room_to_move(void **state)
{
	uint64_t in_use;
	unsigned int before;

	device.moves = true;
	memory(PLACE_VRAM, 3 << 20);
	memory(PLACE_VRAM, 5 << 20);
	in_use = vram_used(NULL);
	gart_room = 4 << 20;
	assert_int_equal(nv_move(&device.base, true), DEVICE_NO_MEMORY);
	all_video_memory_is_in(NOUVEAU_BO_VRAM);
	assert_int_equal(gart_room, 4 << 20);
	gart_room = 64 << 20;
	OK(nv_move(&device.base, true));
	/* another process takes what the GPU has; the kernel would find room at its cost */
	vram_room = 4 << 20;
	before = kicks;
	assert_int_equal(nv_move(&device.base, false), DEVICE_NO_MEMORY);
	assert_int_equal(kicks, before);
	vram_room = in_use;
	OK(nv_move(&device.base, false));
	all_video_memory_is_in(NOUVEAU_BO_VRAM);
	/* more than this machine has */
	vram_room = gart_room = 1ull << 42;
	memory(PLACE_VRAM, 1ull << 40);
	assert_int_equal(nv_move(&device.base, true), DEVICE_NO_MEMORY);
	all_video_memory_is_in(NOUVEAU_BO_VRAM);
}

/* The kernel finds no room where the process that asked was told of some. */
static void room_goes_meanwhile(void **state)
{
	device.moves = true;
	memory(PLACE_VRAM, 3 << 20);
	memory(PLACE_VRAM, 5 << 20);
	OK(nv_move(&device.base, true));
	nouveau.vram_size = 1ull << 43;
	vram_room = 4 << 20;
	device.base.ops = &(const struct device_ops){ .vram_used = nothing_used };
	assert_int_equal(nv_move(&device.base, false), DEVICE_NO_MEMORY);
	all_video_memory_is_in(NOUVEAU_BO_GART);
	vram_room = 1 << 30;
	OK(nv_move(&device.base, false));
	all_video_memory_is_in(NOUVEAU_BO_VRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(few_buffers),
		TEST(large_ones_are_alone),
		TEST(a_chunk_that_there_is_no_room_for),
		TEST(pieces),
		TEST(one_address),
		TEST(two_devices),
		TEST(views),
		TEST(new_memory_is_clear),
		TEST(work_comes_after_clearing),
		TEST(freeing_waits_for_clearing),
		TEST(memory_moves),
		TEST(no_room_to_move),
		TEST(room_goes_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
