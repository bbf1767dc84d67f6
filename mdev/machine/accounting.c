// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of GPU time: charges vGPUs for it, and tells how much each was charged. While vGPUs
 * take turns the .payer, the owner of the chip, pays for all of the time until its last channel has
 * left. Else a vGPU that a usage sample (usage.c) sees at work pays until the next sample; if a
 * switch comes first, for the mean time to it. In a wait for the chip observations decide (wait.h):
 * while the slicer waits for a preempt, they are made every KVGPU_HW_WATCH_US.
 *
 * The slicer calls all of this, the sampler and the interrupt thread vmach_time_settle(), and any
 * thread kvgpu_machine_gpu_time_get().
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/wait.h"

/*
 * Charges @m for @ns, all of them before @now, and has ->gpu_ns tell of what sched/ made it pay for
 * switches since the charge before. slicer->acct_lock is held for writing.
 */
static void time_charge(struct kvgpu_machine *m, u64 ns, u64 now)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;

	spin_lock(&s->lock);
	kvgpu_sched_charge(&s->sched, &m->slice.ent, ns, now);
	atomic64_set(&m->gpu_ns, m->slice.ent.busy_ns);
	spin_unlock(&s->lock);
}

/* Tells whether @m pays for the time that passes. */
static bool is_charged(const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;
	const struct kvgpu_machine *payer = READ_ONCE(s->samples.payer);

	if (READ_ONCE(s->samples.paused))
		return READ_ONCE(m->slice.charge.works);
	return payer ? payer == m : READ_ONCE(m->slice.charge.busy);
}

void vmach_time_settle(struct kvgpu_chip *chip, u64 now)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	u64 ns, free = 0;
	bool any = false;

	if (now <= s->samples.charged)
		return;
	if (!s->samples.paused && s->samples.charged < s->samples.free_until)
		free = min(now, s->samples.free_until) - s->samples.charged;
	ns = now - s->samples.charged - free;
	list_for_each_entry(m, &chip->live, node) {
		if (!is_charged(m))
			continue;
		time_charge(m, ns, now);
		any = true;
	}
	s->samples.busy_ns += any ? ns + free : 0;
	s->samples.paid_ns += any ? ns : 0;
	s->samples.charged = now;
}

void vmach_payer_set(struct kvgpu_chip *chip, const struct kvgpu_machine *payer, u64 free_ns)
{
	struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	u64 now = ktime_get_ns();

	vmach_slicer_assert(chip->gpu);
	write_seqlock(&s->acct_lock);
	vmach_time_settle(chip, now);
	s->samples.free_until = max(s->samples.free_until, free_ns ? now + free_ns : 0);
	list_for_each_entry(m, &chip->live, node) {
		/* who was seen pays until the next sample: the time to it, on average */
		if (!s->samples.payer && m->slice.charge.busy && s->samples.mean != ~0ull)
			time_charge(m, s->samples.mean, now);
		m->slice.charge.busy = false;
	}
	WRITE_ONCE(s->samples.payer, payer);
	write_sequnlock(&s->acct_lock);
}

u64 kvgpu_machine_gpu_time_get(const struct kvgpu_vgpu *v)
{
	struct machine_slicer *s = &v->gpu->chip->slicer;
	struct kvgpu_machine *m = v->m;
	unsigned int seq;
	s64 ns, reported;
	u64 now, from;

	do {
		seq = read_seqbegin(&s->acct_lock);
		ns = atomic64_read(&m->gpu_ns);
		now = ktime_get_ns();
		from = READ_ONCE(s->samples.charged);
		if (!READ_ONCE(s->samples.paused))
			from = max(from, READ_ONCE(s->samples.free_until));
		if (is_charged(m) && now > from)
			ns += now - from;
	} while (read_seqretry(&s->acct_lock, seq));
	reported = atomic64_read(&m->slice.charge.reported);
	do {
		if (reported >= ns)
			return reported;
	} while (!atomic64_try_cmpxchg(&m->slice.charge.reported, &reported, ns));
	return ns;
}

/* ------------------------------------------------------------------ waits for the chip */

/*
 * Observes the engines, and settles: half of the time since the observation before counts as that
 * one saw them, the other half as this one does. slicer->acct_lock is held for writing.
 */
static void observe(struct kvgpu_chip *chip)
{
	u64 now = ktime_get_ns(), since = chip->slicer.samples.charged;
	bool paused = chip->slicer.samples.paused;
	u32 vgpu[KVGPU_MAX_ENGINE];
	struct kvgpu_machine *m;

	vmach_engines_name(chip, 1, vgpu);
	vmach_time_settle(chip, paused ? since + (now - since) / 2 : now);
	list_for_each_entry(m, &chip->live, node)
		m->slice.charge.works = vmach_vgpu_named(m, vgpu);
	if (paused)
		vmach_time_settle(chip, now);
}

void vmach_engines_observe(void *arg)
{
	struct kvgpu_gpu *gpu = arg;
	struct machine_slicer *s = &gpu->chip->slicer;

	if (!s->samples.paused)
		return;
	write_seqlock(&s->acct_lock);
	observe(gpu->chip);
	write_sequnlock(&s->acct_lock);
}

u64 vmach_remainder_ns(const struct kvgpu_chip *chip, u64 from, u64 paid)
{
	u64 ns = chip->slicer.samples.charged - from;

	return ns - min(ns, chip->slicer.samples.paid_ns - paid);
}

void vmach_remainder_charge(struct kvgpu_machine *m, u64 ns)
{
	struct machine_slicer *s = &m->v->gpu->chip->slicer;

	if (!ns)
		return;
	time_charge(m, ns, s->samples.charged);
	s->samples.paid_ns += ns;
}

void vmach_wait_begin(struct machine_wait *w, struct kvgpu_gpu *gpu)
{
	struct machine_slicer *s = &gpu->chip->slicer;

	vmach_slicer_assert(gpu);
	write_seqlock(&s->acct_lock);
	observe(gpu->chip);
	WRITE_ONCE(s->samples.paused, s->samples.paused + 1);
	*w = (struct machine_wait){
		.gpu = gpu,
		.began = s->samples.charged,
		.paid = s->samples.paid_ns,
	};
	write_sequnlock(&s->acct_lock);
}

void vmach_wait_charge(struct kvgpu_machine *m, struct machine_wait *w, bool works)
{
	struct kvgpu_chip *chip = w->gpu->chip;
	u64 ns;

	vmach_engines_observe(w->gpu);
	write_seqlock(&chip->slicer.acct_lock);
	ns = vmach_remainder_ns(chip, w->began, w->paid);
	vmach_remainder_charge(m, works ? ns : min(ns, w->blocked_ns));
	WRITE_ONCE(chip->slicer.samples.paused, chip->slicer.samples.paused - 1);
	write_sequnlock(&chip->slicer.acct_lock);
}

bool vmach_fault_charge(struct kvgpu_chan *c)
{
	struct kvgpu_chip *chip = c->vgpu->gpu->chip;
	u64 at, paid;

	vmach_slicer_assert(c->vgpu->gpu);
	spin_lock(&chip->event_lock);
	at = c->fault.at;
	paid = c->fault.paid;
	c->fault.at = 0;
	spin_unlock(&chip->event_lock);
	if (!at)
		return false;
	write_seqlock(&chip->slicer.acct_lock);
	vmach_time_settle(chip, ktime_get_ns());
	vmach_remainder_charge(c->vgpu->m, vmach_remainder_ns(chip, at, paid));
	write_sequnlock(&chip->slicer.acct_lock);
	return true;
}
