// SPDX-License-Identifier: GPL-2.0-only
/* The fakes around PFIFO, see chip.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fifo/chip.h"

struct chip *chip;

/* --------------------------------------------------------- what the model's other parts provide */

void gk110_err(const char *fmt, ...)
{
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
	atomic_fetch_add(&chip->nr_notes, 1);
}

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
	reg_set(g, 0x100, level ? 1u << bit : 0);
}

void pmc_intr_set_nrhost(struct gk110 *g, unsigned int bit, bool level)
{
	reg_set(g, 0x104, level ? 1u << bit : 0);
}

uint64_t ptimer_now(struct gk110 *g)
{
	return mono_ns() & ~31ull;
}

static bool in_mem(uint64_t addr, size_t len)
{
	return addr < CHIP_HOLE && len <= CHIP_HOLE - addr;
}

/* Copies word by word, so that a poll by the CPU does not see half of a word. */
static void copy_words(uint8_t *to, const uint8_t *from, size_t len)
{
	for (; len >= 4; len -= 4, to += 4, from += 4)
		__atomic_store_n((uint32_t *)to,
				 __atomic_load_n((const uint32_t *)from, __ATOMIC_SEQ_CST),
				 __ATOMIC_SEQ_CST);
	assert_int_equal(len, 0);
}

bool mem_read(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len)
{
	if (t == MEM_PEER || !in_mem(addr, len))
		return false;
	copy_words(buf, chip->mem + addr, len);
	return true;
}

bool mem_write(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len)
{
	if (t == MEM_PEER || !in_mem(addr, len))
		return false;
	copy_words(chip->mem + addr, buf, len);
	return true;
}

bool mmu_space_load(struct gk110 *g, uint64_t inst, enum mem_target t, struct mmu_space *s)
{
	s->pdb = mem_get(inst + 0x200);
	s->limit = CHIP_HOLE - 1;
	s->inst = inst;
	s->valid = true;
	return true;
}

int mmu_client_init(struct gk110 *g, struct mmu_client *c, const char *name, uint8_t unit,
		    uint8_t client, int gpc)
{
	*c = (struct mmu_client){ .name = name, .unit = unit, .client = client, .gpc = gpc };
	return 0;
}

void mmu_client_fini(struct gk110 *g, struct mmu_client *c)
{
}

void mmu_fault(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	       enum mmu_reason why, enum mmu_access acc, unsigned int flags)
{
	uint32_t rec = PFIFO_MMU_FAULT_RECORDS + 16u * c->unit;

	if (!(flags & MMU_LOCKED))
		pthread_mutex_lock(&g->lock);
	reg_set(g, rec, s->inst >> 12);
	reg_set(g, rec + 4, va);
	reg_set(g, rec + 12, why | 0x40 | (uint32_t)c->client << 8);
	reg_set(g, PFIFO_MMU_FAULT_SOURCE, reg_get(g, PFIFO_MMU_FAULT_SOURCE) | 1u << c->unit);
	fifo_intr_update(g);
	if (!(flags & MMU_LOCKED))
		pthread_mutex_unlock(&g->lock);
}

int mmu_translate(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		  size_t want, enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	if (!in_mem(va, 1)) {
		mmu_fault(g, c, s, va, MMU_PTE, acc, flags);
		return -EFAULT;
	}
	*seg = (struct mmu_seg){ .ptr = chip->mem + va, .len = want, .phys = va };
	return 0;
}

int mmu_read(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	     void *buf, size_t len, unsigned int flags)
{
	if (!in_mem(va, len)) {
		mmu_fault(g, c, s, va, MMU_PTE, ACC_READ, flags);
		return -EFAULT;
	}
	copy_words(buf, chip->mem + va, len);
	return 0;
}

void mmu_tlb_invalidate(struct gk110 *g, uint64_t pdb, enum mem_target t, unsigned int what)
{
	chip->inv_pdb = pdb;
	chip->inv_target = t;
	chip->inv_flags = what;
	chip->invalidates++;
}

/* ------------------------------------------------------------------ engines */

