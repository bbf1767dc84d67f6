// SPDX-License-Identifier: MIT
/* The fake library's functions that the frames written by hand call; see fake.h. */
#include "fake.h"

#include <assert.h>
#include <stdlib.h>

enum { HANDLE_MAGIC = 0x68616e64, IMAGE_LEAST = 4 };
uint8_t fake_image[4];

uint64_t fake_ends;
unsigned int fake_calls, fake_busy, fake_registered;
CUresult fake_error;
void (*fake_called)(void);
void (*fake_later)(CUhostFn fn, void *data);

struct fake *fake_all;
static volatile uint64_t sum; /* of all bytes read, so that the compiler keeps the reads */

CUresult fake_result(void)
{
	CUresult r = fake_error;

	fake_calls++;
	if (fake_called)
		fake_called();
	return r;
}

void fake_run(CUhostFn fn, void *data)
{
	if (fake_later)
		fake_later(fn, data);
	else
		fn(data);
}

void *fake_new(unsigned int class)
{
	struct fake *f = malloc(sizeof(*f));

	assert(f);
	*f = (struct fake){ .magic = HANDLE_MAGIC, .class = class, .next = fake_all };
	fake_all = f;
	return f;
}

/* Checks that a handle which the server passes on is one that the library gave. */
void fake_handle(unsigned int class, const void *handle)
{
	const struct fake *f = handle;

	assert(!f || (f->magic == HANDLE_MAGIC && f->class == class));
}

void fake_handles(unsigned int class, void *const *handles, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fake_handle(class, handles[i]);
}

/*
 * Fills the room for *@n handles with three new handles at most, and with NULL. *@n stays, as if
 * all of them had been given.
 */
void fake_list(unsigned int class, void **handles, void *n)
{
	size_t *count = n, i;

	for (i = 0; handles && i < *count; i++)
		handles[i] = i < 3 ? fake_new(class) : NULL;
}

/* Reads some bytes, and the last one. */
void fake_read(const void *p, size_t n)
{
	const uint8_t *at = p;
	size_t i;

	for (i = 0; p && i < n; i += n / 8 + 1)
		sum += at[i];
	if (p && n)
		sum += at[n - 1];
}

void fake_string(const char *text)
{
	fake_read(text, strlen(text));
}

void fake_write(void *p, size_t n)
{
	memset(p, 0x11, n);
}

/* ------------------------------------------------------------------ by hand */

static CUresult ready(void)
{
	if (fake_busy) {
		fake_busy--;
		return CUDA_ERROR_NOT_READY;
	}
	return fake_result();
}

