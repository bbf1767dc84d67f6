// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel of selftests/module/harness asks of its chip, its oracles and its VMMs. Tests of
 * hw/ have a card of their own, no vGPUs, and no VMMs.
 */
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"

bool chip_is_zero(u64 at, u64 len)
{
	return true;
}

void chip_look(const char *when)
{
}

bool flush_brought(u64 at, u64 len)
{
	return true;
}

struct l2_flushes flush_l2_next(void)
{
	return (struct l2_flushes){};
}

bool flush_l2_ended(struct l2_flushes nr)
{
	return true;
}

bool inside_lost(void)
{
	return false;
}

u32 oracle_vgpu_of_task(void)
{
	return 0;
}

struct pid *mm_process(struct mm_struct *mm)
{
	return NULL;
}
