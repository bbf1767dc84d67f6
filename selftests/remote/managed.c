// SPDX-License-Identifier: GPL-2.0-only
/*
 * managed MODE CUBIN: managed memory, which the program's CPUs and the GPU touch. killed: its
 * server is killed when it has said "ready". Exit code 0: all was right.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

enum { FLOATS = 50000, THREADS = 4, GLOBAL = 1, HOST = 2, SINGLE = 4, CPU = -1 };

static void *managed(size_t bytes)
{
	CUdeviceptr p = 0;

	MUST(cuMemAllocManaged(&p, bytes, GLOBAL));
	return (void *)(uintptr_t)p;
}

/* each side reads what the other wrote, in turns */
static void turns(void)
{
	float *a = managed(FLOATS * 4), *b = managed(FLOATS * 4), *c = managed(FLOATS * 4);
	int i, round, wrong = 0;

	for (i = 0; i < FLOATS; i++) {
		a[i] = i;
		b[i] = 2 * i;
	}
	for (round = 0; round < 10; round++) {
		launch_add(AT(a), AT(b), AT(c), FLOATS, s);
		launch_add(AT(c), AT(b), AT(a), FLOATS, s); /* a + 2b */
		MUST(cuStreamSynchronize(s));
		for (i = 0; i < FLOATS; i++)
			wrong += a[i] != (float)i + 4.f * i + (i % 5000 ? 0 : round);
		/* in a few pages of b */
		for (i = 0; i < FLOATS; i += 5000)
			b[i] = -4.f * i;
		/* a + 2b; of the few: a + b - 4i, which is i + round + 2i - 4i */
		launch_add(AT(c), AT(b), AT(a), FLOATS, s);
		MUST(cuCtxSynchronize());
		for (i = 0; i < FLOATS; i += 5000)
			wrong += a[i] != (float)i + 2.f * i - 4.f * i + round;
		for (i = 0; i < FLOATS; i++) {
			a[i] = i % 5000 ? i : i + round + 1;
			b[i] = 2 * i;
		}
	}
	want(!wrong, "turns");
	MUST(cuMemFree_v2(AT(a)));
	MUST(cuMemFree_v2(AT(b)));
	MUST(cuMemFree_v2(AT(c)));
}

/* a touch while a kernel runs sees what that has written in the end */
static void without_waiting(void)
{
	int *out = managed(32 * 4), rounds = 3000000, again[32], i;
	void *params[] = { &out, &rounds };

	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	memcpy(again, out, sizeof(again));
	MUST(cuStreamSynchronize(s));
	want(!memcmp(again, out, sizeof(again)), "a touch before the end");
	rounds = 1000;
	MUST(cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	MUST(cuCtxSynchronize());
	for (i = 0; i < 32 && out[i] == again[i]; i++)
		;
	want(i < 32, "another kernel's result");
	MUST(cuMemFree_v2(AT(out)));
}

static void copies(void)
{
	enum { BYTES = 1 << 20, W = 300, H = 20, PITCH = 512 };
	uint8_t *m = managed(BYTES), *other = managed(BYTES), *mine = malloc(BYTES), *pinned;
	CUDA_MEMCPY2D box = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = m,
			      .srcPitch = PITCH,
			      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			      .dstDevice = AT(other),
			      .dstPitch = PITCH,
			      .WidthInBytes = W,
			      .Height = H };
	int i;

	MUST(cuMemHostAlloc((void **)&pinned, BYTES, 0));
	for (i = 0; i < BYTES; i++)
		m[i] = i * 7;
	/* said to be the host's, and the device's */
	MUST(cuMemcpyHtoD_v2(one, m, BYTES));
	MUST(cuMemcpyDtoH_v2(mine, one, BYTES));
	want(!memcmp(mine, m, BYTES), "to device memory");
	MUST(cuMemcpyDtoHAsync_v2(other, one, BYTES, s));
	MUST(cuStreamSynchronize(s));
	want(!memcmp(other, m, BYTES), "from device memory");
	m[5] = 99;
	MUST(cuMemcpy(AT(mine), AT(m), BYTES));
	want(mine[5] == 99 && mine[BYTES - 1] == m[BYTES - 1], "to pageable memory");
	memset(pinned, 3, BYTES);
	MUST(cuMemcpyHtoD_v2(AT(m) + 10, pinned, BYTES - 20));
	want(m[9] == 63 && m[10] == 3 && m[BYTES - 11] == 3 &&
		     m[BYTES - 10] == (uint8_t)((BYTES - 10) * 7),
	     "from pinned memory");
	MUST(cuMemsetD8_v2(AT(m) + 4096, 9, 10000));
	want(m[4095] == 3 && m[4096] == 9 && m[14095] == 9 && m[14096] == 3, "filled");
	memset(other, 1, BYTES);
	MUST(cuMemcpy2D_v2(&box));
	want(other[W - 1] == m[W - 1] && other[W] == 1 && other[PITCH * 19] == m[PITCH * 19] &&
		     other[PITCH * 20] == 1,
	     "lines");
	MUST(cuMemFreeHost(pinned));
	MUST(cuMemFree_v2(AT(m)));
	MUST(cuMemFree_v2(AT(other)));
	free(mine);
}

