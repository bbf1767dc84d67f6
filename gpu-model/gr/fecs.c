// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context switch processor with nouveau's microcode (nouveau fuc/hub.fuc, gpc.fuc, com.fuc):
 * boot, command queue, channel switches. The model does not execute the program, but does what it
 * would do.
 *
 * The uploaded image decides which program is modelled. The data segment of nouveau's hub image
 * begins with the address of a register list, 0x300, and the first word of that list is
 * FECS_OS_LIST_FIRST. Any other image is taken for NVIDIA's, which has other commands in the same
 * two registers (fecs_ext.c). A changed build of nouveau's microcode keeps that layout and is
 * modelled as the stock one, with its patch list: the worst case for isolation.
 *
 * Work that never completes on the chip (a fault during a transfer, a list without end) leaves the
 * program waiting: its trace bits stay set, and switches fail until GR is reset or the program
 * started again.
 * nouveau reads the trace bits to see whether the channel going out or the channel coming in is to
 * blame (gf100_gr_chsw_load).
 *
 * gk110.lock is held here, but for fecs_init(), fecs_fini() and fecs_firmware_method(). It is
 * dropped while a patch list is fetched by an engine thread.
 */
#include "gr.h"

#include <errno.h>

#include <linux/bitfield.h>

/* sizes of the falcons' memories, in bytes: those of a Tesla K80 (GK210) */
#define FECS_IMEM  0x5000
#define FECS_DMEM  0x1000
#define GPCCS_IMEM 0x2800
#define GPCCS_DMEM 0x0800

#define CMD_CHSW 0x4001

int fecs_init(struct gk110 *g)
{
	struct gr *gr = g->gr;
	int ret = falcon_init(&gr->fecs.falcon, "FECS", FECS_IMEM, FECS_DMEM);

	for (unsigned int i = 0; !ret && i < GR_NR_GPC; i++)
		ret = falcon_init(&gr->gpccs[i], "GPCCS", GPCCS_IMEM, GPCCS_DMEM);
	return ret;
}

void fecs_fini(struct gk110 *g)
{
	falcon_fini(&g->gr->fecs.falcon);
	for (unsigned int i = 0; i < GR_NR_GPC; i++)
		falcon_fini(&g->gr->gpccs[i]);
}

void fecs_reset(struct gk110 *g)
{
	struct fecs *f = &g->gr->fecs;

	falcon_reset(&f->falcon);
	for (unsigned int i = 0; i < GR_NR_GPC; i++)
		falcon_reset(&g->gr->gpccs[i]);
	/* .busy stays: the thread that set it clears it, and learns of the reset from gr.resets */
	f->program = FECS_NONE;
	f->hung = false;
	f->queued = 0;
	f->ctx.space.valid = false;
}

/* ---------------------------------------------------------------- scratch registers */

uint32_t fecs_scratch(struct gk110 *g, unsigned int i)
{
	return reg_get(g, GR_FECS + FECS_SCRATCH(i));
}

void fecs_scratch_set(struct gk110 *g, unsigned int i, uint32_t val)
{
	reg_set(g, GR_FECS + FECS_SCRATCH(i), val);
}

void fecs_scratch_or(struct gk110 *g, unsigned int i, uint32_t bits)
{
	fecs_scratch_set(g, i, fecs_scratch(g, i) | bits);
}

void fecs_scratch_clear(struct gk110 *g, unsigned int i, uint32_t bits)
{
	fecs_scratch_set(g, i, fecs_scratch(g, i) & ~bits);
}

static void raise_up(struct gk110 *g, uint32_t bits)
{
	reg_set(g, GR_FECS + FECS_INTR_UP, reg_get(g, GR_FECS + FECS_INTR_UP) | bits);
	trap_update(g);
}

static void report_error(struct gk110 *g, uint32_t code)
{
	fecs_scratch_set(g, FECS_OS_ERROR, code);
	raise_up(g, FECS_INTR_UP_UCODE);
}

void fecs_hang(struct gk110 *g, const char *why)
{
	g->gr->fecs.hung = true;
	gk110_note(g, "FECS waits forever: %s", why);
}

