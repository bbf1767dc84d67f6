// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instance blocks of channels come to name another page directory, at moments that no driver
 * chooses, on a chip that loads a channel again at once. What a channel uses is exchanged only when
 * it is off the chip. Two actors: a vCPU that programs, and a
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

#define RAM	0x100000ull
#define SAVE_NS 1000000000ull /* a copy engine saves a channel */

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
		harness_fail(
			"S4: a guest has preempted its group, and a channel of it is on the chip");
	assert_false(vmach_chan_find(g->v, (gchid_t){ 2 })->dead);
	end();
}

/*
 * A channel is off the chip if it is disabled, and no PBDMA and no engine has it. The chip may load
 * an enabled channel at any moment (S2).
 */
static void which_channels_are_off(void **state)
{
	static const struct chip_manners calm = { .late = 1 };
	enum { ENABLED = 1, ON_PBDMA = 2, ON_ENGINE = 4, ALL = 7 };
	struct context none, here;
	struct kvgpu_chan *chan;
	u32 is;

	begin(&calm);
	start();
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	none = here = (struct context){ .chid = NO_CHAN };
	here.chid = here.id = chan->hchid.v;
	for (is = 0; is <= ALL; is++) {
		chip.chan[chan->hchid.v].enabled = is & ENABLED;
		chip.pbdma[0] = is & ON_PBDMA ? here : none;
		chip.engine[0] = is & ON_ENGINE ? here : none;
		if (vmach_chan_is_off(chan) != !is)
			harness_fail("S2: a channel that is %s%s%s passes for %s the chip",
				     is & ENABLED ? "enabled" : "disabled",
				     is & ON_PBDMA ? ", on a PBDMA" : "",
				     is & ON_ENGINE ? ", on an engine" : "", is ? "off" : "on");
	}
	chip.pbdma[0] = chip.engine[0] = none;
	end();
}

/* The address at which FECS looks for the channel's context image. */
static u64 shown_ctx(const struct kvgpu_chan *chan)
{
	const u32 *block = (const u32 *)chip_vram(chan->inst.at.v);

	return (u64)block[RAMIN_GR_CTX / 4 + 1] << 32 |
	       (block[RAMIN_GR_CTX / 4] & RAMIN_CTX_ADDR_LO);
}

/*
 * An engine gives a wrong name for its channel. A preempt of the channel ends at once, and only the
 * channel's own status tells that it stays. Its guest has written another directory and another
 * context into its block. The engine goes on with the old ones, and saves its state into the old
 * image, so they stay until the channel has left (S1, S2).
 */
static void a_channel_that_does_not_leave(void **state)
{
	static const struct chip_manners calm = { .eager = true, .busy = true, .late = 1 };
	const u64 ctx[] = { 0x12345000, 0x22345000 };
	struct kvgpu_space *space;
	struct kvgpu_grctx *gr;
	struct kvgpu_chan *chan;
	u16 id;

	begin(&calm);
	g_inst(g, 1, 0, ctx[0]);
	start();
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	id = chan->hchid.v;
	space = chan->space;
	gr = chan->gr;
	assert_non_null(gr);
	assert_true(chip_misname(id, KVGPU_MAX_CHAN - 1, false));
	g_inst(g, 1, 1, ctx[1]);
	g_enable(g, 1, true);
	assert_int_equal(chip.engine[0].chid, id);
	if (chan->gr != gr || shown_ctx(chan) != ctx[0])
		harness_fail(
			"S1: the context image of a channel is exchanged while the channel is on an engine");
	if (chan->space != space)
		harness_fail(
			"S2: the address space of a channel is exchanged while the channel is on an engine");
	assert_true(chan->dead);
	if (chip.chan[id].enabled)
		harness_fail("S5: a channel that was ended is enabled on the chip again");
	world_check("the channel is on its engine");
	g_unbind(g, 1);
	assert_false(chip_loaded(id));
	end();
}

/*
 * The preempt of a channel ends, no PBDMA and no engine of graphics has it, and a copy engine still
 * saves it. Its guest has written another directory into its block. The copy engine uses the old
 * directory until it has saved the channel (S2).
 */
