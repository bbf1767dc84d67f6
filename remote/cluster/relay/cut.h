/* SPDX-License-Identifier: MIT */
/*
 * Sizes of messages. A persistent request has one size for good, so a message goes out in the next
 * larger of some sizes: CUT_STEPS for each doubling. Pure.
 * All but its comments is in KVGPU_REMOTE_RELAYS (remote/README.md).
 */
#ifndef KVGPU_CLUSTER_CUT_H
#define KVGPU_CLUSTER_CUT_H

#include <stddef.h>

enum {
	CUT_STEPS = 8,
	CUT_LOG_MIN = 8,
	CUT_MIN = 1 << CUT_LOG_MIN,
	CUT_LOG_MAX = 17,
	CUT_MAX = 1 << CUT_LOG_MAX
};
enum { CUT_CLASSES = (CUT_LOG_MAX - CUT_LOG_MIN) * CUT_STEPS + 1 };

/* The class of the smallest size that has room for @n bytes, CUT_MAX at most. */
static inline unsigned int cut_class(size_t n)
{
	unsigned int log;
	size_t base;

	if (n <= CUT_MIN)
		return 0;
	log = 63 - __builtin_clzll(n - 1);
	base = (size_t)1 << log;
	return (log - CUT_LOG_MIN) * CUT_STEPS + (n - 1 - base) / (base / CUT_STEPS) + 1;
}

static inline size_t cut_bytes(unsigned int class)
{
	unsigned int log = CUT_LOG_MIN + class / CUT_STEPS;

	return (size_t)(CUT_STEPS + class % CUT_STEPS) << (log - 3);
}

/*
 * Whether to send the message now. @have: bytes in it; @room: bytes that it has room for; @dry: no
 * more bytes are there now; @busy: messages under way; @slots: how many there may be. While others
 * are under way, the last free slot is for a full message.
 */
static inline int cut_goes(size_t have, size_t room, int dry, unsigned int busy, unsigned int slots)
{
	if (!have)
		return 0;
	return have == room || (dry && (!busy || busy + 1 < slots));
}

#endif
