// SPDX-License-Identifier: GPL-2.0-only
/*
 * Physical memory as the GPU sees it: its video memory, and guest memory behind the bus. Also the
 * fair use of dma_lock.
 */
#include <string.h>

#include "state.h"

void *mem_ptr(struct gk110 *g, enum mem_target t, uint64_t addr, size_t *len, bool write)
{
	if (t == MEM_VRAM) {
		if (addr >= g->cfg.vram_size)
			return NULL;
		if (*len > g->cfg.vram_size - addr)
			*len = g->cfg.vram_size - addr;
		return g->vram + addr;
	}
	if (t == MEM_PEER || !g->bus || !g->bus->dma_ptr)
		return NULL;
	return g->bus->dma_ptr(g->bus_priv, addr, len, write);
}

void mem_copy_from(void *dst, const void *mem, size_t len)
{
	uintptr_t a = (uintptr_t)mem;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	if (len == 4 && !(a & 3)) {
		v4 = __atomic_load_n((const uint32_t *)mem, __ATOMIC_RELAXED);
		memcpy(dst, &v4, 4);
	} else if (len == 8 && !(a & 7)) {
		v8 = __atomic_load_n((const uint64_t *)mem, __ATOMIC_RELAXED);
		memcpy(dst, &v8, 8);
	} else if (len == 2 && !(a & 1)) {
		v2 = __atomic_load_n((const uint16_t *)mem, __ATOMIC_RELAXED);
		memcpy(dst, &v2, 2);
	} else if (len == 1) {
		*(uint8_t *)dst = __atomic_load_n((const uint8_t *)mem, __ATOMIC_RELAXED);
	} else {
		memcpy(dst, mem, len);
	}
}

void mem_copy_to(void *mem, const void *src, size_t len)
{
	uintptr_t a = (uintptr_t)mem;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	if (len == 4 && !(a & 3)) {
		memcpy(&v4, src, 4);
		__atomic_store_n((uint32_t *)mem, v4, __ATOMIC_RELAXED);
	} else if (len == 8 && !(a & 7)) {
		memcpy(&v8, src, 8);
		__atomic_store_n((uint64_t *)mem, v8, __ATOMIC_RELAXED);
	} else if (len == 2 && !(a & 1)) {
		memcpy(&v2, src, 2);
		__atomic_store_n((uint16_t *)mem, v2, __ATOMIC_RELAXED);
	} else if (len == 1) {
		__atomic_store_n((uint8_t *)mem, *(const uint8_t *)src, __ATOMIC_RELAXED);
	} else {
		memcpy(mem, src, len);
	}
}

bool mem_fetch(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len)
{
	while (len) {
		size_t n = len;
		const void *p = mem_ptr(g, t, addr, &n, false);

		if (!p)
			return false;
		mem_copy_from(buf, p, n);
		buf = (uint8_t *)buf + n;
		addr += n;
		len -= n;
	}
	return true;
}

bool mem_store(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len)
{
	while (len) {
		size_t n = len;
		void *p = mem_ptr(g, t, addr, &n, true);

		if (!p)
			return false;
		mem_copy_to(p, buf, n);
		buf = (const uint8_t *)buf + n;
		addr += n;
		len -= n;
	}
	return true;
}

bool mem_read(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len)
{
	bool ok;

	pthread_rwlock_rdlock(&g->dma_lock);
	ok = mem_fetch(g, t, addr, buf, len);
	pthread_rwlock_unlock(&g->dma_lock);
	if (t == MEM_VRAM)
		stat_add(g, vram_rd_bytes, len);
	else
		stat_add(g, dma_rd_bytes, len);
	return ok;
}

bool mem_write(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len)
{
	bool ok;

	pthread_rwlock_rdlock(&g->dma_lock);
	ok = mem_store(g, t, addr, buf, len);
	pthread_rwlock_unlock(&g->dma_lock);
	if (t == MEM_VRAM)
		stat_add(g, vram_wr_bytes, len);
	else
		stat_add(g, dma_wr_bytes, len);
	return ok;
}

/*
 * A reader that arrives while a writer waits queues behind it at the gate. A thread that already
 * holds the read lock passes: else it would wait for itself.
 */
static _Thread_local unsigned int dma_depth;

void dma_read_lock(struct gk110 *g)
{
	if (dma_depth++ == 0 && atomic_load(&g->dma_writers)) {
		pthread_mutex_lock(&g->dma_gate);
		pthread_mutex_unlock(&g->dma_gate);
	}
	pthread_rwlock_rdlock(&g->dma_lock);
}

void dma_read_unlock(struct gk110 *g)
{
	pthread_rwlock_unlock(&g->dma_lock);
	dma_depth--;
}

void dma_write_lock(struct gk110 *g)
{
	atomic_fetch_add(&g->dma_writers, 1);
	pthread_mutex_lock(&g->dma_gate);
	pthread_rwlock_wrlock(&g->dma_lock);
}

void dma_write_unlock(struct gk110 *g)
{
	pthread_rwlock_unlock(&g->dma_lock);
	pthread_mutex_unlock(&g->dma_gate);
	atomic_fetch_sub(&g->dma_writers, 1);
}
