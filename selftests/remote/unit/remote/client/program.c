// SPDX-License-Identifier: MIT
/*
 * A program's calls, at random: those of generated code by code that ../server/fake.py makes, the
 * others here. It uses what it gets as a program does: pointers that are the host's, lists,
 * parameters.
 */
#include <stdlib.h>
#include <sched.h>

#include <cuda/api/export/export.h>

#include "liar.h"

enum { POOL = 8, BYTES = 64 << 10, MANAGED = 4, FERRIES = 4096, ENTER = 40 };
/* of each server: in object.c, and of most numbers */
enum { SLOTS = 1 << 20, INDEXES = 4096 };

static struct {
	void *at[POOL];
	unsigned int nr;
} pool[NR_CLASSES];
static uint8_t host[3][BYTES], large[3 << 20];
static uint8_t *pinned[4];
static CUdeviceptr managed[MANAGED], device[POOL];
static unsigned int nr_device;
/* what was linked last; the program reads it until that link is completed anew, or ends */
static const uint8_t *cubin;
static size_t cubin_bytes;
static const struct object *cubin_of;
static volatile uint8_t seen;
static uint8_t tag;

static unsigned int below(unsigned int n)
{
	return liar_below(n);
}

/* ------------------------------------------------------------------ what the program has */

void *liar_handle(unsigned int class)
{
	unsigned int n = pool[class].nr < POOL ? pool[class].nr : POOL;

	return n && below(16) ? pool[class].at[below(n)] : NULL;
}

void liar_take(unsigned int class, void *handle)
{
	if (handle)
		pool[class].at[pool[class].nr++ % POOL] = handle;
}

void liar_drop(unsigned int class, const void *handle)
{
	unsigned int i;

	for (i = 0; i < POOL; i++)
		if (pool[class].at[i] == handle)
			pool[class].at[i] = NULL;
}

uint64_t liar_number(void)
{
	return below(4) ? below(4) : below(2) ? 1ull << below(16) : liar_random();
}

CUdeviceptr liar_address(void)
{
	if (nr_device && below(8))
		return device[below(nr_device < POOL ? nr_device : POOL)];
	return below(2) ? managed[below(MANAGED)] : liar_random();
}

void liar_bytes(void *to, size_t n)
{
	uint32_t *word = to;

	for (; n >= 4; n -= 4)
		*word++ = below(4);
}

static uint8_t *host_at(size_t *n)
{
	uint8_t *p = pinned[below(4)];
	struct host_range r;

	*n = 1 + below(64);
	/* pinned memory ends with its context */
	if (p && below(3) && host_find(p, &r))
		return p + below(64);
	return host[below(3)] + below(BYTES - 128);
}

static void touch(const void *p, size_t n)
{
	const uint8_t *at = p;

	if (n)
		seen = at[0] ^ at[n - 1];
}

/* ------------------------------------------------------------------ modules */

static const uint8_t *image(void)
{
	static const char ptx[] = "//\n.version 7.8\n.target sm_35\n.address_size 64\n";

	return (const uint8_t *)ptx;
}

static void load(void)
{
	char *log = malloc(16), *error = malloc(1);
	CUjit_option options[] = { CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
				   CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)16, error, (void *)1 };
	CUmodule m;

	if (!cuModuleLoadDataEx(&m, image(), below(2) ? 4 : 0, options, values)) {
		liar_take(CLASS_MODULE, m);
		if ((uintptr_t)values[1] > 16 || (uintptr_t)values[3] > 1)
			abort();
	}
	free(log);
	free(error);
}

static void function(void)
{
	CUfunction f = NULL;

	if (!(below(2) ? cuModuleGetFunction(&f, liar_handle(CLASS_MODULE), "kernel") :
			 cuModuleEnumerateFunctions(&f, 1, liar_handle(CLASS_MODULE))) &&
	    f)
		liar_take(CLASS_FUNCTION, f);
}

