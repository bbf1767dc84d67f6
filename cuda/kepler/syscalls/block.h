/* SPDX-License-Identifier: MIT */
/*
 * What the CPU and the functions that kernels call share: one block for each context, in memory
 * that both see, and the heap's head. The CPU writes the head only while no kernel that could use
 * it runs. Plain C that nvcc takes, too.
 *
 * Messages are a ring of records. The GPU takes room by raising .reserved in the head; a record is
 * valid once its first word is not 0. The CPU clears a record and then raises .taken. The ring is
 * full when .reserved would be more than its size ahead of .taken.
 */
#ifndef KVGPU_CUDA_SYSCALL_BLOCK_H
#define KVGPU_CUDA_SYSCALL_BLOCK_H

/*
 * A launch's constant bank 0 has the address of its struct syscall_block here: %envreg28 and
 * %envreg29.
 */
#define SYSCALL_CONST0_AT 0xbc

#define SYSCALL_PRINTF 1 /* .at is the format; then one item for each argument */
/* items: expression, file, line, function; then block and thread, 6 words */
#define SYSCALL_ASSERT 2

#define SYSCALL_ATTRIBUTES 147 /* that cuDeviceGetAttribute() knows */

struct syscall_record {
	unsigned int bytes; /* of all, a multiple of 8; 0: not yet written */
	unsigned int kind;
	unsigned long long at;
	/*
	 * Items of 8 bytes follow. The item of a string is its length, and the characters follow,
	 * up to a multiple of 8.
	 */
};

struct syscall_block {
	unsigned long long head, ring; /* on the GPU: struct syscall_head, records */
	/* on the GPU: SYSCALL_ATTRIBUTES ints for each device, from attribute 1 on */
	unsigned long long attributes;
	unsigned int ring_bytes; /* a power of two */
	int device, nr_devices; /* the context's device; how many there are */
	unsigned int pad[23];
	unsigned long long taken; /* by the CPU; in a line of its own */
};

/* free lists by size: 4 classes for each power of two */
#define SYSCALL_CLASSES	  128
#define SYSCALL_LOCK_FREE 0u

struct syscall_head {
	unsigned long long reserved;
	unsigned int lock, pad; /* used by kernels alone; guards .top and .list */
	unsigned long long top, end; /* above .top the heap is unused */
	unsigned long long list[SYSCALL_CLASSES];
};

#endif
