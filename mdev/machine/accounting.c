// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of GPU time: charges vGPUs for it, and tells how much each was charged. While vGPUs
 * take turns the .payer, the owner of the chip, pays for all of the time until its last channel has
 * left. Else a vGPU that a usage sample (usage.c) sees at work pays until the next sample; if a
 * switch comes first, for the mean time to it. In a wait for the chip observations decide (wait.h):
 * while the slicer waits for a preempt, they are made every KVGPU_HW_WATCH_US.
 *
 * The slicer calls all of this, the sampler and the interrupt thread vmach_time_settle(), and any
 * thread kvgpu_machine_gpu_time_get() and kvgpu_machine_copy_time_get().
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/wait.h"

/*
 * Charges @sl for @ns, all of them before @now, and has .charge.ns tell of what sched/ made it pay
 * for switches since the charge before. slicer->acct_lock is held for writing.
 */
static void time_charge(struct machine_slice *sl, u64 ns, u64 now)
{
	struct machine_slicer *s = &sl->runl->chip->slicer;

	spin_lock(&s->lock);
	kvgpu_sched_charge(&sl->runl->sched, &sl->ent, ns, now);
	atomic64_set(&sl->charge.ns, sl->ent.busy_ns);
	spin_unlock(&s->lock);
}

/* Tells whether @sl pays for the time that passes. */
static bool is_charged(const struct machine_slice *sl)
{
	const struct machine_slice *payer = READ_ONCE(sl->runl->samples.payer);

	if (READ_ONCE(sl->runl->chip->slicer.samples.paused))
		return READ_ONCE(sl->charge.works);
	return payer ? payer == sl : READ_ONCE(sl->charge.busy);
}

/* Charges for the time from @from to @now on @r. */
static void runl_settle(struct machine_runl *r, u64 from, u64 now)
{
	struct machine_slice *sl;
	u64 ns, free = 0;
	bool any = false;

	if (!r->chip->slicer.samples.paused && from < r->samples.free_until)
		free = min(now, r->samples.free_until) - from;
	ns = now - from - free;
	list_for_each_entry(sl, &r->slices, node) {
		if (!is_charged(sl))
			continue;
		time_charge(sl, ns, now);
		any = true;
	}
	r->samples.busy_ns += any ? ns + free : 0;
	r->samples.paid_ns += any ? ns : 0;
}

void vmach_time_settle(struct kvgpu_chip *chip, u64 now)
{
	u64 from = chip->slicer.samples.charged;
	struct machine_runl *r;

	if (now <= from)
		return;
	for_each_runl(r, chip)
		runl_settle(r, from, now);
	chip->slicer.samples.charged = now;
}

void vmach_payer_set(struct machine_runl *r, const struct machine_slice *payer, u64 free_ns)
{
	struct machine_slicer *s = &r->chip->slicer;
	struct machine_slice *sl;
	u64 now = ktime_get_ns();

	vmach_slicer_assert(r->chip->gpu);
	write_seqlock(&s->acct_lock);
	vmach_time_settle(r->chip, now);
	r->samples.free_until = max(r->samples.free_until, free_ns ? now + free_ns : 0);
	list_for_each_entry(sl, &r->slices, node) {
		/* who was seen pays until the next sample: the time to it, on average */
		if (!r->samples.payer && sl->charge.busy && s->samples.mean != ~0ull)
			time_charge(sl, s->samples.mean, now);
		sl->charge.busy = false;
	}
	WRITE_ONCE(r->samples.payer, payer);
	write_sequnlock(&s->acct_lock);
}

/* Returns what @sl was charged up to now, ns. */
static u64 time_get(struct machine_slice *sl)
{
	struct machine_slicer *s = &sl->runl->chip->slicer;
	unsigned int seq;
	s64 ns, reported;
	u64 now, from;

	do {
		seq = read_seqbegin(&s->acct_lock);
		ns = atomic64_read(&sl->charge.ns);
		now = ktime_get_ns();
		from = READ_ONCE(s->samples.charged);
		if (!READ_ONCE(s->samples.paused))
			from = max(from, READ_ONCE(sl->runl->samples.free_until));
		if (is_charged(sl) && now > from)
			ns += now - from;
	} while (read_seqretry(&s->acct_lock, seq));
	reported = atomic64_read(&sl->charge.reported);
	do {
		if (reported >= ns)
			return reported;
	} while (!atomic64_try_cmpxchg(&sl->charge.reported, &reported, ns));
	return ns;
}

u64 kvgpu_machine_gpu_time_get(const struct kvgpu_vgpu *v)
{
	return time_get(&v->m->slice[RUNL_GR]);
}

u64 kvgpu_machine_copy_time_get(const struct kvgpu_vgpu *v)
{
	return kvgpu_machine_copies_apart(v->gpu) ? time_get(&v->m->slice[RUNL_CE]) : 0;
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
	u32 vgpu[NR_RUNLS][KVGPU_MAX_ENGINE];
	struct machine_slice *sl;
	struct machine_runl *r;

	for_each_runl(r, chip)
		vmach_engines_name(r, 1, vgpu[r - chip->runl]);
	vmach_time_settle(chip, paused ? since + (now - since) / 2 : now);
	for_each_runl(r, chip)
		list_for_each_entry(sl, &r->slices, node)
			sl->charge.works = vmach_vgpu_named(sl->m, vgpu[r - chip->runl]);
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

u64 vmach_remainder_ns(const struct machine_runl *r, u64 from, u64 paid)
{
	u64 ns = r->chip->slicer.samples.charged - from;

	return ns - min(ns, r->samples.paid_ns - paid);
}

void vmach_remainder_charge(struct machine_slice *sl, u64 ns)
{
	if (!ns)
		return;
	time_charge(sl, ns, sl->runl->chip->slicer.samples.charged);
	sl->runl->samples.paid_ns += ns;
}

void vmach_wait_begin(struct machine_wait *w, struct machine_runl *r)
{
	struct machine_slicer *s = &r->chip->slicer;

	vmach_slicer_assert(r->chip->gpu);
	write_seqlock(&s->acct_lock);
	observe(r->chip);
	WRITE_ONCE(s->samples.paused, s->samples.paused + 1);
	*w = (struct machine_wait){
		.runl = r,
		.began = s->samples.charged,
		.paid = r->samples.paid_ns,
	};
	write_sequnlock(&s->acct_lock);
}

void vmach_wait_charge(struct machine_slice *sl, struct machine_wait *w, bool works)
{
	struct kvgpu_chip *chip = w->runl->chip;
	u64 ns;

	vmach_engines_observe(chip->gpu);
	write_seqlock(&chip->slicer.acct_lock);
	ns = vmach_remainder_ns(w->runl, w->began, w->paid);
	vmach_remainder_charge(sl, works ? ns : min(ns, w->blocked_ns));
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
	vmach_remainder_charge(c->slice, vmach_remainder_ns(c->slice->runl, at, paid));
	write_sequnlock(&chip->slicer.acct_lock);
	return true;
}
