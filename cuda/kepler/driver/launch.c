// SPDX-License-Identifier: MIT
/* cuLaunchKernel(): what the device gets. kernel.c has the limits, and the parameters. */
#include <stdio.h>
#include <string.h>

#include "../../api/libraries.h"
#include "driver.h"

enum { LOCAL_UNIT = 16, CRS_UNIT = 512 };

/*
 * Write handles and descriptors of references to bank 0, as they are bound now; the image reader
 * has checked the offsets. An unbound reference is no error: the kernel may not use it.
 */
static CUresult references(CUcontext ctx, CUfunction f, uint8_t *const0)
{
	unsigned int i;
	uint32_t handle;
	CUresult r;

	for (i = 0; i < f->nr_refs; i++) {
		const struct ref_use *u = &f->refs[i];

		if (f->module->image.refs[u->ref].surface) {
			memcpy(const0 + u->offset, f->module->surfrefs[u->ref].words,
			       IMAGE_SURFACE_BYTES);
			continue;
		}
		r = texref_handle(ctx, &f->module->texrefs[u->ref], &handle);
		if (r)
			return r;
		memcpy(const0 + u->offset, &handle, sizeof(handle));
	}
	return CUDA_SUCCESS;
}

static uint32_t round_up(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/*
 * A thread's stack, with its callees'. If the compiler can't know the size, it is at least that of
 * cuCtxSetLimit().
 */
static uint32_t stack_bytes(CUcontext ctx, const struct image_kernel *k)
{
	uint32_t n = k->stack;

	if (k->stack_unknown && n < ctx->limit[CU_LIMIT_STACK_SIZE])
		n = ctx->limit[CU_LIMIT_STACK_SIZE];
	return round_up(n + k->callee_stack, LOCAL_UNIT);
}

static uint32_t l1_kb(CUcontext ctx, CUfunction f)
{
	switch (f->cache_set ? f->cache : ctx->cache) {
	case CU_FUNC_CACHE_PREFER_L1:
		return 16;
	case CU_FUNC_CACHE_PREFER_EQUAL:
		return 32;
	case CU_FUNC_CACHE_PREFER_NONE:
	case CU_FUNC_CACHE_PREFER_SHARED:
		break;
	}
	return 48;
}

static void describe(CUcontext ctx, const struct kernel_request *q, struct device_launch *l)
{
	CUfunction f = q->f;
	const struct image_kernel *k = f->kernel;

	memcpy(l->grid, q->grid, sizeof(l->grid));
	memcpy(l->block, q->block, sizeof(l->block));
	l->code = f->module->code->va;
	l->entry = k->code;
	l->new_code = !f->launched;
	l->regs = k->regs;
	l->barriers = k->barriers;
	l->shared = k->shared + q->dynamic;
	l->stack = stack_bytes(ctx, k);
	l->local = round_up(k->local, LOCAL_UNIT);
	l->crs = round_up(k->crs + k->callee_crs, CRS_UNIT);
	l->l1_kb = l1_kb(ctx, f);
	l->banks_of_8 = (f->banks_set ? f->banks : ctx->banks) ==
			CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
	if (k->const2_size) {
		l->bank[2].va = f->module->constants->va + f->const2_at;
		l->bank[2].size = k->const2_size;
	}
	if (f->module->image.const3_size) {
		l->bank[3].va = f->module->constants->va;
		l->bank[3].size = f->module->image.const3_size;
	}
}

/* offsets in bank 0, where nvcc's code looks for these */
enum {
	CONST0_GRID_ID = 0xdc,
	CONST0_CONSTANTS = 0xf0,
	CONST0_DYNAMIC = 0x114,
	CONST0_PARAMETERS = 0x140
};

static void launch_words(CUcontext ctx, const struct kernel_request *q, uint8_t *const0,
			 uint32_t size)
{
	uint64_t id = ++ctx->grid_id;

	if (size < CONST0_PARAMETERS)
		return;
	memcpy(const0 + CONST0_GRID_ID, &id, sizeof(id));
	/* the address of __constant__ variables */
	if (q->f->module->image.const3_size)
		memcpy(const0 + CONST0_CONSTANTS, &q->f->module->constants->va, sizeof(uint64_t));
	memcpy(const0 + CONST0_DYNAMIC, &q->dynamic, sizeof(q->dynamic));
}

CUresult kernel_launch(CUcontext ctx, const struct kernel_request *q, CUstream s)
{
	uint8_t const0[DEVICE_CONST0_MAX];
	struct device_launch l = { .const0 = const0, .const0_size = q->f->kernel->const0_size };
	struct moment after;
	uint64_t seq;
	CUresult r = kernel_check(q);

	if (r)
		return r;
	if (l.const0_size > sizeof(const0))
		return CUDA_ERROR_INVALID_IMAGE;
	memcpy(const0, q->f->const0, l.const0_size);
	r = kernel_arguments(q, const0 + q->f->kernel->param_base);
	if (!r)
		r = references(ctx, q->f, const0);
	if (r)
		return r;
	launch_words(ctx, q, const0, l.const0_size);
	describe(ctx, q, &l);
	textures_launch(ctx, &l);
	if (q->f->module->image.syscalls)
		messages_launch(ctx, q->f->kernel, const0);
	after = stream_begin(s);
	r = ctx_set_sticky(ctx, error_of(ctx->device->ops->launch(ctx->device, &after, &l, &seq)));
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (!r) {
		q->f->launched = true;
		stream_add(s, QUEUE_COMPUTE, seq);
	}
	return r;
}

/* if *f is a kernel of a library: its function in the context of @stream */
static CUresult function_in(CUfunction *f, CUstream stream)
{
	CUcontext ctx;
	CUstream s;
	CUresult r;

	if (!is_kernel(*f))
		return CUDA_SUCCESS;
	r = ctx_enter_stream(stream, &ctx, &s);
	if (r)
		return r;
	ctx_leave(ctx);
	return library_function(f, ctx);
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra)
{
	struct kernel_request q = { .f = f,
				    .grid = { gx, gy, gz },
				    .block = { bx, by, bz },
				    .dynamic = shared,
				    .params = params,
				    .extra = extra };
	CUcontext ctx;
	CUstream s;
	CUresult r = function_in(&q.f, stream);

	if (!r)
		r = ctx_enter_work(stream, &ctx, &s);
	if (r)
		return r;
	f = q.f;
	if (!f || f->magic != MAGIC_FUNCTION || f->module->ctx != ctx)
		r = CUDA_ERROR_INVALID_HANDLE;
	else if (s->capture)
		r = capture_kernel(s, &q);
	else
		r = kernel_launch(ctx, &q, s);
	ctx_leave(ctx);
	return r;
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			     CUstream stream, void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared,
			      stream ? stream : CU_STREAM_PER_THREAD, params, extra);
}

