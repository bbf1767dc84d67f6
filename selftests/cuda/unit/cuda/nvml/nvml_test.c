// SPDX-License-Identifier: MIT
/*
 * NVML's entry points on a libcuda that is stood in for. Expected results are from NVML's
 * documentation.
 */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/nvml/inside.h>

#define OK(call)	  assert_int_equal(call, NVML_SUCCESS)
#define FAILS(call, with) assert_int_equal(call, NVML_ERROR_##with)

/* ------------------------------------------------------------ in the place of libcuda.so.1 */

static CUresult init_error, usage_error;
static unsigned int begins;
static struct kvgpu_usage usage;

CUresult kvgpu_usage_init(void)
{
	begins++;
	return init_error;
}

CUresult cuDriverGetVersion(int *v)
{
	*v = 11080;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	*n = 2;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *out, int len, CUdevice dev)
{
	snprintf(out, len, "Tesla K20m\033[2J%d", dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *id, CUdevice dev)
{
	unsigned int i;

	for (i = 0; i < sizeof(id->bytes); i++)
		id->bytes[i] = 0xf0 * dev + i;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	snprintf(id, len, "0001:%02x:1f.0", 0xa0 + dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice dev)
{
	*value = a == ATTRIBUTE_CLOCK	     ? 705500 :
		 a == ATTRIBUTE_MEMORY_CLOCK ? 2600000 :
		 a == ATTRIBUTE_BUS_WIDTH    ? 320 :
					       3;
	return a == ATTRIBUTE_COMPUTE_MODE && dev ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	*major = dev ? 9 : 3;
	*minor = dev ? 0 : 5;
	return CUDA_SUCCESS;
}

/* device 0 sees the memory of 1, and 1 not that of 0 */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	*can = dev < peer;
	return CUDA_SUCCESS;
}

CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out)
{
	*out = usage;
	return usage_error;
}

/* ------------------------------------------------------------------ */

static nvmlDevice_t gpu[2];

static int set_up(void **state)
{
	memset(&usage, 0, sizeof(usage));
	usage.total = 5000;
	usage.used = 1200;
	usage_error = init_error = CUDA_SUCCESS;
	return nvmlInit_v2() || nvmlDeviceGetHandleByIndex_v2(0, &gpu[0]) ||
	       nvmlDeviceGetHandleByIndex_v2(1, &gpu[1]);
}

static int tear_down(void **state)
{
	return nvmlShutdown();
}

enum way { text, value, hand, bare, as, refused };

static const struct {
	const char *name;
	void *call;
	enum way way;
	bool device;
} all[] = {
#define NAME(name, way, device) { #name, name, way, device },
#include "nvml_names.inc"
};

enum { NAMES = sizeof(all) / sizeof(*all) };

/* what is in `buffer` afterwards does not matter: all that is asked may be written there */
static nvmlReturn_t call(unsigned int i, void *first)
{
	static char buffer[6][4096];
	nvmlReturn_t (*f)(void *, void *, void *, void *, void *, void *) = all[i].call;

	return f(first, buffer[1], buffer[2], buffer[3], buffer[4], buffer[5]);
}

TEST_WITH(uninitialised, NULL, NULL)
{
	unsigned int i;

	for (i = 0; i < NAMES; i++)
		if (all[i].way != bare && call(i, NULL) != NVML_ERROR_UNINITIALIZED)
			fail_msg("%s: %d", all[i].name, call(i, NULL));
	FAILS(nvmlShutdown(), UNINITIALIZED);
	FAILS(nvmlEventSetWait_v2((nvmlEventSet_t)all, (nvmlEventData_t *)all, 0), UNINITIALIZED);
}

/* What is refused says so, and looks at its device first; what answers takes no NULL. */
TEST(all_names)
{
	unsigned int i, n = 0;

	for (i = 0; i < NAMES; i++) {
		if (all[i].device && call(i, &n) != NVML_ERROR_INVALID_ARGUMENT)
			fail_msg("%s: takes what is no device", all[i].name);
		if (all[i].device && call(i, (char *)gpu[0] + 1) != NVML_ERROR_INVALID_ARGUMENT)
			fail_msg("%s: takes what is inside of a device", all[i].name);
		if (all[i].way == refused && call(i, gpu[0]) != NVML_ERROR_NOT_SUPPORTED)
			fail_msg("%s: %d", all[i].name, call(i, gpu[0]));
		n += all[i].way == refused;
	}
	assert_true(n > 200 && NAMES - n > 40);
}

