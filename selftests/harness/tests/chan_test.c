// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instance blocks of channels come to name another page directory, at moments that no driver
 * chooses, on a chip that loads a channel again at once. Two actors: a vCPU that programs, and a
 * thread that takes memory from the guest or is another vCPU. explore.c has the points at which one
 * actor interrupts the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/explore.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define RAM		0x100000ull

static struct mm_struct *mm;
static struct container *c;
static struct world_vgpu *g;

static void begin(const struct chip_manners *m)
{
	static const struct policy quiet = { .seed = 1 };

	world_begin(&quiet, m);
	mm = mm_new();
	c = container_new(mm);
	g = world_make(0);
	assert_non_null(g);
	container_map(c, RAM, 0, RAM);
	assert_true(world_open(0, c));
	g_space(g, 0);
	g_space(g, 1);
	g_map_sys(g, 0, 16, RAM);
	g_map_sys(g, 0, 17, RAM + 0x1000);
	g_map_vram(g, 1, 16, G_DATA);
	g_inst(g, 1, 0, 0);
	g_inst(g, 2, 0, 0);
}

static void end(void)
{
	world_check("at the end");
	world_close(0);
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

/* Channels 1 and 2 are bound, listed and enabled; channel 1's space is number 0. */
static void start(void)
{
	u64 list[] = { 1, 2 };

	g_bind(g, 1);
	g_bind(g, 2);
	g_list(g, list, 2);
	g_enable(g, 1, true);
	g_enable(g, 2, true);
}

/* ------------------------------------------------------------------ what a vCPU does */

static void enabled_again(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	g_tlb(g, 0);
}

static void listed_again(void *arg)
{
	u64 list[] = { 1, 2 };

	g_inst(g, 1, 1, 0);
	g_list(g, list, 2);
	g_tlb(g, 0);
}

static void grouped(void *arg)
{
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) | 5, 1, 2 },
	    bare[] = { 2, 1 };

	g_list(g, list, 3);
	g_inst(g, 2, 1, 0);
	g_enable(g, 2, true);
	g_preempt(g, true, 5);
	g_list(g, bare, 2);
}

static void unbound(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	g_unbind(g, 1);
	g_bind(g, 1);
	g_enable(g, 1, true);
}

static void resets(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	world_reset(0);
}

/* ------------------------------------------------------------------ what the other thread does */

static void takes_memory(void *arg)
{
	container_unmap(c, RAM, RAM);
}

static void invalidates(void *arg)
{
	g_tlb(g, 0);
	g_unmap(g, 0, 17);
	g_tlb(g, 0);
}

static void begin_bound(const struct chip_manners *m)
{
	begin(m);
	start();
}

/* Channel 1 is listed before it is bound. */
static void begin_listed(const struct chip_manners *m)
{
	u64 list[] = { 1, 2 };

	begin(m);
	g_list(g, list, 2);
	g_bind(g, 1);
	g_enable(g, 1, true);
}

static void try(const char *name, void (*before)(const struct chip_manners *m), explore_fn one,
		explore_fn other)
{
	explore(&(struct explore){ name, before, end, one, other, &mm });
}

static void an_enabled_channel_is_enabled(void **state)
{
	try("enabled_again, takes_memory", begin_bound, enabled_again, takes_memory);
	try("enabled_again, invalidates", begin_bound, enabled_again, invalidates);
}

static void a_running_channel_is_listed(void **state)
{
	try("listed_again, takes_memory", begin_listed, listed_again, takes_memory);
}

static void a_group_changes(void **state)
{
	try("grouped, takes_memory", begin_bound, grouped, takes_memory);
}

static void a_channel_is_unbound(void **state)
{
	try("unbound, invalidates", begin_bound, unbound, invalidates);
}

static void a_guest_is_reset(void **state)
{
	try("resets, takes_memory", begin_bound, resets, takes_memory);
}

/*
 * When a guest preempts a group, its running channel leaves the chip. Here channel 1 is never
 * enabled.
 */
static void a_group_is_preempted_whose_first_never_ran(void **state)
{
	static const struct chip_manners calm = { .eager = true, .busy = true, .late = 1 };
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) | 5, 1, 2 };
	u32 looks = 100;

	begin(&calm);
	g_bind(g, 1);
	g_bind(g, 2);
	g_list(g, list, 3);
	g_enable(g, 2, true);
	while (!chip_loaded(g_hchid(g, 2)) && looks--)
		harness_sleep(100000);
	assert_true(chip_loaded(g_hchid(g, 2)));
	g_enable(g, 2, false);
	g_preempt(g, true, 5);
	if (chip_loaded(g_hchid(g, 2)))
		harness_fail("S4: a guest has preempted its group, and a channel of it is on the chip");
	assert_false(vmach_chan_find(g->v, (gchid_t){ 2 })->dead);
	end();
}

/*
 * FECS gets an address at which there is an image of the host, or one at which no guest can map
 * anything (S1).
 */
static void a_context_without_an_image(void **state)
{
	static const struct chip_manners calm = { .late = 1 };
	static const u64 ctx[] = { 0, 0x12345000, 0xffffff0000 };
	const struct kvgpu_chan *chan;
	const u32 *block;
	u64 va;
	u32 i;

	begin(&calm);
	for (i = 0; i < ARRAY_SIZE(ctx); i++) {
		g_inst(g, 1, 0, ctx[i]);
		g_bind(g, 1);
		chan = vmach_chan_find(g->v, (gchid_t){ 1 });
		if (!chan)
			harness_fail("S4: a channel with a context at 0x%llx is refused", (unsigned long long)ctx[i]);
		block = (const u32 *)chip_vram(chan->inst.at.v);
		va = (u64)block[RAMIN_GR_CTX / 4 + 1] << 32 |
		     (block[RAMIN_GR_CTX / 4] & RAMIN_CTX_ADDR_LO);
		if (!chan->gr && va < KVGPU_SPACE_END)
			harness_fail("S1: FECS is pointed at 0x%llx, where the guest may map what it likes", (unsigned long long)va);
		g_unbind(g, 1);
	}
	/* With a physical address as its context, the channel is not bound. */
	g_inst(g, 1, 0, 0x12345000);
	g_store32(g, G_INST(1) + RAMIN_GR_CTX, 0x12345000);
	g_bind(g, 1);
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	if (chan && chip.chan[chan->hchid.v].bound)
		harness_fail("S1: a channel is bound whose context is a physical address");
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_enabled_channel_is_enabled),
		cmocka_unit_test(a_running_channel_is_listed),
		cmocka_unit_test(a_group_changes),
		cmocka_unit_test(a_channel_is_unbound),
		cmocka_unit_test(a_guest_is_reset),
		cmocka_unit_test(a_group_is_preempted_whose_first_never_ran),
		cmocka_unit_test(a_context_without_an_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
