/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of the shader machine: warps, CTAs, the threads that run them.
 *   grid.c     sm_run_grid(), host threads, the order of CTAs
 *   cta.c      a CTA's set-up, its warps in turn
 *   barrier.c  a CTA's barriers
 *   code.c     fetched and decoded instructions
 *   bind.c     instruction -> handler and operand slots
 *   warp.c     the instruction loop
 *   error.c    how an error stops a warp and its grid
 *   control.c  branches, the stack of tokens
 *   memory.c   translation, constants, address windows
 *   atom.c, tex*.c, sample.c, surface.c   other accesses to memory
 *   warpop.c   S2R, VOTE, SHFL, barriers
 *   lane_*.inc  arithmetic, conversions, loads, stores; isa_*.c build them once per vector unit,
 *              isa.c chooses
 *
 * struct warp and struct cta are private to the thread that started the CTA. Threads share struct
 * run and struct sm.
 *
 * Each thread that executes holds dma_lock for reading. A thread's translations (struct xlat) are
 * valid until the thread lets dma_lock go, which it does for waiting writers (cta.c) and for sleeps
 * (grid.c). A thread that needs dma_lock and one of the three locks below takes dma_lock first.
 * None of the three is taken inside another one. No thread waits for gk110.lock or for a helper
 * while it holds dma_lock.
 */
#ifndef KVGPU_MODEL_GR_SM_EXEC_H
#define KVGPU_MODEL_GR_SM_EXEC_H

#include "../gr.h"
#include "../sm.h"
#include "insn.h"

#define LANES	  32
#define ALL_LANES 0xffffffffu

/* inlined, so that the function is built for its caller's vector unit */
#define LANE_INLINE inline __attribute__((always_inline))

typedef uint32_t lanes[LANES] __attribute__((aligned(64)));

/*
 * Slots of a warp's register file: reads of RZ take zeros from SLOT_ZERO, writes to RZ go to
 * SLOT_DUMP.
 */
#define SLOT_ZERO 0
#define SLOT_DUMP 4
#define SLOT_REG  8

enum step {
	STEP_NEXT,
	STEP_JUMP, /* pc and active were set */
	STEP_WAIT, /* the warp waits at a barrier */
	STEP_YIELD, /* the warp waits for memory that others change: they go first */
	STEP_END, /* every lane has exited */
	STEP_STOP, /* a trap or a fault */
};

struct warp;
struct uop;
typedef enum step (*op_fn)(struct warp *w, const struct uop *u, uint32_t m);

enum src_kind { SRC_REG, SRC_UNIFORM };

/*
 * An instruction as it is executed. .run gets the lanes @m, at least one: those of the active lanes
 * for which the guard and the test of the condition code hold.
 */
struct uop {
	op_fn run;
	const struct sm_insn *in;
	uint8_t guard;
	/* .constant: src[.csrc] is a constant, of 64 bits if .wide_constant */
	bool guard_not, constant, wide_constant, conditional, join;
	uint8_t src_kind[4]; /* enum src_kind */
	uint8_t csrc;
	uint16_t top; /* the highest register + 1; 0: none */
	uint16_t dst[2], src[4]; /* slots */
} __attribute__((aligned(64)));

#define LINE_BYTES 1024u
#define LINE_WORDS (LINE_BYTES / SM_INSN_BYTES)

/* A line in sm.code[] does not change, and is freed only while no thread executes. */
struct code_line {
	struct uop uop[LINE_WORDS];
	struct sm_insn insn[LINE_WORDS];
	uint64_t raw[LINE_WORDS];
	uint32_t pc;
	struct code_line *next;
};

/* CALL: a RET token that is counted in warp.calls */
enum token_type {
	TOKEN_DIV,
	TOKEN_SSY,
	TOKEN_PBK,
	TOKEN_PCNT,
	TOKEN_CALL,
	TOKEN_RET,
	TOKEN_LONGJMP,
	TOKEN_QUAD
};

