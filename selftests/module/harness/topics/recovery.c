// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery (docs/invariants.md, S5): what hangs, faults or storms is ended, at the cost of its own
 * vGPU. The others go on, and no guest reaches memory that is not its own (S1, S2).
 */
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"
#include "selftests/module/harness/work.h"

#include <linux/bitfield.h>

#define STRIKES	     8 /* suspend a vGPU */
#define ENDLESS	     60000 /* ms */
#define OWN_INST(c)  (0x400000ull + (c)*0x1000)
#define OWN_USERD(c) (0x300000ull + (c)*0x200)
#define OWN_LIST     0x2f0000ull

#define EVENTUALLY(step, cond) UNTIL_IN(20000 * MS, step, cond)

/* in scene_count[]: thousandths of the time, us, numbers, ms */
enum { HAD, STILL, DEEDS, TOOK, HELD, TO_BEGIN };

MEASURE(lives2, "lives2", admin_chan_lives(vgpu, 2), VALUE);

/* Bind and enable channels @first to @first + @nr - 1, and list these and channel 1. */
static void chans(u32 vgpu, u32 first, u32 nr)
{
	u32 c;

	for (c = first; c < first + nr; c++) {
		g_store64(V(vgpu), OWN_LIST + (c - first) * RUNLIST_ENTRY_SIZE, c);
		g_inst_at(V(vgpu), OWN_INST(c), OWN_USERD(c), 0, 0);
		g_bind_at(V(vgpu), c, OWN_INST(c));
		g_enable(V(vgpu), c, true);
	}
	g_store64(V(vgpu), OWN_LIST + nr * RUNLIST_ENTRY_SIZE, 1);
	g_write(V(vgpu), PFIFO_RUNLIST_BASE, OWN_LIST >> 12);
	g_write(V(vgpu), PFIFO_RUNLIST_SUBMIT, nr + 1);
}

/* Whether channel 2 has work. */
static void ring2(u32 vgpu, bool on)
{
	g_store32(V(vgpu), OWN_USERD(2) + USERD_GP_PUT, on);
}

/* The channel is on PBDMA 0, if it may be loaded. */
static bool on_pbdma(u16 id)
{
	if (chip.pbdma[0].chid != id && chip_may_load(id, 0))
		chip_load_some(0, id);
	return chip.pbdma[0].chid == id;
}

/* Further channels storm, each beyond the vGPU's budget: a strike for each. */
static void suspend(u32 vgpu)
{
	static u32 first = 20;
	u32 c;

	for (c = first; c < first + STRIKES; c++) {
		g_inst_at(V(vgpu), OWN_INST(c), OWN_USERD(c), 0, 0);
		g_bind_at(V(vgpu), c, OWN_INST(c));
	}
	work_interrupts(id_of(vgpu, first), PER_SECOND);
	for (; first < c; first++)
		work_interrupts(id_of(vgpu, first), 1);
	EVENTUALLY(MS, m_suspended.read(vgpu));
}

enum alarm { NO_ALARM, ALARM, BESIDE, OVER };

/*
 * Channel 1 of vGPU 0 hangs. The chip's alarm for a switch (.arg) names no engine. A copy engine
 * saves the neighbour's channel then. OVER: by then the first switch has ended.
 */
static void hangs_once(const struct role *r)
{
	u64 began;

	EVENTUALLY(100 * US, chip_hang(id_of(0, 1), false));
	began = harness_now;
	for (; r->arg; harness_sleep(MS / 4)) {
		if (r->arg >= BESIDE)
			chip_switch(id_of(1, 1), MS / 5);
		if (chip_switch_timeout())
			break;
	}
	if (r->arg == OVER)
		chip.engine[0].stuck = false;
	else
		EVENTUALLY(MS, !admin_chan_lives(0, 1));
	scene_count[TOOK] = (harness_now - began) / MS;
	harness_sleep(500 * MS);
	scene_stop();
}

