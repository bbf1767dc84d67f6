// SPDX-License-Identifier: MIT
/*
 * Tools that would watch the GPU's work: debuggers, profilers, sanitizers. They want NVIDIA's
 * driver, and say of another one nothing, or something that misleads. How each shows itself was
 * seen with the tools of CUDA 13.0.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "slots.h"

extern char **environ;

/* A variable that begins so is in the environment of a program that the tool has started. */
static const struct {
	const char *begin, *tool;
} variables[] = {
	{ "NV_SANITIZER_INJECTION_", "compute-sanitizer" },
	{ "NV_NSIGHT_INJECTION_", "ncu" },
	{ "CUDA_INJECTION64_PATH=", "the library of CUDA_INJECTION64_PATH" },
};

/* CUPTI alone asks for these. */
static const char *const cupti[] = {
	"\xd7\xbd\x8a\xf8\xe7\xac\xca\x4a\xbd\xbc\xfb\x1f\x1b\x3f\xcf\x33",
	"\xb1\x05\x41\xe1\xf7\xc7\xc7\x4a\x9f\x64\xf2\x23\xbe\x99\xf1\xe2",
	"\xf6\xd3\xf4\xd9\x2d\xe3\x80\x40\x9f\x0c\x05\x8c\xf1\xb2\x90\x6b",
	"\x2c\x8e\x0a\xd8\x07\x10\xab\x4e\x90\xdd\x54\x71\x9f\xe5\xf7\x4b",
};

static void tell(const char *tool)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: %s sees nothing of this program's work on the GPU: this is not "
			"NVIDIA's driver. \"Tools\" in docs/remote-use.md says what to use\n",
			tool);
}

/* a debugger is known by its process's name, of which Linux keeps 15 letters */
static bool is_debugged(void)
{
	static const char debugger[] = "cuda-gdb";
	char line[256], path[64];
	int tracer = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	if (f)
		fclose(f);
	if (!tracer)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	f = fopen(path, "re");
	line[0] = 0;
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(line, debugger, sizeof(debugger) - 1);
}

void export_tools_look(void)
{
	static bool looked;
	unsigned int i;
	char **e;

	if (__atomic_exchange_n(&looked, true, __ATOMIC_RELAXED))
		return;
	for (e = environ; e && *e; e++)
		for (i = 0; i < sizeof(variables) / sizeof(*variables); i++)
			if (!strncmp(*e, variables[i].begin, strlen(variables[i].begin)))
				tell(variables[i].tool);
	if (is_debugged())
		tell("cuda-gdb");
}

void tools_want(const CUuuid *id)
{
	unsigned int i;

	export_tools_look();
	for (i = 0; i < sizeof(cupti) / sizeof(*cupti); i++)
		if (!memcmp(cupti[i], id->bytes, sizeof(id->bytes)))
			tell("a profiler by CUPTI");
}