static void record(const struct log_entry *e)
{
	pthread_mutex_lock(&chip->log_lock);
	chip->log = realloc(chip->log, (chip->nr_log + 1) * sizeof(*e));
	chip->log[chip->nr_log++] = *e;
	pthread_mutex_unlock(&chip->log_lock);
}

static enum eng_ret fault(struct gk110 *g, unsigned int engine, struct chan *c)
{
	struct mmu_client cl = { .unit = g->engine[engine].fault_unit,
				 .client = g->engine[engine].hub_client,
				 .gpc = -1 };

	mmu_fault(g, &cl, &c->vm, 0xdead000, MMU_PTE, ACC_WRITE, 0);
	return ENG_FAULT;
}

static enum eng_ret wait_stop(struct chan *c)
{
	enum eng_ret ret = ENG_DONE;

	atomic_fetch_add(&chip->waiting, 1);
	while (!atomic_load(&chip->go)) {
		if (atomic_load(&c->stop)) {
			atomic_fetch_add(&chip->again, 1);
			ret = ENG_AGAIN;
			break;
		}
		usleep(50);
	}
	atomic_fetch_sub(&chip->waiting, 1);
	return ret;
}

static enum eng_ret hang(unsigned int engine)
{
	unsigned int resets = atomic_load(&chip->resets[engine]);

	atomic_fetch_add(&chip->waiting, 1);
	while (!atomic_load(&chip->go) && atomic_load(&chip->resets[engine]) == resets)
		usleep(50);
	atomic_fetch_sub(&chip->waiting, 1);
	return ENG_DONE;
}

static void spin(uint32_t us)
{
	if (clock_stopped())
		clock_move(us * 1000ull);
	else
		usleep(us);
}

static enum eng_ret act(struct gk110 *g, unsigned int engine, struct chan *c, uint32_t mthd,
			uint32_t data)
{
	switch (mthd) {
	case M_WAIT:
		return wait_stop(c);
	case M_HANG:
		return hang(engine);
	case M_FAULT:
		return fault(g, engine, c);
	case M_STALL:
		atomic_store(&chip->halted[engine], true);
		return ENG_STALL;
	case M_PRIV:
		return ENG_PRIV;
	case M_ILLEGAL:
		return ENG_ILLEGAL_MTHD;
	case M_SPIN:
		spin(data);
		return ENG_DONE;
	default:
		return ENG_DONE;
	}
}

static enum eng_ret method(struct gk110 *g, unsigned int engine, struct chan *c, unsigned int subc,
			   uint32_t mthd, uint32_t data, bool last)
{
	const struct log_entry e = { engine, c->id, subc, mthd, data, last };
	enum eng_ret ret;

	if (atomic_fetch_add(&chip->inside[engine], 1))
		atomic_fetch_add(&chip->overlap, 1);
	record(&e);
	ret = act(g, engine, c, mthd, data);
	atomic_fetch_sub(&chip->inside[engine], 1);
	return ret;
}

static enum eng_ret gr_method(struct gk110 *g, unsigned int inst, struct chan *c, unsigned int subc,
			      uint32_t mthd, uint32_t data, bool last)
{
	if (atomic_load(&chip->resident) != (int)c->id)
		atomic_fetch_add(&chip->overlap, 1);
	return method(g, GR, c, subc, mthd, data, last);
}

static enum eng_ret ce_method(struct gk110 *g, unsigned int inst, struct chan *c, unsigned int subc,
			      uint32_t mthd, uint32_t data, bool last)
{
	c->ce_state[mthd >> 2 & 31] = data;
	return method(g, CE0 + inst, c, subc, mthd, data, last);
}

static int gr_load(struct gk110 *g, unsigned int inst, struct chan *c)
{
	if (atomic_load(&chip->load_dead))
		return -EIO;
	atomic_fetch_add(&chip->loads, 1);
	atomic_store(&chip->resident, (int)c->id);
	return 0;
}

static int gr_save(struct gk110 *g, unsigned int inst, struct chan *c)
{
	atomic_fetch_add(&chip->saves, 1);
	if (atomic_exchange(&chip->save_faults, false)) {
		fault(g, GR, c);
		return -EFAULT;
	}
	if (atomic_exchange(&chip->resident, -1) != (int)c->id)
		atomic_fetch_add(&chip->overlap, 1);
	return 0;
}

