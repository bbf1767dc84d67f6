// SPDX-License-Identifier: GPL-2.0-only
/* The surroundings of gr/, see fake.h. */
#include "gr/fake.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAMIN_PDB  0x200
#define MAX_RANGES 16

static struct fake *fake_of(struct gk110 *g)
{
	return (struct fake *)g;
}

/* ---------------------------------------------------------------- rest of the model */

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
	struct fake *f = fake_of(g);

	f->irq_lines = level ? f->irq_lines | 1u << bit : f->irq_lines & ~(1u << bit);
}

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
	fake_of(g)->resumed++;
}

void fifo_kick(struct gk110 *g)
{
	fake_of(g)->kicked++;
}

uint64_t ptimer_now(struct gk110 *g)
{
	return fake_of(g)->time += 32;
}

void pacer_charge(struct pacer *p, uint64_t units, const atomic_bool *stop)
{
	/*
	 * A pacer does not lead to its device. So the charge counts for the fake that was made
	 * last.
	 */
	extern struct fake *fake_charged;

	fake_charged->warps_charged += units;
	if (fake_charged->stop_when_charged)
		atomic_store(&fake_charged->charging->stop, true);
}

struct fake *fake_charged;

void pacer_begin(struct pacer *p)
{
}

void pacer_end(struct pacer *p)
{
}

void gk110_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fake_of(g)->note, sizeof(fake_of(g)->note), fmt, ap);
	va_end(ap);
}

/* ---------------------------------------------------------------- memory */

bool mem_read(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len)
{
	if (t != MEM_VRAM || addr > FAKE_VRAM || len > FAKE_VRAM - addr)
		return false;
	memcpy(buf, g->vram + addr, len);
	return true;
}

bool mem_write(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len)
{
	if (t != MEM_VRAM || addr > FAKE_VRAM || len > FAKE_VRAM - addr)
		return false;
	memcpy(g->vram + addr, buf, len);
	return true;
}

bool mmu_space_load(struct gk110 *g, uint64_t inst, enum mem_target t, struct mmu_space *s)
{
	uint64_t pdb;

	s->valid = mem_read(g, t, inst + RAMIN_PDB, &pdb, sizeof(pdb));
	s->pdb = s->valid ? pdb & ~0xfffull : 0;
	s->inst = inst;
	s->limit = FAKE_SPACE - 1;
	return s->valid;
}

int mmu_client_init(struct gk110 *g, struct mmu_client *c, const char *name, uint8_t unit,
		    uint8_t client, int gpc)
{
	c->name = name;
	c->unit = unit;
	c->client = client;
	c->gpc = gpc;
	return 0;
}

void mmu_client_fini(struct gk110 *g, struct mmu_client *c)
{
}

static bool lock_is_mine(struct gk110 *g)
{
	int ret = pthread_mutex_lock(&g->lock);

	if (!ret)
		pthread_mutex_unlock(&g->lock);
	return ret == EDEADLK;
}

static void check_lock(struct gk110 *g, unsigned int flags)
{
	assert(lock_is_mine(g) == !!(flags & MMU_LOCKED));
}

static uint8_t *walk(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		     size_t len, unsigned int flags)
{
	struct fake_fault *fault = &fake_of(g)->fault;

	check_lock(g, flags);
	if (s->valid && va < FAKE_SPACE && len <= FAKE_SPACE - va &&
	    s->pdb + FAKE_SPACE <= FAKE_VRAM && (va < FAKE_PRIV_VA || (flags & MMU_PRIV_ACCESS)))
		return g->vram + s->pdb + va;
	*fault = (struct fake_fault){ fault->count + 1, c->name, c->unit, c->client, c->gpc, va };
	return NULL;
}

int mmu_translate(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		  size_t want, enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	seg->ptr = walk(g, c, s, va, want, flags);
	seg->len = want;
	return seg->ptr ? 0 : -EFAULT;
}

int mmu_read(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	     void *buf, size_t len, unsigned int flags)
{
	const uint8_t *p = walk(g, c, s, va, len, flags);

	if (p)
		memcpy(buf, p, len);
	return p ? 0 : -EFAULT;
}

int mmu_write(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	      const void *buf, size_t len, unsigned int flags)
{
	uint8_t *p = walk(g, c, s, va, len, flags);

	if (p)
		memcpy(p, buf, len);
	return p ? 0 : -EFAULT;
}

void mmu_fault(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	       enum mmu_reason why, enum mmu_access acc, unsigned int flags)
{
	fake_of(g)->fault = (struct fake_fault){
		fake_of(g)->fault.count + 1, c->name, c->unit, c->client, c->gpc, va
	};
}

void dma_read_lock(struct gk110 *g)
{
	pthread_rwlock_rdlock(&g->dma_lock);
}

void dma_read_unlock(struct gk110 *g)
{
	pthread_rwlock_unlock(&g->dma_lock);
}

