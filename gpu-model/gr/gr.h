/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graphics and compute engine's internals.
 *   engine.c      unit and engine tables, method entry, residency
 *   ports.c       registers (front end, GPC, TPC, ROP)
 *   pri.c         accesses of any register by FECS and the PMU
 *   topology.c    which units exist, broadcast
 *   trap.c        exceptions and the interrupt line
 *   fecs.c        context switch program: boot, commands, switching
 *   fecs_ext.c    the same behind the method port of NVIDIA's firmware
 *   context.c     context images in GPU memory, patch list
 *   state.c       where class state is kept
 *   methods.c     which method of a class does what
 *   methods_{3d,compute,i2m,2d}.c, report.c, mme.c   classes
 *   qmd.c, launch.c   compute launches
 *   sm/           execution of shader code
 *
 * Locks: gk110.lock protects registers (CHAN_ADDR of FECS says which channel is resident),
 * gr.fecs, gr.gpccs and gr.halted. Class state (gr.strand) is written by the thread that owns the
 * engine, and with the lock held by register handlers (icmd and method ports, commands of FECS,
 * resets), so its words are relaxed atomics. While threads run, only the thread that owns the
 * engine (a PBDMA's; for a save also the keeper of fifo/) uses gr.upload and gr.pacer. gr.busy is
 * set by that thread around a grid, gr.resets counted by a reset with the lock held; both are read
 * without it.
 */
#ifndef KVGPU_MODEL_GR_H
#define KVGPU_MODEL_GR_H

#include "model.h"

#include <gk110/class.h>
#include <gk110/gr.h>

#include "falcon.h"
#include "state.h"

/* ---------------------------------------------------------------- context switching */

/* the program that the uploaded FECS image is taken for */
enum fecs_program { FECS_NONE, FECS_NOUVEAU, FECS_EXTERNAL };

/* commands that may wait (queue_init of fuc/macros.fuc) */
#define FECS_QUEUE 8

struct fecs_cmd {
	uint32_t cmd, data;
};

/*
 * Where a context image or a patch list is: at virtual address .addr of .space, or with .phys at
 * address .addr of the memory that .target names.
 */
struct ctx_mem {
	struct mmu_space space;
	uint64_t addr;
	bool phys;
	enum mem_target target;
};

struct fecs {
	struct falcon falcon;
	enum fecs_program program;
	/*
	 * A command or a switch is executed. A command that comes meanwhile is queued: a register
	 * in a context image may give it, or software while gk110.lock is dropped for a patch list.
	 */
	bool busy;
	/* the program waits, until a reset or a new start */
	bool hung;
	struct fecs_cmd queue[FECS_QUEUE];
	unsigned int queued;
	/* image of the channel that fecs_select() took over */
	struct ctx_mem ctx;
};

/* ---------------------------------------------------------------- inline uploads */

#define UPLOAD_STAGE 4096u

/*
 * Words of an inline upload that are not in memory yet. The stage is written to memory before a
 * switch.
 */
struct gr_upload {
	uint32_t used;
	uint8_t stage[UPLOAD_STAGE];
};

/* ---------------------------------------------------------------- the engine */

struct gr {
	struct fecs fecs;
	struct falcon gpccs[GR_NR_GPC];
	/* memory accesses of methods, of FECS, and of launches (QMDs, releases) */
	struct mmu_client fe, fecs_mem, sked;
	/* of each GPC: its part of context images; code and constants */
	struct mmu_client gpccs_mem[GR_NR_GPC], gcc[GR_NR_GPC];

	bool halted; /* an exception waits for GR_CTRL */
	atomic_bool busy;
	/* counts resets of the engine */
	atomic_uint_least32_t resets;
	atomic_uint_least32_t strand[STRAND_WORDS];

	struct gr_upload upload;
	struct pacer pacer;
	struct sm *sm; /* private to sm/ */
};

/* the method that is being executed */
struct gr_exec {
	struct gk110 *g;
	struct gr *gr;
	struct chan *c;
	enum gr_class cls;
	unsigned int subc;
	uint32_t mthd, data; /* @mthd: in bytes */
	bool last; /* the last method of its group (a macro runs then) */
	bool in_macro; /* a macro sent it */
};

/* methods.c: run one method of a class, on the thread that owns the engine, without lock */
enum eng_ret gr_class_method(struct gr_exec *x);
/* Whether @mthd of the class does more than keep its argument. Any thread, no lock needed. */
bool gr_method_acts(enum gr_class cls, uint32_t mthd);

/*
 * @run is called on the thread that owns the engine, without lock and dma_lock: it may wait for
 * both, and comes back soon after x->c->stop (sm_run_grid(): at the end of running CTAs).
 */
struct gr_action {
	uint16_t first, last, stride; /* methods first, first + stride, ... last */
	enum eng_ret (*run)(struct gr_exec *x);
};

struct gr_actions {
	const struct gr_action *table;
	unsigned int nr;
};

extern const struct gr_actions gr_actions_common, gr_actions_3d, gr_actions_compute, gr_actions_2d,
	gr_actions_upload, gr_actions_report, gr_actions_mme;

/* ---------------------------------------------------------------- state access */

/*
 * A word may have any value, and another one at the next read: context images are the guest's
 * memory, and register handlers write words, too.
 */

static inline uint32_t strand_get(struct gr *gr, unsigned int word)
{
	return atomic_load_explicit(&gr->strand[word], memory_order_relaxed);
}

static inline void strand_set(struct gr *gr, unsigned int word, uint32_t val)
{
	atomic_store_explicit(&gr->strand[word], val, memory_order_relaxed);
}

/* state.c: any thread, with or without the lock */
/* Find the state word that keeps a method's argument. False: the class keeps none for @mthd. */
bool state_word(enum gr_class cls, uint32_t mthd, unsigned int *word);
uint32_t state_get(struct gr *gr, enum gr_class cls, uint32_t mthd);
void state_set(struct gr *gr, enum gr_class cls, uint32_t mthd, uint32_t val);
/*
 * Return the address whose upper 8 bits are @upper_mthd's argument and whose lower 32 bits are the
 * next method's.
 */
uint64_t state_addr(struct gr *gr, enum gr_class cls, uint32_t upper_mthd);
void state_reset(struct gr *gr); /* lock held */
/* Find the state word of an address of the icmd port. False: the model keeps none for it. */
bool state_bundle_word(uint32_t addr, unsigned int *word);
/* Find the class with the number @id (0xa1c0 and so on). False: GR has no such class. */
bool class_of_id(uint32_t id, enum gr_class *cls);

/* ---------------------------------- topology.c (of the board; topology_reset(): lock held) */

unsigned int gpc_tpcs(const struct gk110 *g, unsigned int gpc);
uint32_t ppc_tpc_mask(const struct gk110 *g, unsigned int gpc, unsigned int ppc);
unsigned int gpc_ppcs(const struct gk110 *g, unsigned int gpc);
void topology_reset(struct gk110 *g);
/* Find the GPC and TPC of the SM with id @sm. */
void sm_place(const struct gk110 *g, unsigned int sm, unsigned int *gpc, unsigned int *tpc);

/* ---------------------------------------------------------------- ports.c, pri.c (lock held) */

uint32_t gr_port_read(struct gk110 *g, uint32_t reg);
void gr_port_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
/*
 * pri.c: access any register of BAR0, as a PRI master. Handlers may take dma_lock for writing, so
 * hold no dma_lock. They may reset GR: compare gr.resets. They may give FECS a command, which is
 * queued while fecs.busy is set.
 */
uint32_t pri_read(struct gk110 *g, uint32_t addr);
void pri_write(struct gk110 *g, uint32_t addr, uint32_t val);

/* ---------------------------------------------------------------- trap.c */

/* Exceptions of methods: take the lock, record the exception, halt the engine, return ENG_STALL. */
enum eng_ret trap_illegal_method(struct gr_exec *x);
enum eng_ret trap_illegal_class(struct gr_exec *x);
enum eng_ret trap_class_subch(struct gr_exec *x);
enum eng_ret trap_data_error(struct gr_exec *x, uint32_t code);
enum eng_ret trap_m2mf(struct gr_exec *x, uint32_t esr);
enum eng_ret trap_macro(struct gr_exec *x, uint32_t esr, uint32_t pc, uint32_t op);
enum eng_ret trap_sked(struct gr_exec *x, uint32_t esr);
enum eng_ret trap_sm(struct gr_exec *x, unsigned int gpc, unsigned int tpc, uint32_t warp_esr,
		     uint32_t global_esr);
/* Raise the notify interrupt. Takes the lock. */
void trap_notify(struct gk110 *g);
/* call the functions from here on with lock held */
/* Return what GR_INTR reads. */
uint32_t trap_intr(struct gk110 *g);
/* Set GR's interrupt line to PMC: call it after a change of a register that the line follows. */
void trap_update(struct gk110 *g);
void trap_reset(struct gk110 *g);
/* Whether the front end takes no methods: after an exception, or because GR_CTRL says so. */
bool gr_halted(struct gk110 *g);
/* Return what TPC_TRAP reads: a bit for each unit of the TPC that has an exception. */
uint32_t tpc_trap_level(struct gk110 *g, unsigned int gpc, unsigned int tpc);

/* --------------------------------------------------------------- fecs.c, fecs_ext.c (lock held) */

int fecs_init(struct gk110 *g); /* lock not held */
void fecs_fini(struct gk110 *g); /* lock not held */
void fecs_reset(struct gk110 *g);
bool fecs_read(struct gk110 *g, uint32_t off, uint32_t *val);
void fecs_write(struct gk110 *g, uint32_t off, uint32_t val);
void gpccs_write(struct gk110 *g, unsigned int gpc, uint32_t off, uint32_t val);
uint32_t fecs_scratch(struct gk110 *g, unsigned int i);
void fecs_scratch_set(struct gk110 *g, unsigned int i, uint32_t val);
void fecs_scratch_or(struct gk110 *g, unsigned int i, uint32_t bits);
void fecs_scratch_clear(struct gk110 *g, unsigned int i, uint32_t bits);
/* A method that the class leaves to FECS. Takes the lock. */
void fecs_firmware_method(struct gr_exec *x);
/*
 * Save the resident context; load that of @chan, a word as CHAN_ADDR holds it. Call these two with
 * fecs.busy set; after clearing it call fecs_run_queue(), for commands that came meanwhile. @stop:
 * that of the channel, or NULL. @may_unlock: the caller is an engine thread, and the lock may be
 * dropped during the call. Return 0, -EFAULT after a fault was recorded, or -EIO.
 */
int fecs_save(struct gk110 *g);
int fecs_load(struct gk110 *g, uint32_t chan, const atomic_bool *stop, bool may_unlock);
/* Take over the context pointer and the address space of @chan. Return 0, -EFAULT or -EIO. */
int fecs_select(struct gk110 *g, uint32_t chan);
/* Execute the queued commands, unless FECS is busy or hung. */
void fecs_run_queue(struct gk110 *g);
/* Let the program wait (fecs.hung), and tell @why. */
void fecs_hang(struct gk110 *g, const char *why);
/* FECS or a GPCCS was started: report NVIDIA's firmware as ready if all of them run. */
void fecs_ext_start(struct gk110 *g);
void fecs_ext_command(struct gk110 *g, const struct fecs_cmd *cmd);

/* ---------------------------------------------------------------- context.c (lock held) */

/* Return the bytes of a context image; 0 when a register list has no valid end. */
uint32_t ctx_image_size(struct gk110 *g);
/*
 * Return 0, -EFAULT after a fault was recorded, or -EIO when an image in physical memory can't be
 * reached, a list can't be walked, or a register in one has reset GR. A reset by the last GPC's
 * lists is not reported: compare gr.resets.
 */
int ctx_image_save(struct gk110 *g, const struct ctx_mem *m);
int ctx_image_load(struct gk110 *g, const struct ctx_mem *m);
int ctx_mem_read(struct gk110 *g, const struct ctx_mem *m, struct mmu_client *who, uint64_t off,
		 void *buf, size_t len);
int ctx_mem_write(struct gk110 *g, const struct ctx_mem *m, struct mmu_client *who, uint64_t off,
		  const void *buf, size_t len);
/*
 * Execute @count (register, value) pairs at @m with the rights of FECS, as the chip does. A
 * mediator has to close this hole. @stop, @may_unlock: as for fecs_load(). Return 0, -EFAULT after
 * a fault was recorded, or -EIO when the list is too long, GR was reset, or *@stop is true and the
 * list is long. A reset by the last pair is not reported: compare gr.resets.
 */
int ctx_patch_execute(struct gk110 *g, const struct ctx_mem *m, uint32_t count,
		      const atomic_bool *stop, bool may_unlock);

/* ---------------------------- methods (on the thread that owns the engine, lock not held) */

/*
 * methods_i2m.c: write the staged words of an inline upload to memory. Return 0, or -EFAULT after a
 * fault was recorded; the words are dropped then.
 */
int upload_flush_for_save(struct gk110 *g, struct chan *c);

/* report.c */
struct release {
	uint64_t va; /* a multiple of 16 with .four_words, else of 4 */
	uint32_t payload;
	bool four_words; /* payload, 0, time (64 bits) */
	bool reduce; /* combine the word in memory with the payload */
	unsigned int op, format; /* of the reduction: RED_*, QMD_RED_FORMAT_* */
};
/*
 * Write or reduce a semaphore, and let PFIFO's waiting acquires look again. Return 0, or -EFAULT
 * after a fault was recorded.
 */
int semaphore_release(struct gr_exec *x, struct mmu_client *who, const struct release *r);
/* Evaluate the state of conditional execution into *@on. False: *@ret is the method's result. */
bool render_enabled(struct gr_exec *x, bool *on, enum eng_ret *ret);

/*
 * launch.c: SEND_SIGNALING_PCAS_B, run a grid and its dependent grids. ENG_AGAIN: it was stopped,
 * and the class state says where the same method goes on; or GR was reset.
 */
enum eng_ret launch_pcas(struct gr_exec *x);

#endif
