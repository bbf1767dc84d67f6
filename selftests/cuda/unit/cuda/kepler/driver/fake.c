// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* memfd_create() */
#include "fake.h"

#include <cuda/kepler/driver/driver.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* SAME_AT: memory with one address for CPU and GPU. */
enum { MAX_WORK = 4096, GAP = 1 << 20, SAME_AT = 0x20000000, SAME_END = 0x60000000 };

struct work {
	enum { COPY, FILL, LAUNCH, STAMP } kind;
	struct moment after;
	struct device_copy copy;
	struct device_fill fill;
	uint64_t va;
	uint32_t payload;
	bool bad;
};

struct buffer {
	struct device_memory base;
	struct buffer *next;
	uint8_t *bytes;
	bool same; /* .bytes is at .base.va */
	int file; /* the memfd that .bytes maps; -1: none */
};

struct fake {
	struct device base;
	pthread_mutex_t lock;
	struct buffer *buffers;
	struct work work[NR_QUEUES][MAX_WORK];
	uint64_t submitted[NR_QUEUES], done[NR_QUEUES];
	bool failed, moves, away;
};

const struct device_ops *backend = &fake_device;
struct device_launch fake_last_launch;
uint8_t fake_const0[DEVICE_CONST0_MAX];
unsigned int fake_count = 1, fake_gpu;
unsigned int fake_launches, fake_open, fake_buffers, fake_early;
uint64_t fake_vram = 64 << 20, fake_in_use[2];
int fake_fail_after = -1;
enum device_status fake_failure;
bool fake_hold[NR_QUEUES], fake_same, fake_views, fake_one_queue, fake_host_full;
unsigned int fake_asked_beside;
static uint64_t next_va = 0x100000000ull, clock_ns = 1000;

static struct fake *of(struct device *d)
{
	return (struct fake *)d;
}

static unsigned int count(void)
{
	return fake_count;
}

static enum device_status describe(unsigned int index, struct device_facts *out)
{
	if (index >= fake_count)
		return DEVICE_NONE;
	*out = (struct device_facts){ .name = "Tesla K20m",
				      .pci_id = 0x1028,
				      .bus = 3 + index,
				      .slot = 1,
				      .vram = fake_vram,
				      .nr_smx = 13,
				      .copies_apart = index == 0 };
	return DEVICE_OK;
}

static enum device_status fake_open_device(unsigned int index, bool moves, struct device **out)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->base.ops = &fake_device;
	f->moves = moves;
	pthread_mutex_init(&f->lock, NULL);
	fake_open++;
	fake_gpu = index;
	*out = &f->base;
	return DEVICE_OK;
}

static void release(struct device *d, struct device_memory *m)
{
	struct buffer **at, *b;

	pthread_mutex_lock(&of(d)->lock);
	for (at = &of(d)->buffers; *at != (struct buffer *)m; at = &(*at)->next)
		;
	b = *at;
	*at = b->next;
	pthread_mutex_unlock(&of(d)->lock);
	if (b->same || b->file >= 0)
		munmap(b->bytes, b->base.size);
	else
		free(b->bytes);
	if (b->file >= 0)
		close(b->file);
	free(b);
	fake_buffers--;
}

static void close_device(struct device *d)
{
	while (of(d)->buffers)
		release(d, &of(d)->buffers->base);
	pthread_mutex_destroy(&of(d)->lock);
	free(d);
	fake_open--;
}

static uint64_t vram_bytes(struct device *d)
{
	uint64_t all = 0;
	struct buffer *b;

	for (b = of(d)->buffers; b; b = b->next)
		all += b->base.map ? 0 : b->base.size;
	return all;
}

static uint64_t vram_used(struct device *d)
{
	return of(d)->away ? 0 : vram_bytes(d);
}

/* nothing is under way */
static enum device_status move(struct device *d, bool away)
{
	struct fake *f = of(d);
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++)
		if (f->done[i] != f->submitted[i] || !f->moves)
			return DEVICE_FAILED;
	if (away == f->away)
		return DEVICE_OK;
	if (away ? fake_host_full : vram_bytes(d) > fake_vram)
		return DEVICE_NO_MEMORY;
	f->away = away;
	return DEVICE_OK;
}

static uint8_t *same_address(uint64_t size)
{
	static uintptr_t at = SAME_AT;
	void *got = MAP_FAILED;

	for (; got == MAP_FAILED && at + size < SAME_END; at += size / GAP * GAP + GAP)
		got = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	return got == MAP_FAILED ? NULL : got;
}

static uint8_t *of_file(uint64_t size, int *file)
{
	void *got;

	*file = memfd_create("fake", MFD_CLOEXEC);
	if (*file < 0 || ftruncate(*file, size))
		return NULL;
	got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
	return got == MAP_FAILED ? NULL : got;
}

