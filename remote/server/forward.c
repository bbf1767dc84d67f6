// SPDX-License-Identifier: MIT
/*
 * Calls of cuBLAS and cuRAND, carried out by the real libraries. The library is told the stream,
 * and where scalars lie, when that changes.
 *
 * A device address from the client goes to the library if libcuda knows it, or it is NULL. Else the
 * address could be this process's memory.
 */
#include "server.h"

/* ------------------------------------------------------------------ statuses */

/* the CUDA error that a later call returns for the @status of an async call */
static CUresult told_later(unsigned int class, int status)
{
	if (class == CLASS_BLAS)
		switch (status) {
		case BLAS_NOT_INITIALIZED:
			return CUDA_ERROR_INVALID_HANDLE;
		case BLAS_ALLOC_FAILED:
			return CUDA_ERROR_OUT_OF_MEMORY;
		case BLAS_INVALID_VALUE:
			return CUDA_ERROR_INVALID_VALUE;
		case BLAS_NOT_SUPPORTED:
			return CUDA_ERROR_NOT_SUPPORTED;
		default:
			return CUDA_ERROR_LAUNCH_FAILED;
		}
	switch (status) {
	case RAND_NOT_INITIALIZED:
		return CUDA_ERROR_INVALID_HANDLE;
	case RAND_ALLOCATION_FAILED:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case RAND_LAUNCH_FAILURE:
		return CUDA_ERROR_LAUNCH_FAILED;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult forward_status(const struct server *s, unsigned int class, int status)
{
	if (!status)
		return CUDA_SUCCESS;
	if (!s->frame.head.completion)
		return told_later(class, status);
	return (CUresult)(KVGPU_REMOTE_STATUS + (status & 0xffff));
}

/* ------------------------------------------------------------------ handles */

struct forwarded *forward_row(struct server *s, uint64_t id)
{
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++)
		if (s->forward.rows[i].id == id)
			return &s->forward.rows[i];
	return NULL;
}

static int set_stream(struct server *s, struct forwarded *f, CUstream stream)
{
	return KVGPU_REMOTE_CLASS(f->id) == CLASS_BLAS ?
		       s->forward.library->cublasSetStream_v2(f->what, stream) :
		       s->forward.library->curandSetStream(f->what, stream);
}

/*
 * a library's handle belongs to the context in which it was made: a call in another one is an error
 */
CUresult forward_enter(struct server *s, unsigned int class, uint64_t id, uint64_t stream,
		       struct forwarded **row)
{
	struct forwarded *f = KVGPU_REMOTE_CLASS(id) == class ? forward_row(s, id) : NULL;
	CUstream there;
	CUresult r;

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!s->current || parent_of(s, id) != s->current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!stream_find(s, stream, &there) || (there && parent_of(s, stream) != s->current))
		return CUDA_ERROR_INVALID_VALUE;
	stream = there ? stream : 0;
	if (f->stream != stream) {
		r = forward_status(s, class, set_stream(s, f, there));
		if (r)
			return r;
		f->stream = stream;
	}
	*row = f;
	return CUDA_SUCCESS;
}

CUresult forward_mode(struct server *s, struct forwarded *f, bool on_device)
{
	int mode = on_device ? BLAS_POINTER_MODE_DEVICE : BLAS_POINTER_MODE_HOST, status;
	CUresult r;

	if (f->on_device == on_device)
		return CUDA_SUCCESS;
	status = s->forward.library->cublasSetPointerMode_v2(f->what, mode);
	r = forward_status(s, CLASS_BLAS, status);
	if (!r)
		f->on_device = on_device;
	return r;
}

bool forward_device(struct server *s, uint64_t ptr)
{
	const CUpointer_attribute memory_type = 2;
	uint64_t type = 0; /* a later library may write more than 4 bytes */

	return !ptr || (!CALL(s, cuPointerGetAttribute, &type, memory_type, ptr) && type);
}

const void *forward_scalar(const void *field, uint32_t flags)
{
	uint64_t address;

	if (!(flags & FORWARD_ON_DEVICE))
		return field;
	memcpy(&address, field, sizeof(address));
	return (const void *)(uintptr_t)address;
}

void forward_forget(struct server *s, uint64_t id)
{
	struct forwarded *f = forward_row(s, id);

	if (f)
		*f = (struct forwarded){ 0 };
}

void forward_leave_stream(struct server *s, uint64_t id)
{
	uint64_t current = s->current;
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++) {
		struct forwarded *f = &s->forward.rows[i];

		if (!f->id || f->stream != id)
			continue;
		if (!enter_context(s, parent_of(s, f->id)))
			set_stream(s, f, NULL);
		f->stream = 0;
	}
	if (s->current != current)
		enter_context(s, current);
}

/* ------------------------------------------------------------------ scalars that come back */

/*
 * A scalar for the program's memory: the GPU writes it into memory of the server's own
 * (small_take()), and the answer follows the stream's work. Without such memory the frame is put
 * aside until the stream is idle; then the library waits for the call's own work.
 */
CUresult forward_result(struct server *s, struct forwarded *f, uint32_t flags, uint64_t address,
			size_t bytes, struct kvgpu_remote_reply *out, struct forward_result *to)
{
	CUdeviceptr device;
	CUstream stream;
	CUresult r;

	*to = (struct forward_result){ .bytes = bytes,
				       .here = kvgpu_remote_put(out, sizeof(uint64_t)) };
	if (!to->here)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (flags & FORWARD_ON_DEVICE) {
		to->at = (void *)(uintptr_t)address;
		return forward_device(s, address) ? forward_mode(s, f, true) :
						    CUDA_ERROR_INVALID_VALUE;
	}
	if (!stream_find(s, f->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = may_copy(s, stream);
	if (r)
		return r;
	to->small = small_take(s);
	if (to->small && CALL(s, cuMemHostGetDevicePointer_v2, &device, to->small, 0)) {
		small_put(s, to->small);
		to->small = NULL;
	}
	if (to->small) {
		to->at = (void *)(uintptr_t)device;
		r = forward_mode(s, f, true);
		if (r)
			small_put(s, to->small);
		return r;
	}
	if (held_by_stream(s, stream))
		return CUDA_SUCCESS;
	to->at = to->here;
	return forward_mode(s, f, false);
}

CUresult forward_answer(struct server *s, struct forwarded *f, struct forward_result *to,
			CUresult r)
{
	CUstream stream;

	if (!to->small)
		return r;
	if (!r && !stream_find(s, f->stream, &stream))
		r = CUDA_ERROR_INVALID_HANDLE;
	if (!r && answer_behind(s, stream, to->small, to->bytes, 0))
		return CUDA_SUCCESS;
	if (!r)
		r = wait_for_stream(s, stream);
	if (!r)
		memcpy(to->here, to->small, to->bytes);
	small_put(s, to->small);
	return r;
}