/* the address is the GPU's, whatever the server says: the host's memory there is let alone */
static void on_device(CUdeviceptr at)
{
	device[nr_device++ % POOL] = at;
	if (below(2))
		cuMemcpy(at, (uintptr_t)host[0], 8);
	else
		cuMemcpy((uintptr_t)host[0], at, 8);
}

static void variable(void)
{
	CUdeviceptr at;
	size_t n;

	if (cuModuleGetGlobal_v2(&at, &n, liar_handle(CLASS_MODULE), "kernel"))
		return;
	on_device(at);
}

/* kernels of a library, asked and launched; a list of them may have too many */
static void libraries(void)
{
	CUkernel k, list[4] = { NULL };
	unsigned int n = 0, i;
	const char *name;
	CUlibrary l;
	CUfunction f;
	int v;

	if (cuLibraryLoadData(&l, image(), NULL, NULL, 0, NULL, NULL, 0))
		return;
	if (!cuLibraryGetKernel(&k, l, "kernel")) {
		cuKernelGetAttribute(&v, below(16), k, below(2));
		cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		if (!cuKernelGetFunction(&f, k))
			cuKernelSetAttribute(8, below(1 << 16), k, 0);
	}
	if (!cuLibraryGetKernelCount(&n, l) && !cuLibraryEnumerateKernels(list, 4, l))
		for (i = 0; i < 4 && list[i]; i++)
			if (!cuKernelGetName(&name, list[i]))
				touch(name, strlen(name));
	cuLibraryUnload(l);
}

static void link_some(void)
{
	CUlinkState s = liar_handle(CLASS_LINK);
	void *made;
	size_t n;

	if (cubin && cubin_of->more == cubin)
		touch(cubin, cubin_bytes);
	if (!below(2) && !cuLinkCreate_v2(0, NULL, NULL, &s))
		liar_take(CLASS_LINK, s);
	cuLinkAddData_v2(s, CU_JIT_INPUT_PTX, host[0], 64, "k", 0, NULL, NULL);
	if (!below(2) && !cuLinkComplete(s, &made, &n)) {
		touch(made, n);
		cubin = made;
		cubin_bytes = n;
		cubin_of = (const struct object *)s;
	}
}

/* ------------------------------------------------------------------ launches */

/*
 * How many parameters a kernel has, and of how many bytes, is the server's to say, in 32 KiB: the
 * client does not read images. So the program has as much of each.
 */
static uint8_t arguments[KVGPU_REMOTE_PARAMETERS_MAX];
static void *params[KVGPU_REMOTE_LIST_MAX];

static void launch(void)
{
	CUlaunchAttribute attributes[3];
	CUstream s = liar_handle(CLASS_STREAM);
	CUlaunchConfig c = { 1, 1, 1, 32, 1, 1, 0, s, attributes, below(4) };
	CUfunction f = liar_handle(CLASS_FUNCTION);
	unsigned int i;
	int n;

	for (i = 0; i < c.numAttrs; i++) {
		attributes[i].id = below(16);
		liar_bytes(&attributes[i].value, sizeof(attributes[i].value));
		if (below(2))
			attributes[i].value.event = liar_handle(CLASS_EVENT);
	}
	switch (below(4)) {
	case 0:
		cuLaunchKernelEx(&c, f, params, NULL);
		break;
	case 1:
		cuOccupancyMaxActiveClusters(&n, f, &c);
		break;
	default:
		cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL);
	}
}

static void occupancy(void)
{
	int grid, block;

	cuOccupancyMaxPotentialBlockSize(&grid, &block, liar_handle(CLASS_FUNCTION), NULL, 0, 0);
}

static void on_host(void *data)
{
	if (data != &tag)
		abort();
}

static void on_stream(CUstream stream, CUresult status, void *data)
{
	on_host(data);
}

static void functions(void)
{
	CUuserObject object;

	switch (below(3)) {
	case 0:
		cuLaunchHostFunc(liar_handle(CLASS_STREAM), on_host, &tag);
		break;
	case 1:
		cuStreamAddCallback(liar_handle(CLASS_STREAM), on_stream, &tag, 0);
		break;
	default:
		if (!cuUserObjectCreate(&object, &tag, on_host, 1, 1))
			liar_take(CLASS_USER, object);
	}
}

