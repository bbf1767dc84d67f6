// SPDX-License-Identifier: MIT
/*
 * Launches. Each has a slot with its queue meta data, its constant bank 0, and a word that the
 * grid's completion writes. A grid that ends by an exception does not write that word: that is how
 * an exception is found.
 */
#include <string.h>

#include "nv.h"
#include "qmd.h"

/* LOCAL_BEGIN: local memory begins at a multiple of this; buffers that move need not */
enum { SM_WARPS = 64, WARP = 32, LOCAL_ALIGN = 32 * 1024, LOCAL_BEGIN = 128 * 1024 };

enum device_status nv_launch_open(struct nv_device *d)
{
	struct device_memory *m;
	enum device_status ret = nv_alloc(&d->base, PLACE_HOST, LAUNCH_SLOTS * SLOT_BYTES, &m);

	if (ret)
		return ret;
	d->ring = nv_memory(m);
	memset(m->map, 0, m->size);
	return DEVICE_OK;
}

/* ------------------------------------------------------------------ local memory */

static uint32_t warps_per_block(const struct device_launch *l)
{
	return (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP;
}

static uint64_t sm_bytes(uint32_t per_warp, unsigned int warps)
{
	return ((uint64_t)per_warp * warps + LOCAL_ALIGN - 1) & ~((uint64_t)LOCAL_ALIGN - 1);
}

/*
 * Local memory for all warps of each SM; where there is no room for that, for fewer, down to
 * @at_least.
 */
static enum device_status grow_local(struct nv_device *d, uint32_t per_warp, unsigned int at_least)
{
	enum device_status ret;
	struct device_memory *m = NULL;
	unsigned int warps = SM_WARPS;
	uint64_t extra = d->moves ? LOCAL_BEGIN : 0;

	ret = nv_wait(d, QUEUE_COMPUTE, d->queue[QUEUE_COMPUTE].seq);
	if (ret)
		return ret;
	if (d->local)
		nv_release(&d->base, &d->local->base);
	d->local = NULL;
	d->local_per_warp = 0;
	while ((ret = nv_alloc(&d->base, PLACE_VRAM, sm_bytes(per_warp, warps) * d->nr_smx + extra,
			       &m))) {
		if (warps == at_least)
			return ret;
		warps = warps / 2 > at_least ? warps / 2 : at_least;
	}
	d->local = nv_memory(m);
	d->local_per_warp = per_warp;
	d->local_warps = warps;
	return DEVICE_OK;
}

static void emit_local(struct nv_device *d)
{
	uint64_t va = (d->local->base.va + LOCAL_BEGIN - 1) & ~(LOCAL_BEGIN - 1ull);
	uint64_t size = sm_bytes(d->local_per_warp, d->local_warps);

	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_LOCAL_MEMORY_A, va >> 32, va);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_LOCAL_NON_THROTTLED_A, size >> 32, size,
	     LOCAL_ALL_SMS);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_LOCAL_THROTTLED_A, size >> 32, size,
	     LOCAL_ALL_SMS);
}

static void emit_textures(struct nv_device *d, const struct device_launch *l)
{
	if (!l->nr_headers || (d->headers == l->headers && d->samplers == l->samplers))
		return;
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_HEADER_POOL_A, l->headers >> 32, l->headers,
	     l->nr_headers - 1);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_SAMPLER_POOL_A, l->samplers >> 32, l->samplers,
	     l->nr_samplers - 1);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_BINDLESS_TEXTURE, 0);
	d->headers = l->headers;
	d->samplers = l->samplers;
}

static bool local_suffices(const struct nv_device *d, uint32_t per_warp, unsigned int warps)
{
	return !per_warp || (d->local && (uint64_t)d->local_per_warp * d->local_warps >=
						 (uint64_t)per_warp * warps);
}

/* ------------------------------------------------------------------ launching */

static enum device_status take_slot(struct nv_device *d, unsigned int *slot)
{
	enum device_status ret = DEVICE_OK;

	*slot = d->launched % LAUNCH_SLOTS;
	if (d->launched >= LAUNCH_SLOTS)
		ret = nv_wait(d, QUEUE_COMPUTE, d->slot[*slot].seq);
	return ret;
}

static void fill_slot(struct nv_device *d, unsigned int slot, const struct device_launch *l)
{
	uint64_t va = d->ring->base.va + slot * SLOT_BYTES;
	uint8_t *at = (uint8_t *)d->ring->base.map + slot * SLOT_BYTES;
	uint32_t qmd[QMD_BYTES / 4];

	d->slot[slot].payload = (uint32_t)(d->launched + 1) | 1u << 31;
	*nv_release_word(d, slot) = 0;
	qmd_const0(at + SLOT_CONST0, l);
	qmd_build(qmd, l, va + SLOT_CONST0, va + SLOT_RELEASE, d->slot[slot].payload);
	memcpy(at, qmd, sizeof(qmd));
}

enum device_status nv_launch(struct device *dev, const struct moment *after,
			     const struct device_launch *l, uint64_t *seq)
{
	struct nv_device *d = nv(dev);
	uint32_t per_warp = (l->stack + l->local) * WARP + l->crs;
	unsigned int warps = warps_per_block(l), slot;
	bool local_new = false;
	enum device_status ret;

	*seq = d->queue[QUEUE_COMPUTE].seq;
	if (l->const0_size > DEVICE_CONST0_MAX)
		return DEVICE_FAILED;
	if (!local_suffices(d, per_warp, warps)) {
		ret = grow_local(d, per_warp, warps);
		if (ret)
			return ret;
		local_new = true;
	}
	ret = take_slot(d, &slot);
	if (!ret)
		ret = nv_begin(d, QUEUE_COMPUTE, after);
	if (ret)
		return ret;
	fill_slot(d, slot, l);
	if (local_new)
		emit_local(d);
	if (d->code != l->code)
		EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_PROGRAM_REGION_A, l->code >> 32,
		     l->code);
	d->code = l->code;
	emit_textures(d, l);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_SEND_PCAS_A,
	     (d->ring->base.va + slot * SLOT_BYTES) >> 8);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_SEND_SIGNALING_PCAS_B,
	     PCAS_INVALIDATE | PCAS_SCHEDULE);
	EMIT(d, QUEUE_COMPUTE, SUBC_COMPUTE, COMPUTE_WAIT_FOR_IDLE, 0);
	pthread_mutex_lock(&d->check_lock);
	d->slot[slot].seq = d->queue[QUEUE_COMPUTE].seq + 1;
	d->launched++;
	pthread_mutex_unlock(&d->check_lock);
	return nv_submit(d, QUEUE_COMPUTE, seq);
}
