// SPDX-License-Identifier: GPL-2.0-only
/*
 * hw/ on boards of gpu-model, without a VM: a card that nobody has POSTed is taken, POSTed and
 * brought up. Its engines then have to work: the host's copies, a channel on each runlist, the
 * graphics context that each channel of GR begins with, interrupts, a reset of each engine. After
 * the take-down nothing is left, and the card, which is POSTed by then and has registers of its
 * first life, is taken again. Firmware is a small file of fwbuild.h, which gpu-model takes for
 * nouveau's; or KVGPU_FW, a file made by kvgpu-firmware. KVGPU_TEST_LOG has the driver's messages
 * printed.
 */
#include <selftests/unit_test.h>
#include <sys/wait.h>
#include <unistd.h>

#include "card_kernel.h"
#include "card_model.h"
#include "gk110/ce.h"
#include "gk110/class.h"
#include "gk110/push.h"
#include "hw/gr.h"
#include "kvgpu/ramfc.h"

#define SEEDS	5
#define WAIT_MS 60000 /* what takes so long hangs */

static struct pci_dev pdev;
static struct kvgpu_hw hw;
static const char *const boards[] = { "k20m", "k20x", "k20c", "k40m", "k40c" };
static unsigned int board, seed;
static struct card_wiring wiring;

/* ------------------------------------------------------------------ what the card reports */

static struct {
	struct kvgpu_hw_fault fault;
	struct kvgpu_hw_pbdma pbdma;
	u64 gr_inst;
	unsigned int faults, pbdmas, grs, ces, nonstalls, timeouts, stucks;
} told;

static void ev_fault(void *ctx, const struct kvgpu_hw_fault *f)
{
	told.fault = *f;
	told.faults++;
}

static void ev_pbdma(void *ctx, const struct kvgpu_hw_pbdma *p)
{
	told.pbdma = *p;
	told.pbdmas++;
}

static void ev_gr(void *ctx, const struct kvgpu_hw_gr *e)
{
	told.gr_inst = e->inst;
	told.grs++;
}

static void ev_ce(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg)
{
	told.ces++;
}

static void ev_nonstall(void *ctx)
{
	told.nonstalls++;
}

static void ev_timeout(void *ctx, u8 engine, int id, bool tsg)
{
	told.timeouts++;
}

static void ev_stuck(void *ctx)
{
	told.stucks++;
}

static const struct kvgpu_hw_events events = { ev_fault,    ev_pbdma,	ev_gr,	 ev_ce,
					       ev_nonstall, ev_timeout, ev_stuck };

static void wait_for(const unsigned int *count, unsigned int want, const char *what)
{
	unsigned int ms;

	for (ms = 0; READ_ONCE(*count) < want && ms < WAIT_MS; ms++)
		msleep(1);
	if (*count != want)
		harness_fail("%s: told %u times, not %u", what, *count, want);
}

/* ------------------------------------------------------------------ a channel */

#define VA_RING	 0x100000ull
#define VA_PUSH	 0x101000ull
#define VA_DATA	 0x102000ull
#define VA_CTX	 0x800000ull
#define VA_NONE	 0x600000ull /* nothing is mapped there */
#define VA_LAST	 0x7ffffffull
#define TABLE	 (32768 * GMMU_ENTRY_SIZE)
#define SEM	 0x000 /* offsets in the page at VA_DATA */
#define FROM	 0x400
#define TO	 0x800
#define COPY_LEN 0x123
#define WORDS	 64

struct chan {
	hchid_t id;
	u8 runl;
	struct kvgpu_vram inst, pd, table, userd, ring, push, data, ctx;
	u32 word[WORDS], nr, put, seq;
};

static void piece(struct kvgpu_vram *v, u32 size)
{
	assert_int_equal(kvgpu_hw_vram_alloc(&hw, size, PAGE_SIZE, v), 0);
	memset_io(v->cpu, 0, v->size);
}