struct token {
	uint32_t mask, pc;
	uint8_t type;
};

struct warp {
	lanes *r; /* slots */
	uint32_t active;
	uint32_t pc;
	uint32_t p[8]; /* [SM_PT] is all ones */
	uint32_t z, s, c, o; /* condition code */
	uint64_t uniform; /* value of the instruction's constant operand */
	struct cta *cta;
	struct sm_thread *t;
	/* lanes that have a thread; then lanes that left, and how (control.c) */
	uint32_t live, exited, brk, cont, ret, jmp;
	struct token *stack;
	uint32_t depth, stack_size;
	uint32_t calls; /* CALL tokens on the stack */
	uint8_t id;
	/* the barrier that the warp waits at, + 1; 0: none */
	uint8_t wait_barrier;
	/* enum sm_bar of the BAR.RED that it waits in, or NO_REDUCTION */
	uint8_t red;
	bool red_pred; /* result of its last BAR.RED */
	uint32_t red_value;
	bool done; /* every lane has exited */
	uint64_t issued; /* instructions */
};

struct barrier {
	/* threads that BAR names; 0: all of the CTA */
	uint32_t expected;
	uint32_t arrived;
	uint32_t count; /* reduction: threads whose predicate is true */
	uint32_t threads; /* reduction: threads that took part */
};

#define NR_BARRIER   16
#define NO_REDUCTION 0xff

struct cta {
	uint32_t id[3];
	uint64_t nr; /* in launch order */
	unsigned int nr_warps, left; /* @left: warps that have not exited */
	unsigned int turn;
	struct warp *warp;
	uint8_t *shared;
	uint32_t shared_size;
	/* a bit per word of shared memory: locked by LDSLK */
	uint32_t *locks;
	struct barrier barrier[NR_BARRIER];
	unsigned int sm, slot; /* where the CTA is resident */
	struct cta *next;
};

/* ------------------------------------------------------------------ what threads share */

#define CBUF_PAGE 4096u
struct cbuf {
	bool valid;
	uint64_t va;
	uint32_t size;
	atomic_uint_least32_t have; /* a bit per page that is in data */
	uint8_t *data;
};

#define SM_MAX	     15 /* SMX of a GK110 at most */
#define SM_MAX_WARPS 64
#define SM_MAX_CTAS  16

/* While threads run, only atomics, .active and what .lock protects change. */
struct run {
	struct gk110 *g;
	struct sm *sm;
	struct sm_grid *grid;
	const struct qmd *q;
	struct cbuf cbuf[QMD_NR_CBUF];
	unsigned int warps_per_cta;
	uint32_t threads; /* threads of a CTA */
	/* registers that a thread may use */
	uint32_t regs;
	uint32_t stack_size;
	uint32_t local_low, local_high; /* local memory of a thread, bytes */
	uint64_t local_per_warp;
	unsigned int ctas_per_sm;
	bool alone; /* one host thread executes all CTAs */
	uint64_t nr_ctas;
	/* the next CTA to start; instructions of all threads */
	atomic_uint_least64_t next_cta, issued;
	atomic_bool halt; /* an error or a reset: all threads stop */
	uint32_t resets; /* gr.resets at the start */
	/* protects result, grid->trap and the constant buffers while they are filled */
	pthread_mutex_t lock;
	enum sm_result result;
	unsigned int active; /* helpers on this grid; under sm.lock */
};

/* translations: valid until the thread lets dma_lock go */
#define XLAT_LINES 512
struct xlat {
	/* page number for reads and for writes; ~0: none */
	uint64_t rtag, wtag;
	uint8_t *host;
};

#define FRONT_LINES 64
struct sm_thread {
	struct run *run;
	struct gk110 *g;
	unsigned int index; /* 0: the thread that owns the engine */
	struct mmu_client *l1, *tex, *gcc;
	struct xlat xlat[XLAT_LINES];
	struct code_line *front[FRONT_LINES]; /* lines that it used, by address */
	struct code_line *spare[8]; /* for when the shared cache is full */
	unsigned int next_spare;
	struct cta *free_ctas; /* memory for further CTAs of the grid */
};

