// SPDX-License-Identifier: MIT
/*
 * Forms of the lines, seen in reports of nouveau's users (Linux 5.4 to 6.17), after "nouveau
 * 0000:01:00.0: ":
 *     gr: TRAP ch 4 [003fb96000 Xorg[645]]
 *     gr: GPC0/TPC0/MP trap: global 00000004 [MULTIPLE_WARP_ERRORS] warp 3f0009
 *     [ILLEGAL_INSTR_ENCODING]
 *     fifo: fault 01 [WRITE] at 000000dead000000 engine 00 [GR] client ... reason 02 [PTE] on
 *     channel 2 [003fbec000 a.out[645]]
 *     fifo: SCHED_ERROR 0a [CTXSW_TIMEOUT]
 *     fifo:000000:0006:[a.out[645]] errored - disabling channel
 * The number behind "warp" ends in the SM's error code (the names are nouveau's).
 */
#include "cause.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t causes[] = {
	/* stack error, API stack error, return without call */
	[0x01] = CAUSE_STACK,
	[0x02] = CAUSE_STACK,
	[0x03] = CAUSE_STACK,
	/* program counter: wrapped, misaligned, overflow */
	[0x04] = CAUSE_PC,
	[0x05] = CAUSE_PC,
	[0x06] = CAUSE_PC,
	[0x07] = CAUSE_INSTRUCTION,
	[0x08] = CAUSE_INSTRUCTION,
	[0x09] = CAUSE_INSTRUCTION,
	[0x0a] = CAUSE_INSTRUCTION,
	[0x0b] = CAUSE_INSTRUCTION,
	[0x0d] = CAUSE_INSTRUCTION,
	[0x11] = CAUSE_INSTRUCTION,
	/* address in constant bank, any address out of range, address of LDC in constant bank */
	[0x0c] = CAUSE_ADDRESS,
	[0x0e] = CAUSE_ADDRESS,
	[0x12] = CAUSE_ADDRESS,
	[0x0f] = CAUSE_MISALIGNED,
	[0x10] = CAUSE_SPACE,
};

enum device_cause cause_of_warp(uint32_t code)
{
	return code < sizeof(causes) ? (enum device_cause)causes[code] : CAUSE_UNKNOWN;
}

static void found(struct cause_reader *r, enum device_cause cause)
{
	if (r->cause == CAUSE_UNKNOWN)
		r->cause = cause;
}

void cause_line(struct cause_reader *r, const char *line)
{
	bool named = strstr(line, r->owner);
	const char *at;

	if (!strstr(line, "nouveau "))
		return;
	if (strstr(line, "TRAP ch ")) {
		r->ours = named;
	} else if (strstr(line, "/MP trap:")) {
		at = strstr(line, " warp ");
		if (at && r->ours)
			found(r, cause_of_warp(strtoul(at + 6, NULL, 16) & 0xff));
	} else if (strstr(line, "fault ") && strstr(line, "reason ")) {
		if (named)
			found(r, CAUSE_ADDRESS);
	} else if (strstr(line, "CTXSW_TIMEOUT")) {
		r->timeout = true;
	} else if (strstr(line, "errored - disabling")) {
		if (named && r->timeout)
			found(r, CAUSE_TIMEOUT);
		r->timeout = false;
	}
}
