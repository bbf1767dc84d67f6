// SPDX-License-Identifier: MIT
/*
 * Arrays, textures, surfaces, host functions, the messages of kernels, and what addresses are, on a
 * fake device, which runs no kernel.
 */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda/kepler/syscalls/block.h>

#include "one_context.h"

#define CUBIN "selftests/cuda/driver/kernels.cubin"
static CUarray array(size_t w, size_t h, size_t d, CUarray_format format, unsigned int channels,
		     unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR desc = { .Width = w,
					 .Height = h,
					 .Depth = d,
					 .Format = format,
					 .NumChannels = channels,
					 .Flags = flags };
	CUarray a = NULL;

	OK(cuArray3DCreate_v2(&a, &desc));
	return a;
}

/* ------------------------------------------------------------------ arrays */

TEST(arrays_keep_their_texels)
{
	static const struct {
		size_t w, h, d;
		unsigned int flags;
	} shapes[] = {
		{ 100, 0, 0, 0 },
		{ 37, 19, 0, 0 },
		{ 20, 33, 9, 0 },
		{ 33, 0, 4, CUDA_ARRAY3D_LAYERED },
		{ 17, 20, 5, CUDA_ARRAY3D_LAYERED },
		{ 12, 12, 6, CUDA_ARRAY3D_CUBEMAP },
	};
	uint8_t in[20 * 33 * 9 * 4], out[sizeof(in)];
	unsigned int i, j;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		CUarray a = array(shapes[i].w, shapes[i].h, shapes[i].d,
				  CU_AD_FORMAT_UNSIGNED_INT16, 2, shapes[i].flags);
		size_t row = shapes[i].w * 4, h = shapes[i].h ? shapes[i].h : 1,
		       d = shapes[i].d ? shapes[i].d : 1;
		CUDA_MEMCPY3D to = { .srcMemoryType = CU_MEMORYTYPE_HOST,
				     .srcHost = in,
				     .srcPitch = row,
				     .srcHeight = h,
				     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
				     .dstArray = a,
				     .WidthInBytes = row,
				     .Height = h,
				     .Depth = d };
		CUDA_MEMCPY3D from = { .dstMemoryType = CU_MEMORYTYPE_HOST,
				       .dstHost = out,
				       .dstPitch = row,
				       .dstHeight = h,
				       .srcMemoryType = CU_MEMORYTYPE_ARRAY,
				       .srcArray = a,
				       .WidthInBytes = row,
				       .Height = h,
				       .Depth = d };

		for (j = 0; j < row * h * d; j++)
			in[j] = j * 31 + i;
		memset(out, 0, sizeof(out));
		OK(cuMemcpy3D_v2(&to));
		OK(cuMemcpy3D_v2(&from));
		assert_memory_equal(in, out, row * h * d);
		OK(cuArrayDestroy(a));
	}
}

/* ------------------------------------------------------------------ textures, surfaces */

TEST(texture_objects)
{
	CUarray a = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a }, back;
	CUDA_TEXTURE_DESC t = { .filterMode = CU_TR_FILTER_MODE_LINEAR }, t_back;
	CUDA_RESOURCE_VIEW_DESC v = { .format = CU_RES_VIEW_FORMAT_UINT_1X8,
				      .width = 16,
				      .height = 16 },
				v_back;
	CUtexObject first, second, third;
	CUdeviceptr d;

	OK(cuTexObjectCreate(&first, &r, &t, NULL));
	OK(cuTexObjectCreate(&second, &r, &t, NULL));
	assert_true(first && second && first != second);
	assert_int_equal(first >> HANDLE_SAMPLER_SHIFT, second >> HANDLE_SAMPLER_SHIFT);
	t.filterMode = CU_TR_FILTER_MODE_POINT;
	OK(cuTexObjectCreate(&third, &r, &t, NULL));
	assert_int_not_equal(first >> HANDLE_SAMPLER_SHIFT, third >> HANDLE_SAMPLER_SHIFT);
	OK(cuTexObjectGetResourceDesc(&back, first));
	assert_ptr_equal(back.res.array.hArray, a);
	OK(cuTexObjectGetTextureDesc(&t_back, first));
	assert_int_equal(t_back.filterMode, CU_TR_FILTER_MODE_LINEAR);
	assert_int_equal(cuTexObjectGetResourceViewDesc(&v_back, first), CUDA_ERROR_INVALID_VALUE);
	/* a view of texels of another size */
	assert_int_equal(cuTexObjectCreate(&first, &r, &t, &v), CUDA_ERROR_INVALID_VALUE);
	v.format = CU_RES_VIEW_FORMAT_UINT_1X8 + 2;
	OK(cuTexObjectCreate(&first, &r, &t, &v));
	OK(cuTexObjectGetResourceViewDesc(&v_back, first));
	OK(cuTexObjectDestroy(third));
	assert_int_equal(cuTexObjectDestroy(third), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuTexObjectGetTextureDesc(&t_back, third), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&d, 4096));
	r = (CUDA_RESOURCE_DESC){ .resType = CU_RESOURCE_TYPE_LINEAR,
				  .res.linear = { d + 4, CU_AD_FORMAT_FLOAT, 1, 64 } };
	assert_int_equal(cuTexObjectCreate(&first, &r, &t, NULL), CUDA_ERROR_INVALID_VALUE);
	r.res.linear.devPtr = d;
	r.res.linear.numChannels = 3;
	assert_int_equal(cuTexObjectCreate(&first, &r, &t, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(d));
	OK(cuArrayDestroy(a));
}

