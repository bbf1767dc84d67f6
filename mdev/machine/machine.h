/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the machine that the VFIO face calls. The machine (mdev/machine/) is all that is
 * behind a vGPU's registers and BARs. The VFIO face is the files in mdev/ itself. vgpu->lock is
 * held in all functions of a vGPU unless noted.
 *
 * Words. The partition is the vGPU's part of the card's video memory. A shadow is a page table or
 * an instance block that the host makes from the guest's, and that the chip uses instead. (An
 * instance block describes a channel to the chip.) A window is the vGPU's slice of BAR1 or BAR3.
 * The scrap page is what a window shows where the guest has mapped no memory. A page is dirty if
 * the CPU may have written to it (dirty.c). PRAMIN is 1 MiB of BAR0 that shows video memory at an
 * address that the guest chooses. A vGPU gets strikes for harm to other vGPUs; too many suspend it:
 * it may not run (strike.c). The slicer (slice.c) gives the chip to vGPUs in turns; the sampler
 * (usage.c) reads the engines' status at random times, to find vGPUs at work. Both are threads.
 */
#ifndef KVGPU_MDEV_MACHINE_MACHINE_H
#define KVGPU_MDEV_MACHINE_MACHINE_H

#include "sched/sched.h"
#include "mdev/vgpu.h"

/**
 * kvgpu_machine_vgpu_init() - make the machine of a vGPU
 * @v: the vGPU; its constant members are set, and it is not on gpu->vgpus yet
 *
 * Scrubs the partition, and makes the vGPU known to the slicer and to the handlers of interrupts.
 * After an error the caller has nothing to undo.
 *
 * Context: process, no lock held.
 * Return: 0 or a negative error code.
 */
int kvgpu_machine_vgpu_init(struct kvgpu_vgpu *v);
/**
 * kvgpu_machine_vgpu_fini() - end the machine of a vGPU
 * @v: the vGPU, off gpu->vgpus
 *
 * Takes the vGPU's channels off the chip, releases its pins and scrubs the partition. If the card
 * is lost or the fill fails, the partition is not scrubbed, and the log says so; a vGPU that
 * gets that memory later scrubs it first.
 *
 * Context: process, no lock held.
 */
void kvgpu_machine_vgpu_fini(struct kvgpu_vgpu *v);
/*
 * Scrubs (fills with zeros) the partition if the vGPU was open before, clears strikes and
 * suspension, and makes registers and windows as after power-on. Returns 0; -EIO if the card is cut
 * off; -EBUSY if another process opened the vGPU last, and a thread that has asked the vGPU to
 * unpin memory is still in its unmap (unmap.c); or the error of the scrub.
 */
int kvgpu_machine_vgpu_open(struct kvgpu_vgpu *v);
/* unbinds all channels, removes all shadows, unpins all guest memory */
void kvgpu_machine_vgpu_close(struct kvgpu_vgpu *v);
/*
 * Does what close and open do, but video memory keeps its contents. After this, and after
 * kvgpu_machine_vgpu_open(), the caller sets the words of the configuration space by
 * kvgpu_machine_config_set(), and calls kvgpu_mdev_irq_update().
 */
void kvgpu_machine_vgpu_reset(struct kvgpu_vgpu *v);
/*
 * Read or write one register of BAR0 outside of PRAMIN. @reg is a multiple of 4. @be is a mask: it
 * is 0xff in each byte of @val that the guest writes. Both functions deliver waiting events to the
 * guest. When kvgpu_machine_irq_changed() then says so, the caller calls kvgpu_mdev_irq_update().
 */
u32 kvgpu_machine_reg_read(struct kvgpu_vgpu *v, u32 reg);
void kvgpu_machine_reg_write(struct kvgpu_vgpu *v, u32 reg, u32 val, u32 be);
/*
 * Tells whether the line's level or a message may have changed since kvgpu_machine_irq_get() was
 * last called with @edge.
 */
bool kvgpu_machine_irq_changed(struct kvgpu_vgpu *v);
/*
 * Returns the level of the guest's interrupt line. Sets *@edge to whether a message (MSI) is due,
 * and forgets that it is. It becomes due when the line rises, and when the guest re-arms MSI while
 * the line is up. If @edge is NULL, a message that is due stays due for the next call.
 */
