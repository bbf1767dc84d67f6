/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API as far as it is implemented, with the binary interface of CUDA 11.8 and declarations of our own.
 * selftests/cuda/abi.sh compares sizes, offsets, values and prototypes with the toolkit's cuda.h where that is present: it
 * includes that file first, and then takes only the prototypes from here.
 *
 * Numbers that an application passes in are plain defines here, so that a value we do not know stays a value.
 */
#ifndef KVGPU_CUDA_API_H
#define KVGPU_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef __cuda_cuda_h__
typedef enum cudaError_enum {
#define ERROR(name, number, text) name = number,
#include "errors.inc"
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUuuid_st { char bytes[16]; } CUuuid;
typedef uint64_t cuuint64_t;

#define CU_STREAM_LEGACY	((CUstream)0x1)
#define CU_STREAM_PER_THREAD	((CUstream)0x2)

typedef struct CUdevprop_st {
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
	int sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
} CUdevprop;

typedef enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED } CUmemorytype;

typedef struct CUDA_MEMCPY2D_st {
	size_t srcXInBytes, srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef enum {
	CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
	CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
} CUlimit;
typedef enum {
	CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_PTX_VERSION,
	CU_FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
} CUfunction_attribute;
typedef enum { CU_FUNC_CACHE_PREFER_NONE, CU_FUNC_CACHE_PREFER_SHARED, CU_FUNC_CACHE_PREFER_L1, CU_FUNC_CACHE_PREFER_EQUAL }
	CUfunc_cache;
typedef enum { CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE,
	       CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE } CUsharedconfig;
typedef enum { CU_JIT_INFO_LOG_BUFFER = 3, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
	       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES } CUjit_option;
/* values as numbers: attributes.c has them all */
typedef int CUdevice_attribute;

#define CU_CTX_SCHED_MASK		0x07
#define CU_CTX_MAP_HOST			0x08
#define CU_CTX_LMEM_RESIZE_TO_MAX	0x10
#define CU_CTX_FLAGS_MASK		0x1f
#define CU_STREAM_NON_BLOCKING		0x1
#define CU_EVENT_BLOCKING_SYNC		0x1
#define CU_EVENT_DISABLE_TIMING		0x2
#define CU_EVENT_INTERPROCESS		0x4
#define CU_MEMHOSTALLOC_PORTABLE	0x01
#define CU_MEMHOSTALLOC_DEVICEMAP	0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED	0x04
#define CU_LAUNCH_PARAM_END		((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER	((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE	((void *)0x02)
#define CU_GET_PROC_ADDRESS_LEGACY_STREAM		0x1
#define CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM	0x2
#endif

#define API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* errors.c */
API CUresult cuGetErrorName(CUresult error, const char **name);
API CUresult cuGetErrorString(CUresult error, const char **text);

/* init.c */
API CUresult cuInit(unsigned int flags);
API CUresult cuDriverGetVersion(int *version);

/* procaddress.c */
API CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);

/* device.c, attributes.c */
API CUresult cuDeviceGet(CUdevice *device, int ordinal);
API CUresult cuDeviceGetCount(int *count);
API CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);
API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev);
API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev);
API CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev);
API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev);
API CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id);
API CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev);
API CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer);

/* context.c, primary.c */
API CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
API CUresult cuCtxDestroy_v2(CUcontext ctx);
API CUresult cuCtxPushCurrent_v2(CUcontext ctx);
API CUresult cuCtxPopCurrent_v2(CUcontext *ctx);
API CUresult cuCtxSetCurrent(CUcontext ctx);
API CUresult cuCtxGetCurrent(CUcontext *ctx);
API CUresult cuCtxGetDevice(CUdevice *dev);
API CUresult cuCtxGetFlags(unsigned int *flags);
API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);
API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
API CUresult cuCtxSynchronize(void);
API CUresult cuCtxSetLimit(CUlimit limit, size_t value);
API CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
API CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
API CUresult cuCtxSetCacheConfig(CUfunc_cache config);
API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config);
API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
API CUresult cuCtxDisablePeerAccess(CUcontext peer);
API CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev);