static void functions(void)
{
	int *m = managed(40000);

	functions_of(m);
	MUST(cuMemFree_v2(AT(m)));
}

static void *touch_all(void *data)
{
	int *at = data, i, sum = 0;

	for (i = 0; i < 1 << 18; i += 100)
		sum += at[i];
	return (void *)(intptr_t)sum;
}

static void threads(void)
{
	int *at = managed(4 << 18), i, round;
	pthread_t t[THREADS];
	void *sum;

	for (round = 1; round < 4; round++) {
		MUST(cuMemsetD32_v2(AT(at), round, 1 << 18));
		for (i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, touch_all, at);
		for (i = 0; i < THREADS; i++) {
			pthread_join(t[i], &sum);
			want((intptr_t)sum == round * 2622, "threads that touch the same pages");
		}
	}
	MUST(cuMemFree_v2(AT(at)));
}

static sigjmp_buf back;
static volatile int caught;

static void catch (int signal, siginfo_t *info, void *context)
{
	caught++;
	siglongjmp(back, 1);
}

static volatile int *volatile nowhere = (volatile int *)16;

static void wild(void)
{
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
}

/* a program with a handler of its own gets its own faults, and no others */
static void signals(void)
{
	const struct sigaction own = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };
	int *at = managed(4096);

	wild();
	want(caught == 1, "a handler from before");
	at[0] = 1;
	sigaction(SIGSEGV, &own, NULL);
	wild();
	want(caught == 2, "a handler from after");
	MUST(cuMemsetD32_v2(AT(at), 5, 1));
	want(at[0] == 5 && caught == 2, "a page behind that handler");
	wild();
	want(caught == 3, "and the handler again");
	MUST(cuMemFree_v2(AT(at)));
	if (!sigsetjmp(back, 1))
		*(volatile int *)at = 1;
	want(caught == 4, "memory that was freed is gone");
}

static void taken(void)
{
	uint8_t *first = managed(1 << 20), *second, *there;

	MUST(cuMemFree_v2(AT(first)));
	there = mmap(first, 1 << 20, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	want(there == first, "the address is free");
	memset(there, 5, 1 << 20);
	second = managed(1 << 20);
	memset(second, 6, 1 << 20);
	want(second != first && there[0] == 5 && there[(1 << 20) - 1] == 5,
	     "other memory is left alone");
	MUST(cuMemFree_v2(AT(second)));
	munmap(there, 1 << 20);
}

static void questions(void)
{
	uint8_t *at = managed(10000);
	int is = -1, where[2] = { 7, 7 };
	unsigned int type = 0;
	void *host = NULL;
	CUdeviceptr p;

	want_error(cuMemAllocManaged(&p, 0, GLOBAL), CUDA_ERROR_INVALID_VALUE, "no bytes");
	want_error(cuMemAllocManaged(&p, 16, 0), CUDA_ERROR_INVALID_VALUE, "no flag");
	want_error(cuMemAllocManaged(NULL, 16, GLOBAL), CUDA_ERROR_INVALID_VALUE,
		   "nowhere to write to");
	MUST(cuDeviceGetAttribute(&is, 83, 0));
	want(is == 1, "the device has managed memory");
	MUST(cuDeviceGetAttribute(&is, 89, 0));
	want(!is, "not at the same time");
	is = 0;
	MUST(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, AT(at) + 9999));
	MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, AT(at)));
	MUST(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, AT(at) + 5));
	MUST(cuPointerGetAttribute(&p, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, AT(at) + 5));
	want((is & 0xff) == 1 && type == CU_MEMORYTYPE_DEVICE && host == at + 5 && p == AT(at) + 5,
	     "what it is");
	MUST(cuMemAdvise(AT(at), 10000, 1 /* mostly read */, CPU));
	MUST(cuMemRangeGetAttribute(&is, sizeof(is), 1, AT(at), 10000));
	MUST(cuMemRangeGetAttribute(where, sizeof(where), 3 /* accessed by */, AT(at), 10000));
	want(is == 1 && where[0] == -2 && where[1] == -2, "advice");
	want_error(cuMemRangeGetAttribute(&is, sizeof(is), 1, one, 16), CUDA_ERROR_INVALID_VALUE,
		   "of other memory");
	want_error(cuMemPrefetchAsync(AT(at), 10000, 0, s), CUDA_ERROR_INVALID_DEVICE,
		   "a prefetch");
	MUST(cuStreamAttachMemAsync(s, AT(at), 0, SINGLE));
	MUST(cuStreamAttachMemAsync(s, AT(at), 0, HOST));
	want_error(cuStreamAttachMemAsync(NULL, AT(at), 0, SINGLE), CUDA_ERROR_INVALID_VALUE,
		   "to no stream");
	want_error(cuStreamAttachMemAsync(s, one, 0, GLOBAL), CUDA_ERROR_INVALID_VALUE,
		   "other memory");
	want_error(cuMemFreeHost(at), CUDA_ERROR_INVALID_VALUE, "freed as pinned memory");
	want_error(cuMemHostRegister_v2(at, 100, 0), CUDA_ERROR_INVALID_VALUE, "registered");
	MUST(cuMemFree_v2(AT(at)));
}

