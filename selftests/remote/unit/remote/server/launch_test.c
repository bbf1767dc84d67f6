// SPDX-License-Identifier: MIT
/* Attributes of launches, of nodes that launch, and of streams: what the library gets of them. */
#include "ask.h"

enum { BYTES = 13, PADDED = 16, MANY = KVGPU_REMOTE_ATTRIBUTES_MAX + 1 };

static CUlaunchConfig config;
static CUlaunchAttribute attributes[MANY];
static CUfunction launched;
static unsigned int launches;
static uint64_t first_parameter;

static CUresult launch_ex(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	config = *c;
	memcpy(attributes, c->attrs, c->numAttrs * sizeof(*attributes));
	launched = f;
	launches++;
	memcpy(&first_parameter, extra[1], sizeof(first_parameter));
	assert_int_equal(*(const size_t *)extra[3], BYTES);
	return CUDA_SUCCESS;
}

static struct {
	struct q_launch q;
	uint64_t parameters[PADDED / 8];
	CUlaunchAttribute attributes[MANY];
} go;

static void with(unsigned int i, int id, uint64_t word)
{
	go.attributes[i] = (CUlaunchAttribute){ .id = id };
	memcpy(&go.attributes[i].value, &word, sizeof(word));
	go.q.attributes = i + 1;
}

static CUresult ask_launch(void)
{
	return fake_frame(&s, OP_launch, &go,
			  offsetof(typeof(go), attributes) +
				  go.q.attributes * sizeof(go.attributes[0]));
}

static void begin_launches(void)
{
	context();
	s.library.cuLaunchKernelEx = launch_ex;
	launches = 0;
	memset(&go, 0, sizeof(go));
	go.q = (struct q_launch){ .function = function_of(new_module()),
				  .stream = stream(),
				  .grid = { 4, 5, 6 },
				  .block = { 7, 8, 9 },
				  .shared = 10,
				  .bytes = BYTES };
	go.parameters[0] = 0x1234;
}

TEST(a_launch_with_attributes)
{
	const uint64_t cluster[2] = { 2 | 1ull << 32, 1 };

	begin_launches();
	with(0, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1);
	with(1, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 0);
	memcpy(&go.attributes[1].value, cluster, sizeof(cluster));
	OK(ask_launch());
	assert_int_equal(launches, 1);
	assert_int_equal(config.gridDimX, 4);
	assert_int_equal(config.gridDimZ, 6);
	assert_int_equal(config.blockDimX, 7);
	assert_int_equal(config.blockDimZ, 9);
	assert_int_equal(config.sharedMemBytes, 10);
	assert_ptr_equal(config.hStream, handle_entry(&s, go.q.stream)->what);
	assert_ptr_equal(launched, handle_entry(&s, go.q.function)->what);
	assert_int_equal(first_parameter, 0x1234);
	assert_int_equal(config.numAttrs, 2);
	assert_int_equal(attributes[0].id, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	assert_int_equal(attributes[0].value.cooperative, 1);
	assert_int_equal(attributes[1].value.clusterDim.x, 2);
	assert_int_equal(attributes[1].value.clusterDim.y, 1);
	assert_int_equal(attributes[1].value.clusterDim.z, 1);
}

/* Without attributes a library of before CUDA 11.6 launches, too. */
TEST(a_launch_without)
{
	begin_launches();
	s.library.cuLaunchKernelEx = NULL;
	OK(ask_launch());
	with(0, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
	FAILS(ask_launch(), NOT_SUPPORTED);
}

/* The library gets events of its own, and no pointer that a client has made up. */
TEST(events_of_attributes)
{
	static const int ids[] = { CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
				   CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT };
	uint64_t its, i;

	begin_launches();
	its = new_event();
	for (i = 0; i < 2; i++) {
		with(0, ids[i], its);
		OK(ask_launch());
		assert_ptr_equal(attributes[0].value.event, handle_entry(&s, its)->what);
		with(0, ids[i], (uintptr_t)handle_entry(&s, its)->what);
		FAILS(ask_launch(), INVALID_HANDLE);
		with(0, ids[i], go.q.stream);
		FAILS(ask_launch(), INVALID_HANDLE);
	}
	assert_int_equal(launches, 2);
}

TEST(attributes_with_other_pointers)
{
	static const int ids[] = { CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, 15, 17, -1,
				   1 << 30 };
	unsigned int i;

	begin_launches();
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		with(0, ids[i], 1);
		FAILS(ask_launch(), NOT_SUPPORTED);
	}
	assert_int_equal(launches, 0);
}

TEST(attributes_are_counted)
{
	begin_launches();
	with(MANY - 1, CU_LAUNCH_ATTRIBUTE_PRIORITY, 0);
	FAILS(ask_launch(), INVALID_VALUE);
	go.q.attributes = MANY - 1;
	OK(ask_launch());
	/* more are said to be there than are */
	go.q.attributes = 2;
	FAILS(fake_frame(&s, OP_launch, &go, offsetof(typeof(go), attributes[1])), INVALID_VALUE);
	go.q.attributes = UINT32_MAX;
	FAILS(fake_frame(&s, OP_launch, &go, sizeof(go)), INVALID_VALUE);
	assert_int_equal(launches, 1);
}

/* The graph of a capture keeps the event. */
TEST(captured_attributes)
{
	uint64_t its;

	begin_launches();
	its = new_event();
	with(0, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, its);
	OK(ASK(cuStreamBeginCapture_v2, .stream = go.q.stream, .mode = 2));
	OK(ask_launch());
	assert_true(graph_refs_end(&s, its));
}

/* ------------------------------------------------------------------ clusters */

static CUresult active(int *n, CUfunction f, const CUlaunchConfig *c)
{
	config = *c;
	memcpy(attributes, c->attrs, c->numAttrs * sizeof(*attributes));
	launched = f;
	*n = 66;
	return CUDA_SUCCESS;
}

static CUresult potential(int *n, CUfunction f, const CUlaunchConfig *c)
{
	*n = 16;
	return CUDA_SUCCESS;
}

TEST(clusters)
{
	struct {
		struct q_clusters q;
		CUlaunchAttribute attribute;
	} ask = { .q = { .grid = { 1, 2, 3 }, .block = { 4, 5, 6 }, .shared = 7, .attributes = 1 },
		  .attribute = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				 .value.clusterDim = { 8, 1, 1 } } };

	context();
	ask.q.function = function_of(new_module());
	s.library.cuOccupancyMaxActiveClusters = active;
	s.library.cuOccupancyMaxPotentialClusterSize = potential;
	OK(fake_frame(&s, OP_clusters, &ask, sizeof(ask)));
	assert_int_equal(ANSWER(clusters)->clusters, 66);
	assert_int_equal(config.gridDimY, 2);
	assert_int_equal(config.blockDimY, 5);
	assert_int_equal(config.sharedMemBytes, 7);
	assert_int_equal(attributes[0].value.clusterDim.x, 8);
	assert_ptr_equal(launched, handle_entry(&s, ask.q.function)->what);
	ask.q.potential = 1;
	OK(fake_frame(&s, OP_clusters, &ask, sizeof(ask)));
	assert_int_equal(ANSWER(clusters)->clusters, 16);
	ask.q.attributes = 2;
	FAILS(fake_frame(&s, OP_clusters, &ask, sizeof(ask)), INVALID_VALUE);
	ask.q.function = 0;
	FAILS(fake_frame(&s, OP_clusters, &ask, sizeof(ask)), INVALID_HANDLE);
}

