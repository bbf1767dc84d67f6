// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the chip, and their delivery to guests. hw/ reports the chip's interrupts by the
 * functions of kvgpu_machine_events. These functions run in the interrupt thread, take
 * chip->event_lock, and wait for no guest and no VMM. For an interrupt of a channel or a BAR, the
 * function looks up the vGPU, and queues an event for the guest (machine->event.queue), or disables
 * the channel and leaves the rest to recovery (the slicer, recover.c), or both. copy_stuck() is an
 * exception: it runs in the thread that called hw/ to fill or copy memory, and takes no lock.
 *
 * To deliver an event is to set the guest's registers accordingly (mmio-trap/), and to signal the
 * guest's interrupt by an eventfd of the VMM. That needs vgpu->lock, and time: a signal of an
 * eventfd may take milliseconds. So a work item of the vGPU (event_work) delivers, or a thread that
 * holds vgpu->lock anyway delivers when it is done (end of kvgpu_machine_reg_write(), for
 * instance). Guests see their own ids and addresses. docs/interrupts.md has the budgets.
 */
#include "gk110/ce.h"
#include "gk110/gr.h"
#include "mdev/machine/internal.h"

/* most interrupts of one vGPU in a second; a channel that exceeds this is ended */
#define EVENTS_PER_SECOND 2000
/* each REGS_OF_ONE registers of a GR exception count as one more interrupt in the budget */
#define REGS_OF_ONE 4
/* ms after which event_work tries again to take vgpu->lock */
#define RETRY_MS 1
/* event_work of one vGPU: its part of a CPU's time, most ns that it saves up, most that it owes */
#define SIGNAL_PPM	125000
#define SIGNAL_BURST_NS (5 * NSEC_PER_MSEC)
#define SIGNAL_DEBT_NS	NSEC_PER_SEC
/*
 * NON_STALL_INTERRUPTs of all vGPUs together, because the chip does not name the sender: ns after
 * which one more may come, and how many are saved up
 */
#define NONSTALL_NS    (NSEC_PER_MSEC / 2)
#define NONSTALL_BURST 64
/* info word, in PFIFO's fault record, of the MMU fault that vmach_fault_trigger() makes */
#define HANG_INFO (GMMU_FAULT_INFO_HUB | FIELD_PREP(GMMU_FAULT_INFO_REASON, 4))

/* ------------------------------------------------------------------ budgets */

static void budget_init(struct machine_budget *b, u32 ppm, u64 most_ns)
{
	b->bucket = (struct kvgpu_bucket){ .depth = most_ns * KVGPU_BUCKET_NS, .ppm = ppm };
}

/* Fills the budget up to @now. False: it is used up. */
static bool budget_fill(struct machine_budget *b, u64 now)
{
	kvgpu_bucket_fill(&b->bucket, now > b->at ? now - b->at : 0);
	kvgpu_bucket_close(&b->bucket);
	b->at = max(now, b->at);
	return b->bucket.left > 0;
}

void vmach_nonstall_init(struct kvgpu_chip *chip)
{
	budget_init(&chip->nonstall.budget, 1000000, NONSTALL_BURST * NONSTALL_NS);
}

/* ------------------------------------------------------------------ queue events for a guest */

/*
 * Takes the first event from the queue that can be delivered now. False: there is none. After an
 * exception of GR, further ones wait until the guest has restarted its GR: the guest's driver
 * expects one at a time, and the registers describe one.
 */
static bool event_pop(struct kvgpu_machine *m, struct machine_event *ev)
{
	bool any = false;
	u32 i;

	spin_lock(&m->event_lock);
	for (i = m->event.get; i != m->event.put && !any; i++)
		any = m->event.queue[i % EVENTS].kind != EVENT_GR || !m->trap.gr_halted;
	if (any) {
		*ev = m->event.queue[--i % EVENTS];
		for (; i != m->event.get; i--)
			m->event.queue[i % EVENTS] = m->event.queue[(i - 1) % EVENTS];
		m->event.get++;
	}
	spin_unlock(&m->event_lock);
	return any;
}

/* Queues m->event.work, unless the vGPU is going away. If it is queued already, its time stays. */
static void event_later(struct kvgpu_machine *m, unsigned long jiffies_on)
{
	if (!READ_ONCE(m->event.gone))
		queue_delayed_work(m->v->gpu->chip->wq.event, &m->event.work, jiffies_on);
}

