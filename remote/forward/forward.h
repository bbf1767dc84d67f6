/* SPDX-License-Identifier: MIT */
/*
 * Between the client's libcuda.so.1, which has the connection, and the libraries beside it whose
 * calls use it, too: libcublas.so.11 and libcurand.so.10. A library with another
 * KVGPU_REMOTE_VERSION gets NULL from kvgpu_remote_forwards(): the libcuda.so.1 of package
 * kvgpu-run may be of another build than the two libraries, which package kvgpu-remote-client has.
 * A change of this text changes KVGPU_REMOTE_VERSION (remote/README.md).
 */
#ifndef KVGPU_REMOTE_FORWARD_H
#define KVGPU_REMOTE_FORWARD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cuda/driver/types.h>

/*
 * The client's state of a handle, in memory of libcuda.so.1 until ended(). blas.c and rand.c change
 * it without a lock: the program makes the calls that change a handle one at a time.
 */
struct forward_state {
	CUstream stream;
	int mode; /* BLAS_POINTER_MODE_... */
	int type; /* of a cuRAND generator */
};

/* Any thread of the program calls these. find(), async() and sync() may wait for an answer. */
struct forward_calls {
	/*
	 * enter(): check what each call needs. find(): the server's number of a handle, and that of
	 * its stream. *@own: the handle is of the thread's current context.
	 * CUDA_ERROR_INVALID_HANDLE: it is no handle of that class at the server of the thread's
	 * context. CUDA_ERROR_INVALID_VALUE: its stream is invalid by now, or another server's;
	 * *@id is set.
	 */
	CUresult (*enter)(void);
	CUresult (*find)(unsigned int class, const void *handle, uint64_t *id, uint64_t *stream,
			 bool *own);
	/* NULL: @handle is no handle of that class */
	struct forward_state *(*state)(unsigned int class, const void *handle);
	/* send a frame without an answer: a later call of CUDA's returns its error */
	CUresult (*async)(uint16_t op, const void *q, size_t n);
	/* copies the answer's first @bytes to @answer, which is NULL if there are none */
	CUresult (*sync)(uint16_t op, const void *q, size_t n, void *answer, size_t bytes);
	/* make a handle for the server's number @id; NULL: an error */
	void *(*made)(unsigned int class, uint64_t id);
	/* the server has destroyed the handle: free its state */
	void (*ended)(void *handle, uint64_t id);
	/* print a line on standard error */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* in the client's libcuda.so.1; weak, so that it is NULL with the vendor's libcuda.so.1 */
const struct forward_calls *kvgpu_remote_forwards(uint64_t version)
	__attribute__((weak, visibility("default")));

/*
 * Return the calls, with a context current. Without one, ask the program's CUDA runtime library to
 * make one: hold no lock. NULL: *@r is the error.
 */
const struct forward_calls *forward_begin(const char *library, CUresult *r);

#endif
