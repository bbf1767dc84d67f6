// SPDX-License-Identifier: MIT
/* Lines of the kernel's log, as users of nouveau have reported them. */
#include <selftests/unit_test.h>

#include <cuda/kepler/device/cause.h>

#define WHERE	  "nouveau 0000:01:00.0: "
#define TRAP(who) WHERE "gr: TRAP ch 4 [003fb96000 " who "]"
#define SM(warp)  WHERE "gr: GPC0/TPC0/MP trap: global 00000004 [MULTIPLE_WARP_ERRORS] warp " warp
/* clang-format off */
#define FAULT(who)	WHERE "fifo: fault 01 [WRITE] at 000000dead000000 engine 00 [GR] client 01 [GPC0/T1_0] reason 02 [PTE] on " \
			"channel 2 [003fbec000 " who "]"
/* clang-format on */
#define HANG	     WHERE "fifo: SCHED_ERROR 0a [CTXSW_TIMEOUT]"
#define ERRORED(who) WHERE "fifo:000000:0006:[" who "] errored - disabling channel"

static enum device_cause of(const char *const *lines)
{
	struct cause_reader r = { .owner = "a.out[645]" };

	while (*lines)
		cause_line(&r, *lines++);
	return r.cause;
}

#define OF(...) of((const char *const[]){ __VA_ARGS__, NULL })

TEST(errors_of_warps)
{
	assert_int_equal(OF(TRAP("a.out[645]"), SM("000f [MISALIGNED_ADDR]")), CAUSE_MISALIGNED);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("3f0009 [ILLEGAL_INSTR_ENCODING]")),
			 CAUSE_INSTRUCTION);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("90001 [STACK_ERROR]")), CAUSE_STACK);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("0010 [INVALID_ADDR_SPACE]")), CAUSE_SPACE);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("000e [OOR_ADDR]")), CAUSE_ADDRESS);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("00ff []")), CAUSE_UNKNOWN);
	assert_int_equal(OF(TRAP("a.out[645]"), SM("000f"), SM("0001"), FAULT("a.out[645]")),
			 CAUSE_MISALIGNED);
}

TEST(faults)
{
	assert_int_equal(OF(FAULT("a.out[645]")), CAUSE_ADDRESS);
	assert_int_equal(OF(FAULT("a.out[645]"), ERRORED("a.out[645]")), CAUSE_ADDRESS);
}

TEST(hangs)
{
	assert_int_equal(OF(HANG, ERRORED("a.out[645]")), CAUSE_TIMEOUT);
	assert_int_equal(OF(ERRORED("a.out[645]")), CAUSE_UNKNOWN);
	assert_int_equal(OF(HANG, ERRORED("Xorg[12]"), ERRORED("a.out[645]")), CAUSE_UNKNOWN);
}

TEST(what_others_did)
{
	assert_int_equal(OF(TRAP("Xorg[12]"), SM("000f")), CAUSE_UNKNOWN);
	assert_int_equal(OF(TRAP("a.out[645]"), TRAP("Xorg[12]"), SM("000f")), CAUSE_UNKNOWN);
	assert_int_equal(OF(FAULT("a.out[6451]")), CAUSE_UNKNOWN);
	assert_int_equal(OF("usb 1-1: fault of reason a.out[645]"), CAUSE_UNKNOWN);
	assert_int_equal(OF("", SM(""), WHERE "gr: GPC0/TPC0/MP trap:"), CAUSE_UNKNOWN);
}

TEST_MAIN(NULL, NULL)
