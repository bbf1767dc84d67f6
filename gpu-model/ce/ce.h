/* SPDX-License-Identifier: GPL-2.0-only */
/* The copy engines' internals; the README says what each file does. */
#ifndef KVGPU_MODEL_CE_H
#define KVGPU_MODEL_CE_H

#include "gk110/ce.h"
#include "model.h"

#define CE_CHUNK   (1u << 20)
#define CE_ROWS	   8
#define CE_VA_MASK ((1ull << CE_VA_BITS) - 1)

/* for the thread that owns the engine, but for @index */
struct ce_engine {
	struct mmu_client client;
	struct pacer pacer;
	unsigned int index; /* index in gk110.engine[] */
};

struct ce {
	struct ce_engine engine[GK110_CE_NR];
};

/* the last translation of a surface or line; valid during one hold of dma_lock */
struct ce_cursor {
	uint64_t va;
	uint64_t len; /* 0: no translation */
	uint8_t *ptr;
	enum mem_target target;
};

struct ce_surface {
	bool pitch_layout;
	bool phys;
	enum mem_target target; /* used for a physical surface */
	enum mmu_access acc;
	uint64_t addr;
	int64_t pitch; /* pitch layout only */
	uint64_t x0, y0;
	unsigned int gob_rows;
	unsigned int log2_height; /* GOBs per block */
	uint64_t block_bytes; /* distance of horizontally adjacent GOBs */
	uint64_t row_bytes; /* bytes of one row of blocks */
	uint64_t layer_offset;
	struct ce_cursor cur[CE_ROWS];
	uint64_t moved[2]; /* bytes: [0] in guest memory, [1] in VRAM */
};

struct ce_remap {
	unsigned int size; /* bytes of one component */
	unsigned int nr_src, nr_dst;
	unsigned int sel[4]; /* A0B5_REMAP_* per destination component */
	uint32_t constant[2];
};

#define CE_PATTERN_BYTES  144 /* a multiple of every possible element size */
#define CE_PATTERN_COPIES 32

struct ce_job {
	struct gk110 *g;
	struct ce_engine *ce;
	struct chan *c;
	unsigned int mmu_flags;
	struct ce_surface src, dst;
	/*
	 * Do about @budget bytes of work, from (line, x) on, and advance both. Return 0 or -EFAULT.
	 * Called with dma_lock held for reading.
	 */
	int (*step)(struct ce_job *job, uint64_t budget);
	/* @width: bytes, or elements when converting */
	uint64_t lines, width;
	uint64_t line, x;
	bool uses_src;
	bool streaming;
	struct ce_remap remap;
	uint8_t pattern[CE_PATTERN_BYTES * CE_PATTERN_COPIES]; /* fills: the elements, repeated */
	uint8_t write_mask[16];
	bool masked;
};

/* ---- surface.c */

/*
 * Read the block geometry in @words, and check it against @width and @lines. Return CE_NO_ERR or
 * the error. @elem: bytes per element.
 */
enum gk110_ce_launcherr ce_surface_blocks(struct ce_surface *s, const uint32_t *words,
					  unsigned int elem, uint64_t width, uint64_t lines);
/* Address of byte @x of line @line. *@run: how many bytes follow contiguously in the layout. */
uint64_t ce_surface_va(const struct ce_surface *s, uint64_t line, uint64_t x, uint64_t *run);
/* How many lines from @line on share a GOB. Pitch layout has no GOBs: CE_ROWS. */
unsigned int ce_surface_band(const struct ce_surface *s, uint64_t line);
/* Forget the translations, as at each new hold of dma_lock, and zero .moved. */
void ce_surface_forget(struct ce_surface *s);

/*
 * Translate @va into the cursor and return its host pointer; *@n is cut to what is contiguous.
 * NULL: a fault was recorded. Call with dma_lock held for reading.
 */
uint8_t *ce_map_slow(struct ce_job *job, struct ce_surface *s, struct ce_cursor *cur, uint64_t va,
		     uint64_t *n);

static inline uint8_t *ce_map(struct ce_job *job, struct ce_surface *s, struct ce_cursor *cur,
			      uint64_t va, uint64_t *n)
{
	uint64_t off;

	va &= CE_VA_MASK;
	off = va - cur->va;
	if (off >= cur->len)
		return ce_map_slow(job, s, cur, va, n);
	if (*n > cur->len - off)
		*n = cur->len - off;
	return cur->ptr + off;
}

/*
 * Copy between a buffer and @n bytes of a line from byte @x on. Return 0 or -EFAULT. Call with
 * dma_lock held for reading.
 */
int ce_surface_read(struct ce_job *job, uint64_t line, uint64_t x, uint8_t *buf, uint64_t n);
int ce_surface_write(struct ce_job *job, uint64_t line, uint64_t x, const uint8_t *buf, uint64_t n);

/* ---- move.c: on host addresses; the caller keeps dma_lock held while they are in use */

#define CE_RUNS		64
#define CE_STREAM_BYTES (16u << 20)

struct ce_run {
	uint8_t *d;
	const uint8_t *s;
	uint64_t n;
};

/* The result is that of a copy byte by byte upwards, also where @d and @s overlap. */
void ce_copy_forward(uint8_t *d, const uint8_t *s, uint64_t n);
/* Do all @runs in their order, each as ce_copy_forward(). */
void ce_move_runs(const struct ce_run *runs, unsigned int n, bool streaming);
/* Move one line of a GOB; all of it is read before any of it is written. */
void ce_move_gob_line(uint8_t *d, const uint8_t *s);

/* ---- copy.c */

/* Choose job->step for a plain copy or, without a source, a fill from job->pattern. */
void ce_copy_prepare(struct ce_job *job);

/* ---- remap.c */

/* Decode SET_REMAP_COMPONENTS. Return CE_NO_ERR or the error. */
enum gk110_ce_launcherr ce_remap_decode(struct ce_remap *r, const uint32_t *state);
bool ce_remap_is_copy(const struct ce_remap *r);
bool ce_remap_is_fill(const struct ce_remap *r);
bool ce_remap_reads_src(const struct ce_remap *r);
/* Fill job->pattern with one destination element of constants, repeated. */
void ce_remap_pattern(struct ce_job *job);
void ce_remap_prepare(struct ce_job *job);

/* ---- semaphore.c: no lock held; the functions with a job take dma_lock for reading */

enum gk110_ce_launcherr ce_semaphore_check(const uint32_t *state, uint32_t launch);
int ce_semaphore_release(struct ce_job *job, const uint32_t *state, uint32_t launch);
/*
 * Apply reduction @op of class A0B5 to @old with @arg. Call only for values that
 * ce_semaphore_check() accepts.
 */
uint32_t ce_reduce(unsigned int op, bool is_unsigned, uint32_t old, uint32_t arg);
/* Whether render-enable lets the launch move its data: 0 and *@enabled, or -EFAULT. */
int ce_render_enabled(struct ce_job *job, const uint32_t *state, bool *enabled);
enum eng_ret ce_render_check(const uint32_t *state);

/* ---- launch.c: no lock held */

enum eng_ret ce_launch(struct gk110 *g, struct ce_engine *ce, struct chan *c, uint32_t launch);

/* ---- unit.c: raise interrupts; neither lock nor dma_lock held, as it waits for lock */
void ce_raise(struct gk110 *g, struct ce_engine *ce, uint32_t bits, enum gk110_ce_launcherr code);

static inline uint64_t ce_address(const uint32_t *state, enum gk110_ce_state upper)
{
	return (((uint64_t)state[upper] << 32) | state[upper + 1]) & CE_VA_MASK;
}

#endif
