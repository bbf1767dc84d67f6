// SPDX-License-Identifier: MIT
/*
 * What nvcc's code for kernels calls and leaves to the driver: vprintf, __assertfail, malloc, free,
 * what tells of devices; and what stands for functions that are not here.
 * make.sh compiles this file to syscalls.inc. No function here may call another or use a stack that
 * the caller does not give it.
 */
#include "block.h"

typedef unsigned long long u64;
typedef unsigned int u32;

#define INSIDE static __device__ __forceinline__
#define CALLED extern "C" __device__ __noinline__

INSIDE struct syscall_block *block_of_launch()
{
	u32 low, high;

	asm volatile("mov.b32 %0, %%envreg28;" : "=r"(low));
	asm volatile("mov.b32 %0, %%envreg29;" : "=r"(high));
	return (struct syscall_block *)((u64)high << 32 | low);
}

INSIDE u32 up8(u32 n)
{
	return (n + 7) & ~7u;
}

// ------------------------------------------------------------------ records

enum { MAX_STRING = 1 << 16 };

INSIDE u32 length(const char *s)
{
	u32 n = 0;

	while (s && n < MAX_STRING && s[n])
		n++;
	return n;
}

/*
 * Reserve @bytes in one piece of the ring; 0: there is no room. A record that would wrap around
 * goes to the ring's begin, and an empty record fills the ring's end.
 */
INSIDE u64 reserve(struct syscall_block *b, u32 bytes)
{
	struct syscall_head *h = (struct syscall_head *)b->head;
	u64 old = *(volatile u64 *)&h->reserved, seen, at;
	u32 rest;

	for (;;) {
		rest = b->ring_bytes - (u32)(old & (b->ring_bytes - 1));
		at = rest < bytes ? old + rest : old;
		if (at + bytes - *(volatile u64 *)&b->taken > b->ring_bytes)
			return 0;
		seen = atomicCAS(&h->reserved, old, at + bytes);
		if (seen == old)
			break;
		old = seen;
	}
	if (at != old)
		/* its kind is 0: nothing */
		*(volatile u32 *)(b->ring + (old & (b->ring_bytes - 1))) = rest;
	return b->ring + (at & (b->ring_bytes - 1));
}

INSIDE u64 put_string(u64 to, const char *s)
{
	u32 n = length(s), i;

	*(volatile u64 *)to = n;
	for (i = 0; i < n; i++)
		((volatile char *)to)[8 + i] = s[i];
	return to + 8 + up8(n);
}

INSIDE void publish(u64 record, u32 bytes)
{
	__threadfence_system();
	*(volatile u32 *)record = bytes;
}

// ------------------------------------------------------------------ printf

struct conversion {
	const char *at;
	u32 stars;
	char what;		// 0: the format's end
	bool wide;
};

INSIDE struct conversion next(const char *f)
{
	struct conversion c = { f, 0, 0, false };
	char x;

	for (; (x = *c.at) && !c.what; c.at++) {
		if (x != '%')
			continue;
		for (c.at++; (x = *c.at); c.at++) {
			if (x == '*')
				c.stars++;
			else if (x == 'l' || x == 'j' || x == 'z' || x == 't' || x == 'L')
				c.wide = true;
			else if (!((x >= '0' && x <= '9') || x == '-' || x == '+' || x == ' ' ||
				   x == '#' || x == '.' || x == 'h'))
				break;
		}
		if (!x)
			return c;
		if (x == '%') {
			c.stars = 0;
			c.wide = false;
			continue;
		}
		c.what = x;
		c.wide |= x == 's' || x == 'p' || x == 'n' ||
			  ((x | 32) >= 'e' && (x | 32) <= 'g') || (x | 32) == 'a';
	}
	return c;
}

INSIDE u64 argument(u64 *args, bool wide)
{
	u64 v;

	if (!wide) {
		v = *(u32 *)*args;
		*args += 4;
		return v;
	}
	*args = (*args + 7) & ~7ull;
	v = *(u64 *)*args;
	*args += 8;
	return v;
}