void vmach_event_push(struct kvgpu_machine *m, const struct machine_event *ev)
{
	spin_lock(&m->event_lock);
	if (m->event.put - m->event.get < EVENTS)
		m->event.queue[m->event.put++ % EVENTS] = *ev;
	else
		m->event.dropped++;
	spin_unlock(&m->event_lock);
	event_later(m, 0);
}

void kvgpu_machine_irq_signal(struct kvgpu_vgpu *v)
{
	event_later(v->m, 0);
}

static void event_work(struct work_struct *work)
{
	struct kvgpu_machine *m =
		container_of(to_delayed_work(work), struct kvgpu_machine, event.work);
	struct kvgpu_bucket *signals = &m->event.signals.bucket;
	struct kvgpu_vgpu *v = m->v;
	u64 began;

	if (!mutex_trylock(&v->lock)) {
		event_later(m, msecs_to_jiffies(RETRY_MS));
		return;
	}
	began = ktime_get_ns();
	if (!budget_fill(&m->event.signals, began)) {
		event_later(m, nsecs_to_jiffies(div_u64(-signals->left, SIGNAL_PPM)) + 1);
	} else {
		vmach_events_deliver(v);
		/* also signals an INTx interrupt that came while INTx was masked */
		kvgpu_mdev_irq_update(v);
		kvgpu_bucket_take(signals, ktime_get_ns() - began, SIGNAL_DEBT_NS);
	}
	mutex_unlock(&v->lock);
}

/* ------------------------------------------------------------------ deliver events to a guest */

/*
 * Shows the guest a hang as the chip reports one: a context switch that does not end, on an engine
 * whose status names the guest's channel or group. nouveau then triggers a fault of the engine
 * (vmach_fault_trigger()), takes the id from the status, and resets the engine.
 */
static void deliver_hang(struct kvgpu_vgpu *v, const struct machine_event *ev)
{
	u32 e = v->gpu->hw.topo.engine[ev->sched.engine].id, st;

	st = PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE |
	     FIELD_PREP(PFIFO_STATUS_ID, ev->sched.id);
	if (ev->sched.tsg)
		st |= PFIFO_STATUS_TSG;
	v->m->event.stuck[e].set = true;
	v->m->event.stuck[e].inst = ev->sched.inst;
	kvgpu_trap_engine_status_set(&v->m->trap, e, st);
	kvgpu_trap_sched_error(&v->m->trap, PFIFO_SCHED_CTXSW_TIMEOUT);
}

static void event_deliver(struct kvgpu_vgpu *v, const struct machine_event *ev)
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

void vmach_events_deliver(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	lockdep_assert_held(&v->lock);
	while (event_pop(m, &m->event.told)) {
		event_deliver(v, &m->event.told);
		m->event.irq_changed = true;
	}
	if (test_and_clear_bit(PENDING_NONSTALL, &m->event.pending)) {
		kvgpu_trap_nonstall(&m->trap);
		m->event.irq_changed = true;
	}
	if (test_and_clear_bit(PENDING_ALARM, &m->event.pending)) {
		kvgpu_trap_alarm_ring(&m->trap, vmach_ptimer_read(v->gpu));
		vmach_alarm_arm(v);
		m->event.irq_changed = true;
	}
}

/*
 * The guest has written to PFIFO_FAULT_INJECT: gives it the MMU fault that it asks for, once for
 * each hang that it was told of. @engine: id of the engine. @unit: MMU unit of the fault.
 */
void vmach_fault_trigger(struct kvgpu_vgpu *v, u8 engine, u8 unit)
{
	struct kvgpu_machine *m = v->m;

	if (engine >= KVGPU_MAX_ENGINE || !m->event.stuck[engine].set)
		return;
	kvgpu_trap_mmu_fault(&m->trap, unit, m->event.stuck[engine].inst, 0, HANG_INFO);
	m->event.stuck[engine].set = false;
}

/* ----------------------- handlers of the chip's reports; their helpers run with event_lock held */