/* ------------------------------------------------------------------ nodes and streams */

static unsigned int asked;

static CUresult node_set(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *v)
{
	asked++;
	return CUDA_SUCCESS;
}

static CUresult node_get(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *v)
{
	asked++;
	return CUDA_SUCCESS;
}

static CUresult stream_set(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *v)
{
	asked++;
	return CUDA_SUCCESS;
}

static CUresult stream_get(CUstream stream, CUstreamAttrID id, CUstreamAttrValue *v)
{
	asked++;
	return CUDA_SUCCESS;
}

TEST(values_with_pointers_stay_here)
{
	static const int refused[] = { CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
				       CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
				       CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, 15, -1 };
	uint64_t graph = new_graph(), node, its;
	unsigned int i;

	context();
	its = stream();
	s.library.cuGraphKernelNodeSetAttribute = node_set;
	s.library.cuGraphKernelNodeGetAttribute = node_get;
	s.library.cuStreamSetAttribute = stream_set;
	s.library.cuStreamGetAttribute = stream_get;
	node = GET(node, cuGraphAddEmptyNode, .graph = graph);
	asked = 0;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		FAILS(ASK(cuGraphKernelNodeSetAttribute, .node = node, .attribute = refused[i]),
		      NOT_SUPPORTED);
		FAILS(ASK(cuGraphKernelNodeGetAttribute, .node = node, .attribute = refused[i]),
		      NOT_SUPPORTED);
		FAILS(ASK(cuStreamSetAttribute, .stream = its, .attribute = refused[i]),
		      NOT_SUPPORTED);
		FAILS(ASK(cuStreamGetAttribute, .stream = its, .attribute = refused[i]),
		      NOT_SUPPORTED);
	}
	assert_int_equal(asked, 0);
	OK(ASK(cuGraphKernelNodeSetAttribute, .node = node, .attribute = 1));
	OK(ASK(cuGraphKernelNodeGetAttribute, .node = node, .attribute = 1));
	OK(ASK(cuStreamSetAttribute, .stream = its, .attribute = 1));
	OK(ASK(cuStreamGetAttribute, .stream = its, .attribute = 1));
	assert_int_equal(asked, 4);
}

TEST_MAIN(set_up, tear_down)
