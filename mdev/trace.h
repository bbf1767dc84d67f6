/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints for events of vGPUs. Each names the vGPU by its id, which is unique on its card. The
 * debugfs file kvgpu/<card>/vgpus lists a card's vGPUs with their ids.
 *
 * Words. A sync brings shadow page tables, which the chip uses in place of the guest's page tables,
 * up to date with the guest's. The slicer is the thread that gives the chip to vGPUs in turns. A
 * poll is its search for vGPUs that have work. In recovery the host ends a channel or group. A
 * strike is a mark for harm to other vGPUs; too many strikes suspend a vGPU. A group is a channel
 * group (TSG).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kvgpu

#if !defined(KVGPU_MDEV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KVGPU_MDEV_TRACE_H

#include <linux/tracepoint.h>

#ifndef KVGPU_MDEV_TRACE_ENUMS
#define KVGPU_MDEV_TRACE_ENUMS
enum kvgpu_vgpu_event {
	KVGPU_VGPU_CREATE,
	KVGPU_VGPU_OPEN,
	KVGPU_VGPU_RESET,
	KVGPU_VGPU_CLOSE,
	KVGPU_VGPU_REMOVE,
};

enum kvgpu_chan_event {
	KVGPU_CHAN_BOUND,
	KVGPU_CHAN_REFUSED,
	KVGPU_CHAN_ENABLED,
	KVGPU_CHAN_DISABLED,
	KVGPU_CHAN_KILLED,
	KVGPU_CHAN_UNBOUND,
};
#endif

TRACE_DEFINE_ENUM(KVGPU_VGPU_CREATE);
TRACE_DEFINE_ENUM(KVGPU_VGPU_OPEN);
TRACE_DEFINE_ENUM(KVGPU_VGPU_RESET);
TRACE_DEFINE_ENUM(KVGPU_VGPU_CLOSE);
TRACE_DEFINE_ENUM(KVGPU_VGPU_REMOVE);
TRACE_DEFINE_ENUM(KVGPU_CHAN_BOUND);
TRACE_DEFINE_ENUM(KVGPU_CHAN_REFUSED);
TRACE_DEFINE_ENUM(KVGPU_CHAN_ENABLED);
TRACE_DEFINE_ENUM(KVGPU_CHAN_DISABLED);
TRACE_DEFINE_ENUM(KVGPU_CHAN_KILLED);
TRACE_DEFINE_ENUM(KVGPU_CHAN_UNBOUND);

/* A create is traced at the end of .init, an open only if it succeeds. */
TRACE_EVENT(kvgpu_vgpu, TP_PROTO(u32 vgpu, int event), TP_ARGS(vgpu, event),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(int, event)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->event = event;),
	    TP_printk("vgpu=%u %s", __entry->vgpu,
		      __print_symbolic(__entry->event, { KVGPU_VGPU_CREATE, "create" },
				       { KVGPU_VGPU_OPEN, "open" }, { KVGPU_VGPU_RESET, "reset" },
				       { KVGPU_VGPU_CLOSE, "close" },
				       { KVGPU_VGPU_REMOVE, "remove" })));

/*
 * A register write of the guest became a command. @kind: enum kvgpu_cmd_kind. @a: the value. @b has
 * 0xff in each byte of @a that was written.
 */
TRACE_EVENT(kvgpu_command, TP_PROTO(u32 vgpu, u32 reg, u32 kind, u64 a, u64 b),
	    TP_ARGS(vgpu, reg, kind, a, b),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u32, reg) __field(u32, kind) __field(u64, a)
				     __field(u64, b)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->reg = reg; __entry->kind = kind;
			   __entry->a = a; __entry->b = b;),
	    TP_printk("vgpu=%u reg=0x%06x kind=%u a=0x%llx b=0x%llx", __entry->vgpu, __entry->reg,
		      __entry->kind, __entry->a, __entry->b));

/*
 * mmio-trap has counted a guest's access as unlisted (no table has the register) or as denied (a
 * table denies the register, or mmio-trap refused the write).
 */
TRACE_EVENT(kvgpu_odd_register, TP_PROTO(u32 vgpu, u32 reg, u32 val, bool write),
	    TP_ARGS(vgpu, reg, val, write),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u32, reg) __field(u32, val)
				     __field(bool, write)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->reg = reg; __entry->val = val;
			   __entry->write = write;),
	    TP_printk("vgpu=%u %s 0x%06x 0x%08x", __entry->vgpu, __entry->write ? "write" : "read",
		      __entry->reg, __entry->val));

/*
 * A sync of an address space of channels asks for a TLB invalidate, or has failed. @pd: address of
 * the guest's page directory. @tables, @written, @rejected: numbers of pages of guest tables read,
 * of entries written, and of entries refused, by this sync. @flush: the TLB has to be invalidated
 * for the space.
 */
