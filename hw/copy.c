// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's own channel on a copy engine. It scrubs partitions, copies context images, and copies
 * pages of guests' video memory to system memory, where the CPU reads them. Source and destination
 * of a job are physical addresses, which a channel may use if HCE_PRIV_MODE is set in its RAMFC. A
 * job is one fill or copy of up to CHUNK bytes. Jobs run one after the other, in the order in which
 * threads asked for them, for JOB_WAIT_MS each at most. Each thread that waits for its job begins
 * and ends those before it, so that a thread that gets no CPU keeps no other waiting.
 *
 * Callers check addresses (S1 of docs/invariants.md). The wait for a job sleeps, so callers hold no
 * lock of mdev/ that other vGPUs wait for.
 *
 * A job that has not ended in time may still run later, with the words of a newer job in the
 * pushbuffer, or write to memory that has another owner by then. So no job begins after a failed
 * job, and .copy_stuck() cuts the card off from system memory.
 */
#include "gk110/ce.h"
#include "gk110/push.h"
#include "hw/internal.h"
#include "kvgpu/ramfc.h"

#define COPY_CHID   ((hchid_t){ HW_COPY_CHID })
#define VA_RING	    0x100000ull
#define VA_PUSH	    0x101000ull
#define VA_SEM	    0x102000ull
#define VA_LIMIT    0x1fffffull
#define RING_LOG2   9
#define TABLE_SIZE  (32768u * GMMU_ENTRY_SIZE)
#define CHUNK	    (64u << 20) /* bytes of the largest job */
#define JOB_WAIT_MS 10000
/* ms for which a job may wait until its commands are in video memory */
#define FLUSH_WAIT_MS 2000

static void copy_page_map(struct hw_copy *c, u64 va, const struct kvgpu_vram *v)
{
	hw_vram_wr64(&c->table, (va >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE,
		     GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, v->at.v >> GMMU_ADDR_SHIFT));
}

#define NR_PIECES 7

static struct kvgpu_vram *copy_piece_at(struct hw_copy *c, unsigned int i, u32 *size)
{
	const struct {
		struct kvgpu_vram *v;
		u32 size;
	} all[NR_PIECES] = {
		{ &c->inst, RAMIN_SIZE }, { &c->pd, HW_PD_SIZE },  { &c->table, TABLE_SIZE },
		{ &c->userd, PAGE_SIZE }, { &c->ring, PAGE_SIZE }, { &c->push, PAGE_SIZE },
		{ &c->sem, PAGE_SIZE },
	};

	*size = all[i].size;
	return all[i].v;
}

static int copy_alloc(struct kvgpu_hw *hw, struct hw_copy *c)
{
	unsigned int i;
	u32 size;
	int ret;

	for (i = 0; i < NR_PIECES; i++) {
		struct kvgpu_vram *v = copy_piece_at(c, i, &size);

		ret = kvgpu_hw_vram_alloc(hw, size, PAGE_SIZE, v);
		if (ret)
			return ret;
		memset_io(v->cpu, 0, v->size);
	}
	return 0;
}

static void copy_inst_write(struct hw_copy *c)
{
	const struct kvgpu_ramfc ramfc = {
		.chid = COPY_CHID,
		.userd = c->userd.at.v,
		.gp_base = VA_RING,
		.gp_log2 = RING_LOG2,
		.subdevice = FIELD_MAX(RAMFC_SUBDEVICE_ID),
		.priv_mode = true,
	};
	u32 words[RAMIN_RAMFC_SIZE / 4] = {};

	kvgpu_ramfc_write(words, &ramfc);
	memcpy_toio(c->inst.cpu + RAMIN_RAMFC, words, sizeof(words));
	hw_inst_space_write(&c->inst, c->pd.at.v, VA_LIMIT);
}

/*
 * The runlist of a copy engine that is not GR's: guests' channels are on GR's, and a job need not
 * wait for their work.
 */
