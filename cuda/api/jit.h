/* SPDX-License-Identifier: MIT */
/* PTX to code for sm_35, by tools of the toolkit's: for libcuda.so.1, and for that of remote/. */
#ifndef KVGPU_CUDA_API_JIT_H
#define KVGPU_CUDA_API_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "api.h"
#include "fatbin.h"

/* what the application wants of the compiler, and where to write about it */
struct jit {
	char *log[2]; /* information, errors */
	size_t log_size[2];
	void **size_out[2], **wall_ms;
	unsigned int max_registers, level;
	bool has_level, debug, lines;
	bool failed; /* .text is an error message */
	double ms;
	char text[4096];
};
/* a 0 byte follows the file's bytes; the caller frees them */
CUresult read_file(const char *name, uint8_t **out, size_t *size);
enum jit_form { JIT_WHOLE, JIT_OBJECT }; /* to load it, or to link it */
/*
 * Keeps pointers to @values and to the buffers in it; jit_report() writes there. Options that
 * change nothing here are skipped, those that CUDA 11.8 does not have are an error.
 */
CUresult jit_options(struct jit *j, unsigned int n, CUjit_option *options, void **values);
void jit_say(struct jit *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void jit_report(struct jit *j);
/*
 * @ptx ends at a 0 or after @n bytes. The caller frees the result, *cubin or *out. After an error
 * the result is NULL or unchanged.
 */
CUresult jit_compile(struct jit *j, const char *ptx, size_t n, enum jit_form form, uint8_t **cubin,
		     size_t *size);
CUresult jit_link(struct jit *j, uint8_t *const *cubin, const size_t *size, unsigned int n,
		  uint8_t **out, size_t *out_size);
/*
 * jit_compile() to load it, of the PTX in an image of @bytes: text, or a fat binary in which no
 * code is better
 */
CUresult jit_image(struct jit *j, const void *image, size_t bytes, uint8_t **cubin, size_t *size);

/* errors.c: what CUDA calls an error of image_pick(), or of the reader of what it gave */
CUresult error_of_image(enum image_error e);

/* linking.c: what cuLink*() do, with arguments that are there; a state keeps @values, as above */
CUresult link_make(unsigned int n, CUjit_option *options, void **values, CUlinkState *state);
CUresult link_add(CUlinkState s, CUjitInputType type, const void *data, size_t size);
CUresult link_complete(CUlinkState s, void **cubin, size_t *size);
void link_free(CUlinkState s);

#endif
