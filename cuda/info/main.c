// SPDX-License-Identifier: MIT
/*
 * cuda-info: the GPUs that CUDA programs can use here, which share of a card each is, and which
 * processes use them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../api/api.h"
#include "../api/text.h"
#include "info.h"

#define MIB  ((size_t)1 << 20)
#define RULE "+------------------------------------------------------------------------------+\n"

static const char usage[] = "usage: cuda-info [-L | --json | --version | --help]\n"
			    "  the GPUs that CUDA programs can use here: memory, share, processes\n"
			    "  -L      one line for each GPU\n"
			    "  --json  for programs\n";

__attribute__((format(printf, 1, 2))) static void line(const char *fmt, ...)
{
	char text[512];
	va_list va;

	va_start(va, fmt);
	vsnprintf(text, sizeof(text), fmt, va);
	va_end(va);
	printf("| %-76.76s |\n", text);
}

static void show_gpu(int index, const struct gpu *g)
{
	line("%3d  %s  %s%s", index, g->bus, g->name, g->is_virtual ? " (vGPU)" : "");
	if (g->memory_known)
		line("       memory: %zu MiB used, %zu MiB unused, %zu MiB in all", g->used / MIB,
		     (g->memory - g->used) / MIB, g->memory / MIB);
	else
		line("       memory: %zu MiB in all; in use: unknown (%s)", g->memory / MIB,
		     g->error ? g->error : "no context");
	line("       compute capability %d.%d; %d SM at %d MHz; memory clock %d MHz", g->major,
	     g->minor, g->smx, g->clock_khz / 1000, g->memory_khz / 1000);
	if (g->is_virtual)
		line("       virtual: %zu of %zu MiB of a card; %d SM, in turn with others",
		     g->memory / MIB, g->card_memory / MIB, g->smx);
}

static void show_table(const struct gpu *gpus, int n)
{
	struct process processes[MAX_PROCESSES];
	unsigned int count = processes_read(processes), i;
	int k;

	printf(RULE);
	line("kvgpu cuda-info     CUDA driver API 11.8");
	printf(RULE);
	for (k = 0; k < n; k++)
		show_gpu(k, &gpus[k]);
	printf(RULE);
	line(count ? "processes that have a GPU of this machine open:" :
		     "no other process that this user may see has a GPU of this machine open");
	for (i = 0; i < count; i++)
		line("%10d  %-32s  %s", (int)processes[i].pid, processes[i].name, processes[i].bus);
	printf(RULE);
}

static void show_json(const struct gpu *gpus, int n)
{
	struct process processes[MAX_PROCESSES];
	unsigned int count = processes_read(processes), i;
	int k;

	printf("{\"cuda\":\"11.8\",\"gpus\":[");
	for (k = 0; k < n; k++) {
		const struct gpu *g = &gpus[k];

		printf("%s{\"index\":%d,\"name\":", k ? "," : "", k);
		text_json(stdout, g->name);
		printf(",\"bus\":");
		text_json(stdout, g->bus);
		printf(",\"compute_capability\":\"%d.%d\",\"smx\":%d,\"clock_khz\":%d,\"memory_bytes\":%zu,",
		       g->major, g->minor, g->smx, g->clock_khz, g->memory);
		if (g->memory_known)
			printf("\"used_bytes\":%zu,", g->used);
		else
			printf("\"used_bytes\":null,");
		printf("\"virtual\":%s", g->is_virtual ? "true" : "false");
		if (g->is_virtual)
			printf(",\"card_memory_bytes\":%zu", g->card_memory);
		printf("}");
	}
	printf("],\"processes\":[");
	for (i = 0; i < count; i++) {
		printf("%s{\"pid\":%d,\"name\":", i ? "," : "", (int)processes[i].pid);
		text_json(stdout, processes[i].name);
		printf(",\"bus\":");
		text_json(stdout, processes[i].bus);
		printf("}");
	}
	printf("]}\n");
}

/* only the libcuda.so.1 of kvgpu-remote-client gives CUDA_ERROR_SYSTEM_NOT_READY, and says why */
static void say_why(int error, const char *text)
{
	if (error == CUDA_ERROR_SYSTEM_NOT_READY)
		fprintf(stderr, "cuda-info: %s: the line above says why\n", text);
	else
		fprintf(stderr,
			"cuda-info: %s. With kvgpu-remote-client a line above says why, or the server has no GPU; kvgpu-cuda wants "
			"a GK110 that nouveau drives, and the right to open /dev/dri/renderD*\n",
			text);
}

int main(int argc, char **argv)
{
	const char *form = argc > 1 ? argv[1] : "", *error = "";
	struct gpu gpus[MAX_GPUS];
	int n, i;

	if (!strcmp(form, "--help") || !strcmp(form, "-h"))
		return fputs(usage, stdout) < 0;
	if (!strcmp(form, "--version"))
		return puts("cuda-info " KVGPU_VERSION) < 0;
	if (argc > 2 || (*form && strcmp(form, "-L") && strcmp(form, "--json"))) {
		fprintf(stderr, "cuda-info: there is -L, --json, --version or --help, not \"%s\"\n",
			argv[argc > 2 ? 2 : 1]);
		return 2;
	}
	n = gpus_read(gpus, &error);
	if (n < 0) {
		say_why(-n, error);
		return 1;
	}
	if (!strcmp(form, "--json"))
		show_json(gpus, n);
	else if (!strcmp(form, "-L"))
		for (i = 0; i < n; i++)
			printf("GPU %d: %s%s (%s, %zu MiB)\n", i, gpus[i].name,
			       gpus[i].is_virtual ? " (vGPU)" : "", gpus[i].bus,
			       gpus[i].memory / MIB);
	else
		show_table(gpus, n);
	if (!fflush(stdout))
		return 0;
	fprintf(stderr, "cuda-info: can't write the output: %s\n", strerror(errno));
	return 1;
}