/* Returns the channel whose shadow instance block is at @inst, or NULL. */
static struct kvgpu_chan *chan_of_inst(struct kvgpu_chip *chip, u64 inst)
{
	struct kvgpu_chan *c;

	hash_for_each_possible(chip->by_inst, c, by_inst, inst)
		if (c->host.inst.at.v == inst)
			return c;
	return NULL;
}

/*
 * Returns channel @id of the chip, or, with @tsg, a channel of group @id, if possible one that is
 * not dead, because that can still be ended. NULL: there is none, or @id is -1.
 */
static struct kvgpu_chan *chan_of_id(struct kvgpu_chip *chip, int id, bool tsg)
{
	struct kvgpu_chan *c = vmach_hchan_find(chip, (struct machine_hid){ id, tsg });

	return c && tsg ? vmach_live_chan_find(c) : c;
}

void vmach_chan_end_soon(struct kvgpu_chan *c, u8 why)
{
	if (test_and_set_bit(c->hchid.v, c->vgpu->gpu->chip->recover_chans))
		return;
	c->fault.why = why;
	if (!c->dead)
		vmach_hchan_enable(c, false);
	vmach_recovery_kick(c->vgpu->gpu);
}

/*
 * Counts an interrupt as @price interrupts in budget @b: a vGPU's, or chip->unowned. False: the
 * budget, EVENTS_PER_SECOND, is used up for the present second. A second begins with the first
 * interrupt after the end of the previous second. An interrupt beyond the budget makes the
 * interrupt thread rest, because an ended channel may go on to interrupt until it is off the chip.
 */
static bool within_budget(struct kvgpu_gpu *gpu, struct intr_budget *b, u32 price)
{
	u64 now = ktime_get_ns();

	if (now - b->start > NSEC_PER_SEC) {
		b->start = now;
		b->events = 0;
	}
	b->events += price;
	if (b->events <= EVENTS_PER_SECOND)
		return true;
	kvgpu_hw_intr_pace(&gpu->hw);
	return false;
}

/* Queues @ev for the guest. If @price exceeds the vGPU's budget, ends @c, which is a strike. */
static void chan_event_push(struct kvgpu_chan *c, const struct machine_event *ev, u32 price)
{
	vmach_event_push(c->vgpu->m, ev);
	if (within_budget(c->vgpu->gpu, &c->vgpu->m->event.intrs, price))
		return;
	kvgpu_mdev_fault_note(c->vgpu, "too many interrupts, channel ended", c->gchid.v, 0,
			      c->vgpu->m->event.intrs.events);
	c->fault.engine = 0;
	c->fault.storm = true;
	vmach_chan_end_soon(c, EVENT_SCHED);
}

/*
 * Tells the guest that has the slice of an MMU fault of BAR1 or BAR3, if its budget allows. A slice
 * has a translation everywhere, so the fault is an error of the card or of the host.
 */
static void bar_fault(struct kvgpu_chip *chip, const struct kvgpu_hw_fault *f)
{
	enum kvgpu_bar bar = f->unit == GMMU_UNIT_BAR1 ? KVGPU_BAR1 : KVGPU_BAR3;
	struct kvgpu_machine *m;

	list_for_each_entry(m, &chip->live, node) {
		struct kvgpu_vgpu *v = m->v;
		u64 slice = v->slice[bar], size = v->type->bar[bar];
		struct machine_event ev = {
			.kind = EVENT_FAULT,
			.fault = { f->unit, m->view.win[bar].guest.inst.addr, f->va - slice,
				   f->info },
		};

		if (f->va < slice || f->va - slice >= size ||
		    !within_budget(v->gpu, &m->event.intrs, 1))
			continue;
		kvgpu_mdev_fault_note(v, "BAR fault", -1, f->va - slice, f->info);
		vmach_event_push(m, &ev);
		return;
	}
}