static void engine_reset(unsigned int engine)
{
	atomic_fetch_add(&chip->resets[engine], 1);
	atomic_store(&chip->halted[engine], false);
	if (engine != GR)
		return;
	atomic_store(&chip->resident, -1);
	atomic_store(&chip->load_dead, false);
}

static void gr_reset(struct gk110 *g, unsigned int inst)
{
	engine_reset(GR);
}

static void ce_reset(struct gk110 *g, unsigned int inst)
{
	engine_reset(CE0 + inst);
}

static bool gr_stalled(struct gk110 *g, unsigned int inst)
{
	return atomic_load(&chip->halted[GR]);
}

static bool ce_stalled(struct gk110 *g, unsigned int inst)
{
	return atomic_load(&chip->halted[CE0 + inst]);
}

static bool ce_class(uint32_t cls)
{
	return cls == 0xa0b5;
}

const struct engine_ops gr_engine = { .name = "GR",
				      .method = gr_method,
				      .load = gr_load,
				      .save = gr_save,
				      .reset = gr_reset,
				      .stalled = gr_stalled };
const struct engine_ops ce_engine = { .name = "CE",
				      .method = ce_method,
				      .reset = ce_reset,
				      .stalled = ce_stalled,
				      .has_class = ce_class };

void chip_resume(unsigned int engine)
{
	pthread_mutex_lock(&chip->g.lock);
	atomic_store(&chip->halted[engine], false);
	fifo_engine_resume(&chip->g, engine);
	pthread_mutex_unlock(&chip->g.lock);
}

/* --------------------------------------------------- registers and memory as software sees them */

static const struct mmio_range *range_of(uint32_t reg)
{
	unsigned int i;

	for (i = 0; i < fifo_unit.nr_ranges; i++)
		if (reg - fifo_unit.ranges[i].base < fifo_unit.ranges[i].size)
			return &fifo_unit.ranges[i];
	return NULL;
}

uint32_t rd(uint32_t reg)
{
	const struct mmio_range *r = range_of(reg);
	uint32_t v;

	pthread_mutex_lock(&chip->g.lock);
	v = r ? r->read(&chip->g, reg) : reg_get(&chip->g, reg);
	pthread_mutex_unlock(&chip->g.lock);
	return v;
}

void wr(uint32_t reg, uint32_t val)
{
	const struct mmio_range *r = range_of(reg);

	pthread_mutex_lock(&chip->g.lock);
	if (r)
		r->write(&chip->g, reg, val, ~0u);
	else if (reg == PFIFO_MMU_FAULT_SOURCE) {
		reg_set(&chip->g, reg, reg_get(&chip->g, reg) & ~val);
		fifo_intr_update(&chip->g);
	}
	pthread_mutex_unlock(&chip->g.lock);
}

void mask(uint32_t reg, uint32_t m, uint32_t val)
{
	wr(reg, (rd(reg) & ~m) | val);
}

uint32_t *mem(uint64_t addr)
{
	return (uint32_t *)(chip->mem + addr);
}

uint32_t mem_get(uint64_t addr)
{
	return __atomic_load_n(mem(addr), __ATOMIC_SEQ_CST);
}

void mem_set(uint64_t addr, uint32_t val)
{
	__atomic_store_n(mem(addr), val, __ATOMIC_SEQ_CST);
}

/* --------------------------------------------------------------- channels as nouveau makes them */

void chan_init(unsigned int c, unsigned int r)
{
	static const struct {
		uint32_t off, val;
	} ramfc[] = {
		{ 0x10, 0xface },     { 0x30, 0xfffff902 }, { 0x84, 0x20400000 },
		{ 0x94, 0x30000fff }, { 0x9c, 0x100 },	    { 0xac, 0x1f },
		{ 0xb8, 0xf8000000 }, { 0xf8, 0x10003080 }, { 0xfc, 0x10000010 },
	};
	unsigned int i;

	for (i = 0; i < 0x1000; i += 4)
		mem_set(INST(c) + i, 0);
	for (i = 0; i < USERD_SIZE; i += 4)
		mem_set(USERD(c) + i, 0);
	for (i = 0; i < sizeof(ramfc) / sizeof(ramfc[0]); i++)
		mem_set(INST(c) + ramfc[i].off, ramfc[i].val);
	mem_set(INST(c) + 0x08, USERD(c));
	mem_set(INST(c) + 0x48, GPFIFO(c));
	mem_set(INST(c) + 0x4c, 7 << 16);
	mem_set(INST(c) + 0xe8, c);
	mem_set(INST(c) + 0x200, 0x10000 + c);
	mem_set(INST(c) + 0x210, (0x05000000 + c * 0x1000) | 4);
	chip->put[c] = chip->push_at[c] = 0;
}