/* ------------------------------------------------------------------ memory and copies */

static void memory(void)
{
	CUdeviceptr at;
	size_t pitch;
	unsigned int i = below(4);
	void *p;

	switch (below(4)) {
	case 0:
		if (!cuMemAlloc_v2(&at, 8 << below(20)))
			on_device(at);
		break;
	case 1:
		if (!cuMemAllocPitch_v2(&at, &pitch, 100, 10, 4))
			on_device(at);
		break;
	case 2:
		if (pinned[i])
			cuMemFreeHost(pinned[i]);
		pinned[i] = NULL;
		if (!cuMemHostAlloc(&p, 4096, 0))
			pinned[i] = memset(p, 0, 4096);
		break;
	default:
		if (pinned[i] && !cuMemHostGetDevicePointer_v2(&at, pinned[i], 0))
			on_device(at);
	}
}

static void copy(void)
{
	CUstream s = liar_handle(CLASS_STREAM);
	size_t n;
	uint8_t *p = host_at(&n);

	switch (below(8)) {
	case 0:
		cuMemcpyHtoD_v2(liar_address(), p, n);
		break;
	case 1:
		cuMemcpyDtoH_v2(p, liar_address(), n);
		break;
	case 2:
		cuMemcpyHtoDAsync_v2(liar_address(), p, n, s);
		break;
	case 3:
		cuMemcpyDtoHAsync_v2(p, liar_address(), n, s);
		break;
	case 4:
		cuMemcpyAtoH_v2(p, liar_handle(CLASS_ARRAY), 0, n);
		break;
	case 5:
		cuMemcpyHtoA_v2(liar_handle(CLASS_ARRAY), 0, p, n);
		break;
	case 6:
		cuMemcpyPeer(liar_address(), liar_handle(CLASS_CONTEXT), liar_address(),
			     liar_handle(CLASS_CONTEXT), n);
		break;
	default:
		if (!below(64))
			cuMemcpyDtoH_v2(large, liar_address(), sizeof(large));
	}
}

/* pinned memory may have been freed since a node was made of it */
static bool is_mine(CUmemorytype type, const void *p)
{
	struct host_range r;

	return type != CU_MEMORYTYPE_HOST || host_find(p, &r) ||
	       (uintptr_t)p - (uintptr_t)host < sizeof(host);
}

static CUDA_MEMCPY3D box(void)
{
	const bool in = below(2);
	size_t n;
	uint8_t *p = nr_peers == 1 ? host_at(&n) : host[below(3)] + below(BYTES - 128);
	CUDA_MEMCPY3D c = { .WidthInBytes = 1 + below(8), .Height = 1 + below(2), .Depth = 1 };

	c.srcPitch = c.dstPitch = 16;
	c.srcHeight = c.dstHeight = 2;
	c.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	c.dstMemoryType = in ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	c.srcHost = c.dstHost = p;
	c.srcDevice = c.dstDevice = liar_address();
	return c;
}

static void boxes(void)
{
	CUDA_MEMCPY3D c = box();

	if (below(2))
		cuMemcpy3D_v2(&c);
	else
		cuMemcpy3DAsync_v2(&c, liar_handle(CLASS_STREAM));
}

static void managed_some(void)
{
	const unsigned int i = below(MANAGED);
	CUdeviceptr at = managed[i];

	if (liar_manages && !cuMemAllocManaged(&at, 4096, 1))
		managed[i] = at;
	if (!managed_has(at)) /* it has ended with its context, or cuMemFree() got it */
		return;
	touch((void *)at, 4096);
	*(volatile uint8_t *)at = 1;
}

