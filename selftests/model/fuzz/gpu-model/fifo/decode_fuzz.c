// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pushbuffer words through the decoder and through the naive one of the unit tests: they must agree
 * on each action and on the number of data words still to come. GPFIFO entries of the same words.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fifo/decode.h"
#include "fifo/naive_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t head[2], word;
	struct naive_out o;
	struct pb_action a;
	struct gp_entry e;
	struct pb_state s;
	struct naive n;
	size_t i;

	if (size < 8)
		return 0;
	memcpy(head, data, 8);
	s = (struct pb_state){ .header = 0x20400000,
			       .subdevice = head[0] & 0x3fff0fff,
			       .formats = head[1] & 0x300 };
	n = naive_fresh(s.subdevice, s.formats >> 8);
	for (i = 8; i + 4 <= size; i += 4) {
		memcpy(&word, data + i, 4);
		pb_step(&s, word, &a);
		naive_step(&n, word, &o);
		require((int)a.kind == o.kind && s.count == n.left);
		if (a.kind == PB_SEND)
			require(a.subc == o.subc && a.mthd == o.mthd && a.data == o.data &&
				a.last == o.last);
		gp_decode(word, head[1], &e);
		require(e.control == !(head[1] >> 10 & 0x1fffff));
		require(e.control || (e.va == ((uint64_t)(head[1] & 0xff) << 32 | (word & ~3u)) &&
				      e.va < 1ull << 40));
	}
	return 0;
}
