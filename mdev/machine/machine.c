// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine behind a vGPU's registers: its life, and the entry for register accesses. machine.h
 * says what holds after each step of that life.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gk110/bar.h"
#include "gk110/map.h"
#include "gk110/ptimer.h"
#include "gk110/vbios.h"
#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* ---------------------------------------------------- the guest's reads and writes of registers */

/*
 * Returns PTIMER's time in ns for an access to register @reg; 0 if accesses of @reg do not need it.
 */
static u64 reg_time_get(struct kvgpu_vgpu *v, u32 reg)
{
	switch (reg) {
	case PTIMER_TIME_LOW:
	case PTIMER_TIME_HIGH:
	case PTIMER_ALARM:
	case PTIMER_INTR_EN:
	case PFIFO_TIME_LOW:
	case PFIFO_TIME_HIGH:
		return vmach_ptimer_read(v->gpu);
	default:
		return 0;
	}
}

/* Returns how many accesses mmio-trap has counted as unlisted or denied. */
static u64 nr_odd_regs(const struct kvgpu_vgpu *v)
{
	return v->m->trap.nr_unlisted + v->m->trap.nr_denied;
}

u32 kvgpu_machine_reg_read(struct kvgpu_vgpu *v, u32 reg)
{
	u64 odd = nr_odd_regs(v);
	u32 val;

	lockdep_assert_held(&v->lock);
	/* do the flushes that the guest has asked for before it reads whether they are done */
	if (reg - HOST_FLUSH_BASE < HOST_FLUSH_SIZE)
		vmach_flush_page_serve(v);
	val = kvgpu_trap_read(&v->m->trap, reg, reg_time_get(v, reg));
	if (nr_odd_regs(v) != odd)
		trace_kvgpu_odd_register(v->id, reg, val, false);
	vmach_events_deliver(v);
	return val;
}

void kvgpu_machine_reg_write(struct kvgpu_vgpu *v, u32 reg, u32 val, u32 be)
{
	u64 odd = nr_odd_regs(v);
	struct kvgpu_cmd cmd;

	lockdep_assert_held(&v->lock);
	kvgpu_trap_write(&v->m->trap, reg, val, be, reg_time_get(v, reg), &cmd);
	if (nr_odd_regs(v) != odd)
		trace_kvgpu_odd_register(v->id, reg, val, true);
	if (cmd.kind != KVGPU_CMD_NONE) {
		trace_kvgpu_command(v->id, reg, cmd.kind, val, be);
		vmach_command_run(v, &cmd);
	}
	vmach_waits_update(v);
	v->m->event.irq_changed |= cmd.irq;
	vmach_events_deliver(v);
}

/* ------------------------------------------------- create, open, close, reset and remove a vGPU */

/*
 * Removes the entries that lead to guest memory from @iova on, @len bytes. True: some did; call
 * vmach_shadow_commit().
 */
static bool entries_remove(struct kvgpu_vgpu *v, u64 iova, u64 len)
{
	struct kvgpu_space *sp;
	bool changed;

	kvgpu_shadow_unmap(&v->m->mem.shadow, (iova_t){ iova }, len, &changed);
	list_for_each_entry(sp, &v->m->mem.spaces, node)
		sp->flush |= changed;
	return changed;
}

/* Unbinds all channels, removes all shadows, unpins all pages of the guest, drops its events. */
static void guest_stop(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	m->pin.allowed = false;
	vmach_chans_stop(v);
	vmach_spaces_drop(v);
	entries_remove(v, 0, U64_MAX);
	vmach_windows_close(v);
	vmach_shadow_commit(v);
	vmach_due_pages_unpin(v, 0, U64_MAX);
	WARN_ON_ONCE(!xa_empty(&m->pin.pages) || !list_empty(&m->mem.spaces) ||
		     !list_empty(&m->mem.grctxs));
	vmach_events_reset(v);
}

