// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strikes count the harm that a vGPU does to other vGPUs. Too many of them suspend the vGPU.
 *
 * A vGPU gets a strike when the watchdog had to end a channel, or to drive off an ended channel,
 * and when a channel was ended for too many interrupts. It also gets a strike when a channel that
 * was ended for another reason than an MMU fault left an engine only by a reset. A vGPU has a
 * budget for resets after an MMU fault or at the unbind of a channel, and for long evictions of
 * channels that were ended. Each of these beyond the budget is a strike. Strikes are forgiven, and
 * resets forgotten, one after the other.
 *
 * A vGPU with too many strikes is suspended. The slicer takes its channels off the chip, and all
 * its enabled channels are ended, also channels that its guest enables later. The guest is told of
 * each as the card tells of a hang, and one after the other, because nouveau takes the channel's id
 * from a register that names one channel at a time. The suspension ends when the guest resets the
 * device or loads its driver again (PFIFO is reset), when the vGPU is opened again, or when the
 * admin clears it.
 */
#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* ms from the end of one channel of a suspended vGPU to the end of the next */
#define END_EVERY_MS 50
/* a vGPU that has as many is suspended */
#define STRIKES_MAX 8
#define STRIKE_NS   (30 * NSEC_PER_SEC) /* in which one is forgiven */
/* the budget of resets and long evictions */
#define RESETS_MAX 32
#define RESET_NS   (500 * NSEC_PER_MSEC) /* in which one is forgotten */

/*
 * Adds one to those that will be gone at ktime *@gone, one each @each ns. Returns how many there
 * are now.
 */
static u64 one_more(u64 *gone, u64 each, u64 now)
{
	*gone = max(*gone, now) + each;
	return div64_u64(*gone - now + each - 1, each);
}

static bool vgpu_suspended(const struct kvgpu_machine *m)
{
	return m->slice[RUNL_GR].ent.suspended; /* as on each runlist */
}

/* Suspends @m on all runlists, or ends that. slicer->lock is held. */
static void suspend_set(struct kvgpu_machine *m, bool suspend, u64 now)
{
	struct machine_slice *sl;

	for_each_slice(sl, m) {
		kvgpu_sched_set_suspended(&sl->runl->sched, &sl->ent, suspend, now);
		sl->runl->lists.stale = true;
	}
}

void vmach_strike_add(struct kvgpu_machine *m, const char *why)
{
	struct kvgpu_gpu *gpu = m->v->gpu;
	struct machine_slicer *s = &gpu->chip->slicer;
	bool suspend;
	u64 now = ktime_get_ns(), nr;

	vmach_slicer_assert(gpu);
	spin_lock(&s->lock);
	m->forgiven.total++;
	nr = one_more(&m->forgiven.strikes, STRIKE_NS, now);
	suspend = nr >= STRIKES_MAX && !vgpu_suspended(m);
	if (suspend)
		suspend_set(m, true, now);
	spin_unlock(&s->lock);
	trace_kvgpu_strike(m->v->id, why, m->forgiven.total, suspend);
	if (!suspend)
		return;
	kvgpu_mdev_fault_note(m->v, "suspended", -1, 0, nr);
	dev_warn_ratelimited(m->v->vdev.dev, "suspended after %llu strikes, the last one: %s\n", nr,
			     why);
	/* the guest is told of the channel that hung first */
	m->forgiven.end_at = now + END_EVERY_MS * NSEC_PER_MSEC;
	vmach_slicer_kick(gpu);
}

void vmach_resets_note(struct kvgpu_machine *m, u32 nr)
{
	while (nr--) {
		if (one_more(&m->forgiven.resets, RESET_NS, ktime_get_ns()) <= RESETS_MAX)
			continue;
		m->forgiven.resets -= RESET_NS;
		vmach_strike_add(m, "too many engine resets");
	}
}

void vmach_storm_strike(struct kvgpu_chan *c)
{
	struct kvgpu_chip *chip = c->vgpu->gpu->chip;
	bool strike;

	spin_lock(&chip->event_lock);
	strike = c->fault.storm && !c->fault.struck;
	c->fault.struck |= strike;
	spin_unlock(&chip->event_lock);
	if (strike)
		vmach_strike_add(c->vgpu->m, "storm of interrupts");
}

static void strikes_clear(void *arg)
{
	struct kvgpu_machine *m = arg;
	struct machine_slicer *s = &m->v->gpu->chip->slicer;

	spin_lock(&s->lock);
	m->forgiven.strikes = 0;
	if (vgpu_suspended(m))
		suspend_set(m, false, ktime_get_ns());
	spin_unlock(&s->lock);
}

void kvgpu_machine_strikes_clear(struct kvgpu_vgpu *v)
{
	vmach_slicer_call(v->gpu, strikes_clear, v->m);
	vmach_slicer_kick(v->gpu);
}

/* Has the next channel of suspended vGPU @m that is enabled and not dead ended, if it is due. */
static void next_chan_end(struct kvgpu_machine *m, u64 now)
{
	struct kvgpu_chip *chip = m->v->gpu->chip;
	struct kvgpu_chan *c;
	u32 i;

	if (!m->forgiven.end_at || now < m->forgiven.end_at)
		return;
	m->forgiven.end_at = 0;
	if (!vgpu_suspended(m))
		return;
	for (i = 0; i < KVGPU_MAX_CHAN; i++) {
		c = chip->by_hchid[i];
		if (!c || c->vgpu != m->v || c->dead || !READ_ONCE(c->guest.enabled))
			continue;
		m->forgiven.end_at = now + END_EVERY_MS * NSEC_PER_MSEC;
		spin_lock(&chip->event_lock);
		c->fault.engine = 0;
		vmach_chan_end_soon(c, EVENT_SCHED);
		spin_unlock(&chip->event_lock);
		return;
	}
}

u64 vmach_suspended_end(struct kvgpu_chip *chip)
{
	u64 now = ktime_get_ns(), next = ~0ull;
	struct kvgpu_machine *m;

	list_for_each_entry(m, &chip->live, node) {
		next_chan_end(m, now);
		if (m->forgiven.end_at)
			next = min(next, m->forgiven.end_at);
	}
	return next;
}
