/* SPDX-License-Identifier: MIT */
/* Entry points that are refused: what refused.c is made of. */
#ifndef KVGPU_REMOTE_REFUSED_H
#define KVGPU_REMOTE_REFUSED_H

#include <stdbool.h>

#include <cuda/api/api.h>

/* Print a line on standard error. */
void client_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say once for each @told that @what is not supported, and @why. */
static inline CUresult client_refuse(const char *what, const char *why, bool *told)
{
	if (!__atomic_exchange_n(told, true, __ATOMIC_RELAXED))
		client_say("%s is not supported: %s", what, why);
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* The same for arguments that an entry point does not take: an expression, one line for each. */
#define REFUSE(what, why)                        \
	({                                       \
		static bool told;                \
		client_refuse(what, why, &told); \
	})

#define REFUSED(why, name, ...)                               \
	CUresult name(__VA_ARGS__)                            \
	{                                                     \
		static bool told;                             \
		return client_refuse(#name "()", why, &told); \
	}

#endif
