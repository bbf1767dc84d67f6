// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 for kvgpu-remoted, on the one with the GPU in the process: work is carried out by
 * a GPU that all processes share, and that has nothing but a clock, in the file that KVGPU_CLOCK
 * names. The clock is slower than the machine's, and stands still while there is no work. A kernel
 * takes as many microseconds as its grid is wide, for the client that is its height; a fill as many
 * as it has bytes, for the client that is the byte. It counts how often a client submits work while
 * the last work submitted is another client's and not done.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/api.h>

enum { CLIENTS = 4, CLOCK_LENGTH_US = 600000, SLOWNESS = 4 };

/* shares.sh makes the file and reads it, by the places of these members */
struct clock {
	uint32_t lock, came; /* a bit for each client that has come */
	uint32_t go; /* set by shares.sh: count from here on */
	uint32_t last; /* who submitted last */
	uint64_t now, free_at, begin, end; /* us */
	uint64_t wall; /* the machine's, at which .now was so late */
	uint64_t had[CLIENTS];
	uint64_t mixed;
};

static struct clock *gpu;

struct stream {
	uint64_t end;
};
struct event {
	uint64_t at;
};
static struct stream null_stream;

__attribute__((constructor)) static void begin(void)
{
	int fd = open(getenv("KVGPU_CLOCK"), O_RDWR | O_CLOEXEC);

	gpu = mmap(NULL, sizeof(*gpu), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (gpu == MAP_FAILED)
		abort();
	close(fd);
}

static void lock(void)
{
	while (__atomic_exchange_n(&gpu->lock, 1, __ATOMIC_ACQUIRE))
		usleep(10);
}

static void unlock(void)
{
	__atomic_store_n(&gpu->lock, 0, __ATOMIC_RELEASE);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct stream *of(CUstream s)
{
	return (uintptr_t)s <= 2 ? &null_stream : (struct stream *)s;
}

static uint64_t wall_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* with the lock; what is under way goes on, and an idle GPU's clock stands still */
static void go_on(void)
{
	uint64_t wall = wall_us(), us = (wall - gpu->wall) / SLOWNESS;

	if (gpu->now >= gpu->free_at)
		gpu->wall = wall;
	if (gpu->now >= gpu->free_at || !us)
		return;
	gpu->wall += us * SLOWNESS;
	gpu->now = gpu->now + us < gpu->free_at ? gpu->now + us : gpu->free_at;
}

static CUresult submit(CUstream stream, uint64_t us, unsigned int client)
{
	struct stream *s = of(stream);
	uint64_t start;

	lock();
	go_on();
	client %= CLIENTS;
	gpu->came |= 1u << client;
	if (gpu->go && !gpu->end) {
		gpu->begin = later(gpu->now, gpu->free_at);
		gpu->end = gpu->begin + CLOCK_LENGTH_US;
	}
	gpu->mixed += gpu->free_at > gpu->now && gpu->last != client;
	gpu->last = client;
	start = later(later(gpu->free_at, s->end), gpu->now);
	gpu->free_at = s->end = start + us;
	if (gpu->end && start >= gpu->begin && start < gpu->end)
		gpu->had[client] += us;
	unlock();
	return CUDA_SUCCESS;
}

static CUresult look(uint64_t at)
{
	bool done;

	lock();
	go_on();
	done = at <= gpu->now;
	unlock();
	return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult wait(uint64_t at)
{
	while (look(at))
		usleep(10);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ */

CUresult cuStreamCreate(CUstream *s, unsigned int flags)
{
	*s = calloc(1, sizeof(struct stream));
	return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
	free(s);
	return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream s)
{
	return look(of(s)->end);
}

CUresult cuStreamSynchronize(CUstream s)
{
	return wait(of(s)->end);
}

CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status)
{
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	return wait(gpu->free_at);
}

CUresult cuEventCreate(CUevent *e, unsigned int flags)
{
	*e = calloc(1, sizeof(struct event));
	return *e ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
	lock();
	((struct event *)e)->at = later(of(s)->end, gpu->now);
	unlock();
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent e)
{
	return look(((struct event *)e)->at);
}

CUresult cuEventSynchronize(CUevent e)
{
	return wait(((struct event *)e)->at);
}

CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
	*ms = (((struct event *)to)->at - ((struct event *)from)->at) / 1e3f;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int x, unsigned int y, unsigned int z,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream s, void **params, void **extra)
{
	return submit(s, x, y);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream s)
{
	return submit(s, n, value);
}
