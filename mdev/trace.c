// SPDX-License-Identifier: GPL-2.0-only
/*
 * Defines the tracepoints of trace.h. Counts and traces the faults of vGPUs, and adds them to
 * vgpu->fault_log.
 *
 * kvgpu_mdev_fault_note() can be called in any context, and under any lock but fault_lock, which is
 * a leaf lock.
 */
#include <linux/types.h>

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#endif
#include "mdev/trace.h"
#include "mdev/vgpu.h"

void kvgpu_mdev_fault_note(struct kvgpu_vgpu *v, const char *what, int chid, u64 addr, u32 code)
{
	struct kvgpu_fault_entry *e;
	unsigned long flags;

	atomic64_inc(&v->count.faults);
	trace_kvgpu_fault(v->id, what, chid, addr, code);
	spin_lock_irqsave(&v->fault_lock, flags);
	e = &v->fault_log[v->nr_faults++ % KVGPU_FAULT_LOG];
	e->when = ktime_get_boottime();
	e->what = what;
	e->chid = chid;
	e->addr = addr;
	e->code = code;
	spin_unlock_irqrestore(&v->fault_lock, flags);
}