#define CODE_HASH 256
struct sm {
	unsigned int nr; /* SMX; constant */
	struct mmu_client l1[SM_MAX], tex[SM_MAX];
	/* protects the members to thread[], but for constants and atomics */
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct run *run; /* what helpers may join, or NULL */
	uint64_t serial; /* counts the grids that helpers were woken for */
	bool quit;
	unsigned int nr_threads, nr_helpers; /* .nr_threads is constant: helpers at most, + 1 */
	atomic_bool abandon;
	pthread_t helper[SM_MAX];
	struct sm_thread *thread[SM_MAX + 1];
	/* protects code[] and nr_lines */
	pthread_mutex_t code_lock;
	struct code_line *code[CODE_HASH];
	unsigned int nr_lines;
	atomic_uint_least64_t instructions; /* what sm_instructions() returns */
};

/* ----------------------------------------- error.c (codes: nouveau gf100_mp_warp_error) */

#define WARP_STACK_ERROR	    0x01
#define WARP_API_STACK_ERROR	    0x02
#define WARP_PC_WRAP		    0x04
#define WARP_MISALIGNED_PC	    0x05
#define WARP_MISALIGNED_IMMC_ADDR   0x07
#define WARP_MISALIGNED_REG	    0x08
#define WARP_ILLEGAL_ENCODING	    0x09
#define WARP_ILLEGAL_PARAM	    0x0b
#define WARP_INVALID_CONST_ADDR	    0x0c
#define WARP_OOR_REG		    0x0d
#define WARP_OOR_ADDR		    0x0e
#define WARP_MISALIGNED_ADDR	    0x0f
#define WARP_INVALID_ADDR_SPACE	    0x10
#define WARP_INVALID_CONST_ADDR_LDC 0x12
#define GLOBAL_BPT_INT		    0x10
#define GLOBAL_BPT_PAUSE	    0x20

/* Record an error, if it is the grid's first, and stop the grid. Return STEP_STOP. */
enum step warp_trap(struct warp *w, uint32_t warp_esr);
enum step warp_trap_global(struct warp *w, uint32_t global_esr);
/* The same for an MMU fault that was recorded. */
enum step warp_fault(struct warp *w);

/* ------------------------------------------------------------ code.c, bind.c, warp.c, control.c */

/*
 * The line of code that has @pc. NULL: an MMU fault was recorded. A later call of the thread may
 * decode other code into the line (sm_thread.spare).
 */
const struct code_line *code_line(struct sm_thread *t, uint32_t pc);
/*
 * The same, but a missing page records no fault. dma_lock need not be held: sm_run_grid() peeks
 * before a thread takes it.
 */
const struct code_line *code_peek(struct sm_thread *t, uint32_t pc);
/* Drop all lines if the cache has more than MAX_LINES. Call while no thread executes. */
void code_trim(struct sm *sm);
void code_free(struct sm *sm); /* call while no thread executes */
/* Called with code_lock held: takes no lock. */
void uop_bind(struct uop *u, const struct sm_insn *in);

/* Run up to @budget instructions of the warp. */
enum step warp_run(struct warp *w, uint64_t budget);
/* the lanes whose condition code passes @test */
uint32_t cc_lanes(const struct warp *w, unsigned int test);
/*
 * Go on with the topmost token that has lanes left: STEP_JUMP. STEP_END: all lanes have exited.
 * STEP_STOP: an error.
 */
enum step stack_pop(struct warp *w);
op_fn control_op(const struct sm_insn *in);
op_fn warpop_op(const struct sm_insn *in);