TEST(no_null)
{
	const struct {
		void *call;
		void *first;
	} calls[] = {
		{ nvmlDeviceGetName, gpu[0] },
		{ nvmlDeviceGetUUID, gpu[0] },
		{ nvmlDeviceGetIndex, gpu[0] },
		{ nvmlDeviceGetPciInfo_v3, gpu[0] },
		{ nvmlDeviceGetMemoryInfo, gpu[0] },
		{ nvmlDeviceGetMemoryInfo_v2, gpu[0] },
		{ nvmlDeviceGetComputeMode, gpu[0] },
		{ nvmlDeviceGetComputeRunningProcesses_v3, gpu[0] },
		{ nvmlDeviceGetCount_v2, NULL },
		{ nvmlSystemGetDriverVersion, NULL },
		{ nvmlDeviceGetHandleByUUID, NULL },
		{ nvmlDeviceGetHandleByPciBusId_v2, NULL },
		{ nvmlEventSetCreate, NULL },
		{ nvmlInternalGetExportTable, NULL },
	};
	unsigned int i, major;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		nvmlReturn_t (*f)(void *, void *, void *) = calls[i].call;

		FAILS(f(calls[i].first, NULL, NULL), INVALID_ARGUMENT);
	}
	FAILS(nvmlDeviceGetHandleByIndex_v2(0, NULL), INVALID_ARGUMENT);
	FAILS(nvmlDeviceGetCudaComputeCapability(gpu[0], (int *)&major, NULL), INVALID_ARGUMENT);
	FAILS(nvmlSystemGetProcessName(getpid(), NULL, 9), INVALID_ARGUMENT);
}

