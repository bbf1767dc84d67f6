/* SPDX-License-Identifier: MIT */
/*
 * Between the client's libcuda.so.1, which has the connection, and the libraries beside it whose
 * calls go the same way: libcublas.so.11 and libcurand.so.10. All of them are of one build;
 * kvgpu_remote_forwards() gives NULL to one of another.
 */
#ifndef KVGPU_REMOTE_FORWARD_H
#define KVGPU_REMOTE_FORWARD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cuda/driver/types.h>

/* What the client keeps of a handle. */
struct forward_state {
	CUstream stream;
	int mode;		/* BLAS_POINTER_MODE_ */
	int type;		/* of a generator */
};

struct forward_calls {
	/*
	 * What is true before any call. Then, of a handle: the server's number, that of its stream,
	 * and *@own: it is of the thread's current context, so that nothing speaks against it.
	 * CUDA_ERROR_INVALID_HANDLE: it is none of that class.
	 * CUDA_ERROR_INVALID_VALUE: its stream is none any more, and *@id was found.
	 */
	CUresult (*enter)(void);
	CUresult (*find)(unsigned int class, const void *handle, uint64_t *id, uint64_t *stream,
			 bool *own);
	struct forward_state *(*state)(unsigned int class, const void *handle);
	CUresult (*queue)(uint16_t op, const void *q, size_t n);
	/* the answer's first @bytes come to @answer; NULL: it has none */
	CUresult (*ask)(uint16_t op, const void *q, size_t n, void *answer, size_t bytes);
	/* NULL: there is no memory */
	void *(*made)(unsigned int class, uint64_t id);
	void (*ended)(void *handle);
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* of the client's libcuda.so.1 alone; weak, so that one of the vendor's is told from it */
const struct forward_calls *kvgpu_remote_forwards(uint64_t version)
	__attribute__((weak, visibility("default")));

/*
 * The calls, where a context is current; the runtime library of the program is asked for one where
 * there is none, as NVIDIA's libraries do by their own. NULL: *@r says why.
 */
const struct forward_calls *forward_begin(const char *library, CUresult *r);

#endif