bool kvgpu_machine_irq_get(struct kvgpu_vgpu *v, bool *edge);
/*
 * Call it when the word at offset @off of the configuration space has changed to @val: BAR0 shows
 * that word, too.
 */
void kvgpu_machine_config_set(struct kvgpu_vgpu *v, u32 off, u32 val);
/*
 * Call it before a guest's write to a region is carried out. While the vGPU may pin no memory
 * because its VMM unmaps memory (unmap.c), this waits for a short time. vgpu->lock is not held.
 */
void kvgpu_machine_unmap_wait(struct kvgpu_vgpu *v);
/*
 * Has a work item (m->event.work) call kvgpu_mdev_irq_update() soon. It may come late: the work
 * item only tries vgpu->lock, and has a budget of CPU time. Any context.
 */
void kvgpu_machine_irq_signal(struct kvgpu_vgpu *v);
/*
 * Call it when the VMM unmaps guest memory: [@iova, @iova + @len). Returns when the GPU can't reach
 * that memory any more, and it is unpinned. vgpu->lock is not held.
 */
void kvgpu_machine_dma_unmap(struct kvgpu_vgpu *v, u64 iova, u64 len);
/**
 * kvgpu_machine_pfn_find() - find the page frame behind a page of a region
 * @v: the vGPU
 * @region: 0 (only its PRAMIN and the page of the MMU's registers), 1 or 3
 * @off: offset of a page in the BAR, bytes
 * @pfn: the frame: a page of the card's BAR1 or BAR3, which shows a page of video memory or, if the
 *   guest's tables say so, of the guest's system memory
 *
 * If the frame shows a page of a guest's table, marks that page dirty (dirty.c), because the CPU
 * may write to it from now on. A page fault maps the frame before it releases map_lock. Code that
 * changes the frame of a page does so under map_lock, and removes the CPU mappings afterwards. Code
 * that changes the note of what a frame shows marks what the frame shows then.
 *
 * Context: page fault without vgpu->lock; vgpu->map_lock held. Does not sleep.
 * Return: 0; -EAGAIN if the caller must call kvgpu_machine_fault_serve() first; or -EFAULT if no
 *   page of the region is at @off; a page fault then ends in SIGBUS. Where the guest has mapped no
 *   memory, the frame shows the scrap page.
 */
int kvgpu_machine_pfn_find(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn);
/*
 * Call it with vgpu->lock for a page fault for which kvgpu_machine_pfn_find() has returned -EAGAIN:
 * shows or hides the page of the MMU's registers (dirty.c). Another thread may undo that before the
 * next fault.
 */
void kvgpu_machine_fault_serve(struct kvgpu_vgpu *v, unsigned int region, u64 off);
/*
 * As kvgpu_machine_pfn_find(), but returns false, and marks no page, if the frame shows a page of a
 * guest's table. A page fault maps such frames beside the one that it was for.
 */
bool kvgpu_machine_pfn_find_plain(struct kvgpu_vgpu *v, unsigned int region, u64 off,
				  unsigned long *pfn);
/*
 * Does a read() or write() of the VMM at bytes [@off, @off + @len) of a region, inside one page:
 * accesses the frame that kvgpu_machine_pfn_find() finds, by the host's own mapping, and marks what
 * it shows dirty. Returns 0, or -EFAULT if no page of the region is there.
 */
int kvgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf,
			     size_t len, bool write);

/* Handlers of the chip's reports (struct kvgpu_hw_events), for all vGPUs of a card (event.c). */
extern const struct kvgpu_hw_events kvgpu_machine_events;
/*
 * Call kvgpu_machine_gpu_init() before kvgpu_hw_init(), which may report events. Call
 * kvgpu_machine_gpu_fini() after kvgpu_hw_fini().
 */
