// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without a driver: register reads and writes, each alone and as a round trip; and a doorbell, its
 * write alone and up to the completion of a small copy.
 */
#include "bench.h"

#include <string.h>
#include <unistd.h>
#include <linux/bitfield.h>

#include <gk110/pbus.h>
#include <gk110/pmc.h>
#include <gk110/push.h>

#include "attacks.h"
#include "bare/chan.h"
#include "gpu.h"

enum { ACCESSES = 3000 };

static void bench_registers(struct bare_gpu *g)
{
	static uint64_t ns[ACCESSES];
	uint64_t start;
	unsigned int i;

	for (i = 0; i < ACCESSES; i++) {
		start = now_ns();
		(void)bare_read(g, PMC_BOOT_0);
		ns[i] = now_ns() - start;
	}
	report_spread("mmio_read", ns, ACCESSES);
	for (i = 0; i < ACCESSES; i++) {
		start = now_ns();
		bare_write(g, PBUS_USER0_SCRATCH(0), i);
		ns[i] = now_ns() - start;
	}
	report_spread("mmio_write", ns, ACCESSES);
	for (i = 0; i < ACCESSES; i++) {
		start = now_ns();
		bare_write(g, PBUS_USER0_SCRATCH(0), i);
		if (bare_read(g, PBUS_USER0_SCRATCH(0)) != i)
			bail("a scratch register does not keep its value");
		ns[i] = now_ns() - start;
	}
	report_spread("mmio_write_read", ns, ACCESSES);
}

/* one doorbell write, then the CPU watches a word in its own memory */
static void bench_doorbell(struct bare_gpu *g)
{
	struct bare_chan_config cfg = { .id = 3, .runlist = g->engine[BARE_CE0].runlist };
	static uint64_t ns[SMALL_COPIES], rung[SMALL_COPIES];
	uint32_t entry = cfg.id;
	struct bare_space s;
	struct bare_chan c;
	uint64_t bus;
	uint8_t *page;
	unsigned int i;

	bare_space_create(g, &s);
	page = bare_host(g, 4096, &bus);
	bare_space_map(g, &s, BARE_VA_FREE, BARE_HOST, bus);
	bare_chan_create(g, &s, &cfg, &c);
	bare_runlist(g, cfg.runlist, &entry, 1);
	for (i = 0; i < SMALL_COPIES; i++) {
		uint64_t start, end;

		memset(page, i, SMALL);
		bare_copy(&c, BARE_VA_FREE, BARE_VA_FREE + 2048, SMALL, 0);
		bare_emit(&c, SUBCH_COPY, HOST_SEMAPHORE_A, 0, c.semaphore_va, ++c.seq,
			  (uint32_t)(HOST_SEMAPHORE_RELEASE | HOST_SEMAPHORE_4BYTE));
		start = now_ns();
		bare_ring(&c);
		rung[i] = now_ns() - start;
		end = start + 5000000000ull;
		while (*c.semaphore != c.seq)
			if (now_ns() > end)
				bail("copy %u does not end", i);
		ns[i] = now_ns() - start;
		if (memcmp(page, page + 2048, SMALL))
			bail("copy %u is wrong", i);
		usleep(300); /* let the engine go idle */
	}
	report_spread("doorbell_write", rung, SMALL_COPIES);
	report_spread("doorbell_to_completion", ns, SMALL_COPIES);
	bare_runlist(g, cfg.runlist, NULL, 0);
	bare_chan_destroy(&c);
}

void bench_bare(void)
{
	static struct machine m;

	machine_open(&m);
	if (m.driver[0])
		bail("the card has a driver: %s", m.driver);
	bare_take_over(&m.gpu);
	bench_registers(&m.gpu);
	bench_doorbell(&m.gpu);
}
