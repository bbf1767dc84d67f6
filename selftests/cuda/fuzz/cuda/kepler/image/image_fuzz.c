// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a module: a clear error, or an image in which everything lies inside of what it has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/allocator_interface.h>

#include "cuda/kepler/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct image *placed;

static void const0(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word)
{
	if (kernel >= placed->nr_kernels || offset + 4ull > placed->kernels[kernel].const0_size)
		abort();
}

/* A graph's node has memory for param_size bytes, and each parameter is read there. */
static void check_parameters(const struct image_kernel *k)
{
	uint32_t i;

	for (i = 0; i < k->nr_params; i++)
		if ((uint64_t)k->params[i].offset + k->params[i].size > k->param_size)
			abort();
}

static void check(const struct image *im)
{
	uint32_t i;

	for (i = 0; i < im->nr_kernels; i++) {
		const struct image_kernel *k = &im->kernels[i];

		if ((uint64_t)k->code + k->code_size > im->code_size ||
		    strlen(k->name) > im->file_size ||
		    (uint64_t)k->param_base + k->param_size > k->const0_size)
			abort();
		/* divided by, and multiplied by the threads of a warp */
		if (k->regs > 255 || (uint64_t)k->stack + k->local > 1 << 20 || k->crs > 1 << 20)
			abort();
		check_parameters(k);
	}
	for (i = 0; i < im->nr_globals; i++) {
		const struct image_global *g = &im->globals[i];
		uint32_t size = g->space == IMAGE_DATA ? im->data_size : im->const3_size;

		if (g->space == IMAGE_CODE || (uint64_t)g->offset + g->size > size)
			abort();
	}
	if (im->data_init > im->data_size)
		abort();
}

/*
 * A program passes a fat binary or a cubin without its length, in nvcc's wrapper: the same is
 * found, and nothing behind it is read.
 */
static void pick_wrapped(const void *data, enum image_error want, const struct image_pick *found)
{
	const struct {
		uint32_t magic, version;
		const void *data, *prelinked;
	} wrapper = { 0x466243b1, 1, data, NULL };
	struct image_pick p;

	if (image_pick(&wrapper, SIZE_MAX, &p) != want || p.size != found->size ||
	    p.packed != found->packed || p.ptx_size != found->ptx_size ||
	    (p.cubin && memcmp(p.cubin, found->cubin, p.size)))
		abort();
	image_pick_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t base[3] = { 1ull << 32, 1ull << 33, 0 };
	struct image_pick p;
	struct image im;
	size_t before;
	uint8_t *copy;
	enum image_error err = image_pick(data, size, &p);

	/* a text needs its end, which not all have here */
	if (err == IMAGE_OK || (err == IMAGE_ONLY_PTX && !memcmp(data, "\x50\xed\x55\xba", 4)))
		pick_wrapped(data, err, &p);
	if (err == IMAGE_OK) {
		before = __sanitizer_get_current_allocated_bytes();
		copy = malloc(p.size); /* exact, so that the sanitizer sees reads behind the end */
		memcpy(copy, p.cubin, p.size);
		if (image_load(&im, copy, p.size, p.packed) == IMAGE_OK) {
			check(&im);
			/* two copies of the bytes, their data and code, and tables in proportion */
			if (__sanitizer_get_current_allocated_bytes() - before >
			    4 * p.size + 64 * p.packed + (2 << 20))
				abort();
			placed = &im;
			image_place(&im, base, const0, NULL);
			image_free(&im);
		} else if (!memchr(im.reason, 0, sizeof(im.reason))) {
			abort();
		}
		free(copy);
	}
	image_pick_free(&p);
	return 0;
}
