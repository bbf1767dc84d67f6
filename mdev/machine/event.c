// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the chip and what becomes of them. The chip's interrupt thread comes in here, for
 * all vGPUs: it looks up whose the event is, stops the channel if it has to be stopped (one
 * register write; recover.c does the rest), notes what the guest has to be told, and goes. It takes
 * event_lock only. Nothing that holds event_lock waits for a guest, or signals one.
 *
 * To tell a guest needs its lock, and time: a VMM decides what wakes up at its eventfd, which may
 * take milliseconds. So a work item of the vGPU does it, or whoever holds the lock when he is done
 * (end of vgpu_machine_write()). Of the host's time this takes an eighth of a CPU for one vGPU, on
 * the average. Guests see their own ids and addresses only.
 *
 * A guest that keeps raising interrupts has a budget of them. Then its channel is ended: the PBDMA,
 * GR and this thread belong to all.
 */
#include <linux/slab.h>

#include "gk110/ce.h"
#include "gk110/gr.h"
#include "mdev/machine/internal.h"

/*
 * interrupts of a PBDMA after which nouveau gives the channel up (nvkm fifo/gf100.c
 * gf100_runq_intr)
 */
#define PBDMA_FATAL	0xc67fe000
/* registers of a GR exception that cost as much as an interrupt of a PBDMA does */
#define REGS_OF_ONE	4
#define RETRY_MS	1
#define TELL_PART	8			/* of a CPU's time, for signals to one VMM */
#define TELL_BURST_NS	(5 * (s64)NSEC_PER_MSEC)
#define TELL_DEBT_NS	(NSEC_PER_SEC)
/* what nouveau takes for a page fault that it asked for itself, to get rid of a hung channel */
#define HANG_INFO	(GMMU_FAULT_INFO_HUB | FIELD_PREP(GMMU_FAULT_INFO_REASON, 4))

/* ------------------------------------------------------------------ the guest's queue */

void machine_event_push(struct kvgpu_machine *m, const struct machine_event *ev)
{
	spin_lock(&m->event_lock);
	if (m->event_put - m->event_get < EVENTS)
		m->events[m->event_put++ % EVENTS] = *ev;
	else
		m->events_dropped++;
	spin_unlock(&m->event_lock);
}

/*
 * The next one, or false. A second exception of GR waits until the guest has restarted GR after the
 * first: GR halts at each, so its driver knows of one at a time, and its registers have room for no
 * more. The chip was restarted for the others' sake meanwhile.
 */
static bool pop(struct kvgpu_machine *m, struct machine_event *ev)
{
	bool any = false;
	u32 i;

	spin_lock(&m->event_lock);
	for (i = m->event_get; i != m->event_put && !any; i++)
		any = m->events[i % EVENTS].kind != EVENT_GR || !m->trap.gr_halted;
	if (any) {
		*ev = m->events[--i % EVENTS];
		for (; i != m->event_get; i--)
			m->events[i % EVENTS] = m->events[(i - 1) % EVENTS];
		m->event_get++;
	}
	spin_unlock(&m->event_lock);
	return any;
}

static void event_later(struct kvgpu_machine *m, unsigned long jiffies_on)
{
	if (!READ_ONCE(m->gone))
		queue_delayed_work(m->v->gpu->chip->teller, &m->event_work, jiffies_on);
}

void machine_kick(struct kvgpu_machine *m)
{
	event_later(m, 0);
}

/* vgpu->lock held; how long until this one may be told something again, in ns, or 0 */
static u64 tell_refill(struct kvgpu_machine *m, u64 now)
{
	m->tell.left =
		min_t(s64, m->tell.left + (s64)((now - m->tell.at) / TELL_PART), TELL_BURST_NS);
	m->tell.at = now;
	return m->tell.left > 0 ? 0 : (u64)(1 - m->tell.left) * TELL_PART;
}

void vgpu_machine_signal(struct kvgpu_vgpu *v)
{
	event_later(v->m, 0);
}