/* So that no data of an earlier user is left (S4 of docs/invariants.md). */
static int part_scrub(struct kvgpu_vgpu *v)
{
	int ret;

	if (vmach_gpu_lost(v->gpu))
		return -EIO;
	ret = kvgpu_hw_fill(&v->gpu->hw, v->part, v->part_size, 0);
	v->m->mem.scrubbed = !ret;
	memset_io(v->m->mem.scrap.cpu, 0, PAGE_SIZE);
	return ret;
}

/* Makes registers, windows and the vGPU's own memory (struct vgpu_own) as after power-on. */
static void guest_power_on(struct kvgpu_vgpu *v)
{
	const struct kvgpu_hw *hw = &v->gpu->hw;
	struct vgpu_own *rom = &v->own[VGPU_OWN_ROM];

	/* copy the ROM anew: a guest may have written to its mapping of the ROM */
	memcpy(rom->memory, hw->vbios, hw->vbios_size);
	memset(rom->memory + hw->vbios_size, 0, rom->size - hw->vbios_size);
	memset(v->own[VGPU_OWN_FLUSH].memory, 0, HOST_FLUSH_SIZE);
	kvgpu_trap_reset(&v->m->trap);
	vmach_waits_update(v);
	vmach_windows_reset(v);
	v->m->pin.allowed = true;
}

static void init_trap(struct kvgpu_vgpu *v)
{
	struct kvgpu_hw *hw = &v->gpu->hw;
	struct kvgpu_trap_cfg cfg = {
		.topo = &hw->topo,
		.vram_size = v->part_size,
		.gr_ctx_size = vmach_grctx_size(hw),
		.vbios = v->own[VGPU_OWN_ROM].memory,
		.vbios_size = hw->vbios_size,
		.plain = (u32 *)v->own[VGPU_OWN_PLAIN].memory,
		.mmu = (u32 *)v->own[VGPU_OWN_MMU].memory,
	};

	kvgpu_trap_init(&v->m->trap, &cfg, v->m->mem.slots);
}

/* Allocates the slots of the register file, and the vGPU's own memory. */
static int own_alloc(struct kvgpu_vgpu *v)
{
	const struct vgpu_own own[VGPU_NR_OWN] = {
		[VGPU_OWN_FLUSH] = { HOST_FLUSH_BASE, HOST_FLUSH_SIZE },
		[VGPU_OWN_PLAIN] = { KVGPU_TRAP_PLAIN_BASE, KVGPU_TRAP_PLAIN_SIZE },
		[VGPU_OWN_ROM] = { PROM_BASE, PAGE_ALIGN(v->gpu->hw.vbios_size) },
		[VGPU_OWN_MMU] = { KVGPU_TRAP_MMU_BASE, KVGPU_TRAP_MMU_SIZE },
	};
	unsigned int i;

	v->m->mem.slots = kvcalloc(KVGPU_TRAP_SLOTS, sizeof(*v->m->mem.slots), GFP_KERNEL_ACCOUNT);
	if (!v->m->mem.slots)
		return -ENOMEM;
	for (i = 0; i < VGPU_NR_OWN; i++) {
		v->own[i] = own[i];
		v->own[i].memory = __vmalloc(own[i].size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!v->own[i].memory)
			return -ENOMEM;
	}
	return 0;
}

static void guest_machine_free(struct kvgpu_vgpu *v)
{
	unsigned int i;

	vmach_windows_fini(v);
	vmach_memory_fini(v);
	vmach_runlists_fini(v);
	for (i = 0; i < VGPU_NR_OWN; i++)
		vfree(v->own[i].memory);
	kvfree(v->m->mem.slots);
	kvfree(v->m);
	v->m = NULL;
}