void fecs_firmware_method(struct gr_exec *x)
{
	struct gk110 *g = x->g;

	pthread_mutex_lock(&g->lock);
	reg_set(g, GR_TRAPPED_ADDR,
		(x->mthd & (uint32_t)GR_TRAPPED_MTHD) | FIELD_PREP(GR_TRAPPED_SUBCH, x->subc));
	reg_set(g, GR_TRAPPED_DATA, x->data);
	if (g->gr->fecs.program == FECS_NOUVEAU) {
		fecs_scratch_set(g, FECS_OS_FWMTHD_DATA, x->data);
		fecs_scratch_set(g, FECS_OS_FWMTHD_ADDR, reg_get(g, GR_TRAPPED_ADDR));
		/*
		 * The microcode takes GR_STATUS for the object table, so it reports that register
		 * (fuc/macros.fuc).
		 */
		fecs_scratch_set(g, FECS_OS_FWMTHD_CLASS, pri_read(g, GR_STATUS + x->subc * 4));
		report_error(g, FECS_OS_BAD_FWMTHD);
	} else {
		gk110_note(
			g,
			"firmware method 0x%04x data 0x%08x is not known to the external program",
			x->mthd, x->data);
	}
	pthread_mutex_unlock(&g->lock);
}

/* ---------------------------------------------------------------- boot */

static bool is_nouveau_image(const struct falcon *f)
{
	return falcon_dmem_get(f, FECS_OS_LIST_HEAD) == FECS_OS_LIST_BASE &&
	       falcon_dmem_get(f, FECS_OS_LIST_BASE) == FECS_OS_LIST_FIRST;
}

static void gpccs_ready(struct gk110 *g, unsigned int gpc)
{
	uint32_t reg = GR_GPC(gpc, GPC_GPCCS + FECS_SCRATCH(FECS_OS_STATUS));

	reg_set(g, reg, reg_get(g, reg) | (uint32_t)FECS_OS_READY);
}

static void start_nouveau(struct gk110 *g)
{
	struct gr *gr = g->gr;
	uint32_t size;

	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		if (!falcon_code_is_found(&gr->gpccs[i])) {
			fecs_hang(g, "GPCCS has no code, or no tags that find it");
			return;
		}
		gr->gpccs[i].running = true;
		gpccs_ready(g, i);
	}
	size = ctx_image_size(g);
	if (!size) {
		fecs_hang(g, "a register list has no end");
		return;
	}
	fecs_scratch_set(g, FECS_OS_SIZE, size);
	fecs_scratch_or(g, FECS_OS_STATUS, FECS_OS_READY);
}

static void start(struct gk110 *g)
{
	struct fecs *f = &g->gr->fecs;

	f->hung = false;
	f->queued = 0;
	f->program = is_nouveau_image(&f->falcon) ? FECS_NOUVEAU : FECS_EXTERNAL;
	if (f->program == FECS_NOUVEAU)
		start_nouveau(g);
	else
		fecs_ext_start(g);
}

/* ---------------------------------------------------------------- switching */

/*
 * Nouveau's program reads the channel's context pointer from VRAM, whatever the target bits are,
 * and uses it as a virtual address: (hi << 24 | lo >> 8) << 8. NVIDIA's program follows the target
 * and the virtual bit (gk110/facts.md).
 */
static bool context_pointer(struct gk110 *g, uint32_t chan, uint64_t *inst, enum mem_target *t,
			    uint32_t ptr[2])
{
	*inst = (uint64_t)FIELD_GET(FECS_CHAN_INST, chan) << 12;
	*t = MEM_VRAM;
	if (g->gr->fecs.program == FECS_EXTERNAL)
		*t = FIELD_GET(FECS_CHAN_TARGET, chan);
	return mem_read(g, *t, *inst + GR_INST_CTX_LO, ptr, 2 * sizeof(uint32_t));
}

int fecs_select(struct gk110 *g, uint32_t chan)
{
	struct fecs *f = &g->gr->fecs;
	uint32_t ptr[2], header[GR_CTX_HEADER / 4];
	enum mem_target t;
	uint64_t inst;
	int ret;

	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_CHAN);
	reg_set(g, GR_FECS + FECS_CHAN_NEXT, chan);
	reg_set(g, GR_FECS + FECS_CHAN_ADDR, chan);
	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_LCHAN);
	if (!context_pointer(g, chan, &inst, &t, ptr) ||
	    !mmu_space_load(g, inst, t, &f->ctx.space)) {
		fecs_hang(g, "the instance block can't be read");
		return -EIO;
	}
	fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_LCHAN);
	f->ctx.phys = f->program == FECS_EXTERNAL && !(ptr[0] & GR_INST_CTX_VIRTUAL);
	f->ctx.target = FIELD_GET(GR_INST_CTX_TARGET, ptr[0]);
	f->ctx.addr = (uint64_t)(ptr[0] >> 8 | ptr[1] << 24) << 8;
	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_LCTXH);
	ret = ctx_mem_read(g, &f->ctx, &g->gr->fecs_mem, 0, header, sizeof(header));
	if (ret) {
		fecs_hang(g, "the context header can't be read");
		return ret;
	}
	fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_LCTXH);
	if (f->program == FECS_NOUVEAU) {
		falcon_dmem_set(&f->falcon, FECS_OS_CTX_CURRENT, f->ctx.addr >> 8);
		for (unsigned int i = 0; i < GR_CTX_HEADER / 4; i++)
			falcon_dmem_set(&f->falcon, FECS_OS_CHAN_DATA + i * 4, header[i]);
	}
	fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_CHAN);
	return 0;
}

