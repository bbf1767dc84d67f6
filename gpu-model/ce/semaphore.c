// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a launch touches beside its data: semaphore release (cla0b5.h LAUNCH_DMA_SEMAPHORE_*)
 * and the reports of conditional rendering (cla0b5.h SET_RENDER_ENABLE_*; the comparison: rnndb
 * g80_defs.xml g80_cond_mode and G80_QUERY).
 *
 * Open, the model chooses: misaligned semaphores are launch errors; a reduction works on the first
 * word, also of a four word semaphore; INC and DEC wrap at the payload, as the atomic operations of
 * the shader ISA do; reductions of floats follow the host's IEEE arithmetic, and minimum and
 * maximum prefer a number to a NaN; launches that render-enable suppresses still release their
 * semaphore.
 */
#include <errno.h>
#include <linux/bitfield.h>
#include <string.h>

#include "ce.h"

#define REPORT_BYTES 16
#define WORD	     sizeof(uint32_t)

enum gk110_ce_launcherr ce_semaphore_check(const uint32_t *state, uint32_t launch)
{
	unsigned int type = FIELD_GET(A0B5_LAUNCH_SEMAPHORE, launch),
		     op = FIELD_GET(A0B5_LAUNCH_REDUCTION, launch);
	uint64_t va = ce_address(state, CE_SEMAPHORE_A);

	if (type > A0B5_SEMAPHORE_FOUR_WORD)
		return CE_INVALID_VALUE;
	if (type == A0B5_SEMAPHORE_NONE)
		return CE_NO_ERR;
	if (va % (type == A0B5_SEMAPHORE_FOUR_WORD ? REPORT_BYTES : WORD))
		return CE_INVALID_ARGUMENT;
	if ((launch & A0B5_LAUNCH_REDUCTION_ENABLE) && op > A0B5_REDUCTION_DEC &&
	    (op < A0B5_REDUCTION_FADD || op > A0B5_REDUCTION_IMUL))
		return CE_INVALID_VALUE;
	return CE_NO_ERR;
}

static uint32_t reduce_float(unsigned int op, uint32_t old, uint32_t arg)
{
	float a, b, r;
	uint32_t bits;

	memcpy(&a, &old, sizeof(a));
	memcpy(&b, &arg, sizeof(b));
	switch (op) {
	case A0B5_REDUCTION_FADD:
		r = a + b;
		break;
	case A0B5_REDUCTION_FMIN:
		r = a < b || b != b ? a : b;
		break;
	case A0B5_REDUCTION_FMAX:
		r = a > b || b != b ? a : b;
		break;
	default:
		r = a * b;
		break;
	}
	memcpy(&bits, &r, sizeof(bits));
	return bits;
}

static bool less(uint32_t a, uint32_t b, bool is_unsigned)
{
	uint32_t flip = is_unsigned ? 0 : UINT32_C(1) << 31;

	return (a ^ flip) < (b ^ flip);
}

uint32_t ce_reduce(unsigned int op, bool is_unsigned, uint32_t old, uint32_t arg)
{
	switch (op) {
	case A0B5_REDUCTION_IMIN:
		return less(arg, old, is_unsigned) ? arg : old;
	case A0B5_REDUCTION_IMAX:
		return less(old, arg, is_unsigned) ? arg : old;
	case A0B5_REDUCTION_IXOR:
		return old ^ arg;
	case A0B5_REDUCTION_IAND:
		return old & arg;
	case A0B5_REDUCTION_IOR:
		return old | arg;
	case A0B5_REDUCTION_IADD:
		return old + arg;
	case A0B5_REDUCTION_INC:
		return old >= arg ? 0 : old + 1;
	case A0B5_REDUCTION_DEC:
		return old == 0 || old > arg ? arg : old - 1;
	case A0B5_REDUCTION_IMUL:
		return old * arg;
	default:
		return reduce_float(op, old, arg);
	}
}

/* NULL: a fault was recorded. Call with dma_lock held for reading. */
static uint32_t *word_at(struct ce_job *job, uint64_t va, enum mmu_access acc)
{
	struct mmu_seg seg;

	if (mmu_translate(job->g, &job->ce->client, &job->c->vm, va & CE_VA_MASK, WORD, acc,
			  job->mmu_flags, &seg))
		return NULL;
	if (acc == ACC_READ) {
		if (seg.target == MEM_VRAM)
			stat_add(job->g, vram_rd_bytes, WORD);
		else
			stat_add(job->g, dma_rd_bytes, WORD);
	} else {
		if (seg.target == MEM_VRAM)
			stat_add(job->g, vram_wr_bytes, WORD);
		else
			stat_add(job->g, dma_wr_bytes, WORD);
	}
	return seg.ptr;
}