static void hang_is_told(const struct scene *s)
{
	FAIL_ON(!chip_loaded(id_of(1, 1)) || chip_loaded(id_of(0, 1)), "S5: a hang goes on");
	FAIL_ON(!(g_read(V(0), PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR),
		"S5: a guest is not told that its channel hangs");
	FAIL_ON(g_read(V(1), PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR,
		"S4: a guest is told of a neighbour's hang");
}

/* The neighbour's two channels alternate on a copy engine: it is in a switch at each poll. */
STEP(alternate)
{
	chip_switch(id_of(i, 1), 300 * MS);
	chip.switching_to = id_of(i, 2);
	return true;
}
/* clang-format off */
STEP(alarms) { for (; a--; harness_sleep(20 * US)) chip_alarm(); return true; }
/* clang-format on */

static bool listed(u16 id)
{
	const u64 *e = chip.list[0].entry;
	u32 n = chip.list[0].nr;

	while (n--)
		if (!(e[n] & RUNLIST_TSG) && FIELD_GET(RUNLIST_ID, e[n]) == id)
			return true;
	return false;
}

/*
 * vGPU 0 hangs until it is suspended. Then no channel of it is listed, beside a neighbour that has
 * work or (.arg & 1) has none, and each is ended. A reset of the device ends that. .arg > 1: it
 * pauses for so many ns after three hangs.
 */
static void hangs_again(const struct role *r)
{
	u64 end;

	admin_write(CARD, "watchdog_ms", "100");
	for (; !m_suspended.read(0); scene_count[DEEDS]++) {
		g_chan_anew(V(0), 1);
		EVENTUALLY(100 * US, chip_hang(id_of(0, 1), false));
		EVENTUALLY(MS, !admin_chan_lives(0, 1));
		harness_sleep(scene_count[DEEDS] == 2 && r->arg > 1 ? r->arg : 300 * MS);
	}
	if (r->arg & 1)
		g_list(V(1), NULL, 0);
	harness_sleep(100 * MS);
	setup_run(0, 2, 1);
	for (end = harness_now + 100 * MS; harness_now < end; harness_sleep(100 * US))
		FAIL_ON(listed(id_of(0, 2)) || chip_loaded(id_of(0, 2)),
			"S5: a channel of a suspended vGPU has the chip");
	EVENTUALLY(MS, !admin_chan_lives(0, 2));
	if (!(r->arg & 1))
		EVENTUALLY(MS, chip_loaded(id_of(1, 1)));
	world_reset(0);
	setup_run(0, 1, 0);
	EVENTUALLY(MS, chip_loaded(id_of(0, 1)));
}

/* The engine names a channel that nobody has, with .b even after its reset. */
STEP(hangs_as_nobody)
{
	EVENTUALLY(100 * US, chip_misname(id_of(i, a), CHIP_NOBODY, b));
	return true;
}
/* clang-format off */
STEP(copies) { chip_copies(id_of(i, a), harness_now + b); return true; }
/* clang-format on */

static void faults_and_tells(const struct role *r)
{
	u32 i;

	g_write(V(0), PFIFO_INTR_EN, ~0u);
	for (i = 0; i < 8; i++) { /* some faults hold the engine, others don't */
		EVENTUALLY(100 * US, chip_fault(id_of(0, 1), 0x123456000ull));
		FAIL_ON(!WITHIN(300 * MS, MS, g_read(V(0), GMMU_FAULT_SOURCE)),
			"S5: a channel faults and goes on");
		if (g_read(V(0), GMMU_FAULT_SOURCE) != 1 ||
		    (g_read(V(0), GMMU_FAULT_INST(0)) & GMMU_FAULT_INST_ADDR) != G_INST(1) >> 12 ||
		    g_read(V(0), GMMU_FAULT_VA_LO(0)) != 0x23456000 ||
		    g_read(V(0), GMMU_FAULT_VA_HI(0)) != 1)
			harness_fail("S4: a guest is told another fault than its own");
		FAIL_ON(g_read(V(1), GMMU_FAULT_SOURCE), "S4: a guest is told a neighbour's fault");
		FAIL_ON(!WITHIN(100 * MS, MS, chip_loaded(id_of(1, 1))),
			"S5: a runlist does not go on after a fault");
		g_write(V(0), GMMU_FAULT_SOURCE, ~0u);
		g_chan_anew(V(0), 1);
	}
}

enum deed { FAULT, MISNAME, KERNELS };
static u16 holder, waiter; /* channel .holder has GR, .waiter waits for it on PBDMA 0 */

static struct context kept;

/* The waiter is still on its PBDMA when GR is free and up. TO_BEGIN: its kernels to come. */
static void waiter_begins(u32 reg, u32 val)
{
	if (reg == PFIFO_PREEMPT && chip_is_stuck() && chip.pbdma[0].chid == waiter)
		kept = chip.pbdma[0];
	if (reg != PFIFO_PREEMPT || val != waiter || !kept.inst || chip_is_stuck() ||
	    !(chip.reg[PMC_ENABLE / 4] & PMC_ENABLE_GR))
		return;
	chip.pbdma[0] = kept;
	kept.inst = 0;
	if (scene_count[TO_BEGIN])
		scene_count[TO_BEGIN] -= chip_begin_held(waiter, scene->arg[3] * MS);
}

static void one_deed(enum deed d)
{
	waiter = id_of(0, 1);
	EVENTUALLY(100 * US, d == FAULT	  ? chip_fault(waiter, 0x1000) :
			     d == MISNAME ? chip_misname(waiter, CHIP_NOBODY, false) :
					    chip_hold(waiter, ENDLESS * MS));
	scene_count[TO_BEGIN] = d == KERNELS ? 4 : 0;
	if (d == FAULT)
		EVENTUALLY(MS, !admin_chan_lives(0, 1));
	g_chan_anew(V(0), 1);
}

/* Each has engines reset. Beyond a budget it is a strike. */
static void deeds(const struct role *r)
{
	if (r->arg == KERNELS)
		admin_write(0, "weight", "400");
	else
		g_list(V(1), NULL, 0);
	chip_before_write = waiter_begins;
	while (scene_count[DEEDS]++ < 400 && !admin_read(0, "strikes"))
		one_deed(r->arg);
}

/* However many faults a tenant had, the next one has some of the budget 10 s later. */
static void next_tenant(const struct role *r)
{
	u32 i;

	while (admin_read(0, "strikes") < 60) {
		one_deed(FAULT);
		if (m_suspended.read(0)) {
			world_reset(0);
			setup_run(0, 1, 0);
		}
	}
	world_close(0);
	harness_sleep(10000 * MS);
	setup_open(0);
	scene_count[DEEDS] = admin_read(0, "strikes");
	for (i = 0; i < 9; i++)
		one_deed(FAULT);
	scene_count[DEEDS] = admin_read(0, "strikes") - scene_count[DEEDS];
}

/*
 * A channel faults, and is unbound (.arg: by a reset of PFIFO) before the interrupt thread has
 * looked. The next channel, which has its instance block, is not ended for that.
 */
static void faults_and_goes(const struct role *r)
{
	struct admin_chan was;
	u32 i;

	for (i = 0; i < 40; i++) {
		chans(0, 2, 1);
		was = admin_chan(0, 2);
		EVENTUALLY(20 * US, chip_fault(was.id, 0x123000));
		if (r->arg)
			g_write(V(0), PMC_ENABLE, 0);
		g_write(V(0), PMC_ENABLE, ~0u);
		g_unbind(V(0), 2);
		g_inst(V(0), 3, 0, 0);
		g_bind(V(0), 3);
		scene_count[DEEDS] += admin_chan(0, 3).inst == was.inst;
		harness_sleep(5 * MS);
		FAIL_ON(!admin_chan_lives(0, 3),
			"S4: a channel is ended by a fault of its block's last owner");
		g_unbind(V(0), 3);
	}
}

/* Preempts of the channel are told to have ended late. */
static void leaves_late(u32 reg, u32 val)
{
	chip.manners.late = reg == PFIFO_PREEMPT && val == holder ? 3000 : 1;
}

/*
 * A channel hangs, and is to leave for the neighbour. Its guest resets PFIFO, and its id becomes
 * the neighbour's, whose kernel is not the hang.
 */
/* clang-format off */
STEP(is_holder) { holder = id_of(i, a); return true; }
STEP(gets_id) { chans(i, a, 1); NEEDS(id_of(i, a) == holder); return true; }
STEP(has_kernel) { EVENTUALLY(20 * US, chip_hold(id_of(i, a), b)); return true; }
/* clang-format on */

#define A_METHOD 0x80002004u
#define METHOD	 (PBDMA(0) + PBDMA_METHOD0)

/* At most interrupts a PBDMA stops at a method, which is skipped and told; at others it goes on. */
/* clang-format off */
STEP(gets_loaded) { EVENTUALLY(MS, chip_loaded(id_of(i, a))); return true; }
STEP(is_at_method) { chip_put(METHOD, A_METHOD); return true; }
/* clang-format on */
STEP(pbdma_tells)
{
	EVENTUALLY(MS, chip_pbdma_intr(id_of(i, 1), a));
	harness_sleep(5 * MS);
	return true;
}
/* clang-format off */
STEP(method_is) { return ASK(chip.reg[METHOD / 4] == a); }
/* It goes on to the next tenant's channel, and stops there while the host reads why. */
STEP(is_next) { chip.next_chid = id_of(i, a); chip.next_intr = PBDMA_INTR0_GPPTR; return true; }
STEP(enabled) { return ASK(chip.chan[id_of(i, a)].enabled == b); }
/* clang-format on */

enum { IN_ORDER = 1, IN_UNBIND };
static u16 storming; /* its pushbuffer has nothing but bad methods; 0: none */

/* The channel goes on while PBDMA 0 has it, disabled or not. IN_UNBIND: once it is disabled. */
static void bad_methods(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(20 * US))
		if (storming && chip.pbdma[0].chid == storming &&
		    !(scene->arg[0] == IN_UNBIND && chip.chan[storming].enabled))
			scene_count[DEEDS] += chip_pbdma_raise(0, storming, PBDMA_INTR0_DEVICE);
}

static bool is_over(void)
{
	return !scene_goes_on() || m_suspended.read(0);
}

/*
 * The guest unbinds channel 3, which storms, before or (IN_ORDER) after recovery has a turn: the
 * host is busy with another vGPU's unbind, for the 95 ms of a kernel, which are in no budget.
 */
static void storms(const struct role *r)
{
	for (; !is_over(); harness_sleep(200 * US)) {
		chans(0, 3, 1);
		EVENTUALLY(20 * US, is_over() || (chip_is_stuck() && on_pbdma(id_of(0, 3))));
		harness_sleep(MS);
		storming = id_of(0, 3);
		if (scene->arg[0])
			harness_sleep(150 * MS);
		g_unbind(V(0), 3);
		storming = 0;
	}
}

static void storms_in_unbind(const struct role *r)
{
	u32 i;

	chans(0, 2, 1);
	work_interrupts(id_of(0, 2), PER_SECOND);
	for (i = 0; i < STRIKES - 1; i++, harness_sleep(5 * MS)) {
		chans(0, 3, 1);
		EVENTUALLY(20 * US, on_pbdma(id_of(0, 3)));
		storming = id_of(0, 3);
		g_unbind(V(0), 3);
		storming = 0;
	}
	scene_stop();
}

static void without_channels(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		g_unbind(V(i), 1);
	harness_sleep(100 * MS);
}

enum act { NOTHING, UNBIND, PREEMPT };

/*
 * .arg: the vGPU of the holder (2: the waiter itself), ms of its kernel, kernels that the waiter,
 * which is channel 2 of vGPU 0, begins afterwards, ms of each.
 */
static void waits(const struct scene *s)
{
	/* a longer time than a guest's preempt, or a wait for another vGPU's eviction, takes */
	if (s->arg[0] && s->roles[1].arg == PREEMPT)
		admin_write(CARD, "watchdog_ms", "8000");
	chans(0, 2, 1);
	g_ring(V(1), 1, 0);
	g_ring(V(0), 1, 0);
	ring2(0, true);
	harness_sleep(1500 * MS); /* the waiter worked alone */
	ring2(0, false);
	waiter = id_of(0, 2);
	holder = s->arg[0] == 2 ? waiter : id_of(s->arg[0], 1);
	if (s->arg[0] == 2)
		ring2(0, true);
	else
		g_ring(V(s->arg[0]), 1, 1);
	EVENTUALLY(100 * US, on_pbdma(holder) && chip_hold(holder, s->arg[1] * MS));
	harness_sleep(20 * US);
	ring2(0, true);
	EVENTUALLY(100 * US, on_pbdma(waiter));
	scene_count[TO_BEGIN] = s->arg[2];
	chip_before_write = chip_before_write ?: waiter_begins;
}

static void acts(const struct role *r)
{
	u64 began = harness_now;

	if (r->arg == UNBIND)
		g_unbind(V(r->vgpu), 2);
	else
		g_preempt(V(r->vgpu), false, r->vgpu ? 1 : 2);
	scene_count[TOOK] = (harness_now - began) / MS;
}

static void watches(const struct role *r)
{
	u64 began = harness_now;
	u16 id;

	while (chip_is_held(&id) && id == holder)
		harness_sleep(MS / 2);
	scene_count[HELD] = (harness_now - began) / MS;
	WITHIN(500 * MS, MS, !scene_count[TO_BEGIN]);
	while (chip_is_held(&id))
		harness_sleep(MS / 2);
	harness_sleep(5 * MS);
}

static struct context theirs;

/* The neighbour's turn has come. TOOK: ms until GR is free for it. */
static void waits_for_gr(const struct role *r)
{
	u64 began;

	g_ring(V(1), 1, 1);
	EVENTUALLY(20 * US, listed(id_of(1, 1)) && !listed(id_of(0, 1)));
	began = harness_now;
	for (; chip_is_stuck() || !chip_engine_works(id_of(1, 1)); harness_sleep(20 * US))
		if (!chip_is_stuck() && chip.pbdma[0].chid != waiter)
			chip_load_on_gr(id_of(1, 1));
	scene_count[TOOK] = (harness_now - began) / MS;
}

/*
 * When the holder has left, a channel of vGPU 2, which another PBDMA has, gets GR for good. When it
 * has been ended GR hangs once more, and names nobody. DEEDS: times at which that was so
 */
static void third_begins(u32 reg, u32 val)
{
	if (scene_count[DEEDS] > 1 || reg != PFIFO_PREEMPT || val != waiter || chip_is_stuck())
		return;
	chip.engine[0] = theirs;
	if (scene_count[DEEDS])
		chip.engine[0].chid = CHIP_NOBODY;
	chip.engine[0].stuck = true;
	chip.hold_until = harness_now + ENDLESS * MS;
	scene_count[DEEDS]++;
}

static void it_pays(const struct scene *s)
{
	FAIL_ON(admin_read(2, "strikes") != 1 || admin_chan_lives(2, 1),
		"S5: what holds GR goes on");
	FAIL_ON(admin_chan_lives(0, 2), "S5: what waits has lost its place, and is not told");
}

static void waits_beside(const struct scene *s)
{
	EVENTUALLY(20 * US, (chip_load_on_gr(id_of(2, 1)), chip.engine[0].chid == id_of(2, 1)));
	theirs = chip.engine[0];
	g_ring(V(2), 1, 0);
	chip_before_write = third_begins;
	waits(s);
}

#define PREEMPTS 0

/* Without a break: a list of .arg channels and one of one less, or a preempt of an idle channel */
static void asks_again(const struct role *r)
{
	u32 i;

	for (i = 0; scene_goes_on(); i++)
		if (r->arg)
			g_write(V(r->vgpu), PFIFO_RUNLIST_SUBMIT, r->arg - (i & 1));
		else
			g_preempt(V(r->vgpu), false, 1);
}

/* The vGPU's channel 1 always has work. The chip loads it whenever it may. STILL: us at most */
static void metered(const struct role *r)
{
	u64 n, had = 0, since = harness_now;
	u16 id = id_of(r->vgpu, 1);

	for (n = 1; scene_goes_on(); n++, harness_sleep(20 * US)) {
		chip_load_on_gr(id);
		had += chip_engine_works(id);
		if (!((chip.reg[PFIFO_RUNLIST_ERROR / 4] | chip.reg[PFIFO_RUNLIST_BLOCK / 4]) & 1))
			since = harness_now;
		scene_count[STILL] = max(scene_count[STILL], (harness_now - since) / US);
	}
	scene_count[HAD] = 1000 * had / n;
}

/* 64 channels fault, the next one when the last one has ended. */
static void faults_one_by_one(const struct role *r)
{
	u16 id;
	u32 c;

	while (scene_goes_on()) {
		chans(r->vgpu, 2, 64);
		for (c = 2; c < 66 && scene_goes_on(); c++, harness_sleep(200 * US)) {
			id = id_of(r->vgpu, c);
			EVENTUALLY(5 * US,
				   !scene_goes_on() || (chip_load_on_gr(id), chip_loaded(id)));
			scene_count[DEEDS] += chip_fault_now(id);
			EVENTUALLY(10 * US,
				   !scene_goes_on() || (!chip.chan[id].enabled &&
							!(chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1)));
		}
		for (c = 2; c < 66; c++)
			g_unbind(V(r->vgpu), c);
	}
}

static bool in_unbind;

static void faults_in_unbind(u32 reg, u32 val)
{
	if (in_unbind && reg == PFIFO_RUNLIST_SUBMIT)
		chip_fault_now(id_of(0, 2));
}

/* A kernel of 95 ms is shorter than an eviction waits. FAULTS: when it is taken off the list */
enum unbind { IDLE, ON_PBDMA, FAULTS, KERNEL, COPY };

static bool is_ready(u32 vgpu, enum unbind what)
{
	struct context on = chip.engine[0];
	u16 id = id_of(vgpu, 2);
	bool ready;

	switch (what) {
	case IDLE:
		return true;
	case KERNEL:
		ready = on_pbdma(id) && chip_begin_held(id, 95 * MS);
		harness_sleep(100 * US); /* PBDMA 0 goes on to another channel */
		return ready;
	case COPY:
		ready = listed(id) && chip_may_load(id, 0);
		if (ready)
			chip_copies(id, harness_now + 95 * MS);
		return ready;
	default:
		ready = on_pbdma(id);
		chip.engine[0] = on;
		return ready;
	}
}

static void unbinds_again(const struct role *r)
{
	chip_before_write = faults_in_unbind;
	for (; scene_goes_on(); scene_count[DEEDS]++) {
		chans(r->vgpu, 2, 1);
		EVENTUALLY(5 * US, !scene_goes_on() || is_ready(r->vgpu, r->arg));
		in_unbind = r->arg == FAULTS;
		g_unbind(V(r->vgpu), 2);
		in_unbind = false;
	}
}

/* Kernels of .arg ms. HELD: the most ms for which the channel has GR while its vGPU is to leave */
static void kernels_follow(const struct role *r)
{
	u16 id = id_of(r->vgpu, 1);
	u64 since = harness_now;

	for (; scene_goes_on() && admin_chan_lives(r->vgpu, 1); harness_sleep(2 * US)) {
		if (!chip_is_stuck())
			chip_begin_held(id, r->arg * MS);
		if (listed(id) || !chip_loaded(id))
			since = harness_now;
		scene_count[HELD] = max(scene_count[HELD], (harness_now - since) / MS);
	}
	scene_stop();
}

static void only_the_victim_works(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		if (i != 1)
			g_ring(V(i), 1, 0);
	harness_sleep(100 * MS);
}

#define NEXT 4

/* 2 and 3 are in no list, and are ended before it: one after the other */
static void next_is_listed(u32 vgpu)
{
	chans(vgpu, 2, 3);
	LIST(V(vgpu), NEXT);
}

/* .arg: the vGPU of the next channel. vGPU 0's kernel does not end, and vGPU 0 is suspended. */
static void leaves_long(const struct scene *s)
{
	g_ring(V(1), 1, 0);
	g_ring(V(2), 1, 0);
	if (s->arg[0])
		next_is_listed(s->arg[0]);
	harness_sleep(1500 * MS);
	EVENTUALLY(100 * US, chip_hang(id_of(0, 1), false));
	g_enable(V(0), 1, false);
	suspend(0);
}

/*
 * Shortly before that kernel is ended another vGPU is suspended, or this one comes back with a list
 * and is suspended again. A channel of it gets GR for good then, and its guest disables it.
 */
static void takes_gr(const struct role *r)
{
	u32 vgpu = scene->arg[0];

	harness_sleep(1900 * MS);
	if (!vgpu) {
		admin_write(0, "suspended", "0");
		next_is_listed(0);
	}
	suspend(vgpu);
	WITHIN(3000 * MS, 20 * US, !chip_is_stuck() && chip_hang(id_of(vgpu, NEXT), false));
	g_enable(V(vgpu), NEXT, false);
	g_ring(V(2), 1, 1);
	metered(r);
}

/*
 * A guest submits its list again, and nothing has changed: that must not take gpu->lock once for
 * each channel. vGPU WORKER unbinds one channel after the other behind kernels of 95 ms. That keeps
 * the lock, and costs nothing. Two more vGPUs of its guest submit empty lists, and always are in
 * the lock's queue: else the neighbour takes the lock for all its channels between two unbinds.
 * RESETS_GR: a guest resets GR, and what is waited for is the preempt register's lock, for each
 * channel that is preempted. The other two preempt an idle channel, by threads that are late.
 * LISTS_BEHIND rests on T18 and T19 of docs/supported.md (.waiters_stay, .names_next): the kernels
 * are of 1.9 s, on a channel that is left alone, and channels are unbound that wait for GR.
 */
#define FIRST	     8
#define WORKER_CHANS 200

enum { WORKER, SUBMITS, NEIGHBOUR = WORLD_VGPUS - 1 };
/* .arg[0]: what the neighbour does; [1]: its channels */
enum { LISTS, RESETS_GR, LISTS_BEHIND };

static u16 next_id, long_id;

/*
 * The chip. Without .long_id, GR gets channel .next_id for a kernel. With it, GR gets .long_id for
 * a long kernel, and then .next_id waits for GR. What has no work is not loaded: it is not .eager,
 * nor .busy.
 */
static void loads_next(void *arg)
{
	u16 id, held;

	for (; scene_goes_on(); harness_sleep(5 * US)) {
		id = long_id ?: next_id;
		if (chip_is_stuck()) {
			if (long_id && chip_is_held(&held) && held == long_id && next_id)
				on_pbdma(next_id);
			continue;
		}
		if (!id || !chip_may_load(id, 0))
			continue;
		harness_sleep(100 * US); /* a channel's load, until its kernel has begun */
		if (!scene_goes_on() || !chip_may_load(id, 0))
			continue;
		chip_load_some(0, id);
		/* shorter than an eviction waits, or than the watchdog's time */
		chip_begin_held(id, (long_id ? 1900 : 95) * MS);
	}
}

static void have_many(const struct scene *s)
{
	u32 i;

	without_channels(s);
	chans(WORKER, FIRST, WORKER_CHANS);
	chans(NEIGHBOUR, FIRST, s->arg[1]);
	for (i = SUBMITS; s->arg[0] == RESETS_GR && i < NEIGHBOUR; i++)
		chans(i, FIRST, 1);
	NEEDS(id_of(NEIGHBOUR, FIRST + s->arg[1] - 1) != CHIP_NOBODY);
	/* all channels have work, so that the vGPU never sleeps */
	for (i = FIRST; i < FIRST + WORKER_CHANS; i++)
		g_store32(V(WORKER), OWN_USERD(i) + USERD_GP_PUT, 1);
	if (s->arg[0] == LISTS_BEHIND)
		long_id = id_of(WORKER, FIRST + WORKER_CHANS - 1);
	harness_sleep(2000 * MS);
	task_new("the chip", loads_next, NULL);
}

/* Each channel is unbound when it has its place on the chip: a guest can tell. */
static void unbinds_one_by_one(const struct role *r)
{
	u32 c;

	for (c = FIRST; scene_goes_on() && c < FIRST + WORKER_CHANS - 1; c++) {
		next_id = id_of(r->vgpu, c);
		UNTIL_OVER(5 * US, chip_is_stuck() && chip.pbdma[0].chid == next_id);
		if (!scene_goes_on())
			break;
		g_unbind(V(r->vgpu), c);
		scene_count[WORKER]++;
	}
	next_id = 0;
}

static void is_in_the_queue(const struct role *r)
{
	for (; scene_goes_on(); scene_count[SUBMITS]++)
		if (scene->arg[0] == RESETS_GR)
			g_preempt(V(r->vgpu), false, FIRST);
		else
			g_write(V(r->vgpu), PFIFO_RUNLIST_SUBMIT, 0);
}

/* scene_count[NEIGHBOUR]: ms that it takes */
static void one_access(const struct role *r)
{
	u64 at;

	harness_sleep(50 * MS);
	at = harness_now;
	if (scene->arg[0] == RESETS_GR)
		g_write(V(r->vgpu), PMC_ENABLE, ~(u32)PMC_ENABLE_GR);
	else
		g_write(V(r->vgpu), PFIFO_RUNLIST_SUBMIT, scene->arg[1]);
	scene_count[NEIGHBOUR] = (harness_now - at) / MS;
	scene_stop();
}

#define SYS_PD 0x90000ull /* in SETUP_RAM */

/* Channel 2 of vGPU 1 has its directory in the VMM's memory, which is read without the card. */
STEP(has_sys_directory)
{
	g_store32(V(i), G_INST(a) + GMMU_INST_PDB_LO,
		  (SETUP_RAM + SYS_PD) |
			  FIELD_PREP(GMMU_INST_PDB_LO_TARGET, GMMU_PTE_APERTURE_SYS_COH));
	return true;
}

#define SYS_DIRECTORY                                                                      \
	STEPS({ inst, 2, .i = 1 }, { has_sys_directory, 2, .i = 1 }, { binds, 2, .i = 1 }, \
	      { lists, ENTRIES(1, 2), .i = 1 }, { enables, 2, .i = 1 })

/*
 * Neither a preempt nor a reset gets the channel off the chip: it is cut off from system memory,
 * and VMMs get theirs back. What it has in video memory never becomes tables of another vGPU.
 */
static void never_leaves(const struct role *r)
{
	u64 pde;
	u32 i;

	EVENTUALLY(100 * US, chip_hang(id_of(0, 1), true));
	EVENTUALLY(MS, admin_read(CARD, "lost"));
	if (container_unmap(setup_c, SETUP_RAM, SETUP_RAM) != SETUP_RAM || container_pins(setup_c))
		harness_fail("S6: memory can't be taken back from a card that is lost");
	FAIL_ON(!chip.no_master, "S2: a card that is lost reaches system memory");
	world_check("the card was lost");
	world_close(0);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	for (i = 0; i < 8; i++) {
		pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		      FIELD_PREP(GMMU_PDE_SMALL_ADDR, (G_TABLE(1) + i * 0x40000) >> 12);
		memcpy(setup_c->ram + SYS_PD + i * GMMU_ENTRY_SIZE, &pde, sizeof(pde));
		g_tlb(V(1), 0);
		world_check("a table was made after the card was lost");
	}
	FAIL_ON(world_open(0, setup_c) || world_make(2), "S6: a card that is lost is given out");
}

static void takes_memory_back(const struct role *r)
{
	while (scene_goes_on()) {
		container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
		world_check("memory was taken back");
		container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
		harness_sleep(harness_below(20 * MS));
	}
}

/* clang-format off */

#define STEADY { .eager = true, .load_ppm = 2000, .late = 2, .idles = true }
#define HOLDS  { .eager = true, .load_ppm = 2000, .late = 2 }
#define SLOW { .oversleep_ns = 100000 }
#define CHANCE { .switch_ppm = 20000, .oversleep_ns = 3000 }

#define NO_HARM(vgpu, why) { &m_strikes, vgpu, IS(0), why }, { &m_lives, vgpu, IS(1), why }

#define HANG(n, kind, most)                                                                 \
	{ n, 2, STEADY, SLOW, .roles = { { hangs_once, 0, kind } }, .after = hang_is_told,      \
	  .must = { { &m_strikes, 0, IS(1), "S5: a hang" }, NO_HARM(1, "S5: a neighbour's hang"), \
		    { &m_count, TOOK, AT_MOST(most), "S5: a hang" } } }

#define BUDGET(n, chip, how, most)                                                          \
	{ n, 2, chip, SLOW, .arg = { 0, 0, 0, ENDLESS }, .roles = { { deeds, 0, how } },   \
	  .must = { { &m_strikes, 0, AT_LEAST(1), "S5: " n },                                \
		    { &m_resets, CARD, 20, most, "S5: " n },                                 \
		    { &m_strikes, 1, IS(0), "S5: " n } } }

#define STORM(n, how)                                                                       \
	{ n, 2, { .idles = true }, COARSE, .ms = 1000, .arg = { how }, .before = without_channels, \
	  .roles = { { bad_methods }, { storms }, { unbinds_again, 1, KERNEL } },             \
	  .must = { { &m_strikes, 0, AT_LEAST(1), "S5: a storm is no strike" },              \
		    { &m_count, DEEDS, PER_SECOND, PER_SECOND + 20000, "S5: a storm is served" } } }

/* T18 and T19 of docs/supported.md: the waiter can't leave; GR names it, too, or does not */
#define NAMES   PLAIN(.waiters_stay = true, .names_next = true)
#define UNNAMED PLAIN(.waiters_stay = true)
#define WAIT(n, chip, args, prepare, act, ...)                                              \
	{ n, 2, chip, VERY_COARSE, .arg = args, .before = prepare,             \
	  .roles = { { watches }, { act == NOTHING ? NULL : acts, 0, act } },                \
	  .must = { __VA_ARGS__ } }
#define A(...) { __VA_ARGS__ }
#define PAYS { &m_charged, 1, AT_LEAST(930), "S5: its kernel" },                            \
	     { &m_charged, 0, AT_MOST(50), "S5: it waits" }
#define UNHURT { &m_strikes, 0, IS(0), "S5: it waits" }, { &m_lives2, 0, IS(1), "S5: it waits" }
#define FREE { &m_strikes, 0, IS(0), "S5: it waits" }
#define NO_RESET { &m_resets, CARD, IS(0), "S5: a kernel is lost" }
#define SOON { &m_count, TOOK, AT_MOST(5000), "S5: a register access" }
#define ENDS { &m_lives, 1, IS(0), "S5: endless" }
#define FOLLOWS { &m_count, TO_BEGIN, IS(0), "no kernel follows" }
#define KEPT(ms) { &m_count, HELD, AT_LEAST(ms), "S5: a kernel is lost" }

/* Threads get a CPU 10 ms late. The runlist must not stand still for so long. */
#define LATE { .oversleep_ns = 3000, .idle_ns = 10 * MS }
#define LESS(n, pol, time, ...)                                                             \
	{ n, 4, PLAIN(), pol, .ms = time, .before = only_the_victim_works,                      \
	  .roles = { { metered, 1 }, __VA_ARGS__ },                                            \
	  .must = { { &m_count, HAD, AT_LEAST(500), "S5: " n },                              \
		    { &m_count, STILL, AT_MOST(2000), "S5: " n },                            \
		    { &m_count, DEEDS, AT_LEAST(2), "nothing done" } } }

#define SUSPENDED(n, next)                                                                  \
	{ n, 3, { .eager = true, .late = 1, .idles = true }, COARSE, .ms = 10000,            \
	  .arg = { next }, .before = leaves_long, .roles = { { takes_gr, 2 } },              \
	  .must = { { &m_count, HAD, AT_LEAST(667), "S5: a suspended vGPU keeps GR" } } }

#define MANY(n, how, chans, chip, lazy_, ...)                                               \
	{ n, WORLD_VGPUS, chip, { .oversleep_ns = 3000, ##__VA_ARGS__ }, .ms = 600000,        \
	  .arg = { how, chans }, .before = have_many,                                        \
	  .roles = { { unbinds_one_by_one, WORKER }, { is_in_the_queue, SUBMITS, .lazy = lazy_ }, \
		     { is_in_the_queue, SUBMITS + 1, .lazy = lazy_ }, { one_access, NEIGHBOUR } }, \
	  .must = { { &m_count, NEIGHBOUR, AT_MOST(5000), "S5: a register access" },         \
		    { &m_count, WORKER, AT_LEAST(1), "no unbinds" },                         \
		    { &m_count, SUBMITS, AT_LEAST(2), "nobody is in the lock's queue" } } }
#define QUIET(reads, ...) { .idles = true, .late = reads, ##__VA_ARGS__ }

static const struct scene table[] = {
	HANG("a hang", NO_ALARM, 2600),
	HANG("a switch that does not end", ALARM, 1000),
	HANG("a switch that does not end, beside another one", BESIDE, 1000),
	{ "a switch that is over when it is looked for", 2, STEADY, SLOW,
	  .roles = { { hangs_once, 0, OVER } }, .must = { NO_HARM(1, "S5: a switch of 0.2 ms") } },
	{ "one switch after the other", 2, STEADY, SLOW,
	  .roles = { PLAYS(1, { uses, 2, 1 }, { alternate }, { alarms, 10000 }) },
	  .must = { NO_HARM(1, "S5: switches of 0.06 ms"), { &m_lives2, 1, IS(1), "S5: switches" },
		    { &m_interrupts, CARD, AT_LEAST(700), "S5: sleeps are no work" } } },
	{ "eight hangs", 2, STEADY, SLOW, .roles = { { hangs_again } },
	  .must = { { &m_count, DEEDS, IS(STRIKES), "S5: hangs" }, NO_HARM(1, "S5: hangs"),
		    { &m_suspended, 0, IS(0), "a reset does not end a suspension" } } },
	{ "eight hangs beside nobody", 2, STEADY, SLOW,
	  .roles = { { hangs_again, 0, 1 } },
	  .must = { { &m_count, DEEDS, IS(STRIKES), "S5: hangs" } } },
	{ "ten hangs, of which two are forgiven", 2, STEADY, SLOW,
	  .roles = { { hangs_again, 0, 70000 * MS } },
	  .must = { { &m_count, DEEDS, IS(STRIKES + 2), "S5: hangs" } } },
	{ "an unbind that fails", 2, HOLDS, SLOW, .may_lose = true,
	  .roles = { PLAYS(0, { hangs_as_nobody, 1, true }, { is_anew, 1 }, { sleeps, 100 * MS }) },
	  .must = { { &m_lost, CARD, IS(1), "S2: a channel can't be unbound" } } },

	{ "faults", 2, STEADY, SLOW, .roles = { { faults_and_tells } },
	  .must = { { &m_strikes, 0, IS(0), "S5: a fault" }, NO_HARM(1, "S5: a fault") } },
	/* each takes 250 ms, and of two one is forgotten */
	BUDGET("faults without end", HOLDS, FAULT, 66),
	BUDGET("unbinds without end", HOLDS, MISNAME, 100),
	BUDGET("kernels without end behind each other", PLAIN(), KERNELS, 80),
	{ "the last tenant's resets", 1, EAGER, SLOW,
	  .roles = { { next_tenant } },
	  .must = { { &m_count, DEEDS, IS(0), "S5: a tenant pays for the last one's faults" } } },
	{ "a fault before an unbind", 1, {}, CHANCE, .roles = { { faults_and_goes } },
	  .must = { { &m_count, DEEDS, AT_LEAST(20), "other memory" } } },
	{ "a fault before a reset", 1, {}, CHANCE, .roles = { { faults_and_goes, 0, 1 } },
	  .must = { { &m_count, DEEDS, AT_LEAST(20), "other memory" } } },

	{ "an id of a hang gets another owner", 2, { .eager = true, .late = 1, .idles = true },
	  SLOW, .roles = { PLAYS(0, { is_holder, 1 }, { hangs, 1 },
			 { before_write, (u64)leaves_late }, { sleeps, 1000 * MS },
			 { writes, PMC_ENABLE, 0 }, { gets_id, 9, .i = 1 },
			 { has_kernel, 9, 1500 * MS, .i = 1 }, { sleeps, 2000 * MS },
			 { lives, 9, true, .i = 1 }) },
	  .must = { { &m_strikes, 1, IS(0), "S5: a hang" } } },

	{ "a PBDMA that goes on", 2, STEADY, SLOW,
	  .roles = { PLAYS(0, { gets_loaded, 1 }, { is_at_method },
			   { pbdma_tells, PBDMA_INTR0_UNK28 }, { method_is, A_METHOD },
			   { reads, METHOD, 0 }) } },
	{ "a PBDMA that stops", 2, STEADY, SLOW,
	  .roles = { PLAYS(0, { gets_loaded, 1 }, { is_at_method },
			   { pbdma_tells, PBDMA_INTR0_UNK28 | PBDMA_INTR0_DEVICE },
			   { method_is, PBDMA_METHOD_SKIP }, { reads, METHOD, A_METHOD }) } },
	{ "a PBDMA that stops later", 2, STEADY, SLOW,
	  .roles = { PLAYS(0, { gets_loaded, 1 }, { is_next, 1, .i = 1 },
			   { pbdma_tells, PBDMA_INTR0_UNK28 }, { enabled, 1, true },
			   { enabled, 1, false, .i = 1 }) } },
	STORM("a storm in an unbind after recovery", IN_ORDER),
	STORM("a storm in an unbind before recovery", 0),
	{ "a storm that begins in an unbind", 1, { .idles = true, .late = 200 }, COARSE,
	  .ms = 2000, .arg = { IN_UNBIND }, .before = without_channels,
	  .roles = { { bad_methods }, { storms_in_unbind } },
	  .must = { { &m_strikes, 0, IS(STRIKES - 1), "S5: a storm is no strike" } } },

	WAIT("behind an endless kernel", NAMES, A(1, ENDLESS), waits, NOTHING, PAYS, UNHURT, ENDS),
	WAIT("behind a long kernel", NAMES, A(1, 1800), waits, NOTHING, PAYS, UNHURT, KEPT(1790)),
	WAIT("behind an endless kernel, unnamed", UNNAMED, A(1, ENDLESS), waits, NOTHING, PAYS,
	     UNHURT, ENDS),
	WAIT("behind a long kernel, unnamed", UNNAMED, A(1, 1800), waits, NOTHING, PAYS, UNHURT,
	     KEPT(1790)),
	WAIT("a kernel of a second behind a long one", UNNAMED, A(1, 1900, 1, 1000), waits, NOTHING,
	     UNHURT, FOLLOWS, { &m_strikes, 1, IS(0), "S5: it ends in time" }),
	WAIT("an endless kernel behind a long one", UNNAMED, A(1, 1900, 1, 8000), waits, NOTHING,
	     FOLLOWS, { &m_lives2, 0, IS(0), "S5: endless" }),
	{ "behind a kernel and a copy", 2, PLAIN(.waiters_stay = true, .copies_stay = true),
	  VERY_COARSE, .arg = { 1, 1500 }, .before = waits,
	  .roles = { PLAYS(1, { uses, 2, 1 }, { copies, 2, 3000 * MS }, { sleeps, 6000 * MS }) },
	  .must = { UNHURT, { &m_strikes, 1, IS(0), "S5: it ends in time" } } },
	WAIT("an endless kernel behind another one", NAMES, A(1, ENDLESS, 1, 8000), waits, NOTHING,
	     FOLLOWS, { &m_lives2, 0, IS(0), "S5: endless" }, ENDS),
	WAIT("a preempt behind an endless kernel", NAMES, A(1, ENDLESS), waits, PREEMPT, UNHURT,
	     ENDS),
	{ "two kernels of one tenant, one after the other, unnamed", 2, UNNAMED,
	  VERY_COARSE, .arg = { 0, 3900, 1, 2000 }, .before = waits,
	  .roles = { { waits_for_gr, 1 } },
	  .must = { { &m_count, TOOK, AT_MOST(4400), "S5: the watchdog's time for each channel" } } },
	WAIT("an unbind behind a kernel of 0.5 s", NAMES, A(1, 500), waits, UNBIND,
	     NO_HARM(1, "S5: a kernel"), FREE, KEPT(490), NO_RESET),
	WAIT("an unbind behind a kernel of 1 s, unnamed", UNNAMED, A(1, 1000), waits, UNBIND,
	     NO_HARM(1, "S5: a kernel"), KEPT(990), NO_RESET, SOON),
	WAIT("an unbind behind an endless kernel", NAMES, A(1, ENDLESS), waits, UNBIND, FREE,
	     NO_HARM(1, "S5: its turn may come"), { &m_count, TOOK, AT_MOST(2800), "S5: slow" }),
	WAIT("an unbind behind a kernel of 4 s, unnamed", UNNAMED, A(1, 4000), waits, UNBIND, SOON),
	WAIT("an unbind behind own kernels", NAMES, A(0, ENDLESS, 2, ENDLESS), waits, UNBIND, SOON),
	WAIT("an unbind behind own kernels, unnamed", UNNAMED, A(0, ENDLESS, 2, ENDLESS), waits,
	     UNBIND, SOON),
	WAIT("an unbind with own kernels", PLAIN(), A(2, ENDLESS, 2, ENDLESS), waits, UNBIND, SOON),
	WAIT("a preempt behind an own kernel, unnamed", UNNAMED, A(0, ENDLESS), waits, PREEMPT, SOON),
	/* the one that holds GR is ended and pays; the one that waits is ended, too, for nothing */
	{ "behind a kernel, and an endless one", 3, UNNAMED, VERY_COARSE, .arg = { 1, 1500 },
	  .before = waits_beside, .roles = { PLAYS(2, { sleeps, 4500 * MS }) }, .after = it_pays,
	  .must = { { &m_count, DEEDS, IS(2), "no such kernel" }, NO_HARM(1, "S5: 1.5 s"),
		    { &m_strikes, 0, IS(0), "S5: it waits" },
		    { &m_charged, 0, AT_MOST(5), "S5: it waits" },
		    { &m_charged, 2, AT_LEAST(400), "S5: endless" } } },

	LESS("channels that fault", COARSE, 60, { faults_one_by_one, 0 }),
	LESS("faults beside late lists", LATE, 200, { faults_one_by_one, 0 },
	     { asks_again, 2, 1, true }, { asks_again, 3, 1, true }),
	LESS("faults beside late lists of its own", LATE, 200, { faults_one_by_one, 0 },
	     { asks_again, 0, 64, true }, { asks_again, 3, 1, true }),
	LESS("faults beside late preempts", LATE, 60, { faults_one_by_one, 0 },
	     { asks_again, 2, PREEMPTS, true }),
	LESS("unbinds beside late preempts", LATE, 60, { unbinds_again, 0, ON_PBDMA },
	     { asks_again, 2, PREEMPTS, true }),
	LESS("late unbinds", LATE, 300, { unbinds_again, 0, ON_PBDMA, true }),
	LESS("late unbinds of channels that fault", LATE, 300, { unbinds_again, 0, FAULTS, true }),
	{ "unbinds of an idle channel", 3, PLAIN(), COARSE, .ms = 50,
	  .before = only_the_victim_works, .roles = { { metered, 1 }, { unbinds_again, 0, IDLE } },
	  .must = { { &m_count, STILL, IS(0), "S5: an unbind blocks the runlist in vain" },
		    { &m_count, DEEDS, AT_LEAST(20), "no unbinds" } } },

	{ "a hang beside unbinds behind copies", 2,
	  { .busy = true, .eager = true, .late = 1, .copies_stay = true },
	  VERY_COARSE, .ms = 20000,
	  .roles = { { hangs_once }, { unbinds_again, 1, COPY } },
	  .must = { { &m_count, TOOK, AT_MOST(4000), "S5: a hang" },
		    { &m_count, DEEDS, AT_LEAST(2), "no unbinds" } } },
	{ "kernels of 5 ms beside unbinds behind copies", 2,
	  { .busy = true, .eager = true, .late = 1, .copies_stay = true },
	  { .oversleep_ns = 3000 }, .ms = 6000,
	  .roles = { { kernels_follow, 0, 5 }, { unbinds_again, 1, COPY } },
	  .must = { NO_HARM(0, "S5: kernels of 5 ms"),
		    { &m_count, HELD, AT_MOST(1000), "S5: a preempt has no time" },
		    { &m_strikes, 1, IS(0), "" },
		    { &m_count, DEEDS, AT_LEAST(10), "no unbinds" } } },
	SUSPENDED("a suspended vGPU leaves, and another one is suspended", 1),
	SUSPENDED("a suspended vGPU leaves, and comes back", 0),

	MANY("beside_unbinds", LISTS, 256, QUIET(60), false),
	MANY("reset_beside_unbinds", RESETS_GR, 256, QUIET(20), true, .idle_ns = 200 * US),
	MANY("behind_long_kernels", LISTS_BEHIND, 32,
	     QUIET(20, .waiters_stay = true, .names_next = true), false),

	{ "a channel that never leaves", 2, STEADY, { .oversleep_ns = 1000000 },
	  .may_lose = true, .first = SYS_DIRECTORY, .roles = { { never_leaves } } },
	{ "errors of the register ring", 2, { .eager = true, .load_ppm = 20000, .look_ppm = 2000,
	  .late = 8, .error_ppm = 50000 }, { .switch_ppm = 4000, .oversleep_ns = 100000 },
	  .ms = 1000,
	  .roles = { { unbinds_again, 0, ON_PBDMA }, { asks_again, 1, 1 }, { takes_memory_back } },
	  .must = { NO_HARM(1, "S5: errors"), { &m_strikes, 0, IS(0), "S5: errors" },
		    { &m_count, DEEDS, AT_LEAST(20), "no unbinds" } } },
};

/* clang-format on */

SCENES(table)