/* an error that stays: pages can be touched */
static void after_an_error(void)
{
	int *at = managed(8000), bad_address = 0;
	CUdeviceptr nowhere = 64;
	void *params[] = { &nowhere };

	at[0] = 3;
	MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
	bad_address = at[0] + at[1500];
	want(bad_address == 3 || bad_address == 0, "a touch after an error");
	want_error(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "the error");
}

static void managed_memory(void)
{
	const struct sigaction own = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &own, NULL);
	turns();
	without_waiting();
	copies();
	functions();
	threads();
	signals();
	taken();
	questions();
	after_an_error();
}

/* touches what the GPU writes until there is no server any more, and then once more */
static void managed_killed(void)
{
	volatile int *at = managed(1 << 20);
	CUresult r = CUDA_SUCCESS;
	int i, sum = 0;

	for (i = 0; !r; i++) {
		r = cuMemsetD32_v2(AT(at), i, 1 << 18);
		sum += at[i % (1 << 18)];
		at[7] = i;
		if (i == 100) {
			puts("ready");
			fflush(stdout);
		}
	}
	sum += at[100000];
	at[100000] = sum;
	printf("%d rounds, then %s\n", i, name_of(r));
	want(r == CUDA_ERROR_SYSTEM_NOT_READY && i >= 100, "the server is gone");
}

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	return n;
}

/*
 * The program writes every second page of more memory than Linux has mappings for: a process may
 * have 65,530 by default.
 */
static void scattered(void)
{
	enum { WORDS = 70 << 20, EVERY = 2048 };
	volatile unsigned int *at = managed(4ull * WORDS);
	unsigned int i, wrong = 0, word;

	for (i = 0; i < WORDS; i += EVERY)
		at[i] = i;
	want(mappings() < 40000, "the program has too many mappings");
	MUST(cuMemsetD32_v2(AT(at + 1), 5, 1));
	for (i = 0; i < WORDS; i += EVERY)
		at[i] += 7;
	MUST(cuMemsetD32_v2(AT(at + 2), 5, 1));
	for (i = 0; i < WORDS; i += 8 * EVERY) {
		MUST(cuMemcpyDtoH_v2(&word, AT(at + i), 4));
		wrong += word != i + 7;
	}
	want(!wrong && at[1] == 5 && at[2] == 5, "scattered words");
}

/*
 * What a core file would have of shared memory: what the program has pinned or managed, and no more
 * than that. Of this memory the kernel also writes pages that nobody has touched.
 */
static void dumped(void)
{
	unsigned long first, begin = 0, end = 0, shared = 0, parts[2];
	bool is_shared = false, has[2] = { false, false };
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512], access[8];
	int *pinned, *spare, i;

	MUST(cuMemHostAlloc((void **)&spare, N, 0));
	MUST(cuMemHostAlloc((void **)&pinned, N, 0));
	MUST(cuMemFreeHost(spare));
	parts[0] = (uintptr_t)pinned;
	parts[1] = (uintptr_t)managed(N);
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &first, &end, access) == 3) {
			begin = first;
			is_shared = access[3] == 's';
		} else if (is_shared && !strncmp(line, "VmFlags:", 8) && !strstr(line, " dd")) {
			shared += end - begin;
			for (i = 0; i < 2; i++)
				has[i] |= begin <= parts[i] && parts[i] + N <= end;
		}
	}
	want(has[0], "pinned memory is not in core files");
	want(has[1], "managed memory is not in core files");
	want(shared <= 4 * N, "other shared memory is in core files");
	printf("%lu KiB of shared memory in core files\n", shared >> 10);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = { { "managed", managed_memory },
					     { "dumped", dumped },
					     { "scattered", scattered },
					     { "killed", managed_killed } };

	return run_mode(argc, argv, modes, sizeof(modes) / sizeof(modes[0]));
}
