// SPDX-License-Identifier: GPL-2.0-only
/*
 * Falcon ports (envytools docs/hw/falcon; nouveau nvkm/falcon/v1.c shows how they are used):
 * memories behind address/data ports with auto-increment, capability words, interrupt
 * set/ack/mask/route, start.
 */
#include "falcon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bitfield.h>

#define FALCON_VERSION 3 /* fuc3 images (nouveau hubgk110.fuc3) */

int falcon_init(struct falcon *f, const char *name, uint32_t imem_size, uint32_t dmem_size)
{
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->imem_size = imem_size;
	f->dmem_size = dmem_size;
	memset(f->tag, 0xff, sizeof(f->tag));
	f->imem = calloc(1, imem_size);
	f->dmem = calloc(1, dmem_size);
	if (!f->imem || !f->dmem) {
		falcon_fini(f);
		return -ENOMEM;
	}
	return 0;
}

void falcon_fini(struct falcon *f)
{
	free(f->imem);
	free(f->dmem);
	f->imem = NULL;
	f->dmem = NULL;
}

void falcon_reset(struct falcon *f)
{
	/* the chip clears both memories (FALCON_DMACTL_SCRUBBING) */
	memset(f->imem, 0, f->imem_size);
	memset(f->dmem, 0, f->dmem_size);
	memset(f->imem_port, 0, sizeof(f->imem_port));
	memset(f->dmem_port, 0, sizeof(f->dmem_port));
	f->intr = f->intr_en = f->intr_route = 0;
	f->bootvec = f->dmactl = 0;
	memset(f->tag, 0xff, sizeof(f->tag));
	f->code_loaded = false;
	f->running = false;
}

uint32_t falcon_dmem_get(const struct falcon *f, uint32_t addr)
{
	return addr < f->dmem_size ? f->dmem[addr / 4] : 0;
}

void falcon_dmem_set(struct falcon *f, uint32_t addr, uint32_t val)
{
	if (addr < f->dmem_size)
		f->dmem[addr / 4] = val;
}

uint32_t falcon_host_intr(const struct falcon *f)
{
	uint32_t host = FIELD_GET(FALCON_INTR_ROUTE_HOST, f->intr_route);
	uint32_t other = FIELD_GET(FALCON_INTR_ROUTE_DEST, f->intr_route);

	return f->intr & f->intr_en & host & ~other;
}

static uint32_t port_access(struct falcon_port *p, uint32_t *mem, uint32_t size, uint32_t ainc,
			    const uint32_t *wr)
{
	uint32_t offs = p->ctrl & FALCON_MEMC_OFFS;
	uint32_t val = 0;

	if (offs < size) {
		if (wr)
			mem[offs / 4] = *wr;
		val = mem[offs / 4];
	}
	if (p->ctrl & ainc)
		p->ctrl = (p->ctrl & ~(uint32_t)FALCON_MEMC_OFFS) | ((offs + 4) & FALCON_MEMC_OFFS);
	return val;
}

static bool memory_read(struct falcon *f, uint32_t off, uint32_t *val)
{
	for (int i = 0; i < FALCON_DMEM_PORTS; i++) {
		if (off == (uint32_t)FALCON_DMEMC(i))
			*val = f->dmem_port[i].ctrl;
		else if (off == (uint32_t)FALCON_DMEMD(i))
			*val = port_access(&f->dmem_port[i], f->dmem, f->dmem_size,
					   FALCON_MEMC_AINCR, NULL);
		else
			continue;
		return true;
	}
	for (int i = 0; i < FALCON_IMEM_PORTS; i++) {
		if (off == (uint32_t)FALCON_IMEMC(i))
			*val = f->imem_port[i].ctrl;
		else if (off == (uint32_t)FALCON_IMEMD(i))
			*val = port_access(&f->imem_port[i], f->imem, f->imem_size,
					   FALCON_MEMC_AINCR, NULL);
		else if (off == (uint32_t)FALCON_IMEMT(i))
			*val = 0;
		else
			continue;
		return true;
	}
	return false;
}

static void code_write(struct falcon *f, struct falcon_port *p, uint32_t val)
{
	uint32_t offs = p->ctrl & FALCON_MEMC_OFFS;

	if (offs < f->imem_size) {
		f->tag[offs / FALCON_PAGE] = p->tag;
		f->code_loaded = true;
	}
	port_access(p, f->imem, f->imem_size, FALCON_MEMC_AINCW, &val);
}

/*
 * Whether the program's pages, from the first to as many as were written, are found by their tags.
 * With a tag left out, two pages have the same, and one is missing.
 */
