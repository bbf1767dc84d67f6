// SPDX-License-Identifier: MIT
/* How many blocks of a kernel an SM holds, and which block size fills it best. */
#include "driver.h"

/* compute capability 3.5, CUDA C programming guide */
enum {
	SM_THREADS = 2048,
	SM_BLOCKS = 16,
	SM_REGS = 65536,
	REG_UNIT = 256,
	SHARED_UNIT = 256,
	WARP = 32,
	MAX_THREADS = 1024,
	WARP_UNIT = 4
};

static int regs_of_warp(const struct image_kernel *k)
{
	return (k->regs * WARP + REG_UNIT - 1) / REG_UNIT * REG_UNIT;
}

int kernel_max_threads(const struct image_kernel *k)
{
	int warps = k->regs ? SM_REGS / regs_of_warp(k) / WARP_UNIT * WARP_UNIT :
			      MAX_THREADS / WARP;
	int threads = warps * WARP < MAX_THREADS ? warps * WARP : MAX_THREADS;

	return k->max_threads && k->max_threads < (uint32_t)threads ? (int)k->max_threads : threads;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

/* 0: such a block can't run at all. */
static int blocks_without_shared(const struct image_kernel *k, int threads)
{
	int warps = (threads + WARP - 1) / WARP, n = min_int(SM_BLOCKS, SM_THREADS / WARP / warps);

	if (threads > kernel_max_threads(k))
		return 0;
	return k->regs ? min_int(n, SM_REGS / regs_of_warp(k) / WARP_UNIT * WARP_UNIT / warps) : n;
}

static int blocks_of(const struct image_kernel *k, int threads, size_t dynamic)
{
	size_t shared = dynamic > SM_SHARED ? SM_SHARED + 1 :
					      (k->shared + dynamic + SHARED_UNIT - 1) &
						      ~(size_t)(SHARED_UNIT - 1);
	int n = blocks_without_shared(k, threads);

	return shared ? min_int(n, SM_SHARED / shared) : n;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f,
							      int threads, size_t dynamic,
							      unsigned int flags)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!blocks || threads <= 0 || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*blocks = blocks_of(f->kernel, threads, dynamic);
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads,
						     size_t dynamic)
{
	return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, dynamic, 0);
}

/* *dynamic: the dynamic shared memory that each of @blocks blocks on an SM can have */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction f, int blocks,
						 int threads)
{
	CUresult r = driver_ready();
	size_t each;

	if (r)
		return r;
	if (!dynamic || blocks <= 0 || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if (blocks > blocks_without_shared(f->kernel, threads))
		return CUDA_ERROR_INVALID_VALUE;
	each = SM_SHARED / blocks & ~(SHARED_UNIT - 1);
	*dynamic = each > f->kernel->shared ? each - f->kernel->shared : 0;
	return CUDA_SUCCESS;
}

/*
 * Choose the block with the most threads on an SM; of equal ones the larger. @dynamic_of is a
 * function of the application.
 */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
						   CUoccupancyB2DSize dynamic_of, size_t dynamic,
						   int limit, unsigned int flags)
{
	int most = 0, threads, blocks, device_smx = 0;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!grid || !block || limit < 0 || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	device_smx = driver_device(f->module->ctx->dev)->nr_smx;
	threads = kernel_max_threads(f->kernel);
	threads = limit && limit < threads ? limit : threads;
	*grid = *block = 0;
	for (; threads > 0; threads = (threads - 1) / WARP * WARP) {
		blocks = blocks_of(f->kernel, threads, dynamic_of ? dynamic_of(threads) : dynamic);
		if (blocks * threads <= most)
			continue;
		most = blocks * threads;
		*block = threads;
		*grid = blocks * device_smx;
	}
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
					  CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit)
{
	return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, dynamic_of, dynamic, limit,
							 0);
}