static void a_channel_that_is_still_saved(void **state)
{
	static const struct chip_manners calm = { .eager = true, .late = 1 };
	struct kvgpu_space *space;
	struct kvgpu_chan *chan;
	u16 id;

	begin(&calm);
	start();
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	id = chan->hchid.v;
	space = chan->space;
	g_inst(g, 1, 1, 0);
	chip_switch(id, SAVE_NS);
	g_enable(g, 1, true);
	if (chan->space != space)
		harness_fail(
			"S2: the address space of a channel is exchanged while a copy engine saves the channel");
	assert_true(chan->dead);
	assert_false(chip.chan[id].enabled);
	harness_sleep(SAVE_NS);
	g_unbind(g, 1);
	end();
}

/*
 * The chip knows channels of a group by the group's name, and loads any of them that is enabled.
 * When the space of one is exchanged, all are disabled before the group is preempted (S1, S2).
 */
static void a_channel_of_a_group_gets_another_space(void **state)
{
	static const struct chip_manners calm = { .eager = true, .busy = true, .late = 1 };
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) | 5, 1, 2 };
	const struct kvgpu_space *space;
	bool on[] = { true, true };
	struct kvgpu_chan *chan;
	u32 i, k;

	begin(&calm);
	g_bind(g, 1);
	g_bind(g, 2);
	g_list(g, list, 3);
	g_enable(g, 1, true);
	g_enable(g, 2, true);
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	space = chan->space;
	assert_true(chip_loaded(chan->hchid.v) || chip_loaded(g_hchid(g, 2)));
	g_inst(g, 1, 1, 0);
	chip_watch_writes();
	g_enable(g, 1, true);
	for (i = 0; i < chip.nr_written && chip.written[i].reg != PFIFO_PREEMPT; i++)
		for (k = 0; k < 2; k++)
			if (chip.written[i].reg == PCCSR_CHAN(g_hchid(g, 1 + k)))
				on[k] = !(chip.written[i].val & PCCSR_CHAN_ENABLE_CLR);
	assert_true(i < chip.nr_written);
	for (k = 0; k < 2; k++)
		if (on[k])
			harness_fail(
				"S2: a group is preempted to exchange a space, and its channel %u is enabled",
				1 + k);
	if (chan->dead || chan->space == space)
		harness_fail(
			"S5: a channel of a group does not get the space that its guest gives it");
	for (k = 0; k < 2; k++)
		assert_true(chip.chan[g_hchid(g, 1 + k)].enabled);
	end();
}

/* Return true when the chip's TLB has a page of the guest's at @va in the directory at @pd. */
static bool tlb_has_guests(u64 pd, u64 va)
{
	u32 i;

	for (i = 0; i < chip.nr_tlb; i++)
		if (chip.tlb[i].pd == pd && chip.tlb[i].va == va &&
		    !(chip.tlb[i].pte & GMMU_PTE_PRIV))
			return true;
	return false;
}

/*
 * A guest gives a channel a context at an address at which a page of its own is mapped, and another
 * channel uses that page. When the channel runs again, no TLB has the guest's page in place of the
 * host's image (S1).
 */
static void a_context_where_a_page_was(void **state)
{
	static const struct chip_manners calm = { .late = 1 };
	const u64 ctx = 16 * PAGE_SIZE;
	const struct kvgpu_chan *chan;
	u64 pd;

	begin(&calm);
	g_map_vram(g, 0, 16, G_DATA);
	start();
	chan = vmach_chan_find(g->v, (gchid_t){ 1 });
	pd = kvgpu_shadow_as_pd_get(chan->as);
	chip_load_some(0, g_hchid(g, 2));
	assert_true(tlb_has_guests(pd, ctx));
	g_inst(g, 1, 0, ctx);
	g_enable(g, 1, true);
	assert_non_null(chan->gr);
	assert_int_equal(shown_ctx(chan), ctx);
	if (tlb_has_guests(pd, ctx))
		harness_fail(
			"S1: FECS finds a page of the guest's where the context image of a channel is");
	end();
}

