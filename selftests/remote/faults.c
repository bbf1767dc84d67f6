// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults MODE CUBIN: what a program sees when something happens to it or to its server. It prints
 * "ready" when the time for that has come, and then what it saw; exit code 0: that was right.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

enum { WAITERS = 4, BIG = 8 << 20, LONG_ROUNDS = 2000000000, HELD_S = 60 };

static CUcontext ctx;
static CUmodule module;
static CUfunction spin;
static CUdeviceptr out;

static void begin(const char *cubin)
{
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, cubin));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuMemAlloc_v2(&out, BIG));
}

static void launch_spin(int rounds, CUstream s)
{
	void *params[] = { &out, &rounds };

	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
}

static int ready(void)
{
	puts("ready");
	return fflush(stdout);
}

/* for ever: it is killed, or the file of its shmem region is cut short */
static int copies(void)
{
	uint8_t *host = calloc(1, BIG);

	ready();
	for (;;) {
		MUST(cuMemcpyHtoD_v2(out, host, BIG));
		MUST(cuMemcpyDtoH_v2(host, out, BIG));
	}
	return 1;
}

/* the server is inside of the library, behind a kernel without end: the program is killed */
static int stuck(void)
{
	launch_spin(LONG_ROUNDS, NULL);
	launch_spin(LONG_ROUNDS, NULL);
	ready();
	cuModuleUnload(module);
	return 1;
}

/* ------------------------------------------------- the server is killed while all of these wait */

static void *wait_for_context(void *arg)
{
	MUST(cuCtxSetCurrent(ctx));
	*(CUresult *)arg = cuCtxSynchronize();
	return NULL;
}

static void *wait_for_copy(void *arg)
{
	static char host[BIG];

	MUST(cuCtxSetCurrent(ctx));
	*(CUresult *)arg = cuMemcpyDtoH_v2(host, out, BIG);
	return NULL;
}

static void *ask_for_ever(void *arg)
{
	size_t value;
	CUresult r;

	MUST(cuCtxSetCurrent(ctx));
	while (!(r = cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE)))
		;
	*(CUresult *)arg = r;
	return NULL;
}

static void *queue_for_ever(void *arg)
{
	CUresult r;

	MUST(cuCtxSetCurrent(ctx));
	while (!(r = cuMemsetD8_v2(out, 1, 1000)))
		;
	*(CUresult *)arg = r;
	return NULL;
}

/* a program that goes on all the same gets the same error from each call, and ends by itself */
static int goes_on(CUstream s, CUevent e, uint8_t *host)
{
	CUdeviceptr p;
	CUmodule m;
	void *params[] = { &out, &(int){ 1 } }, *more;
	int i, wrong = 0;

	for (i = 0; i < 1000; i++) {
		const CUresult r[] = {
			cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL),
			cuMemAlloc_v2(&p, 16),
			cuMemFree_v2(out),
			cuMemHostAlloc(&more, 16, 0),
			cuMemFreeHost(host),
			cuMemcpyHtoD_v2(out, host, 4096),
			cuMemcpyDtoHAsync_v2(host, out, 4096, s),
			cuMemsetD8Async(out, 1, 4096, s),
			cuEventRecord(e, s),
			cuEventQuery(e),
			cuEventDestroy_v2(e),
			cuStreamQuery(s),
			cuStreamSynchronize(s),
			cuStreamDestroy_v2(s),
			cuModuleLoadData(&m, "no image"),
			cuModuleUnload(module),
			cuCtxSynchronize(),
			cuCtxDestroy_v2(ctx),
		};
		unsigned int j;

		for (j = 0; j < sizeof(r) / sizeof(*r); j++) {
			if (!i && r[j] != CUDA_ERROR_SYSTEM_NOT_READY)
				printf("call %u: %d\n", j, r[j]);
			wrong += r[j] != CUDA_ERROR_SYSTEM_NOT_READY;
		}
	}
	return wrong;
}