/* NVIDIA's driver does not ask whether there is memory (580 on an H200); 40 bits are this GPU's. */
TEST(textures_of_linear_memory)
{
	static const struct {
		size_t offset, bytes;
		CUresult is;
	} lines[] = {
		{ 0, 4096, CUDA_SUCCESS },
		{ 0, 1 << 20, CUDA_SUCCESS },
		{ 0, 4ull << 27, CUDA_SUCCESS },
		{ 0, (4ull << 27) + 4, CUDA_ERROR_INVALID_VALUE },
		{ 0, 3, CUDA_ERROR_INVALID_VALUE },
		{ 256, 64, CUDA_ERROR_INVALID_VALUE },
		{ 1 << 20, 64, CUDA_SUCCESS },
	};
	static const struct {
		CUdeviceptr at;
		CUresult is;
	} ends[] = {
		{ 0, CUDA_ERROR_INVALID_VALUE },
		{ (1ull << 40) - 1024, CUDA_SUCCESS },
		{ (1ull << 40) - 512, CUDA_ERROR_INVALID_VALUE },
		{ 1ull << 40, CUDA_ERROR_INVALID_VALUE },
		{ 0ull - 512, CUDA_ERROR_INVALID_VALUE },
	};
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_LINEAR,
				 .res.linear = { 0, CU_AD_FORMAT_FLOAT, 1, 0 } },
			   p = { .resType = CU_RESOURCE_TYPE_PITCH2D,
				 .res.pitch2D = { 0, CU_AD_FORMAT_FLOAT, 1, 256, 2, 1024 } };
	CUDA_TEXTURE_DESC t = {};
	CUtexObject o;
	CUdeviceptr d;
	size_t i;

	OK(cuMemAlloc_v2(&d, 4096));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		r.res.linear.devPtr = d + lines[i].offset;
		r.res.linear.sizeInBytes = lines[i].bytes;
		assert_int_equal(cuTexObjectCreate(&o, &r, &t, NULL), lines[i].is);
	}
	p.res.pitch2D.devPtr = d;
	p.res.pitch2D.height = 1024;
	OK(cuTexObjectCreate(&o, &p, &t, NULL));
	r.res.linear.sizeInBytes = 1024;
	p.res.pitch2D.pitchInBytes = 512;
	p.res.pitch2D.width = 128;
	p.res.pitch2D.height = 2;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		r.res.linear.devPtr = p.res.pitch2D.devPtr = ends[i].at;
		assert_int_equal(cuTexObjectCreate(&o, &r, &t, NULL), ends[i].is);
		assert_int_equal(cuTexObjectCreate(&o, &p, &t, NULL), ends[i].is);
	}
	OK(cuMemFree_v2(d));
}

/* More textures than there are slots. */
TEST(many_textures)
{
	CUarray a = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a };
	CUDA_TEXTURE_DESC t = { .filterMode = CU_TR_FILTER_MODE_LINEAR };
	CUtexObject o;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		OK(cuTexObjectCreate(&o, &r, &t, NULL));
		OK(cuTexObjectDestroy(o));
	}
	OK(cuArrayDestroy(a));
}

