/* SPDX-License-Identifier: MIT */
/*
 * Reads cubins, which image_pick() finds in what nvcc makes. The input of image_load() may be any
 * bytes: it reads nothing outside of them, and after an error no allocation is left.
 *
 * Source of the facts: files that nvcc and fatbinary of the CUDA Toolkit 11.8 make, and what its
 * cuobjdump says of them. ELF: the System V ABI.
 */
#ifndef KVGPU_CUDA_IMAGE_H
#define KVGPU_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../api/fatbin.h"

#define IMAGE_NONE (~0u)

enum image_space { IMAGE_CODE, IMAGE_DATA, IMAGE_CONST3 };

struct image_param {
	uint16_t offset, size; /* in the parameter buffer */
};

struct image_kernel {
	const char *name;
	uint32_t code; /* offset in image.code */
	uint32_t code_size;
	uint32_t regs;
	/* bytes for each thread, where the compiler knows */
	uint32_t stack;
	bool stack_unknown; /* recursion or calls by pointer: cuCtxSetLimit decides */
	uint32_t crs; /* bytes of call/return stack beyond what the hardware holds */
	/* of the driver's functions that the kernel calls */
	uint32_t callee_stack, callee_crs;
	uint32_t syscalls; /* these functions, as in image.syscalls */
	uint32_t shared;
	uint32_t local;
	uint32_t barriers;
	uint32_t max_threads; /* of a block; 0: any */
	uint32_t required[3]; /* block size; 0: any */
	uint32_t param_base, param_size; /* in constant bank 0 */
	struct image_param *params; /* each within the param_size bytes */
	uint32_t nr_params;
	/* bank 0 at start, with room for the parameters */
	const uint8_t *const0;
	uint32_t const0_size;
	const uint8_t *const2; /* literals of the compiler, or NULL */
	/* what it calls that is not here, so that it must not be launched; or NULL */
	const char *missing;
	uint32_t const2_size;
};

struct image_global {
	const char *name;
	enum image_space space;
	uint32_t offset, size;
};

/*
 * Legacy references, "texture<...>" and "surface<...>" at file scope: bank 0 has a handle of 4
 * bytes for a texture, and a descriptor of this size for a surface.
 */
enum { IMAGE_SURFACE_BYTES = 32 };

struct image_ref {
	const char *name;
	bool surface;
};

enum image_fix_kind {
	IMAGE_FIX_ADDRESS, /* .target in .target_space, + .addend */
	/* the handle or descriptor of refs[.target], in bank 0 of .kernel */
	IMAGE_FIX_REF,
};

struct image_fix {
	enum image_fix_kind kind;
	enum image_space space;
	uint32_t kernel; /* not IMAGE_NONE: the word is in bank 0 of this kernel */
	uint32_t offset; /* in that bank, else in .space */
	/* bytes of data: 4, 8, IMAGE_SURFACE_BYTES; 0: a field of an instruction */
	uint8_t bytes;
	/* instruction: bits [field_at, field_at + field_bits) get value >> shift */
	uint8_t field_at, field_bits, shift;
	enum image_space target_space;
	uint32_t target;
	int64_t addend;
};

struct image {
	/* kernels and functions, then .syscalls; sections at multiples of 256 */
	uint8_t *code;
	uint32_t code_size;
	/* .nv.global.init; on the GPU zeros follow */
	uint8_t *data;
	bool managed; /* .data has __managed__ variables */
	uint32_t data_size, data_init; /* with the zeros, and without */
	uint8_t *const3;
	uint32_t const3_size;
	/* 1 << enum syscall_id, of those that are called */
	uint32_t syscalls;
	struct image_kernel *kernels;
	uint32_t nr_kernels;
	struct image_global *globals;
	uint32_t nr_globals;
	struct image_ref *refs;
	uint32_t nr_refs;
	struct image_fix *fixes;
	uint32_t nr_fixes;
	uint32_t arch;
	uint8_t *file; /* own copy of the cubin; names point into it */
	size_t file_size;
	char reason[160]; /* of an error, for the log buffers */
};

/*
 * Read a cubin of @size bytes, which came as @packed bytes: fewer, if they were compressed. Its own
 * tables, and what alignment adds to its code, may take 64 bytes for each of those and 1 MiB, so an
 * image costs its sender in proportion (IMAGE_INVALID). No step takes longer than the bytes and the
 * tables do to sort.
 */
enum image_error image_load(struct image *im, const void *cubin, size_t size, size_t packed);
void image_free(struct image *im);

const struct image_kernel *image_find_kernel(const struct image *im, const char *name);
const struct image_global *image_find_global(const struct image *im, const char *name);

/*
 * Write addresses into .code, .data and .const3, in the CPU's memory. @base, by enum image_space:
 * where .data and .const3 lie on the GPU; for the code its offset in the program region
 * (SET_PROGRAM_REGION). An address in a kernel's bank 0 is not written: @const0 gets it, word by
 * word. IMAGE_FIX_REF is left to the caller.
 */
void image_place(struct image *im, const uint64_t base[3],
		 void (*const0)(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word),
		 void *ctx);

#endif
