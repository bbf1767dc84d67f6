// SPDX-License-Identifier: MIT
/*
 * Texture headers, samplers and surface descriptors, bit by bit, as rnndb's g80_texture.xml and
 * Mesa's nil/su_info.rs have them.
 */
#include <selftests/unit_test.h>

#include <cuda/kepler/device/texture.h>

static uint32_t field(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & (uint32_t)((1ull << (high - low + 1)) - 1);
}

TEST(headers_of_arrays)
{
	struct texture_header h = { .va = 0x1234567800,
				    .shape = SHAPE_2D_ARRAY,
				    .texel = { TEXEL_SINT, 16, 2 },
				    .normalized = true,
				    .srgb = false,
				    .width = 1000,
				    .height = 300,
				    .depth = 7,
				    .log2_height = 4,
				    .levels = 5,
				    .first = 1,
				    .last = 3 };
	uint32_t w[HEADER_WORDS];

	header_encode(w, &h);
	assert_int_equal(field(w[0], 5, 0), 0x0c); /* 16_16 */
	assert_int_equal(field(w[0], 8, 6), 3); /* SINT */
	assert_int_equal(field(w[0], 11, 9), 3);
	assert_int_equal(field(w[0], 20, 18), 2); /* C0 */
	assert_int_equal(field(w[0], 23, 21), 3); /* C1 */
	assert_int_equal(field(w[0], 26, 24), 0); /* ZERO */
	assert_int_equal(field(w[0], 29, 27), 6); /* ONE_INT */
	assert_int_equal(w[1], 0x34567800);
	assert_int_equal(field(w[2], 7, 0), 0x12);
	assert_int_equal(field(w[2], 10, 10), 0);
	assert_int_equal(field(w[2], 17, 14), 5); /* 2D_ARRAY */
	assert_int_equal(field(w[2], 18, 18), 0); /* not LINEAR */
	assert_int_equal(field(w[2], 24, 22), 4);
	assert_int_equal(field(w[2], 27, 25), 0);
	assert_int_equal(field(w[2], 30, 30), 1); /* NO_BORDER */
	assert_int_equal(field(w[2], 31, 31), 1); /* NORMALIZED_COORDS */
	assert_int_equal(field(w[4], 29, 0), 1000);
	assert_int_equal(field(w[5], 15, 0), 300);
	assert_int_equal(field(w[5], 27, 16), 7);
	assert_int_equal(field(w[5], 31, 28), 4); /* LAST_LEVEL */
	assert_int_equal(field(w[7], 3, 0), 1);
	assert_int_equal(field(w[7], 7, 4), 3);
}

TEST(headers_of_memory)
{
	struct texture_header h = { .va = 0x8000000200,
				    .shape = SHAPE_PITCH,
				    .texel = { TEXEL_UINT_NORMALIZED, 8, 4 },
				    .width = 99,
				    .height = 65536,
				    .pitch = 4096 };
	uint32_t w[HEADER_WORDS];

	header_encode(w, &h);
	assert_int_equal(field(w[0], 5, 0), 0x08); /* 8_8_8_8 */
	assert_int_equal(field(w[0], 17, 15), 2); /* UNORM */
	assert_int_equal(field(w[2], 17, 14), 7); /* RECT */
	assert_int_equal(field(w[2], 18, 18), 1); /* LINEAR */
	assert_int_equal(w[3], 4096);
	assert_int_equal(field(w[5], 15, 0), 0); /* 65536 */
	h.shape = SHAPE_BUFFER;
	h.texel = (struct texel){ TEXEL_FLOAT, 32, 4 };
	h.width = 1 << 27;
	header_encode(w, &h);
	assert_int_equal(field(w[0], 5, 0), 0x01);
	assert_int_equal(field(w[0], 29, 27), 5); /* C3 */
	assert_int_equal(field(w[2], 17, 14), 6); /* BUFFER */
	assert_int_equal(w[4], 1 << 27);
	assert_int_equal(w[3] | w[5] | w[6] | w[7], 0);
}

