// SPDX-License-Identifier: GPL-2.0-only
/*
 * A libcuda.so.1 for kvgpu-remoted under a flood of frames: the fake library of the unit tests
 * (selftests/remote/unit/remote/server/fake.h) with a thread of its own, and with memory for those
 * clients that verify. To a client that says so (page.h) it answers by chance that work is not
 * done, gives errors, and prints.
 *
 * KVGPU_FLOOD_FAULT, which shows that the flood notices: "crash N" ends the process of a client
 * that attacks in its N-th call, by a signal; "byte N" spoils the N-th copy to a client that
 * verifies.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu.h"
#include "page.h"

enum { WHOLE_MOST = 512 };

struct library gpu_library;

static struct library fake;
static struct flood_page none, *page = &none;
static bool attacked;
static uint64_t state = 1, counted_ends;
static struct {
	uint64_t crash, byte; /* how many calls or copies are to come; 0: there is no fault */
} fault;

/* the serving thread's alone */
static unsigned int below(unsigned int n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dull >> 33) % n;
}

bool gpu_chance(unsigned int n)
{
	return !below(n);
}

void gpu_spoil(uint8_t *to, size_t n)
{
	if (!attacked && fault.byte && !--fault.byte)
		to[n / 2] ^= 1;
}

static void count(uint64_t *word, uint64_t n)
{
	__atomic_add_fetch(word, n, __ATOMIC_RELAXED);
}

/* whatever the library prints goes to the client */
static void print(void)
{
	static const char text[256] = { [0 ... 254] = 'x' };

	if (write(1 + below(2), text, 1 + below(255)) < 0)
		return;
}

static void called(void)
{
	if (!attacked) {
		count(&page->verified, 1);
		return;
	}
	count(&page->calls, 1);
	if (fake_ends != counted_ends)
		count(&page->ends, fake_ends - counted_ends);
	counted_ends = fake_ends;
	if (fault.crash && !--fault.crash)
		*(volatile int *)16 = 0;
	if (!below(32))
		fake_busy = below(4);
	if (!below(32))
		fake_error = below(24) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (!below(4096))
		print();
}

static void later(CUhostFn fn, void *data)
{
	if (attacked)
		count(&page->later, 1);
	queue_put(&(struct work){ .fn = fn, .data = data });
}

static CUresult by_bus_id(CUdevice *dev, const char *id)
{
	if (!strncmp(id, FLOOD_ATTACKS, strlen(FLOOD_ATTACKS))) {
		attacked = true;
		state = strtoull(id + strlen(FLOOD_ATTACKS), NULL, 0) | 1;
	}
	return fake.cuDeviceGetByPCIBusId(dev, id);
}

static void map_page(void)
{
	const char *path = getenv("KVGPU_FLOOD_PAGE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED :
			   mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (p != MAP_FAILED)
		page = p;
}

static void __attribute__((constructor)) loaded(void)
{
	const char *text = getenv("KVGPU_FLOOD_FAULT");

	if (text && sscanf(text, "crash %lu", &fault.crash) != 1)
		sscanf(text, "byte %lu", &fault.byte);
	map_page();
	fake_start();
	fake_whole_most = WHOLE_MOST;
	fake_called = called;
	fake_later = later;
	fake_library(&gpu_library);
	memory_fill(&gpu_library);
	fake = gpu_library;
	gpu_library.cuDeviceGetByPCIBusId = by_bus_id;
}
