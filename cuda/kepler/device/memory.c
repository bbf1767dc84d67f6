// SPDX-License-Identifier: MIT
/*
 * Memory, in buffers. nouveau puts each buffer at an address of its own in the device's address
 * space on the GPU, for as long as the buffer lives.
 *
 * A submission names all buffers, since it may use any of them, by pointers that this library can't
 * see. The kernel may move a buffer that no unfinished submission names (nouveau_gem.c:
 * validate_list(), validate_fini()). A submission costs more with each buffer, so small pieces of
 * memory share buffers.
 *
 * Host memory is mapped for the CPU at the address that nouveau chose for the GPU, if that is free.
 *
 * nouveau gives video memory as its last owner, perhaps another process, left it (nouveau_bo.c:
 * nouveau_bo_move(), "Fake bo copy"). So the GPU clears each new buffer of video memory before
 * later work uses it. A piece of a buffer that is given out again is not cleared.
 *
 * nouveau moves a buffer that was made for VRAM and GART, at an unchanged address, to what a
 * submission names it for (nouveau_gem.c: nouveau_gem_set_domain()). It maps such a buffer in pages
 * of 4 KiB, not of 128 KiB (nouveau_bo.c: nouveau_bo_alloc()), and its address is a multiple of no
 * more than that. So buffers are made for both only where the program wants to move them.
 *
 * Buffers of a process's devices have no address in common (pushbuffers, which libdrm makes,
 * aside): an address tells whose memory it is. But nouveau counts for each file from the same
 * begin. So a buffer at an address that is taken is kept while others are made.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <nouveau_drm.h>
#include <xf86drm.h>

#include "../../api/process.h"
#include "nv.h"

/*
 * HOST_CHUNK: has room for what a new context needs of host memory. VRAM_CHUNK: for pieces below
 * VRAM_PAGE.
 */
enum {
	HOST_PAGE = 4096,
	VRAM_PAGE = 128 * 1024,
	HOST_SMALL = 512 * 1024,
	HOST_CHUNK = 3 << 20,
	VRAM_CHUNK = 1 << 20
};

/* buffers to try until one is mapped at its GPU address */
enum { SAME_TRIES = 8, SAME_TRIES_SMALL = 14 };

/* as much as one piece of work clears */
#define CLEAR_BYTES (256ull << 20)

/* buffers kept while one at an address of use is looked for */
enum { MAX_ASIDE = 256 };

/* the kind that block-linear surfaces of any texel size use: rnndb g80_defs.xml GF100_PTE_KIND */
enum { KIND_BLOCK_LINEAR = 0xfe };

/*
 * All buffers of the process. The lock is held while a buffer is made and while one is dropped, so
 * the devices of a process take turns with that.
 */
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nv_buffer *buffers;

static bool overlaps(const struct nouveau_bo *bo, uint64_t begin, uint64_t end)
{
	return bo->offset < end && bo->offset + bo->size > begin;
}

/*
 * The end of what makes the address of @bo useless; 0: nothing does. It is another device's buffer,
 * or a window of shared and local memory. Call with buffers_lock held.
 */
static uint64_t useless_until(const struct nv_device *d, const struct nouveau_bo *bo)
{
	const struct nv_buffer *b;
	uint64_t end = overlaps(bo, SHARED_WINDOW, WINDOWS_END) ? WINDOWS_END : 0;

	for (b = buffers; b; b = b->next) {
		uint64_t its_end = b->bo->offset + b->bo->size;

		if (b->d != d && overlaps(bo, b->bo->offset, its_end) && its_end > end)
			end = its_end;
	}
	return end;
}

/*
 * Make a buffer at an address that is of use. Buffers at other addresses are kept until then, so
 * that their addresses are not given out again. Call with buffers_lock held.
 */
static int new_bo(struct nv_device *d, uint32_t flags, uint32_t align, uint64_t size,
		  union nouveau_bo_config *config, struct nouveau_bo **out)
{
	struct nouveau_bo *aside[MAX_ASIDE] = { NULL };
	unsigned int n = 0, i;
	uint64_t end, at;
	int ret;