static int pick_runlist(struct kvgpu_hw *hw, u8 *runl)
{
	const struct kvgpu_topo *t = &hw->topo;
	unsigned int i;

	for (i = t->nr_engines; i--;)
		if (t->engine[i].type && t->engine[i].runl != t->engine[0].runl) {
			*runl = t->engine[i].runl;
			return 0;
		}
	dev_err(&hw->pdev->dev, "the card shows no copy engine with a runlist of its own\n");
	return -ENODEV;
}

/* True: a PBDMA serves runlists @a and @b. */
static bool pbdma_shared(const struct kvgpu_topo *t, u8 a, u8 b)
{
	unsigned int p;

	for (p = 0; p < t->nr_pbdma; p++)
		if (t->pbdma_runl[p] & BIT(a) && t->pbdma_runl[p] & BIT(b))
			return true;
	return false;
}

/*
 * Finds the runlist for guests' copies: of a copy engine that shares neither the list nor a PBDMA
 * with GR, or with the copy engine of the host, whose runlist is @host.
 */
static void pick_guests_runlist(struct kvgpu_hw *hw, u8 host)
{
	const struct kvgpu_topo *t = &hw->topo;
	u8 gr = t->engine[0].runl, r;
	unsigned int i;

	hw->copy_runl = -1;
	for (i = t->nr_engines; i-- > 1;) {
		r = t->engine[i].runl;
		if (r != gr && r != host && !pbdma_shared(t, r, gr) && !pbdma_shared(t, r, host))
			hw->copy_runl = r;
	}
}

int hw_copy_init(struct kvgpu_hw *hw)
{
	const u64 entry = FIELD_PREP(RUNLIST_ID, HW_COPY_CHID);
	struct hw_copy *c = &hw->p->copy;
	int ret;

	ret = pick_runlist(hw, &c->runl);
	if (!ret)
		pick_guests_runlist(hw, c->runl);
	ret = ret ?: copy_alloc(hw, c);
	if (ret)
		return ret;
	hw_vram_wr64(&c->pd, 0,
		     FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			     FIELD_PREP(GMMU_PDE_SMALL_ADDR, c->table.at.v >> GMMU_ADDR_SHIFT));
	copy_page_map(c, VA_RING, &c->ring);
	copy_page_map(c, VA_PUSH, &c->push);
	copy_page_map(c, VA_SEM, &c->sem);
	copy_inst_write(c);
	ret = kvgpu_hw_userd_page(hw, COPY_CHID.v / 8, c->userd.at);
	if (ret)
		return ret;
	c->doorbell = ioremap(hw->bar[KVGPU_BAR1].phys, PAGE_SIZE);
	if (!c->doorbell)
		return -ENOMEM;
	ret = kvgpu_hw_flush_writes(hw) ?: kvgpu_hw_tlb_flush(hw, c->pd.at.v, false);
	ret = ret ?: kvgpu_hw_chan_bind(hw, COPY_CHID, c->inst.at.v, c->runl);
	if (ret)
		return ret;
	kvgpu_hw_chan_enable(hw, COPY_CHID, c->runl, true);
	c->up = true;
	return kvgpu_hw_runlist(hw, c->runl, &entry, 1);
}

void hw_copy_fini(struct kvgpu_hw *hw)
{
	struct hw_copy *c = &hw->p->copy;
	unsigned int i;
	u32 size;

	if (c->up) {
		c->up = false;
		kvgpu_hw_chan_enable(hw, COPY_CHID, c->runl, false);
		kvgpu_hw_runlist(hw, c->runl, NULL, 0);
		kvgpu_hw_preempt(hw, false, COPY_CHID.v, 1000, NULL, NULL);
		kvgpu_hw_chan_unbind(hw, COPY_CHID);
	}
	if (c->doorbell)
		iounmap(c->doorbell);
	for (i = 0; i < NR_PIECES; i++)
		kvgpu_hw_vram_free(hw, copy_piece_at(c, i, &size));
	memset(c, 0, sizeof(*c));
}

/* ---------------------------------------------------- methods for the copy channel's pushbuffer */

struct push {
	const struct kvgpu_vram *v;
	u32 at; /* offset of the next word in .v, bytes */
};