/* what is the host's by the attributes is accessed */
static void pointer(void)
{
	static const CUpointer_attribute all[] = {
		CU_POINTER_ATTRIBUTE_CONTEXT,	       CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_DEVICE_POINTER,   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
		CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_IS_MANAGED
	};
	CUdeviceptr at = liar_address();
	unsigned int type = 0;
	uint64_t value;
	int where[2];
	unsigned int is = 0;

	cuPointerGetAttribute(&value, all[below(6)], at);
	cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
	cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
	if (is || type == CU_MEMORYTYPE_HOST)
		touch((void *)at, 1);
	if (!cuMemRangeGetAttribute(where, sizeof(where), 3, at, 64) && where[0] >= 4)
		abort();
}

/* ------------------------------------------------------------------ graphs */

static void kernel_nodes(void)
{
	CUgraphNode node = liar_handle(CLASS_NODE);
	CUDA_KERNEL_NODE_PARAMS p = { .func = liar_handle(CLASS_FUNCTION),
				      .gridDimX = 1,
				      .gridDimY = 1,
				      .gridDimZ = 1,
				      .blockDimX = 1,
				      .blockDimY = 1,
				      .blockDimZ = 1,
				      .kernelParams = params };
	size_t offset, size, i;

	if (below(2)) {
		if (!cuGraphAddKernelNode(&node, liar_handle(CLASS_GRAPH), NULL, 0, &p))
			liar_take(CLASS_NODE, node);
		return;
	}
	if (cuGraphKernelNodeGetParams(node, &p))
		return;
	for (i = 0; p.kernelParams && !cuFuncGetParamInfo(p.func, i, &offset, &size); i++)
		touch(p.kernelParams[i], size);
	cuGraphKernelNodeSetParams(node, &p);
}

/* get, change, set: what is the host's is the program's to access */
static void copy_nodes(void)
{
	CUgraphNode node = liar_handle(CLASS_NODE);
	CUcontext ctx = liar_handle(CLASS_CONTEXT);
	CUDA_MEMCPY3D c = box();
	size_t lines;

	if (below(2)) {
		if (!cuGraphAddMemcpyNode(&node, liar_handle(CLASS_GRAPH), NULL, 0, &c, ctx))
			liar_take(CLASS_NODE, node);
		return;
	}
	if (cuGraphMemcpyNodeGetParams(node, &c))
		return;
	lines = (c.Depth - 1) * c.srcHeight + c.Height - 1;
	if (c.srcMemoryType == CU_MEMORYTYPE_HOST)
		touch((const uint8_t *)c.srcHost + c.srcXInBytes +
			      (c.srcZ * c.srcHeight + c.srcY) * c.srcPitch,
		      lines * c.srcPitch + c.WidthInBytes);
	lines = (c.Depth - 1) * c.dstHeight + c.Height - 1;
	if (c.dstMemoryType == CU_MEMORYTYPE_HOST)
		touch((uint8_t *)c.dstHost + c.dstXInBytes +
			      (c.dstZ * c.dstHeight + c.dstY) * c.dstPitch,
		      lines * c.dstPitch + c.WidthInBytes);
	if (!is_mine(c.srcMemoryType, c.srcHost) || !is_mine(c.dstMemoryType, c.dstHost))
		return;
	if (below(2))
		cuGraphMemcpyNodeSetParams(node, &c);
	else
		cuGraphExecMemcpyNodeSetParams(liar_handle(CLASS_EXEC), node, &c, ctx);
}

static void host_nodes(void)
{
	CUgraphNode node = liar_handle(CLASS_NODE);
	CUDA_HOST_NODE_PARAMS p = { on_host, &tag };

	if (below(2) && !cuGraphAddHostNode(&node, liar_handle(CLASS_GRAPH), NULL, 0, &p))
		liar_take(CLASS_NODE, node);
	else if (!cuGraphHostNodeGetParams(node, &p))
		p.fn(p.userData);
}