static void event_work(struct work_struct *work)
{
	struct kvgpu_machine *m =
		container_of(to_delayed_work(work), struct kvgpu_machine, event_work);
	struct kvgpu_vgpu *v = m->v;
	u64 began, wait;

	if (!mutex_trylock(&v->lock)) {
		event_later(m, msecs_to_jiffies(RETRY_MS));
		return;
	}
	began = ktime_get_ns();
	wait = tell_refill(m, began);
	if (wait) {
		event_later(m, nsecs_to_jiffies(wait) + 1);
	} else {
		machine_events_deliver(v);
		vgpu_irq_update(v);	/* an INTx that was unmasked */
		m->tell.left = max_t(s64, m->tell.left - (s64)(ktime_get_ns() - began),
				     -(s64)TELL_DEBT_NS);
	}
	mutex_unlock(&v->lock);
}

/* ------------------------------------------------------------------ delivery */

static u32 engine_id(const struct kvgpu_vgpu *v, u8 engine)
{
	return v->gpu->hw.topo.engine[engine].id;
}

/*
 * A hang, as the chip reports it: a switch that does not end, on an engine whose status names the
 * channel. nouveau then triggers a fault of the engine (machine_fault_trigger()), takes the channel
 * from the status and resets the engine, with which the status is idle again (command.c). The
 * channel is off the chip already.
 */
static void deliver_hang(struct kvgpu_vgpu *v, const struct machine_event *ev)
{
	u32 e = engine_id(v, ev->sched.engine), st;

	st = PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE |
	     FIELD_PREP(PFIFO_STATUS_ID, ev->sched.id);
	if (ev->sched.tsg)
		st |= PFIFO_STATUS_TSG;
	v->m->stuck[e].set = true;
	v->m->stuck[e].inst = ev->sched.inst;
	kvgpu_trap_engine_status(&v->m->trap, e, st);
	kvgpu_trap_sched_error(&v->m->trap, PFIFO_SCHED_CTXSW_TIMEOUT);
}

static void deliver(struct kvgpu_vgpu *v, const struct machine_event *ev)
{
	switch (ev->kind) {
	case EVENT_FAULT:
		kvgpu_trap_mmu_fault(&v->m->trap, ev->fault.unit, ev->fault.inst, ev->fault.va,
				     ev->fault.info);
		break;
	case EVENT_PBDMA:
		kvgpu_trap_pbdma(&v->m->trap, &ev->pbdma);
		break;
	case EVENT_GR:
		kvgpu_trap_gr(&v->m->trap, ev->gr.intr, ev->gr.trap, ev->gr.regs, ev->gr.nr);
		break;
	case EVENT_CE:
		kvgpu_trap_ce(&v->m->trap, ev->ce.engine, ev->ce.intr, ev->ce.code);
		break;
	case EVENT_SCHED:
		deliver_hang(v, ev);
		break;
	}
}

void machine_events_deliver(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	bool any = false;

	lockdep_assert_held(&v->lock);
	while (pop(m, &m->current_event)) {
		deliver(v, &m->current_event);
		any = true;
	}
	if (test_and_clear_bit(PENDING_NONSTALL, &m->pending)) {
		kvgpu_trap_nonstall(&m->trap);
		any = true;
	}
	if (test_and_clear_bit(PENDING_ALARM, &m->pending)) {
		kvgpu_trap_alarm(&m->trap, machine_time(v->gpu));
		machine_alarm_arm(v);
		any = true;
	}
	if (any)
		vgpu_irq_update(v);
}

/*
 * nouveau's answer to a hang: it asks for a fault of the engine, and recovers the channel that the
 * status names
 */
void machine_fault_trigger(struct kvgpu_vgpu *v, u8 engine, u8 unit)
{
	struct kvgpu_machine *m = v->m;

	if (engine >= KVGPU_MAX_ENGINE || !m->stuck[engine].set)
		return;
	kvgpu_trap_mmu_fault(&m->trap, unit, m->stuck[engine].inst, 0, HANG_INFO);
	m->stuck[engine].set = false;
}

/* ------------------------------------------------------ from the chip; event_lock held in these */

static struct kvgpu_chan *chan_of_inst(struct kvgpu_chip *chip, u64 inst)
{
	struct kvgpu_chan *c;

