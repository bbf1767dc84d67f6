// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of warps: translations, constant banks, the windows of the generic address space, local
 * memory.
 *
 * A thread keeps host pointers of the pages it used, for as long as it holds dma_lock.
 *
 * Local memory lies in the memory that the class state gives each SM. Each resident warp has a part
 * of it, in which the words of the 32 lanes are side by side. Open: the chip's arrangement.
 */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define MAX_CBUF 0x10000u

void no_memory(struct sm_thread *t, uint64_t va)
{
	gk110_note(t->g, "no memory for code or constants at 0x%010llx", (unsigned long long)va);
	mmu_fault(t->g, t->gcc, t->run->grid->vm, va, MMU_REGION, ACC_READ, 0);
}

void xlat_flush(struct sm_thread *t)
{
	memset(t->xlat, 0xff, sizeof(t->xlat));
}

uint8_t *xlat_miss(struct sm_thread *t, uint64_t va, unsigned int size, enum mmu_access acc)
{
	struct xlat *x = &t->xlat[(va >> 12) % XLAT_LINES];
	unsigned int off = va % GK110_PAGE;
	struct mmu_seg seg;

	if (mmu_translate(t->g, t->l1, t->run->grid->vm, va, GK110_PAGE - off, acc, 0, &seg))
		return NULL;
	if (seg.len < size) {
		mmu_fault(t->g, t->l1, t->run->grid->vm, va, MMU_REGION, acc, 0);
		return NULL;
	}
	/* keep no translation: struct xlat stands for a whole page */
	if (seg.len < GK110_PAGE - off)
		return seg.ptr;
	if (x->host != (uint8_t *)seg.ptr - off)
		x->rtag = x->wtag = ~0ull;
	x->host = (uint8_t *)seg.ptr - off;
	if (acc == ACC_READ)
		x->rtag = va >> 12;
	else
		x->wtag = va >> 12;
	if (x->rtag != va >> 12)
		x->rtag = ~0ull;
	if (x->wtag != va >> 12)
		x->wtag = ~0ull;
	return seg.ptr;
}

/* ------------------------------------------------------------------ constants */

static bool cbuf_fill(struct sm_thread *t, struct cbuf *cb, uint32_t page)
{
	struct run *r = t->run;
	uint32_t at = page * CBUF_PAGE, n = cb->size - at < CBUF_PAGE ? cb->size - at : CBUF_PAGE;
	bool ok = true;

	pthread_mutex_lock(&r->lock);
	if (!cb->data)
		cb->data = calloc((cb->size + CBUF_PAGE - 1) / CBUF_PAGE, CBUF_PAGE);
	if (!cb->data) {
		no_memory(t, cb->va + at);
		ok = false;
	} else if (!(atomic_load(&cb->have) >> page & 1)) {
		ok = !mmu_read(t->g, t->gcc, r->grid->vm, cb->va + at, cb->data + at, n, 0);
	}
	if (ok)
		atomic_fetch_or(&cb->have, 1u << page);
	pthread_mutex_unlock(&r->lock);
	return ok;
}

bool const_read(struct warp *w, unsigned int bank, uint32_t offset, void *buf, unsigned int size,
		uint32_t esr)
{
	struct cbuf *cb = &w->t->run->cbuf[bank % QMD_NR_CBUF];
	uint32_t first = offset / CBUF_PAGE, last = (offset + size - 1) / CBUF_PAGE;

	if (__builtin_expect(bank >= QMD_NR_CBUF || !cb->valid, 0)) {
		warp_trap(w, esr);
		return false;
	}
	if (__builtin_expect(offset > MAX_CBUF - size || offset + size > cb->size, 0)) {
		memset(buf, 0, size); /* open: what the chip reads behind a bank's end */
		return true;
	}
	for (uint32_t page = first; page <= last; page++) {
		if (__builtin_expect(
			    !(atomic_load_explicit(&cb->have, memory_order_acquire) >> page & 1),
			    0) &&
		    !cbuf_fill(w->t, cb, page)) {
			warp_fault(w);
			return false;
		}
	}
	memcpy(buf, cb->data + offset, size);
	return true;
}

/* ------------------------------------------------------------------ spaces */

/* Offsets count up from 0 (the low size) and down from the window's end (the high size). */
bool local_address(const struct warp *w, unsigned int lane, uint32_t offset, unsigned int size,
		   uint64_t *va)
{
	const struct run *r = w->t->run;
	const struct cta *c = w->cta;
	uint32_t off = offset % WINDOW_SIZE, at;
	uint64_t warp = (uint64_t)c->slot * r->warps_per_cta + w->id;

	if (offset >= WINDOW_SIZE && offset < 0u - WINDOW_SIZE)
		return false;
	if (off < r->local_low && size <= r->local_low - off)
		at = off;
	else if (off >= WINDOW_SIZE - r->local_high && size <= WINDOW_SIZE - off)
		at = r->local_low + (off - (WINDOW_SIZE - r->local_high));
	else
		return false;
	*va = r->grid->local_base + c->sm * r->grid->local_size_per_sm + warp * r->local_per_warp +
	      (uint64_t)(at / 4) * (LANES * 4) + lane * 4 + at % 4;
	return true;
}
