// SPDX-License-Identifier: MIT
/* How kvgpu-remotectl says what is wrong. Tests that link other files here have their own. */
#include <stdarg.h>

#include "ctl.h"

void report_error(const char *format, ...)
{
	va_list args;

	fputs("kvgpu-remotectl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
