// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs on the shader machine: it must neither crash nor hang; sanitizers look for wrong
 * accesses. The pacer of this program ends each grid with a reset of the engine after a while.
 *
 * Input: 8 bytes of shape, then words of code.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/rig.h"

#define VRAM	  (24u << 20)
#define MAX_WORDS 448u
#define CHARGES	  4

static struct rig *rig;
static unsigned int charges;

void pacer_begin(struct pacer *p)
{
	charges = 0;
}

void pacer_end(struct pacer *p)
{
}

void pacer_charge(struct pacer *p, uint64_t units, const atomic_bool *stop)
{
	if (++charges >= CHARGES)
		atomic_fetch_add(&rig->g->gr->resets, 1);
}

/* a CTA whose barrier never completes sleeps: that is an end as well */
int nanosleep(const struct timespec *req, struct timespec *rem)
{
	atomic_fetch_add(&rig->g->gr->resets, 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t base, memory;
	uint64_t words[MAX_WORDS], *param;
	struct rig_kernel k;
	unsigned int n;

	if (size < 16)
		return 0;
	if (!rig) {
		rig = rig_create(VRAM);
		memory = rig_alloc(rig, 4096);
		base = rig->next;
		rig->pacer.per_s = 1000000;
		rig->grid.header_pool = rig->grid.sampler_pool = memory;
		rig->grid.max_header = rig->grid.max_sampler = 15;
	}
	rig->next = base;
	n = (size - 8) / 8 > MAX_WORDS ? MAX_WORDS : (size - 8) / 8;
	memcpy(words, data + 8, n * 8);
	rig->qmd.shader_local_memory_crs_size = data[0] * 16u;
	rig->qmd.shader_local_memory_low_size = data[1] * 2u & ~15u;
	rig->qmd.fp32_f2i_nan_behavior = data[2] & 1;
	k = rig_program(rig, words, n, data[3]);
	k.cbuf[1] = memory;
	k.cbuf_size[1] = data[4];
	/* the program finds addresses that it can use among its parameters */
	param = (uint64_t *)((uint8_t *)rig_host(rig, k.cbuf[0]) + RIG_PARAM);
	for (unsigned int i = 0; i < 16; i++)
		param[i] = i % 4 ? memory + data[i % 8] : data[i % 8];
	rig_launch(rig, &k, (struct rig_dim){ 1 + data[5] % 3, 1, 1 },
		   (struct rig_dim){ 1 + data[6] % 96, 1 + data[7] % 3, 1 }, data[4] * 16u, NULL,
		   0);
	if (rig->grid.trap.warp_esr > 0x15)
		abort();
	return 0;
}
