// SPDX-License-Identifier: MIT
/* What memory is at an address: the program's, a device's, or none. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client.h"

/* 0, or -errno. EFAULT: the CPU would fault there, or the memory is a device's mapping. */
static int ask_kernel(const void *at)
{
	struct iovec to = { &(char){ 0 }, 1 }, from = { (void *)(uintptr_t)at, 1 };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 ? 0 : -errno;
}

/*
 * If the kernel does not let us ask, believe the program. A page that could be read is not asked
 * for again while the thread remembers it: a program that has unmapped it meanwhile gets a fault.
 */
static bool cpu_can_read(const void *at)
{
	enum { PAGE = 4096, PAGES = 16 };
	static __thread uintptr_t could[PAGES];
	uintptr_t page = (uintptr_t)at / PAGE;
	int r;

	if (page && could[page % PAGES] == page)
		return true;
	r = ask_kernel(at);
	if (!r)
		could[page % PAGES] = page;
	return r != -EFAULT;
}

/* The kernel lets every process ask what msync() tells. */
static bool is_here(CUdeviceptr at)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	const int r = ask_kernel((const void *)(uintptr_t)at);

	return !r || (r != -EFAULT && !msync((void *)(at & -page), 1, MS_ASYNC));
}

bool programs_own(CUdeviceptr at)
{
	return several && !managed_has(at) && is_here(at);
}

bool is_pageable(CUdeviceptr at)
{
	struct host_range found;

	return !range_has(at) && !managed_has(at) && !pinned_device_has(at) &&
	       !host_find((void *)(uintptr_t)at, &found) && is_here(at);
}

static bool device_says(CUdeviceptr at)
{
	struct q_pointer q = { .ptr = at, .attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE };
	struct call c = { .op = OP_pointer, .fixed = &q, .bytes = sizeof(q) };

	return !call_sync(&c, sizeof(struct a_pointer)) &&
	       ((const struct a_pointer *)c.answer)->value == CU_MEMORYTYPE_DEVICE;
}

/*
 * With several servers none decides what memory of the program is: a server that names the address
 * as its own would get the bytes that another one is to get. What the program calls host memory is
 * that, if the CPU can read it. Else an address that is both is an error.
 */
static enum memory_kind memory_kind_of_several(CUdeviceptr at, bool host)
{
	struct host_range found;
	bool own;

	if (managed_has(at) && !host_find((void *)(uintptr_t)at, &found))
		return MEMORY_DEVICE;
	own = host ? cpu_can_read((void *)(uintptr_t)at) : programs_own(at);
	if (range_has(at))
		return !own ? MEMORY_DEVICE : host ? MEMORY_HOST : MEMORY_UNKNOWN;
	if (own || host_find((void *)(uintptr_t)at, &found))
		return MEMORY_HOST;
	return pinned_device_has(at) || device_says(at) ? MEMORY_DEVICE : MEMORY_UNKNOWN;
}

enum memory_kind memory_kind_of(CUdeviceptr at, bool host)
{
	struct host_range found;

	if (several)
		return memory_kind_of_several(at, host);
	if (range_has(at) || managed_has(at))
		return MEMORY_DEVICE;
	if (host_find((void *)(uintptr_t)at, &found))
		return MEMORY_HOST;
	if (pinned_device_has(at))
		return MEMORY_DEVICE;
	/* An address of the server's GPU may be an address of the program's memory, too. */
	if (!host && device_says(at))
		return MEMORY_DEVICE;
	if (cpu_can_read((void *)(uintptr_t)at))
		return MEMORY_HOST;
	return device_says(at) ? MEMORY_DEVICE : MEMORY_UNKNOWN;
}

bool answer_address(const struct peer *p, CUdeviceptr at)
{
	const void *host = (const void *)(uintptr_t)at;

	return range_has(at) || managed_has(at) || pinned_at(p, host, 1) != KVGPU_REMOTE_NOWHERE ||
	       !cpu_can_read(host);
}