/*
 * A new sampler overwrites one that a kernel may still use: the driver waits for the kernel, and
 * gets its error.
 */
TEST(samplers_are_waited_for)
{
	CUarray a = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a };
	CUDA_TEXTURE_DESC t = { .filterMode = CU_TR_FILTER_MODE_LINEAR };
	CUtexObject o;
	CUdeviceptr p = 1;
	void *params[] = { &p };
	CUfunction f;
	CUmodule m;
	unsigned int i;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	/* twice: the first wait frees all slots at once */
	for (i = 0; i < 2 * 4096; i++) {
		t.borderColor[0] = i;
		OK(cuTexObjectCreate(&o, &r, &t, NULL));
		OK(cuTexObjectDestroy(o));
	}
	fake_fail_after = 0;
	fake_failure = DEVICE_LOST;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	/* this sampler has a slot: no wait */
	OK(cuTexObjectCreate(&o, &r, &t, NULL));
	OK(cuTexObjectDestroy(o));
	t.borderColor[0] = i;
	assert_int_not_equal(cuTexObjectCreate(&o, &r, &t, NULL), CUDA_SUCCESS);
	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
}

TEST(surface_objects)
{
	CUarray plain = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUarray a = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plain },
			   back;
	CUsurfObject s;

	assert_int_equal(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
	r.res.array.hArray = a;
	OK(cuSurfObjectCreate(&s, &r));
	assert_true(s >> 8 && s >> 40 == 0);
	OK(cuSurfObjectGetResourceDesc(&back, s));
	assert_ptr_equal(back.res.array.hArray, a);
	assert_int_equal(cuSurfObjectDestroy(s + 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuSurfObjectDestroy(s));
	assert_int_equal(cuSurfObjectDestroy(s), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuSurfObjectDestroy(s + (1ull << 40)), CUDA_ERROR_INVALID_VALUE);
	OK(cuArrayDestroy(plain));
	OK(cuArrayDestroy(a));
}

/* Bank 0 has the handle of the texture that is bound at the launch. */
TEST(references)
{
	CUarray a = array(16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUdeviceptr out;
	int n = 8;
	void *params[] = { &out, &n };
	uint8_t unbound[64], bound[64], *words = fake_const0 + 0x140;
	CUtexref ref;
	CUfunction f;
	CUmodule m;

	OK(cuMemAlloc_v2(&out, 4096));
	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "sample_refs"));
	OK(cuModuleGetTexRef(&ref, m, "plain_ref"));
	assert_int_equal(cuModuleGetTexRef(&ref, m, "flat_ref"), CUDA_ERROR_NOT_FOUND);
	OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
	memcpy(unbound, words, sizeof(unbound));
	OK(cuTexRefSetArray(ref, a, CU_TRSA_OVERRIDE_FORMAT));
	OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
	memcpy(bound, words, sizeof(bound));
	assert_memory_not_equal(unbound, bound, sizeof(bound));
	assert_true(fake_last_launch.nr_headers && fake_last_launch.headers);
	OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
	assert_memory_equal(bound, words, sizeof(bound));
	OK(cuTexRefSetFilterMode(ref, CU_TR_FILTER_MODE_LINEAR));
	OK(cuLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
	assert_memory_not_equal(bound, words, sizeof(bound));
	OK(cuModuleUnload(m));
	OK(cuArrayDestroy(a));
}

/* ------------------------------------------------------------------ host functions */

static unsigned int order, at_call[3];

static void note(void *data)
{
	at_call[(uintptr_t)data] = ++order;
}

TEST(host_functions_wait_and_are_waited_for)
{
	CUdeviceptr d;
	CUstream s;
	char *host;

	order = 0;
	memset(at_call, 0, sizeof(at_call));
	OK(cuMemAlloc_v2(&d, 4096));
	OK(cuMemHostAlloc((void **)&host, 4096, 0));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	fake_hold[QUEUE_COPY] = true;
	OK(cuMemcpyHtoDAsync_v2(d, host, 4096, s));
	OK(cuLaunchHostFunc(s, note, (void *)0));
	OK(cuLaunchHostFunc(s, note, (void *)1));
	OK(cuMemsetD8Async(d, 1, 4096, s));
	OK(cuLaunchHostFunc(s, note, (void *)2));
	usleep(20000);
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	assert_int_equal(order, 0);
	__atomic_store_n(&fake_hold[QUEUE_COPY], false, __ATOMIC_SEQ_CST);
	OK(cuStreamSynchronize(s));
	assert_int_equal(at_call[0], 1);
	assert_int_equal(at_call[1], 2);
	assert_int_equal(at_call[2], 3);
	assert_int_equal(cuLaunchHostFunc(s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(host));
}

static CUresult told;

static void tell(CUstream s, CUresult r, void *data)
{
	__atomic_store_n(&told, r, __ATOMIC_RELEASE);
}

TEST(callbacks_are_told_of_errors)
{
	CUfunction f;
	CUmodule m;
	CUdeviceptr d;
	void *params[] = { &d };

	OK(cuMemAlloc_v2(&d, 4));
	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "store"));
	told = CUDA_SUCCESS;
	order = 0;
	fake_fail_after = 0;
	fake_hold[QUEUE_COMPUTE] = true;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuStreamAddCallback(NULL, tell, NULL, 0));
	OK(cuLaunchHostFunc(NULL, note, NULL));
	__atomic_store_n(&fake_hold[QUEUE_COMPUTE], false, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE))
		usleep(1000);
	assert_int_equal(told, CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(order, 0);
}

