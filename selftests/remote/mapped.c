// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapped MODE CUBIN: mapped memory, which the program's CPUs and the GPU touch. Where pinned memory
 * has no address on the device: plain. Exit code 0: all was right.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

enum { FLOATS = 10000, MAPPED = CU_MEMHOSTALLOC_DEVICEMAP };
static CUdeviceptr large;

static void *pinned(size_t bytes, unsigned int flags)
{
	void *p = NULL;

	MUST(cuMemHostAlloc(&p, bytes, flags));
	return p;
}

/* what the program is told of pinned memory agrees */
static void questions(void)
{
	uint8_t *asked = pinned(10000, CU_MEMHOSTALLOC_PORTABLE), *mapped = pinned(300, MAPPED);
	unsigned int flags = 0, type = 0;
	void *host = NULL;
	CUdeviceptr p = 0;
	int is = 0;

	MUST(cuDeviceGetAttribute(&is, 19 /* CAN_MAP_HOST_MEMORY */, 0));
	want(is == 1, "the device sees pinned memory");
	MUST(cuMemHostGetDevicePointer_v2(&p, mapped + 100, 0));
	want(p == AT(mapped) + 100, "at the program's address");
	MUST(cuPointerGetAttribute(&p, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, AT(asked) + 5));
	want(p == AT(asked) + 5, "memory that was not asked for");
	MUST(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, AT(mapped) + 7));
	MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, AT(mapped) + 7));
	MUST(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, AT(mapped)));
	want(host == mapped + 7 && type == CU_MEMORYTYPE_HOST && !(is & 0xff), "what it is");
	MUST(cuMemHostGetFlags(&flags, mapped));
	want(flags & MAPPED, "its flags");
	MUST(cuMemHostGetDevicePointer_v2(&p, asked, 0));
	MUST(cuMemHostGetFlags(&flags, asked + 1));
	want(flags == (MAPPED | CU_MEMHOSTALLOC_PORTABLE), "flags of memory that was asked for");
	want_error(cuMemHostGetDevicePointer_v2(&p, &flags, 0), CUDA_ERROR_INVALID_VALUE,
		   "other memory");
	want_error(cuMemHostRegister_v2(mapped, 100, 0), CUDA_ERROR_INVALID_VALUE, "registered");
	want_error(cuMemFreeHost(mapped + 1), CUDA_ERROR_INVALID_VALUE, "freed in the middle");
	mapped[0] = 1;
	MUST(cuMemFreeHost(asked));
	MUST(cuMemFreeHost(mapped));
	want_error(cuMemHostGetDevicePointer_v2(&p, mapped, 0), CUDA_ERROR_INVALID_VALUE,
		   "memory that was freed");
}

/* each side reads what the other wrote, in turns; @flags: of memory that a kernel is given */
static void turns(unsigned int flags)
{
	float *a = pinned(3 * FLOATS * 4, flags), *b = a + FLOATS, *c = b + FLOATS;
	int i, round, wrong = 0;
	CUevent event;

	MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (round = 0; round < 12; round++) {
		for (i = 0; i < FLOATS; i++) {
			a[i] = i + round;
			b[i] = 2 * i;
			c[i] = -1;
		}
		launch_add(AT(a), AT(b), AT(c), FLOATS, s);
		launch_add(AT(c), AT(b), AT(a), FLOATS - 10, s);
		switch (round % 4) {
		case 0:
			MUST(cuStreamSynchronize(s));
			break;
		case 1:
			MUST(cuCtxSynchronize());
			break;
		case 2:
			MUST(cuEventRecord(event, s));
			MUST(cuEventSynchronize(event));
			break;
		default:
			while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY)
				;
		}
		for (i = 0; i < FLOATS; i++) {
			wrong += c[i] != 3.f * i + round;
			wrong += a[i] != (i < FLOATS - 10 ? 5.f * i : i) + round;
		}
	}
	want(!wrong, "turns");
	MUST(cuEventDestroy_v2(event));
	MUST(cuMemFreeHost(a));
}

