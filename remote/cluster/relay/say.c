// SPDX-License-Identifier: MIT
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void relay_say(const char *format, ...)
{
	char host[64] = "", text[512];
	va_list args;

	gethostname(host, sizeof(host) - 1);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "kvgpu-run: %s: %s\n", host, text);
}