static int server_killed(void)
{
	void *(*const run[WAITERS])(void *) = { wait_for_context, wait_for_copy, ask_for_ever,
						queue_for_ever };
	CUresult r[WAITERS] = { 0 };
	pthread_t t[WAITERS];
	unsigned int flags;
	int i, wrong = 0, active = 1;
	uint8_t *host;
	CUstream s;
	CUevent e;

	MUST(cuStreamCreate(&s, 0));
	MUST(cuEventCreate(&e, 0));
	MUST(cuMemHostAlloc((void **)&host, 4096, 0));
	launch_spin(LONG_ROUNDS, NULL);
	for (i = 0; i < WAITERS; i++)
		pthread_create(&t[i], NULL, run[i], &r[i]);
	usleep(200000);
	ready();
	for (i = 0; i < WAITERS; i++) {
		pthread_join(t[i], NULL);
		wrong += r[i] != CUDA_ERROR_SYSTEM_NOT_READY;
	}
	wrong += goes_on(s, e, host);
	/* destructors of PyTorch's ask this, and end the program by abort() where it is an error */
	wrong += cuDevicePrimaryCtxGetState(0, &flags, &active) || active;
	printf("%d calls without the right error\n", wrong);
	return wrong != 0;
}

/* ------------------------------------------------------------------ */

static int after_fork(void)
{
	CUdeviceptr p;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(cuMemAlloc_v2(&p, 16) != CUDA_ERROR_NOT_INITIALIZED ||
		      cuInit(0) != CUDA_ERROR_NOT_INITIALIZED ||
		      cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED);
	waitpid(pid, &status, 0);
	MUST(cuMemAlloc_v2(&p, 16));
	MUST(cuMemFree_v2(p));
	MUST(cuCtxSynchronize());
	printf("child: exit code %d\n", status);
	return status != 0;
}

/* the server's process may have no children, so it can't compile */
static int ptx(void)
{
	static const char text[] =
		".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k() { ret; }\n";
	int i, refused = 0;
	CUmodule m;

	for (i = 0; i < 50; i++)
		refused += cuModuleLoadData(&m, text) == CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
	printf("%d of %d refused\n", refused, i);
	return refused != i;
}

static int child_lives(void)
{
	if (!fork()) {
		sleep(30);
		_exit(0);
	}
	ready();
	return 0;
}

/* what holds a stream back, and whether it gave up before it was let go */
static atomic_bool let_go, gave_up;

static void hold_back(void *unused)
{
	double end = now() + HELD_S;

	while (!let_go && now() < end)
		usleep(1000);
	gave_up |= !let_go;
}

/* the stream's later work can't begin until let_go */
static void hold(CUstream s)
{
	let_go = false;
	MUST(cuLaunchHostFunc(s, hold_back, NULL));
}

static atomic_bool waits, waited;

static void *wait_for_deferred(void *arg)
{
	MUST(cuCtxSetCurrent(ctx));
	waits = true;
	*(CUresult *)arg = cuCtxSynchronize();
	waited = true;
	return NULL;
}

static int beside(void)
{
	CUresult r = CUDA_ERROR_UNKNOWN;
	bool right = true;
	int asked;
	size_t value;
	CUstream s;
	pthread_t t;

	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	hold(s);
	launch_spin(20000, s);
	pthread_create(&t, NULL, wait_for_deferred, &r);
	while (!waits)
		usleep(1000);
	for (asked = 0; asked < 1000; asked++) {
		MUST(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
		right = right && cuStreamQuery(s) == CUDA_ERROR_NOT_READY;
	}
	right = right && !waited && !gave_up;
	let_go = true;
	pthread_join(t, NULL);
	printf("%d calls while another thread waited, whose result was %d\n", asked, r);
	return !right || r;
}

static void *launch_more(void *stream)
{
	MUST(cuCtxSetCurrent(ctx));
	launch_spin(2000000, stream);
	return NULL;
}

/* after a copy that waited a stream is idle; synchronizing waits for what a thread gives it then */
static int settled(void)
{
	int got, i;
	CUstream s;
	pthread_t t;

	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 6; i++) {
		MUST(cuMemcpyDtoHAsync_v2(&got, out, 4, s));
		MUST(cuStreamSynchronize(s));
		MUST(cuStreamSynchronize(s));
		if (i % 2) {
			pthread_create(&t, NULL, launch_more, s);
			pthread_join(t, NULL);
		} else {
			launch_spin(2000000, s);
		}
		MUST(cuStreamSynchronize(s));
		MUST(cuStreamQuery(s));
	}
	puts("synchronized is synchronized");
	return 0;
}

static CUresult sync_in_function;
static volatile int called;

static void change(void *data)
{
	size_t value;

	sync_in_function = cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE);
	*(int *)data += 100;
	called++;
}

