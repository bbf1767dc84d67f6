// SPDX-License-Identifier: GPL-2.0-only
/*
 * Surfaces of several kinds, widths of elements and boundary modes (surfaces.cu), and stores that
 * convert. Reads and writes are compared with memory. Boundary modes are those of the CUDA C
 * programming guide. Descriptors are by Mesa's nil/su_info.rs; the order of their words is from
 * nvcc's code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/rig.h"

#define N      128u /* threads */
#define WIDTH  20
#define HEIGHT 20
#define DEPTH  5
#define LAYERS 3

__asm__(".section .rodata\n.balign 8\ncubin_start: .incbin \"selftests/model/unit/gpu-model/gr/sm/surfaces.cubin\"\ncubin_end:\n"
	".text\n");
extern const uint8_t cubin_start[], cubin_end[];

struct world {
	struct rig *r;
	struct {
		uint64_t s, p, v;
	} param;
	int32_t (*p)[4];
	uint8_t *v, *before;
	uint64_t memory, size;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rig *r = w->r = rig_create(24u << 20);

	w->param.s = rig_alloc(r, 64);
	w->param.p = rig_alloc(r, N * 16);
	w->param.v = rig_alloc(r, N * 16);
	w->p = rig_host(r, w->param.p);
	w->v = rig_host(r, w->param.v);
	w->size = 512u << 10;
	w->memory = rig_alloc(r, w->size);
	w->before = malloc(w->size);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	rig_destroy(w->r);
	free(w->before);
	free(w);
	return 0;
}

static uint64_t seed = 1;

