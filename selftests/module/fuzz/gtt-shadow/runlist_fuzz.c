// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's runlist against the translation, compared with a naive one. S3: no id comes out that
 * was not given for this guest, no channel twice, no bit of the guest's besides.
 */
#include <stdlib.h>
#include <string.h>

#include "gtt-shadow/shadow.h"

#define MAX_IN 600
#define IDS    4096
#define IS_TSG (1u << 13)
#define MUST(x)                  \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

/* what the guest has bound; some mappings are wrong on purpose */
struct bound {
	u8 kind;
};

static int map(void *ctx, bool tsg, u16 id)
{
	const struct bound *b = ctx;

	MUST(id < IDS);
	if (tsg)
		return id % 5 == b->kind % 5 ? -1 : (id * 7 + 3) % IDS;
	switch (b->kind >> 4) {
	case 0:
		return id / 2; /* two of the guest's on one of the host's */
	case 1:
		return id < 100 ? 1000 + id : -1;
	case 2:
		return id % 3 ? 5000 : (int)id; /* an id that the chip does not have */
	default:
		return id % 4 ? IDS - 1 - id : -17;
	}
}

/* the guest's meaning: one pass, no output limits */
static u32 naive(const u64 *in, u32 nr, struct bound *b, u32 slice, u64 *out)
{
	u8 seen[IDS] = { 0 };
	u32 n = 0, i = 0, end, header, members;
	int id;

	while (i < nr) {
		bool tsg = in[i] & IS_TSG;

		header = n;
		members = 0;
		end = i + 1;
		if (tsg) {
			end += (u32)in[i] >> 26;
			end = end < nr ? end : nr;
			id = map(b, true, in[i] & 0xfff);
			out[n++] = (u32)id | IS_TSG | slice;
			i++;
		} else {
			id = 0;
		}
		for (; i < end && !(tsg && in[i] & IS_TSG); i++) {
			int c = map(b, false, in[i] & 0xfff);

			if (c < 0 || c >= IDS || seen[c])
				continue;
			/* also in a group that can't be had: a channel has one place */
			seen[c] = 1;
			if (id < 0 || id >= IDS)
				continue;
			out[n++] = c;
			members++;
		}
		if (tsg && !members)
			n = header;
		else if (tsg)
			out[header] |= (u64)members << 26;
	}
	return n;
}

/* without the oracle: what must hold of any output, also of one that was cut off */
static void check_form(const u64 *out, u32 n, u32 slice)
{
	u8 seen[IDS] = { 0 };
	u32 i, left = 0;

	for (i = 0; i < n; i++) {
		if (out[i] & IS_TSG) {
			left = (u32)out[i] >> 26;
			MUST(left > 0 && left <= n - 1 - i);
			MUST((out[i] & ~(0xfffull | IS_TSG | 0xfcull << 24)) == slice);
			continue;
		}
		MUST(out[i] < IDS && !seen[out[i]]);
		seen[out[i]] = 1;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u64 in[MAX_IN], out[2 * MAX_IN], want[2 * MAX_IN];
	const u32 slice = 1u << 14 << 1 | (976u >> 2) << 18; /* 1000 us: 976 ticks */
	struct bound b;
	u32 nr, n, max;

	if (size < 2)
		return 0;
	b.kind = data[0];
	nr = (size - 2) / sizeof(in[0]);
	nr = nr < MAX_IN ? nr : MAX_IN;
	memcpy(in, data + 2, nr * sizeof(in[0]));
	max = data[1] & 1 ? 2 * MAX_IN : data[1] >> 1;
	n = kvgpu_shadow_runlist_build(in, nr, map, &b, 1000, out, max);
	MUST(n <= max);
	check_form(out, n, slice);
	if (max < 2 * MAX_IN)
		return 0;
	MUST(n == naive(in, nr, &b, slice, want));
	MUST(!memcmp(out, want, n * sizeof(out[0])));
	return 0;
}
