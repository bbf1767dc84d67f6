// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels. When a guest binds a channel, the host binds a channel of the chip, with a shadow
 * instance block that is made here. The doorbells (USERD areas) of an id block share a page. The
 * channel's id on the chip is from an id block that belongs to this vGPU alone. So no page has
 * doorbells of two vGPUs.
 *
 * The runlist. A guest sees all engines on runlist 0, may use GR and a copy engine in one channel,
 * and does not say at the bind which of them it will use. On the card GR's runlist also serves a
 * copy engine. So a channel with a graphics context is on GR's runlist. One without can only copy,
 * and is on the runlist of a copy engine alone if the card has one (vmach_chan_place()). nouveau
 * gives a channel its context after the bind, by an enable (below): then the channel moves.
 *
 * A guest may change the page directory, the limit and the graphics context in its instance block
 * after the bind. The change takes effect when the host reads the block again in
 * vmach_chan_resync(): at an enable of the channel, at a submit of the runlist if the list before
 * did not have the channel, and when the guest allows a blocked runlist again (gk110/facts.md).
 * The channel's space is brought up to date then, too.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* how often an unbind is tried before all engines of the runlist are reset */
#define UNBIND_TRIES 50
/* context address in the shadow instance block of a channel that has no context */
#define NO_CONTEXT_VA KVGPU_SPACE_END
/* bytes of a guest's instance block that the host reads */
#define INST_READ (RAMIN_GR_CTX + 8)

/* ----------------- add channels to the tables by id and by instance block, find and remove them */

struct kvgpu_chan *vmach_chan_find(struct kvgpu_vgpu *v, gchid_t id)
{
	return xa_load(&v->m->ids.chans, id.v);
}

/* Enters a channel in the tables by id and by instance block, then binds it on the chip. */
static void chip_bind(void *arg)
{
	struct kvgpu_chan *c = arg;
	struct kvgpu_gpu *gpu = c->vgpu->gpu;

	spin_lock(&gpu->chip->event_lock);
	gpu->chip->by_hchid[c->hchid.v] = c;
	hash_add(gpu->chip->by_inst, &c->by_inst, c->host.inst.at.v);
	spin_unlock(&gpu->chip->event_lock);
	kvgpu_hw_chan_bind(&gpu->hw, c->hchid, c->host.inst.at.v, c->slice->runl->id);
}

/* Removes a channel, which is off the chip, from the tables by id and by instance block. */
static void chip_forget(void *arg)
{
	struct kvgpu_chan *c = arg;
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	struct kvgpu_chip *chip = gpu->chip;

	spin_lock(&chip->event_lock);
	chip->by_hchid[c->hchid.v] = NULL;
	/* recovery finds the channel no more: end what a late fault of it has stopped */
	if (test_and_clear_bit(c->hchid.v, chip->recover_chans) && !vmach_gpu_lost(gpu))
		kvgpu_hw_runl_clear_error(&gpu->hw, c->slice->runl->id);
	hash_del(&c->by_inst);
	spin_unlock(&chip->event_lock);
	vmach_storm_strike(c);
}

/* ------------------------------------------- give a channel its id of the chip and its doorbell */

/* Notes that vGPU @vgpu (0: none) has id block @h of the chip. event_lock is held. */
static void note_ids(struct kvgpu_chip *chip, u32 h, u32 vgpu)
{
	u32 i;

	for (i = 0; i < KVGPU_ID_BLOCK; i++)
		WRITE_ONCE(chip->has_id[0][h * KVGPU_ID_BLOCK + i], vgpu);
}

/*
 * Returns the chip's id block for the guest's id block @g. If @g has none yet, takes a free id
 * block, which the caller notes by vmach_userd_show(). -ENOSPC: none is free, or the vGPU has its
 * share.
 */