static uint32_t chance(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

/* ------------------------------------------------------------------ shapes */

static const struct shape {
	const char *name;
	int size[3]; /* of one layer */
	int layers;
	unsigned int log2_height, log2_depth; /* log2 of a block's GOBs */
} shapes[] = {
	{ "line", { WIDTH, 1, 1 }, 1, 0, 0 },
	{ "plane", { WIDTH, HEIGHT, 1 }, 1, 1, 0 },
	{ "volume", { WIDTH, HEIGHT, DEPTH }, 1, 1, 1 },
	{ "cube", { WIDTH, WIDTH, 1 }, 6, 2, 0 },
	{ "line_layers", { WIDTH, 1, 1 }, LAYERS, 0, 0 },
	{ "plane_layers", { WIDTH, HEIGHT, 1 }, LAYERS, 1, 0 },
	{ "cube_layers", { WIDTH, WIDTH, 1 }, 6 * LAYERS, 0, 0 },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint32_t blocks(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit;
}

static uint32_t layer_bytes(const struct shape *s, unsigned int bytes)
{
	return blocks(s->size[0] * bytes, 64) * blocks(s->size[1], 8u << s->log2_height) *
	       blocks(s->size[2], 1u << s->log2_depth) * (512u << (s->log2_height + s->log2_depth));
}

static uint32_t offset_of(const struct shape *s, unsigned int bytes, const int *at, int layer)
{
	uint32_t x = at[0] * bytes, y = at[1], z = at[2], bh = 8u << s->log2_height,
		 bd = 1u << s->log2_depth;
	uint32_t block =
		(z / bd * blocks(s->size[1], bh) + y / bh) * blocks(s->size[0] * bytes, 64) +
		x / 64;

	return layer * layer_bytes(s, bytes) + block * (512u << (s->log2_height + s->log2_depth)) +
	       (((z % bd) << s->log2_height) + y % bh / 8) * 512 + y % 8 * 64 + x % 64;
}

/* Writes the words of a descriptor that code for byte-wise accesses reads. */
static void describe(struct world *w, const struct shape *s, unsigned int bytes)
{
	uint32_t *d = rig_host(w->r, w->param.s);

	memset(d, 0, 64);
	d[0] = (uint32_t)(w->memory >> 8);
	d[2] = (s->size[0] * bytes - 1) | 6 << 22;
	d[3] = 0x88000000 | blocks(s->size[0] * bytes, 64);
	d[4] = (s->size[1] - 1) | (3 + s->log2_height) << 22 | s->log2_height << 29;
	d[5] = layer_bytes(s, bytes) >> 8;
	if (s->size[2] > 1)
		d[6] = (s->size[2] - 1) | s->log2_depth << 22 | s->log2_depth << 29;
	else
		d[6] = (s->layers - 1) | 1 << 21;
	d[7] = blocks(s->size[1], 8u << s->log2_height);
}

/*
 * Chooses random places, some of them outside of the surface; with @inside none. None is below zero
 * in surfaces with layers: nvcc's code takes their coordinates as unsigned, and so clamps them to
 * the far edge.
 */
static void choose_places(struct world *w, const struct shape *s, bool inside)
{
	int margin = inside ? 0 : 3, low = s->layers > 1 ? 0 : margin;

	for (unsigned int i = 0; i < N; i++) {
		for (unsigned int d = 0; d < 3; d++)
			w->p[i][d] = (int)chance(s->size[d] + margin + low) - low;
		w->p[i][3] = chance(s->layers);
		if (s->layers % 6 == 0) { /* cubes: z is the face */
			w->p[i][2] = chance(6);
			w->p[i][3] = chance(s->layers / 6);
		}
	}
}

static int layer_of(const struct shape *s, const int32_t *p)
{
	return s->layers % 6 == 0 ? p[3] * 6 + p[2] : p[3];
}

/* Clamps a place to the surface. Returns true if it was inside. */
static bool clamp(const struct shape *s, const int32_t *p, int *at)
{
	bool inside = true;

	for (unsigned int d = 0; d < 3; d++) {
		at[d] = p[d];
		if (d == 2 && s->layers % 6 == 0)
			at[d] = 0;
		if (s->size[d] == 1)
			at[d] = 0; /* the surface has no such coordinate */
		inside &= at[d] >= 0 && at[d] < s->size[d];
		at[d] = at[d] < 0 ? 0 : at[d] >= s->size[d] ? s->size[d] - 1 : at[d];
	}
	return inside;
}

static enum sm_result launch(struct world *w, const char *format, const struct shape *s,
			     const char *mode, const char *type)
{
	struct rig_kernel k;
	char name[64];

	snprintf(name, sizeof(name), format, s->name, mode, type);
	if (!rig_cubin(w->r, cubin_start, cubin_end - cubin_start, name, &k)) {
		print_error("no kernel %s\n", name);
		fail();
	}
	return rig_launch(w->r, &k, (struct rig_dim){ N / 32, 1, 1 }, (struct rig_dim){ 32, 1, 1 },
			  0, &w->param, sizeof(w->param));
}

static void fill(struct world *w, uint8_t *mem)
{
	for (uint64_t i = 0; i < w->size; i++)
		mem[i] = (uint8_t)(i * 37 + i / 251);
	for (unsigned int i = 0; i < N * 16; i++)
		w->v[i] = (uint8_t)chance(256);
}

/*
 * The value that thread @i writes depends on its place only, because threads that write to the same
 * place do so in any order.
 */
static void value_of_place(struct world *w, const struct shape *s, unsigned int i, uint64_t *v)
{
	int at[3];

	clamp(s, w->p[i], at);
	v[0] = (at[0] + 1) * 0x9e3779b97f4a7c15ull ^ (at[1] + 1) * 0xc2b2ae3d27d4eb4full ^
	       (at[2] + 8 * layer_of(s, w->p[i]) + 1) * 0x165667b19e3779f9ull;
	v[0] ^= v[0] >> 29;
	v[1] = v[0] * 0xbf58476d1ce4e5b9ull;
}

static void expect_written(struct world *w, const struct shape *s, unsigned int bytes, bool drop)
{
	for (unsigned int i = 0; i < N; i++) {
		uint64_t v[2];
		int at[3];

		value_of_place(w, s, i, v);
		memcpy(w->v + i * bytes, v, bytes);
		if (clamp(s, w->p[i], at) || !drop)
			memcpy(w->before + offset_of(s, bytes, at, layer_of(s, w->p[i])),
			       w->v + i * bytes, bytes);
	}
}

static void reads_and_writes(void **state)
{
	static const struct {
		const char *name;
		unsigned int bytes;
	} types[] = {
		{ "char", 1 }, { "short", 2 }, { "int", 4 }, { "int2", 8 }, { "int4", 16 },
	};
	static const char *const modes[] = { "zero", "clamp", "trap" };
	struct world *w = *state;
	uint8_t *mem = rig_host(w->r, w->memory);
	static const uint8_t zeros[16];

	for (unsigned int n = 0; n < SHAPES * 15; n++) {
		const struct shape *s = &shapes[n / 15];
		unsigned int bytes = types[n / 3 % 5].bytes, mode = n % 3;

		assert_true(layer_bytes(s, bytes) * s->layers <= w->size);
		describe(w, s, bytes);
		choose_places(w, s, mode == 2);
		fill(w, mem);
		assert_int_equal(launch(w, "read_%s_%s_%s", s, modes[mode], types[n / 3 % 5].name),
				 SM_DONE);
		for (unsigned int i = 0; i < N; i++) {
			int at[3];
			bool inside = clamp(s, w->p[i], at);
			const uint8_t *want =
				inside || mode ?
					mem + offset_of(s, bytes, at, layer_of(s, w->p[i])) :
					zeros;

			if (memcmp(w->v + i * bytes, want, bytes))
				print_error("%s %s %s: thread %u at %d %d %d %d\n", s->name,
					    modes[mode], types[n / 3 % 5].name, i, w->p[i][0],
					    w->p[i][1], w->p[i][2], w->p[i][3]);
			assert_memory_equal(w->v + i * bytes, want, bytes);
		}
		fill(w, mem);
		memcpy(w->before, mem, w->size);
		expect_written(w, s, bytes, mode == 0);
		assert_int_equal(launch(w, "write_%s_%s_%s", s, modes[mode], types[n / 3 % 5].name),
				 SM_DONE);
		assert_memory_equal(mem, w->before, w->size);
	}
}

/* One thread of many is outside: the grid stops with the error for an address out of range. */
static void outside_is_a_trap_where_asked(void **state)
{
	struct world *w = *state;

	for (unsigned int n = 0; n < SHAPES; n++) {
		const struct shape *s = &shapes[n];

		for (unsigned int d = 0; d < (s->size[1] > 1 ? 2u : 1u); d++) {
			describe(w, s, 4);
			choose_places(w, s, true);
			w->p[77][d] = s->size[d];
			assert_int_equal(launch(w, "read_%s_%s_%s", s, "trap", "int"), SM_TRAP);
			assert_int_equal(w->r->grid.trap.warp_esr, WARP_OOR_ADDR);
			/* -1, which unsigned coordinates take as far beyond */
			w->p[77][d] = -1;
			assert_int_equal(launch(w, "write_%s_%s_%s", s, "trap", "int"), SM_TRAP);
			assert_int_equal(w->r->grid.trap.warp_esr, WARP_OOR_ADDR);
		}
	}
}

/* ------------------------------------------------------------------ stores that convert */

enum number { FLOAT, SINT, UINT, UNORM, SNORM };

/* from GK104_IMAGE_FORMAT of rnndb's g80_defs.xml */
static const struct {
	uint8_t id, n, bits, number;
} formats[] = {
	{ 0x02, 4, 32, FLOAT }, { 0x03, 4, 32, SINT },	{ 0x04, 4, 32, UINT },
	{ 0x0c, 4, 16, FLOAT }, { 0x0a, 4, 16, SINT },	{ 0x0b, 4, 16, UINT },
	{ 0x08, 4, 16, UNORM }, { 0x09, 4, 16, SNORM }, { 0x1b, 4, 8, SINT },
	{ 0x1c, 4, 8, UINT },	{ 0x18, 4, 8, UNORM },	{ 0x1a, 4, 8, SNORM },
	{ 0x0d, 2, 32, FLOAT }, { 0x1f, 2, 16, SINT },	{ 0x20, 2, 16, UINT },
	{ 0x29, 1, 32, FLOAT }, { 0x36, 1, 16, FLOAT }, { 0x39, 1, 8, SINT },
	{ 0x3a, 1, 8, UINT },	{ 0x37, 1, 8, UNORM },
};

static uint64_t stored(uint32_t v, unsigned int bits, enum number number)
{
	int64_t top = (1ll << (bits - 1)) - 1, i = (int32_t)v;
	uint64_t ones = (1ull << bits) - 1;
	_Float16 h;
	uint16_t raw;
	float f;

	memcpy(&f, &v, 4);
	switch (number) {
	case FLOAT:
		if (bits == 32)
			return v;
		h = (_Float16)f;
		memcpy(&raw, &h, 2);
		return f != f ? 0x7fff : raw;
	case UINT:
		return v > ones ? ones : v;
	case SINT:
		return (uint64_t)(i > top ? top : i < -top - 1 ? -top - 1 : i) & ones;
	case UNORM:
		return (uint64_t)rint(fmax(fmin(f, 1), 0) * (double)ones);
	default:
		return (uint64_t)(int64_t)rint(fmax(fmin(f, 1), -1) * (double)top) & ones;
	}
}

static void stores_that_convert(void **state)
{
	static const float values[] = { 0,     1,     -1,    0.5f, -0.25f, 1.5f,  -7,
					1e-3f, 65519, 65520, 1e9f, -1e9f,  6e-8f, 0.3337f };
	struct world *w = *state;
	const struct shape *s = &shapes[1];
	uint8_t *mem = rig_host(w->r, w->memory);

	for (unsigned int n = 0; n < sizeof(formats) / sizeof(formats[0]); n++) {
		unsigned int bits = formats[n].bits, bytes = formats[n].n * bits / 8,
			     log2 = __builtin_ctz(bytes);
		uint32_t *d = rig_host(w->r, w->param.s), v[4];

		describe(w, s, bytes);
		d[1] = formats[n].id;
		/* here the bound counts elements, not bytes */
		d[2] = (s->size[0] - 1) | (6 - log2) << 22 | log2 << 26;
		choose_places(w, s, false);
		fill(w, mem);
		for (unsigned int i = 0; i < N; i++) {
			uint64_t place[2];

			value_of_place(w, s, i, place);
			for (unsigned int c = 0; c < 4; c++) {
				uint32_t bits_of_place = (uint32_t)(place[c / 2] >> 32 * (c & 1));

				if (formats[n].number == SINT || formats[n].number == UINT)
					v[c] = (uint32_t)((int32_t)bits_of_place >>
							  (bits_of_place & 31));
				else
					memcpy(&v[c], &values[bits_of_place % 14], 4);
			}
			memcpy(w->v + i * 16, v, 16);
		}
		memcpy(w->before, mem, w->size);
		for (unsigned int i = 0; i < N; i++) {
			int at[3];

			memcpy(v, w->v + i * 16, 16);
			if (!clamp(s, w->p[i], at))
				continue;
			for (unsigned int c = 0; c < formats[n].n; c++) {
				uint64_t raw = stored(v[c], bits, formats[n].number);

				memcpy(w->before + offset_of(s, bytes, at, 0) + c * bits / 8, &raw,
				       bits / 8);
			}
		}
		assert_int_equal(launch(w, "formatted", s, "", ""), SM_DONE);
		assert_memory_equal(mem, w->before, w->size);
	}
	((uint32_t *)rig_host(w->r, w->param.s))[1] = 0xff; /* no such format */
	assert_int_equal(launch(w, "formatted", s, "", ""), SM_TRAP);
	assert_int_equal(w->r->grid.trap.warp_esr, WARP_ILLEGAL_PARAM);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_and_writes),
		T(outside_is_a_trap_where_asked),
		T(stores_that_convert),
	};

	return cmocka_run_group_tests_name("surfaces", tests, NULL, NULL);
}