int fecs_save(struct gk110 *g)
{
	struct fecs *f = &g->gr->fecs;
	int ret;

	if (f->hung)
		return -EIO;
	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_SAVE);
	ret = ctx_image_save(g, &f->ctx);
	if (ret) {
		fecs_hang(g, "a context can't be saved");
		return ret;
	}
	fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_SAVE);
	return 0;
}

/* The list is executed once: its count, in the header of the image, is then set to 0. */
static int run_patch_list(struct gk110 *g, const atomic_bool *stop, bool may_unlock)
{
	struct fecs *f = &g->gr->fecs;
	bool ext = f->program == FECS_EXTERNAL;
	uint32_t count_at = ext ? GR_CTX_EXT_PATCH_COUNT : GR_CTX_OS_PATCH_COUNT;
	struct ctx_mem list = f->ctx;
	uint32_t header[GR_CTX_HEADER / 4], zero = 0;
	uint32_t count;
	int ret;

	ret = ctx_mem_read(g, &f->ctx, &g->gr->fecs_mem, 0, header, sizeof(header));
	if (ret)
		return ret;
	count = header[count_at / 4];
	if (!count)
		return 0;
	list.phys = false;
	if (ext)
		list.addr = ((uint64_t)(header[GR_CTX_EXT_PATCH_HI / 4] & 0xff) << 32) |
			    header[GR_CTX_EXT_PATCH_LO / 4];
	else
		list.addr = (uint64_t)header[GR_CTX_OS_PATCH_ADDR / 4] << 8;
	ret = ctx_patch_execute(g, &list, count, stop, may_unlock);
	if (ret)
		return ret;
	if (!ext)
		falcon_dmem_set(&f->falcon, FECS_OS_CHAN_DATA, 0);
	return ctx_mem_write(g, &f->ctx, &g->gr->fecs_mem, count_at, &zero, sizeof(zero));
}

int fecs_load(struct gk110 *g, uint32_t chan, const atomic_bool *stop, bool may_unlock)
{
	struct gr *gr = g->gr;
	uint32_t resets = atomic_load(&gr->resets);
	int ret;

	if (gr->fecs.hung)
		return -EIO;
	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_LOAD);
	ret = fecs_select(g, chan);
	if (!ret)
		ret = ctx_image_load(g, &gr->fecs.ctx);
	if (!ret)
		ret = run_patch_list(g, stop, may_unlock);
	if (atomic_load(&gr->resets) != resets)
		return -EIO;
	if (ret) {
		fecs_hang(g, "a context can't be loaded");
		return ret;
	}
	fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_LOAD);
	return 0;
}

/*
 * The switch that software asks for by the falcon's interrupt CHSW. PFIFO's switches do not come
 * here, but by gr_load() and gr_save().
 */
static void switch_request(struct gk110 *g)
{
	uint32_t prev = reg_get(g, GR_FECS + FECS_CHAN_ADDR);
	uint32_t next = reg_get(g, GR_FECS + FECS_CHAN_NEXT);
	int ret = 0;

	fecs_scratch_or(g, FECS_OS_TRACE, FECS_TRACE_AUTO);
	if (prev & FECS_CHAN_VALID) {
		ret = fecs_save(g);
		if (!ret && !(next & FECS_CHAN_VALID))
			reg_set(g, GR_FECS + FECS_CHAN_ADDR, next);
	}
	if (!ret && (next & FECS_CHAN_VALID))
		ret = fecs_load(g, next, NULL, false);
	if (!ret)
		fecs_scratch_clear(g, FECS_OS_TRACE, FECS_TRACE_AUTO);
}

/* ---------------------------------------------------------------- commands */

static void nouveau_command(struct gk110 *g, const struct fecs_cmd *c)
{
	switch (c->cmd) {
	case CMD_CHSW:
		switch_request(g);
		return;
	case FECS_OS_CMD_SET_CHAN:
		if (fecs_select(g, c->data))
			return;
		break;
	case FECS_OS_CMD_SAVE:
		if (fecs_save(g))
			return;
		break;
	default:
		report_error(g, c->cmd << 16 | FECS_OS_BAD_COMMAND);
		return;
	}
	fecs_scratch_or(g, FECS_OS_STATUS, FECS_OS_READY);
}

