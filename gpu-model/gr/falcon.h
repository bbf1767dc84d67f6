/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host side of a falcon: memories behind their ports, interrupts, start. What a started program
 * does is modelled by the falcon's owner (fecs.c, fecs_ext.c, pmu.c). Callers hold gk110.lock,
 * which protects struct falcon, but for falcon_init() and falcon_fini().
 */
#ifndef KVGPU_MODEL_FALCON_H
#define KVGPU_MODEL_FALCON_H

#include <stdbool.h>
#include <stdint.h>

#include <gk110/falcon.h>

struct falcon_port {
	/* last control word; its offset advances with auto-increment */
	uint32_t ctrl;
	uint32_t tag; /* of IMEM: that of the pages written next */
};

/* The falcon finds code by tags: a page has the number of the program's page that is in it. */
#define FALCON_PAGE	 256
#define FALCON_MAX_PAGES 256
#define FALCON_NO_TAG	 0xffff

struct falcon {
	const char *name;
	uint32_t imem_size, dmem_size; /* bytes, multiples of 256, at most 64 KiB */
	uint32_t *imem, *dmem;
	struct falcon_port imem_port[FALCON_IMEM_PORTS], dmem_port[FALCON_DMEM_PORTS];
	uint32_t intr, intr_en, intr_route;
	uint32_t bootvec, dmactl;
	bool code_loaded;
	uint16_t tag[FALCON_MAX_PAGES]; /* of the page of IMEM; FALCON_NO_TAG: not written */
	bool running; /* was started since reset */
};

/* what the owner has to do after a write */
enum falcon_event {
	FALCON_NONE, /* nothing to do */
	FALCON_OTHER, /* no common port: the owner handles it */
	FALCON_STARTED,
	FALCON_TRIGGERED, /* bits were set in .intr */
	FALCON_INTR_CHANGED, /* acknowledged, masked or routed */
};

/* Return 0 or -ENOMEM. */
int falcon_init(struct falcon *f, const char *name, uint32_t imem_size, uint32_t dmem_size);
void falcon_fini(struct falcon *f);
/* Clear the memories, too: the program has to be uploaded again. */
bool falcon_code_is_found(const struct falcon *f);
void falcon_reset(struct falcon *f);

/*
 * @off: offset into the falcon's window. falcon_read() returns false for a register that is no
 * common port.
 */
bool falcon_read(struct falcon *f, uint32_t off, uint32_t *val);
enum falcon_event falcon_write(struct falcon *f, uint32_t off, uint32_t val);

/*
 * Data memory as the program sees it; @addr: bytes. Out of range: reads give 0, writes are
 * dropped.
 */
uint32_t falcon_dmem_get(const struct falcon *f, uint32_t addr);
void falcon_dmem_set(struct falcon *f, uint32_t addr, uint32_t val);

/* interrupt bits that reach the host */
uint32_t falcon_host_intr(const struct falcon *f);

#endif