	hash_for_each_possible(chip->by_inst, c, by_inst, inst)
		if (c->inst.at.v == inst)
			return c;
	return NULL;
}

static struct kvgpu_chan *chan_of_id(struct kvgpu_chip *chip, int id, bool tsg)
{
	u32 i;

	if (id < 0 || id >= KVGPU_MAX_CHAN)
		return NULL;
	if (!tsg)
		return chip->by_hchid[id];
	/* what the group does its live channels do: a dead one can't be ended once more */
	for (i = 0; i < KVGPU_MAX_CHAN; i++)
		if (chip->by_hchid[i] && chip->by_hchid[i]->htsg == id)
			return machine_live_member(chip, chip->by_hchid[i]);
	return NULL;
}

/* stops it at once; recovery takes it off the chip and tells the guest */
void machine_end_soon(struct kvgpu_chip *chip, struct kvgpu_chan *c, u8 why)
{
	if (test_and_set_bit(c->hchid.v, chip->sick))
		return;
	c->fault.why = why;
	if (!c->dead)
		kvgpu_hw_chan_enable(&chip->gpu->hw, c->hchid, false);
	queue_work(system_highpri_wq, &chip->recover);
}

/*
 * an interrupt more of this vGPU, which costs as much as @price ordinary ones; false: it had its
 * share of this second
 */
static bool within_budget(struct kvgpu_machine *m, u32 price)
{
	u64 now = ktime_get_ns();

	if (now - m->window_start > NSEC_PER_SEC) {
		m->window_start = now;
		m->window_events = 0;
	}
	m->window_events += price;
	return m->window_events <= EVENTS_PER_SECOND;
}

void machine_events_forget(struct kvgpu_machine *m)
{
	struct kvgpu_chip *chip = m->v->gpu->chip;

	kvgpu_hw_lock(&chip->event_lock);
	m->window_start = 0;
	m->window_events = 0;
	kvgpu_hw_unlock(&chip->event_lock);
}

static void end_for_storm(struct kvgpu_chip *chip, struct kvgpu_chan *c)
{
	vgpu_note_fault(c->vgpu, "too many interrupts, channel ended", c->gchid.v, 0,
			c->vgpu->m->window_events);
	c->fault.engine = 0;
	c->fault.storm = true;
	machine_end_soon(chip, c, EVENT_SCHED);
}

/*
 * a BAR's page without a translation: slices have none, so this is a card's or our error. Told to
 * the guest whose it is
 */
static void bar_fault(struct kvgpu_chip *chip, const struct kvgpu_hw_fault *f)
{
	bool bar1 = f->unit == GMMU_UNIT_BAR1;
	struct kvgpu_machine *m;

	list_for_each_entry(m, &chip->live, node) {
		struct kvgpu_vgpu *v = m->v;
		u64 slice = bar1 ? v->bar1_slice : v->bar3_slice,
		    size = bar1 ? v->type->bar1 : v->type->bar3;
		struct machine_event ev = {
			.kind = EVENT_FAULT,
			.fault = { f->unit, bar1 ? v->m->bar1.inst.addr : v->m->bar3.inst.addr,
				f->va - slice, f->info },
		};

		if (f->va < slice || f->va - slice >= size || !within_budget(m, 1))
			continue;
		vgpu_note_fault(v, "BAR fault", -1, f->va - slice, f->info);
		machine_event_push(m, &ev);
		machine_kick(m);
		return;
	}
}

static void mmu_fault(void *ctx, const struct kvgpu_hw_fault *f)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_chan *c;

	kvgpu_hw_lock(&chip->event_lock);
	c = chan_of_inst(chip, f->inst);
	if (f->unit == GMMU_UNIT_BAR1 || f->unit == GMMU_UNIT_BAR3) {
		bar_fault(chip, f);
	} else if (c) {
		vgpu_note_fault(c->vgpu, "MMU fault", c->gchid.v, f->va, f->info);
		if (!test_bit(c->hchid.v, chip->sick)) {
			c->fault.unit = f->unit;
			c->fault.va = f->va;
			c->fault.info = f->info;
		}
		machine_end_soon(chip, c, EVENT_FAULT);
	} else {
		/*
		 * of a channel that has gone meanwhile: it is off the chip, the runlist is stopped
		 * still
		 */
		dev_notice_ratelimited(&gpu->hw.pdev->dev,
				       "MMU fault of unit 0x%02x at 0x%010llx, instance 0x%010llx: nobody's any more\n",
				       f->unit, f->va, f->inst);
		kvgpu_hw_runl_clear_error(&gpu->hw, machine_gr_runl(gpu));
	}
	kvgpu_hw_unlock(&chip->event_lock);
}