static int id_block_take(struct kvgpu_vgpu *v, u16 g)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_chip *chip = v->gpu->chip;
	u32 h = 1; /* block 0 is the host's */

	if (m->ids.block[g] >= 0)
		return m->ids.block[g];
	if (m->ids.nr_blocks >= vmach_id_blocks_get(v))
		return -ENOSPC;
	spin_lock(&chip->event_lock);
	while (h < KVGPU_NR_ID_BLOCKS && chip->has_id[0][h * KVGPU_ID_BLOCK])
		h++;
	if (h < KVGPU_NR_ID_BLOCKS)
		note_ids(chip, h, v->id);
	spin_unlock(&chip->event_lock);
	if (h >= KVGPU_NR_ID_BLOCKS)
		return -ENOSPC;
	m->ids.nr_blocks++;
	m->view.userd_page[g] = NO_PAGE;
	return h;
}

/*
 * Gives all id blocks of the vGPU back. The card's doorbells of these ids show a page of the host
 * afterwards that no vGPU has.
 */
static void id_blocks_give(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	u32 g;
	int h;

	if (m->ids.nr_blocks)
		WRITE_ONCE(m->ids.given, ktime_get_ns());
	for (g = 0; g < KVGPU_NR_ID_BLOCKS && m->ids.nr_blocks; g++) {
		h = m->ids.block[g];
		if (h < 0)
			continue;
		vmach_userd_show(v, g, -1, NO_PAGE);
		if (!vmach_gpu_lost(v->gpu) &&
		    kvgpu_hw_userd_page(&v->gpu->hw, h, v->gpu->chip->pool.dummy_page.at))
			vmach_gpu_declare_lost(v->gpu, "doorbells show what they showed before");
		spin_lock(&v->gpu->chip->event_lock);
		note_ids(v->gpu->chip, h, 0);
		m->ids.nr_blocks--;
		spin_unlock(&v->gpu->chip->event_lock);
	}
}

/*
 * Takes a chip's id for the channel. Makes the card's doorbells of the id's block show the
 * guest's USERD page, and the guest's BAR1 show those doorbells. If channels of one id block
 * have USERD in different pages, the doorbells show the page of the channel that was bound last.
 * -EINVAL: USERD is not in the vGPU's partition of video memory, or not where the id has it in a
 * page. -EIO: the card's doorbells could not be changed, and the card was lost.
 */
static int take_userd(struct kvgpu_chan *c)
{
	struct kvgpu_vgpu *v = c->vgpu;
	u16 g = c->gchid.v / KVGPU_ID_BLOCK;
	u64 page = c->guest.block.userd.addr >> PAGE_SHIFT;
	int h;

	if (c->guest.block.userd.target != KVGPU_VRAM ||
	    c->guest.block.userd.addr >= v->part_size ||
	    offset_in_page(c->guest.block.userd.addr) != c->gchid.v % KVGPU_ID_BLOCK * USERD_SIZE)
		return -EINVAL;
	h = id_block_take(v, g);
	if (h < 0)
		return h;
	c->hchid.v = h * KVGPU_ID_BLOCK + c->gchid.v % KVGPU_ID_BLOCK;
	if (v->m->view.userd_page[g] == page)
		return 0;
	/* change the card's doorbells first: if that fails, the guest must not see them */
	if (kvgpu_hw_userd_page(&v->gpu->hw, h, (hvram_t){ v->part.v + (page << PAGE_SHIFT) })) {
		vmach_gpu_declare_lost(v->gpu, "doorbells show what they showed before");
		return -EIO;
	}
	vmach_userd_show(v, g, h, page);
	return 0;
}

/* ------------------------------- read a guest's instance block, write the shadow instance block */

/* Reads the guest's instance block into @block, of RAMIN_SIZE bytes, and decodes it into @g. */
static int read_inst(struct kvgpu_chan *c, u32 *block, struct kvgpu_inst_guest *g)
{
	const char *why;
	int ret;

	memset(block, 0, RAMIN_SIZE);
	ret = vmach_guest_read(c->vgpu, c->guest.inst, block, INST_READ);
	if (ret)
		return ret;
	ret = kvgpu_shadow_inst_decode(block, g, &why);
	g->limit = min(g->limit, NO_CONTEXT_VA - 1);
	if (!ret && g->gr_ctx && !g->gr_ctx_virtual)
		/* there the host could not replace the guest's context image by its own */
		ret = -EINVAL;
	return ret;
}