CALLED int kvgpu_vprintf(const char *format, void *list)
{
	struct syscall_block *b = block_of_launch();
	u32 bytes = sizeof(struct syscall_record), n = 0, i;
	u64 args = (u64)list, at, record, v;
	struct conversion c;

	for (c = next(format); c.what; c = next(c.at), n++) {
		for (i = 0; i < c.stars; i++, bytes += 8)
			argument(&args, false);
		v = argument(&args, c.wide);
		bytes += 8 + (c.what == 's' ? up8(length((const char *)v)) : 0);
	}
	record = reserve(b, bytes);
	if (!record)
		return -1;
	((volatile struct syscall_record *)record)->kind = SYSCALL_PRINTF;
	((volatile struct syscall_record *)record)->at = (u64)format;
	at = record + sizeof(struct syscall_record);
	args = (u64)list;
	for (c = next(format); c.what; c = next(c.at)) {
		for (i = 0; i < c.stars; i++, at += 8)
			*(volatile u64 *)at = argument(&args, false);
		v = argument(&args, c.wide);
		if (c.what == 's') {
			at = put_string(at, (const char *)v);
			continue;
		}
		*(volatile u64 *)at = v;
		at += 8;
	}
	publish(record, bytes);
	return n;
}

// ------------------------------------------------------------------ assert

/*
 * The trap ends the whole grid, also blocks that wait for this thread. The threads of a warp that
 * fail together have all said so by then. The CPU makes an error of the record.
 */
CALLED void kvgpu_assertfail(const char *expression, const char *file, u32 line,
			     const char *function, u64 char_size)
{
	struct syscall_block *b = block_of_launch();
	u32 bytes = sizeof(struct syscall_record) + 4 * 8 + up8(length(expression)) +
		    up8(length(file)) + up8(length(function)) + 24;
	u64 record = reserve(b, bytes), at = record + sizeof(struct syscall_record);

	if (record) {
		((volatile struct syscall_record *)record)->kind = SYSCALL_ASSERT;
		at = put_string(at, expression);
		at = put_string(at, file);
		*(volatile u64 *)at = line;
		at = put_string(at + 8, function);
		((volatile u32 *)at)[0] = blockIdx.x;
		((volatile u32 *)at)[1] = blockIdx.y;
		((volatile u32 *)at)[2] = blockIdx.z;
		((volatile u32 *)at)[3] = threadIdx.x;
		((volatile u32 *)at)[4] = threadIdx.y;
		((volatile u32 *)at)[5] = threadIdx.z;
		publish(record, bytes);
	}
	asm volatile("trap; exit;");
}

// ------------------------------------------------------------------ the heap

/*
 * A block's first 8 bytes are its class, or, while the block is free, the address of the next free
 * block. malloc() returns the address BLOCK_HEAD behind. The CUDA programming guide promises that
 * it is a multiple of 16: the heap's begin is, so BLOCK_HEAD and all blocks' sizes have to be.
 */
enum { BLOCK_HEAD = 16 };

/*
 * Class 4 * (@log2 - 4) + @quarter holds blocks of (5 + @quarter) << (@log2 - 2) bytes. @n is a
 * multiple of 16, 32 at least: its class is then one whose size is a multiple of 16.
 */
INSIDE void class_of(u64 n, u32 *log2, u32 *quarter)
{
	*log2 = 63 - __clzll(n - 1);
	*quarter = (u32)((n - 1) >> (*log2 - 2)) & 3;
}