static void mmu_fault(void *ctx, const struct kvgpu_hw_fault *f)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_runl *r;
	struct kvgpu_chan *c;

	spin_lock(&chip->event_lock);
	c = chan_of_inst(chip, f->inst);
	if (f->unit == GMMU_UNIT_BAR1 || f->unit == GMMU_UNIT_BAR3) {
		bar_fault(chip, f);
	} else if (c) {
		kvgpu_mdev_fault_note(c->vgpu, "MMU fault", c->gchid.v, f->va, f->info);
		if (!test_bit(c->hchid.v, chip->recover_chans)) {
			c->fault.unit = f->unit;
			c->fault.va = f->va;
			c->fault.info = f->info;
		}
		if (!c->fault.at) {
			write_seqlock(&chip->slicer.acct_lock);
			vmach_time_settle(chip, ktime_get_ns());
			c->fault.paid = c->slice->runl->samples.paid_ns;
			write_sequnlock(&chip->slicer.acct_lock);
			c->fault.at = f->since;
		}
		c->fault.storm |= !within_budget(gpu, &c->vgpu->m->event.intrs, 1);
		vmach_chan_end_soon(c, EVENT_FAULT);
	} else {
		within_budget(gpu, &chip->unowned, 1);
		/*
		 * no channel has this instance block any more, but the fault may have stopped a
		 * runlist
		 */
		dev_notice_ratelimited(
			&gpu->hw.pdev->dev,
			"MMU fault of unit 0x%02x at 0x%010llx, instance 0x%010llx: nobody's any more\n",
			f->unit, f->va, f->inst);
		for_each_runl(r, chip)
			kvgpu_hw_runl_clear_error(&gpu->hw, r->id);
	}
	spin_unlock(&chip->event_lock);
}

/*
 * Reports an interrupt of a PBDMA to the guest of its channel. The host does not wait for the
 * guest's acknowledge: hw/ lets the PBDMA go on.
 */
static void pbdma_intr_take(void *ctx, const struct kvgpu_hw_pbdma *p)
{
	bool stops = p->intr0 & ~(u32)PBDMA_INTR0_NO_STALL;
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_chan *c;

	spin_lock(&chip->event_lock);
	c = chan_of_id(chip, p->chid.v, false);
	if (c) {
		struct machine_event ev = {
			.kind = EVENT_PBDMA,
			.pbdma = { .pbdma = p->pbdma,
				   .chid = c->gchid,
				   .intr0 = p->intr0,
				   .intr1 = p->intr1 },
		};

		/*
		 * METHOD0 and DATA0 explain a bit of INTR0 that stops the PBDMA, the two registers
		 * of the HCE (a part of the PBDMA) a bit of INTR1. Without such a bit the two may
		 * have values of another tenant's channel, which was there before or after.
		 */
		if (stops) {
			ev.pbdma.method = p->method;
			ev.pbdma.data = p->data;
		}
		if (p->intr1) {
			ev.pbdma.hce_method = p->hce_method;
			ev.pbdma.hce_data = p->hce_data;
		}
		kvgpu_mdev_fault_note(c->vgpu, "PBDMA interrupt", c->gchid.v,
				      (u64)ev.pbdma.method << 32 | ev.pbdma.data,
				      p->intr0 ?: p->intr1);
		/*
		 * after a fatal error the guest ends the channel, but may take its time: disable
		 * the channel at once
		 */
		if (p->intr0 & PBDMA_INTR0_FATAL)
			vmach_hchan_enable(c, false);
		chan_event_push(c, &ev, stops || p->intr1 || !gpu->hw.intr_late);
	} else {
		within_budget(gpu, &chip->unowned, 1);
		dev_err_ratelimited(&gpu->hw.pdev->dev,
				    "PBDMA %u: interrupt 0x%08x 0x%08x of channel %u: nobody's\n",
				    p->pbdma, p->intr0, p->intr1, p->chid.v);
	}
	spin_unlock(&chip->event_lock);
}

static void gr_exception_take(void *ctx, const struct kvgpu_hw_gr *e)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_event ev = { .kind = EVENT_GR };
	struct kvgpu_chan *c;
	u32 price = 1 + e->nr_regs / REGS_OF_ONE, i;

	spin_lock(&chip->event_lock);
	c = chan_of_inst(chip, e->inst);
	if (c) {
		ev.gr.intr = e->intr;
		ev.gr.trap = e->trap;
		for (i = 0; i < e->nr_regs; i++)
			ev.gr.regs[i] = (struct kvgpu_reg_val){ e->regs[i].reg, e->regs[i].val };
		ev.gr.regs[i] = (struct kvgpu_reg_val){
			GR_FECS + FECS_CHAN_ADDR,
			FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, c->guest.inst.addr >> 12),
		};
		ev.gr.nr = i + 1;
		kvgpu_mdev_fault_note(c->vgpu, "GR exception", c->gchid.v, e->trap, e->intr);
		chan_event_push(c, &ev, price);
	} else {
		within_budget(gpu, &chip->unowned, price);
		dev_err_ratelimited(&gpu->hw.pdev->dev,
				    "GR exception 0x%08x 0x%08x, instance 0x%010llx: nobody's\n",
				    e->intr, e->trap, e->inst);
	}
	spin_unlock(&chip->event_lock);
}