/* in a stream's order, and seen by the copy behind it; pinned memory */
static int host_functions(void)
{
	enum { ROUNDS = 50 };
	CUresult r = CUDA_SUCCESS;
	int *host, i, got = 0;
	CUstream s;

	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuMemHostAlloc((void **)&host, 4, 0));
	*host = 0;
	for (i = 0; i < ROUNDS && !r; i++) {
		r = cuLaunchHostFunc(s, change, host);
		r = r ? r : cuMemcpyHtoDAsync_v2(out, host, 4, s);
	}
	r = r ? r : cuMemcpyDtoHAsync_v2(&got, out, 4, s);
	r = r ? r : cuStreamSynchronize(s);
	MUST(cuMemFreeHost(host));
	printf("%d functions called, %d copied, inside: %d, result %d\n", called, got,
	       sync_in_function, r);
	return r || called != ROUNDS || got != 100 * ROUNDS ||
	       sync_in_function != CUDA_ERROR_NOT_PERMITTED;
}

static void check_bytes(const char *what, const uint8_t *at, size_t n, uint8_t want)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (at[i] != want) {
			printf("%s: byte %zu is %u, not %u\n", what, i, at[i], want);
			exit(1);
		}
}

/* the GPU may have another address for pinned memory: this process has something else there */
static bool other_address;

/* pinned memory of a library that copies by itself: order, and when memory may be written */
static int pinned(void)
{
	enum { N = 3 << 20, ROUNDS = 12 };
	uint8_t *in, *out_of, *pageable = malloc(N), *next;
	CUdeviceptr data, there, said; /* spin() writes to another one */
	bool busy = true;
	CUstream s;
	int i;

	MUST(cuMemAlloc_v2(&data, N));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuMemHostAlloc((void **)&in, N, 0));
	MUST(cuMemHostAlloc((void **)&out_of, N, CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&there, out_of + 5, 0));
	MUST(cuPointerGetAttribute(&said, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (uintptr_t)in));
	if (!other_address && (there != (uintptr_t)out_of + 5 || said != (uintptr_t)in)) {
		puts("pinned memory has another address for the GPU");
		return 1;
	}
	for (i = 1; i <= ROUNDS; i++) {
		/* device to pinned to device to pinned: each reads what the last has written */
		MUST(cuMemsetD8_v2(data, i, N));
		MUST(cuCtxSynchronize());
		hold(s);
		launch_spin(3000000, s);
		MUST(cuMemcpyDtoHAsync_v2(in, data, N, s));
		MUST(cuMemsetD8Async(data, 0, N, s));
		MUST(cuMemcpyHtoDAsync_v2(data, in, N, s));
		MUST(cuMemcpyDtoHAsync_v2(out_of, data, N, s));
		busy = busy && cuStreamQuery(s) == CUDA_ERROR_NOT_READY && !gave_up;
		let_go = true;
		MUST(cuStreamSynchronize(s));
		check_bytes("through pinned memory", out_of, N, i);
		/* the source may be written when the call has returned */
		memset(pageable, i + 100, N);
		launch_spin(300000, s);
		MUST(cuMemcpyHtoDAsync_v2(data, pageable, N, s));
		memset(pageable, 0, N);
		MUST(cuMemcpyDtoHAsync_v2(pageable, data, N, s));
		MUST(cuStreamSynchronize(s));
		check_bytes("through pageable memory", pageable, N, i + 100);
		memset(in, i + 50, N);
		MUST(cuMemcpyHtoD_v2(data, in, N));
		memset(in, 0, N);
		MUST(cuMemcpyDtoH_v2(out_of, data, N));
		check_bytes("copies that wait", out_of, N, i + 50);
	}
	if (!busy) {
		puts("the calls waited for the GPU");
		return 1;
	}
	launch_spin(3000000, s);
	MUST(cuMemcpyDtoHAsync_v2(out_of, data, N, s));
	MUST(cuMemFreeHost(out_of));
	MUST(cuMemHostAlloc((void **)&next, N, 0));
	memset(next, 7, N);
	MUST(cuStreamSynchronize(s));
	check_bytes("memory of another", next, N, 7);
	puts("all as it should be");
	return 0;
}

/*
 * A library that copies by itself, over a socket: many copies are behind a kernel, and none takes
 * another one's bytes.
 */