static void map(struct chan *c, u64 va, const struct kvgpu_vram *v, u64 flags)
{
	u64 off;

	for (off = 0; off < v->size; off += PAGE_SIZE)
		hw_vram_wr64(&c->table, ((va + off) >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE,
			     GMMU_PTE_VALID | flags |
				     FIELD_PREP(GMMU_PTE_ADDR, (v->at.v + off) >> GMMU_ADDR_SHIFT));
}

static void chan_make(struct chan *c, u16 id, u8 runl)
{
	struct kvgpu_ramfc ramfc = { .chid = { id },
				     .gp_base = VA_RING,
				     .gp_log2 = 9,
				     .subdevice = FIELD_MAX(RAMFC_SUBDEVICE_ID) };
	u32 fc[RAMIN_RAMFC_SIZE / 4] = {};

	memset(c, 0, sizeof(*c));
	c->id = ramfc.chid;
	c->runl = runl;
	piece(&c->inst, RAMIN_SIZE);
	piece(&c->pd, HW_PD_SIZE);
	piece(&c->table, TABLE);
	piece(&c->userd, PAGE_SIZE);
	piece(&c->ring, PAGE_SIZE);
	piece(&c->push, PAGE_SIZE);
	piece(&c->data, PAGE_SIZE);
	piece(&c->ctx, hw.gr_ctx_size);
	hw_vram_wr64(&c->pd, 0,
		     FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			     FIELD_PREP(GMMU_PDE_SMALL_ADDR, c->table.at.v >> GMMU_ADDR_SHIFT));
	map(c, VA_RING, &c->ring, 0);
	map(c, VA_PUSH, &c->push, 0);
	map(c, VA_DATA, &c->data, 0);
	map(c, VA_CTX, &c->ctx, GMMU_PTE_PRIV);
	ramfc.userd = c->userd.at.v;
	kvgpu_ramfc_write(fc, &ramfc);
	memcpy_toio(c->inst.cpu, fc, sizeof(fc));
	hw_inst_space_write(&c->inst, c->pd.at.v, VA_LAST);
	hw_vram_wr32(&c->inst, GR_INST_CTX_LO, (u32)VA_CTX | GR_INST_CTX_VIRTUAL);
	assert_int_equal(kvgpu_hw_flush_writes(&hw), 0);
	assert_int_equal(kvgpu_hw_gr_ctx_init(&hw, c->ctx.at, 0, hw.gr_ctx_size), 0);
	assert_int_equal(kvgpu_hw_userd_page(&hw, id / 8, c->userd.at), 0);
	assert_int_equal(kvgpu_hw_tlb_flush(&hw, c->pd.at.v, false), 0);
	assert_int_equal(kvgpu_hw_chan_bind(&hw, c->id, c->inst.at.v, runl), 0);
	kvgpu_hw_chan_enable(&hw, c->id, runl, true);
}

/* The host's channel stays on its runlist. */
static void chan_list(const struct chan *c, bool listed)
{
	u64 list[] = { FIELD_PREP(RUNLIST_ID, HW_COPY_CHID), FIELD_PREP(RUNLIST_ID, c->id.v) };
	bool host = c->runl == hw.p->copy.runl;

	assert_int_equal(kvgpu_hw_runlist(&hw, c->runl, list + !host, listed + host), 0);
}

static void chan_end(struct chan *c)
{
	struct kvgpu_vram *all[] = { &c->inst, &c->pd,	 &c->table, &c->userd,
				     &c->ring, &c->push, &c->data,  &c->ctx };
	u32 i;

	kvgpu_hw_chan_enable(&hw, c->id, c->runl, false);
	chan_list(c, false);
	assert_int_equal(kvgpu_hw_preempt(&hw, false, c->id.v, WAIT_MS, NULL, NULL), 0);
	assert_int_equal(kvgpu_hw_chan_unbind(&hw, c->id), 0);
	kvgpu_hw_intr_settle(&hw, c->inst.at.v);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		kvgpu_hw_vram_free(&hw, all[i]);
}

#define NARGS(...) (sizeof((u32[]){ __VA_ARGS__ }) / 4)
/* Adds the methods from @mthd on, with data @... */
#define PUSH(c, subch, mthd, ...) \
	push(c, subch, mthd, NARGS(__VA_ARGS__), (const u32[]){ __VA_ARGS__ })
static void push(struct chan *c, u32 subch, u32 mthd, u32 nr, const u32 *data)
{
	c->word[c->nr++] = FIELD_PREP(PB_SEC_OP, PB_SEC_INC) | FIELD_PREP(PB_COUNT, nr) |
			   FIELD_PREP(PB_SUBCH, subch) | FIELD_PREP(PB_METHOD, mthd >> 2);
	memcpy(c->word + c->nr, data, nr * 4);
	c->nr += nr;
	assert_true(c->nr < WORDS);
}

/* Has the card run what was pushed. */
static void chan_ring(struct chan *c)
{
	u64 entry = VA_PUSH | (u64)FIELD_PREP(GP_ENTRY1_LENGTH, c->nr) << 32;
	void *doorbell = ioremap(hw.bar[KVGPU_BAR1].phys, KVGPU_USERD_SIZE);

	memcpy_toio(c->push.cpu, c->word, c->nr * 4);
	hw_vram_wr64(&c->ring, c->put * GP_ENTRY_SIZE, entry);
	assert_int_equal(kvgpu_hw_flush_writes(&hw), 0);
	iowrite32(++c->put, doorbell + c->id.v * USERD_SIZE + USERD_GP_PUT);
	c->nr = 0;
}

/* As chan_ring(), and waits until the channel has released its semaphore, and said so. */
static void chan_run(struct chan *c)
{
	unsigned int was = told.nonstalls, ms;

	PUSH(c, 0, HOST_SEMAPHORE_A, 0, VA_DATA + SEM, ++c->seq,
	     HOST_SEMAPHORE_4BYTE | HOST_SEMAPHORE_RELEASE);
	PUSH(c, 0, HOST_NON_STALL_INTERRUPT, 0);
	chan_ring(c);
	for (ms = 0; hw_vram_rd32(&c->data, SEM) != c->seq; ms++) {
		if (ms > WAIT_MS)
			harness_fail("channel %u does not run on runlist %u", c->id.v, c->runl);
		msleep(1);
	}
	wait_for(&told.nonstalls, was + 1, "non-stall interrupt");
}

/* A copy by virtual addresses, which the channel's copy engine does. */
static void push_copy(struct chan *c, u64 from)
{
	PUSH(c, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
	PUSH(c, SUBCH_COPY, A0B5_OFFSET_IN_UPPER, upper_32_bits(from), lower_32_bits(from), 0,
	     VA_DATA + TO);
	PUSH(c, SUBCH_COPY, A0B5_LINE_LENGTH_IN, COPY_LEN, 1);
	PUSH(c, SUBCH_COPY, A0B5_LAUNCH_DMA,
	     FIELD_PREP(A0B5_LAUNCH_TRANSFER, A0B5_TRANSFER_NON_PIPELINED) | A0B5_LAUNCH_FLUSH |
		     A0B5_LAUNCH_SRC_PITCH | A0B5_LAUNCH_DST_PITCH);
}

/* ------------------------------------------------------------------ a card that works */

static bool has(u8 runl, bool gr)
{
	unsigned int e;

	for (e = 0; e < hw.topo.nr_engines; e++)
		if (hw.topo.engine[e].runl == runl && !hw.topo.engine[e].type == gr)
			return true;
	return false;
}

static bool is_served(u8 runl)
{
	unsigned int p;

	for (p = 0; p < hw.topo.nr_pbdma; p++)
		if (hw.topo.pbdma_runl[p] & BIT(runl))
			return true;
	return false;
}

/* The channel does what its runlist's engines can. */
static void chan_works(struct chan *c)
{
	u8 from[COPY_LEN], to[COPY_LEN];
	u32 i;

	if (has(c->runl, false)) {
		for (i = 0; i < COPY_LEN; i++)
			from[i] = i * 7 + c->id.v + c->put;
		memcpy_toio(c->data.cpu + FROM, from, COPY_LEN);
		push_copy(c, VA_DATA + FROM);
		chan_run(c);
		memcpy_fromio(to, c->data.cpu + TO, COPY_LEN);
		assert_memory_equal(from, to, COPY_LEN);
	}
	if (has(c->runl, true)) {
		PUSH(c, SUBCH_COMPUTE, M_SET_OBJECT, CLASS_COMPUTE);
		PUSH(c, SUBCH_COMPUTE, M_REPORT_SEMAPHORE_A, 0, VA_DATA + FROM, 0x4b455000 + c->put,
		     M_REPORT_OPERATION_RELEASE | M_REPORT_ONE_WORD);
		i = 0x4b455000 + c->put;
		chan_run(c);
		assert_int_equal(hw_vram_rd32(&c->data, FROM), i);
	}
	chan_run(c);
}

static void each_runlist_runs(void)
{
	struct chan c;
	u8 r;

	for (r = 0; r < hw.topo.nr_runl; r++) {
		assert_true(is_served(r));
		chan_make(&c, 8 + 8 * r, r);
		chan_list(&c, true);
		chan_works(&c);
		chan_end(&c);
	}
}

/* An engine that was reset works for the next channel. GR gets its context back from memory. */
static void each_engine_resets(void)
{
	struct chan c;
	u8 e, r;

	for (e = 0; e < hw.topo.nr_engines; e++) {
		r = hw.topo.engine[e].runl;
		chan_make(&c, 72 + 8 * e, r);
		chan_list(&c, true);
		chan_works(&c);
		chan_list(&c, false);
		assert_int_equal(kvgpu_hw_preempt(&hw, false, c.id.v, WAIT_MS, NULL, NULL), 0);
		assert_int_equal(kvgpu_hw_engine_reset(&hw, e), 0);
		chan_list(&c, true);
		chan_works(&c);
		chan_end(&c);
	}
}

/* Each stops its channel, which goes on when the driver has acknowledged it. */
static void errors_are_told(void)
{
	struct chan c;

	chan_make(&c, 112, hw.topo.engine[0].runl);
	chan_list(&c, true);
	PUSH(&c, 0, HOST_ILLEGAL, 0x1234);
	chan_run(&c);
	wait_for(&told.pbdmas, 1, "error of a PBDMA");
	assert_int_equal(told.pbdma.chid.v, c.id.v);
	assert_true(told.pbdma.intr0);
	assert_int_equal(told.pbdma.data, 0x1234);
	PUSH(&c, SUBCH_COMPUTE, M_SET_OBJECT, 0x1234);
	chan_run(&c);
	wait_for(&told.grs, 1, "exception of GR");
	assert_int_equal(told.gr_inst, c.inst.at.v);
	chan_works(&c);
	chan_end(&c);
}

/* A fault stops the runlist, until its engine is reset. */
static void faults_are_told(void)
{
	u8 runl = hw.topo.engine[1].runl, e;
	struct chan c;

	chan_make(&c, 120, runl);
	chan_list(&c, true);
	push_copy(&c, VA_NONE + FROM);
	chan_ring(&c);
	wait_for(&told.faults, 1, "fault");
	assert_int_equal(told.fault.inst, c.inst.at.v);
	assert_int_equal(told.fault.va & ~0xfffull, VA_NONE);
	for (e = 1; hw.topo.engine[e].fault != told.fault.unit; e++)
		assert_true(e + 1 < hw.topo.nr_engines);
	kvgpu_hw_chan_enable(&hw, c.id, c.runl, false);
	kvgpu_hw_runl_block(&hw, c.runl, true);
	assert_int_equal(kvgpu_hw_engine_reset(&hw, e), 0);
	kvgpu_hw_runl_clear_error(&hw, c.runl);
	kvgpu_hw_runl_block(&hw, c.runl, false);
	chan_end(&c);
	chan_make(&c, 120, runl);
	chan_list(&c, true);
	chan_works(&c);
	chan_end(&c);
}

/* ------------------------------------------------------------------ what bring-up has found out */

/* What a driver may have left off that had the card before. */
#define LEFT_OFF                                                                     \
	(PMC_ENABLE_PMU | PMC_ENABLE_TIMER | PMC_ENABLE_PCOUNTER | PMC_ENABLE_FIFO | \
	 PMC_ENABLE_GR | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_CE2)

static void units_are_on(void)
{
	size_t len = PAGE_SIZE;

	assert_int_equal(kvgpu_hw_peek(&hw, PMC_ENABLE) & LEFT_OFF, LEFT_OFF);
	assert_non_null(
		card_host_memory((u64)kvgpu_hw_peek(&hw, FB_NISO_FLUSH_SYSMEM_ADDR) << 8, &len));
	assert_int_equal(len, PAGE_SIZE);
}

static void wiring_is_known(void)
{
	unsigned int i, tpcs = 0;
	s64 off;

	card_wiring(&wiring);
	assert_int_equal(hw.vram_size, wiring.vram_size);
	assert_int_equal(hw.topo.nr_engines, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(hw.topo.engine[i].type, i);
		assert_int_equal(hw.topo.engine[i].runl, wiring.runlist[i]);
	}
	for (i = 0; i < hw.topo.gpcs; i++)
		tpcs += hw.topo.tpcs[i];
	assert_int_equal(tpcs, wiring.tpcs);
	off = kvgpu_hw_time(&hw, 0) - ktime_get_real_ns();
	assert_true(off > -WAIT_MS * 1000000ll && off < WAIT_MS * 1000000ll);
}

static const u32 *image_list(const u32 *image, u32 addr, u32 count, u32 pitch)
{
	u32 k;

	for (k = 0; k < count; k++, image++)
		if (*image != kvgpu_hw_peek(&hw, addr + k * pitch))
			harness_fail("golden image: register 0x%06x is 0x%08x", addr + k * pitch,
				     *image);
	return image;
}

/*
 * Behind its header the image has the registers of FECS's lists, first those of the microcode, then
 * those of the file. They have had their values since the golden context was made.
 */
static void golden_image_is_sane(void)
{
	const struct fwfile *f = &hw.p->fw->file;
	u32 *image = malloc(hw.gr_ctx_size), *dirty = malloc(hw.gr_ctx_size), i, wrong = 0;
	u32 first = hw_fwfile_word(f, KVGPU_FW_FECS_DATA, 0) / 4,
	    end = hw_fwfile_word(f, KVGPU_FW_FECS_DATA, 1) / 4;
	const u32 *at = image + GR_CTX_HEADER / 4;

	memcpy(image, card_vram(hw.p->gr.golden.at.v), hw.gr_ctx_size);
	for (i = 0; i < GR_CTX_HEADER / 4; i++)
		assert_int_equal(image[i], 0);
	for (i = first; i < end; i++) {
		u32 run = hw_fwfile_word(f, KVGPU_FW_FECS_DATA, i);

		at = image_list(at, run & CTX_LIST_ADDR, FIELD_GET(CTX_LIST_COUNT, run) + 1, 4);
	}
	for (i = 0; i < hw_fwfile_entries(f, KVGPU_FW_CTX_HUB); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, KVGPU_FW_CTX_HUB, i);

		wrong += *at != e.data;
		at = image_list(at, e.addr, e.count, e.pitch);
	}
	/* a few registers depend on the card's units */
	assert_true(wrong <= 1 + hw_fwfile_entries(f, KVGPU_FW_CTX_HUB) / 4);
	memset(dirty, 0xa5, hw.gr_ctx_size);
	for (i = 0; i < hw.gr_ctx_size / 4; i++)
		assert_int_not_equal(image[i], dirty[i]);
	free(dirty);
	free(image);
}

/*
 * All of each falcon's own program is there. Of FECS's data its list of registers is in the golden
 * image. Behind the offsets of lists a GPCCS has data that the driver does not change.
 */
static void falcons_hold_their_programs(void)
{
	const u32 first = (GPCCS_OS_LIST_END + 4) / 4;
	const struct fwfile *f = &hw.p->fw->file;
	int gpc;
	u32 i;

	for (i = 0; i < hw_fwfile_words(f, KVGPU_FW_FECS_CODE); i++)
		assert_int_equal(card_imem(-1, i), hw_fwfile_word(f, KVGPU_FW_FECS_CODE, i));
	for (gpc = 0; gpc < hw.topo.gpcs; gpc++) {
		for (i = 0; i < hw_fwfile_words(f, KVGPU_FW_GPCCS_CODE); i++)
			assert_int_equal(card_imem(gpc, i),
					 hw_fwfile_word(f, KVGPU_FW_GPCCS_CODE, i));
		for (i = first; i < hw_fwfile_words(f, KVGPU_FW_GPCCS_DATA); i++)
			assert_int_equal(card_dmem(gpc, i),
					 hw_fwfile_word(f, KVGPU_FW_GPCCS_DATA, i));
	}
}

/* A page of a BAR that showed other memory before, and was loaded from. */
static void window_shows(enum kvgpu_bar bar, u32 page)
{
	u64 at[2] = { hw.part_first, hw.part_first + PAGE_SIZE }, pte;
	void *cpu = ioremap(hw.bar[bar].phys + page * PAGE_SIZE, PAGE_SIZE);
	u32 i;

	for (i = 0; i < 4; i++) {
		pte = GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, at[i % 2] >> GMMU_ADDR_SHIFT);
		*(u32 *)card_vram(at[i % 2] + 8) = 0xcafe0000 + i;
		kvgpu_hw_bar_set(&hw, bar, page, &pte, 1);
		assert_int_equal(kvgpu_hw_bar_flush(&hw, bar), 0);
		assert_int_equal(ioread32(cpu + 8), 0xcafe0000 + i);
		iowrite32(~i, cpu + 8);
		assert_int_equal(kvgpu_hw_flush_writes(&hw), 0);
		assert_int_equal(*(u32 *)card_vram(at[i % 2] + 8), ~i);
	}
}