static void any_nodes(void)
{
	const unsigned int type = below(9);
	CUgraphNodeParams p = { .type = type < 8 ? type : CU_GRAPH_NODE_TYPE_CONDITIONAL };
	CUgraphNode node = liar_handle(CLASS_NODE), before = liar_handle(CLASS_NODE);
	CUgraphEdgeData edge = { .type = below(2) };

	switch (p.type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		p.kernel.func = liar_handle(CLASS_FUNCTION);
		p.kernel.kernelParams = params;
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		p.memcpy.copyParams = box();
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		p.host = (CUDA_HOST_NODE_PARAMS){ on_host, &tag };
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		p.graph.graph = liar_handle(CLASS_GRAPH);
		p.graph.ownership = below(2);
		break;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		p.conditional.size = below(4);
		break;
	default:
		p.eventWait.event = liar_handle(CLASS_EVENT);
	}
	switch (below(3)) {
	case 0:
		if (!cuGraphAddNode_v2(&node, liar_handle(CLASS_GRAPH), &before,
				       below(2) ? &edge : NULL, below(2), &p)) {
			liar_take(CLASS_NODE, node);
			if (p.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
				liar_take(CLASS_GRAPH,
					  p.conditional.phGraph_out[below(p.conditional.size)]);
		}
		break;
	case 1:
		cuGraphNodeSetParams(node, &p);
		break;
	default:
		cuGraphExecNodeSetParams(liar_handle(CLASS_EXEC), node, &p);
	}
}

static void executables(void)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = { .flags = below(16) };
	CUgraphExecUpdateResultInfo info;
	CUgraphNode bad;
	CUgraphExec exec;
	char *log = malloc(8);

	if (below(2) ? !cuGraphInstantiate_v2(&exec, liar_handle(CLASS_GRAPH), &bad, log, 8) :
		       !cuGraphInstantiateWithParams(&exec, liar_handle(CLASS_GRAPH), &p))
		liar_take(CLASS_EXEC, exec);
	free(log);
	cuGraphExecUpdate_v2(liar_handle(CLASS_EXEC), liar_handle(CLASS_GRAPH), &info);
}

