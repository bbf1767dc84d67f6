// SPDX-License-Identifier: GPL-2.0-only
/* work.h has the contracts. */
#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/work.h"

#include <linux/bitfield.h>

/* ------------------------------------------------------------------ what the chip sees */

static bool is_of(u16 chid, u32 vgpu)
{
	u32 of = chip.chan[chid].vgpu;

	return of &&
	       (vgpu == CARD || (world.vgpu[vgpu].made && of == inside_id(world.vgpu[vgpu].v)));
}

u32 work_listed(u32 vgpu)
{
	u32 i, n = 0;
	u64 e;

	for (i = 0; i < chip.list[0].nr; i++) {
		e = chip.list[0].entry[i];
		n += !(e & RUNLIST_TSG) && is_of(FIELD_GET(RUNLIST_ID, e), vgpu);
	}
	return n;
}

bool work_alone(u32 vgpu)
{
	u32 n = work_listed(vgpu);

	return n && n == work_listed(CARD);
}

bool work_runs(u32 vgpu)
{
	u32 r;

	for (r = 0; r < CHIP_RUNLS; r++)
		if (chip.engine[r].chid != NO_CHAN && chip_engine_works(chip.engine[r].chid) &&
		    is_of(chip.engine[r].chid, vgpu))
			return true;
	return (harness_now < chip.copying_until && is_of(chip.copying, vgpu)) ||
	       (harness_now < chip.switch_until && is_of(chip.switching, vgpu));
}

bool work_leaves(u32 vgpu)
{
	return chip.preempting &&
	       is_of(FIELD_GET(PFIFO_PREEMPT_ID, chip.reg[PFIFO_PREEMPT / 4]), vgpu);
}

/* ------------------------------------------------------------------ the meter */

static struct {
	u64 ns, paid_before, paid;
} had[WORLD_VGPUS + 1]; /* the last one: anybody */
static u64 stopped;

void meter(const struct role *r)
{
	u64 last = harness_now, step;
	u32 i;

	for (i = 0; i < scene->vgpus; i++)
		had[i].paid_before = admin_read(i, "gpu_time_ns");
	while (scene_goes_on()) {
		harness_sleep(r->arg ?: 20 * US);
		step = harness_now - last;
		last = harness_now;
		for (i = 0; i < scene->vgpus; i++)
			had[i].ns += work_runs(i) ? step : 0;
		had[WORLD_VGPUS].ns += work_runs(CARD) ? step : 0;
		if ((chip.reg[PFIFO_RUNLIST_BLOCK / 4] | chip.reg[PFIFO_RUNLIST_ERROR / 4]) & 1)
			stopped += step;
	}
	for (i = 0; i < scene->vgpus; i++)
		had[i].paid = admin_read(i, "gpu_time_ns") - had[i].paid_before;
}

MEASURE(had, "time of the GPU", had[vgpu == CARD ? WORLD_VGPUS : vgpu].ns, PART);
MEASURE(unpaid, "time that is not paid for", had[vgpu].ns - min(had[vgpu].ns, had[vgpu].paid),
	PART);
MEASURE(overpaid, "time that is paid for and not had",
	had[vgpu].paid - min(had[vgpu].ns, had[vgpu].paid), PART);
MEASURE(stopped, "time in which GR's list is stopped", stopped, PART);

/* ------------------------------------------------------------------ what a guest does */

void work_sleep(u64 ns)
{
	u64 until = harness_now + ns;

	while (harness_now < until && scene_goes_on())
		harness_sleep(min(until - harness_now, MS / 4));
}

static void store(u32 vgpu, u32 chan, u32 off, u32 val)
{
	static u64 part[WORLD_VGPUS];
	u64 at;

	if (!part[vgpu])
		part[vgpu] = admin_place(vgpu).part + 1;
	at = part[vgpu] - 1 + G_USERD(chan) + off;
	*(u32 *)chip_vram(at) = val;
	chip_wrote(at, 4);
}

void work_put(u32 vgpu, u32 chan, u32 put)
{
	store(vgpu, chan, USERD_GP_PUT, put);
}

void work_chans(u32 vgpu, u32 first, u32 last)
{
	u64 list[KVGPU_MAX_CHAN];
	u32 c;

	for (c = first; c <= last; c++) {
		list[c - first] = c;
		g_run(V(vgpu), c);
	}
	g_list(V(vgpu), list, last + 1 - first);
}

void work_kick(u32 vgpu)
{
	g_write(V(vgpu), PFIFO_RUNLIST_SUBMIT, 2);
}