static void ce_intr_take(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct machine_event ev = { .kind = EVENT_CE, .ce = { engine, intr } };
	struct kvgpu_chan *c;

	/*
	 * the register keeps the error code until the next bad launch: if LAUNCHERR is not set, the
	 * code may be of an earlier launch, by another tenant
	 */
	if (intr & GK110_CE_INTR_LAUNCHERR)
		ev.ce.code = code;
	spin_lock(&chip->event_lock);
	c = chan_of_id(chip, id, tsg);
	if (c) {
		if (ev.ce.code)
			kvgpu_mdev_fault_note(c->vgpu, "copy engine error", c->gchid.v, ev.ce.code,
					      intr);
		/* a late interrupt may be of a channel that has left the engine since */
		chan_event_push(c, &ev, !gpu->hw.intr_late);
	} else {
		within_budget(gpu, &chip->unowned, 1);
	}
	spin_unlock(&chip->event_lock);
}

/* Masks or unmasks the card's NON_STALL_INTERRUPTs (struct kvgpu_chip). */
static void nonstall_set(struct kvgpu_chip *chip, bool off, bool held)
{
	bool was = chip->nonstall.off || chip->nonstall.held;

	chip->nonstall.off = off;
	chip->nonstall.held = held;
	if (was != (off || held))
		kvgpu_hw_nonstall(&chip->gpu->hw, !(off || held));
}

/*
 * Handles a NON_STALL_INTERRUPT. The chip does not tell which channel sent it. So it is shown to
 * all vGPUs with channels. That is harmless: a driver then looks in memory whether its work is
 * done. It is delivered soon if the vGPU's driver waits for it, else with a later event or register
 * access.
 *
 * If no driver waits, the interrupt is masked until a driver waits, because each interrupt costs
 * the host register accesses. If the budget is used up, the interrupt is masked until the slicer
 * finds room in it (vmach_nonstall_poll()). The masking loses no interrupt: the chip keeps the
 * interrupt's bit, and interrupts when it is unmasked.
 */
static void nonstall(void *ctx)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_machine *m;
	bool any = false;

	spin_lock(&chip->event_lock);
	list_for_each_entry(m, &chip->live, node) {
		/* skip a vGPU that has no ids for channels, and so no channel */
		if (!READ_ONCE(m->ids.nr_blocks))
			continue;
		set_bit(PENDING_NONSTALL, &m->event.pending);
		if (!READ_ONCE(m->event.waits))
			continue;
		event_later(m, 0);
		any = true;
	}
	/*
	 * The budget pays even if no driver waits now. Otherwise a guest could escape it: its
	 * driver would begin to wait, and stop before this thread gets here.
	 */
	kvgpu_bucket_take(&chip->nonstall.budget.bucket, NONSTALL_NS, NONSTALL_NS);
	nonstall_set(chip, !any, !budget_fill(&chip->nonstall.budget, ktime_get_ns()));
	if (chip->nonstall.held)
		vmach_slicer_kick(gpu);
	spin_unlock(&chip->event_lock);
}

bool vmach_nonstall_poll(struct kvgpu_chip *chip, u64 now)
{
	bool held;

	if (!READ_ONCE(chip->nonstall.held))
		return false;
	spin_lock(&chip->event_lock);
	if (chip->nonstall.held && budget_fill(&chip->nonstall.budget, now))
		nonstall_set(chip, chip->nonstall.off, false);
	held = chip->nonstall.held;
	spin_unlock(&chip->event_lock);
	return held;
}

/*
 * event_lock, which nonstall() takes, too, keeps an interrupt from being missed: either nonstall()
 * sees that the driver waits, or the next vmach_events_deliver() sees the bit in m->event.pending.
 */