CALLED void *kvgpu_malloc(u64 bytes)
{
	struct syscall_head *h = (struct syscall_head *)block_of_launch()->head;
	u64 n = (bytes + BLOCK_HEAD + 15) & ~15ull, got = 0;
	u32 log2, quarter, c;
	bool done = false;

	if (!bytes || n < bytes)
		return 0;
	class_of(n, &log2, &quarter);
	c = (log2 - 4) * 4 + quarter;
	if (c >= SYSCALL_CLASSES)
		return 0;
	n = (u64)(5 + quarter) << (log2 - 2);
	while (!done) {
		if (atomicCAS(&h->lock, SYSCALL_LOCK_FREE, 1u) != SYSCALL_LOCK_FREE)
			continue;
		got = *(volatile u64 *)&h->list[c];
		if (got) {
			*(volatile u64 *)&h->list[c] = *(volatile u64 *)got;
		} else {
			u64 top = *(volatile u64 *)&h->top;

			if (n <= h->end - top) {
				got = top;
				*(volatile u64 *)&h->top = top + n;
			}
		}
		if (!got) {	// a larger block, as it is
			u32 i = c + 1;

			while (i < SYSCALL_CLASSES && !*(volatile u64 *)&h->list[i])
				i++;
			if (i < SYSCALL_CLASSES) {
				c = i;
				got = *(volatile u64 *)&h->list[c];
				*(volatile u64 *)&h->list[c] = *(volatile u64 *)got;
			}
		}
		if (got)
			*(volatile u64 *)got = c;
		__threadfence();
		atomicExch(&h->lock, SYSCALL_LOCK_FREE);
		done = true;
	}
	return got ? (void *)(got + BLOCK_HEAD) : 0;
}

/*
 * Trusts @p: it must come from malloc() and be freed once. free() takes the class from the 4 bytes
 * at @p - BLOCK_HEAD, overwrites the 8 bytes there with a link, and puts that address into the
 * list of the class, from where malloc() returns @p again. With a wrong @p it damages what lies
 * there, or faults, and later blocks can overlap memory that is in use. All of that is memory of
 * the program's own GPU address space.
 */
CALLED void kvgpu_free(void *p)
{
	struct syscall_head *h = (struct syscall_head *)block_of_launch()->head;
	u64 at = (u64)p - BLOCK_HEAD;
	bool done = !p;

	while (!done) {
		if (atomicCAS(&h->lock, SYSCALL_LOCK_FREE, 1u) != SYSCALL_LOCK_FREE)
			continue;
		u32 c = *(volatile u32 *)at & (SYSCALL_CLASSES - 1);

		*(volatile u64 *)at = *(volatile u64 *)&h->list[c];
		*(volatile u64 *)&h->list[c] = at;
		__threadfence();
		atomicExch(&h->lock, SYSCALL_LOCK_FREE);
		done = true;
	}
}

// ------------------------------------------------------------------ what kernels ask of devices

/*
 * libcudadevrt's cudaGetDevice(), cudaGetDeviceCount() and cudaDeviceGetAttribute() call these and
 * translate their errors by a table of its own, by which 1 is cudaErrorInvalidValue and 3
 * cudaErrorInvalidDevice.
 */
enum { NO_SUCH_VALUE = 1, NO_SUCH_DEVICE = 3 };

CALLED int kvgpu_cnpGetDevice(int *device)
{
	*device = block_of_launch()->device;
	return 0;
}

CALLED int kvgpu_cnpGetDeviceCount(int *count)
{
	*count = block_of_launch()->nr_devices;
	return 0;
}

CALLED int kvgpu_cnpDeviceGetAttribute(int *value, int attribute, int device)
{
	struct syscall_block *b = block_of_launch();

	if ((u32)device >= (u32)b->nr_devices)
		return NO_SUCH_DEVICE;
	if (attribute < 1 || attribute > SYSCALL_ATTRIBUTES)
		return NO_SUCH_VALUE;
	*value = ((int *)b->attributes)[device * SYSCALL_ATTRIBUTES + attribute - 1];
	return 0;
}

/* The caller returns what this one does. Nothing here tells a kernel its last error. */
CALLED int kvgpu_cnpSetLastError(int error)
{
	return error;
}

// ------------------------------------------------------------------ what is not here

/* Kernels that call such a function are not launched: only a pointer to it leads here. */
CALLED void kvgpu_missing()
{
	asm volatile("trap; exit;");
}