void chan_bind(unsigned int c, unsigned int r)
{
	mask(0x800004 + 8 * c, 0xf0000, r << 16);
	wr(0x800000 + 8 * c, 0x80000000 | INST(c) >> 12);
}

void chan_enable(unsigned int c)
{
	mask(0x800004 + 8 * c, 0x400, 0x400);
}

void chan_disable(unsigned int c)
{
	mask(0x800004 + 8 * c, 0x800, 0x800);
}

void runlist(unsigned int r, const uint32_t *words, unsigned int n)
{
	static unsigned int turn;
	uint64_t at = RUNLIST_MEM + (turn++ % 4) * 0x10000;
	unsigned int i;

	for (i = 0; i < n; i++) {
		mem_set(at + 8 * i, words[i]);
		mem_set(at + 8 * i + 4, 0);
	}
	wr(0x2270, at >> 12);
	wr(0x2274, r << 20 | n);
}

void chans(unsigned int n, unsigned int r)
{
	uint32_t *ids = calloc(n, sizeof(*ids));
	unsigned int c;

	for (c = 0; c < n; c++) {
		chan_init(c, r);
		chan_bind(c, r);
		chan_enable(c);
		ids[c] = c;
	}
	runlist(r, ids, n);
	free(ids);
}

void gp_raw(unsigned int c, uint32_t dw0, uint32_t dw1)
{
	mem_set(GPFIFO(c) + 8 * chip->put[c], dw0);
	mem_set(GPFIFO(c) + 8 * chip->put[c] + 4, dw1);
	chip->put[c] = (chip->put[c] + 1) % RING;
}

void push(unsigned int c, const uint32_t *words, unsigned int n, uint32_t dw1)
{
	uint64_t at;
	unsigned int i;

	if (chip->push_at[c] + 4 * n > 0x1000)
		chip->push_at[c] = 0;
	at = PUSH(c) + chip->push_at[c];
	chip->push_at[c] += 4 * n;
	for (i = 0; i < n; i++)
		mem_set(at + 4 * i, words[i]);
	gp_raw(c, at, n << 10 | dw1);
}

void put_write(unsigned int c, uint32_t put)
{
	mem_set(USERD(c) + USERD_GP_PUT, put);
	pthread_mutex_lock(&chip->g.lock);
	fifo_bar1_written(&chip->g, BAR1_USERD + c * 0x200 + 0x8c, 4);
	pthread_mutex_unlock(&chip->g.lock);
}

void doorbell(unsigned int c)
{
	put_write(c, chip->put[c]);
}

unsigned int log_count(void)
{
	unsigned int n;

	pthread_mutex_lock(&chip->log_lock);
	n = chip->nr_log;
	pthread_mutex_unlock(&chip->log_lock);
	return n;
}

struct log_entry log_at(unsigned int i)
{
	struct log_entry e = { 0 };

	pthread_mutex_lock(&chip->log_lock);
	if (i < chip->nr_log)
		e = chip->log[i];
	pthread_mutex_unlock(&chip->log_lock);
	return e;
}

unsigned int logged(unsigned int engine, unsigned int chid)
{
	unsigned int i, n = 0;

	pthread_mutex_lock(&chip->log_lock);
	for (i = 0; i < chip->nr_log; i++)
		n += chip->log[i].engine == engine && chip->log[i].chid == chid &&
		     chip->log[i].mthd == M_NOTE;
	pthread_mutex_unlock(&chip->log_lock);
	return n;
}