static void release_word(uint32_t *p, uint32_t payload, uint32_t launch)
{
	unsigned int op = FIELD_GET(A0B5_LAUNCH_REDUCTION, launch);
	bool is_unsigned = launch & A0B5_LAUNCH_REDUCTION_UNSIGNED;
	uint32_t old;

	if (!(launch & A0B5_LAUNCH_REDUCTION_ENABLE)) {
		__atomic_store_n(p, payload, __ATOMIC_SEQ_CST);
		return;
	}
	old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(p, &old, ce_reduce(op, is_unsigned, old, payload),
					    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/*
 * The payload is written last: a reader that sees it sees the data and the time of the same
 * release. Call with dma_lock held for reading.
 */
static int release_locked(struct ce_job *job, const uint32_t *state, uint32_t launch)
{
	enum mmu_access acc = launch & A0B5_LAUNCH_REDUCTION_ENABLE ? ACC_ATOMIC : ACC_WRITE;
	bool four = FIELD_GET(A0B5_LAUNCH_SEMAPHORE, launch) == A0B5_SEMAPHORE_FOUR_WORD;
	uint64_t va = ce_address(state, CE_SEMAPHORE_A), now = ptimer_now(job->g);
	const uint32_t report[4] = { 0, 0, (uint32_t)now, (uint32_t)(now >> 32) };
	uint32_t *p;
	unsigned int i;

	for (i = four ? 3 : 0; i > 0; i--) {
		p = word_at(job, va + i * WORD, ACC_WRITE);
		if (!p)
			return -EFAULT;
		__atomic_store_n(p, report[i], __ATOMIC_RELAXED);
	}
	p = word_at(job, va, acc);
	if (!p)
		return -EFAULT;
	release_word(p, state[CE_SEMAPHORE_PAYLOAD], launch);
	return 0;
}

int ce_semaphore_release(struct ce_job *job, const uint32_t *state, uint32_t launch)
{
	int ret;

	dma_read_lock(job->g);
	ret = release_locked(job, state, launch);
	dma_read_unlock(job->g);
	if (ret)
		return ret;
	stat_inc(job->g, semaphores);
	fifo_kick(job->g);
	return 0;
}

enum eng_ret ce_render_check(const uint32_t *state)
{
	unsigned int mode = FIELD_GET(A0B5_RENDER_MODE, state[CE_RENDER_C]);

	if (mode > A0B5_RENDER_IF_NOT_EQUAL)
		return ENG_RE_ILLEGAL_OP;
	if (mode > A0B5_RENDER_TRUE && ce_address(state, CE_RENDER_A) % REPORT_BYTES)
		return ENG_RE_ALIGN;
	return ENG_DONE;
}

static int read_words(struct ce_job *job, uint64_t va, uint32_t *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const uint32_t *p = word_at(job, va + i * WORD, ACC_READ);

		if (!p)
			return -EFAULT;
		v[i] = __atomic_load_n(p, __ATOMIC_RELAXED);
	}
	return 0;
}

/*
 * ce_render_check() sees the address when the mode is set. The address may have changed since then,
 * so its low bits are dropped (open on the chip).
 */
int ce_render_enabled(struct ce_job *job, const uint32_t *state, bool *enabled)
{
	unsigned int mode = FIELD_GET(A0B5_RENDER_MODE, state[CE_RENDER_C]);
	uint64_t va = ce_address(state, CE_RENDER_A) & ~(uint64_t)(REPORT_BYTES - 1);
	uint32_t a[2] = { 0, 0 }, b[2] = { 0, 0 };
	bool equal;
	int ret;

	if (mode <= A0B5_RENDER_TRUE) {
		*enabled = mode == A0B5_RENDER_TRUE || !(state[CE_RENDER_C] & CE_RENDER_C_SET);
		return 0;
	}
	dma_read_lock(job->g);
	ret = read_words(job, va, a, 2);
	if (!ret && mode != A0B5_RENDER_CONDITIONAL)
		ret = read_words(job, va + REPORT_BYTES, b, 2);
	dma_read_unlock(job->g);
	equal = a[0] == b[0] && a[1] == b[1];
	if (mode == A0B5_RENDER_CONDITIONAL)
		*enabled = !ret && a[1] != 0;
	else
		*enabled = mode == A0B5_RENDER_IF_EQUAL ? equal : !equal;
	return ret;
}