/*
 * Builds the shadow instance block in @out, which is scratch memory, and writes its bytes from
 * @from to @end to video memory.
 *
 * FECS, GR's microcontroller that switches contexts, must not load a context image that a guest
 * made. But it loads an image from any address in the instance block, even from 0. So a channel
 * without a context gets an address that no guest can map, NO_CONTEXT_VA: its GR methods fault.
 */
static int write_inst(struct kvgpu_chan *c, const u32 *guest_block, u32 *out, u32 from, u32 end)
{
	struct kvgpu_inst_guest g = c->guest.block;
	struct kvgpu_inst_host h = {
		.chid = c->hchid,
		.userd = c->vgpu->part.v + g.userd.addr,
		.pd = kvgpu_shadow_as_pd_get(c->space->as),
	};

	g.gr_ctx = c->gr ? c->gr->va : NO_CONTEXT_VA;
	kvgpu_shadow_inst_build(guest_block, &g, &h, out);
	memcpy_toio(c->host.inst.cpu + from, (u8 *)out + from, end - from);
	return kvgpu_hw_flush_writes(&c->vgpu->gpu->hw);
}

/* ----------------------- resync: apply what the guest has changed in a channel's instance block */

/* Disables @c and its group on the chip, until vmach_chans_restart(). */
static void chan_hold(struct kvgpu_chan *c)
{
	struct kvgpu_vgpu *v = c->vgpu;
	struct kvgpu_chan *o;
	unsigned long id;

	xa_for_each(&v->m->ids.chans, id, o) {
		if (o->held || !vmach_chan_same_group(c, o))
			continue;
		o->held = true;
		vmach_hchan_enable(o, false);
	}
}

static void hung_end(void *arg)
{
	struct kvgpu_chan *c = arg;

	vmach_chan_isolate(c, EVENT_SCHED);
}

/*
 * The caller is to change the channel's instance block or group. Disables the channel before the
 * preempt: a preempt alone does not keep a channel off the chip, because the chip loads an enabled
 * and listed channel again at once.
 */
bool vmach_chan_step_off(struct kvgpu_chan *c)
{
	bool off;

	if (!c->ran)
		return true;
	chan_hold(c);
	off = !vmach_chan_preempt_wait(c->slice, vmach_chan_hid(c)) && !vmach_chan_loaded(c);
	if (!off)
		vmach_slicer_evict(c->vgpu->gpu, hung_end, c);
	return off;
}

/*
 * Enables a channel on the chip if the guest has enabled it. A channel that is dead or waits for
 * recovery stays disabled. For the slicer, which ends channels.
 */
static void chan_start(struct kvgpu_chan *c)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;

	if (c->guest.enabled && !c->dead && !test_bit(c->hchid.v, gpu->chip->recover_chans))
		vmach_hchan_enable(c, true);
}

static void held_start(void *arg)
{
	struct kvgpu_vgpu *v = arg;
	struct kvgpu_chan *c;
	unsigned long id;

	xa_for_each(&v->m->ids.chans, id, c) {
		if (c->held)
			chan_start(c);
		c->held = false;
	}
}

void vmach_chans_restart(struct kvgpu_vgpu *v)
{
	vmach_slicer_call(v->gpu, held_start, v);
}

static void nothing(void *arg)
{
}

/*
 * Ends the use of context images by dead channels that are off the chip. The guest may make another
 * context at the same address before it unbinds such a channel. If the dead channel still used the
 * old image then, vmach_grctx_get() would return the old image for the new context.
 *
 * The slicer notes that a channel is dead, and then drives it off. Until that is done, the chip may
 * be about to load the channel, which no status tells. So this function has the slicer serve a
 * request before it looks at the status of channels that it has not found dead before.
 */