TEST(samplers)
{
	struct sampler s = { .wrap = { WRAP_REPEAT, WRAP_BORDER, WRAP_EDGE },
			     .linear = true,
			     .mip = true,
			     .bias = -1.5f,
			     .min_lod = 0.25f,
			     .max_lod = 100,
			     .seamless = true,
			     .border = { 1, 2, 3, 4 } };
	uint32_t w[SAMPLER_WORDS];

	sampler_encode(w, &s);
	assert_int_equal(field(w[0], 2, 0), 0);
	assert_int_equal(field(w[0], 5, 3), 3); /* CLAMP_TO_BORDER */
	assert_int_equal(field(w[0], 8, 6), 2); /* CLAMP_TO_EDGE */
	assert_int_equal(field(w[0], 9, 9), 0); /* no comparison */
	assert_int_equal(field(w[0], 22, 20), 0);
	assert_int_equal(field(w[1], 1, 0), 2);
	assert_int_equal(field(w[1], 5, 4), 2);
	assert_int_equal(field(w[1], 7, 6), 2); /* NEAREST */
	assert_int_equal(field(w[1], 9, 9), 1);
	assert_int_equal(field(w[1], 24, 12), 0x1fff & -384);
	assert_int_equal(field(w[2], 11, 0), 64);
	assert_int_equal(field(w[2], 23, 12), 0xffd); /* the largest value of the field */
	assert_int_equal(w[5], 2);
	s.anisotropy = 16;
	sampler_encode(w, &s);
	assert_int_equal(field(w[0], 22, 20), 7);
}

/*
 * By hand: 100 x 60 texels of 4 bytes are 7 GOBs across, in blocks of 8 GOBs (64 lines). Level 2 is
 * 25 x 15 texels: 2 GOBs across, 2 high.
 */
TEST(levels)
{
	struct tiling t = {
		.width = 100, .height = 60, .depth = 1, .layers = 3, .levels = 3, .texel_bytes = 4
	};
	struct tiling_level l;

	tiling_plan(&t);
	assert_int_equal(t.log2_height, 3);
	l = tiling_level(&t, 1);
	assert_int_equal(l.offset, 7 * 64 * 64);
	assert_int_equal(l.width, 50);
	assert_int_equal(l.log2_height, 2);
	l = tiling_level(&t, 2);
	assert_int_equal(l.offset, 7 * 64 * 64 + 4 * 64 * 32);
	assert_int_equal(l.log2_height, 1);
	/* all levels, rounded up to level 0's blocks */
	assert_int_equal(t.layer_stride,
			 (7 * 64 * 64 + 4 * 64 * 32 + 2 * 64 * 16 + 4095) / 4096 * 4096);
	assert_int_equal(t.size, 3 * t.layer_stride);
	t = (struct tiling){ .width = 10,
			     .height = 1000,
			     .depth = 5,
			     .layers = 1,
			     .levels = 1,
			     .texel_bytes = 16,
			     .volume = true };
	tiling_plan(&t);
	assert_int_equal(t.log2_height, 2);
	assert_int_equal(t.log2_depth, 3);
	assert_int_equal(t.size, 3ull * 64 * 1024 * 8);
}

TEST(surfaces)
{
	struct tiling t = { .width = 300,
			    .height = 70,
			    .depth = 20,
			    .layers = 1,
			    .levels = 1,
			    .texel_bytes = 8,
			    .volume = true };
	uint32_t w[SURFACE_WORDS];

	tiling_plan(&t);
	surface_encode(w, 0x123456789a00, (struct texel){ TEXEL_FLOAT, 16, 4 }, &t, 0);
	assert_int_equal(w[0], 0x3456789a);
	assert_int_equal(field(w[1], 7, 0), 0x0c);
	assert_int_equal(field(w[1], 11, 8), 9); /* four components of 16 bits */
	assert_int_equal(field(w[1], 15, 12), 4);
	assert_int_equal(field(w[1], 19, 16), 3);
	assert_int_equal(field(w[2], 19, 0), 300 * 8 - 1); /* width in bytes, less one */
	assert_int_equal(field(w[2], 25, 22), 6);
	assert_int_equal(field(w[2], 28, 26), 0);
	assert_int_equal(field(w[3], 23, 0), (300 * 8 + 63) / 64);
	assert_int_equal(field(w[4], 19, 0), 69);
	assert_int_equal(field(w[4], 25, 22), 3 + 2);
	assert_int_equal(field(w[4], 31, 29), 2);
	assert_int_equal(field(w[6], 19, 0), 19);
	assert_int_equal(field(w[6], 25, 22), 4);
	assert_int_equal(field(w[6], 31, 29), 4);
	/* blocks of 32 lines */
	assert_int_equal(w[7], 3);
	t = (struct tiling){
		.width = 64, .height = 1, .depth = 1, .layers = 9, .levels = 1, .texel_bytes = 1
	};
	tiling_plan(&t);
	surface_encode(w, 0x100000, (struct texel){ TEXEL_UINT, 8, 1 }, &t, 0);
	assert_int_equal(w[5], 512 >> 8);
	assert_int_equal(field(w[6], 19, 0), 8);
	assert_int_equal(field(w[6], 21, 21), 1); /* the depth field counts layers */
}

TEST_MAIN(NULL, NULL)