TRACE_EVENT(kvgpu_shadow_sync,
	    TP_PROTO(u32 vgpu, u64 pd, u64 tables, u64 written, u64 rejected, bool flush, int ret),
	    TP_ARGS(vgpu, pd, tables, written, rejected, flush, ret),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u64, pd) __field(u64, tables)
				     __field(u64, written) __field(u64, rejected)
					     __field(bool, flush) __field(int, ret)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->pd = pd; __entry->tables = tables;
			   __entry->written = written; __entry->rejected = rejected;
			   __entry->flush = flush; __entry->ret = ret;),
	    TP_printk("vgpu=%u pd=0x%llx tables=%llu written=%llu rejected=%llu flush=%d ret=%d",
		      __entry->vgpu, __entry->pd, __entry->tables, __entry->written,
		      __entry->rejected, __entry->flush, __entry->ret));

/* @ret: number of the @nr pages that were pinned, or an error. */
TRACE_EVENT(kvgpu_pin, TP_PROTO(u32 vgpu, u64 iova, u32 nr, int ret), TP_ARGS(vgpu, iova, nr, ret),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u64, iova) __field(u32, nr)
				     __field(int, ret)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->iova = iova; __entry->nr = nr;
			   __entry->ret = ret;),
	    TP_printk("vgpu=%u iova=0x%llx pages=%u ret=%d", __entry->vgpu, __entry->iova,
		      __entry->nr, __entry->ret));

/* The VMM unmaps memory. @flush: entries were removed, so that TLBs have to be invalidated. */
TRACE_EVENT(kvgpu_unmap, TP_PROTO(u32 vgpu, u64 iova, u64 len, bool flush),
	    TP_ARGS(vgpu, iova, len, flush),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u64, iova) __field(u64, len)
				     __field(bool, flush)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->iova = iova; __entry->len = len;
			   __entry->flush = flush;),
	    TP_printk("vgpu=%u iova=0x%llx len=0x%llx flush=%d", __entry->vgpu, __entry->iova,
		      __entry->len, __entry->flush));

TRACE_EVENT(kvgpu_chan, TP_PROTO(u32 vgpu, int gchid, int hchid, int event),
	    TP_ARGS(vgpu, gchid, hchid, event),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(int, gchid) __field(int, hchid)
				     __field(int, event)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->gchid = gchid; __entry->hchid = hchid;
			   __entry->event = event;),
	    TP_printk("vgpu=%u guest=%d chip=%d %s", __entry->vgpu, __entry->gchid, __entry->hchid,
		      __print_symbolic(__entry->event, { KVGPU_CHAN_BOUND, "bound" },
				       { KVGPU_CHAN_REFUSED, "refused" },
				       { KVGPU_CHAN_ENABLED, "enabled" },
				       { KVGPU_CHAN_DISABLED, "disabled" },
				       { KVGPU_CHAN_KILLED, "killed" },
				       { KVGPU_CHAN_UNBOUND, "unbound" })));

/*
 * The vGPU's list for the chip's runlist @runl was made anew from the runlists that the guest does
 * not block. @guest_nr: number of entries of these runlists. @nr: entries of the vGPU's list. @ret:
 * 0, or the error with which the chip did not take the list.
 */
TRACE_EVENT(kvgpu_runlist, TP_PROTO(u32 vgpu, u8 runl, u32 guest_nr, u32 nr, int ret),
	    TP_ARGS(vgpu, runl, guest_nr, nr, ret),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u8, runl) __field(u32, guest_nr)
				     __field(u32, nr) __field(int, ret)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->runl = runl; __entry->guest_nr = guest_nr;
			   __entry->nr = nr; __entry->ret = ret;),
	    TP_printk("vgpu=%u runlist=%u guest_entries=%u entries=%u ret=%d", __entry->vgpu,
		      __entry->runl, __entry->guest_nr, __entry->nr, __entry->ret));

/* @what is a constant string of this module */
TRACE_EVENT(kvgpu_fault, TP_PROTO(u32 vgpu, const char *what, int chid, u64 addr, u32 code),
	    TP_ARGS(vgpu, what, chid, addr, code),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(const char *, what) __field(int, chid)
				     __field(u64, addr) __field(u32, code)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->what = what; __entry->chid = chid;
			   __entry->addr = addr; __entry->code = code;),
	    TP_printk("vgpu=%u %s channel=%d addr=0x%llx code=0x%08x", __entry->vgpu, __entry->what,
		      __entry->chid, __entry->addr, __entry->code));

