/* SPDX-License-Identifier: MIT */
/*
 * What of NVML's types and numbers the functions that answer need, as programs compiled with
 * NVIDIA's nvml.h (11.8 to 12.4) have them; selftests/cuda/nvml.sh compares them. Sources: what
 * nvml.h declares.
 */
#ifndef KVGPU_NVML_H
#define KVGPU_NVML_H

typedef enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_LIBRARY_NOT_FOUND = 12,
	NVML_ERROR_FUNCTION_NOT_FOUND = 13,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_MEMORY = 20,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;

/* NVML_NONE: of an instance where a GPU is not split */
enum { NVML_INIT_FLAG_NO_GPUS = 1, NVML_INIT_FLAG_NO_ATTACH = 2, NVML_NONE = 0xffffffff };
#define NVML_API "12" /* the first number of nvmlSystemGetNVMLVersion() */
/* of a struct that begins with its version */
#define NVML_VERSION(type, n) (sizeof(type) | (n) << 24)
/* of a process */
#define NVML_VALUE_NOT_AVAILABLE (~0ull)

/* of nvmlDeviceGetP2PStatus(): what is asked, and the answer */
enum { NVML_P2P_CAPS_INDEX_READ = 0, NVML_P2P_CAPS_INDEX_WRITE = 1 };
enum { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5, NVML_P2P_STATUS_UNKNOWN = 6 };

typedef struct nvml_gpu *nvmlDevice_t;
typedef struct event_set *nvmlEventSet_t;

typedef struct {
	char busIdLegacy[16];
	unsigned int domain, bus, device;
	unsigned int pciDeviceId; /* device << 16 | vendor */
	/* nvmlDeviceGetPciInfo() ends here */
	unsigned int pciSubSystemId;
	/* nvmlDeviceGetPciInfo_v2() ends here, but for what is reserved */
	char busId[32];
} nvmlPciInfo_t;

typedef struct {
	unsigned int version;
	unsigned int domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
	char busId[32];
} nvmlPciInfoExt_t;

typedef struct {
	unsigned long long total, free, used; /* bytes */
} nvmlMemory_t;

typedef struct {
	unsigned int version;
	unsigned long long total, reserved, free, used; /* bytes */
} nvmlMemory_v2_t;

typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory; /* bytes */
} nvmlProcessInfo_v1_t;

typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_v2_t;

typedef struct {
	unsigned int fieldId, scopeId;
	long long timestamp, latencyUsec;
	unsigned int valueType;
	nvmlReturn_t nvmlReturn;
	unsigned long long value;
} nvmlFieldValue_t;

/* .status: of the fabric's own set-up; .state: 0: there is no fabric */
typedef struct {
	unsigned char clusterUuid[16];
	nvmlReturn_t status;
	unsigned int cliqueId;
	unsigned char state;
} nvmlGpuFabricInfo_t;

typedef struct {
	unsigned int version;
	unsigned char clusterUuid[16];
	nvmlReturn_t status;
	unsigned int cliqueId;
	unsigned char state;
	unsigned int healthMask;
	/* version 2 ends here */
	unsigned char healthSummary;
} nvmlGpuFabricInfoV_t;
enum { NVML_GPU_FABRIC_STATE_NOT_SUPPORTED = 0 };

typedef struct nvmlEventData_st nvmlEventData_t;

#endif