static int late(void)
{
	enum { N = 3 << 20, COPIES = 11, ROUNDS = 3 };
	uint8_t *pageable = malloc(N);
	CUdeviceptr data;
	CUstream s;
	int i, k;

	MUST(cuMemAlloc_v2(&data, N * COPIES));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < ROUNDS; i++) {
		launch_spin(3000000, s);
		for (k = 0; k < COPIES; k++) {
			memset(pageable, 20 * i + k + 1, N);
			MUST(cuMemcpyHtoDAsync_v2(data + k * N, pageable, N - i, s));
		}
		for (k = 0; k < COPIES; k++) {
			MUST(cuMemcpyDtoHAsync_v2(pageable, data + k * N, N - i, s));
			check_bytes("behind a kernel", pageable, N - i, 20 * i + k + 1);
		}
	}
	puts("all as it should be");
	return 0;
}

static int pinned_elsewhere(void)
{
	other_address = true;
	return pinned();
}

/* holds memory, and asks now and then until the server is gone */
static int holds(void)
{
	size_t unused, total;
	CUdeviceptr p;
	CUresult r;

	MUST(cuMemAlloc_v2(&p, 3 << 20));
	ready();
	while (!(r = cuMemGetInfo_v2(&unused, &total)))
		usleep(20000);
	printf("ended with result %d\n", r);
	return r != CUDA_ERROR_SYSTEM_NOT_READY;
}

/* of 32 MiB begin() has BIG; what is beyond is refused */
static int quota(void)
{
	CUdeviceptr p;
	size_t unused, total;

	MUST(cuMemGetInfo_v2(&unused, &total));
	printf("%zu of %zu bytes unused\n", unused, total);
	if (total != 32 << 20 || cuMemAlloc_v2(&p, 30 << 20) != CUDA_ERROR_OUT_OF_MEMORY)
		return 1;
	MUST(cuMemAlloc_v2(&p, 20 << 20));
	return cuMemAlloc_v2(&p, 20 << 20) != CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * What programs before it had is this program's to have: all of the quota. Begins by itself, and
 * ends with all of that: by exit() or, if @how says so, by SIGKILL.
 */
static int takes_all(const char *how)
{
	size_t unused, total, had;
	CUdeviceptr p;

	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemGetInfo_v2(&unused, &total));
	printf("%zu of %zu bytes unused\n", unused, total);
	for (had = 0; had < total; had += 10 << 20)
		MUST(cuMemAlloc_v2(&p, 10 << 20));
	fflush(stdout);
	if (!strcmp(how, "killed"))
		raise(SIGKILL);
	return unused != total;
}

/*
 * A few bytes are copied behind a kernel that ends with an exception: the copy's call tells of it.
 * Begins by itself: CUBIN has store_at(), and names nothing that prints.
 */
static int exceptions(const char *cubin)
{
	CUdeviceptr there, misaligned, nowhere = 0xdead000000ull;
	unsigned int value = 1, i, wrong = 0;
	CUfunction store;
	CUresult r, later;

	MUST(cuInit(0));
	for (i = 0; i < 6; i++) {
		MUST(cuCtxCreate_v2(&ctx, 0, 0));
		MUST(cuModuleLoad(&module, cubin));
		MUST(cuModuleGetFunction(&store, module, "store_at"));
		MUST(cuMemAlloc_v2(&there, 4096));
		MUST(cuMemcpyDtoH_v2(&value, there, sizeof(value)));
		misaligned = there + 2;
		MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL,
				    (void *[]){ i % 2 ? &misaligned : &nowhere, &i }, NULL));
		r = cuMemcpyDtoH_v2(&value, there, sizeof(value));
		later = cuCtxSynchronize();
		printf("%s: the copy returns %d, a later call %d\n",
		       i % 2 ? "misaligned" : "at no memory", r, later);
		wrong += !r || r != later;
		MUST(cuCtxDestroy_v2(ctx));
	}
	return wrong;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "copies", copies },
	{ "stuck", stuck },
	{ "server_killed", server_killed },
	{ "after_fork", after_fork },
	{ "ptx", ptx },
	{ "child_lives", child_lives },
	{ "beside", beside },
	{ "settled", settled },
	{ "host_functions", host_functions },
	{ "holds", holds },
	{ "quota", quota },
	{ "pinned", pinned },
	{ "late", late },
	{ "pinned_elsewhere", pinned_elsewhere },
};

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc == 3 && !strcmp(argv[1], "exceptions"))
		return exceptions(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "takes_all"))
		return takes_all(argv[2]);
	for (i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			begin(argv[2]);
			return modes[i].run();
		}
	fprintf(stderr, "usage: faults MODE CUBIN\n");
	return 2;
}