op_fn atom_op(const struct sm_insn *in);
op_fn texture_op(const struct sm_insn *in);
op_fn surface_op(const struct sm_insn *in);
/* the handler for the best vector unit of this machine */
op_fn lane_op(const struct sm_insn *in);
/*
 * Use the vector unit @name: "base", "avx2", "avx512". For tests, before code is decoded. False:
 * this machine does not have it.
 */
bool lane_isa_select(const char *name);
typedef op_fn (*lane_table)(const struct sm_insn *in);
op_fn lane_op_base(const struct sm_insn *in);
op_fn lane_op_avx2(const struct sm_insn *in);
op_fn lane_op_avx512(const struct sm_insn *in);

/* ------------------------------------------------------------------ cta.c, barrier.c */

/* Whether the engine was reset or the model ends. */
bool run_dropped(const struct run *r);

/*
 * A CTA belongs to the thread that starts it: call the functions for CTAs and barriers on that
 * thread. NULL: no memory.
 */
struct cta *cta_start(struct sm_thread *t, uint64_t nr, unsigned int sm, unsigned int slot);
/* CTA_STUCK: all its warps wait at barriers */
enum cta_state { CTA_RUNS, CTA_DONE, CTA_STUCK, CTA_STOPPED };
/*
 * Run the CTA's warps in turn for up to @budget instructions, or for one round if a warp waits for
 * memory. It may let dma_lock go meanwhile.
 */
enum cta_state cta_run(struct sm_thread *t, struct cta *c, uint64_t budget);
/* Keep the memory of a CTA for the next cta_start(); free what was kept. */
void cta_end(struct sm_thread *t, struct cta *c);
void cta_free_all(struct sm_thread *t);
/*
 * The warp arrives at barrier @b, where @expected threads meet (0: all of the CTA). True: the warp
 * need not wait.
 */
bool barrier_arrive(struct warp *w, unsigned int b, uint32_t expected, bool wait);
/* BAR.RED: call this and set warp.red before barrier_arrive(), which may compute the results. */
void barrier_reduce(struct warp *w, unsigned int b, uint32_t lanes_true, uint32_t lanes_all);
/* A warp has exited and cta.left does not count it: end the barriers that waited for it alone. */
void barrier_warp_left(struct cta *c);

/* ------------------------------------------------------------------ memory.c */

/*
 * Host pointer to @size bytes at @va. NULL: a fault was recorded. The bytes must not cross a GPU
 * page (GK110_PAGE). Callers align @va to @size, or to 16 if that is 12; texel.c, whose addresses
 * may be odd, ends its pieces at pages. xlat_host() does not check this if it has the page's
 * translation. Memory comes in whole pages, so the pointer is good from the begin of @va's page to
 * its end, but not on the next GPU page; lane_ldst.inc relies on that.
 */
uint8_t *xlat_miss(struct sm_thread *t, uint64_t va, unsigned int size, enum mmu_access acc);
/* Drop all translations: call it whenever the thread has let dma_lock go. */
void xlat_flush(struct sm_thread *t);
/* The model has no memory for what it read at @va: record an MMU fault of the GPC's client. */
void no_memory(struct sm_thread *t, uint64_t va);

static LANE_INLINE uint8_t *xlat_host(struct sm_thread *t, uint64_t va, unsigned int size,
				      bool write)
{
	const struct xlat *x = &t->xlat[(va >> 12) % XLAT_LINES];

	if (__builtin_expect((write ? x->wtag : x->rtag) == va >> 12, 1))
		return x->host + (va & 4095);
	return xlat_miss(t, va, size, write ? ACC_WRITE : ACC_READ);
}

/*
 * Read constant memory; behind the bank's end it is 0. False: the warp is stopped, by an MMU fault,
 * or with error @esr if the grid has no such bank. It takes run.lock if the page was not read yet.
 */
bool const_read(struct warp *w, unsigned int bank, uint32_t offset, void *buf, unsigned int size,
		uint32_t esr);

enum space { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL };

#define WINDOW_SIZE (16u << 20)

