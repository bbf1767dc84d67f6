// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carries out the commands that mmio-trap/ makes of a guest's register writes. mmio-trap/ has
 * decoded the command and checked its form. The ids and addresses in the command are still the
 * guest's. A command that can't be carried out gives the guest no error.
 *
 * For the guest, a command is complete when vmach_command_run() returns. (Flushes are no commands
 * if the guest asks for them in the page of flush registers that is mapped into it: flush.c.)
 */
#include "gk110/bar.h"
#include "mdev/machine/internal.h"

/*
 * Call it when the guest has reset engines: bit e of @mask stands for topo.engine[e], bit 31 for
 * PFIFO, the unit that loads channels onto engines. The host does not pass the reset on to the
 * card, because other vGPUs use its engines. After a reset of engines alone, it preempts the
 * channels that are loaded: that takes them off the engines, as the reset would.
 */
static void guest_engines_reset(struct kvgpu_vgpu *v, u32 mask)
{
	const struct kvgpu_topo *topo = &v->gpu->hw.topo;
	u32 left = MAX_LOADED, e;
	struct kvgpu_chan *c;
	unsigned long id;

	for (e = 0; e < topo->nr_engines; e++)
		if (mask & BIT(e))
			kvgpu_trap_engine_status_set(&v->m->trap, topo->engine[e].id, 0);
	if (mask & BIT(31)) {
		vmach_chans_stop(v);
		vmach_shadow_commit(v);
		/* a driver does so when it is loaded: the guest starts anew, without strikes */
		kvgpu_machine_strikes_clear(v);
		return;
	}
	/*
	 * A preempt may have to wait for other vGPUs, so only what is loaded is preempted, and no
	 * more than can be loaded at once.
	 */
	xa_for_each(&v->m->ids.chans, id, c) {
		bool tsg = c->host.tsg >= 0;

		if (!left || !c->ran || c->dead ||
		    !vmach_hid_loaded(c->slice->runl, vmach_chan_hid(c)))
			continue;
		vmach_chan_preempt(v, tsg, tsg ? c->guest.tsg : c->gchid.v);
		left--;
	}
}

void vmach_command_run(struct kvgpu_vgpu *v, const struct kvgpu_cmd *cmd)
{
	lockdep_assert_held(&v->lock);
	v->m->preempt_budget = COMMAND_MS * (u64)NSEC_PER_MSEC;
	vmach_stage_drop(v->m);
	if (cmd->kind != KVGPU_CMD_TLB)
		vmach_flush_page_serve(v);
	switch (cmd->kind) {
	case KVGPU_CMD_CHAN_BIND:
		vmach_chan_bind(v, cmd->chan.id, cmd->chan.inst);
		break;
	case KVGPU_CMD_CHAN_UNBIND:
		vmach_chan_unbind(v, cmd->chan.id);
		break;
	case KVGPU_CMD_CHAN_ENABLE:
		vmach_chan_enable(v, cmd->chan.id);
		break;
	case KVGPU_CMD_CHAN_DISABLE:
		vmach_chan_disable(v, cmd->chan.id);
		break;
	case KVGPU_CMD_RUNLIST:
		vmach_runlist_submit(v, cmd->runlist.count, cmd->runlist.list);
		kvgpu_trap_runlist_done(&v->m->trap, cmd->runlist.runl);
		v->m->event.irq_changed = true;
		break;
	case KVGPU_CMD_PREEMPT:
		vmach_chan_preempt(v, cmd->preempt.tsg, cmd->preempt.id);
		kvgpu_trap_preempt_done(&v->m->trap);
		break;
	case KVGPU_CMD_RUNL_BLOCK:
		vmach_runlist_publish(v, false);
		break;
	case KVGPU_CMD_RUNL_ALLOW:
		vmach_runlist_allow(v);
		break;
	case KVGPU_CMD_TLB:
		vmach_shadow_sync(v, cmd->tlb.all_pd ? NULL : &cmd->tlb.pd, false);
		break;
	case KVGPU_CMD_BAR_BIND:
		vmach_window_bind(v, cmd->bar.bar, cmd->bar.is_virtual, cmd->bar.inst);
		break;
	case KVGPU_CMD_USERD:
		vmach_userd_move(v, cmd->userd.valid, cmd->userd.bar1_off);
		break;
	case KVGPU_CMD_PRAMIN:
		vmach_pramin_move(v, cmd->pramin.base);
		break;
	case KVGPU_CMD_FLUSH:
		vmach_writes_flush(v, cmd->mask != FLUSH_BAR);
		break;
	case KVGPU_CMD_GR_SAVE:
		vmach_grctx_save(v, cmd->inst);
		break;
	case KVGPU_CMD_ENGINE_RESET:
		guest_engines_reset(v, cmd->mask);
		break;
	case KVGPU_CMD_FAULT_TRIGGER:
		vmach_fault_trigger(v, cmd->trigger.engine, cmd->trigger.unit);
		v->m->event.irq_changed = true;
		break;
	case KVGPU_CMD_ALARM:
		vmach_alarm_arm(v);
		break;
	/*
	 * nothing to do: at KVGPU_CMD_GR_SAVE the guest gets the host's golden image, the image of
	 * a context in its initial state (vmach_grctx_save())
	 */
	case KVGPU_CMD_GR_BIND:
	/* nothing to do: hw/ did not wait for the acknowledge */
	case KVGPU_CMD_PBDMA_ACK:
	case KVGPU_CMD_GR_ACK:
	case KVGPU_CMD_CE_ACK:
	/* nothing to do here: the caller signals the interrupt */
	case KVGPU_CMD_IRQ:
	case KVGPU_CMD_NONE:
		break;
	}
}
