/* SPDX-License-Identifier: MIT */
/*
 * The functions in the tables of tables.c. What each has to do, and who calls it, was seen by
 * calling and watching NVIDIA's driver 580.159. ZLUDA (dark_api) and Lupine publish most of it,
 * too.
 */
#ifndef KVGPU_CUDA_EXPORT_SLOTS_H
#define KVGPU_CUDA_EXPORT_SLOTS_H

#include "export.h"

#define EXPORT_CHECK "\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2"

typedef void (*storage_end_fn)(CUcontext ctx, void *key, void *value);

/*
 * storage.c: a value for each context and key. @ctx: NULL: the current one, without which it is
 * CUDA_ERROR_INVALID_CONTEXT. CUDA_ERROR_INVALID_HANDLE: put: the key has a value, which stays;
 * get, delete: it has none. @end: NULL, or called when the context ends before the value is
 * deleted.
 */
CUresult storage_put(CUcontext ctx, void *key, void *value, storage_end_fn end);
CUresult storage_delete(CUcontext ctx, void *key);
CUresult storage_get(void **value, CUcontext ctx, void *key);

/*
 * check.c: what shows a runtime that the driver is one that it knows. Weak: without that file there
 * is no such table.
 */
__attribute__((weak)) CUresult check_answer(unsigned int version, uint64_t time, uint8_t out[16]);

/* tools.c: a table that is refused. It prints that a tool sees nothing, where only a tool asks. */
void tools_want(const CUuuid *id);

/*
 * code_cache.c: compiled code that NVRTC and nvJitLink keep. code_cache_open(): a key. @kind: 1: it
 * is made into a cubin, 2: into PTX. @data: the program, as LLVM's bitcode. @options: the
 * compiler's. @host, @build: texts of the compiler's build. @arch: 90: sm_90. code_cache_find():
 * the code, which code_cache_free() frees, or CUDA_ERROR_NOT_FOUND. code_cache_keep(): errors are
 * nobody's.
 */
struct code_entry;
CUresult code_cache_open(struct code_entry **out, unsigned int kind, const void *data, size_t bytes,
			 const char *options, const char *host, const char *build,
			 unsigned int arch);
CUresult code_cache_close(struct code_entry *e);
CUresult code_cache_find(struct code_entry *e, unsigned int flags, void **code, uint32_t *bytes);
CUresult code_cache_keep(const struct code_entry *e, unsigned int flags, const void *code,
			 uint32_t bytes);
CUresult code_cache_free(void *code);

/* The rest: slots.c. */
CUresult module_load(CUmodule *module, const void *const *wrapper);
CUresult module_forget(const void *wrapper);
/* @call gets @arg and each function of the module. */
CUresult module_functions(CUcontext ctx, CUmodule module,
			  void (*call)(void *arg, CUfunction function, void *zero), void *arg);
CUresult current_get(CUcontext *ctx);
/* which calls a tool wants to hear of: none */
void tool_calls(void **flags, size_t *bytes);
void tool_events(void **flags, size_t *bytes);
CUresult context_flags(CUcontext ctx, unsigned int *flags, void **unused);
CUresult no_flags(void);
CUresult context_number(CUcontext ctx, unsigned int *number);
CUresult stream_object(CUcontext ctx, CUstream stream, void **object);
CUresult stream_number(CUcontext ctx, const void *object, unsigned int *number);
/*
 * Where each TPC is: a byte for each in two arrays, which places_free() frees. cublasLt uses them
 * to choose among kernels.
 */
CUresult places_make(uint8_t **gpc, uint8_t **number);
CUresult places_free(uint8_t *gpc, uint8_t *number);

#endif
