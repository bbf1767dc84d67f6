/* SPDX-License-Identifier: MIT */
/* Types and values of the CUDA driver API; see api.h. */
#ifndef KVGPU_CUDA_TYPES_H
#define KVGPU_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "opaque.h"

typedef enum cudaError_enum {
#define ERROR(name, number, text) name = number,
#include "errors.inc"
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlibrary_st *CUlibrary;
typedef struct CUkernel_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUtexref_st *CUtexref;
typedef struct CUsurfref_st *CUsurfref;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUuserObject_st *CUuserObject;
typedef unsigned long long CUtexObject, CUsurfObject;
typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);
typedef void (*CUhostFn)(void *data);
typedef size_t (*CUoccupancyB2DSize)(int threads);

#define CU_STREAM_LEGACY     ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef struct CUdevprop_st {
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
	int sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate,
		textureAlign;
} CUdevprop;

typedef enum {
	CU_MEMORYTYPE_HOST = 1,
	CU_MEMORYTYPE_DEVICE,
	CU_MEMORYTYPE_ARRAY,
	CU_MEMORYTYPE_UNIFIED
} CUmemorytype;

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

typedef struct CUDA_MEMCPY3D_st {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct CUDA_MEMCPY3D_PEER_st {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	CUcontext srcContext;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	CUcontext dstContext;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

typedef enum {
	CU_AD_FORMAT_UNSIGNED_INT8 = 1,
	CU_AD_FORMAT_UNSIGNED_INT16,
	CU_AD_FORMAT_UNSIGNED_INT32,
	CU_AD_FORMAT_SIGNED_INT8 = 8,
	CU_AD_FORMAT_SIGNED_INT16,
	CU_AD_FORMAT_SIGNED_INT32,
	CU_AD_FORMAT_HALF = 0x10,
	CU_AD_FORMAT_FLOAT = 0x20,
} CUarray_format;

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
	size_t Width, Height;
	CUarray_format Format;
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
	size_t Width, Height, Depth;
	CUarray_format Format;
	unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct CUDA_ARRAY_MEMORY_REQUIREMENTS_st {
	size_t size, alignment;
	unsigned int reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;

typedef struct CUDA_ARRAY_SPARSE_PROPERTIES_st {
	struct {
		unsigned int width, height, depth;
	} tileExtent;
	unsigned int miptailFirstLevel;
	unsigned long long miptailSize;
	unsigned int flags, reserved[4];
} CUDA_ARRAY_SPARSE_PROPERTIES;

typedef enum {
	CU_TR_ADDRESS_MODE_WRAP,
	CU_TR_ADDRESS_MODE_CLAMP,
	CU_TR_ADDRESS_MODE_MIRROR,
	CU_TR_ADDRESS_MODE_BORDER
} CUaddress_mode;
typedef enum { CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR } CUfilter_mode;
/* how a tensor lies in memory, as the GPU reads it; programs align it as CUDA 12 does, or by 128 */
typedef struct CUtensorMap_st {
	cuuint64_t opaque[16];
} __attribute__((aligned(64))) CUtensorMap;

typedef enum {
	CU_RESOURCE_TYPE_ARRAY,
	CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
	CU_RESOURCE_TYPE_LINEAR,
	CU_RESOURCE_TYPE_PITCH2D
} CUresourcetype;

typedef struct CUDA_RESOURCE_DESC_st {
	CUresourcetype resType;
	union {
		struct {
			CUarray hArray;
		} array;
		struct {
			CUmipmappedArray hMipmappedArray;
		} mipmap;
		struct {
			CUdeviceptr devPtr;
			CUarray_format format;
			unsigned int numChannels;
			size_t sizeInBytes;
		} linear;
		struct {
			CUdeviceptr devPtr;
			CUarray_format format;
			unsigned int numChannels;
			size_t width, height, pitchInBytes;
		} pitch2D;
		struct {
			int reserved[32];
		} reserved;
	} res;
	unsigned int flags;
} CUDA_RESOURCE_DESC;

typedef struct CUDA_TEXTURE_DESC_st {
	CUaddress_mode addressMode[3];
	CUfilter_mode filterMode;
	unsigned int flags, maxAnisotropy;
	CUfilter_mode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
	int reserved[12];
} CUDA_TEXTURE_DESC;

/*
 * Formats: from 1 on UINT 1X8, 2X8, 4X8; SINT the same; both with 16 and with 32 bits; FLOAT with
 * 16 and 32 bits; then compressed formats.
 */
typedef enum {
	CU_RES_VIEW_FORMAT_NONE,
	CU_RES_VIEW_FORMAT_UINT_1X8,
	CU_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13,
	CU_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18
} CUresourceViewFormat;

typedef struct CUDA_RESOURCE_VIEW_DESC_st {
	CUresourceViewFormat format;
	size_t width, height, depth;
	unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

typedef struct CUDA_LAUNCH_PARAMS_st {
	CUfunction function;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	void **kernelParams;
} CUDA_LAUNCH_PARAMS;

typedef int CUlaunchAttributeID, CUkernelNodeAttrID, CUstreamAttrID;
enum {
	CU_LAUNCH_ATTRIBUTE_IGNORE,
	CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
	CU_LAUNCH_ATTRIBUTE_PRIORITY,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
	CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
	CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16
};
typedef struct CUaccessPolicyWindow_st {
	void *base_ptr;
	size_t num_bytes;
	float hitRatio;
	int hitProp, missProp;
} CUaccessPolicyWindow;
typedef union CUlaunchAttributeValue_union {
	char pad[64];
	CUaccessPolicyWindow accessPolicyWindow;
	int cooperative, priority;
	struct {
		unsigned int x, y, z;
	} clusterDim;
	CUevent event; /* .programmaticEvent.event and .launchCompletionEvent.event */
} CUlaunchAttributeValue, CUkernelNodeAttrValue, CUstreamAttrValue;
typedef struct CUlaunchAttribute_st {
	CUlaunchAttributeID id;
	int pad;
	CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

typedef union CUstreamBatchMemOpParams_union {
	int operation;
	struct {
		int operation;
		CUdeviceptr address;
		union {
			cuuint32_t value;
			cuuint64_t value64;
		};
		unsigned int flags;
		CUdeviceptr alias;
	} waitValue;
	struct {
		int operation;
		CUdeviceptr address;
		union {
			cuuint32_t value;
			cuuint64_t value64;
		};
		unsigned int flags;
		CUdeviceptr alias;
	} writeValue;
	cuuint64_t pad[6];
} CUstreamBatchMemOpParams;

typedef enum {
	CU_STREAM_CAPTURE_STATUS_NONE,
	CU_STREAM_CAPTURE_STATUS_ACTIVE,
	CU_STREAM_CAPTURE_STATUS_INVALIDATED
} CUstreamCaptureStatus;
typedef enum {
	CU_STREAM_CAPTURE_MODE_GLOBAL,
	CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
	CU_STREAM_CAPTURE_MODE_RELAXED
} CUstreamCaptureMode;
/* ------------------------------------------------------------------ graphs */

typedef enum {
	CU_GRAPH_NODE_TYPE_KERNEL,
	CU_GRAPH_NODE_TYPE_MEMCPY,
	CU_GRAPH_NODE_TYPE_MEMSET,
	CU_GRAPH_NODE_TYPE_HOST,
	CU_GRAPH_NODE_TYPE_GRAPH,
	CU_GRAPH_NODE_TYPE_EMPTY,
	CU_GRAPH_NODE_TYPE_WAIT_EVENT,
	CU_GRAPH_NODE_TYPE_EVENT_RECORD,
	CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
} CUgraphNodeType;
typedef enum {
	CU_GRAPH_EXEC_UPDATE_SUCCESS,
	CU_GRAPH_EXEC_UPDATE_ERROR,
	CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
	CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
	CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED,
	CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
	CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED,
	CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
	CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
} CUgraphExecUpdateResult;

typedef struct CUDA_KERNEL_NODE_PARAMS_st {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_MEMSET_NODE_PARAMS_st {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value, elementSize;
	size_t width, height; /* width in elements */
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_st {
	CUhostFn fn;
	void *userData;
} CUDA_HOST_NODE_PARAMS;

typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;

typedef struct CUDA_MEMCPY_NODE_PARAMS_st {
	int flags, reserved;
	CUcontext copyCtx;
	CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;

typedef struct CUDA_MEMSET_NODE_PARAMS_v2_st {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value, elementSize;
	size_t width, height;
	CUcontext ctx;
} CUDA_MEMSET_NODE_PARAMS_v2;

typedef struct CUDA_CONDITIONAL_NODE_PARAMS_st {
	CUgraphConditionalHandle handle;
	unsigned int type, size; /* size: how many bodies there are */
	CUgraph *phGraph_out; /* out: the bodies, in memory of the node's */
	CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

#define CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE 1
typedef struct CUgraphNodeParams_st {
	CUgraphNodeType type;
	int reserved0[3];
	union {
		long long reserved1[29];
		CUDA_KERNEL_NODE_PARAMS_v2 kernel;
		CUDA_MEMCPY_NODE_PARAMS memcpy;
		CUDA_MEMSET_NODE_PARAMS_v2 memset;
		CUDA_HOST_NODE_PARAMS host;
		struct {
			CUgraph graph;
			int ownership; /* 0: the node gets a copy */
		} graph;
		struct {
			CUevent event;
		} eventWait, eventRecord;
		CUDA_CONDITIONAL_NODE_PARAMS conditional;
	};
	long long reserved2;
} CUgraphNodeParams;

/* all zero: the one node begins when the other one has ended */
typedef struct CUgraphEdgeData_st {
	unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

enum { CUDA_GRAPH_INSTANTIATE_SUCCESS, CUDA_GRAPH_INSTANTIATE_ERROR };
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
	cuuint64_t flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef struct CUgraphExecUpdateResultInfo_st {
	CUgraphExecUpdateResult result;
	CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

#define CU_STREAM_ADD_CAPTURE_DEPENDENCIES		0
#define CU_STREAM_SET_CAPTURE_DEPENDENCIES		1
#define CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH 1
#define CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD		2
#define CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH	4
#define CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY	8
#define CU_USER_OBJECT_NO_DESTRUCTOR_SYNC		1
#define CU_GRAPH_USER_OBJECT_MOVE			1
#define CU_EVENT_RECORD_EXTERNAL			1
#define CU_EVENT_WAIT_EXTERNAL				1

typedef enum {
	CU_GET_PROC_ADDRESS_SUCCESS,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
} CUdriverProcAddressQueryResult;
typedef enum { CU_MODULE_EAGER_LOADING = 1, CU_MODULE_LAZY_LOADING } CUmoduleLoadingMode;
typedef enum {
	CU_JIT_INPUT_CUBIN,
	CU_JIT_INPUT_PTX,
	CU_JIT_INPUT_FATBINARY,
	CU_JIT_INPUT_OBJECT,
	CU_JIT_INPUT_LIBRARY,
	CU_JIT_INPUT_NVVM
} CUjitInputType;
typedef enum {
	CU_POINTER_ATTRIBUTE_CONTEXT = 1,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
	CU_POINTER_ATTRIBUTE_HOST_POINTER,
	CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	CU_POINTER_ATTRIBUTE_BUFFER_ID,
	CU_POINTER_ATTRIBUTE_IS_MANAGED,
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
	CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	CU_POINTER_ATTRIBUTE_RANGE_SIZE,
	CU_POINTER_ATTRIBUTE_MAPPED,
	CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
	CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE,
	CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
	CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
	CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
	CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
	CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
} CUpointer_attribute;
#define CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE 21 /* of CUDA 12.8 */
typedef int CUdevice_P2PAttribute;

typedef struct CUctxCreateParams_st {
	CUexecAffinityParam *execAffinityParams;
	int numExecAffinityParams;
	void *cigParams;
} CUctxCreateParams;

typedef enum {
	CU_LIMIT_STACK_SIZE,
	CU_LIMIT_PRINTF_FIFO_SIZE,
	CU_LIMIT_MALLOC_HEAP_SIZE,
	CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
	CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
	CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
	CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
} CUlimit;
typedef enum {
	CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
	CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_NUM_REGS,
	CU_FUNC_ATTRIBUTE_PTX_VERSION,
	CU_FUNC_ATTRIBUTE_BINARY_VERSION,
	CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
	CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
	CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
} CUfunction_attribute;
typedef enum {
	CU_FUNCTION_LOADING_STATE_UNLOADED,
	CU_FUNCTION_LOADING_STATE_LOADED
} CUfunctionLoadingState;
typedef enum {
	CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE,
	CU_LIBRARY_BINARY_IS_PRESERVED
} CUlibraryOption;
typedef enum {
	CU_FUNC_CACHE_PREFER_NONE,
	CU_FUNC_CACHE_PREFER_SHARED,
	CU_FUNC_CACHE_PREFER_L1,
	CU_FUNC_CACHE_PREFER_EQUAL
} CUfunc_cache;
typedef enum {
	CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE,
	CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE,
	CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
} CUsharedconfig;
typedef enum {
	CU_JIT_MAX_REGISTERS,
	CU_JIT_WALL_TIME = 2,
	CU_JIT_INFO_LOG_BUFFER,
	CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
	CU_JIT_ERROR_LOG_BUFFER,
	CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
	CU_JIT_OPTIMIZATION_LEVEL,
	CU_JIT_GENERATE_DEBUG_INFO = 11,
	CU_JIT_GENERATE_LINE_INFO = 13,
	CU_JIT_NUM_OPTIONS = 30
} CUjit_option;
/* virtual memory and pools */
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef int CUmemAllocationType, CUmemAllocationHandleType, CUmemAllocationGranularity_flags,
	CUmemAccess_flags, CUgraphMem_attribute;
enum {
	CU_MEM_LOCATION_TYPE_DEVICE = 1,
	CU_MEM_ALLOCATION_TYPE_PINNED = 1,
	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
	CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
};
typedef struct CUmemLocation_st {
	int type, id;
} CUmemLocation;
typedef struct CUmemAllocationProp_st {
	CUmemAllocationType type;
	CUmemAllocationHandleType requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType, gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;
typedef struct CUmemAccessDesc_st {
	CUmemLocation location;
	CUmemAccess_flags flags;
} CUmemAccessDesc;
typedef struct CUmemPoolProps_st {
	CUmemAllocationType allocType;
	CUmemAllocationHandleType handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	unsigned char reserved[64]; /* in CUDA 12 the largest size, then the use */
} CUmemPoolProps;
typedef enum {
	CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
	CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
	CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
	CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
	CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
	CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
	CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
	CU_MEMPOOL_ATTR_USED_MEM_HIGH,
} CUmemPool_attribute;
typedef struct CUmemcpyAttributes_st { /* of CUDA 12.8 */
	int srcAccessOrder;
	CUmemLocation srcLocHint, dstLocHint;
	unsigned int flags;
} CUmemcpyAttributes;
typedef struct CUipcMemHandle_st {
	char reserved[64];
} CUipcMemHandle;
typedef struct CUipcEventHandle_st {
	char reserved[64];
} CUipcEventHandle;
typedef enum {
	CU_PROCESS_STATE_RUNNING,
	CU_PROCESS_STATE_LOCKED,
	CU_PROCESS_STATE_CHECKPOINTED,
	CU_PROCESS_STATE_FAILED
} CUprocessState;
typedef struct CUcheckpointLockArgs_st {
	unsigned int timeoutMs; /* 0: no limit */
	unsigned int reserved0;
	cuuint64_t reserved1[7];
} CUcheckpointLockArgs;
typedef struct CUcheckpointCheckpointArgs_st {
	cuuint64_t reserved[8];
} CUcheckpointCheckpointArgs;
typedef struct CUcheckpointGpuPair_st {
	CUuuid oldUuid, newUuid;
} CUcheckpointGpuPair;
typedef struct CUcheckpointRestoreArgs_st {
	CUcheckpointGpuPair *gpuPairs;
	unsigned int gpuPairsCount;
	char reserved[52];
} CUcheckpointRestoreArgs;
typedef struct CUcheckpointUnlockArgs_st {
	cuuint64_t reserved[8];
} CUcheckpointUnlockArgs;
/* a plain number; attributes.c has the values */
typedef int CUdevice_attribute;
typedef unsigned int CUmem_advise; /* CU_MEM_ADVISE_...: advice.c */
typedef unsigned int CUmem_range_attribute; /* CU_MEM_RANGE_ATTRIBUTE_...: advice.c */

#define CUDA_ARRAY3D_LAYERED			      0x01
#define CUDA_ARRAY3D_SURFACE_LDST		      0x02
#define CUDA_ARRAY3D_CUBEMAP			      0x04
#define CUDA_ARRAY3D_TEXTURE_GATHER		      0x08
#define CU_TRSA_OVERRIDE_FORMAT			      0x01
#define CU_TRSF_READ_AS_INTEGER			      0x01
#define CU_TRSF_NORMALIZED_COORDINATES		      0x02
#define CU_TRSF_SRGB				      0x10
#define CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION	      0x20
#define CU_TRSF_SEAMLESS_CUBEMAP		      0x40
#define CU_CTX_SCHED_BLOCKING_SYNC		      0x04
#define CU_CTX_SCHED_MASK			      0x07
#define CU_CTX_MAP_HOST				      0x08
#define CU_CTX_LMEM_RESIZE_TO_MAX		      0x10
#define CU_CTX_FLAGS_MASK			      0x1f
#define CU_STREAM_NON_BLOCKING			      0x1
#define CU_EVENT_BLOCKING_SYNC			      0x1
#define CU_EVENT_DISABLE_TIMING			      0x2
#define CU_EVENT_INTERPROCESS			      0x4
#define CU_MEMHOSTALLOC_PORTABLE		      0x01
#define CU_MEMHOSTALLOC_DEVICEMAP		      0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED		      0x04
#define CU_LAUNCH_PARAM_END			      ((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER		      ((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE		      ((void *)0x02)
#define CU_GET_PROC_ADDRESS_LEGACY_STREAM	      0x1
#define CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM 0x2

#endif