void fecs_run_queue(struct gk110 *g)
{
	struct fecs *f = &g->gr->fecs;

	while (f->queued && !f->busy && !f->hung) {
		struct fecs_cmd c = f->queue[0];

		f->queued--;
		for (unsigned int i = 0; i < f->queued; i++)
			f->queue[i] = f->queue[i + 1];
		f->busy = true;
		if (f->program == FECS_EXTERNAL)
			fecs_ext_command(g, &c);
		else
			nouveau_command(g, &c);
		f->busy = false;
	}
}

static void enqueue(struct gk110 *g, uint32_t cmd, uint32_t data)
{
	struct fecs *f = &g->gr->fecs;

	if (f->program == FECS_NONE || !f->falcon.running)
		return;
	if (f->queued == FECS_QUEUE) {
		gk110_note(g, "FECS command queue overflows, command 0x%x is lost", cmd);
		return;
	}
	f->queue[f->queued++] = (struct fecs_cmd){ .cmd = cmd, .data = data };
	fecs_run_queue(g);
}

static void interrupts(struct gk110 *g)
{
	struct falcon *f = &g->gr->fecs.falcon;
	uint32_t intr = f->intr;

	if (!f->running)
		return;
	f->intr = 0;
	if (intr & FECS_INTR_CHSW)
		enqueue(g, CMD_CHSW, 0);
	intr &= ~(uint32_t)(FECS_INTR_FIFO | FECS_INTR_CHSW | FECS_INTR_FWMTHD);
	if (intr)
		raise_up(g, intr);
}

/* ---------------------------------------------------------------- registers */

static bool scratch_write(struct gk110 *g, uint32_t base, uint32_t off, uint32_t val)
{
	for (unsigned int i = 0; i < FECS_NR_SCRATCH; i++) {
		uint32_t reg = base + FECS_SCRATCH(i);

		if (off == (uint32_t)FECS_SCRATCH(i))
			reg_set(g, reg, val);
		else if (off == (uint32_t)FECS_SCRATCH_CLR(i))
			reg_set(g, reg, reg_get(g, reg) & ~val);
		else if (off == (uint32_t)FECS_SCRATCH_SET(i))
			reg_set(g, reg, reg_get(g, reg) | val);
		else
			continue;
		return true;
	}
	return false;
}

bool fecs_read(struct gk110 *g, uint32_t off, uint32_t *val)
{
	return falcon_read(&g->gr->fecs.falcon, off, val);
}

static void other_write(struct gk110 *g, uint32_t off, uint32_t val)
{
	uint32_t reg = GR_FECS + off;

	if (scratch_write(g, GR_FECS, off, val))
		return;
	switch (off) {
	case FECS_UNITS:
	case FECS_INTR_UP:
		return;
	case FECS_INTR_UP_SET:
		raise_up(g, val);
		return;
	case FECS_INTR_UP_CLR:
		reg_set(g, GR_FECS + FECS_INTR_UP, reg_get(g, GR_FECS + FECS_INTR_UP) & ~val);
		trap_update(g);
		return;
	case FECS_INTR_UP_EN:
		reg_set(g, reg, val);
		trap_update(g);
		return;
	case FECS_WRCMD_CMD:
		reg_set(g, reg, val);
		enqueue(g, val, reg_get(g, GR_FECS + FECS_WRCMD_DATA));
		return;
	}
	reg_set(g, reg, val);
}

void fecs_write(struct gk110 *g, uint32_t off, uint32_t val)
{
	switch (falcon_write(&g->gr->fecs.falcon, off, val)) {
	case FALCON_STARTED:
		start(g);
		break;
	case FALCON_TRIGGERED:
		interrupts(g);
		break;
	case FALCON_OTHER:
		other_write(g, off, val);
		break;
	case FALCON_NONE:
	case FALCON_INTR_CHANGED:
		break;
	}
}

void gpccs_write(struct gk110 *g, unsigned int gpc, uint32_t off, uint32_t val)
{
	uint32_t base = GR_GPC(gpc, GPC_GPCCS), reg = base + off;
	enum falcon_event ev = falcon_write(&g->gr->gpccs[gpc], off, val);

	if (ev == FALCON_STARTED && g->gr->fecs.program == FECS_EXTERNAL)
		fecs_ext_start(g);
	if (ev != FALCON_OTHER || scratch_write(g, base, off, val))
		return;
	if (off == GPCCS_TRAP)
		reg_set(g, reg, reg_get(g, reg) & ~val);
	else if (off != GPCCS_UNITS && off != GPCCS_MYINDEX)
		reg_set(g, reg, val);
}
