// SPDX-License-Identifier: MIT
/*
 * The supervisor's lines to the journal: nothing is said, where a test does not listen itself. No
 * other build takes its place, and no process has limits of its own.
 */
#include <remote/supervisor/supervisor.h>

__attribute__((weak)) void say(const char *format, ...)
{
}

__attribute__((weak)) void say_of_clients(enum about about, const struct address_source *from,
					  const char *format, ...)
{
}

/* nobody knows how much memory GPUs have, but where a test says it */
__attribute__((weak)) void meter_begin(struct supervisor *s)
{
}

__attribute__((weak)) void meter_hear(struct supervisor *s)
{
}

__attribute__((weak)) uint64_t meter_look(struct supervisor *s)
{
	return UINT64_MAX;
}

__attribute__((weak)) int limit_memory_of(pid_t pid, uint64_t bytes, uint64_t more)
{
	return 0;
}

__attribute__((weak)) bool cgroup_memory(unsigned int tenant, const struct conf_share *share,
					 uint64_t more)
{
	return true;
}

__attribute__((weak)) size_t handover(struct supervisor *s, int admin, char *to, size_t size)
{
	return 0;
}

__attribute__((weak)) bool handover_rows(struct supervisor *s)
{
	return false;
}

__attribute__((weak)) void handover_done(struct supervisor *s)
{
}
