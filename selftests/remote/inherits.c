// SPDX-License-Identifier: GPL-2.0-only
/*
 * inherits MODE FILE [CUBIN]: programs whose supervisor, or who themselves, do something unusual to
 * their process. FILE gets "right", or what was wrong: standard output may be closed.
 */
#include <cuda/api/api.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 20, SIGNALS = 20, HANGS_S = 60, WAYS = 7 };

static const char *cubin;
static char said[400];
static CUcontext ctx;
static CUdeviceptr there, kept;

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
	size_t n = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + n, sizeof(said) - n, format, args);
	va_end(args);
}

#define MUST(call)                                    \
	do {                                          \
		CUresult r_ = (call);                 \
		if (r_)                               \
			wrong("%s: %d; ", #call, r_); \
	} while (0)

static void begin(void)
{
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&there, N));
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* a line that goes where no descriptor of the library's may be */
static void print_lines(void)
{
	static const char line[] = "a line of the program\n";
	char byte;

	(void)!write(STDOUT_FILENO, line, sizeof(line) - 1);
	(void)!write(STDERR_FILENO, line, sizeof(line) - 1);
	(void)!read(STDIN_FILENO, &byte, 1);
}

/* bytes there and back, by a kernel, too */
static void compute(unsigned char value)
{
	static unsigned char bytes[N];
	CUmodule module;
	CUfunction add;
	float a[64], sum[64] = { 0 };
	int n = 64, i;
	void *params[] = { &there, &there, &there, &n };

	MUST(cuMemsetD8_v2(there, value, N));
	print_lines();
	MUST(cuMemcpyDtoH_v2(bytes, there, N));
	for (i = 0; i < N && bytes[i] == value; i++)
		;
	if (i < N)
		wrong("byte %d is %u, not %u; ", i, bytes[i], value);
	for (i = 0; i < n; i++)
		a[i] = i;
	MUST(cuMemcpyHtoD_v2(there, a, sizeof(a)));
	MUST(cuModuleLoad(&module, cubin));
	MUST(cuModuleGetFunction(&add, module, "add"));
	MUST(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
	print_lines();
	MUST(cuMemcpyDtoH_v2(sum, there, sizeof(sum)));
	for (i = 0; i < n && sum[i] == 2 * i; i++)
		;
	if (i < n)
		wrong("sum %d is %g; ", i, sum[i]);
	MUST(cuModuleUnload(module));
}

static void count_call(void *n)
{
	++*(volatile int *)n;
}

/* all kinds of memory, threads of the library, and what was printed meanwhile */
static void work(void)
{
	bool open[3] = { is_open(0), is_open(1), is_open(2) };
	unsigned char *pinned, *managed;
	volatile int called = 0;
	CUstream s;
	int i;

	print_lines();
	begin();
	compute(3);
	MUST(cuMemHostAlloc((void **)&pinned, N, 0));
	MUST(cuMemAllocManaged((CUdeviceptr *)&managed, N, 1));
	MUST(cuStreamCreate(&s, 0));
	if (!*said) {
		managed[5] = 7;
		MUST(cuMemcpyDtoH_v2(pinned, (CUdeviceptr)managed, 16));
		if (pinned[5] != 7)
			wrong("managed memory: %u; ", pinned[5]);
	}
	MUST(cuLaunchHostFunc(s, count_call, (void *)&called));
	MUST(cuStreamSynchronize(s));
	print_lines();
	if (called != 1)
		wrong("%d calls of a function; ", called);
	for (i = 0; i < 3; i++)
		if (is_open(i) != open[i])
			wrong("descriptor %d is %s; ", i, open[i] ? "closed" : "not the program's");
	MUST(cuCtxDestroy_v2(ctx));
}

static volatile sig_atomic_t hits, foreign;
static pthread_t self;

static void hit(int signal)
{
	hits++;
	foreign += !pthread_equal(pthread_self(), self);
}

/* A signal that the program blocks, to wait for it, goes to no thread of the library's. */
static void signals(void)
{
	struct sigaction act = { .sa_handler = hit };
	struct timespec second = { 1, 0 };
	volatile int called = 0;
	sigset_t set;
	CUstream s;
	int i, got;

	self = pthread_self();
	sigaction(SIGUSR1, &act, NULL);
	begin();
	MUST(cuStreamCreate(&s, 0));
	MUST(cuLaunchHostFunc(s, count_call, (void *)&called));
	MUST(cuStreamSynchronize(s));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < SIGNALS; i++) {
		kill(getpid(), SIGUSR1);
		usleep(1000);
	}
	got = sigtimedwait(&set, NULL, &second);
	if (foreign || hits || got != SIGUSR1)
		wrong("%d of %d signals on a thread of the library's, the program got %d; ",
		      (int)foreign, (int)hits, got);
}

