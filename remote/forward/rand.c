// SPDX-License-Identifier: MIT
/*
 * libcurand.so.10 of a program whose GPU is elsewhere: generators. The other calls are made of
 * lines of remote/frames.def.
 */
#include <remote/forward/curand.h>

/* of the thread's present call: whether its generator is of the current context */
static __thread bool own;
static __thread const struct forward_calls *calls;

static curandStatus_t status_of(CUresult r)
{
	if ((unsigned int)r >= KVGPU_REMOTE_STATUS)
		return r - KVGPU_REMOTE_STATUS;
	switch (r) {
	case CUDA_SUCCESS:
		return RAND_SUCCESS;
	case CUDA_ERROR_INVALID_VALUE:
		return RAND_INVALID_VALUE;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return RAND_ALLOCATION_FAILED;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_INVALID_CONTEXT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_INVALID_HANDLE:
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return RAND_NOT_INITIALIZED;
	case CUDA_ERROR_NOT_SUPPORTED:
		return RAND_INTERNAL_ERROR;
	default:
		return RAND_LAUNCH_FAILURE;
	}
}

static curandStatus_t rand_begin(void)
{
	CUresult r;

	calls = forward_begin("libcurand", &r);
	return calls ? RAND_SUCCESS : status_of(r);
}

curandStatus_t rand_enter(curandGenerator_t generator, uint64_t *id, uint64_t *stream,
			  uint32_t *flags)
{
	curandStatus_t status = rand_begin();

	*flags = 0;
	return status ? status : status_of(calls->find(CLASS_RAND, generator, id, stream, &own));
}

curandStatus_t rand_send(uint16_t op, const void *q, size_t n, bool fine)
{
	return status_of(fine && own ? calls->async(op, q, n) : calls->sync(op, q, n, NULL, 0));
}

bool pseudo(curandGenerator_t generator)
{
	const struct forward_state *state = calls->state(CLASS_RAND, generator);

	return state && state->type < RAND_FIRST_QUASI;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
	struct q_rand_create q = { .type = type };
	struct forward_state *state;
	struct a_rand_create a;
	curandStatus_t status;
	CUresult r;

	if (!generator)
		return RAND_INVALID_VALUE;
	*generator = NULL;
	status = rand_begin();
	if (status)
		return status;
	r = calls->sync(OP_rand_create, &q, sizeof(q), &a, sizeof(a));
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		calls->say("the server has no libcurand; its log says what it looked for");
	if (r)
		return r == CUDA_ERROR_NOT_SUPPORTED ? RAND_INITIALIZATION_FAILED : status_of(r);
	*generator = calls->made(CLASS_RAND, a.rand);
	state = *generator ? calls->state(CLASS_RAND, *generator) : NULL;
	if (!state)
		return RAND_ALLOCATION_FAILED;
	state->type = type;
	return RAND_SUCCESS;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
	struct q_rand_destroy q;
	uint64_t stream;
	uint32_t flags;
	curandStatus_t status = rand_enter(generator, &q.rand, &stream, &flags);

	/* a generator whose stream is gone can be destroyed, too */
	if (status && status != RAND_INVALID_VALUE)
		return status;
	status = status_of(calls->sync(OP_rand_destroy, &q, sizeof(q), NULL, 0));
	if (!status)
		calls->ended(generator, q.rand);
	return status;
}

curandStatus_t curandSetStream(curandGenerator_t generator, CUstream stream)
{
	curandStatus_t status = rand_begin();
	struct forward_state *state = status ? NULL : calls->state(CLASS_RAND, generator);
	CUstream before;
	uint64_t ids[2];
	CUresult r;

	if (!state)
		return RAND_NOT_INITIALIZED;
	before = state->stream;
	state->stream = stream;
	r = calls->find(CLASS_RAND, generator, &ids[0], &ids[1], &own);
	if (r)
		state->stream = before;
	return status_of(r);
}

curandStatus_t curandGetVersion(int *version)
{
	struct a_rand_version a;
	curandStatus_t status;

	if (!version)
		return RAND_INVALID_VALUE;
	status = rand_begin();
	if (!status)
		status = status_of(calls->sync(OP_rand_version, NULL, 0, &a, sizeof(a)));
	if (!status)
		*version = a.version;
	return status;
}