/* ------------------------------------------------------------------ what kernels say */

static struct syscall_block *block_of(CUfunction f, void **params)
{
	uint64_t va;

	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	memcpy(&va, fake_const0 + SYSCALL_CONST0_AT, sizeof(va));
	return fake_bytes(ctx->device, va, sizeof(struct syscall_block));
}

/*
 * Records as a kernel could leave them: an unknown kind and a wrong size, which are dropped, then
 * an assertion with damaged contents.
 */
TEST(records_of_any_contents)
{
	int rounds = 1;
	void *params[] = { &rounds };
	struct syscall_block *b;
	unsigned int i, size;
	CUfunction f;
	CUmodule m;
	uint8_t *ring;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&f, m, "say_much"));
	b = block_of(f, params);
	assert_non_null(b);
	size = b->ring_bytes;
	ring = fake_bytes(ctx->device, b->ring, size);
	assert_non_null(ring);
	memcpy(ring, &(struct syscall_record){ .bytes = 24, .kind = 77 },
	       sizeof(struct syscall_record));
	OK(cuCtxSynchronize());
	assert_int_equal(b->taken, 24);
	memcpy(ring + 24,
	       &(struct syscall_record){ .bytes = 0xfffffff0, .kind = SYSCALL_PRINTF, .at = 5 },
	       sizeof(struct syscall_record));
	OK(cuCtxSynchronize());
	assert_int_equal(b->taken, size); /* up to the ring's end */
	for (i = 0; i < size; i++)
		assert_int_equal(ring[i], 0);
	memcpy(ring, &(struct syscall_record){ .bytes = 40, .kind = SYSCALL_ASSERT },
	       sizeof(struct syscall_record));
	memset(ring + 16, 0xff, 24);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ASSERT);
	assert_int_equal(cuModuleUnload(m), CUDA_ERROR_ASSERT);
}

static uint64_t heap_bytes(const struct syscall_block *b)
{
	const struct syscall_head *h = fake_bytes(ctx->device, b->head, sizeof(*h));

	assert_non_null(h);
	assert_int_equal(h->list[0], 0);
	return h->end - h->top;
}

/*
 * NVIDIA's manual of cuCtxSetLimit(): they are set before a kernel that uses malloc() or free(), or
 * printf(), is launched. A module with such kernels may be loaded, and others of its launched.
 */