/* sm_35 has none. Says so once: a program that asks the device first does not come here. */
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				   unsigned int bx, unsigned int by, unsigned int bz,
				   unsigned int shared, CUstream stream, void **params)
{
	static bool told;
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	ctx_leave(ctx);
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: cooperative launches (grid.sync()) want a GPU of sm_60 or later, and this one is sm_35\n");
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy,
					unsigned int gz, unsigned int bx, unsigned int by,
					unsigned int bz, unsigned int shared, CUstream stream,
					void **params)
{
	return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params);
}

/* Accepted are attributes that ask for what a launch does anyway, and hints. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	enum { IGNORE = 0, ACCESS_POLICY_WINDOW = 1, SYNCHRONIZATION_POLICY = 3, PRIORITY = 8 };
	unsigned int i;

	if (!c || (c->numAttrs && !c->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < c->numAttrs; i++) {
		int id = c->attrs[i].id;

		if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && !c->attrs[i].value.cooperative)
			continue;
		if (id != IGNORE && id != ACCESS_POLICY_WINDOW && id != SYNCHRONIZATION_POLICY &&
		    id != PRIORITY)
			return CUDA_ERROR_NOT_SUPPORTED;
	}
	return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
			      c->blockDimZ, c->sharedMemBytes, c->hStream, params, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	CUlaunchConfig own;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	own = *c;
	own.hStream = c->hStream ? c->hStream : CU_STREAM_PER_THREAD;
	return cuLaunchKernelEx(&own, f, params, extra);
}