static void windows_show_what_is_set(void)
{
	window_shows(KVGPU_BAR1, (KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE) >> PAGE_SHIFT);
	window_shows(KVGPU_BAR3, 5);
	window_shows(KVGPU_BAR3, hw.p->bar[KVGPU_BAR3].pages - 1);
}

/* @n bytes, and that the byte behind them is left as it was */
static void copy_is_right(u32 n)
{
	const u64 from = hw.part_first, to = hw.part_first + (64ull << 20);
	u8 *a = card_vram(from), *b = card_vram(to), *sys;
	dma_addr_t dma;
	u32 k, other = 0;

	for (k = 0; k <= n; k++)
		a[k] = k * 13 + (k >> 8) + n;
	b[n] = ~a[n];
	assert_int_equal(kvgpu_hw_copy_vram(&hw, (hvram_t){ to }, (hvram_t){ from }, n), 0);
	assert_memory_equal(a, b, n);
	sys = dma_alloc_coherent(&pdev.dev, n, &dma, GFP_KERNEL);
	assert_int_equal(kvgpu_hw_copy_to_sys(&hw, dma, (hvram_t){ to }, n), 0);
	assert_memory_equal(a, sys, n);
	dma_free_coherent(&pdev.dev, n, sys, dma);
	assert_int_equal(kvgpu_hw_fill(&hw, (hvram_t){ to }, n, 0x1badf00d), 0);
	for (k = 0; k < n; k += 4)
		other += *(u32 *)(b + k) != 0x1badf00d;
	assert_int_equal(other, 0);
	assert_int_equal(b[n], (u8)~a[n]);
}