static enum device_status alloc(struct device *d, enum device_place place, uint64_t size,
				struct device_memory **out)
{
	struct buffer *b;

	if (place == PLACE_HOST ? fake_host_full : vram_used(d) + size > fake_vram)
		return DEVICE_NO_MEMORY;
	b = calloc(1, sizeof(*b));
	b->same = place == PLACE_HOST && fake_same;
	b->file = -1;
	b->bytes = b->same			     ? same_address(size) :
		   place == PLACE_HOST && fake_views ? of_file(size, &b->file) :
						       malloc(size);
	if (!b->bytes) {
		free(b);
		return DEVICE_NO_MEMORY;
	}
	memset(b->bytes, 0xcd, size);
	b->base = (struct device_memory){ .va = b->same ? (uintptr_t)b->bytes : next_va,
					  .size = size,
					  .map = place == PLACE_HOST ? b->bytes : NULL };
	next_va += (size + 2 * GAP) & ~(uint64_t)(GAP - 1);
	pthread_mutex_lock(&of(d)->lock);
	b->next = of(d)->buffers;
	of(d)->buffers = b;
	pthread_mutex_unlock(&of(d)->lock);
	fake_buffers++;
	*out = &b->base;
	return DEVICE_OK;
}

static void *view(struct device *d, struct device_memory *m)
{
	int file = ((struct buffer *)m)->file;
	void *got = file < 0 ? MAP_FAILED :
			       mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	return got == MAP_FAILED ? NULL : got;
}

/* NULL: not all of the bytes are in one buffer. */
static uint8_t *bytes(struct fake *f, uint64_t va, uint64_t size)
{
	struct buffer *b;

	for (b = f->buffers; b; b = b->next)
		if (va >= b->base.va && va + size <= b->base.va + b->base.size)
			return b->bytes + (va - b->base.va);
	return NULL;
}

/*
 * Address in the surface at @va of byte @x in line @y, counted from @b's position, by envytools'
 * g80-surface.rst. A block is one GOB wide.
 */
static uint64_t in_blocks(uint64_t va, const struct device_blocks *b, uint64_t x, uint64_t y)
{
	uint64_t rows = 8u << b->log2_height, slices = 1u << b->log2_depth,
		 across = (b->width + 63) / 64;
	uint64_t down = (b->height + rows - 1) / rows, block, gob;

	x += b->x;
	y += b->y;
	block = (b->z / slices * down + y / rows) * across + x / 64;
	gob = block * (slices << b->log2_height) + (b->z % slices << b->log2_height) + y % rows / 8;
	return va + gob * 512 + y % 8 * 64 + x % 64;
}

static void do_tiled(struct fake *f, const struct device_copy *c)
{
	uint64_t x, y;

	for (y = 0; y < c->lines; y++) {
		for (x = 0; x < c->width; x++) {
			uint64_t src = c->src_tiled ? in_blocks(c->src, &c->src_blocks, x, y) :
						      c->src + y * c->src_pitch + x;
			uint64_t dst = c->dst_tiled ? in_blocks(c->dst, &c->dst_blocks, x, y) :
						      c->dst + y * c->dst_pitch + x;
			uint8_t *to = bytes(f, dst, 1), *from = bytes(f, src, 1);

			if (to && from)
				*to = *from;
			else
				f->failed = true;
		}
	}
}

static void do_copy(struct fake *f, const struct device_copy *c)
{
	uint32_t i;

	if (c->src_tiled || c->dst_tiled) {
		do_tiled(f, c);
		return;
	}
	for (i = 0; i < c->lines; i++) {
		uint8_t *to = bytes(f, c->dst + i * c->dst_pitch, c->width),
			*from = bytes(f, c->src + i * c->src_pitch, c->width);

		if (to && from)
			memmove(to, from, c->width);
		else
			f->failed = true;
	}
}

static void do_fill(struct fake *f, const struct device_fill *x)
{
	uint32_t i, j;

	for (j = 0; j < x->lines; j++) {
		uint8_t *to = bytes(f, x->dst + j * x->pitch, (uint64_t)x->width * x->unit);

		for (i = 0; to && i < x->width; i++)
			memcpy(to + i * x->unit, &x->value, x->unit);
		f->failed |= !to;
	}
}

static void do_work(struct fake *f, const struct work *w)
{
	unsigned int i;

	for (i = 0; i < NR_QUEUES; i++)
		if (f->done[i] < w->after.seq[i])
			__atomic_add_fetch(&fake_early, 1, __ATOMIC_RELAXED);
	if (w->kind == COPY)
		do_copy(f, &w->copy);
	if (w->kind == FILL)
		do_fill(f, &w->fill);
	if (w->kind == STAMP) {
		uint32_t *at = (uint32_t *)bytes(f, w->va, 16);
		uint64_t now = __atomic_add_fetch(&clock_ns, 1000000, __ATOMIC_RELAXED);

		at[0] = w->payload;
		memcpy(at + 2, &now, 8);
	}
	f->failed |= w->bad;
}