TEST(texts)
{
	char s[96];

	OK(nvmlDeviceGetName(gpu[1], s, sizeof(s)));
	assert_string_equal(s, "Tesla K20m?[2J1"); /* no byte of it does more than show */
	FAILS(nvmlDeviceGetName(gpu[1], s, 15), INSUFFICIENT_SIZE);
	OK(nvmlDeviceGetName(gpu[1], s, 16));
	FAILS(nvmlDeviceGetName(gpu[1], s, 0), INSUFFICIENT_SIZE);
	OK(nvmlDeviceGetUUID(gpu[1], s, 80));
	assert_string_equal(s, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
	OK(nvmlSystemGetNVMLVersion(s, sizeof(s)));
	assert_memory_equal(s, "12.", 3);
	OK(nvmlSystemGetProcessName(getpid(), s, sizeof(s)));
	assert_non_null(strstr(s, "nvml_test"));
	OK(nvmlSystemGetProcessName(getpid(), s, 3));
	assert_int_equal(strlen(s), 2);
	FAILS(nvmlSystemGetProcessName(getpid(), s, 0), INVALID_ARGUMENT);
	FAILS(nvmlSystemGetProcessName(INT32_MAX, s, sizeof(s)), NOT_FOUND);
	assert_string_equal(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
	assert_string_equal(nvmlErrorString(4711), "Unknown Error");
}

/* A process of somebody else's chooses its name: nvidia-smi, run by root, prints it. */
TEST(names_of_others)
{
	char s[96] = "";
	int to[2], i;
	pid_t child;

	assert_int_equal(pipe(to), 0);
	child = fork();
	if (!child) {
		dup2(to[0], 0);
		close(to[1]);
		execl("/bin/cat", "\033]0;owned\007\033[2J\303\251", NULL);
		_exit(1);
	}
	close(to[0]);
	for (i = 0; i < 60000 && !strstr(s, "owned"); i++) {
		usleep(1000);
		OK(nvmlSystemGetProcessName(child, s, sizeof(s)));
	}
	close(to[1]);
	waitpid(child, NULL, 0);
	assert_string_equal(s, "?]0;owned??[2J??");
}

TEST(handles)
{
	static const char *const fine[] = { "00000001:A1:1F.0", "0001:a1:1f.0", "1:a1:1f" };
	nvmlDevice_t d;
	unsigned int n, i;

	OK(nvmlDeviceGetCount_v2(&n));
	assert_int_equal(n, 2);
	FAILS(nvmlDeviceGetHandleByIndex_v2(2, &d), INVALID_ARGUMENT);
	OK(nvmlDeviceGetIndex(gpu[1], &n));
	assert_int_equal(n, 1);
	OK(nvmlDeviceGetHandleByUUID("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff", &d));
	assert_ptr_equal(d, gpu[1]);
	FAILS(nvmlDeviceGetHandleByUUID("GPU-f0f1f2f3", &d), NOT_FOUND);
	for (i = 0; i < 3; i++) {
		OK(nvmlDeviceGetHandleByPciBusId_v2(fine[i], &d));
		assert_ptr_equal(d, gpu[1]);
	}
	FAILS(nvmlDeviceGetHandleByPciBusId_v2("a1:1f.0", &d), NOT_FOUND); /* of domain 0 */
	FAILS(nvmlDeviceGetHandleByPciBusId_v2("here", &d), INVALID_ARGUMENT);
}

TEST(places)
{
	union {
		nvmlPciInfo_t pci;
		unsigned char byte[sizeof(nvmlPciInfo_t)];
	} p;
	nvmlPciInfoExt_t ext = { .version = sizeof(ext) | 1 << 24 };

	usage.pci_device = 0x1028;
	OK(nvmlDeviceGetPciInfo_v3(gpu[1], &p.pci));
	assert_string_equal(p.pci.busId, "00000001:A1:1F.0");
	assert_string_equal(p.pci.busIdLegacy, "0001:A1:1F.0");
	assert_int_equal(p.pci.domain, 1);
	assert_int_equal(p.pci.bus, 0xa1);
	assert_int_equal(p.pci.device, 0x1f);
	assert_int_equal(p.pci.pciDeviceId, 0x102810de);
	/* structs of older programs end earlier */
	memset(&p, 0xee, sizeof(p));
	OK(nvmlDeviceGetPciInfo(gpu[1], &p.pci));
	assert_int_equal(p.byte[31], 0x10);
	assert_int_equal(p.byte[32], 0xee);
	OK(nvmlDeviceGetPciInfo_v2(gpu[1], &p.pci));
	assert_int_equal(p.byte[35], 0);
	assert_int_equal(p.byte[36], 0xee);
	OK(nvmlDeviceGetPciInfoExt(gpu[1], &ext));
	assert_int_equal(ext.bus, 0xa1);
	assert_string_equal(ext.busId, "00000001:A1:1F.0");
	ext.version++;
	ext.bus = 0;
	FAILS(nvmlDeviceGetPciInfoExt(gpu[1], &ext), ARGUMENT_VERSION_MISMATCH);
	assert_int_equal(ext.bus, 0);
	/* what is not known is not told */
	usage.pci_device = 0;
	OK(nvmlDeviceGetPciInfo_v3(gpu[1], &p.pci));
	assert_int_equal(p.pci.pciDeviceId, 0);
}

/* What the link does now may tell of others: it is what it can do. */
TEST(links)
{
	unsigned int n;

	FAILS(nvmlDeviceGetCurrPcieLinkGeneration(gpu[0], &n), NOT_SUPPORTED);
	FAILS(nvmlDeviceGetMaxPcieLinkWidth(gpu[0], &n), NOT_SUPPORTED);
	usage.link = (struct pcie_link){ 4, 16 };
	OK(nvmlDeviceGetMaxPcieLinkGeneration(gpu[0], &n));
	assert_int_equal(n, 4);
	OK(nvmlDeviceGetGpuMaxPcieLinkGeneration(gpu[0], &n));
	assert_int_equal(n, 4);
	OK(nvmlDeviceGetCurrPcieLinkGeneration(gpu[0], &n));
	assert_int_equal(n, 4);
	OK(nvmlDeviceGetMaxPcieLinkWidth(gpu[0], &n));
	assert_int_equal(n, 16);
	OK(nvmlDeviceGetCurrPcieLinkWidth(gpu[0], &n));
	assert_int_equal(n, 16);
	usage_error = CUDA_ERROR_SYSTEM_NOT_READY;
	FAILS(nvmlDeviceGetCurrPcieLinkWidth(gpu[0], &n), NOT_SUPPORTED);
}

/* PyTorch wants success, and a state; nvml.h's versions 2 and 3 have 36 and 40 bytes */
TEST(fabric)
{
	nvmlGpuFabricInfo_t old;
	union {
		nvmlGpuFabricInfoV_t info;
		unsigned char byte[40];
	} v;

	memset(&old, 0xee, sizeof(old));
	OK(nvmlDeviceGetGpuFabricInfo(gpu[0], &old));
	assert_int_equal(old.state, 0);
	assert_int_equal(old.status, NVML_SUCCESS);
	memset(&v, 0xee, sizeof(v));
	v.info.version = 0x2000024;
	OK(nvmlDeviceGetGpuFabricInfoV(gpu[0], &v.info));
	assert_true(v.info.version == 0x2000024 && !v.info.state && !v.info.cliqueId);
	assert_int_equal(v.byte[35], 0);
	assert_int_equal(v.byte[36], 0xee);
	v.info.version = 0x3000028;
	OK(nvmlDeviceGetGpuFabricInfoV(gpu[0], &v.info));
	assert_int_equal(v.info.healthSummary, 0);
	v.info.version = 0x1000028;
	FAILS(nvmlDeviceGetGpuFabricInfoV(gpu[0], &v.info), ARGUMENT_VERSION_MISMATCH);
	assert_int_equal(sizeof(v.info), 40);
}

TEST(numbers)
{
	int major, minor, v;
	unsigned int n;

	OK(nvmlSystemGetCudaDriverVersion_v2(&v));
	assert_int_equal(v, 11080);
	OK(nvmlDeviceGetCudaComputeCapability(gpu[0], &major, &minor));
	assert_int_equal(major * 10 + minor, 35);
	OK(nvmlDeviceGetArchitecture(gpu[0], &n));
	assert_int_equal(n, 2);
	OK(nvmlDeviceGetArchitecture(gpu[1], &n));
	assert_int_equal(n, 9);
	OK(nvmlDeviceGetMaxClockInfo(gpu[0], 1, &n));
	assert_int_equal(n, 705);
	OK(nvmlDeviceGetMaxClockInfo(gpu[0], 2, &n));
	assert_int_equal(n, 2600);
	FAILS(nvmlDeviceGetMaxClockInfo(gpu[0], 3, &n), NOT_SUPPORTED);
	OK(nvmlDeviceGetMemoryBusWidth(gpu[0], &n));
	assert_int_equal(n, 320);
	OK(nvmlDeviceGetComputeMode(gpu[0], &n));
	assert_int_equal(n, 3);
	n = 77;
	FAILS(nvmlDeviceGetComputeMode(gpu[1], &n), NOT_SUPPORTED);
	assert_int_equal(n, 77);
	OK(nvmlDeviceIsMigDeviceHandle(gpu[0], &n));
	assert_int_equal(n, 0);
}

/* As of CUDA, for reads and writes; nothing is known of NVLink (2) and atomics (3). */
TEST(peers)
{
	static const struct {
		unsigned int from, to, index, status;
	} rows[] = { { 0, 1, 0, 0 }, { 0, 1, 1, 0 }, { 1, 0, 0, 5 }, { 1, 0, 1, 5 },
		     { 0, 0, 0, 0 }, { 1, 1, 1, 0 }, { 0, 1, 2, 6 }, { 0, 0, 3, 6 } };
	unsigned int i, status;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OK(nvmlDeviceGetP2PStatus(gpu[rows[i].from], gpu[rows[i].to], rows[i].index,
					  &status));
		assert_int_equal(status, rows[i].status);
	}
	FAILS(nvmlDeviceGetP2PStatus(gpu[0], NULL, 0, &status), INVALID_ARGUMENT);
	FAILS(nvmlDeviceGetP2PStatus(gpu[0], (void *)((char *)gpu[1] + 1), 0, &status),
	      INVALID_ARGUMENT);
}

TEST(fields)
{
	nvmlFieldValue_t f[3] = { { .fieldId = 1 }, { .fieldId = 83 } };

	OK(nvmlDeviceGetFieldValues(gpu[0], 2, f));
	assert_int_equal(f[0].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(f[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(f[2].nvmlReturn, NVML_SUCCESS);
	FAILS(nvmlDeviceGetFieldValues(gpu[0], 0, f), INVALID_ARGUMENT);
}

TEST(memory)
{
	nvmlMemory_v2_t two = { .version = sizeof(two) | 2 << 24 };
	nvmlMemory_t one;

	OK(nvmlDeviceGetMemoryInfo(gpu[0], &one));
	assert_int_equal(one.total, 5000);
	assert_int_equal(one.free, 3800);
	assert_int_equal(one.used, 1200);
	OK(nvmlDeviceGetMemoryInfo_v2(gpu[0], &two));
	assert_int_equal(two.total, 5000);
	assert_int_equal(two.free, 3800);
	assert_int_equal(two.used, 1200);
	two = (nvmlMemory_v2_t){ .version = sizeof(one) | 2 << 24 };
	FAILS(nvmlDeviceGetMemoryInfo_v2(gpu[0], &two), ARGUMENT_VERSION_MISMATCH);
	assert_int_equal(two.total, 0);
	usage_error = CUDA_ERROR_SYSTEM_NOT_READY;
	FAILS(nvmlDeviceGetMemoryInfo(gpu[0], &one), GPU_IS_LOST);
}

TEST(processes)
{
	nvmlProcessInfo_v1_t old[3] = { 0 };
	nvmlProcessInfo_v2_t list[3] = { 0 };
	unsigned int n = 0;

	OK(nvmlDeviceGetComputeRunningProcesses_v3(gpu[0], &n, NULL));
	assert_int_equal(n, 0);
	usage.nr_processes = 2;
	usage.process[0] = (struct kvgpu_usage_process){ 700, 11 };
	usage.process[1] = (struct kvgpu_usage_process){ 500, 22 };
	FAILS(nvmlDeviceGetComputeRunningProcesses_v3(gpu[0], &n, NULL), INSUFFICIENT_SIZE);
	assert_int_equal(n, 2);
	n = 1;
	FAILS(nvmlDeviceGetComputeRunningProcesses(gpu[0], &n, old), INSUFFICIENT_SIZE);
	assert_int_equal(n, 2);
	assert_int_equal(old[0].pid, 0);
	FAILS(nvmlDeviceGetComputeRunningProcesses_v3(gpu[0], &n, NULL), INVALID_ARGUMENT);
	n = 3;
	OK(nvmlDeviceGetComputeRunningProcesses_v3(gpu[0], &n, list));
	assert_int_equal(n, 2);
	assert_int_equal(list[1].pid, 22);
	assert_int_equal(list[1].usedGpuMemory, 500);
	assert_int_equal(list[1].gpuInstanceId, UINT32_MAX);
	assert_int_equal(list[2].pid, 0);
	OK(nvmlDeviceGetComputeRunningProcesses(gpu[0], &n, old));
	assert_int_equal(old[1].pid, 22);
	assert_int_equal(old[1].usedGpuMemory, 500);
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(gpu[0], &n, list));
	assert_int_equal(n, 0);
	/* of a GPU of this machine those that have it open: here none has a GPU at that place */
	usage.here = true;
	n = 3;
	OK(nvmlDeviceGetComputeRunningProcesses_v3(gpu[0], &n, list));
	assert_int_equal(n, 0);
}

TEST(no_events)
{
	nvmlEventSet_t set;
	char data[64];

	OK(nvmlEventSetCreate(&set));
	/* no types at all are registered, as NVIDIA's library does it */
	OK(nvmlDeviceRegisterEvents(gpu[0], 0, set));
	FAILS(nvmlDeviceRegisterEvents(gpu[0], 8, set), NOT_SUPPORTED);
	FAILS(nvmlDeviceRegisterEvents(gpu[0], 0, NULL), INVALID_ARGUMENT);
	FAILS(nvmlEventSetWait_v2(set, (nvmlEventData_t *)data, 1), TIMEOUT);
	FAILS(nvmlEventSetWait_v2(NULL, (nvmlEventData_t *)data, 1), INVALID_ARGUMENT);
	OK(nvmlEventSetFree(set));
	FAILS(nvmlEventSetFree(NULL), INVALID_ARGUMENT);
}

/* ------------------------------------------------------------------ nvidia-smi's table */

struct row {
	uint32_t pid;
	uint64_t bytes;
	uint32_t gi, ci;
	uint64_t hidden;
	char name[4096];
};

TEST(table_of_smi)
{
	static const unsigned char id[] =
		"\xc4\xfe\x3e\x6c\xc9\x8f\x6c\x4e\xa3\x27\xee\x69\x6e\x12\xf7\xc4";
	static struct row rows[3];
	nvmlReturn_t (*list)(nvmlDevice_t, unsigned int *, struct row *);
	nvmlReturn_t (*other)(void *);
	unsigned int n = 1;
	const void *table;

	FAILS(nvmlInternalGetExportTable(&table, (const unsigned char *)"0123456789abcdef"),
	      NOT_FOUND);
	OK(nvmlInternalGetExportTable(&table, id));
	list = ((void *const *)table)[213];
	other = ((void *const *)table)[81];
	FAILS(other(NULL), NOT_SUPPORTED);
	usage.nr_processes = 2;
	usage.process[0] = (struct kvgpu_usage_process){ 700, getpid() };
	usage.process[1] = (struct kvgpu_usage_process){ 500, INT32_MAX };
	FAILS(list(gpu[0], &n, rows), INSUFFICIENT_SIZE);
	assert_int_equal(n, 2);
	n = 3;
	OK(list(gpu[0], &n, rows));
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].pid, getpid());
	assert_int_equal(rows[0].bytes, 700);
	assert_non_null(strstr(rows[0].name, "nvml_test"));
	assert_string_equal(rows[1].name, "[Not Found]");
	assert_int_equal(rows[2].pid, 0);
	FAILS(list(gpu[0], &n, NULL), INVALID_ARGUMENT);
	list = ((void *const *)table)[214];
	OK(list(gpu[0], &n, rows));
	assert_int_equal(n, 0);
}

/* ------------------------------------------------------------------ sessions */

TEST_WITH(begins_and_ends, NULL, NULL)
{
	unsigned int n, before = begins;

	FAILS(nvmlInitWithFlags(8), INVALID_ARGUMENT);
	init_error = CUDA_ERROR_NO_DEVICE;
	FAILS(nvmlInit_v2(), DRIVER_NOT_LOADED);
	init_error = CUDA_ERROR_SYSTEM_NOT_READY;
	FAILS(nvmlInit_v2(), DRIVER_NOT_LOADED);
	FAILS(nvmlDeviceGetCount_v2(&n), UNINITIALIZED);
	OK(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
	OK(nvmlDeviceGetCount_v2(&n));
	assert_int_equal(n, 0);
	OK(nvmlShutdown());
	init_error = CUDA_SUCCESS;
	OK(nvmlInit_v2());
	OK(nvmlInit_v2());
	OK(nvmlShutdown());
	OK(nvmlDeviceGetCount_v2(&n));
	assert_int_equal(n, 2);
	OK(nvmlShutdown());
	FAILS(nvmlDeviceGetCount_v2(&n), UNINITIALIZED);
	assert_int_equal(begins, before + 4);
}

/* A child has none of the parent's connections: it begins anew, and the parent goes on. */
TEST(begins_anew_in_a_child)
{
	unsigned int n, before = begins;
	int status;
	pid_t child = fork();

	if (!child)
		_exit(nvmlDeviceGetCount_v2(&n) != NVML_ERROR_UNINITIALIZED || nvmlInit_v2() ||
		      begins != before + 1 || nvmlDeviceGetCount_v2(&n) || n != 2);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	OK(nvmlDeviceGetCount_v2(&n));
	assert_int_equal(n, 2);
}

TEST_MAIN(set_up, tear_down)