	while (!(ret = nouveau_bo_new(d->dev, flags, align, size, config, out)) &&
	       (end = useless_until(d, *out))) {
		at = (*out)->offset + (*out)->size;
		aside[n++] = *out;
		*out = NULL;
		ret = -ENOMEM;
		if (n + 1 >= MAX_ASIDE)
			break;
		if (at < end && !nouveau_bo_new(d->dev, flags, align, end - at, config, &aside[n]))
			n++;
	}
	for (i = 0; i < n; i++)
		nouveau_bo_ref(NULL, &aside[i]);
	return ret;
}

/* False: not possible. */
static bool map_where_it_is(struct nv_device *d, struct nouveau_bo *bo)
{
	struct drm_nouveau_gem_info info = { .handle = bo->handle };
	void *want = (void *)(uintptr_t)bo->offset, *got;

	if (drmCommandWriteRead(d->fd, DRM_NOUVEAU_GEM_INFO, &info, sizeof(info)))
		return false;
	got = mmap(want, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, d->fd,
		   info.map_handle);
	if (got == want) {
		bo->map = got; /* libdrm unmaps it with the buffer */
		return true;
	}
	if (got != MAP_FAILED) /* Linux before 4.17 */
		munmap(got, bo->size);
	return false;
}

/*
 * Make a buffer that CPU and GPU see at the same address. Where that fails make up to @tries more,
 * and keep the failed ones meanwhile. If all fail the CPU sees the buffer elsewhere.
 */
static int new_host_bo(struct nv_device *d, uint64_t size, unsigned int tries,
		       struct nouveau_bo **out)
{
	struct nouveau_bo *other = NULL;
	int ret = new_bo(d, NOUVEAU_BO_GART | NOUVEAU_BO_MAP, HOST_PAGE, size, NULL, out);

	if (ret || map_where_it_is(d, *out))
		return ret;
	if (tries && !new_host_bo(d, size, tries - 1, &other)) {
		if ((uintptr_t)other->map == other->offset) {
			nouveau_bo_ref(NULL, out);
			*out = other;
			return 0;
		}
		nouveau_bo_ref(NULL, &other);
	}
	return (*out)->map ? 0 : nouveau_bo_map(*out, 0, d->client);
}

static void drop_buffer(struct nv_device *d, struct nv_buffer *b)
{
	struct nv_buffer **at;

	pthread_mutex_lock(&buffers_lock);
	for (at = &buffers; *at != b; at = &(*at)->next)
		;
	*at = b->next;
	d->nr_refs--;
	d->buffer[b->index] = d->buffer[d->nr_refs];
	d->buffer[b->index]->index = b->index;
	d->refs[b->index] = d->refs[d->nr_refs];
	nouveau_bo_ref(NULL, &b->bo);
	pthread_mutex_unlock(&buffers_lock);
	free(b);
}

static int new_bo_for(struct nv_device *d, enum device_place place, uint32_t page, uint64_t size,
		      struct nouveau_bo **out)
{
	union nouveau_bo_config config = { .nvc0.memtype = KIND_BLOCK_LINEAR };
	unsigned int tries = size <= HOST_CHUNK ? SAME_TRIES_SMALL : SAME_TRIES;

	if (place == PLACE_HOST)
		return new_host_bo(d, size, tries, out);
	return new_bo(d, NOUVEAU_BO_VRAM | (d->moves ? NOUVEAU_BO_GART : 0), page, size,
		      place == PLACE_TILED ? &config : NULL, out);
}

/*
 * Have the GPU clear a new buffer before later work of either queue. A kernel under way must not
 * hold up the clearing, for which copies of other streams would wait. So QUEUE_COPY clears the
 * buffer if it is open, or if a kernel is under way and QUEUE_COPY can be opened; else
 * QUEUE_COMPUTE does.
 */