/* fills and copies find what kernels and the program wrote there, in the order of the stream */
static void copies(unsigned int flags)
{
	enum { BYTES = 100000 };
	uint8_t *m = pinned(BYTES, flags), *mine = malloc(BYTES), *other = pinned(BYTES, 0);
	int i, wrong = 0;

	MUST(cuMemsetD8Async(AT(m), 7, BYTES, s));
	MUST(cuStreamSynchronize(s));
	want(m[0] == 7 && m[BYTES - 1] == 7, "filled");
	for (i = 0; i < BYTES; i++)
		m[i] = i * 7;
	MUST(cuMemcpyHtoDAsync_v2(one, m, BYTES, s));
	MUST(cuMemsetD32Async(AT(m) + 4000, 0x01010101, 1000, s));
	MUST(cuMemcpyHtoDAsync_v2(two, m, BYTES, s));
	MUST(cuMemcpyDtoHAsync_v2(m + 50000, one, 4000, s));
	MUST(cuStreamSynchronize(s));
	for (i = 0; i < BYTES; i++)
		wrong += m[i] != (i >= 4000 && i < 8000	  ? 1 :
				  i >= 50000 && i < 54000 ? (uint8_t)((i - 50000) * 7) :
							    (uint8_t)(i * 7));
	want(!wrong, "a copy to mapped memory");
	MUST(cuMemcpyDtoH_v2(mine, two, BYTES));
	want(mine[3999] == (uint8_t)(3999 * 7) && mine[4000] == 1 && mine[7999] == 1,
	     "a copy behind a fill");
	MUST(cuMemcpyDtoH_v2(mine, AT(m), BYTES));
	want(!memcmp(mine, m, BYTES), "a copy that calls it device memory");
	MUST(cuMemcpy(AT(other), AT(m), BYTES));
	want(!memcmp(other, m, BYTES), "a copy to pinned memory");
	memset(other, 0x5a, BYTES);
	MUST(cuMemcpyHtoD_v2(AT(m) + 1, other, BYTES - 2));
	want(m[0] == 0 && m[1] == 0x5a && m[BYTES - 2] == 0x5a, "a copy from pinned memory");
	MUST(cuMemFreeHost(m));
	MUST(cuMemFreeHost(other));
	free(mine);
}

static void functions(void)
{
	int *m = pinned(40000, MAPPED);

	functions_of(m);
	MUST(cuMemFreeHost(m));
}

/* The GPU waits for words of the program's, and answers beside them, while work is under way. */
static void talk(void)
{
	enum { ROUNDS = 20 };
	volatile uint32_t *m = pinned(8192, MAPPED);
	time_t end = time(NULL) + 60;
	uint32_t i, answered = 0;

	m[0] = m[32] = 0;
	for (i = 1; i <= ROUNDS; i++) {
		MUST(cuStreamWaitValue32_v2(s, AT(m), i, 0));
		MUST(cuStreamWriteValue32_v2(s, AT(m + 32), 2 * i, 0));
	}
	for (i = 1; i <= ROUNDS; i++) {
		m[0] = i;
		while (m[32] < 2 * i && time(NULL) < end)
			;
		answered += m[32] == 2 * i;
	}
	m[0] = ROUNDS;
	MUST(cuStreamSynchronize(s));
	want(answered == ROUNDS, "the program and work that is under way talk");
	MUST(cuMemFreeHost((void *)m));
}

/* what the program and work write to one page is there afterwards */
static void beside(void)
{
	volatile uint32_t *go = pinned(64, MAPPED), *m = pinned(8192, MAPPED);
	uint32_t i, wrong = 0;

	for (i = 1; i <= 20; i++) {
		go[0] = 0;
		MUST(cuStreamWaitValue32_v2(s, AT(go), i, 0));
		MUST(cuMemsetD32Async(AT(m + 10), 7 * i, 10, s));
		m[9] = i;
		m[20] = 3 * i;
		m[1024] = m[19] + i;
		go[0] = i;
		MUST(cuStreamSynchronize(s));
		wrong += m[9] != i || m[20] != 3 * i || m[10] != 7 * i || m[19] != 7 * i;
	}
	want(!wrong, "a page that both sides write");
	MUST(cuMemFreeHost((void *)go));
	MUST(cuMemFreeHost((void *)m));
}

static void pause_stream(void *data)
{
	usleep(20000);
}

/* a copy from pageable memory that waits, in the stream of work before it, has waited for that */
static void waited_by_copy(void)
{
	volatile uint32_t *m = pinned(4096, MAPPED);
	uint32_t mine = 0, i, wrong = 0;

	for (i = 1; i <= 10; i++) {
		MUST(cuLaunchHostFunc(NULL, pause_stream, NULL));
		MUST(cuMemsetD32Async(AT(m), i, 100, NULL));
		MUST(cuMemcpyHtoD_v2(one, &mine, 4));
		wrong += m[99] != i;
	}
	want(!wrong, "a copy that waits for work before it");
	MUST(cuMemFreeHost((void *)m));
}