/* Puts a machine on chip->live, where interrupts and the slicer find it. Tells the policy of it. */
static void live_list_add(void *arg)
{
	struct kvgpu_machine *m = arg;
	struct kvgpu_vgpu *v = m->v;
	struct kvgpu_chip *chip = v->gpu->chip;
	struct machine_slice *sl;

	spin_lock(&chip->event_lock);
	list_add_tail(&m->node, &chip->live);
	for_each_slice(sl, m)
		list_add_tail(&sl->node, &sl->runl->slices);
	spin_unlock(&chip->event_lock);
	spin_lock(&chip->slicer.lock);
	for_each_slice(sl, m) {
		sl->ent.weight = KVGPU_SCHED_WEIGHT_DEFAULT;
		sl->ent.cap = KVGPU_SCHED_CAP_NONE;
		sl->ent.fixed_ppm = vmach_share_get(v, KVGPU_SCHED_PPM);
		kvgpu_sched_add(&sl->runl->sched, &sl->ent, ktime_get_ns());
	}
	spin_unlock(&chip->slicer.lock);
	vmach_slicer_kick(v->gpu);
}

/* Takes a vGPU's list from its runlist, and the policy of that knows the vGPU no more. */
static void slice_remove(struct machine_slice *sl)
{
	struct machine_runl *r = sl->runl;

	spin_lock(&r->chip->event_lock);
	list_del(&sl->node);
	if (r->lists.owner == sl)
		r->lists.owner = NULL;
	spin_unlock(&r->chip->event_lock);
	if (r->samples.payer == sl)
		vmach_payer_set(r, NULL, 0);
	spin_lock(&r->chip->slicer.lock);
	kvgpu_sched_remove(&r->sched, &sl->ent, ktime_get_ns());
	spin_unlock(&r->chip->slicer.lock);
	r->lists.stale = true;
	vmach_runlist_merge(r);
}

/* Undoes live_list_add(). */
static void live_list_remove(void *arg)
{
	struct kvgpu_machine *m = arg;
	struct kvgpu_gpu *gpu = m->v->gpu;
	struct machine_slice *sl;

	spin_lock(&gpu->chip->event_lock);
	list_del(&m->node);
	spin_unlock(&gpu->chip->event_lock);
	for_each_slice(sl, m)
		slice_remove(sl);
	vmach_slicer_kick(gpu);
}

int kvgpu_machine_vgpu_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = kvzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!m)
		return -ENOMEM;
	v->m = m;
	m->v = v;
	m->view.userd_bar1 = ~0ull;
	xa_init_flags(&m->ids.chans, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&m->mem.grctxs);
	memset(m->ids.block, 0xff, sizeof(m->ids.block));
	memset(m->runl.htsg, 0xff, sizeof(m->runl.htsg));
	mutex_lock(&v->lock);
	ret = vmach_memory_init(v);
	ret = ret ?: vmach_runlists_init(v);
	ret = ret ?: own_alloc(v);
	ret = ret ?: part_scrub(v);
	ret = ret ?: vmach_windows_init(v);
	mutex_unlock(&v->lock);
	if (ret) {
		guest_machine_free(v);
		return ret;
	}
	init_trap(v);
	vmach_events_init(m);
	vmach_slicer_call(v->gpu, live_list_add, m);
	return 0;
}

void kvgpu_machine_vgpu_fini(struct kvgpu_vgpu *v)
{
	vmach_slicer_call(v->gpu, live_list_remove, v->m);
	vmach_events_fini(v->m);
	mutex_lock(&v->lock);
	guest_stop(v);
	if (part_scrub(v))
		dev_err(v->vdev.dev,
			"video memory of the vGPU was not scrubbed; it is before it is used again\n");
	mutex_unlock(&v->lock);
	guest_machine_free(v);
}

int kvgpu_machine_vgpu_open(struct kvgpu_vgpu *v)
{
	int ret = vmach_gpu_lost(v->gpu) ? -EIO : vmach_unmap_open(v);

	lockdep_assert_held(&v->lock);
	if (!ret && !v->m->mem.scrubbed)
		ret = part_scrub(v);
	if (ret)
		return ret;
	v->m->mem.scrubbed = false;
	/* drop a debt in the budget for signals to the VMM, which the last tenant caused */
	v->m->event.signals.bucket.left = max_t(s64, v->m->event.signals.bucket.left, 0);
	/* do not count the last tenant's interrupts against this tenant */
	spin_lock(&v->gpu->chip->event_lock);
	v->m->event.intrs = (struct intr_budget){};
	spin_unlock(&v->gpu->chip->event_lock);
	kvgpu_machine_strikes_clear(v);
	/* no mapping of the VMM before this one is left */
	v->m->dirty.mmu_shown = v->m->dirty.mmu_mapped = false;
	guest_power_on(v);
	return 0;
}

