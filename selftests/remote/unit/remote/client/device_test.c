// SPDX-License-Identifier: MIT
/*
 * Attributes of a device whose server's library offers all that CUDA 12 has: the client says only
 * what its calls can do. There is no server.
 */
#include <selftests/unit_test.h>

#include <cuda/api/usage.h>
#include <remote/client/client.h>

enum { OFFERED = 7, DEVICES = 2, NEWER = 88, END = 148 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
bool several;
static bool shared;

int all_devices = DEVICES, device_at[DEVICES_MAX] = { 0, 1 };

struct peer *peer_of_number(int dev, uint32_t *number)
{
	*number = dev;
	return &peers[0];
}

bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return shared;
}

static struct a_usage usage;

CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_facts facts;
	unsigned int i;

	if (c->op == OP_usage) {
		assert_int_equal(((const struct q_usage *)c->fixed)->dev, 1);
		c->answer = &usage;
		return CUDA_SUCCESS;
	}

	memset(facts.attribute_known, 1, sizeof(facts.attribute_known));
	for (i = 0; i < sizeof(facts.attribute) / sizeof(facts.attribute[0]); i++)
		facts.attribute[i] = OFFERED;
	c->answer = &facts;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ */

static int get(int attribute, CUdevice dev)
{
	int value = -1;

	assert_int_equal(cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, dev),
			 CUDA_SUCCESS);
	return value;
}

/* Of attributes newer than CUDA 7.5 those that name no call, or one that crosses. */
static bool crosses(int attribute)
{
	switch (attribute) {
	case 92: /* CAN_USE_STREAM_MEM_OPS_V1 and the next two: cuStreamWaitValue32() */
	case 93:
	case 94:
	case 95: /* COOPERATIVE_LAUNCH */
	case 97: /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: cuFuncSetAttribute() */
	case 98: /* CAN_FLUSH_REMOTE_WRITES: a flag of cuStreamWaitValue32() */
	case 99: /* HOST_REGISTER_SUPPORTED */
	case 102: /* VIRTUAL_MEMORY_MANAGEMENT: cuMemCreate() */
	case 106: /* MAX_BLOCKS_PER_MULTIPROCESSOR */
	case 107: /* GENERIC_COMPRESSION: cuMemCreate() */
	case 108: /* MAX_PERSISTING_L2_CACHE_SIZE: cuCtxSetLimit() */
	case 109: /* MAX_ACCESS_POLICY_WINDOW_SIZE: cuStreamSetAttribute() */
	case 111: /* RESERVED_SHARED_MEMORY_PER_BLOCK */
	case 113: /* READ_ONLY_HOST_REGISTER_SUPPORTED */
	case 115: /* MEMORY_POOLS */
	case 120: /* CLUSTER_LAUNCH */
	case 122: /* CAN_USE_64_BIT_STREAM_MEM_OPS, CAN_USE_STREAM_WAIT_VALUE_NOR */
	case 123:
	case 125: /* IPC_EVENT */
	case 126: /* MEM_SYNC_DOMAIN_COUNT: attributes of launches and streams */
	case 127: /* TENSOR_MAP_ACCESS_SUPPORTED: cuTensorMapEncodeTiled() */
	case 129: /* UNIFIED_FUNCTION_POINTERS */
	case 133: /* MPS_ENABLED */
	case 139: /* GPU_PCI_DEVICE_ID */
	case 140: /* GPU_PCI_SUBSYSTEM_ID */
	case 147: /* ONLY_PARTIAL_HOST_NATIVE_ATOMIC */
		return true;
	default:
		return false;
	}
}

TEST(newer_attributes)
{
	int i;

	for (i = NEWER; i < END; i++) {
		int want = crosses(i) ? OFFERED : 0;

		if (get(i, 0) != want)
			fail_msg("attribute %d is %d, not %d", i, get(i, 0), want);
	}
}

TEST(mapped_memory_wants_a_shared_arena)
{
	int i;

	shared = true;
	for (i = 1; i < NEWER; i++) {
		assert_int_equal(get(i, 0), i == 19 /* CAN_MAP_HOST_MEMORY */ ? 0 : OFFERED);
		assert_int_equal(get(i, 1), OFFERED);
	}
}

/* Whatever a server answers, no more is used than there is, and the list has its length. */
TEST(usage_is_within_bounds)
{
	struct kvgpu_usage u;

	usage = (struct a_usage){ .total = 1000,
				  .used = 30,
				  .programs = 1,
				  .pid = { 7 },
				  .bytes = { 30 },
				  .generation = 4,
				  .width = 16 };
	assert_int_equal(kvgpu_device_usage(1, &u), CUDA_SUCCESS);
	assert_int_equal(u.total, 1000);
	assert_int_equal(u.used, 30);
	assert_true(u.link.generation == 4 && u.link.width == 16);
	assert_false(u.here);
	assert_int_equal(u.nr_processes, 1);
	assert_int_equal(u.process[0].pid, 7);
	assert_int_equal(u.process[0].bytes, 30);
	usage.used = 1001;
	usage.programs = UINT32_MAX;
	assert_int_equal(kvgpu_device_usage(1, &u), CUDA_SUCCESS);
	assert_int_equal(u.used, 1000);
	assert_int_equal(u.nr_processes, USAGE_PROCESSES);
	assert_int_equal(kvgpu_device_usage(DEVICES, &u), CUDA_ERROR_INVALID_DEVICE);
}

TEST_MAIN(NULL, NULL)