static void ended_images_put(struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	unsigned long id;
	bool any = false;

	xa_for_each(&v->m->ids.chans, id, c)
		if (c->gr && !c->driven_off && READ_ONCE(c->dead))
			any = c->driven_off = true;
	if (any)
		vmach_slicer_call(v->gpu, nothing, NULL);
	xa_for_each(&v->m->ids.chans, id, c) {
		void __iomem *ctx;

		if (!c->driven_off || !c->gr || vmach_chan_loaded(c))
			continue;
		ctx = c->host.inst.cpu + RAMIN_GR_CTX;
		iowrite32((ioread32(ctx) & ~RAMIN_CTX_ADDR_LO) | lower_32_bits(NO_CONTEXT_VA), ctx);
		iowrite32(upper_32_bits(NO_CONTEXT_VA), ctx + 4);
		vmach_grctx_put(v, c->gr);
		c->gr = NULL;
	}
}

/*
 * Gives channel @c the address space and the graphics context that its instance block names.
 * @block: the host's copy of the block; @g: the values in it, decoded. @out: scratch memory. Call
 * it when @c is off the chip and disabled.
 */
static void swap_context(struct kvgpu_chan *c, const struct kvgpu_inst_guest *g, const u32 *block,
			 u32 *out)
{
	struct kvgpu_vgpu *v = c->vgpu;
	struct kvgpu_space *old = c->space, *new = vmach_space_get(v, g->pd);
	struct kvgpu_grctx *gr;

	if (!new) {
		kvgpu_mdev_fault_note(v, "no memory for an address space", c->gchid.v, g->pd.addr,
				      0);
		return;
	}
	c->space = new;
	c->guest.block.pd = g->pd;
	c->guest.block.limit = g->limit;
	c->guest.block.gr_ctx = g->gr_ctx;
	ended_images_put(v);
	/* recovery may have ended @c meanwhile; then ended_images_put() has set c->gr to NULL */
	gr = c->gr;
	vmach_space_sync(v, c->space);
	c->gr = g->gr_ctx ? vmach_grctx_get(v, c->space, g->gr_ctx, g->limit) : NULL;
	if (g->gr_ctx && !c->gr)
		kvgpu_mdev_fault_note(v, "no graphics context for a channel", c->gchid.v, g->gr_ctx,
				      0);
	/* the channel is bound: its progress in RAMFC stays */
	if (write_inst(c, block, out, GMMU_INST_PDB_LO, INST_READ))
		vmach_gpu_declare_lost(v->gpu, "writes did not reach video memory");
	if (gr)
		vmach_grctx_put(v, gr);
	vmach_space_put(v, old, c);
	vmach_shadow_commit(v);
}

void vmach_chan_resync(struct kvgpu_chan *c)
{
	u32 *block = kmalloc(2 * RAMIN_SIZE, GFP_KERNEL_ACCOUNT);
	const struct kvgpu_inst_guest *was = &c->guest.block;
	struct kvgpu_inst_guest g;

	if (!block)
		return;
	if (c->dead || vmach_gpu_lost(c->vgpu->gpu))
		goto out;
	if (read_inst(c, block, &g)) {
		kvgpu_mdev_fault_note(c->vgpu, "an instance block became unusable", c->gchid.v,
				      c->guest.inst.addr, 0);
		goto out;
	}
	if (g.pd.target == was->pd.target && g.pd.addr == was->pd.addr && g.limit == was->limit &&
	    g.gr_ctx == was->gr_ctx) {
		vmach_space_sync(c->vgpu, c->space);
		goto out;
	}
	if (vmach_chan_step_off(c))
		swap_context(c, &g, block, block + RAMIN_SIZE / 4);
	if (vmach_chan_place(c) != c->slice)
		vmach_runlist_publish(c->vgpu, false);
	else
		vmach_chans_restart(c->vgpu);
out:
	kfree(block);
}

/* ------------------------------------------------------------------ bind a channel */

static int chan_bind_hw(struct kvgpu_chan *c, u32 *block)
{
	struct kvgpu_vgpu *v = c->vgpu;
	int ret;

	ret = read_inst(c, block, &c->guest.block);
	if (ret)
		return ret;
	c->space = vmach_space_get(v, c->guest.block.pd);
	if (!c->space)
		return -ENOMEM;
	ended_images_put(v);
	vmach_space_sync(v, c->space);
	if (c->guest.block.gr_ctx)
		c->gr = vmach_grctx_get(v, c->space, c->guest.block.gr_ctx, c->guest.block.limit);
	c->slice = vmach_chan_place(c);
	ret = take_userd(c);
	ret = ret ?: vmach_pool_alloc(v, RAMIN_SIZE, &c->host.inst);
	ret = ret ?: write_inst(c, block, block + RAMIN_SIZE / 4, 0, RAMIN_SIZE);
	vmach_shadow_commit(v);
	ret = ret ?: xa_err(xa_store(&v->m->ids.chans, c->gchid.v, c, GFP_KERNEL));
	if (!ret)
		vmach_slicer_call(v->gpu, chip_bind, c);
	return ret;
}

