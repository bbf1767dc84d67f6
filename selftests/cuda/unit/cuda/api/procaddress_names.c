// SPDX-License-Identifier: GPL-2.0-only
/*
 * All entry points, as functions that do nothing, without api.h's prototypes. Weak, for
 * procaddress.c and its test have some.
 */
#define GIVES(name, version, symbol) __attribute__((weak)) void symbol(void);
#define OWN_STREAM		     GIVES
#include "driver_580.inc"

#undef GIVES
#define GIVES(name, version, symbol) \
	void symbol(void)            \
	{                            \
	}
#include "driver_580.inc"