void kvgpu_machine_vgpu_close(struct kvgpu_vgpu *v)
{
	lockdep_assert_held(&v->lock);
	guest_stop(v);
}

void kvgpu_machine_vgpu_reset(struct kvgpu_vgpu *v)
{
	lockdep_assert_held(&v->lock);
	guest_stop(v);
	kvgpu_machine_strikes_clear(v);
	guest_power_on(v);
}

void kvgpu_machine_dma_unmap(struct kvgpu_vgpu *v, u64 iova, u64 len)
{
	bool changed;

	if (!len)
		return;
	mutex_lock(&v->lock);
	if (vmach_unmap_note(v, iova)) {
		iova = 0;
		len = ULONG_MAX;
	}
	changed = entries_remove(v, iova, len);
	trace_kvgpu_unmap(v->id, iova, len, changed);
	if (changed) {
		vmach_shadow_commit(v);
		vmach_mmu_hide(v); /* so that an invalidate tries the entries again */
	}
	vmach_due_pages_unpin(v, iova, iova + len - 1);
	vmach_events_deliver(v);
	if (v->m->event.irq_changed)
		kvgpu_mdev_irq_update(v);
	mutex_unlock(&v->lock);
}

/* ----------------------------------- set up, start, stop and free the machine's state of a card */

void kvgpu_machine_gpu_fini(struct kvgpu_gpu *gpu)
{
	if (gpu->chip->wq.unpin)
		destroy_workqueue(gpu->chip->wq.unpin);
	if (gpu->chip->wq.event)
		destroy_workqueue(gpu->chip->wq.event);
	kvfree(gpu->chip);
	gpu->chip = NULL;
}

int kvgpu_machine_gpu_init(struct kvgpu_gpu *gpu)
{
	struct kvgpu_chip *chip = kvzalloc(sizeof(*chip), GFP_KERNEL);

	if (!chip)
		return -ENOMEM;
	gpu->chip = chip;
	/* not bound to a CPU, so that a slow work item does not delay the items of other vGPUs */
	chip->wq.event = alloc_workqueue("kvgpu-events", WQ_UNBOUND | WQ_HIGHPRI, 0);
	chip->wq.unpin = alloc_workqueue("kvgpu-unpin", WQ_UNBOUND, 0);
	if (!chip->wq.event || !chip->wq.unpin) {
		kvgpu_machine_gpu_fini(gpu);
		return -ENOMEM;
	}
	chip->gpu = gpu;
	INIT_LIST_HEAD(&chip->live);
	hash_init(chip->by_inst);
	spin_lock_init(&chip->event_lock);
	spin_lock_init(&chip->time.lock);
	vmach_nonstall_init(chip);
	vmach_slicer_init(chip);
	return 0;
}

int kvgpu_machine_gpu_start(struct kvgpu_gpu *gpu)
{
	struct kvgpu_vram *dummy_page = &gpu->chip->pool.dummy_page;
	int ret = kvgpu_hw_vram_alloc(&gpu->hw, PAGE_SIZE, PAGE_SIZE, dummy_page);

	if (ret)
		return ret;
	memset_io(dummy_page->cpu, 0, PAGE_SIZE);
	gpu->chip->pool.size = kvgpu_hw_vram_left(&gpu->hw);
	ret = vmach_slicer_start(gpu);
	if (ret)
		kvgpu_hw_vram_free(&gpu->hw, dummy_page);
	return ret;
}

void kvgpu_machine_gpu_stop(struct kvgpu_gpu *gpu)
{
	vmach_slicer_stop(gpu);
	kvgpu_hw_vram_free(&gpu->hw, &gpu->chip->pool.dummy_page);
}