int kvgpu_machine_gpu_init(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_fini(struct kvgpu_gpu *gpu);
/*
 * Start and stop the slicer and the sampler; take and free chip->pool.dummy_page (internal.h). Call
 * kvgpu_machine_gpu_start() before a vGPU can be created, kvgpu_machine_gpu_stop() after the last
 * vGPU is gone.
 */
int kvgpu_machine_gpu_start(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_stop(struct kvgpu_gpu *gpu);
/* True: channels that can only copy run beside the others, on a copy engine. After the start. */
bool kvgpu_machine_copies_apart(const struct kvgpu_gpu *gpu);
/* The card is lost for its vGPUs: cuts it off from system memory. Any context. */
void kvgpu_machine_gpu_cut_off(struct kvgpu_gpu *gpu);

/* ---------- counters and knobs for sysfs (stats.c), state for debugfs (show.c); no lock is held */

/*
 * Counters and knobs of a vGPU, for sysfs.c, of all its runlists together. .preempts: the vGPU's
 * channels and groups that had to leave the chip in switches of the slicer. .preempt_ns: ns that
 * all of them took to leave; for the first of a switch, the time counts from the slicer's poll
 * before the switch. .preempt_ns_max: the longest of these times. .cap: per cent of the GPU's time.
 */
struct machine_stats {
	u64 registers_unlisted, registers_denied;
	u64 syncs, tables_read, bytes_read, entries_compared, entries_written, entries_rejected;
	u64 tlb_flushes, spaces_kept, pinned_pages, doorbells_trapped;
	u64 slices, preempts, preempt_ns, preempt_ns_max, strikes;
	u32 weight, cap;
	bool runnable, suspended;
};

enum machine_knob { MACHINE_WEIGHT, MACHINE_CAP };

void kvgpu_machine_stats_get(const struct kvgpu_vgpu *v, struct machine_stats *st);
/* ns charged up to now: for GR's runlist, and for a copy engine's alone, 0 if the card has none */
u64 kvgpu_machine_gpu_time_get(const struct kvgpu_vgpu *v);
u64 kvgpu_machine_copy_time_get(const struct kvgpu_vgpu *v);
u32 kvgpu_machine_entitlement_get(const struct kvgpu_vgpu *v); /* ppm of the GPU's time */
/* returns 0, or -ERANGE without a change if @val is out of range */
int kvgpu_machine_knob_set(struct kvgpu_vgpu *v, enum machine_knob knob, unsigned int val);
/* clears strikes and suspension; vgpu->lock is held or not */
void kvgpu_machine_strikes_clear(struct kvgpu_vgpu *v);

/* Counters and knobs of a card, for sysfs.c. */
struct machine_gpu_stats {
	enum kvgpu_sched_policy_id policy;
	u64 slice_us, busy_ns, copy_busy_ns, switches; /* .switches: on all runlists */
	unsigned int watchdog_ms;
	bool lost; /* cut off: nothing runs on the card until it is reset and bound anew */
};

enum machine_gpu_knob { MACHINE_POLICY, MACHINE_SLICE_US, MACHINE_WATCHDOG_MS };

void kvgpu_machine_gpu_stats_get(const struct kvgpu_gpu *gpu, struct machine_gpu_stats *st);
/*
 * Returns 0, or -ERANGE without a change if @val is out of range. The caller checks the range of
 * MACHINE_WATCHDOG_MS.
 */
int kvgpu_machine_gpu_knob_set(struct kvgpu_gpu *gpu, enum machine_gpu_knob knob, unsigned int val);

/*
 * The parts of a vGPU's state that kvgpu_machine_vgpu_show() prints to files of debugfs. It returns
 * -EINTR if the reader was interrupted.
 */
enum machine_show {
	MACHINE_STATE,
	MACHINE_CHANNELS,
	MACHINE_SHADOW,
	MACHINE_REGISTERS,
	MACHINE_UNLISTED,
	MACHINE_HARDWARE
};

struct seq_file;
int kvgpu_machine_vgpu_show(struct kvgpu_vgpu *v, struct seq_file *s, enum machine_show what);
/* prints the policy's knobs, the chip's state, and a line for each vGPU */
void kvgpu_machine_gpu_show(struct kvgpu_gpu *gpu, struct seq_file *s);
/* prints how many blocks of eight channel ids, and how many ids of TSGs, are in use */
void kvgpu_machine_gpu_ids_show(struct kvgpu_gpu *gpu, struct seq_file *s);

#endif