TEST(limits_of_what_is_in_use)
{
	int rounds = 1;
	CUdeviceptr d;
	void *params[] = { &d, &d, &rounds }, *one[] = { &rounds };
	CUfunction store, allocate, say;
	const struct syscall_block *b;
	CUmodule m;
	size_t value;

	OK(cuMemAlloc_v2(&d, 4));
	OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 100000));
	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&store, m, "store"));
	OK(cuModuleGetFunction(&allocate, m, "allocate"));
	OK(cuModuleGetFunction(&say, m, "say_much"));
	b = block_of(store, params);
	assert_int_equal(b->ring_bytes, 131072);
	OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 200000));
	OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
	b = block_of(allocate, params);
	assert_int_equal(b->ring_bytes, 262144);
	assert_in_range(heap_bytes(b), 16 << 20, (16 << 20) + 65536);
	assert_int_equal(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 400000));
	b = block_of(say, one);
	assert_int_equal(b->ring_bytes, 524288);
	assert_int_equal(b->nr_devices, fake_count);
	assert_in_range(heap_bytes(b), 16 << 20, (16 << 20) + 65536);
	assert_int_equal(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 200000),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2000));
	OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
	assert_int_equal(value, 400000);
	OK(cuModuleUnload(m));
}

/* Without memory for a new limit the old one stays. */
TEST(limits_without_memory)
{
	CUfunction allocate;
	CUdeviceptr d;
	int rounds = 1;
	void *params[] = { &d, &d, &rounds };
	CUmodule m;
	size_t value;

	OK(cuModuleLoad(&m, CUBIN));
	OK(cuModuleGetFunction(&allocate, m, "allocate"));
	assert_int_equal(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, fake_vram + 1),
			 CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
	assert_int_equal(value, 8 << 20);
	assert_in_range(heap_bytes(block_of(allocate, params)), 8 << 20, (8 << 20) + 65536);
}

/* ------------------------------------------------------------------ addresses */

TEST(pointers)
{
	CUpointer_attribute names[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
					CU_POINTER_ATTRIBUTE_HOST_POINTER };
	unsigned int type = 9;
	CUdeviceptr d, device = 1;
	void *host = NULL, *values[] = { &type, &device, &host }, *pinned;

	OK(cuMemAlloc_v2(&d, 100));
	OK(cuMemHostAlloc(&pinned, 100, 0));
	OK(cuPointerGetAttributes(3, names, values, d + 10));
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	assert_int_equal(device, d + 10);
	assert_null(host);
	OK(cuPointerGetAttributes(3, names, values, (CUdeviceptr)(uintptr_t)pinned + 7));
	assert_int_equal(type, CU_MEMORYTYPE_HOST);
	assert_ptr_equal(host, (char *)pinned + 7);
	assert_int_equal(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					       (CUdeviceptr)(uintptr_t)&d),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(pinned));
}

/* ------------------------------------------------------------------ managed memory */

