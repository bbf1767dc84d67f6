// SPDX-License-Identifier: GPL-2.0-only
/* The function that moves the bytes of copies, compared with a loop over bytes. */
#include <selftests/unit_test.h>

#include "ce/ce.h"

#define ROOM 1024

static void fill(uint8_t *p, unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < ROOM; i++)
		p[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
}

TEST(test_forward_at_every_distance)
{
	uint8_t *want = malloc(ROOM), *got = malloc(ROOM);
	int distance;
	unsigned int n, i;

	for (n = 0; n <= 300; n += n < 40 ? 1 : 37) {
		for (distance = -330; distance <= 330; distance++) {
			uint8_t *s = want + 350, *d = s + distance;

			fill(want, n);
			fill(got, n);
			for (i = 0; i < n; i++)
				d[i] = s[i];
			ce_copy_forward(got + 350 + distance, got + 350, n);
			assert_memory_equal(want, got, ROOM);
		}
	}
	free(want);
	free(got);
}

TEST_MAIN(NULL, NULL)