static CUresult stream_query(CUstream s)
{
	fake_handle(CLASS_STREAM, s);
	return ready();
}
static CUresult event_query(CUevent e)
{
	fake_handle(CLASS_EVENT, e);
	return ready();
}
static CUresult capturing(CUstream s, CUstreamCaptureStatus *status)
{
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return fake_error;
}
static CUresult init(unsigned int flags)
{
	return fake_result();
}
static CUresult count(int *n)
{
	*n = 1;
	return fake_result();
}
static CUresult name(char *to, int n, CUdevice dev)
{
	fake_write(to, n);
	return fake_result();
}
static CUresult uuid(CUuuid *id, CUdevice dev)
{
	fake_write(id, sizeof(*id));
	return fake_result();
}
static CUresult total(size_t *n, CUdevice dev)
{
	*n = 1 << 30;
	return fake_result();
}
static CUresult attribute(int *v, CUdevice_attribute a, CUdevice dev)
{
	*v = a;
	return fake_result();
}
static CUresult set_current(CUcontext ctx)
{
	fake_handle(CLASS_CONTEXT, ctx);
	return fake_result();
}
static CUresult pop(CUcontext *ctx)
{
	return fake_result();
}
static CUresult mode(CUstreamCaptureMode *m)
{
	return fake_result();
}
static CUresult primary_state(CUdevice dev, unsigned int *flags, int *active)
{
	if (flags)
		*flags = 0;
	if (active)
		*active = 0;
	return fake_result();
}
static CUresult address(CUdeviceptr *p)
{
	static uint64_t next = 1 << 20;
	*p = next += 1 << 20;
	return fake_result();
}
static CUresult alloc(CUdeviceptr *p, size_t n)
{
	return address(p);
}
static CUresult pitch(CUdeviceptr *p, size_t *pitch, size_t w, size_t h, unsigned int e)
{
	*pitch = (w + 511) & ~511ull;
	return address(p);
}
static CUresult in(CUdeviceptr d, const void *s, size_t n, CUstream stream)
{
	fake_read(s, n);
	return fake_result();
}
static CUresult out(void *d, CUdeviceptr s, size_t n, CUstream stream)
{
	fake_write(d, n);
	return fake_result();
}
static CUresult pool_of_device(CUmemoryPool *pool, CUdevice dev);
static CUresult pointer(void *v, CUpointer_attribute a, CUdeviceptr p)
{
	if (a == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
		return pool_of_device(v, 0);
	fake_write(v, 8);
	return a == CU_POINTER_ATTRIBUTE_CONTEXT ? CUDA_ERROR_INVALID_VALUE : fake_result();
}
static CUresult pointer_set(const void *v, CUpointer_attribute a, CUdeviceptr p)
{
	fake_read(v, 4);
	return fake_result();
}
static CUresult function(CUfunction *f, CUmodule m, const char *name)
{
	fake_handle(CLASS_MODULE, m);
	fake_string(name);
	*f = fake_new(CLASS_FUNCTION);
	return fake_result();
}
unsigned int fake_functions = FAKE_FUNCTIONS;
static CUresult function_count(unsigned int *n, CUmodule m)
{
	fake_handle(CLASS_MODULE, m);
	*n = fake_functions;
	return fake_result();
}
static CUresult functions(CUfunction *f, unsigned int n, CUmodule m)
{
	unsigned int i;

	fake_handle(CLASS_MODULE, m);
	for (i = 0; i < n && i < FAKE_FUNCTIONS; i++)
		f[i] = fake_new(CLASS_FUNCTION);
	return fake_result();
}
static CUresult function_name(const char **name, CUfunction f)
{
	fake_handle(CLASS_FUNCTION, f);
	*name = "kernel";
	return fake_result();
}
static CUresult global(CUdeviceptr *p, size_t *n, CUmodule m, const char *name)
{
	fake_string(name);
	*n = 8;
	return address(p);
}
static CUresult to_array(CUarray d, size_t at, const void *s, size_t n, CUstream stream)
{
	fake_handle(CLASS_ARRAY, d);
	fake_read(s, n);
	return fake_result();
}
static CUresult from_array(void *d, CUarray s, size_t at, size_t n, CUstream stream)
{
	fake_handle(CLASS_ARRAY, s);
	fake_write(d, n);
	return fake_result();
}
static CUresult host_func(CUstream s, CUhostFn fn, void *data)
{
	if (!fake_error)
		fake_run(fn, data);
	return fake_result();
}
static CUresult callback(CUstream s, CUstreamCallback fn, void *data, unsigned int flags)
{
	if (!fake_error)
		fn(s, CUDA_SUCCESS, data);
	return fake_result();
}

/* A kernel has three parameters, of 8, 4 and 1 bytes. */
static CUresult parameter(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	static const size_t table[][2] = { { 0, 8 }, { 8, 4 }, { 12, 1 } };

	fake_handle(CLASS_FUNCTION, f);
	if (i >= 3)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = table[i][0];
	*size = table[i][1];
	return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
		       unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		       CUstream stream, void **params, void **extra)
{
	fake_handle(CLASS_FUNCTION, f);
	fake_handle(CLASS_STREAM, stream);
	if (!params)
		fake_read(extra[1], 13); /* the bytes of this kernel's parameters */
	return fake_result();
}

static void attributes(const CUlaunchConfig *c)
{
	unsigned int i;

	for (i = 0; i < c->numAttrs; i++)
		if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
		    c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
			fake_handle(CLASS_EVENT, c->attrs[i].value.event);
		else
			fake_read(&c->attrs[i], sizeof(c->attrs[i]));
}

static CUresult launch_ex(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	attributes(c);
	return launch(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
		      c->blockDimZ, c->sharedMemBytes, c->hStream, params, extra);
}

static CUresult clusters(int *n, CUfunction f, const CUlaunchConfig *c)
{
	fake_handle(CLASS_FUNCTION, f);
	fake_handle(CLASS_STREAM, c->hStream);
	attributes(c);
	*n = c->numAttrs;
	return fake_result();
}

static CUresult load(CUmodule *m, const void *image, unsigned int n, CUjit_option *options,
		     void **values)
{
	unsigned int i;

	fake_read(image, IMAGE_LEAST);
	memcpy(fake_image, image, IMAGE_LEAST);
	for (i = 0; i + 1 < n; i++)
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
			fake_write(values[i], (uintptr_t)values[i + 1]);
	*m = fake_new(CLASS_MODULE);
	return fake_result();
}

/* what a library touches of an end in host memory; @rows: lines from one slice to the next */
static void read_end(CUmemorytype type, const void *host, CUarray array, size_t pitch, size_t rows,
		     const size_t *size, bool write)
{
	size_t bytes = pitch * (rows * (size[2] - 1) + size[1] - 1) + size[0];

	if (type == CU_MEMORYTYPE_ARRAY)
		fake_handle(CLASS_ARRAY, array);
	if (type != CU_MEMORYTYPE_HOST || !size[0] || !size[1] || !size[2])
		return;
	fake_ends++;
	if (write)
		fake_write((void *)(uintptr_t)host, bytes);
	else
		fake_read(host, bytes);
}

static CUresult box3(const CUDA_MEMCPY3D *c)
{
	const size_t size[] = { c->WidthInBytes, c->Height, c->Depth };

	read_end(c->srcMemoryType, c->srcHost, c->srcArray, c->srcPitch, c->srcHeight, size, false);
	read_end(c->dstMemoryType, c->dstHost, c->dstArray, c->dstPitch, c->dstHeight, size, true);
	return fake_result();
}

static CUresult box3_async(const CUDA_MEMCPY3D *c, CUstream s)
{
	return box3(c);
}

static CUresult box3_peer(const CUDA_MEMCPY3D_PEER *c)
{
	CUDA_MEMCPY3D b;

	static_assert(sizeof(b) == sizeof(*c), "one layout");
	memcpy(&b, c, sizeof(b));
	fake_handle(CLASS_CONTEXT, c->srcContext);
	fake_handle(CLASS_CONTEXT, c->dstContext);
	return box3(&b);
}

static CUresult box3_peer_async(const CUDA_MEMCPY3D_PEER *c, CUstream s)
{
	return box3_peer(c);
}

static CUresult box2(const CUDA_MEMCPY2D *c)
{
	const size_t size[] = { c->WidthInBytes, c->Height, 1 };

	read_end(c->srcMemoryType, c->srcHost, c->srcArray, c->srcPitch, 0, size, false);
	read_end(c->dstMemoryType, c->dstHost, c->dstArray, c->dstPitch, 0, size, true);
	return fake_result();
}

static CUresult box2_async(const CUDA_MEMCPY2D *c, CUstream s)
{
	return box2(c);
}

static CUresult link_create(unsigned int n, CUjit_option *options, void **values,
			    CUlinkState *state)
{
	*state = fake_new(CLASS_LINK);
	return fake_result();
}

static CUresult link_add(CUlinkState s, CUjitInputType type, void *data, size_t size,
			 const char *name, unsigned int n, CUjit_option *options, void **values)
{
	fake_handle(CLASS_LINK, s);
	fake_read(data, size);
	if (name)
		fake_string(name);
	return fake_result();
}

static CUresult link_complete(CUlinkState s, void **cubin, size_t *n)
{
	static char result[100];
	fake_handle(CLASS_LINK, s);
	*cubin = result;
	*n = sizeof(result);
	return fake_result();
}

/*
 * The kernel node that was made last. A library gives its parameters back one by one, or packed as
 * they were set.
 */
static struct {
	CUfunction f;
	uint8_t packed[13];
	size_t bytes;
	void *params[3], *extra[5];
} last_kernel;
unsigned int fake_gives_packed;
bool fake_no_register, fake_no_address, fake_own_address;

static CUresult kernel_node_get(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
	fake_handle(CLASS_NODE, node);
	if (!last_kernel.f)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(last_kernel.params,
	       (void *[]){ last_kernel.packed, last_kernel.packed + 8, last_kernel.packed + 12 },
	       sizeof(last_kernel.params));
	memcpy(last_kernel.extra,
	       (void *[]){ CU_LAUNCH_PARAM_BUFFER_SIZE, &last_kernel.bytes,
			   CU_LAUNCH_PARAM_BUFFER_POINTER, last_kernel.packed,
			   CU_LAUNCH_PARAM_END },
	       sizeof(last_kernel.extra));
	*p = (CUDA_KERNEL_NODE_PARAMS){ .func = last_kernel.f,
					.gridDimX = 1,
					.blockDimX = 2,
					.kernelParams = fake_gives_packed ? NULL :
									    last_kernel.params,
					.extra = fake_gives_packed ? last_kernel.extra : NULL };
	last_kernel.bytes = fake_gives_packed;
	return fake_result();
}

static CUresult kernel_node(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			    const CUDA_KERNEL_NODE_PARAMS *p)
{
	fake_handle(CLASS_GRAPH, g);
	fake_handles(CLASS_NODE, (void *const *)d, n);
	fake_handle(CLASS_FUNCTION, p->func);
	fake_read(p->extra[1], 13);
	last_kernel.f = p->func;
	memcpy(last_kernel.packed, p->extra[1], sizeof(last_kernel.packed));
	*node = fake_new(CLASS_NODE);
	return fake_result();
}

void fake_box(const CUDA_MEMCPY3D *c)
{
	box3(c);
}

static CUresult instantiate(CUgraphExec *e, CUgraph g, CUgraphNode *bad, char *log, size_t n)
{
	fake_handle(CLASS_GRAPH, g);
	if (log)
		fake_write(log, n);
	*e = fake_new(CLASS_EXEC);
	*bad = NULL;
	return fake_result();
}
static CUresult instantiate_with(CUgraphExec *e, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	fake_handle(CLASS_STREAM, p->hUploadStream);
	p->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return instantiate(e, g, &p->hErrNode_out, NULL, 0);
}
static CUresult update(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
	fake_handle(CLASS_EXEC, e);
	fake_handle(CLASS_GRAPH, g);
	*info = (CUgraphExecUpdateResultInfo){ .result = CU_GRAPH_EXEC_UPDATE_SUCCESS };
	return fake_result();
}

/* There is one capture, whose graph all streams show. It fails if fake_error is set. */
static CUgraph captured;

static CUresult capture_info(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *g,
			     const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *n)
{
	static const CUgraphEdgeData edge = { .from_port = 1, .type = 1 };
	static CUgraphNode node;

	fake_handle(CLASS_STREAM, s);
	if (!captured) {
		captured = fake_new(CLASS_GRAPH);
		node = fake_new(CLASS_NODE);
	}
	*status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	*g = captured;
	*nodes = &node;
	*edges = &edge;
	*n = 1;
	return CUDA_SUCCESS;
}

static CUresult end_capture(CUstream s, CUgraph *g)
{
	fake_handle(CLASS_STREAM, s);
	if (g)
		*g = captured ? captured : fake_new(CLASS_GRAPH);
	captured = NULL;
	return fake_result();
}

static CUresult host_register(void *p, size_t n, unsigned int flags)
{
	fake_read(p, n);
	if (fake_no_register)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake_registered += !fake_error;
	return fake_result();
}

static CUresult host_unregister(void *p)
{
	assert(fake_registered);
	fake_registered--;
	return fake_result();
}

static CUresult host_device(CUdeviceptr *at, void *p, unsigned int flags)
{
	*at = fake_own_address ? (uintptr_t)p : 1ull << 40;
	return fake_no_address ? CUDA_ERROR_INVALID_VALUE : fake_result();
}

static void *host_blocks[64];
unsigned int fake_blocks;

static CUresult host_alloc(void **p, size_t n, unsigned int flags)
{
	if (fake_error || fake_blocks == 64)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*p = host_blocks[fake_blocks++] = calloc(1, n);
	return fake_result();
}

static CUresult host_free(void *p)
{
	unsigned int i;

	for (i = 0; i < fake_blocks && host_blocks[i] != p; i++)
		;
	assert(i < fake_blocks);
	host_blocks[i] = host_blocks[--fake_blocks];
	free(p);
	return fake_result();
}

static CUresult alloc_managed(CUdeviceptr *p, size_t n, unsigned int flags)
{
	return address(p);
}
static CUresult range_attribute(void *data, size_t n, CUmem_range_attribute what, CUdeviceptr p,
				size_t bytes)
{
	fake_write(data, n);
	return fake_result();
}

/* Each device has one pool, which reserves nothing. */
static CUresult device_of_context(CUdevice *dev)
{
	*dev = 0;
	return fake_result();
}
static CUresult pool_of_device(CUmemoryPool *pool, CUdevice dev)
{
	static struct fake *last;
	struct fake *f;

	for (f = fake_all; f && f != last; f = f->next)
		;
	if (!f || f->magic != HANDLE_MAGIC || f->class != CLASS_POOL)
		last = fake_new(CLASS_POOL);
	*pool = (CUmemoryPool)last;
	return fake_result();
}
static CUresult pool_get(CUmemoryPool pool, CUmemPool_attribute what, void *value)
{
	fake_handle(CLASS_POOL, pool);
	memset(value, 0, what < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 4 : 8);
	return fake_result();
}
static CUresult pool_set(CUmemoryPool pool, CUmemPool_attribute what, void *value)
{
	fake_handle(CLASS_POOL, pool);
	fake_read(value, what < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 4 : 8);
	return fake_result();
}
static CUresult pool_set_access(CUmemoryPool pool, const CUmemAccessDesc *list, size_t n)
{
	fake_handle(CLASS_POOL, pool);
	fake_read(list, n * sizeof(*list));
	return fake_result();
}
static CUresult pool_get_access(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *where)
{
	fake_handle(CLASS_POOL, pool);
	*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return fake_result();
}
static CUresult set_access(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *list, size_t n)
{
	fake_read(list, n * sizeof(*list));
	return fake_result();
}
static CUresult graph_memory(CUdevice dev, CUgraphMem_attribute what, void *value)
{
	fake_write(value, 8);
	return fake_result();
}
static CUresult graph_memory_set(CUdevice dev, CUgraphMem_attribute what, void *value)
{
	fake_read(value, 8);
	return fake_result();
}
static CUresult open_memory(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	return address(ptr);
}
/* one allocation for each MiB */
static CUresult address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
	if (base)
		*base = ptr >> 20 << 20;
	if (bytes)
		*bytes = 1 << 20;
	return fake_result();
}

