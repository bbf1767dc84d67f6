/* SPDX-License-Identifier: MIT */
/*
 * Types that only the prototypes of refused calls name: structs that nobody looks into, handles,
 * and numbers. What a call is written for moves to types.h, with its members and values.
 */
#ifndef KVGPU_CUDA_OPAQUE_H
#define KVGPU_CUDA_OPAQUE_H

#include <stddef.h>

#define OPAQUE(name) typedef struct name name;
OPAQUE(CUDA_ARRAY3D_DESCRIPTOR_v1)
OPAQUE(CUDA_ARRAY_DESCRIPTOR_v1)
OPAQUE(CUDA_BATCH_MEM_OP_NODE_PARAMS)
OPAQUE(CUDA_EXTERNAL_MEMORY_BUFFER_DESC)
OPAQUE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC)
OPAQUE(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC)
OPAQUE(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC)
OPAQUE(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)
OPAQUE(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)
OPAQUE(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
OPAQUE(CUDA_EXT_SEM_WAIT_NODE_PARAMS)
OPAQUE(CUDA_MEMCPY2D_v1)
OPAQUE(CUDA_MEMCPY3D_BATCH_OP)
OPAQUE(CUDA_MEMCPY3D_v1)
OPAQUE(CUDA_MEM_ALLOC_NODE_PARAMS)
OPAQUE(CUarrayMapInfo)
OPAQUE(CUasyncNotificationInfo)
OPAQUE(CUdevResource)
OPAQUE(CUexecAffinityParam)
OPAQUE(CUmemDecompressParams)
OPAQUE(CUmemPoolPtrExportData)
OPAQUE(CUmulticastObjectProp)
#undef OPAQUE

#define HANDLE(name) typedef struct name##_st *name;
HANDLE(CUasyncCallbackHandle)
HANDLE(CUdevResourceDesc)
HANDLE(CUexternalMemory)
HANDLE(CUexternalSemaphore)
HANDLE(CUgraphicsResource)
HANDLE(CUgreenCtx)
HANDLE(CUlogsCallbackHandle)
#undef HANDLE

typedef int CUatomicOperation, CUcoredumpSettings, CUdevResourceType, CUexecAffinityType,
	CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUlogLevel,
	CUmemRangeHandleType, CUmulticastGranularity_flags, CUtensorMapDataType,
	CUtensorMapFloatOOBfill, CUtensorMapIm2ColWideMode, CUtensorMapInterleave,
	CUtensorMapL2promotion, CUtensorMapSwizzle;
typedef unsigned int CUlogIterator;
typedef unsigned long long CUgraphConditionalHandle;
typedef void (*CUasyncCallback)(CUasyncNotificationInfo *info, void *data,
				CUasyncCallbackHandle callback);
typedef void (*CUlogsCallback)(void *data, CUlogLevel level, char *text, size_t size);

#endif