static void copies_are_right(void)
{
	static const u32 sizes[] = { 4, 0x1000, 0x12344, 1 << 20 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		copy_is_right(sizes[i]);
}

/* ------------------------------------------------------------------ lives of a card */

static void card_is_well(unsigned int mmu_faults)
{
	struct card_faults f;

	card_faults(&f);
	if (f.unanswered)
		harness_fail("%u accesses were not answered, first of 0x%06x", f.unanswered, f.reg);
	assert_int_equal(f.bar, 0);
	assert_int_equal(f.dma, 0);
	assert_int_equal(f.early, 0);
	assert_int_equal(f.mmu, mmu_faults);
	assert_int_equal(hw.stats.unhandled, 0);
	assert_int_equal(told.ces, 0);
	assert_int_equal(told.timeouts, 0);
	assert_int_equal(told.stucks, 0);
	assert_int_equal(kernel_errors(), 0);
}

static void life(unsigned int mmu_faults)
{
	u64 left;
	int ret;

	kernel_begin(&pdev);
	memset(&hw, 0, sizeof(hw));
	memset(&told, 0, sizeof(told));
	ret = kvgpu_hw_init(&hw, &pdev, &events, NULL);
	if (ret)
		harness_fail("bring-up of %s, die %u: %d", boards[board], seed, ret);
	card_is_well(mmu_faults);
	left = kvgpu_hw_vram_left(&hw);
	units_are_on();
	wiring_is_known();
	windows_show_what_is_set();
	golden_image_is_sane();
	falcons_hold_their_programs();
	copies_are_right();
	each_runlist_runs();
	if (!seed)
		each_engine_resets();
	card_is_well(mmu_faults);
	if (!seed) {
		errors_are_told();
		faults_are_told();
		card_is_well(mmu_faults + 1);
	}
	assert_true(kernel_interrupts() > 0);
	assert_int_equal(kvgpu_hw_vram_left(&hw), left);
	kvgpu_hw_fini(&hw);
	assert_int_equal(card_read(PMC_INTR_EN(PMC_LEAF_HOST), 4), 0);
	assert_int_equal(card_read(PMC_ENABLE, 4) & (PMC_ENABLE_FIFO | PMC_ENABLE_GR), 0);
	kernel_end();
}

static void board_comes_up(void)
{
	for (seed = 0; seed <= SEEDS; seed++) {
		assert_true(card_make(boards[board], seed));
		life(0);
		if (!seed) {
			card_write(PMC_ENABLE, 4, card_read(PMC_ENABLE, 4) & ~LEFT_OFF);
			life(1);
		}
		card_unmake();
	}
}

/* Each board in a process of its own, all at once: most of a life is waiting. */
TEST(boards_come_up)
{
	unsigned int failed = 0;
	pid_t pids[ARRAY_SIZE(boards)];
	int status;

	fflush(NULL);
	for (board = 0; board < ARRAY_SIZE(boards); board++) {
		pids[board] = fork();
		assert_int_not_equal(pids[board], -1);
		if (!pids[board]) {
			board_comes_up();
			exit(0);
		}
	}
	while (board--) {
		assert_int_equal(waitpid(pids[board], &status, 0), pids[board]);
		if (status)
			print_error("%s fails: 0x%x\n", boards[board], status);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
}

/* The host's channel has a runlist without guests' channels, or the card is refused. */
TEST(one_runlist_is_refused)
{
	assert_true(card_make("flat", 0));
	kernel_begin(&pdev);
	memset(&hw, 0, sizeof(hw));
	assert_int_equal(kvgpu_hw_init(&hw, &pdev, &events, NULL), -ENODEV);
	kernel_end();
	card_unmake();
}

static void firmware_read(void)
{
	static u8 file[1 << 20];
	const char *path = getenv("KVGPU_FW");
	FILE *f = path ? fopen(path, "rb") : NULL;

	if (!path)
		return;
	if (!f)
		harness_fail("%s can't be opened", path);
	kernel_firmware(file, fread(file, 1, sizeof(file), f));
	fclose(f);
}

int main(void)
{
	firmware_read();
	return unit_tests_run(NULL, NULL, NULL, NULL);
}
