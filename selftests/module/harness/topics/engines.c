// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy engine beside GR, each with a runlist that vGPUs share: which channels are on which list
 * (S1, S4), what each engine's time costs whom (S5), and that the end of a hang on one of them
 * leaves the other one's channels alone (S4, S5).
 */
#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"
#include "selftests/module/harness/work.h"

#define VA_CTX 0x40000ull /* where a guest has a context */
/* of a guest: the one without a context, and the one with it */
enum { COPIES = 1, KERNELS };
enum { RUNL_GR, RUNL_CE };

/* ------------------------------------------------------------------ work */

/* .arg of vGPUs: what each of them has to do all the time; .arg[i] of the row */
#define DOES(what) BIT(what)

static u32 runl_of(u32 chan)
{
	return chan == KERNELS ? RUNL_GR : RUNL_CE;
}

/* Each vGPU has the channels of its work, and work for them. */
static void have_work(const struct scene *s)
{
	u32 i, c;

	for (i = 0; i < s->vgpus; i++) {
		g_inst(V(i), KERNELS, 0, VA_CTX);
		g_bind(V(i), KERNELS);
		g_enable(V(i), KERNELS, true);
		LIST(V(i), COPIES, KERNELS);
		for (c = COPIES; c <= KERNELS; c++) {
			chip.at_work[id_of(i, c)] = s->arg[i] & DOES(c);
			work_put(i, c, !!(s->arg[i] & DOES(c)));
		}
	}
}

static bool is_listed(u32 runl, u16 chid)
{
	u32 i;

	for (i = 0; i < chip.list[runl].nr; i++)
		if (FIELD_GET(RUNLIST_ID, chip.list[runl].entry[i]) == chid)
			return true;
	return false;
}

/*
 * A role: the chip gives the engine of runlist .arg to the channels that may have it and have work,
 * in turns of 100 us.
 */
static void serves(const struct role *r)
{
	u32 chan = r->arg == RUNL_GR ? KERNELS : COPIES, at = 0, i;
	struct context *on = &chip.engine[r->arg];
	u16 id;

	for (; scene_goes_on(); harness_sleep(100 * US))
		for (i = 0; i < scene->vgpus && !on->stuck; i++) {
			id = id_of(++at % scene->vgpus, chan);
			if (!chip.at_work[id] || !is_listed(r->arg, id) ||
			    !chip_may_load(id, r->arg))
				continue;
			chip_load_some(r->arg, id);
			if (chip.pbdma[r->arg].chid == id)
				*on = chip.pbdma[r->arg];
			break;
		}
}

MEASURE(copied, "copy_time_ns", admin_read(vgpu, "copy_time_ns"), PART);

/* ------------------------------------------------------------------ hangs */

static u32 hung_runl;

/* The host resets only engines of the runlist on which a channel hangs. */
static void resets_one(u32 reg, u32 val)
{
	u32 off = chip.reg[PMC_ENABLE / 4] & ~val;

	if (reg != PMC_ENABLE)
		return;
	FAIL_ON(hung_runl == RUNL_CE ? off & ~(u32)PMC_ENABLE_CE0 : off & PMC_ENABLE_CE0,
		"S4: engines 0x%x are reset for a hang on runlist %u", off, hung_runl);
}

/* clang-format off */
STEP(hangs_alone)
{
	hung_runl = runl_of(a);
	chip_before_write = resets_one;
	UNTIL(chip_hang(id_of(i, a), false));
	return true;
}
STEP(ended) { UNTIL(!admin_chan_lives(i, a)); return true; }
STEP(goes_on) { UNTIL(chip_engine_works(id_of(i, a))); return true; }

#define SIDE_BY_SIDE { .eager = true, .late = 2, .idles = true, .lone_ce = true }
#define BOTH	     { serves, .arg = RUNL_GR }, { serves, .arg = RUNL_CE }
#define SHARE(what, vgpu, of) { what, vgpu, (of) - 20, (of) + 20, "S5: not its share" }
#define NOTHING(what, vgpu)   { what, vgpu, AT_MOST(2), "S5: pays for what it has not" }

static const struct scene scenes[] = {
	{ "one copies, one has kernels", 2, SIDE_BY_SIDE, .ms = 1000, .before = have_work,
	  .arg = { DOES(COPIES), DOES(KERNELS) }, .roles = { BOTH },
	  .must = { { &m_copied, 0, AT_LEAST(980), "S5: waits" }, NOTHING(&m_charged, 0),
		    { &m_charged, 1, AT_LEAST(980), "S5: waits" }, NOTHING(&m_copied, 1) } },
	{ "who does both has its share of each", 3, SIDE_BY_SIDE, .ms = 2000, .before = have_work,
	  .set = "0 weight 300 1 weight 200",
	  .arg = { DOES(COPIES), DOES(KERNELS), DOES(COPIES) | DOES(KERNELS) }, .roles = { BOTH },
	  .must = { SHARE(&m_copied, 0, 750), SHARE(&m_copied, 2, 250), NOTHING(&m_copied, 1),
		    SHARE(&m_charged, 1, 667), SHARE(&m_charged, 2, 333),
		    NOTHING(&m_charged, 0) } },
	{ "a cap holds on each engine", 1, SIDE_BY_SIDE, .ms = 3000, .before = have_work,
	  .set = "0 cap 30", .arg = { DOES(COPIES) | DOES(KERNELS) }, .roles = { BOTH },
	  .must = { { &m_copied, 0, 270, 360, "S5: cap" },
		    { &m_charged, 0, 270, 360, "S5: cap" } } },
	{ "copies hang", 2, SIDE_BY_SIDE, .ms = 8000, .before = have_work,
	  .arg = { DOES(COPIES) | DOES(KERNELS), DOES(COPIES) | DOES(KERNELS) },
	  .roles = { BOTH, PLAYS(0, { hangs_alone, COPIES }, { ended, COPIES },
				 { lives, KERNELS, 1 }, { lives, COPIES, 1, .i = 1 },
				 { lives, KERNELS, 1, .i = 1 }, { goes_on, COPIES, .i = 1 }) },
	  .must = { { &m_resets, CARD, IS(1), "S4: resets" },
		    { &m_strikes, 0, IS(1), "S5: strike" },
		    { &m_strikes, 1, IS(0), "S5: a neighbour's strike" },
		    SHARE(&m_charged, 1, 500) } },
	{ "kernels hang", 2, SIDE_BY_SIDE, .ms = 8000, .before = have_work,
	  .arg = { DOES(COPIES) | DOES(KERNELS), DOES(COPIES) | DOES(KERNELS) },
	  .roles = { BOTH, PLAYS(0, { hangs_alone, KERNELS }, { ended, KERNELS },
				 { lives, COPIES, 1 }, { lives, COPIES, 1, .i = 1 },
				 { lives, KERNELS, 1, .i = 1 }, { goes_on, KERNELS, .i = 1 }) },
	  .must = { { &m_resets, CARD, IS(1), "S4: resets" },
		    { &m_strikes, 0, IS(1), "S5: strike" },
		    { &m_strikes, 1, IS(0), "S5: a neighbour's strike" },
		    SHARE(&m_copied, 1, 500) } },
};
/* clang-format on */

SCENES(scenes)