static void captures(void)
{
	CUstream s = liar_handle(CLASS_STREAM);
	CUstreamCaptureStatus status;
	const CUgraphEdgeData *edges;
	const CUgraphNode *nodes;
	CUgraph graph;
	cuuint64_t id;
	size_t n = 0, i;

	if (cuStreamGetCaptureInfo_v3(s, &status, &id, &graph, &nodes, &edges, &n) ||
	    status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return;
	touch(edges, n * sizeof(*edges));
	cuGraphCreate(&graph, 0);
	for (i = 0; i < n; i++)
		liar_take(CLASS_NODE, nodes[i]);
}

static void threads_own(void)
{
	cuStreamSynchronize(CU_STREAM_PER_THREAD);
	cuCtxSetCurrent(liar_handle(CLASS_CONTEXT));
}

static void primary_contexts(void)
{
	CUcontext c = NULL;

	if (!export_primary(&c, liar_number()))
		liar_take(CLASS_CONTEXT, c);
}

/* ------------------------------------------------------------------ memory without a context */

static CUmemAccessDesc access_by[2];

static void mapped(void)
{
	const CUipcMemHandle handle = { { 1 } };
	CUdeviceptr at;

	access_by[0] = (CUmemAccessDesc){ { 1, (int)below(4) }, 3 };
	access_by[1] = (CUmemAccessDesc){ { (int)below(3), 0 }, (int)below(4) };
	if (!cuMemAddressReserve(&at, 4096ull << below(4), 0, 0, 0))
		on_device(at);
	cuMemSetAccess(liar_address(), 4096ull << below(4), access_by, below(3));
	if (!cuIpcOpenMemHandle_v2(&at, handle, 1))
		on_device(at);
}

static void pools(void)
{
	CUmemoryPool some = liar_handle(CLASS_POOL);
	CUmemLocation place = { 1, (int)below(4) };
	int word[2] = { 7, 7 };
	CUmemAccess_flags flags;
	uint64_t value;

	cuMemPoolSetAccess(some, access_by, below(3));
	cuMemPoolGetAccess(&flags, some, &place);
	cuMemPoolGetAttribute(some, 1, word);
	cuMemPoolGetAttribute(some, 4, &value);
	cuMemPoolSetAttribute(some, 4, &value);
	cuDeviceGetGraphMemAttribute((int)below(4), 0, &value);
	if (word[1] != 7)
		abort();
	if (!cuPointerGetAttribute(&some, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, liar_address()))
		liar_take(CLASS_POOL, some);
}

static void (*const by_hand[])(void) = {
	load,	      function,	   function,   variable,     link_some,	       launch,
	launch,	      occupancy,   functions,  memory,	     memory,	       copy,
	copy,	      copy,	   boxes,      managed_some, pointer,	       kernel_nodes,
	kernel_nodes, copy_nodes,  copy_nodes, copy_nodes,   host_nodes,       executables,
	captures,     threads_own, mapped,     pools,	     primary_contexts, any_nodes,
	libraries
};

/* ------------------------------------------------------------------ one program after the other */

static void enter(void)
{
	CUcontext ctx;
	unsigned int i;

	for (i = 0; i < ENTER && current_check(); i++)
		if (!cuCtxCreate_v2(&ctx, 0, below(2 * nr_peers)))
			liar_take(CLASS_CONTEXT, ctx);
}

/* all slots of all servers, but for those that only a lie of a high number has reached */
static void end_objects(struct object *any)
{
	struct object *first = any - KVGPU_REMOTE_INDEX(any->id) - any->peer * SLOTS, *o;
	unsigned int i;

	for (i = 0; i < nr_peers * INDEXES; i++) {
		o = first + i / INDEXES * SLOTS + i % INDEXES;
		if (o->class == CLASS_CONTEXT) {
			ranges_end(o);
			hostmem_end(o);
			managed_end(o);
		}
		if (o->class)
			object_end(o, o->id);
	}
	for (i = 1; i < FERRIES; i++) {
		bounce_free(i);
		host_function_drop(i);
	}
}

static unsigned int fences_of(const struct peer *p)
{
	return __atomic_load_n(&p->cross_fences, __ATOMIC_RELAXED);
}

static void settle(void)
{
	unsigned int i, tries;

	for (i = 0; i < nr_peers; i++) {
		struct peer *p = &peers[i];

		for (tries = 0; tries < 1000 && fences_of(p); tries++)
			sched_yield();
		free(p->arena.blocks);
		memset(&p->arena, 0, sizeof(p->arena));
		pthread_mutex_init(&p->arena.lock, NULL);
		if (!arena_init(p))
			abort();
		p->room = KVGPU_REMOTE_NOWHERE;
		p->room_used = p->named_context = p->behind = p->pinned = p->late = 0;
		peer_slow(p, SLOW_SUSPECT, false);
	}
	for (i = 1; captures_any(); i++)
		capture_answered(OP_cuStreamEndCapture,
				 &(struct q_cuStreamEndCapture){ .stream = i }, CUDA_SUCCESS);
	/* of no context, and so not ended with one */
	ranges_unmapped(0, UINT64_MAX);
	for (i = 0; i < 256; i++)
		reservation_ends(0x700000000 + ((uint64_t)i << 12));
}

static void *run(void *arg)
{
	uint64_t steps = *(uint64_t *)arg, i;
	void *any = NULL;

	for (i = 0; i < KVGPU_REMOTE_LIST_MAX; i++)
		params[i] = arguments;
	liar_manages = !below(16);
	for (i = 0; i < steps && liar_has_more(); i++) {
		if (current_check())
			enter();
		any = any ? any : pool[CLASS_CONTEXT].at[0];
		if (below(2))
			by_hand[below(sizeof(by_hand) / sizeof(*by_hand))]();
		else
			liar_calls[below(liar_nr_calls)]();
	}
	if (any)
		end_objects(any);
	return NULL;
}

void liar_program(uint64_t steps)
{
	run(&steps);
	settle();
	memset(pool, 0, sizeof(pool));
	memset(pinned, 0, sizeof(pinned));
	cubin = NULL;
	memset(managed, 0, sizeof(managed));
	nr_device = 0;
}