/*
 * Frees channel @c and its shadow instance block, and ends its use of the context image and the
 * space. Call it when @c is off the chip or was not bound, or the card was lost.
 */
static void chan_release(struct kvgpu_chan *c)
{
	struct kvgpu_vgpu *v = c->vgpu;

	trace_kvgpu_chan(v->id, c->gchid.v, c->hchid.v, KVGPU_CHAN_UNBOUND);
	if (c->gr)
		vmach_grctx_put(v, c->gr);
	if (c->space)
		vmach_space_put(v, c->space, c);
	vmach_shadow_commit(v);
	vmach_pool_free(v, &c->host.inst);
	kfree(c);
}

static void chan_remove(struct kvgpu_chan *c)
{
	vmach_slicer_call(c->vgpu->gpu, chip_forget, c);
	xa_erase(&c->vgpu->m->ids.chans, c->gchid.v);
	chan_release(c);
}

void vmach_chan_bind(struct kvgpu_vgpu *v, gchid_t id, struct kvgpu_gaddr inst)
{
	struct kvgpu_chan *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	u32 *block = kmalloc(2 * RAMIN_SIZE, GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (c && block && !vmach_gpu_lost(v->gpu)) {
		c->vgpu = v;
		c->gchid = id;
		c->guest.inst = inst;
		c->guest.tsg = c->host.tsg = -1;
		ret = chan_bind_hw(c, block);
		if (ret)
			chan_release(c);
	} else {
		kfree(c);
	}
	kfree(block);
	if (ret) {
		trace_kvgpu_chan(v->id, id.v, -1, KVGPU_CHAN_REFUSED);
		kvgpu_mdev_fault_note(v, "channel not bound", id.v, inst.addr, -ret);
		return;
	}
	trace_kvgpu_chan(v->id, id.v, c->hchid.v, KVGPU_CHAN_BOUND);
	/* the list that the guest submitted last may have named the channel before the bind */
	vmach_runlist_renew(v, false);
}

/* --------------------------------------------------------- enable, disable and unbind a channel */

static void enable(void *arg)
{
	struct kvgpu_chan *c = arg;
	struct kvgpu_machine *m = c->vgpu->m;

	chan_start(c);
	if (c->slice->ent.suspended && !m->forgiven.end_at)
		m->forgiven.end_at = ktime_get_ns();
}

void vmach_chan_enable(struct kvgpu_vgpu *v, gchid_t id)
{
	struct kvgpu_chan *c = vmach_chan_find(v, id);

	if (c)
		vmach_chan_resync(c);
	/* a channel that can't run: the guest sees in the channel table that it is disabled */
	if (!c || c->dead || vmach_gpu_lost(v->gpu)) {
		kvgpu_trap_chan_status_set(&v->m->trap, id, 0);
		return;
	}
	c->guest.enabled = true;
	c->ran = true;
	trace_kvgpu_chan(v->id, id.v, c->hchid.v, KVGPU_CHAN_ENABLED);
	vmach_slicer_call(v->gpu, enable, c);
}

void vmach_chan_disable(struct kvgpu_vgpu *v, gchid_t id)
{
	struct kvgpu_chan *c = vmach_chan_find(v, id);

	if (!c)
		return;
	c->guest.enabled = false;
	trace_kvgpu_chan(v->id, id.v, c->hchid.v, KVGPU_CHAN_DISABLED);
	if (!c->dead)
		vmach_hchan_enable(c, false);
}

/*
 * Unbinds a disabled channel of the chip. kvgpu_hw_chan_unbind() fails while the channel is on an
 * engine or a PBDMA. So a channel that is loaded is driven off first. If that and a reset of the
 * runlist's engines do not help, the card is lost: memory that the chip may still use must not get
 * another use.
 */
static void chan_unbind_hw(void *arg)
{
	struct kvgpu_chan *c = arg;
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	bool works = false, evicted, faulted;
	struct machine_wait w;
	int i, ret = -EBUSY;

	/* a list that the chip gets from now on leaves it out, and recovery leaves it alone */
	WRITE_ONCE(c->dead, true);
	vmach_runlist_drop_dead(c->slice);
	vmach_wait_begin(&w, c->slice->runl);
	faulted = vmach_fault_charge(c);
	evicted = vmach_disabled_evict(&w, c);
	for (i = 0; i < UNBIND_TRIES && ret && !vmach_gpu_lost(gpu); i++) {
		ret = kvgpu_hw_chan_unbind(&gpu->hw, c->hchid);
		if (!ret)
			break;
		/* no other status told that it is loaded */
		if (!evicted)
			vmach_chan_evict(&w, vmach_chan_hid(c));
		else
			usleep_range(1000, 2000);
		evicted = true;
		vmach_engines_observe(gpu);
	}
	if (ret && !vmach_gpu_lost(gpu)) {
		kvgpu_hw_runl_block(&gpu->hw, c->slice->runl->id, true);
		vmach_runlist_reset(&w);
		kvgpu_hw_runl_block(&gpu->hw, c->slice->runl->id, false);
		ret = kvgpu_hw_chan_unbind(&gpu->hw, c->hchid);
		works = true;
	}
	/* a fault of this channel may have stopped the runlist meanwhile */
	if (!vmach_gpu_lost(gpu))
		kvgpu_hw_runl_clear_error(&gpu->hw, c->slice->runl->id);
	if (ret)
		vmach_gpu_declare_lost(gpu, "a channel can't be unbound");
	vmach_resets_note(c->vgpu->m, w.resets);
	if (faulted)
		w.blocked_ns = U64_MAX;
	vmach_wait_charge(c->slice, &w, works);
}

/*
 * MMU faults and GR exceptions name the shadow instance block by its address, and that memory may
 * soon be the block of another channel. So before the channel leaves the tables by id and by block,
 * this waits, for a bounded time, until faults of block @inst, or with KVGPU_HW_ALL_INST of all
 * unbound channels, are handled.
 */
static void unbound_settle(struct kvgpu_gpu *gpu, u64 inst)
{
	if (!vmach_gpu_lost(gpu))
		kvgpu_hw_intr_settle(&gpu->hw, inst);
}

void vmach_chan_unbind(struct kvgpu_vgpu *v, gchid_t id)
{
	struct kvgpu_chan *c = vmach_chan_find(v, id);

	if (!c)
		return;
	/*
	 * The rest of its group stays off the chip until the channel is unbound: the chip may say
	 * that the channel is loaded for as long as its group is (T21 of docs/supported.md).
	 */
	chan_hold(c);
	c->guest.enabled = c->guest.listed = false;
	vmach_slicer_evict(v->gpu, chan_unbind_hw, c);
	unbound_settle(v->gpu, c->host.inst.at.v);
	chan_remove(c);
	vmach_chans_restart(v);
}

/*
 * Unbinds all channels of the vGPU. All are disabled before the first is driven off the chip, so
 * that no channel starts meanwhile. The interrupt thread is waited for once, when all are off the
 * chip: it may rest for some ms each time.
 */
void vmach_chans_stop(struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	unsigned long id;

	xa_for_each(&v->m->ids.chans, id, c) {
		c->guest.enabled = false;
		vmach_hchan_enable(c, false);
	}
	vmach_runlist_clear(v);
	xa_for_each(&v->m->ids.chans, id, c)
		vmach_slicer_evict(v->gpu, chan_unbind_hw, c);
	if (!xa_empty(&v->m->ids.chans))
		unbound_settle(v->gpu, KVGPU_HW_ALL_INST);
	xa_for_each(&v->m->ids.chans, id, c)
		chan_remove(c);
	id_blocks_give(v);
}
