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
		harness_fail("S1: the context image of a channel is exchanged while the channel is on an engine");
	if (chan->space != space)
		harness_fail("S2: the address space of a channel is exchanged while the channel is on an engine");
	assert_true(chan->dead);
	world_check("the channel is on its engine");
	g_unbind(g, 1);
	assert_false(chip_loaded(id));
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
			harness_fail("S4: a channel with a context at 0x%llx is refused", (unsigned long long)ctx[i]);
		va = shown_ctx(chan);
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
	const struct { u64 va, limit; bool image; } cases[] = {
		{ limit + 1 - size, limit, true },
		{ limit + 1 - size + PAGE_SIZE, limit, false },
		{ limit + 1, limit, false },
		{ PAGE_SIZE, size + PAGE_SIZE - 1, true },
		{ PAGE_SIZE, size - 1, false },
		{ PAGE_SIZE, PAGE_SIZE - 1, false },
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
			harness_fail("S1: %s image of 0x%llx bytes at 0x%llx, the limit is 0x%llx, and FECS is pointed at 0x%llx",
				     chan->gr ? "an" : "no", (unsigned long long)size,
				     (unsigned long long)cases[i].va,
				     (unsigned long long)cases[i].limit,
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
		cmocka_unit_test(a_context_without_an_image),
		cmocka_unit_test(a_context_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