/* ------------------------------------------------------------------ fork() */

/* what its destructors do in a program of C++ */
static void free_at_exit(void)
{
	if (kept)
		cuMemFree_v2(kept);
}

static int no_driver(CUresult r)
{
	return r != CUDA_ERROR_NOT_INITIALIZED;
}

/* never returns */
static void end_child(int way, char **argv)
{
	CUdeviceptr p;
	int n;

	alarm(HANGS_S);
	switch (way) {
	case 0:
		_exit(0);
	case 1:
		exit(0);
	case 2:
		exit(no_driver(cuMemFree_v2(there)) || no_driver(cuMemAlloc_v2(&p, 4)) ||
		     no_driver(cuInit(0)) || no_driver(cuDeviceGetCount(&n)));
	case 3:
		exit(no_driver(cuDevicePrimaryCtxReset_v2(0)) || no_driver(cuCtxDestroy_v2(ctx)) ||
		     no_driver(cuCtxSynchronize()));
	case 4:
		execl("/proc/self/exe", argv[0], "work", argv[2], argv[3], NULL);
		_exit(9);
	case 5:
		exit(system("exit 0"));
	default:
		exit(no_driver(cuMemcpyDtoH_v2(&n, there, 4)) ||
		     (!fork() ? no_driver(cuCtxSynchronize()) : 0));
	}
}

static void forked(char **argv)
{
	int way, status;
	pid_t pid;

	begin();
	MUST(cuMemAlloc_v2(&kept, N));
	atexit(free_at_exit);
	compute(1);
	for (way = 0; way < WAYS && !*said; way++) {
		pid = fork();
		if (!pid)
			end_child(way, argv);
		if (waitpid(pid, &status, 0) != pid || status)
			wrong("a child that ends in way %d: status %x; ", way, status);
		compute(100 + way);
	}
}

/* the devices that are seen: their number, and places on the bus */
static void devices(void)
{
	CUresult r = cuInit(0);
	char place[32] = "";
	int n = 0, i;

	if (!r)
		MUST(cuDeviceGetCount(&n));
	wrong("%d %d", r, n);
	for (i = 0; i < n; i++) {
		MUST(cuDeviceGetPCIBusId(place, sizeof(place), i));
		wrong(" %s", place);
	}
}

int main(int argc, char **argv)
{
	FILE *f;

	if (argc < 4) {
		fprintf(stderr, "usage: inherits work|signals|forked|devices FILE CUBIN\n");
		return 2;
	}
	cubin = argv[3];
	alarm(2 * HANGS_S);
	if (!strcmp(argv[1], "work"))
		work();
	else if (!strcmp(argv[1], "signals"))
		signals();
	else if (!strcmp(argv[1], "forked"))
		forked(argv);
	else
		devices();
	f = fopen(argv[2], "we");
	if (!f)
		return 3;
	fchmod(fileno(f), 0600);
	fprintf(f, "%s\n", *said ? said : "right");
	fclose(f);
	return strcmp(argv[1], "devices") && *said;
}