static bool clear(struct nv_device *d, const struct nouveau_bo *bo)
{
	uint64_t end = bo->offset + bo->size, last = d->queue[QUEUE_COMPUTE].seq;
	struct device_fill f = { .dst = bo->offset, .unit = 4, .lines = 1 };
	bool works = nv_poll(&d->base, QUEUE_COMPUTE, last, false) == DEVICE_BUSY;
	enum device_queue q = d->queue[QUEUE_COPY].live || (works && nv_copies_beside(&d->base)) ?
				      QUEUE_COPY :
				      QUEUE_COMPUTE;

	for (; f.dst < end; f.dst += CLEAR_BYTES) {
		f.width = (end - f.dst < CLEAR_BYTES ? end - f.dst : CLEAR_BYTES) / f.unit;
		if (nv_fill(&d->base, q, NULL, &f, &d->cleared.seq[q]))
			return false;
	}
	return true;
}

static struct nv_buffer *new_buffer(struct nv_device *d, enum device_place place, uint64_t size,
				    bool shared)
{
	uint32_t page = place == PLACE_TILED || (place == PLACE_VRAM && size >= VRAM_PAGE) ?
				VRAM_PAGE :
				HOST_PAGE;
	uint32_t aperture = place == PLACE_HOST ? NOUVEAU_BO_GART : NOUVEAU_BO_VRAM;
	struct nv_buffer *b;

	if (d->nr_refs == MAX_BUFFERS)
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	size = (size + page - 1) & ~((uint64_t)page - 1);
	*b = (struct nv_buffer){ .kind = place, .shared = shared, .places.size = size, .d = d };
	pthread_mutex_lock(&buffers_lock);
	if (new_bo_for(d, place, page, size, &b->bo)) {
		nouveau_bo_ref(NULL, &b->bo);
		pthread_mutex_unlock(&buffers_lock);
		free(b);
		return NULL;
	}
	b->next = buffers;
	buffers = b;
	pthread_mutex_unlock(&buffers_lock);
	b->index = d->nr_refs++;
	d->buffer[b->index] = b;
	/*
	 * read only, even where work writes to it: else the kernel would make queues wait for each
	 * other for their common buffers
	 */
	d->refs[b->index] = (struct nouveau_pushbuf_refn){ b->bo, aperture | NOUVEAU_BO_RD };
	if (place == PLACE_HOST || clear(d, b->bo))
		return b;
	drop_buffer(d, b);
	return NULL;
}

/* A shared buffer with room for @size, or a new one. */
static struct nv_buffer *buffer_for(struct nv_device *d, enum device_place place, uint64_t size,
				    struct place *p)
{
	struct nv_buffer *b;
	unsigned int i;
	bool small = place == PLACE_HOST ? size <= HOST_SMALL :
					   place == PLACE_VRAM && size < VRAM_PAGE;

	/*
	 * A large piece of VRAM has its own buffer. Its address is a multiple of VRAM_PAGE, where
	 * buffers don't move.
	 */
	for (i = 0; (small || place == PLACE_HOST) && i < d->nr_refs; i++) {
		b = d->buffer[i];
		if (b->shared && b->kind == place && place_take(&b->places, size, p))
			return b;
	}
	b = new_buffer(d, place,
		       !small		   ? size :
		       place == PLACE_HOST ? HOST_CHUNK :
					     VRAM_CHUNK,
		       small);
	if (!b && small)
		b = new_buffer(d, place, size, false);
	if (b && !place_take(&b->places, size, p)) {
		drop_buffer(d, b);
		return NULL;
	}
	return b;
}

enum device_status nv_alloc(struct device *dev, enum device_place place, uint64_t size,
			    struct device_memory **out)
{
	struct nv_device *d = nv(dev);
	struct nv_memory *m;

	if (!size || size > 1ull << 40)
		return DEVICE_NO_MEMORY;
	m = calloc(1, sizeof(*m));
	if (!m)
		return DEVICE_NO_MEMORY;
	size = (size + HOST_PAGE - 1) & ~((uint64_t)HOST_PAGE - 1);
	m->buffer = buffer_for(d, place, size, &m->place);
	if (!m->buffer) {
		free(m);
		return DEVICE_NO_MEMORY;
	}
	m->base = (struct device_memory){ .va = m->buffer->bo->offset + m->place.at, .size = size };
	if (place == PLACE_HOST)
		m->base.map = (uint8_t *)m->buffer->bo->map + m->place.at;
	*out = &m->base;
	return DEVICE_OK;
}