static void fake_memory(struct library *l)
{
	l->cuCtxGetDevice = device_of_context;
	l->cuDeviceGetMemPool = pool_of_device;
	l->cuDeviceGetDefaultMemPool = pool_of_device;
	l->cuMemPoolGetAttribute = pool_get;
	l->cuMemPoolSetAttribute = pool_set;
	l->cuMemPoolSetAccess = pool_set_access;
	l->cuMemPoolGetAccess = pool_get_access;
	l->cuMemSetAccess = set_access;
	l->cuDeviceGetGraphMemAttribute = graph_memory;
	l->cuDeviceSetGraphMemAttribute = graph_memory_set;
	l->cuMemAlloc_v2 = alloc;
	l->cuMemAllocPitch_v2 = pitch;
	l->cuMemAllocManaged = alloc_managed;
	l->cuIpcOpenMemHandle_v2 = open_memory;
	l->cuMemGetAddressRange_v2 = address_range;
}

static void fake_modules(struct library *l)
{
	l->cuModuleLoadDataEx = load;
	l->cuModuleGetFunction = function;
	l->cuModuleGetFunctionCount = function_count;
	l->cuModuleEnumerateFunctions = functions;
	l->cuFuncGetName = function_name;
	l->cuModuleGetGlobal_v2 = global;
	l->cuFuncGetParamInfo = parameter;
}

