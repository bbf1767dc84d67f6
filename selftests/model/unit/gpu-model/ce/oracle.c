// SPDX-License-Identifier: GPL-2.0-only
#include "oracle.h"

uint64_t oracle_address(const struct oracle_surface *s, uint64_t i, uint64_t line,
			unsigned int elem, unsigned int b)
{
	uint64_t x, y, z, block_w, block_h, block_d, blocks_x, blocks_y, gob, block, in_x, in_y,
		in_z;

	if (s->pitch_layout)
		return (uint64_t)((int64_t)s->address + (int64_t)s->pitch * (int64_t)line +
				  (int64_t)(i * elem + b)) &
		       0xffffffffffull;
	x = (s->x + i) * elem + b;
	y = s->y + line;
	z = s->layer;
	/* a block in bytes, lines and layers; the surface's size in blocks */
	block_w = 64;
	block_h = (uint64_t)s->gob_height << s->block_height;
	block_d = 1ull << s->block_depth;
	blocks_x = (s->width * elem + block_w - 1) / block_w;
	blocks_y = (s->height + block_h - 1) / block_h;
	block = x / block_w + y / block_h * blocks_x + z / block_d * blocks_x * blocks_y;
	in_x = x % block_w;
	in_y = y % block_h;
	in_z = z % block_d;
	gob = in_y / s->gob_height + in_z * (block_h / s->gob_height);
	return (s->address + block * (block_w * block_h * block_d) + gob * 64 * s->gob_height +
		in_y % s->gob_height * 64 + in_x) &
	       0xffffffffffull;
}

static bool element(const struct oracle_launch *l, uint64_t i, uint64_t line, uint8_t *image,
		    uint64_t size)
{
	unsigned int c, b, src_elem = l->component * l->nr_src, dst_elem = l->component * l->nr_dst;
	uint8_t out[16];

	/* read all of an element before any of it is written */
	for (c = 0; c < l->nr_dst; c++) {
		for (b = 0; b < l->component; b++) {
			uint64_t from;

			if (l->sel[c] >= 4) {
				out[c * l->component + b] =
					l->sel[c] < 6 ?
						(uint8_t)(l->constant[l->sel[c] - 4] >> (8 * b)) :
						0;
				continue;
			}
			from = oracle_address(&l->src, i, line, src_elem,
					      l->sel[c] * l->component + b);
			if (from >= size)
				return false;
			out[c * l->component + b] = image[from];
		}
	}
	for (c = 0; c < l->nr_dst; c++) {
		for (b = 0; l->sel[c] != 6 && b < l->component; b++) {
			uint64_t to =
				oracle_address(&l->dst, i, line, dst_elem, c * l->component + b);

			if (to >= size)
				return false;
			image[to] = out[c * l->component + b];
		}
	}
	return true;
}

bool oracle_run(const struct oracle_launch *l, uint8_t *image, uint64_t size)
{
	uint64_t i, line;

	for (line = 0; line < l->lines; line++)
		for (i = 0; i < l->elements; i++)
			if (!element(l, i, line, image, size))
				return false;
	return true;
}