bool falcon_code_is_found(const struct falcon *f)
{
	bool found[FALCON_MAX_PAGES] = { false };
	unsigned int i, pages = 0;

	for (i = 0; i < f->imem_size / FALCON_PAGE; i++) {
		if (f->tag[i] == FALCON_NO_TAG)
			continue;
		pages++;
		if (f->tag[i] < FALCON_MAX_PAGES)
			found[f->tag[i]] = true;
	}
	for (i = 0; i < pages; i++)
		if (!found[i])
			return false;
	return pages > 0;
}

static bool memory_write(struct falcon *f, uint32_t off, uint32_t val)
{
	for (int i = 0; i < FALCON_DMEM_PORTS; i++) {
		if (off == (uint32_t)FALCON_DMEMC(i))
			f->dmem_port[i].ctrl = val;
		else if (off == (uint32_t)FALCON_DMEMD(i))
			port_access(&f->dmem_port[i], f->dmem, f->dmem_size, FALCON_MEMC_AINCW,
				    &val);
		else
			continue;
		return true;
	}
	for (int i = 0; i < FALCON_IMEM_PORTS; i++) {
		if (off == (uint32_t)FALCON_IMEMC(i)) {
			f->imem_port[i].ctrl = val;
		} else if (off == (uint32_t)FALCON_IMEMD(i)) {
			code_write(f, &f->imem_port[i], val);
		} else if (off == (uint32_t)FALCON_IMEMT(i)) {
			f->imem_port[i].tag = val;
		} else {
			continue;
		}
		return true;
	}
	return false;
}

bool falcon_read(struct falcon *f, uint32_t off, uint32_t *val)
{
	switch (off) {
	case FALCON_INTR:
		*val = f->intr;
		return true;
	case FALCON_INTR_EN:
		*val = f->intr_en;
		return true;
	case FALCON_INTR_ROUTE:
		*val = f->intr_route;
		return true;
	case FALCON_INTR_TRIGGER:
	case FALCON_INTR_ACK:
	case FALCON_INTR_EN_SET:
	case FALCON_INTR_EN_CLR:
	case FALCON_IDLE_STATUS:
	case FALCON_CPUCTL:
	case FALCON_CPUCTL_ALIAS:
		*val = 0;
		return true;
	case FALCON_BOOTVEC:
		*val = f->bootvec;
		return true;
	case FALCON_DMACTL:
		*val = f->dmactl & ~(uint32_t)FALCON_DMACTL_SCRUBBING;
		return true;
	case FALCON_CAPS:
		*val = FIELD_PREP(FALCON_CAPS_IMEM, f->imem_size / 256) |
		       FIELD_PREP(FALCON_CAPS_DMEM, f->dmem_size / 256);
		return true;
	case FALCON_CAPS2:
		*val = FIELD_PREP(FALCON_CAPS2_VERSION, FALCON_VERSION) |
		       FIELD_PREP(FALCON_CAPS2_IMEM_PORTS, FALCON_IMEM_PORTS) |
		       FIELD_PREP(FALCON_CAPS2_DMEM_PORTS, FALCON_DMEM_PORTS);
		return true;
	}
	return memory_read(f, off, val);
}

static enum falcon_event start(struct falcon *f, uint32_t val)
{
	if (!(val & FALCON_CPUCTL_START))
		return FALCON_NONE;
	f->running = falcon_code_is_found(f);
	return f->running ? FALCON_STARTED : FALCON_NONE;
}

enum falcon_event falcon_write(struct falcon *f, uint32_t off, uint32_t val)
{
	switch (off) {
	case FALCON_INTR_TRIGGER:
		f->intr |= val;
		return FALCON_TRIGGERED;
	case FALCON_INTR_ACK:
		f->intr &= ~val;
		return FALCON_INTR_CHANGED;
	case FALCON_INTR_EN_SET:
		f->intr_en |= val;
		return FALCON_INTR_CHANGED;
	case FALCON_INTR_EN_CLR:
		f->intr_en &= ~val;
		return FALCON_INTR_CHANGED;
	case FALCON_INTR_ROUTE:
		f->intr_route = val;
		return FALCON_INTR_CHANGED;
	case FALCON_INTR:
	case FALCON_INTR_EN:
	case FALCON_IDLE_STATUS:
	case FALCON_CAPS:
	case FALCON_CAPS2:
		return FALCON_NONE;
	case FALCON_BOOTVEC:
		f->bootvec = val;
		return FALCON_NONE;
	case FALCON_DMACTL:
		f->dmactl = val;
		return FALCON_NONE;
	case FALCON_CPUCTL:
	case FALCON_CPUCTL_ALIAS:
		return start(f, val);
	}
	return memory_write(f, off, val) ? FALCON_NONE : FALCON_OTHER;
}