void vmach_waits_update(struct kvgpu_vgpu *v)
{
	struct kvgpu_chip *chip = v->gpu->chip;
	struct kvgpu_machine *m = v->m;

	lockdep_assert_held(&v->lock);
	if (m->event.waits == m->trap.wants_nonstall)
		return;
	WRITE_ONCE(m->event.waits, m->trap.wants_nonstall);
	if (!m->event.waits)
		return; /* if no driver waits, nonstall() masks the next interrupt */
	spin_lock(&chip->event_lock);
	nonstall_set(chip, false, chip->nonstall.held);
	spin_unlock(&chip->event_lock);
}

/* Ends the channel whose context switch takes longer than kvgpu_hw_switch_timeout() has set. */
static void ctxsw_timeout(void *ctx, u8 engine, int id, bool tsg)
{
	struct kvgpu_gpu *gpu = ctx;
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_chan *c;

	spin_lock(&chip->event_lock);
	c = chan_of_id(chip, id, tsg);
	if (c) {
		kvgpu_mdev_fault_note(c->vgpu, "does not leave an engine", c->gchid.v, engine, 0);
		if (!test_bit(c->hchid.v, chip->recover_chans))
			c->fault.engine = engine;
		vmach_chan_end_soon(c, EVENT_SCHED);
	} else {
		dev_err_ratelimited(&gpu->hw.pdev->dev,
				    "engine %u: %s %d does not leave: nobody's\n", engine,
				    tsg ? "group" : "channel", id);
	}
	spin_unlock(&chip->event_lock);
}

static void copy_stuck(void *ctx)
{
	vmach_gpu_declare_lost(ctx, "a copy of the host's did not end");
}

const struct kvgpu_hw_events kvgpu_machine_events = {
	.mmu_fault = mmu_fault,
	.pbdma = pbdma_intr_take,
	.gr = gr_exception_take,
	.ce = ce_intr_take,
	.nonstall = nonstall,
	.ctxsw_timeout = ctxsw_timeout,
	.copy_stuck = copy_stuck,
};

/* ----------------------------------------------------------- ring the alarm of a guest's PTIMER */

static void alarm_work(struct work_struct *work)
{
	struct kvgpu_machine *m =
		container_of(to_delayed_work(work), struct kvgpu_machine, event.alarm);

	set_bit(PENDING_ALARM, &m->event.pending);
	event_later(m, 0);
}

/*
 * Arms the host's timer for the alarm that the guest has set in its PTIMER, or disarms the timer if
 * the guest has set none. nouveau uses the alarm to poll sensors, which a jiffy's delay does not
 * harm.
 */
void vmach_alarm_arm(struct kvgpu_vgpu *v)
{
	u64 now = vmach_ptimer_read(v->gpu), at = v->m->trap.ptimer_alarm;

	if (!at)
		cancel_delayed_work(&v->m->event.alarm);
	else if (!READ_ONCE(v->m->event.gone))
		mod_delayed_work(v->gpu->chip->wq.event, &v->m->event.alarm,
				 at > now ? nsecs_to_jiffies(at - now) + 1 : 1);
}

/* --------------------------------------------------- set up, end and reset the events of a vGPU */

void vmach_events_init(struct kvgpu_machine *m)
{
	spin_lock_init(&m->event_lock);
	budget_init(&m->event.signals, SIGNAL_PPM, SIGNAL_BURST_NS);
	INIT_DELAYED_WORK(&m->event.work, event_work);
	INIT_DELAYED_WORK(&m->event.alarm, alarm_work);
}

void vmach_events_fini(struct kvgpu_machine *m)
{
	WRITE_ONCE(m->event.gone, true);
	cancel_delayed_work_sync(&m->event.alarm);
	cancel_delayed_work_sync(&m->event.work);
	cancel_delayed_work_sync(&m->event.alarm); /* event_work may have armed it again */
}

void vmach_events_reset(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	spin_lock(&m->event_lock);
	m->event.get = m->event.put;
	spin_unlock(&m->event_lock);
	m->event.pending = 0;
	memset(m->event.stuck, 0, sizeof(m->event.stuck));
	cancel_delayed_work(&m->event.alarm);
}