TEST(managed_memory)
{
	CUmem_range_attribute which[] = { 2, 3, 4 };
	int where = 7, by[3] = { 7, 7, 7 }, last = 7;
	void *data[] = { &where, by, &last };
	size_t sizes[] = { sizeof(where), sizeof(by), sizeof(last) };
	CUdeviceptr p = 0, q, device;
	unsigned int type = 9, flags;
	unsigned int managed = UINT32_MAX; /* NVIDIA's runtime has nothing in it, either */
	uint8_t *bytes;
	CUstream s;

	/* on this device memory has two addresses */
	assert_int_equal(cuMemAllocManaged(&p, 100, 1), CUDA_ERROR_NOT_SUPPORTED);
	fake_same = true;
	assert_int_equal(cuMemAllocManaged(&p, 0, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAllocManaged(&p, 100, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAllocManaged(&p, 100, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAllocManaged(NULL, 100, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocManaged(&p, 10000, 1));
	OK(cuMemAlloc_v2(&device, 10000));
	OK(cuStreamCreate(&s, 0));
	bytes = (uint8_t *)(uintptr_t)p;
	memset(bytes, 0x11, 10000);
	OK(cuMemcpyDtoD_v2(device, p, 10000));
	/* done when the call returns */
	OK(cuMemsetD8_v2(p, 0x22, 10000));
	assert_true(bytes[0] == 0x22 && bytes[9999] == 0x22);
	OK(cuMemcpyDtoD_v2(p, device, 10000));
	assert_true(bytes[0] == 0x11 && bytes[9999] == 0x11);
	OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
					   .srcDevice = device,
					   .srcPitch = 100,
					   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
					   .dstDevice = p + 50,
					   .dstPitch = 100,
					   .WidthInBytes = 10,
					   .Height = 2 }));
	OK(cuMemsetD32_v2(p + 4, 0x01020304, 3));
	assert_true(bytes[3] == 0x11 && bytes[4] == 4 && bytes[15] == 1 && bytes[16] == 0x11);
	bytes[77] = 0x33;
	OK(cuMemcpyHtoD_v2(device, bytes, 10000));
	bytes[77] = 0;
	OK(cuMemcpyDtoH_v2(bytes, device, 10000));
	assert_int_equal(bytes[77], 0x33);
	OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 5));
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 5));
	assert_true(managed == 1 && type == CU_MEMORYTYPE_DEVICE);
	managed = UINT32_MAX;
	OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, device));
	assert_int_equal(managed, 0);
	/* managed memory is not pinned, and can't be registered */
	assert_int_equal(cuMemFreeHost(bytes), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostGetDevicePointer_v2(&q, bytes, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(bytes, 10, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostUnregister(bytes), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostGetFlags(&flags, bytes));
	assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
	/* the GPU as preferred location (3) or accessor (5) needs concurrent managed access */
	OK(cuMemAdvise(p, 10000, 1, 0));
	OK(cuMemAdvise(p + 5, 9995, 3, -1));
	assert_int_equal(cuMemAdvise(p, 10000, 3, 0), CUDA_ERROR_INVALID_DEVICE);
	assert_int_equal(cuMemAdvise(p, 10000, 5, 0), CUDA_ERROR_INVALID_DEVICE);
	assert_int_equal(cuMemAdvise(p, 10001, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAdvise(p, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAdvise(p, 10000, 7, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAdvise(device, 100, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemPrefetchAsync(p, 10000, 0, NULL), CUDA_ERROR_INVALID_DEVICE);
	assert_int_equal(cuMemPrefetchAsync(device, 10000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	/* what was advised, if it is the same for all pages */
	OK(cuMemRangeGetAttribute(by, 4, 2, p + 5, 9995));
	assert_int_equal(by[0], -1);
	OK(cuMemAdvise(p + 4096, 4096, 2, 0));
	OK(cuMemRangeGetAttribute(by, 4, 1, p, 4096));
	assert_int_equal(by[0], 1);
	OK(cuMemRangeGetAttribute(by, 4, 1, p, 4097));
	assert_int_equal(by[0], 0);
	OK(cuMemAdvise(p, 10000, 4, 0));
	OK(cuMemAdvise(p, 10000, 5, -1));
	OK(cuMemRangeGetAttributes(data, sizes, which, 3, p, 10000));
	assert_true(where == -2 && by[0] == -1 && by[1] == -2 && by[2] == -2 && last == -2);
	OK(cuMemAdvise(p, 10000, 6, -1));
	OK(cuMemRangeGetAttribute(by, 8, 3, p, 10000));
	assert_true(by[0] == -2 && by[1] == -2);
	assert_int_equal(cuMemRangeGetAttribute(by, 8, 1, p, 10000), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemRangeGetAttribute(by, 6, 3, p, 10000), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemRangeGetAttribute(by, 4, 5, p, 10000), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemRangeGetAttribute(by, 4, 1, p, 10001), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemRangeGetAttribute(by, 4, 1, device, 10), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamAttachMemAsync(s, p, 0, 4));
	OK(cuStreamAttachMemAsync(NULL, p, 10000, 1));
	assert_int_equal(cuStreamAttachMemAsync(NULL, p, 0, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuStreamAttachMemAsync(s, p, 100, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuStreamAttachMemAsync(s, device, 0, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocManaged(&q, 1, 2));
	assert_true(q != p);
	OK(cuMemFree_v2(q));
	assert_int_equal(cuMemFree_v2(p + 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(p));
	assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
}

TEST(pinned_memory_at_one_address)
{
	CUdeviceptr device;
	void *host;

	fake_same = true;
	OK(cuMemHostAlloc(&host, 4096, 0));
	OK(cuMemHostGetDevicePointer_v2(&device, host, 0));
	assert_int_equal(device, (uintptr_t)host);
	OK(cuMemsetD8_v2((uintptr_t)host, 7, 4096));
	assert_int_equal(((uint8_t *)host)[4095], 7);
	assert_int_equal(cuMemFree_v2(device), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(host));
}

/* The memory is not the process's alone, so the GPU can't see it. */
TEST(registered_memory)
{
	const int flags_of_map = MAP_SHARED | MAP_ANONYMOUS;
	uint8_t *mine = mmap(NULL, 12288, PROT_READ | PROT_WRITE, flags_of_map, -1, 0),
		*other = mine + 10000;
	CUpointer_attribute names[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
					CU_POINTER_ATTRIBUTE_HOST_POINTER };
	unsigned int type = 9, flags = 9;
	CUdeviceptr d, device = 1;
	void *host = NULL, *values[] = { &type, &device, &host }, *pinned;

	assert_int_equal(cuMemHostRegister_v2(NULL, 100, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(mine, 0, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(mine, 100, 0x10), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(mine, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(mine, 100, CU_MEMHOSTALLOC_DEVICEMAP),
			 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuMemHostUnregister(mine), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	OK(cuMemHostRegister_v2(mine + 10, 9000, CU_MEMHOSTALLOC_PORTABLE));
	assert_int_equal(cuMemHostRegister_v2(mine, 11, 0),
			 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	assert_int_equal(cuMemHostRegister_v2(mine + 9009, 1, 0),
			 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostRegister_v2(mine, 10, 0));
	OK(cuMemHostGetFlags(&flags, mine + 9009));
	assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
	assert_int_equal(cuMemHostGetFlags(&flags, mine + 9010), CUDA_ERROR_INVALID_VALUE);
	OK(cuPointerGetAttributes(3, names, values, (CUdeviceptr)(uintptr_t)mine + 20));
	assert_true(type == CU_MEMORYTYPE_HOST && !device && host == mine + 20);
	assert_int_equal(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
					       (CUdeviceptr)(uintptr_t)mine + 20),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostGetDevicePointer_v2(&device, mine + 20, 0),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemFreeHost(mine + 10), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&d, 9000));
	memset(mine + 10, 0x44, 9000);
	OK(cuMemcpyHtoDAsync_v2(d, mine + 10, 9000, NULL));
	memset(mine + 10, 0, 9000);
	OK(cuMemcpyDtoHAsync_v2(mine + 10, d, 9000, NULL));
	assert_int_equal(cuMemHostUnregister(mine + 11), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostUnregister(mine + 10));
	assert_true(mine[10] == 0x44 && mine[9009] == 0x44);
	assert_int_equal(cuMemHostUnregister(mine + 10), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	OK(cuMemHostAlloc(&pinned, 100, 0));
	assert_int_equal(cuMemHostRegister_v2(pinned, 10, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostUnregister(pinned), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostRegister_v2(other, 16, 0));
}

static uint8_t *pages(size_t n)
{
	uint8_t *at =
		mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	memset(at, 0x11, n * 4096);
	return at;
}

/* GPU and CPU see each other's writes. */
TEST(registered_memory_in_place)
{
	uint8_t *mine = pages(8);
	CUdeviceptr d, other, vram;
	unsigned int flags, before;
	uint64_t word;
	size_t size;
	bool mapped;

	fake_views = true;
	before = fake_buffers;
	OK(cuMemHostRegister_v2(mine + 100, 10000, CU_MEMHOSTALLOC_DEVICEMAP));
	/* in the page in which the first piece ends */
	OK(cuMemHostRegister_v2(mine + 10100, 3000, CU_MEMHOSTALLOC_DEVICEMAP));
	assert_int_equal(fake_buffers, before);
	OK(cuMemHostGetDevicePointer_v2(&d, mine + 150, 0));
	OK(cuMemHostGetDevicePointer_v2(&other, mine + 10100, 0));
	assert_int_equal(fake_buffers, before + 1);
	assert_true(d >> 32 && d % 4096 == ((uintptr_t)mine + 150) % 4096 && other - d == 9950);
	OK(cuMemsetD8_v2(d, 0x22, 9950));
	assert_int_equal(mine[149], 0x11);
	assert_int_equal(mine[150], 0x22);
	assert_int_equal(mine[10099], 0x22);
	assert_int_equal(mine[10100], 0x11);
	assert_int_equal(cuMemsetD8_v2(d, 0, 9951), CUDA_ERROR_INVALID_VALUE);
	/* in its page, but before the registered piece */
	assert_int_equal(cuMemsetD8_v2(d - 51, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostGetFlags(&flags, mine + 150));
	assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
	OK(cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_HOST_POINTER, d + 1));
	assert_int_equal(word, (uintptr_t)mine + 151);
	OK(cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
				 (uintptr_t)mine + 151));
	assert_int_equal(word, d + 1);
	OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
	assert_int_equal(flags, CU_MEMORYTYPE_HOST);
	OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, d));
	assert_true(mapped);
	OK(cuMemGetAddressRange_v2(&vram, &size, d + 5));
	assert_true(vram == d - 50 && size == 10000);
	assert_int_equal(cuMemFree_v2(d - 50), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemFreeHost(mine + 100), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(mine + 110, 5, 0),
			 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	/* a page can't be in two buffers */
	assert_int_equal(cuMemHostRegister_v2(mine + 13200, 8000, CU_MEMHOSTALLOC_DEVICEMAP),
			 CUDA_ERROR_NOT_SUPPORTED);
	OK(cuMemHostRegister_v2(mine + 13200, 8000, 0));
	assert_int_equal(cuMemHostGetDevicePointer_v2(&vram, mine + 13200, 0),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostUnregister(mine + 13200));
	/* a delayed copy reads what is there when it is done */
	OK(cuMemAlloc_v2(&vram, 3000));
	fake_hold[QUEUE_COPY] = true;
	mine[10100] = 1;
	OK(cuMemcpyHtoDAsync_v2(vram, mine + 10100, 3000, NULL));
	mine[10100] = 2;
	fake_hold[QUEUE_COPY] = false;
	OK(cuMemcpyDtoHAsync_v2(mine + 100, vram, 3000, NULL));
	OK(cuMemHostUnregister(mine + 100));
	assert_int_equal(mine[100], 2);
	/* left: the buffer of both pieces, and that of small allocations */
	assert_int_equal(fake_buffers, before + 2);
	assert_int_equal(cuMemsetD8_v2(d, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD8_v2(other, 5, 3000));
	OK(cuMemHostUnregister(mine + 10100));
	assert_int_equal(fake_buffers, before + 1);
	assert_int_equal(mine[13099], 5);
	assert_int_equal(mine[13100], 0x11);
	/* the contents stay when the context ends */
	OK(cuMemHostRegister_v2(mine, 4096 * 8, 0));
	OK(cuMemHostGetDevicePointer_v2(&d, mine, 0));
	OK(cuMemsetD8_v2(d, 9, 4096 * 8));
	OK(cuCtxDestroy_v2(ctx));
	assert_int_equal(mine[4096 * 8 - 1], 9);
	OK(cuCtxCreate_v2(&ctx, 0, 0));
	munmap(mine, 8 * 4096);
}

/* Memory that the GPU can't have is registered, but gets no GPU address. */
TEST(registered_memory_of_other_kinds)
{
	/* a sanitizer may have put variables elsewhere */
	uint8_t *at = pages(4), *on_stack = (uint8_t *)__builtin_frame_address(0) - 64;
	CUdeviceptr d;

	fake_views = true;
	assert_int_equal(mprotect(at + 4096, 4096, PROT_READ), 0);
	assert_int_equal(cuMemHostRegister_v2(at, 3 * 4096, CU_MEMHOSTALLOC_DEVICEMAP),
			 CUDA_ERROR_NOT_SUPPORTED);
	OK(cuMemHostRegister_v2(at, 3 * 4096, 0));
	assert_int_equal(cuMemHostGetDevicePointer_v2(&d, at, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostUnregister(at));
	assert_int_equal(cuMemHostRegister_v2(on_stack, 64, CU_MEMHOSTALLOC_DEVICEMAP),
			 CUDA_ERROR_NOT_SUPPORTED);
	/* registration for reading only */
	assert_int_equal(cuMemHostRegister_v2(at, 10, 8), CUDA_ERROR_NOT_SUPPORTED);
	/* registration of a device's registers */
	assert_int_equal(cuMemHostRegister_v2(at, 10, 4), CUDA_ERROR_NOT_SUPPORTED);
	munmap(at, 4 * 4096);
}

TEST_MAIN(set_up, tear_down)