/* module.c, function.c */
API CUresult cuModuleLoad(CUmodule *module, const char *file);
API CUresult cuModuleLoadData(CUmodule *module, const void *image);
API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values);
API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
API CUresult cuModuleUnload(CUmodule module);
API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name);
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function);
API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);
API CUresult cuFuncGetModule(CUmodule *module, CUfunction function);
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t dynamic);
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
								  size_t dynamic, unsigned int flags);

/* launch.c */
#define LAUNCH_ARGS CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, \
	unsigned int bz, unsigned int shared, CUstream stream, void **params
API CUresult cuLaunchKernel(LAUNCH_ARGS, void **extra);
API CUresult cuLaunchKernel_ptsz(LAUNCH_ARGS, void **extra);

/* memory.c, host.c */
API CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
API CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes);
API CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned int element);
API CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags);
API CUresult cuMemFree_v2(CUdeviceptr ptr);
API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr);
API CUresult cuMemAllocHost_v2(void **ptr, size_t bytes);
API CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags);
API CUresult cuMemFreeHost(void *ptr);
API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host, unsigned int flags);
API CUresult cuMemHostGetFlags(unsigned int *flags, void *host);
API CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags);
API CUresult cuMemHostUnregister(void *ptr);

/* copy.c: those with a stream or without, and where stream 0 is the thread's own */
#define BOTH_SYNC(name, ...)	API CUresult name(__VA_ARGS__); API CUresult name##_ptds(__VA_ARGS__);
#define BOTH_ASYNC(name, ...)	API CUresult name(__VA_ARGS__, CUstream stream); \
				API CUresult name##_ptsz(__VA_ARGS__, CUstream stream);
BOTH_SYNC(cuMemcpy, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpyHtoD_v2, CUdeviceptr dst, const void *src, size_t bytes)
BOTH_SYNC(cuMemcpyDtoH_v2, void *dst, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpyDtoD_v2, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpy2D_v2, const CUDA_MEMCPY2D *copy)
BOTH_SYNC(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D *copy)
BOTH_ASYNC(cuMemcpyAsync, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr dst, const void *src, size_t bytes)
BOTH_ASYNC(cuMemcpyDtoHAsync_v2, void *dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *copy)

/* memset.c */
BOTH_SYNC(cuMemsetD8_v2, CUdeviceptr dst, unsigned char value, size_t n)
BOTH_SYNC(cuMemsetD16_v2, CUdeviceptr dst, unsigned short value, size_t n)
BOTH_SYNC(cuMemsetD32_v2, CUdeviceptr dst, unsigned int value, size_t n)
BOTH_SYNC(cuMemsetD2D8_v2, CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height)
BOTH_SYNC(cuMemsetD2D16_v2, CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height)
BOTH_SYNC(cuMemsetD2D32_v2, CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height)
BOTH_ASYNC(cuMemsetD8Async, CUdeviceptr dst, unsigned char value, size_t n)
BOTH_ASYNC(cuMemsetD16Async, CUdeviceptr dst, unsigned short value, size_t n)
BOTH_ASYNC(cuMemsetD32Async, CUdeviceptr dst, unsigned int value, size_t n)
BOTH_ASYNC(cuMemsetD2D8Async, CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height)
BOTH_ASYNC(cuMemsetD2D16Async, CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height)
BOTH_ASYNC(cuMemsetD2D32Async, CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height)

/* stream.c */
API CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
API CUresult cuStreamDestroy_v2(CUstream stream);
API CUresult cuStreamSynchronize(CUstream stream);
API CUresult cuStreamSynchronize_ptsz(CUstream stream);
API CUresult cuStreamQuery(CUstream stream);
API CUresult cuStreamQuery_ptsz(CUstream stream);
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
API CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags);
API CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags);
API CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags);
API CUresult cuStreamGetPriority(CUstream stream, int *priority);
API CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority);
API CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx);
API CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *ctx);

/* event.c */
API CUresult cuEventCreate(CUevent *event, unsigned int flags);
API CUresult cuEventRecord(CUevent event, CUstream stream);
API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
API CUresult cuEventQuery(CUevent event);
API CUresult cuEventSynchronize(CUevent event);
API CUresult cuEventDestroy_v2(CUevent event);
API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);

#ifdef __cplusplus
}
#endif

#endif