uint32_t vram32(struct fake *f, uint64_t addr)
{
	uint32_t val;

	assert(mem_read(&f->g, MEM_VRAM, addr, &val, sizeof(val)));
	return val;
}

void vram32_set(struct fake *f, uint64_t addr, uint32_t val)
{
	assert(mem_write(&f->g, MEM_VRAM, addr, &val, sizeof(val)));
}

/* ---------------------------------------------------------------- registers */

static void victim_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	struct fake *f = fake_of(g);

	assert(lock_is_mine(g));
	f->victim_reg = reg;
	f->victim_val = val;
	f->victim_writes++;
	/* PMC's part: GR is reset when its enable bit (bit 12) is cleared */
	if (reg == FAKE_VICTIM + 0x200 && !(val & 0x1000))
		gr_engine.reset(g, 0);
	reg_set(g, reg, val);
}

static const struct mmio_range victim = { FAKE_VICTIM, 0x8000, "victim", NULL, victim_write };

static void add_range(struct gk110 *g, const struct mmio_range *r)
{
	assert(g->nr_ranges < MAX_RANGES);
	for (uint32_t reg = r->base; reg < r->base + r->size; reg += 4)
		g->range_of[reg >> 2] = g->nr_ranges;
	g->ranges[g->nr_ranges++] = r;
}

uint32_t rd32(struct fake *f, uint32_t reg)
{
	uint32_t val;

	pthread_mutex_lock(&f->g.lock);
	val = pri_read(&f->g, reg);
	pthread_mutex_unlock(&f->g.lock);
	return val;
}

void wr32(struct fake *f, uint32_t reg, uint32_t val)
{
	pthread_mutex_lock(&f->g.lock);
	pri_write(&f->g, reg, val);
	pthread_mutex_unlock(&f->g.lock);
}

void mask32(struct fake *f, uint32_t reg, uint32_t clear, uint32_t set)
{
	wr32(f, reg, (rd32(f, reg) & ~clear) | set);
}

struct fake *fake_create(void)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct gk110 *g = &f->g;
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&g->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_rwlock_init(&g->dma_lock, NULL);
	board_find("k20m", &g->cfg.board);
	g->vram = calloc(1, FAKE_VRAM);
	g->regs = calloc(1, GK110_BAR0_SIZE);
	g->range_of = calloc(1, GK110_BAR0_SIZE / 4);
	g->ranges = calloc(MAX_RANGES, sizeof(*g->ranges));
	g->nr_ranges = 1;
	g->nr_engines = 1;
	g->engine[0] = (struct engine){
		.type = ENGINE_GR, .intr_bit = 12, .reset_bit = 12, .ops = &gr_engine
	};
	add_range(g, &gr_unit.ranges[0]);
	add_range(g, &pmu_unit.ranges[0]);
	add_range(g, &victim);
	assert(!gr_unit.init(g) && !pmu_unit.init(g));
	gr_unit.reset(g);
	pmu_unit.reset(g);
	fake_charged = f;
	return f;
}

void fake_recycle(struct fake *f, uint32_t from)
{
	struct gk110 *g = &f->g;

	memset(g->vram + from, 0, FAKE_SPACE);
	memset(&g->regs[FAKE_VICTIM >> 2], 0, victim.size);
	g->regs[(FECS_OS_LIST_FIRST & (uint32_t)CTX_LIST_ADDR) >> 2] = 0;
	gr_unit.reset(g);
	pmu_unit.reset(g);
	memset(&f->fault, 0, sizeof(f->fault));
}

void fake_destroy(struct fake *f)
{
	struct gk110 *g = &f->g;

	gr_unit.fini(g);
	pmu_unit.fini(g);
	free(g->vram);
	free(g->regs);
	free(g->range_of);
	free(g->ranges);
	pthread_mutex_destroy(&g->lock);
	pthread_rwlock_destroy(&g->dma_lock);
	free(f);
}

/* ---------------------------------------------------------------- channels */

void fake_instance(struct fake *f, uint64_t inst, uint64_t pd, uint64_t ctx_va)
{
	vram32_set(f, inst + RAMIN_PDB, pd);
	vram32_set(f, inst + RAMIN_PDB + 4, pd >> 32);
	vram32_set(f, inst + GR_INST_CTX_LO, ctx_va ? (uint32_t)ctx_va | GR_INST_CTX_VIRTUAL : 0);
	vram32_set(f, inst + GR_INST_CTX_HI, ctx_va >> 32);
}

void fake_chan(struct fake *f, struct chan *c, unsigned int id, uint64_t inst)
{
	memset(c, 0, sizeof(*c));
	c->id = id;
	c->tsg = -1;
	c->inst = inst;
	c->inst_target = MEM_VRAM;
	assert(mmu_space_load(&f->g, inst, MEM_VRAM, &c->vm));
}

/* ---------------------------------------------------------------- start-up as nouveau does it */