/*
 * The registers that say more of a PBDMA's interrupt keep what they have until the next one of that
 * kind, which may be another tenant's: METHOD0 and DATA0 belong to INTR0, the HCE's to INTR1.
 */
static void fill_pbdma(struct machine_event *ev, const struct kvgpu_hw_pbdma *p)
{
	if (p->intr0) {
		ev->pbdma.method = p->method;
		ev->pbdma.data = p->data;
	}
	if (p->intr1) {
		ev->pbdma.hce_method = p->hce_method;
		ev->pbdma.hce_data = p->hce_data;
	}
}

/* nobody waits for the guest's acknowledge: hw/ skips the method and lets the PBDMA go on */
static void pbdma(void *ctx, const struct kvgpu_hw_pbdma *p)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_chan *c;

	kvgpu_hw_lock(&chip->event_lock);
	c = chan_of_id(chip, p->chid.v, false);
	if (c) {
		struct machine_event ev = {
			.kind = EVENT_PBDMA,
			.pbdma = { .pbdma = p->pbdma, .chid = c->gchid, .intr0 = p->intr0,
				.intr1 = p->intr1 },
		};

		fill_pbdma(&ev, p);
		vgpu_note_fault(c->vgpu, "PBDMA interrupt", c->gchid.v,
				(u64)ev.pbdma.method << 32 | ev.pbdma.data, p->intr0 ?: p->intr1);
		machine_event_push(c->vgpu->m, &ev);
		/* the guest gives such a channel up by itself, when it gets round to it */
		if (p->intr0 & PBDMA_FATAL)
			kvgpu_hw_chan_enable(&gpu->hw, c->hchid, false);
		if (!within_budget(c->vgpu->m, 1))
			end_for_storm(chip, c);
		machine_kick(c->vgpu->m);
	} else {
		dev_err_ratelimited(&gpu->hw.pdev->dev, "PBDMA %u: interrupt 0x%08x 0x%08x of channel %u: nobody's\n", p->pbdma,
				    p->intr0, p->intr1, p->chid.v);
	}
	kvgpu_hw_unlock(&chip->event_lock);
}

static void gr(void *ctx, const struct kvgpu_hw_gr *e)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_event ev = { .kind = EVENT_GR };
	struct kvgpu_chan *c;
	u32 i;

	kvgpu_hw_lock(&chip->event_lock);
	c = chan_of_inst(chip, e->inst);
	if (c) {
		ev.gr.intr = e->intr;
		ev.gr.trap = e->trap;
		for (i = 0; i < e->nr_regs; i++)
			ev.gr.regs[i] = (struct kvgpu_reg_val){ e->regs[i].reg, e->regs[i].val };
		ev.gr.regs[i] = (struct kvgpu_reg_val){
			GR_FECS + FECS_CHAN_ADDR,
			FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, c->ginst.addr >> 12),
		};
		ev.gr.nr = i + 1;
		vgpu_note_fault(c->vgpu, "GR exception", c->gchid.v, e->trap, e->intr);
		machine_event_push(c->vgpu->m, &ev);
		if (!within_budget(c->vgpu->m, 1 + e->nr_regs / REGS_OF_ONE))
			end_for_storm(chip, c);
		machine_kick(c->vgpu->m);
	} else {
		dev_err_ratelimited(&gpu->hw.pdev->dev, "GR exception 0x%08x 0x%08x, instance 0x%010llx: nobody's\n", e->intr,
				    e->trap, e->inst);
	}
	kvgpu_hw_unlock(&chip->event_lock);
}

