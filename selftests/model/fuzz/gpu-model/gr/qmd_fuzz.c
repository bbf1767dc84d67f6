// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a QMD (queue meta data: a guest's description of a grid to launch). The decoder and
 * the checks end. Where the checks find no error, a CTA has 1 to 32 warps, and the grid has no
 * warps exactly if one of its sizes is 0.
 */
#include <assert.h>
#include <string.h>

#include "gr/qmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t words[QMD_WORDS] = { 0 };
	struct qmd q;

	memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
	qmd_decode(words, &q);
	if (!qmd_check(&q)) {
		uint64_t per_cta = qmd_warps_per_cta(&q);

		assert(per_cta >= 1 && per_cta <= 32);
		assert((qmd_warps(&q) == 0) ==
		       (!q.cta_raster_width || !q.cta_raster_height || !q.cta_raster_depth));
	}
	return 0;
}