void *nv_view(struct device *dev, struct device_memory *base)
{
	struct nv_device *d = nv(dev);
	struct nv_memory *m = nv_memory(base);
	struct nouveau_bo *bo = m->buffer->bo;
	struct drm_nouveau_gem_info info = { .handle = bo->handle };
	uint64_t end = m->place.at + m->place.size;
	uint8_t *all;

	if (!base->map || drmCommandWriteRead(d->fd, DRM_NOUVEAU_GEM_INFO, &info, sizeof(info)))
		return NULL;
	/* the kernel maps a buffer only from its begin */
	all = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, info.map_handle);
	if (all == MAP_FAILED)
		return NULL;
	if (m->place.at)
		munmap(all, m->place.at);
	if (end < bo->size)
		munmap(all + end, bo->size - end);
	return all + m->place.at;
}

static void let_go(struct nv_device *d, struct nv_memory *m)
{
	struct nv_buffer *b = m->buffer;

	place_drop(&b->places, &m->place);
	free(m);
	if (!b->places.first)
		drop_buffer(d, b);
}

/*
 * First wait until new buffers are cleared: a server that measures its clients' calls counts the
 * clearing so.
 */
void nv_release(struct device *dev, struct device_memory *base)
{
	struct nv_memory *m = nv_memory(base);
	struct nv_device *d = nv(dev);
	unsigned int q;

	for (q = 0; q < NR_GPU_QUEUES && m->buffer->kind != PLACE_HOST; q++)
		if (d->cleared.seq[q])
			nv_wait(d, q, d->cleared.seq[q]);
	let_go(d, m);
}

/* ------------------------------------------------------------------ moving */

static uint64_t vram_bytes(const struct nv_device *d)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < d->nr_refs; i++)
		all += d->buffer[i]->kind == PLACE_HOST ? 0 : d->buffer[i]->bo->size;
	return all;
}

/*
 * Whether the machine has so much memory. nouveau does not ask, and the kernel might end a process
 * for it. True where the process may not read what there is.
 */
static bool host_has(uint64_t bytes)
{
	FILE *f = own_file(fopen("/proc/meminfo", "re"), "r");
	unsigned long long kib = UINT64_MAX >> 10;
	char line[128];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %llu", &kib) != 1)
		;
	if (f)
		fclose(f);
	return bytes >> 10 <= kib;
}

/* Submit work that names all video memory as memory in this place, and wait for it. */
static enum device_status place_all(struct nv_device *d, uint32_t aperture)
{
	enum device_status ret;
	unsigned int i;
	uint64_t seq;

	for (i = 0; i < d->nr_refs; i++)
		if (d->buffer[i]->kind != PLACE_HOST)
			d->refs[i].flags = aperture | NOUVEAU_BO_RD;
	ret = nv_begin(d, QUEUE_COMPUTE, NULL);
	if (!ret)
		ret = nv_submit(d, QUEUE_COMPUTE, &seq);
	return ret ? ret : nv_wait(d, QUEUE_COMPUTE, seq);
}

/*
 * nouveau would find room for what comes back by moving memory of others away, which they need for
 * their next work: so it is looked for before.
 */
enum device_status nv_move(struct device *dev, bool away)
{
	static const uint32_t apertures[] = { [true] = NOUVEAU_BO_GART, [false] = NOUVEAU_BO_VRAM };
	struct nv_device *d = nv(dev);
	uint64_t bytes = vram_bytes(d);
	enum device_status ret;

	if (away == d->away)
		return DEVICE_OK;
	if (away ? !host_has(bytes) : bytes + dev->ops->vram_used(dev) > d->dev->vram_size)
		return DEVICE_NO_MEMORY;
	ret = place_all(d, apertures[away]);
	if (ret)
		place_all(d, apertures[!away]);
	else
		d->away = away;
	return ret;
}

void nv_memory_close(struct nv_device *d)
{
	while (d->nr_refs)
		let_go(d, (struct nv_memory *)d->buffer[d->nr_refs - 1]->places.first);
}