void fake_library(struct library *l)
{
	fake_fill(l);
	fake_graphs(l);
	fake_memory(l);
	l->cuMemRangeGetAttribute = range_attribute;
	l->cuMemHostRegister_v2 = host_register;
	l->cuMemHostUnregister = host_unregister;
	l->cuMemHostAlloc = host_alloc;
	l->cuMemFreeHost = host_free;
	l->cuMemHostGetDevicePointer_v2 = host_device;
	l->cuStreamGetCaptureInfo_v3 = capture_info;
	l->cuStreamEndCapture = end_capture;
	l->cuStreamQuery = stream_query;
	l->cuEventQuery = event_query;
	l->cuStreamIsCapturing = capturing;
	l->cuInit = init;
	l->cuDeviceGetCount = count;
	l->cuDriverGetVersion = count;
	l->cuDeviceGetName = name;
	l->cuDeviceGetUuid = uuid;
	l->cuDeviceTotalMem_v2 = total;
	l->cuDeviceGetPCIBusId = name;
	l->cuDeviceGetAttribute = attribute;
	l->cuCtxSetCurrent = set_current;
	l->cuCtxPopCurrent_v2 = pop;
	l->cuThreadExchangeStreamCaptureMode = mode;
	l->cuDevicePrimaryCtxGetState = primary_state;
	l->cuMemcpyHtoDAsync_v2 = in;
	l->cuMemcpyDtoHAsync_v2 = out;
	l->cuPointerGetAttribute = pointer;
	l->cuPointerSetAttribute = pointer_set;
	fake_modules(l);
	l->cuLaunchKernel = launch;
	l->cuLaunchKernelEx = launch_ex;
	l->cuOccupancyMaxActiveClusters = clusters;
	l->cuOccupancyMaxPotentialClusterSize = clusters;
	l->cuMemcpyHtoAAsync_v2 = to_array;
	l->cuMemcpyAtoHAsync_v2 = from_array;
	l->cuLaunchHostFunc = host_func;
	l->cuStreamAddCallback = callback;
	l->cuMemcpy3D_v2 = box3;
	l->cuMemcpy3DAsync_v2 = box3_async;
	l->cuMemcpy3DPeer = box3_peer;
	l->cuMemcpy3DPeerAsync = box3_peer_async;
	l->cuMemcpy2D_v2 = box2;
	l->cuMemcpy2DUnaligned_v2 = box2;
	l->cuMemcpy2DAsync_v2 = box2_async;
	l->cuLinkCreate_v2 = link_create;
	l->cuLinkAddData_v2 = link_add;
	l->cuLinkComplete = link_complete;
	l->cuGraphAddKernelNode = kernel_node;
	l->cuGraphKernelNodeGetParams = kernel_node_get;
	l->cuGraphInstantiate = instantiate;
	l->cuGraphInstantiate_v2 = instantiate;
	l->cuGraphInstantiateWithParams = instantiate_with;
	l->cuGraphExecUpdate_v2 = update;
}

void fake_start(void)
{
	fake_calls = fake_busy = fake_registered = 0;
	fake_no_register = fake_no_address = fake_own_address = false;
	captured = NULL;
	fake_error = CUDA_SUCCESS;
}

void fake_stop(void)
{
	struct fake *f;

	last_kernel.f = NULL;
	fake_graphs_end();
	while (fake_blocks)
		host_free(host_blocks[0]);
	while ((f = fake_all)) {
		fake_all = f->next;
		f->magic = 0;
		free(f);
	}
}
