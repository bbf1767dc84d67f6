// SPDX-License-Identifier: GPL-2.0-only
/* Shaders that sample images. */
#include "vk_cases.h"

SHADER(texture);

enum { WIDTH = 37, HEIGHT = 22, TEXELS = WIDTH * HEIGHT };

static double texel(const uint8_t *in, int x, int y, int c)
{
	x = x < 0 ? 0 : x;
	y = y < 0 ? 0 : y;
	return in[(y * WIDTH + x) * 4 + c] / 255.0;
}

/*
 * three quarters of the way from texel x - 1 to x lies 0.25 of the one and 0.75 of the other;
 * weights are fractions of 8 bits
 */
static void texture(struct vk_job *j)
{
	const VkDescriptorType type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
	const uint8_t *in = (const uint8_t *)vk_random(j, TEXELS);
	struct vk_resource *out;
	const float *got;
	int x, y, c;

	if (!vk_has_image(j, VK_FORMAT_R8G8B8A8_UNORM, type)) {
		verdict_skip(j->verdict, "no VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT");
		return;
	}
	vk_image(j, type, VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 4, in);
	out = vk_storage(j, TEXELS * 32, NULL);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_dispatch(j, (WIDTH + 7) / 8, (HEIGHT + 3) / 4, 1);
	vk_submit(j);
	got = out->map;
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++, got += 8)
			for (c = 0; c < 4; c++) {
				double between = 0.75 * (0.75 * texel(in, x, y, c) +
							 0.25 * texel(in, x - 1, y, c)) +
						 0.25 * (0.75 * texel(in, x, y - 1, c) +
							 0.25 * texel(in, x - 1, y - 1, c));

				verdict_near(j->verdict, "texel", got[c], texel(in, x, y, c), 4, 0);
				verdict_near(j->verdict, "between", got[4 + c], between, 0, 0.01);
			}
}

const struct vk_case vk_cases_images[] = {
	{ "texture", texture, CODE(texture) },
	{ NULL, NULL, NULL, NULL },
};