static bool may_run(struct fake *f, enum device_queue q)
{
	const struct work *w = &f->work[q][f->done[q] % MAX_WORK];
	unsigned int i;

	if (__atomic_load_n(&fake_hold[q], __ATOMIC_SEQ_CST) || f->failed ||
	    f->done[q] == f->submitted[q])
		return false;
	for (i = 0; i < NR_QUEUES; i++)
		if (i != (unsigned int)q && f->done[i] < w->after.seq[i])
			return false;
	return true;
}

static void run(struct fake *f)
{
	bool progress = true;
	int q;

	while (progress) {
		progress = false;
		/* the later queue first: the order is up to the moments */
		for (q = NR_GPU_QUEUES - 1; q >= 0; q--) {
			if (!may_run(f, q))
				continue;
			do_work(f, &f->work[q][f->done[q] % MAX_WORK]);
			f->done[q] += !f->failed;
			progress = true;
		}
	}
}

static enum device_status submit(struct device *d, enum device_queue q, const struct moment *after,
				 struct work w, uint64_t *seq)
{
	struct fake *f = of(d);
	enum device_status ret = DEVICE_OK;

	pthread_mutex_lock(&f->lock);
	if (after)
		w.after = *after;
	if (f->failed) {
		ret = fake_failure ? fake_failure : DEVICE_LOST;
	} else {
		f->work[q][f->submitted[q] % MAX_WORK] = w;
		f->submitted[q]++;
		if (f->submitted[q] - f->done[q] == MAX_WORK)
			abort();
	}
	*seq = f->submitted[q];
	pthread_mutex_unlock(&f->lock);
	return ret;
}

static bool copies_beside(struct device *d)
{
	fake_asked_beside++;
	return !fake_one_queue;
}

static enum device_status copy(struct device *d, enum device_queue q, const struct moment *after,
			       const struct device_copy *c, uint64_t *seq)
{
	return submit(d, q, after, (struct work){ .kind = COPY, .copy = *c }, seq);
}

static enum device_status fake_fill(struct device *d, enum device_queue q,
				    const struct moment *after, const struct device_fill *x,
				    uint64_t *seq)
{
	return submit(d, q, after, (struct work){ .kind = FILL, .fill = *x }, seq);
}

static enum device_status stamp(struct device *d, enum device_queue q, const struct moment *after,
				uint64_t va, uint32_t payload, uint64_t *seq)
{
	return submit(d, q, after, (struct work){ .kind = STAMP, .va = va, .payload = payload },
		      seq);
}

static enum device_status launch(struct device *d, const struct moment *after,
				 const struct device_launch *l, uint64_t *seq)
{
	struct work w = { .kind = LAUNCH };

	fake_last_launch = *l;
	memcpy(fake_const0, l->const0, l->const0_size);
	fake_last_launch.const0 = fake_const0;
	fake_launches++;
	if (fake_fail_after >= 0 && fake_fail_after-- == 0)
		w.bad = true;
	return submit(d, QUEUE_COMPUTE, after, w, seq);
}

void *fake_bytes(struct device *d, uint64_t va, uint64_t size)
{
	return bytes(of(d), va, size);
}

static uint64_t host_begin(struct device *d)
{
	struct fake *f = of(d);
	uint64_t seq;

	pthread_mutex_lock(&f->lock);
	seq = ++f->submitted[QUEUE_HOST];
	pthread_mutex_unlock(&f->lock);
	return seq;
}

static void host_done(struct device *d, uint64_t seq)
{
	struct fake *f = of(d);

	pthread_mutex_lock(&f->lock);
	f->done[QUEUE_HOST] = seq;
	pthread_mutex_unlock(&f->lock);
}

static enum device_status poll(struct device *d, enum device_queue q, uint64_t seq, bool look)
{
	struct fake *f = of(d);
	enum device_status ret;

	pthread_mutex_lock(&f->lock);
	run(f);
	ret = f->done[q] >= seq ? DEVICE_OK :
	      !f->failed	? DEVICE_BUSY :
	      fake_failure	? fake_failure :
				  DEVICE_LOST;
	pthread_mutex_unlock(&f->lock);
	return ret;
}

static uint64_t in_use(unsigned int index)
{
	return fake_in_use[index];
}

const struct device_ops fake_device = {
	.count = count,
	.describe = describe,
	.open = fake_open_device,
	.close = close_device,
	.vram_used = vram_used,
	.in_use = in_use,
	.alloc = alloc,
	.view = view,
	.release = release,
	.move = move,
	.copies_beside = copies_beside,
	.copy = copy,
	.fill = fake_fill,
	.launch = launch,
	.stamp = stamp,
	.host_begin = host_begin,
	.host_done = host_done,
	.poll = poll,
};