static void push_method(struct push *p, u32 mthd, u32 count)
{
	hw_vram_wr32(p->v, p->at,
		     FIELD_PREP(PB_SEC_OP, PB_SEC_INC) | FIELD_PREP(PB_COUNT, count) |
			     FIELD_PREP(PB_SUBCH, SUBCH_COPY) | FIELD_PREP(PB_METHOD, mthd >> 2));
	p->at += 4;
}

static void push_data(struct push *p, u32 val)
{
	hw_vram_wr32(p->v, p->at, val);
	p->at += 4;
}

/* A physical address, in video memory or in system memory. */
struct place {
	u64 addr;
	u32 target; /* A0B5_PHYS_LOCAL_FB or A0B5_PHYS_COHERENT */
};

static void put_addresses(struct push *p, const struct place *src, const struct place *dst)
{
	push_method(p, A0B5_SET_SRC_PHYS_MODE, 2);
	push_data(p, src->target);
	push_data(p, dst->target);
	push_method(p, A0B5_OFFSET_IN_UPPER, 4);
	push_data(p, upper_32_bits(src->addr));
	push_data(p, lower_32_bits(src->addr));
	push_data(p, upper_32_bits(dst->addr));
	push_data(p, lower_32_bits(dst->addr));
}

static void put_semaphore(struct push *p, u32 seq)
{
	push_method(p, A0B5_SET_SEMAPHORE_A, 3);
	push_data(p, upper_32_bits(VA_SEM));
	push_data(p, lower_32_bits(VA_SEM));
	push_data(p, seq);
}

#define LAUNCH                                                                                \
	(FIELD_PREP(A0B5_LAUNCH_TRANSFER, A0B5_TRANSFER_NON_PIPELINED) | A0B5_LAUNCH_FLUSH |  \
	 FIELD_PREP(A0B5_LAUNCH_SEMAPHORE, A0B5_SEMAPHORE_ONE_WORD) | A0B5_LAUNCH_SRC_PITCH | \
	 A0B5_LAUNCH_DST_PITCH | A0B5_LAUNCH_DST_PHYSICAL)

static void put_copy(struct push *p, const struct place *src, const struct place *dst, u32 size,
		     u32 seq)
{
	put_addresses(p, src, dst);
	push_method(p, A0B5_LINE_LENGTH_IN, 2);
	push_data(p, size);
	push_data(p, 1);
	put_semaphore(p, seq);
	push_method(p, A0B5_LAUNCH_DMA, 1);
	push_data(p, LAUNCH | A0B5_LAUNCH_SRC_PHYSICAL);
}

/* fills by elements of four bytes, which the engine takes from constant A; it reads no source */
static void put_fill(struct push *p, const struct place *dst, u32 size, u32 value, u32 seq)
{
	put_addresses(p, dst, dst);
	push_method(p, A0B5_LINE_LENGTH_IN, 2);
	push_data(p, size / 4);
	push_data(p, 1);
	push_method(p, A0B5_SET_REMAP_CONST_A, 3);
	push_data(p, value);
	push_data(p, 0);
	push_data(p, A0B5_REMAP_CONST_A | FIELD_PREP(A0B5_REMAP_COMPONENT_SIZE, 3));
	put_semaphore(p, seq);
	push_method(p, A0B5_LAUNCH_DMA, 1);
	push_data(p, LAUNCH | A0B5_LAUNCH_SRC_PHYSICAL | A0B5_LAUNCH_REMAP);
}

/* A fill (.src is NULL) or copy, in hw_copy.jobs; on the stack of the thread that waits for it. */
struct job {
	struct list_head node;
	const struct place *src, *dst;
	u32 size, value;
	bool begun, done; /* .done: it is in the list no more */
};

/* Writes a job for the pushbuffer and the ring. It begins when these are in video memory. */
static void job_begin(struct kvgpu_hw *hw, const struct job *j)
{
	struct hw_copy *c = &hw->p->copy;
	struct push p = { .v = &c->push };

	c->seq++;
	push_method(&p, HOST_SET_OBJECT, 1);
	push_data(&p, A0B5_CLASS);
	if (j->src)
		put_copy(&p, j->src, j->dst, j->size, c->seq);
	else
		put_fill(&p, j->dst, j->size, j->value, c->seq);
	hw_vram_wr32(&c->ring, c->put * GP_ENTRY_SIZE, lower_32_bits(VA_PUSH));
	hw_vram_wr32(&c->ring, c->put * GP_ENTRY_SIZE + 4, FIELD_PREP(GP_ENTRY1_LENGTH, p.at / 4));
	c->flush = hw_flush_begin(hw);
	c->began = ktime_get();
}

