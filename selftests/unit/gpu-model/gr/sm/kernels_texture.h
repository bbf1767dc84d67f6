/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads through the read-only cache, and textures and surfaces with headers and descriptors that
 * are made by hand. Included by kernels_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_KERNELS_TEXTURE_H
#define KVGPU_SELFTESTS_SM_KERNELS_TEXTURE_H

static void loads_through_the_read_only_cache(void **state)
{
	static uint32_t a[N];
	const uint8_t *b = (const uint8_t *)a;
	const uint16_t *h = (const uint16_t *)a;
	const void *in[] = { a };
	uint32_t want[7], *got;

	for (unsigned int i = 0; i < N; i++)
		a[i] = (uint32_t)random64();
	got = columns(*state, "ldg", in, 1, (const unsigned int[]){ 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		const uint32_t *q = &a[i & ~3u];

		want[0] = a[i];
		want[1] = b[i];
		want[2] = (uint32_t)(int8_t)b[i];
		want[3] = h[i];
		want[4] = (uint32_t)(int16_t)h[i];
		want[5] = a[i | 1];
		want[6] = q[0] + 3 * q[1] + 5 * q[2] + 7 * q[3];
		compare32("ldg", got, i, want, 7);
	}
}

/*
 * Fields of a texture header (g80_texture.xml). All components have the same type and come in their
 * order.
 */
struct tic {
	uint32_t format, type, target, pitch, width, height, depth, block_height, block_depth;
	bool normalized;
	uint64_t addr;
};

static void write_tic(uint32_t *h, struct tic t)
{
	memset(h, 0, 32);
	h[0] = t.format | t.type << 6 | t.type << 9 | t.type << 12 | t.type << 15 | 2 << 18 |
	       3 << 21 | 4 << 24 | 5u << 27;
	h[1] = (uint32_t)t.addr;
	h[2] = (uint32_t)(t.addr >> 32) | t.target << 14 | (t.pitch ? 1u << 18 : 0) |
	       t.block_height << 22 | t.block_depth << 25 | (uint32_t)t.normalized << 31;
	h[3] = t.pitch;
	h[4] = 1u << 31 | t.width;
	h[5] = t.depth << 16 | t.height;
}

/* Writes a sampler: @wrap for all three coordinates, @linear for both filters. */
static void write_tsc(uint32_t *h, unsigned int wrap, bool linear)
{
	memset(h, 0, 32);
	h[0] = wrap | wrap << 3 | wrap << 6;
	h[1] = (linear ? 2 : 1) | (linear ? 2 : 1) << 4 | 1 << 6;
	h[2] = 0xfffu << 12;
}

static int clampi(int v, int n)
{
	return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static float fraction(float x)
{
	return floorf((x - floorf(x)) * 256 + 0.5f) / 256;
}

static float plane_texel(int x, int y, unsigned int c)
{
	return (float)(x * 3 + y * 50 + (int)c * 1000);
}

static float volume_texel(int x, int y, int z)
{
	return (float)(x + y * 10 + z * 100);
}

static float plane_linear(float x, float y, unsigned int c)
{
	float px = x - 0.5f, py = y - 0.5f, a = fraction(px), b = fraction(py), v = 0;
	int i = (int)floorf(px), j = (int)floorf(py);

	for (int k = 0; k < 4; k++) {
		float w = (k & 1 ? a : 1 - a) * (k & 2 ? b : 1 - b);

		v += w * plane_texel(clampi(i + (k & 1), 16), clampi(j + k / 2, 16), c);
	}
	return v;
}

/*
 * Returns the offset of byte @x of line @y of slice @z in block-linear memory with blocks of @bh by
 * @bd GOBs.
 */
static uint64_t blocklinear(uint32_t x, uint32_t y, uint32_t z, uint32_t row_bytes, uint32_t height,
			    uint32_t bh, uint32_t bd)
{
	uint32_t across = (row_bytes + 63) / 64, rows = (height + 8 * bh - 1) / (8 * bh);
	uint64_t block = ((uint64_t)(z / bd) * rows + y / 8 / bh) * across + x / 64;

	return block * 512 * bh * bd + (z % bd * bh + y / 8 % bh) * 512 + y % 8 * 64 + x % 64;
}

static void sampled_textures(void **state)
{
	static float x[N], y[N];
	struct rig *r = *state;
	uint64_t tic = rig_alloc(r, 4 * 32), tsc = rig_alloc(r, 4 * 32),
		 line = rig_alloc(r, 64 * 4), plane = rig_alloc(r, 16 * 16 * 16),
		 volume = rig_alloc(r, 65536), layers = rig_alloc(r, 65536);
	struct {
		uint64_t x, y, out;
		uint64_t n;
		uint64_t t[4];
	} p = {
		rig_alloc(r, N * 4),
		rig_alloc(r, N * 4),
		rig_alloc(r, N * 8 * 4),
		N,
		{ 0, 1 | 1 << 20, 2 | 2 << 20, 3 | 3 << 20 },
	};
	struct rig_kernel k = kernel(r, "textures");
	uint32_t *tics = rig_host(r, tic), *tscs = rig_host(r, tsc);
	float *fl = rig_host(r, line), *fp = rig_host(r, plane), *out = rig_host(r, p.out);
	uint8_t *fv = rig_host(r, volume), *fa = rig_host(r, layers);

	write_tic(tics,
		  (struct tic){ .format = 0xf, .type = 7, .target = 6, .width = 64, .addr = line });
	write_tic(tics + 8, (struct tic){ .format = 1,
					  .type = 7,
					  .target = 7,
					  .pitch = 256,
					  .width = 16,
					  .height = 16,
					  .addr = plane });
	write_tic(tics + 16, (struct tic){ .format = 0xf,
					   .type = 7,
					   .target = 2,
					   .width = 20,
					   .height = 12,
					   .depth = 6,
					   .block_height = 1,
					   .block_depth = 1,
					   .normalized = true,
					   .addr = volume });
	write_tic(tics + 24, (struct tic){ .format = 0x1d,
					   .type = 2,
					   .target = 5,
					   .width = 100,
					   .height = 20,
					   .depth = 4,
					   .block_height = 1,
					   .addr = layers });
	write_tsc(tscs + 8, 2, true);
	write_tsc(tscs + 16, 0, false);
	write_tsc(tscs + 24, 3, false);
	r->grid.header_pool = tic;
	r->grid.sampler_pool = tsc;
	r->grid.max_header = r->grid.max_sampler = 3;
	for (unsigned int i = 0; i < 64; i++)
		fl[i] = (float)(i * i);
	for (unsigned int i = 0; i < 16 * 16 * 4; i++)
		fp[i] = plane_texel((int)(i / 4 % 16), (int)(i / 64), i % 4);
	for (int i = 0; i < 20 * 12 * 6; i++) {
		float v = volume_texel(i % 20, i / 20 % 12, i / 240);

		memcpy(fv + blocklinear(i % 20 * 4, i / 20 % 12, i / 240, 80, 12, 2, 2), &v, 4);
	}
	for (int i = 0; i < 100 * 20 * 4; i++) /* each layer has 2 by 2 blocks of 1024 bytes */
		fa[i / 2000 * 4096 + blocklinear(i % 100, i / 100 % 20, 0, 100, 20, 2, 1)] =
			i % 100 + i / 2000;
	for (unsigned int i = 0; i < N; i++) {
		x[i] = (float)(random64() >> 44) * 0x1p-20f;
		y[i] = (float)(random64() >> 44) * 0x1p-20f;
	}
	memcpy(rig_host(r, p.x), x, sizeof(x));
	memcpy(rig_host(r, p.y), y, sizeof(y));
	ok(r, rig_launch(r, &k, (struct rig_dim){ N / 128, 1, 1 }, (struct rig_dim){ 128, 1, 1 }, 0,
			 &p, sizeof(p)));
	for (unsigned int i = 0; i < N; i++) {
		int a = (int)floorf(x[i] * 16), b = (int)floorf(y[i] * 16),
		    gx = (int)floorf(x[i] * 16 - 0.5f), gy = (int)floorf(y[i] * 16 - 0.5f),
		    x0 = clampi(gx, 16), x1 = clampi(gx + 1, 16), y0 = clampi(gy, 16),
		    y1 = clampi(gy + 1, 16);

		assert_true(out[i] == fl[(int)(x[i] * 64)]);
		assert_true(fabsf(out[N + i] - plane_linear(x[i] * 16, y[i] * 16, 0)) < 1e-3f);
		assert_true(fabsf(out[2 * N + i] - plane_linear(x[i] * 16, y[i] * 16, 3)) < 2e-3f);
		assert_true(fabsf(out[3 * N + i] - plane_linear(x[i] * 16, y[i] * 16, 1)) < 2e-3f);
		assert_true(out[4 * N + i] == volume_texel((int)(x[i] * 20), (int)(y[i] * 12), 1));
		assert_true(out[5 * N + i] == (float)((double)(a + (int)(i % 4)) / 255) || b >= 20);
		assert_true(out[6 * N + i] ==
			    plane_texel(x0, y1, 1) + 1000 * plane_texel(x1, y1, 1));
		assert_true(out[7 * N + i] ==
			    plane_texel(x1, y0, 1) + 1000 * plane_texel(x0, y0, 1));
	}
	r->grid.max_header = 2;
	assert_int_equal(rig_launch(r, &k, one, (struct rig_dim){ 32, 1, 1 }, 0, &p, sizeof(p)),
			 SM_TRAP);
}

/*
 * Clamp words of surface descriptors, by Mesa's nil/su_info.rs: bound, shift to blocks, log2 of the
 * element's size, log2 of the GOBs in a block.
 */
static uint32_t block_clamp(uint32_t bound, unsigned int shift, unsigned int size,
			    unsigned int gobs)
{
	return bound | shift << 22 | size << 26 | gobs << 29;
}

static void surface_accesses(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "surfaces");
	/*
	 * a plane of 48 by 20 words in blocks of 2 GOBs, which are 3 by 2 blocks; a volume of 8 by
	 * 4 by 4 elements of 16 bytes in blocks of 1 by 1 by 2 GOBs
	 */
	uint64_t plane = rig_alloc(r, 6 * 1024), volume = rig_alloc(r, 4 * 2 * 1024);
	struct {
		uint64_t plane, volume, out;
		uint32_t n;
	} p = { rig_alloc(r, 64), rig_alloc(r, 64), rig_alloc(r, 480 * 20), 480 };
	uint32_t *d = rig_host(r, p.plane), *out = rig_host(r, p.out), v, want[480];
	uint8_t *fp = rig_host(r, plane), *fv = rig_host(r, volume);

	d[0] = plane >> 8;
	d[2] = block_clamp(48 * 4 - 1, 6, 0, 0);
	d[3] = 0x88000000 | 3;
	d[4] = block_clamp(19, 4, 0, 1);
	d[6] = block_clamp(0, 0, 0, 0);
	d = rig_host(r, p.volume);
	d[0] = volume >> 8;
	d[2] = block_clamp(8 * 16 - 1, 6, 0, 0);
	d[3] = 2;
	d[4] = block_clamp(3, 3, 0, 0);
	d[6] = block_clamp(3, 1, 0, 1);
	d[7] = 1; /* number of blocks of a slice below each other */
	for (uint32_t i = 0; i < 48 * 20; i++) {
		v = i * 77;
		memcpy(fp + blocklinear(i % 48 * 4, i / 48, 0, 192, 20, 2, 1), &v, 4);
	}
	for (uint32_t i = 0; i < 4 * 4 * 4; i++) {
		uint32_t q[4] = { i, 0, 0, i * 5 };

		memcpy(fv + blocklinear(i % 4 * 16, i / 4 % 4, i / 16, 128, 4, 1, 2), q, 16);
	}
	ok(r, rig_launch(r, &k, (struct rig_dim){ 15, 1, 1 }, (struct rig_dim){ 32, 1, 1 }, 0, &p,
			 28));
	for (int i = 0; i < 480; i++) {
		int x = i % 24, y = i / 24;

		assert_int_equal(out[i], (y * 48 + x) * 77);
		assert_int_equal(out[480 + i], x < 4 || y < 2 ? 0 : ((y - 2) * 48 + x - 4) * 77);
		assert_int_equal(out[960 + i], (clampi(y - 2, 20) * 48 + clampi(x - 4, 48)) * 77);
		v = (y * 48 + x / 2) * 77;
		assert_int_equal(out[1440 + i], (uint32_t)(int16_t)(x % 2 ? v >> 16 : v));
		assert_int_equal(out[1920 + i], i % 64 * 16);
		want[i] = i * 3;
		memcpy(&v, fp + blocklinear((x + 24) * 4, y, 0, 192, 20, 2, 1), 4);
		assert_int_equal(v, want[i]);
	}
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t q[4];

		memcpy(q, fv + blocklinear((4 + i % 4) * 16, i / 4 % 4, i / 16, 128, 4, 1, 2), 16);
		assert_int_equal(q[0], i + 1);
		assert_int_equal(q[3] % 64, i);
	}
	d = rig_host(r, p.plane);
	/* the surface lacks rows that the kernel uses, and the access mode is .TRAP */
	d[4] = block_clamp(3, 4, 0, 1);
	assert_int_equal(rig_launch(r, &k, (struct rig_dim){ 15, 1, 1 },
				    (struct rig_dim){ 32, 1, 1 }, 0, &p, 28),
			 SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_OOR_ADDR);
}

#endif