/* A doorbell lies in the partition of its vGPU: the chip writes GP_GET there (S1). */
static void a_doorbell_outside_of_the_partition(void **state)
{
	static const struct chip_manners calm = { .late = 1 };
	const struct kvgpu_chan *chan;
	u64 size, at;
	u32 i;

	begin(&calm);
	size = g->v->part_size;
	const struct {
		u64 page;
		bool inside;
	} cases[] = {
		{ size - PAGE_SIZE, true },
		{ size, false },
		{ 2 * size - PAGE_SIZE, false },
		{ BIT_ULL(40) - PAGE_SIZE, false },
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		at = cases[i].page + USERD_SIZE;
		g_store32(g, G_INST(1) + RAMFC_USERD, lower_32_bits(at));
		g_store32(g, G_INST(1) + RAMFC_USERD_HI, upper_32_bits(at));
		g_bind(g, 1);
		chan = vmach_chan_find(g->v, (gchid_t){ 1 });
		if (!chan != !cases[i].inside)
			harness_fail(
				"S1: a channel with its doorbell at 0x%llx of 0x%llx bytes is %s",
				(unsigned long long)at, (unsigned long long)size,
				chan ? "bound" : "refused");
		g_unbind(g, 1);
	}
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
	u64 va;
	u32 i;

	begin(&calm);
	for (i = 0; i < ARRAY_SIZE(ctx); i++) {
		g_inst(g, 1, 0, ctx[i]);
		g_bind(g, 1);
		chan = vmach_chan_find(g->v, (gchid_t){ 1 });
		if (!chan)
			harness_fail("S4: a channel with a context at 0x%llx is refused",
				     (unsigned long long)ctx[i]);
		va = shown_ctx(chan);
		if (!chan->gr && va < KVGPU_SPACE_END)
			harness_fail(
				"S1: FECS is pointed at 0x%llx, where the guest may map what it likes",
				(unsigned long long)va);
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

/*
 * An image lies below the limit of its channel's address space as a whole. FECS would fault at the
 * load of any other one (S1).
 */
static void a_context_beyond_the_limit(void **state)
{
	static const struct chip_manners calm = { .late = 1 };
	const u64 limit = 0x3ffffff;
	const struct kvgpu_chan *chan;
	u64 size;
	u32 i;

	begin(&calm);
	size = vmach_grctx_size(&world.gpu->hw);
	assert_true(size + PAGE_SIZE < limit);
	const struct {
		u64 va, limit;
		bool image;
	} cases[] = {
		{ limit + 1 - size, limit, true }, { limit + 1 - size + PAGE_SIZE, limit, false },
		{ limit + 1, limit, false },	   { PAGE_SIZE, size + PAGE_SIZE - 1, true },
		{ PAGE_SIZE, size - 1, false },	   { PAGE_SIZE, PAGE_SIZE - 1, false },
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		g_inst(g, 1, 0, cases[i].va);
		g_store32(g, G_INST(1) + GMMU_INST_LIMIT_LO, cases[i].limit & ~(PAGE_SIZE - 1));
		g_bind(g, 1);
		chan = vmach_chan_find(g->v, (gchid_t){ 1 });
		assert_non_null(chan);
		if (!chan->gr != !cases[i].image ||
		    (cases[i].image ? shown_ctx(chan) != cases[i].va :
				      shown_ctx(chan) < KVGPU_SPACE_END))
			harness_fail(
				"S1: %s image of 0x%llx bytes at 0x%llx, the limit is 0x%llx, and FECS is pointed at 0x%llx",
				chan->gr ? "an" : "no", (unsigned long long)size,
				(unsigned long long)cases[i].va, (unsigned long long)cases[i].limit,
				(unsigned long long)shown_ctx(chan));
		g_unbind(g, 1);
	}
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
		cmocka_unit_test(which_channels_are_off),
		cmocka_unit_test(a_channel_that_does_not_leave),
		cmocka_unit_test(a_channel_that_is_still_saved),
		cmocka_unit_test(a_channel_of_a_group_gets_another_space),
		cmocka_unit_test(a_context_where_a_page_was),
		cmocka_unit_test(a_doorbell_outside_of_the_partition),
		cmocka_unit_test(a_context_without_an_image),
		cmocka_unit_test(a_context_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