unsigned int acquire_sleepers(void)
{
	unsigned int n;

	pthread_mutex_lock(&chip->g.lock);
	n = atomic_load(&chip->g.fifo->acq_sleepers);
	pthread_mutex_unlock(&chip->g.lock);
	return n;
}

void preempt_wait(uint32_t val)
{
	wr(0x2634, val);
	eventually(!(rd(0x2634) & 0x100000));
}

void doorbell_wait_idle(unsigned int c)
{
	doorbell(c);
	eventually(mem_get(USERD(c) + USERD_GP_GET) == chip->put[c] &&
		   !(rd(0x800004 + 8 * c) & 0x10000000));
}

/* ------------------------------------------------------------------ life */

enum layout { LAYOUT_FLAT, LAYOUT_CARD, LAYOUT_ONE };

static void engines(struct gk110 *g, enum layout layout)
{
	static const uint8_t units[] = { 0x00, 0x15, 0x16, 0x1b };
	bool card = layout == LAYOUT_CARD;
	unsigned int e;

	g->nr_engines = 4;
	g->nr_pbdma = 3;
	g->nr_runlists = card ? 3 : 1;
	for (e = 0; e < 4; e++) {
		g->engine[e].type = (enum engine_type)e;
		g->engine[e].id = e;
		g->engine[e].inst = e ? e - 1 : 0;
		g->engine[e].runlist = card && (e == 1 || e == 2) ? e : 0;
		g->engine[e].fault_unit = units[e];
		g->engine[e].ops = e ? &ce_engine : &gr_engine;
	}
	g->pbdma_runlists[0] = 1;
	g->pbdma_runlists[1] = card ? 2 : layout == LAYOUT_FLAT;
	g->pbdma_runlists[2] = card ? 4 : 0;
}

static void *sparse(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
}

static int setup(enum layout layout)
{
	struct gk110 *g;

	chip = calloc(1, sizeof(*chip));
	g = &chip->g;
	chip->mem = sparse(CHIP_MEM);
	g->regs = sparse(GK110_BAR0_SIZE);
	pthread_mutex_init(&g->lock, NULL);
	pthread_rwlock_init(&g->dma_lock, NULL);
	pthread_mutex_init(&chip->log_lock, NULL);
	atomic_store(&chip->resident, -1);
	engines(g, layout);
	if (fifo_unit.init(g))
		return -1;
	pthread_mutex_lock(&g->lock);
	fifo_unit.reset(g);
	pthread_mutex_unlock(&g->lock);
	if (fifo_unit.start(g))
		return -1;
	/* as nouveau's gf100_runq_init() and gk104_fifo_init() do */
	for (unsigned int p = 0; p < 3; p++) {
		mask(0x4013c + 0x2000 * p, 0x10000100, 0);
		wr(0x40108 + 0x2000 * p, ~0u);
		wr(0x4010c + 0x2000 * p, 0xfffffeff);
		wr(0x40148 + 0x2000 * p, ~0u);
		wr(0x4014c + 0x2000 * p, ~0u);
	}
	wr(0x2254, 0x10000000 | BAR1_USERD >> 12);
	wr(0x2100, ~0u);
	wr(0x2140, 0x7fffffff);
	return 0;
}

int chip_setup(void **state)
{
	return setup(LAYOUT_FLAT);
}

int chip_setup_card(void **state)
{
	return setup(LAYOUT_CARD);
}

int chip_setup_one(void **state)
{
	return setup(LAYOUT_ONE);
}

int chip_teardown(void **state)
{
	uint64_t start = real_ns();
	int late;

	clock_run();
	atomic_store(&chip->go, true); /* a failed test may have left methods that wait for this */
	fifo_unit.stop(&chip->g);
	late = real_ns() - start > 20000000000ull;
	if (late)
		print_error("stop took more than 20 s\n");
	if (atomic_load(&chip->overlap)) {
		print_error("an engine was used by two, or without its context\n");
		late = 1;
	}
	fifo_unit.fini(&chip->g);
	munmap(chip->mem, CHIP_MEM);
	munmap(chip->g.regs, GK110_BAR0_SIZE);
	free(chip->log);
	free(chip);
	chip = NULL;
	return late;
}