static void ce(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_event ev = { .kind = EVENT_CE, .ce = { engine, intr } };
	struct kvgpu_chan *c;

	/* the code stays until the next bad launch, which may be another tenant's */
	if (intr & GK110_CE_INTR_LAUNCHERR)
		ev.ce.code = code;
	kvgpu_hw_lock(&chip->event_lock);
	c = chan_of_id(chip, id, tsg);
	if (c) {
		if (ev.ce.code)
			vgpu_note_fault(c->vgpu, "copy engine error", c->gchid.v, ev.ce.code, intr);
		machine_event_push(c->vgpu->m, &ev);
		if (!within_budget(c->vgpu->m, 1))
			end_for_storm(chip, c);
		machine_kick(c->vgpu->m);
	}
	kvgpu_hw_unlock(&chip->event_lock);
}

/* masked while nobody waits for it, and while too many come; event_lock held */
static void nonstall_set(struct kvgpu_chip *chip, bool off, bool held)
{
	bool was = chip->nonstall_off || chip->nonstall.held;

	chip->nonstall_off = off;
	chip->nonstall.held = held;
	if (was != (off || held))
		kvgpu_hw_nonstall(&chip->gpu->hw, !(off || held));
}

/*
 * The budget of the whole card: each one costs the host time, and all that wait are told of it. So
 * many a millisecond; and where they take long, half of the time at most is the interrupt thread's,
 * whatever it served. False: used up.
 */
static bool nonstall_refill(struct kvgpu_chip *chip, u64 now)
{
	u64 passed = now > chip->nonstall.at ? now - chip->nonstall.at : 0;

	chip->nonstall.left = min_t(u64, chip->nonstall.left + passed * NONSTALL_PER_MS,
				    (u64)NONSTALL_BURST * NSEC_PER_MSEC);
	chip->nonstall.ns = min_t(s64, chip->nonstall.ns + passed / 2, NONSTALL_BURST_NS);
	chip->nonstall.at += passed;
	return chip->nonstall.left >= NSEC_PER_MSEC && chip->nonstall.ns > 0;
}

/* one was served, and what the thread did since the last one */
static void nonstall_pay(struct kvgpu_chip *chip)
{
	u64 worked = chip->gpu->hw.intr_ns;

	chip->nonstall.left -= min_t(u64, chip->nonstall.left, NSEC_PER_MSEC);
	chip->nonstall.ns = max_t(s64, chip->nonstall.ns - (s64)(worked - chip->nonstall.worked),
				  -NONSTALL_BURST_NS);
	chip->nonstall.worked = worked;
}

/*
 * The chip does not say whose. To be told of another one's is harmless: drivers look at memory. One
 * who does not wait finds it with his next access. While nobody waits the chip keeps it to itself:
 * each submission of a nouveau client ends with one, and its interrupt would cost the host some ten
 * register accesses for nothing. The bit stays up there, and interrupts once it is enabled.
 *
 * Since nobody's name is on it, nobody can be stopped for too many. Beyond the budget it is masked
 * until a look of the slicer, one in a tick, finds some again; nothing is lost by that, since one
 * stands for all that came before it.
 */
static void nonstall(void *ctx)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_machine *m;
	bool any = false;

	kvgpu_hw_lock(&chip->event_lock);
	list_for_each_entry(m, &chip->live, node) {
		if (!READ_ONCE(m->nr_groups))	/* never bound a channel */
			continue;
		set_bit(PENDING_NONSTALL, &m->pending);
		if (!READ_ONCE(m->waits))
			continue;
		machine_kick(m);
		any = true;
	}
	nonstall_pay(chip);
	nonstall_set(chip, !any, any && !nonstall_refill(chip, ktime_get_ns()));
	if (chip->nonstall.held)
		machine_slicer_kick(gpu);
	kvgpu_hw_unlock(&chip->event_lock);
}

bool machine_nonstall_look(struct kvgpu_chip *chip, u64 now)
{
	bool held;

	if (!READ_ONCE(chip->nonstall.held))
		return false;
	kvgpu_hw_lock(&chip->event_lock);
	if (chip->nonstall.held && nonstall_refill(chip, now))
		nonstall_set(chip, chip->nonstall_off, false);
	held = chip->nonstall.held;
	kvgpu_hw_unlock(&chip->event_lock);
	return held;
}

