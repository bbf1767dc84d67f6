/* SPDX-License-Identifier: MIT */
/*
 * What nvcc makes, read: fat binaries, and the cubins in them. From bytes that may be anything to a
 * struct that the driver API can load and launch. No allocation survives an error, nothing outside
 * of the given bytes is read.
 *
 * Source of the facts: files that nvcc and fatbinary of the CUDA Toolkit 11.8 make, and what its
 * cuobjdump says of them (numbers of relocation types: by asking it for each). ELF: the System V
 * ABI.
 */
#ifndef KVGPU_CUDA_IMAGE_H
#define KVGPU_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_error {
	IMAGE_OK = 0,
	IMAGE_INVALID,		/* not such a file, or a damaged one */
	IMAGE_NO_BINARY,	/* well-formed, with nothing for sm_35 in it, and no PTX either */
	IMAGE_ONLY_PTX,		/* well-formed, and only a compiler could make something of it */
	IMAGE_UNSUPPORTED,	/* for sm_35, but it wants what there is not; see the reason */
	IMAGE_NO_MEMORY,
};

/* ------------------------------------------------------------------ fat binaries */

struct image_pick {
	/*
	 * a cubin for sm_35, or for 3.0 if there is none: the former inside of the input, or .owned
	 */
	const uint8_t *cubin;
	size_t size;
	uint8_t *owned;		/* it was compressed: to be freed */
	/*
	 * IMAGE_ONLY_PTX: the best there is for 3.5, for those who can compile; with a NUL behind
	 */
	const char *ptx;
	size_t ptx_size;
	char *ptx_owned;
};

/*
 * @data: a fat binary container, a cubin, PTX text, or the wrapper that nvcc puts before it in the
 * executable (which has a
 * pointer: only for data of the program itself). @limit: bytes that are known to be readable,
 * SIZE_MAX when the caller of cuModuleLoadData() gave no size: then the sizes in the data are
 * believed, as that interface has it. image_pick_free() also after an error.
 */
enum image_error image_pick(const void *data, size_t limit, struct image_pick *out);
void image_pick_free(struct image_pick *p);

/* ------------------------------------------------------------------ cubins */

#define IMAGE_NONE	(~0u)

enum image_space { IMAGE_CODE, IMAGE_DATA, IMAGE_CONST3 };

struct image_param {
	uint16_t offset, size;	/* in the parameter buffer */
};

struct image_kernel {
	const char *name;
	uint32_t code;		/* offset in the code */
	uint32_t code_size;
	uint32_t regs;
	/* bytes of local memory for each thread: frame and calls, where the compiler knows them */
	uint32_t stack;
	bool stack_unknown;	/* recursion or calls by pointer: cuCtxSetLimit decides */
	uint32_t crs;		/* bytes of the call/return stack beyond what the hardware holds */
	/* both, for what it calls of the driver's functions */
	uint32_t callee_stack, callee_crs;
	uint32_t shared;	/* static shared memory */
	uint32_t local;
	uint32_t barriers;
	uint32_t max_threads;	/* of a block; 0: no promise */
	uint32_t required[3];	/* block size that it was compiled for; 0: any */
	uint32_t param_base, param_size;	/* in constant bank 0 */
	struct image_param *params;
	uint32_t nr_params;
	/* contents of bank 0 at start; its size counts also when it is all zero */
	const uint8_t *const0;
	uint32_t const0_size;
	const uint8_t *const2;	/* literals of the compiler; NULL: none */
	uint32_t const2_size;
};

struct image_global {
	const char *name;
	enum image_space space;	/* IMAGE_DATA or IMAGE_CONST3 */
	uint32_t offset, size;
};

/*
 * legacy references: "texture<...>" and "surface<...>" at file scope. A kernel's bank 0 has a
 * handle of 4 bytes, or this
 */
enum { IMAGE_SURFACE_BYTES = 32 };

struct image_ref {
	const char *name;
	bool surface;
};

/* a word that depends on where things come to lie, or on which handle a reference is bound to */
enum image_fix_kind {
	IMAGE_FIX_ADDRESS,	/* .target in .target_space, + .addend */
	/*
	 * .target: index into refs; in bank 0 of .kernel is that reference's handle or descriptor
	 */
	IMAGE_FIX_REF,
};

struct image_fix {
	enum image_fix_kind kind;
	enum image_space space;	/* where the word is */
	uint32_t kernel;	/* of bank 0 instead, when not IMAGE_NONE */
	uint32_t offset;
	/* 4, 8, IMAGE_SURFACE_BYTES: of data; 0: a field of an instruction */
	uint8_t bytes;
	/* instruction: bits [field_at, +field_bits) get value >> shift */
	uint8_t field_at, field_bits, shift;
	enum image_space target_space;
	uint32_t target;
	int64_t addend;
};

struct image {
	uint8_t *code;		/* .text of all kernels and functions, each at a multiple of 256 */
	uint32_t code_size;
	uint8_t *data;		/* .nv.global.init, then .nv.global, which is zero */
	bool managed;		/* there are __managed__ variables in it */
	uint32_t data_size, data_init;
	uint8_t *const3;
	uint32_t const3_size;
	/* of the driver's functions (../syscalls), which it calls: 1 << enum syscall_id */
	uint32_t syscalls;
	struct image_kernel *kernels;
	uint32_t nr_kernels;
	struct image_global *globals;
	uint32_t nr_globals;
	struct image_ref *refs;
	uint32_t nr_refs;
	struct image_fix *fixes;
	uint32_t nr_fixes;
	uint32_t arch;		/* 30, 35, 37 */
	uint8_t *file;		/* own copy of the cubin, which the names point into */
	size_t file_size;
	char reason[160];	/* of an error, for the log buffers of cuModuleLoadDataEx() */
};

enum image_error image_load(struct image *im, const void *cubin, size_t size);
void image_free(struct image *im);

const struct image_kernel *image_find_kernel(const struct image *im, const char *name);
const struct image_global *image_find_global(const struct image *im, const char *name);

/*
 * Writes the addresses into code, data and the kernels' copies of bank 0. @base: by enum
 * image_space, where the three were put in the GPU's address space. @const0 is called for words of
 * bank 0.
 */
void image_place(struct image *im, const uint64_t base[3],
		 void (*const0)(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word),
		 void *ctx);

#endif