/*
 * Goes on with the first job, whichever thread asked for it. @now: read before the semaphore: if
 * this thread is not run for a while in between, the job may end in that time, and must not count
 * as late. True: the job is late.
 */
static bool jobs_step(struct kvgpu_hw *hw, ktime_t now)
{
	struct hw_copy *c = &hw->p->copy;
	struct job *j = list_first_entry_or_null(&c->jobs, struct job, node);

	if (!j || c->stuck)
		return false;
	if (!j->begun) {
		job_begin(hw, j);
		j->begun = true;
		now = c->began;
	}
	if (c->flush && hw_flush_step(hw, c->flush)) {
		c->flush = 0;
		c->began = now = ktime_get();
		c->put = (c->put + 1) & (BIT(RING_LOG2) - 1);
		iowrite32(c->put, c->doorbell + COPY_CHID.v * USERD_SIZE + USERD_GP_PUT);
	}
	if (!c->flush && hw_vram_rd32(&c->sem, 0) == c->seq) {
		list_del(&j->node);
		j->done = true;
	} else {
		c->stuck = ktime_after(now, ktime_add_ms(c->began,
							 c->flush ? FLUSH_WAIT_MS : JOB_WAIT_MS));
	}
	return c->stuck;
}

static int copy_job(struct kvgpu_hw *hw, const struct place *src, const struct place *dst, u32 size,
		    u32 value)
{
	struct job j = { .src = src, .dst = dst, .size = size, .value = value };
	struct hw_copy *c = &hw->p->copy;
	bool late, ends;

	if (!c->up)
		return -ENODEV;
	spin_lock(&c->lock);
	list_add_tail(&j.node, &c->jobs);
	spin_unlock(&c->lock);
	for (;;) {
		ktime_t now = ktime_get();

		spin_lock(&c->lock);
		late = jobs_step(hw, now);
		ends = j.done || c->stuck;
		if (c->stuck && !j.done)
			list_del(&j.node);
		spin_unlock(&c->lock);
		if (late) {
			dev_err(&hw->pdev->dev, "copy engine did not finish within %d ms\n",
				JOB_WAIT_MS);
			hw->events->copy_stuck(hw->events_ctx);
		}
		if (ends)
			return j.done ? 0 : j.begun ? -ETIMEDOUT : -ENODEV;
		usleep_range(2, 20);
	}
}

static int copy_chunks(struct kvgpu_hw *hw, struct place *src, struct place dst, u64 size,
		       u32 value)
{
	int ret = 0;

	while (size && !ret) {
		u32 n = min_t(u64, size, CHUNK);

		ret = copy_job(hw, src, &dst, n, value);
		dst.addr += n;
		if (src)
			src->addr += n;
		size -= n;
		cond_resched();
	}
	return ret;
}

int kvgpu_hw_fill(struct kvgpu_hw *hw, hvram_t at, u64 size, u32 value)
{
	if (WARN_ON_ONCE((at.v | size) & 3))
		return -EINVAL;
	return copy_chunks(hw, NULL, (struct place){ at.v, A0B5_PHYS_LOCAL_FB }, size, value);
}

int kvgpu_hw_copy_vram(struct kvgpu_hw *hw, hvram_t dst, hvram_t src, u64 size)
{
	struct place s = { src.v, A0B5_PHYS_LOCAL_FB };

	return copy_chunks(hw, &s, (struct place){ dst.v, A0B5_PHYS_LOCAL_FB }, size, 0);
}

int kvgpu_hw_copy_to_sys(struct kvgpu_hw *hw, dma_addr_t dst, hvram_t src, u64 size)
{
	struct place s = { src.v, A0B5_PHYS_LOCAL_FB };

	return copy_chunks(hw, &s, (struct place){ dst, A0B5_PHYS_COHERENT }, size, 0);
}