/*
 * Under event_lock nonstall() comes before or after: it sees that this one waits, or
 * machine_events_deliver(), which follows this, sees what it left.
 */
void machine_waits(struct kvgpu_vgpu *v)
{
	struct kvgpu_chip *chip = v->gpu->chip;
	struct kvgpu_machine *m = v->m;

	lockdep_assert_held(&v->lock);
	if (m->waits == m->trap.wants_nonstall)
		return;
	WRITE_ONCE(m->waits, m->trap.wants_nonstall);
	if (!m->waits)
		return;		/* the next one that nobody waits for is masked */
	kvgpu_hw_lock(&chip->event_lock);
	nonstall_set(chip, false, chip->nonstall.held);
	kvgpu_hw_unlock(&chip->event_lock);
}

static void ctxsw_timeout(void *ctx, u8 engine, int id, bool tsg)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_chan *c;

	kvgpu_hw_lock(&chip->event_lock);
	c = chan_of_id(chip, id, tsg);
	if (c) {
		vgpu_note_fault(c->vgpu, "does not leave an engine", c->gchid.v, engine, 0);
		if (!test_bit(c->hchid.v, chip->sick))
			c->fault.engine = engine;
		machine_end_soon(chip, c, EVENT_SCHED);
	} else {
		dev_err_ratelimited(&gpu->hw.pdev->dev, "engine %u: %s %d does not leave: nobody's\n", engine,
				    tsg ? "group" : "channel", id);
	}
	kvgpu_hw_unlock(&chip->event_lock);
}

static void copy_stuck(void *ctx)
{
	machine_wedge(ctx, "a copy of the host's did not end");
}

const struct kvgpu_hw_events kvgpu_machine_events = {
	.mmu_fault = mmu_fault,
	.pbdma = pbdma,
	.gr = gr,
	.ce = ce,
	.nonstall = nonstall,
	.ctxsw_timeout = ctxsw_timeout,
	.copy_stuck = copy_stuck,
};

/* ------------------------------------------------------------------ alarm */

static void alarm_work(struct work_struct *work)
{
	struct kvgpu_machine *m =
		container_of(to_delayed_work(work), struct kvgpu_machine, alarm_work);

	set_bit(PENDING_ALARM, &m->pending);
	machine_kick(m);
}

/* the guest's timer, which it uses to poll sensors: a jiffy late does not matter */
void machine_alarm_arm(struct kvgpu_vgpu *v)
{
	u64 now = machine_time(v->gpu), at = v->m->trap.ptimer_alarm;

	if (!at)
		cancel_delayed_work(&v->m->alarm_work);
	else if (!READ_ONCE(v->m->gone))
		mod_delayed_work(v->gpu->chip->teller, &v->m->alarm_work,
				 at > now ? nsecs_to_jiffies(at - now) + 1 : 1);
}

/* ------------------------------------------------------------------ life */

void machine_events_init(struct kvgpu_machine *m)
{
	spin_lock_init(&m->event_lock);
	INIT_DELAYED_WORK(&m->event_work, event_work);
	INIT_DELAYED_WORK(&m->alarm_work, alarm_work);
}

/*
 * no interrupt finds the machine any more; the work items may still be on their way. vgpu->lock may
 * be held
 */
void machine_events_fini(struct kvgpu_machine *m)
{
	WRITE_ONCE(m->gone, true);
	cancel_delayed_work_sync(&m->slice.end_work);
	cancel_delayed_work_sync(&m->alarm_work);
	cancel_delayed_work_sync(&m->event_work);
	cancel_delayed_work_sync(&m->alarm_work);	/* the other one may have just armed it */
}

/* what the guest before the reset had to be told is nobody's any more */
void machine_events_reset(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	spin_lock(&m->event_lock);
	m->event_get = m->event_put;
	spin_unlock(&m->event_lock);
	m->pending = 0;
	memset(m->stuck, 0, sizeof(m->stuck));
	cancel_delayed_work(&m->alarm_work);
}