/* a copy that waits, from or to mapped memory, is over when it returns */
static void copies_that_wait(void)
{
	enum { BYTES = 8192 };
	uint8_t *m = pinned(BYTES, MAPPED), *mine = malloc(BYTES);
	int i, wrong = 0;

	for (i = 1; i <= 10; i++) {
		memset(m, i, BYTES);
		MUST(cuLaunchHostFunc(NULL, pause_stream, NULL));
		MUST(cuMemcpyHtoD_v2(one, m, BYTES));
		memset(m, 0xff, BYTES);
		MUST(cuMemcpyDtoH_v2(mine, one, BYTES));
		wrong += mine[0] != i || mine[BYTES - 1] != i;
		MUST(cuLaunchHostFunc(NULL, pause_stream, NULL));
		MUST(cuMemcpyDtoH_v2(m, one, BYTES));
		wrong += m[0] != i || m[BYTES - 1] != i;
	}
	want(!wrong, "copies from and to mapped memory that wait");
	MUST(cuMemFreeHost(m));
	free(mine);
}

/* a copy of a graph, from memory that the GPU sees and to other memory, and back */
static void graphs(void)
{
	uint8_t *m = pinned(8192, MAPPED), *other = pinned(8192, 0);
	CUgraphExec exec;
	CUgraph graph;
	int i, wrong = 0;

	MUST(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	MUST(cuMemcpyHtoDAsync_v2(one, m, 8192, s));
	MUST(cuMemcpyDtoHAsync_v2(other, one, 8192, s));
	MUST(cuMemcpyHtoDAsync_v2(two, other, 8192, s));
	MUST(cuMemcpyDtoHAsync_v2(m + 4096, two, 4096, s));
	MUST(cuStreamEndCapture(s, &graph));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (i = 0; i < 10; i++) {
		memset(m, i, 8192);
		m[0] = 100 + i;
		MUST(cuGraphLaunch(exec, s));
		MUST(cuStreamSynchronize(s));
		wrong += m[4096] != 100 + i || other[0] != 100 + i || other[8191] != i;
	}
	want(!wrong, "copies of a graph");
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(graph));
	MUST(cuMemFreeHost(m));
	MUST(cuMemFreeHost(other));
}

/* while one thread copies from and to pinned memory, another one gives a part of it to the GPU */
static uint8_t *both_use;

static void *copy_on(void *data)
{
	enum { BYTES = 4 << 20 };
	uint8_t *at = both_use + (1 << 20);
	intptr_t wrong = 0;
	int i, k;

	MUST(cuCtxSetCurrent(ctx));
	for (i = 0; i < 3; i++) {
		memset(at, i, BYTES);
		MUST(cuMemcpyHtoD_v2(large, at, BYTES));
		memset(at, 0xff, BYTES);
		MUST(cuMemcpyDtoH_v2(at, large, BYTES));
		for (k = 0; k < BYTES; k += 1000)
			wrong += at[k] != i;
	}
	return (void *)wrong;
}

static void at_once(void)
{
	pthread_t thread;
	int i, mine = 0;
	void *wrong;

	MUST(cuMemAlloc_v2(&large, 4 << 20));
	for (i = 0; i < 8; i++) {
		both_use = pinned(5 << 20, 0);
		pthread_create(&thread, NULL, copy_on, NULL);
		usleep(1000 * i);
		MUST(cuMemsetD8Async(AT(both_use) + 100, i, 5000, s));
		MUST(cuStreamSynchronize(s));
		mine += both_use[100] != i || both_use[5099] != i;
		pthread_join(thread, &wrong);
		mine += (intptr_t)wrong;
		MUST(cuMemFreeHost(both_use));
	}
	want(!mine, "a thread that copies beside one that gives memory to the GPU");
	MUST(cuMemFree_v2(large));
}

/* memory of a context that has ended is gone; another one has its own */
static void contexts(void)
{
	CUcontext other;
	int *m;

	MUST(cuCtxCreate_v2(&other, 0, 0));
	m = pinned(8192, MAPPED);
	m[0] = 1;
	MUST(cuMemsetD32_v2(AT(m) + 4, 5, 1));
	MUST(cuCtxSynchronize());
	want(m[0] == 1 && m[1] == 5, "in another context");
	MUST(cuCtxDestroy_v2(other));
	MUST(cuCtxSetCurrent(ctx));
	m = pinned(8192, MAPPED);
	m[0] = 2;
	MUST(cuMemsetD32Async(AT(m) + 4, 6, 1, s));
	MUST(cuStreamSynchronize(s));
	want(m[0] == 2 && m[1] == 6, "after that context");
	MUST(cuMemFreeHost(m));
}

static void work_with_it(void)
{
	turns(MAPPED);
	turns(0);
	copies(MAPPED);
	copies(0);
	functions();
	talk();
	beside();
	graphs();
	at_once();
	contexts();
}

static void mapped_memory(void)
{
	questions();
	work_with_it();
}

static void after_a_copy(void)
{
	waited_by_copy();
	copies_that_wait();
}