void work_second(u32 vgpu)
{
	struct world_vgpu *g = V(vgpu);

	g_ring(g, 1, 0);
	g_run(g, 2);
	LIST(g, 1, 2);
	g_ring(g, 2, 1);
	UNTIL(chip_pbdma_intr(id_of(vgpu, 2), FATAL));
	harness_sleep(MS);
	g_preempt(g, false, 2);
	g_ring(g, 2, 0);
	work_put(vgpu, 2, 0);
}

void work_serve(u32 vgpu)
{
	if (work_listed(vgpu))
		chip_load_on_gr(id_of(vgpu, 1));
}

volatile u32 *work_flush_word(u32 vgpu, u32 reg)
{
	return inside_word(world.vgpu[vgpu].v, reg);
}

void work_flush(u32 vgpu)
{
	*work_flush_word(vgpu, FLUSH_L2_SYSMEM_INVALIDATE) = FLUSH_TRIGGER;
	*work_flush_word(vgpu, FLUSH_L2_DIRTY) = FLUSH_TRIGGER;
}

static u32 slow_reads, other_reads;

static void flush_slowly(u32 reg, u32 val)
{
	bool l2 = reg == FLUSH_L2_SYSMEM_INVALIDATE || reg == FLUSH_L2_DIRTY;

	chip.manners.late = l2 ? slow_reads : other_reads;
}

void work_slow_flushes(u32 reads)
{
	slow_reads = reads;
	other_reads = chip.manners.late;
	chip_before_write = flush_slowly;
}

/* What the chip and the guest do at the end of a job. */
static void job_ends(const struct role *r, u16 id)
{
	chip.at_work[id] = false;
	if (r->arg & JOB_STOPS)
		chip_pbdma_intr(id, PBDMA_INTR0_DEVICE);
	if (!chip.manners.busy && !(r->arg & JOB_STAYS) && chip.pbdma[0].chid == id)
		chip.pbdma[0].chid = NO_CHAN;
	if (!(r->arg & JOB_QUIET)) {
		work_put(r->vgpu, 1, 0);
		work_kick(r->vgpu);
	}
	UNTIL_OVER(5 * US, !(r->arg & JOB_STOPS) || !chip_loaded(id));
}

void work_jobs(const struct role *r)
{
	u32 n = 0, queue = r->arg & JOB_UNSEEN ? 8 : 0;
	u16 id = id_of(r->vgpu, 1);

	while (scene_goes_on()) {
		n = r->arg & JOB_QUIET ? (n + 1) % 64 : 1;
		work_put(r->vgpu, 1, (n + queue) % 64);
		if (!(r->arg & JOB_QUIET))
			work_kick(r->vgpu);
		UNTIL_OVER(5 * US, work_listed(r->vgpu) && chip_may_load(id, 0));
		if (!queue)
			work_serve(r->vgpu);
		if (r->arg & JOB_QUIET)
			store(r->vgpu, 1, USERD_GP_GET, n);
		chip.at_work[id] = !queue;
		harness_sleep((r->arg & 0xffff) * US);
		job_ends(r, id);
		scene_count[r->vgpu]++;
		harness_sleep((r->arg >> 32) * US);
	}
}

void work_kernels(const struct role *r)
{
	u64 ran = 0, next = 0, step = 10 * US;
	u16 id = id_of(r->vgpu, 1);

	for (; scene_goes_on(); harness_sleep(step)) {
		if (!chip.at_work[id])
			chip.at_work[id] = harness_now >= next;
		else if (chip_engine_works(id))
			ran += step;
		if (chip.at_work[id])
			work_serve(r->vgpu);
		if (ran < (u32)r->arg * US)
			continue;
		ran = 0;
		next = harness_now + (r->arg >> 32) * US;
		chip.at_work[id] = false;
	}
	chip.at_work[id] = false;
}

void work_preempts(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(US))
		g_preempt(V(r->vgpu), false, 1);
}

void work_served(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(20 * US))
		if (!work_runs(CARD) && !chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4])
			work_serve(r->vgpu);
}

void work_kicks(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(r->arg))
		work_kick(r->vgpu);
}

void work_nobodys_copies(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(r->arg))
		if (!chip_copy_raised())
			chip_copy_raise(2, 0);
}

void work_interrupts(u16 id, u32 times)
{
	while (times--) {
		UNTIL_IN(20000 * MS, 5 * US, chip_pbdma_raise(0, id, PBDMA_INTR0_DEVICE));
		UNTIL_IN(20000 * MS, 5 * US, !chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4]);
	}
}