/* As nouveau's nvkm_falcon_v1_load_dmem() and _load_imem() do. */
void fake_upload(struct fake *f, uint32_t falcon, const uint32_t *data, unsigned int words)
{
	wr32(f, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW);
	for (unsigned int i = 0; i < words; i++)
		wr32(f, falcon + FALCON_DMEMD(0), data[i]);
	wr32(f, falcon + FALCON_IMEMC(0), FALCON_MEMC_AINCW);
	for (unsigned int i = 0; i < 128; i++) {
		if (!(i & 0x3f))
			wr32(f, falcon + FALCON_IMEMT(0), i >> 6);
		wr32(f, falcon + FALCON_IMEMD(0), 0xf8000000 | i);
	}
}

void fake_csdata(struct fake *f, uint32_t falcon, uint32_t starstar, uint32_t base,
		 const uint32_t (*lists)[2], unsigned int n)
{
	uint32_t star, temp;

	wr32(f, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCR | starstar);
	star = rd32(f, falcon + FALCON_DMEMD(0));
	temp = rd32(f, falcon + FALCON_DMEMD(0));
	if (temp > star)
		star = temp;
	wr32(f, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW | star);
	for (unsigned int i = 0; i < n; i++) {
		wr32(f, falcon + FALCON_DMEMD(0), (lists[i][1] - 1) << 26 | (lists[i][0] - base));
		star += 4;
	}
	wr32(f, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW | (starstar + 4));
	wr32(f, falcon + FALCON_DMEMD(0), star);
}

#define GPC_LIST_BASE 0x6c /* mmio_list_base of gpc.fuc for two PPCs */

void fake_boot_nouveau(struct fake *f)
{
	static const uint32_t hub[][2] = { { 0x404004, 17 },
					   { 0x404150, 3 },
					   { 0x404200, 4 },
					   { 0x408000, 7 },
					   { 0x4064c0, 12 } };
	static const uint32_t gpc_0[][2] = { { 0x418380, 1 }, { 0x418808, 3 } };
	static const uint32_t gpc_1[][2] = { { 0x418b08, 6 } };
	static const uint32_t tpc[][2] = { { 0x419848, 1 }, { 0x419e44, 22 } };
	static const uint32_t ppc[][2] = { { 0x41bec0, 2 }, { 0x41bee4, 1 } };
	uint32_t hub_data[FECS_OS_LIST_BASE / 4 + 1] = { FECS_OS_LIST_BASE, FECS_OS_LIST_BASE + 4 };
	uint32_t gpc_data[GPC_LIST_BASE / 4] = { GPC_LIST_BASE, GPC_LIST_BASE, GPC_LIST_BASE,
						 GPC_LIST_BASE };

	hub_data[FECS_OS_LIST_BASE / 4] = FECS_OS_LIST_FIRST;
	fake_upload(f, GR_FECS, hub_data, sizeof(hub_data) / 4);
	fake_upload(f, GR_GPCCS_BCAST, gpc_data, sizeof(gpc_data) / 4);
	fake_csdata(f, GR_FECS, 0, 0, hub, 5);
	fake_csdata(f, GR_GPCCS_BCAST, GPCCS_OS_LIST_GPC, 0x418000, gpc_0, 2);
	fake_csdata(f, GR_GPCCS_BCAST, GPCCS_OS_LIST_GPC, 0x418000, gpc_1, 1);
	fake_csdata(f, GR_GPCCS_BCAST, GPCCS_OS_LIST_TPC, 0x419800, tpc, 2);
	fake_csdata(f, GR_GPCCS_BCAST, GPCCS_OS_LIST_PPC, 0x41be00, ppc, 2);
	wr32(f, GR_FECS + FALCON_DMACTL, 0);
	wr32(f, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
}

void fake_boot_external(struct fake *f)
{
	static const uint32_t data[16] = { 0x12345678 };

	fake_upload(f, GR_FECS, data, 16);
	fake_upload(f, GR_GPCCS_BCAST, data, 16);
	wr32(f, GR_FECS + FECS_SCRATCH(0), 0);
	wr32(f, GR_GPCCS_BCAST + FALCON_DMACTL, 0);
	wr32(f, GR_FECS + FALCON_DMACTL, 0);
	wr32(f, GR_GPCCS_BCAST + FALCON_CPUCTL, FALCON_CPUCTL_START);
	wr32(f, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
}

void fake_enable_exceptions(struct fake *f)
{
	wr32(f, GR_CTRL, GR_CTRL_FIFO | GR_CTRL_RESTART);
	wr32(f, GR_INTR, ~0u);
	wr32(f, GR_INTR_EN, ~0u);
	wr32(f, GR_FECS + FECS_INTR_UP_EN, 0xe0001);
	wr32(f, GR_TRAP, ~0u);
	wr32(f, GR_TRAP_EN, ~0u);
	wr32(f, GR_TRAP_GPC_MASK, ~0u);
}