/*
 * The slicer has written the chip's runlist. @owner: id of the vGPU whose list alone is on the chip
 * from now on, or 0. If @owner is 0, @open tells which lists are on the chip: those of all vGPUs
 * that are not suspended (true), or none (false). @runnable: number of vGPUs that want to run.
 * @until: monotonic time, ns, at which the latest turn of a vGPU was planned to end.
 */
TRACE_EVENT(kvgpu_slice, TP_PROTO(u32 owner, bool open, u32 runnable, u64 until),
	    TP_ARGS(owner, open, runnable, until),
	    TP_STRUCT__entry(__field(u32, owner) __field(bool, open) __field(u32, runnable)
				     __field(u64, until)),
	    TP_fast_assign(__entry->owner = owner; __entry->open = open;
			   __entry->runnable = runnable; __entry->until = until;),
	    TP_printk("vgpu=%u%s runnable=%u until=%llu", __entry->owner,
		      __entry->open ? " open" : "", __entry->runnable, __entry->until));

/*
 * The slicer has driven a channel, or a group if @tsg, off the chip. @id: the chip's id of the
 * channel or group. @ns: how long that took. The time ends when the channel or group has left, when
 * its recovery begins, or when the card has failed. The time begins with the poll that made the
 * slicer write the chip's runlist. If the slicer drives off several channels or groups then, the
 * time of each but the first begins with the end of the preempt before.
 */
TRACE_EVENT(kvgpu_preempt, TP_PROTO(u32 vgpu, bool tsg, u16 id, u64 ns), TP_ARGS(vgpu, tsg, id, ns),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(bool, tsg) __field(u16, id)
				     __field(u64, ns)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->tsg = tsg; __entry->id = id;
			   __entry->ns = ns;),
	    TP_printk("vgpu=%u %s=%u ns=%llu", __entry->vgpu, __entry->tsg ? "tsg" : "channel",
		      __entry->id, __entry->ns));

/*
 * A channel, or a group if @tsg, has not left the chip @ns after the slicer began to drive it off.
 * @id: the chip's id. @recover: true: the slicer ends the channel or group now if it is still
 * loaded; false: the slicer only looks for a lost interrupt.
 */
TRACE_EVENT(kvgpu_hang, TP_PROTO(u32 vgpu, bool tsg, u16 id, bool recover, u64 ns),
	    TP_ARGS(vgpu, tsg, id, recover, ns),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(bool, tsg) __field(u16, id)
				     __field(bool, recover) __field(u64, ns)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->tsg = tsg; __entry->id = id;
			   __entry->recover = recover; __entry->ns = ns;),
	    TP_printk("vgpu=%u %s=%u %s after ns=%llu", __entry->vgpu,
		      __entry->tsg ? "tsg" : "channel", __entry->id,
		      __entry->recover ? "recover" : "look", __entry->ns));

/* @why is a constant string of this module */
TRACE_EVENT(kvgpu_strike, TP_PROTO(u32 vgpu, const char *why, u64 total, bool suspended),
	    TP_ARGS(vgpu, why, total, suspended),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(const char *, why) __field(u64, total)
				     __field(bool, suspended)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->why = why; __entry->total = total;
			   __entry->suspended = suspended;),
	    TP_printk("vgpu=%u %s total=%llu%s", __entry->vgpu, __entry->why, __entry->total,
		      __entry->suspended ? " suspended" : ""));

TRACE_EVENT(kvgpu_irq, TP_PROTO(u32 vgpu, bool msi), TP_ARGS(vgpu, msi),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(bool, msi)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->msi = msi;),
	    TP_printk("vgpu=%u %s", __entry->vgpu, __entry->msi ? "msi" : "intx"));

TRACE_EVENT(kvgpu_map, TP_PROTO(u32 vgpu, u32 region, u64 off, unsigned long pfn, u32 nr),
	    TP_ARGS(vgpu, region, off, pfn, nr),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u32, region) __field(u64, off)
				     __field(unsigned long, pfn) __field(u32, nr)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->region = region; __entry->off = off;
			   __entry->pfn = pfn; __entry->nr = nr;),
	    TP_printk("vgpu=%u bar=%u off=0x%llx pfn=0x%lx pages=%u", __entry->vgpu,
		      __entry->region, __entry->off, __entry->pfn, __entry->nr));

TRACE_EVENT(kvgpu_zap, TP_PROTO(u32 vgpu, u32 region, u64 off, u64 len),
	    TP_ARGS(vgpu, region, off, len),
	    TP_STRUCT__entry(__field(u32, vgpu) __field(u32, region) __field(u64, off)
				     __field(u64, len)),
	    TP_fast_assign(__entry->vgpu = vgpu; __entry->region = region; __entry->off = off;
			   __entry->len = len;),
	    TP_printk("vgpu=%u bar=%u off=0x%llx len=0x%llx", __entry->vgpu, __entry->region,
		      __entry->off, __entry->len));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH mdev
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