static LANE_INLINE enum space space_of(const struct run *r, uint64_t va, uint64_t *offset)
{
	const struct sm_grid *grid = r->grid;

	if (va - grid->shared_window < WINDOW_SIZE && grid->shared_window) {
		*offset = va - grid->shared_window;
		return SPACE_SHARED;
	}
	if (va - grid->local_window < WINDOW_SIZE && grid->local_window) {
		*offset = va - grid->local_window;
		return SPACE_LOCAL;
	}
	return SPACE_GLOBAL;
}

/* GPU address of a lane's local byte; false: out of range */
bool local_address(const struct warp *w, unsigned int lane, uint32_t offset, unsigned int size,
		   uint64_t *va);

static LANE_INLINE uint32_t quad_lanes(unsigned int threads)
{
	return (threads & 0xf) * 0x11111111u;
}

/* for each lane of a mask: EACH_LANE the lowest first, EACH_LANE_DOWN the highest first */
#define EACH_LANE(l, m)                                                                  \
	for (uint32_t l##_left = (m), l; l##_left && ((l = __builtin_ctz(l##_left)), 1); \
	     l##_left &= l##_left - 1)
#define EACH_LANE_DOWN(l, m)                                                                  \
	for (uint32_t l##_left = (m), l; l##_left && ((l = 31 - __builtin_clz(l##_left)), 1); \
	     l##_left &= ~BIT(l))

/* ------------------------------------------------------------------ operands */

static LANE_INLINE uint64_t uniform_src(const struct warp *w, const struct uop *u, unsigned int i)
{
	return u->constant && u->csrc == i ? w->uniform : u->in->src[i].imm;
}

/* A 32-bit source, a value per lane. @tmp is filled where the source is no register. */
static LANE_INLINE const uint32_t *src_raw(const struct warp *w, const struct uop *u,
					   unsigned int i, uint32_t *tmp)
{
	uint32_t v;

	if (__builtin_expect(u->src_kind[i] == SRC_REG, 1))
		return w->r[u->src[i]];
	v = (uint32_t)uniform_src(w, u, i);
	for (unsigned int l = 0; l < LANES; l++)
		tmp[l] = v;
	return tmp;
}

static LANE_INLINE uint32_t src_lane(const struct warp *w, const struct uop *u, unsigned int i,
				     unsigned int lane)
{
	return u->src_kind[i] == SRC_REG ? w->r[u->src[i]][lane] : (uint32_t)uniform_src(w, u, i);
}

static LANE_INLINE uint64_t src_lane64(const struct warp *w, const struct uop *u, unsigned int i,
				       unsigned int lane)
{
	if (u->src_kind[i] == SRC_REG)
		return w->r[u->src[i]][lane] | (uint64_t)w->r[u->src[i] + 1][lane] << 32;
	return uniform_src(w, u, i);
}

static LANE_INLINE uint32_t src_pred(const struct warp *w, const struct sm_operand *op)
{
	uint32_t v = op->kind == SM_PRED ? w->p[op->reg] : ALL_LANES;

	return op->inv ? ~v : v;
}

static LANE_INLINE void put_pred(struct warp *w, const struct sm_operand *op, uint32_t val,
				 uint32_t m)
{
	if (op->kind == SM_PRED && op->reg != SM_PT)
		w->p[op->reg] = (w->p[op->reg] & ~m) | (val & m);
}

static LANE_INLINE void put(struct warp *w, unsigned int slot, const uint32_t *d, uint32_t m)
{
	uint32_t *r = w->r[slot];

	if (__builtin_expect(m == ALL_LANES, 1)) {
		for (unsigned int l = 0; l < LANES; l++)
			r[l] = d[l];
	} else {
		for (unsigned int l = 0; l < LANES; l++)
			r[l] = m >> l & 1 ? d[l] : r[l];
	}
}

static LANE_INLINE void put_flag(uint32_t *flag, uint32_t val, uint32_t m)
{
	*flag = (*flag & ~m) | (val & m);
}

#endif