static void plain_memory(void)
{
	void *p = NULL;
	int is = 1;

	MUST(cuDeviceGetAttribute(&is, 19 /* CAN_MAP_HOST_MEMORY */, 0));
	want(!is, "the device sees no pinned memory");
	want_error(cuMemHostAlloc(&p, 100, MAPPED), CUDA_ERROR_NOT_SUPPORTED, "mapped memory");
	p = pinned(100, 0);
	want_error(cuMemHostGetDevicePointer_v2(&one, p, 0), CUDA_ERROR_NOT_SUPPORTED,
		   "an address on the device");
	MUST(cuMemFreeHost(p));
}

/* ------------------------------------------------------------------ pages of files */

enum { LENT = 3 * 4096, IN = 4096 + 64, LENT_FLOATS = 1000 };

static uint8_t *map_file(int file)
{
	uint8_t *at = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, LENT))
		at = mmap(NULL, LENT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	want(at != MAP_FAILED, "a file in memory");
	return at;
}

/* copies by the device's address, and by the program's */
static void copy_in_file(float *in, CUdeviceptr p)
{
	float from[100];
	int i, wrong = 0;

	for (i = 0; i < 100; i++)
		from[i] = i - 50;
	MUST(cuMemcpyHtoD_v2(p, from, sizeof(from)));
	MUST(cuMemcpyHtoD_v2(p + 400, in, 400));
	MUST(cuMemcpyDtoD_v2(p + 800, p, 400));
	MUST(cuCtxSynchronize());
	for (i = 0; i < 300; i++)
		wrong += in[i] != i % 100 - 50;
	want(!wrong, "copies in a file");
}

/* a kernel adds there, and the program sees it */
static void add_in_file(uint8_t *at, const char *what)
{
	float *in = (float *)(at + IN);
	CUdeviceptr p = 0, inner = 0;
	int i, wrong = 0;

	for (i = 0; i < LENT_FLOATS; i++)
		in[i] = i;
	MUST(cuMemHostRegister_v2(in, LENT_FLOATS * sizeof(*in), CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&p, in, 0));
	MUST(cuMemHostGetDevicePointer_v2(&inner, in + 5, 0));
	want(inner == p + 20, what);
	launch_add(p, p, p, LENT_FLOATS, s);
	MUST(cuStreamSynchronize(s));
	for (i = 0; i < LENT_FLOATS; i++)
		wrong += in[i] != 2 * i;
	MUST(cuMemcpyDtoH_v2(at, p, 400));
	want(!wrong && !memcmp(at, in, 400), what);
	copy_in_file(in, p);
	want_error(cuMemHostRegister_v2(in + 1, 4, CU_MEMHOSTALLOC_DEVICEMAP),
		   CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "registered twice");
	MUST(cuMemHostUnregister(in));
	want_error(cuMemHostUnregister(in), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, what);
}

/* files that the program has open, or that have a path; as NCCL's in /dev/shm */
static void lent_memory(void)
{
	char path[] = "/dev/shm/kvgpu-mapped-XXXXXX";
	int open_one = memfd_create("mapped", 0), closed = mkstemp(path), i;
	uint8_t *in_open = map_file(open_one), *in_closed = map_file(closed);

	close(closed);
	for (i = 0; i < 10; i++)
		add_in_file(in_open, "an open file");
	add_in_file(in_closed, "a file with a path");
	MUST(cuMemHostRegister_v2(in_closed, LENT, CU_MEMHOSTALLOC_DEVICEMAP));
	unlink(path);
}

static void refused_memory(void)
{
	int file = memfd_create("mapped", MFD_ALLOW_SEALING);
	uint8_t *shared = map_file(file), *own = aligned_alloc(4096, LENT);

	want(!fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), "a seal");
	want_error(cuMemHostRegister_v2(own, LENT, CU_MEMHOSTALLOC_DEVICEMAP),
		   CUDA_ERROR_NOT_SUPPORTED, "private pages");
	want_error(cuMemHostRegister_v2(shared, LENT, CU_MEMHOSTALLOC_DEVICEMAP),
		   CUDA_ERROR_NOT_SUPPORTED, "sealed pages");
	if (getenv("KVGPU_REMOTE") && !strncmp(getenv("KVGPU_REMOTE"), "unix:", 5))
		want_error(cuMemHostRegister_v2(map_file(memfd_create("mapped", 0)), LENT,
						CU_MEMHOSTALLOC_DEVICEMAP),
			   CUDA_ERROR_NOT_SUPPORTED, "over a socket");
	MUST(cuMemHostRegister_v2(own, LENT, 0));
	MUST(cuMemHostUnregister(own));
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "mapped", mapped_memory },   { "work", work_with_it },
		{ "waited", after_a_copy },    { "lent", lent_memory },
		{ "refused", refused_memory }, { "plain", plain_memory }
	};

	return run_mode(argc, argv, modes, sizeof(modes) / sizeof(modes[0]));
}
