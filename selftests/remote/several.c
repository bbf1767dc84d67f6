// SPDX-License-Identifier: GPL-2.0-only
/*
 * several MODE CUBIN: a program whose KVGPU_REMOTE names two servers or more, each with one device.
 * Exit code 0: what it saw was right. "dies" prints "ready" when the second server is to be killed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { DEVICES_MAX = 8, ROUNDS = 200, LONG_ROUNDS = 2000000000, MOST = 5 << 20, HELD_S = 60 };

static struct device {
	CUcontext ctx;
	CUmodule module;
	CUfunction spin, scramble, store;
	CUstream stream;
	CUevent event;
	CUdeviceptr buffer;
} device[DEVICES_MAX];
static int devices;
static const char *file; /* the cubin */

static void use(int i)
{
	MUST(cuCtxSetCurrent(device[i].ctx));
}

static void begin(const char *cubin)
{
	int i;

	file = cubin;
	MUST(cuInit(0));
	MUST(cuDeviceGetCount(&devices));
	CHECK(devices >= 2 && devices <= DEVICES_MAX);
	for (i = 0; i < devices; i++) {
		struct device *d = &device[i];

		MUST(cuCtxCreate_v2(&d->ctx, 0, i));
		MUST(cuModuleLoad(&d->module, cubin));
		MUST(cuModuleGetFunction(&d->spin, d->module, "spin"));
		MUST(cuModuleGetFunction(&d->scramble, d->module, "scramble"));
		MUST(cuModuleGetFunction(&d->store, d->module, "store"));
		MUST(cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING));
		MUST(cuEventCreate(&d->event, CU_EVENT_DISABLE_TIMING));
		MUST(cuMemAlloc_v2(&d->buffer, MOST));
	}
}

static void launch_spin(int i, int rounds, CUstream s)
{
	void *params[] = { &device[i].buffer, &rounds };

	MUST(cuLaunchKernel(device[i].spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
}

/* ----------------------------------------------------------------- what belongs to which device */

static int belongs(void)
{
	enum { SMALL = 50, ALL = 56 };
	CUdeviceptr many[2][ALL];
	CUdevice dev;
	CUcontext ctx;
	int i, k, can, value;
	float ms;
	unsigned int x;
	CUuuid uuid[2];

	for (i = 0; i < devices; i++) {
		use(i);
		MUST(cuCtxGetDevice(&dev));
		CHECK(dev == i);
		/* the UUIDs differ, even if both servers have the same GPU */
		MUST(cuDeviceGetUuid(&uuid[i & 1], i));
		CHECK(!i || memcmp(&uuid[0], &uuid[1], sizeof(uuid[0])));
		MUST(cuStreamGetCtx(device[i].stream, &ctx));
		CHECK(ctx == device[i].ctx);
		for (k = 0; k < ALL && i < 2; k++) {
			MUST(cuMemAlloc_v2(&many[i][k], k < SMALL ? 256 : 3 << 20));
			MUST(cuMemsetD32_v2(many[i][k], i * 1000 + k, 64));
		}
	}
	for (i = 0; i < 2; i++)
		for (k = 0; k < ALL; k++) {
			MUST(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
						   many[i][k]));
			CHECK(value == i);
			MUST(cuMemcpyDtoH_v2(&x, many[i][k] + 252, 4));
			CHECK(x == (unsigned int)(i * 1000 + k));
			MUST(cuMemcpyHtoD_v2(many[i][k], &k, 4));
			MUST(cuMemcpy((uintptr_t)&x, many[i][k], 4));
			CHECK(x == (unsigned int)k);
		}
	for (i = 0; i < 2; i++)
		for (k = 0; k < ALL; k++)
			MUST(cuMemFree_v2(many[i][k]));
	MUST(cuDeviceCanAccessPeer(&can, 0, 1));
	CHECK(!can);
	MUST(cuDeviceGetP2PAttribute(&can, 2 /* access */, 1, 0));
	CHECK(!can);
	use(0);
	FAILS(cuCtxEnablePeerAccess(device[1].ctx, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	FAILS(cuCtxDisablePeerAccess(device[1].ctx), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	FAILS(cuEventRecord(device[1].event, device[0].stream), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuEventRecord(device[1].event, NULL), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuEventElapsedTime(&ms, device[0].event, device[1].event), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuCtxCreate_v2(&ctx, 0, devices), CUDA_ERROR_INVALID_DEVICE);
	/* handles of the other one are used where they belong */
	launch_spin(1, 1000, device[1].stream);
	MUST(cuEventRecord(device[1].event, device[1].stream));
	MUST(cuStreamSynchronize(device[1].stream));
	MUST(cuEventQuery(device[1].event));
	return 0;
}

/* ------------------------------------------------------------------ copies */

static void pattern(uint8_t *p, size_t n, unsigned int seed)
{
	size_t i;

	for (i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = seed >> 16;
	}
}

static void one_copy(int from, int to, size_t n, int how)
{
	static uint8_t out[MOST], in[MOST];
	CUstream s = device[how & 1 ? from : to].stream;

	pattern(out, n, n + how);
	memset(in, 0, n);
	use(from);
	MUST(cuMemcpyHtoDAsync_v2(device[from].buffer, out, n, how >= 3 ? s : NULL));
	if (how >= 3 && s != device[from].stream)
		MUST(cuStreamSynchronize(s));
	switch (how) {
	case 0:
		MUST(cuMemcpyPeer(device[to].buffer, device[to].ctx, device[from].buffer,
				  device[from].ctx, n));
		break;
	case 1:
		MUST(cuMemcpy(device[to].buffer, device[from].buffer, n));
		break;
	case 2:
		MUST(cuMemcpyDtoD_v2(device[to].buffer, device[from].buffer, n));
		break;
	case 3:
	case 4:
		MUST(cuMemcpyPeerAsync(device[to].buffer, device[to].ctx, device[from].buffer,
				       device[from].ctx, n, s));
		MUST(cuStreamSynchronize(s));
		break;
	default:
		MUST(cuMemcpyAsync(device[to].buffer, device[from].buffer, n, s));
		MUST(cuStreamSynchronize(s));
	}
	use(to);
	MUST(cuMemcpyDtoH_v2(in, device[to].buffer, n));
	CHECK(!memcmp(in, out, n));
}

static void plane_copy(int from, int to)
{
	enum { PITCH = 512, WIDTH = 300, LINES = 5000 };
	static uint8_t out[PITCH * LINES], in[PITCH * LINES];
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			    .srcDevice = device[from].buffer,
			    .srcPitch = PITCH,
			    .srcXInBytes = 4,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstDevice = device[to].buffer,
			    .dstPitch = PITCH,
			    .dstXInBytes = 8,
			    .dstY = 1,
			    .WidthInBytes = WIDTH,
			    .Height = LINES - 1 };
	int y;

	pattern(out, sizeof(out), from);
	use(from);
	MUST(cuMemcpyHtoD_v2(device[from].buffer, out, sizeof(out)));
	MUST(cuMemcpy2D_v2(&c));
	MUST(cuMemcpyDtoH_v2(in, device[to].buffer, sizeof(in)));
	for (y = 1; y < LINES; y++)
		CHECK(!memcmp(in + y * PITCH + 8, out + (y - 1) * PITCH + 4, WIDTH));
}

/*
 * A copy from host memory in a stream of device @from, while the null stream of device @to is busy.
 * When the program's stream is through, a non-blocking stream of @to sees the bytes.
 */
static void host_copy(int from, int to, size_t n)
{
	enum { SPUN = MOST - 4096 }; /* where the kernel writes */
	static uint8_t out[MOST], in[MOST];
	CUdeviceptr at = device[to].buffer;

	pattern(out, n, from);
	use(to);
	MUST(cuMemsetD8_v2(at, 0, n));
	MUST(cuCtxSynchronize());
	device[to].buffer += SPUN;
	launch_spin(to, 3000000, NULL);
	device[to].buffer = at;
	MUST(cuMemcpyHtoDAsync_v2(at, out, n, device[from].stream));
	MUST(cuStreamSynchronize(device[from].stream));
	MUST(cuMemcpyDtoHAsync_v2(in, at, n, device[to].stream));
	MUST(cuStreamSynchronize(device[to].stream));
	CHECK(!memcmp(in, out, n));
}

static int copy_all(int ways)
{
	static const size_t sizes[] = { 1,    100,   2048,    2049,	     8192,
					8193, 65537, 1 << 20, (1 << 20) + 1, MOST };
	unsigned int i;
	int how, pairs = 0, from, to;
	void *pinned;
	uint8_t host[5000];

	for (from = 0; from < devices; from++)
		for (to = 0; to < devices; to++) {
			if (from == to)
				continue;
			for (how = 0; how < ways; how++)
				for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
					one_copy(from, to, sizes[i], how);
			plane_copy(from, to);
			host_copy(from, to, 100);
			host_copy(from, to, 3 << 20);
			pairs++;
		}
	use(0);
	MUST(cuMemHostAlloc(&pinned, sizeof(host), CU_MEMHOSTALLOC_PORTABLE));
	pattern(pinned, sizeof(host), 77);
	use(1);
	MUST(cuMemcpyHtoDAsync_v2(device[1].buffer, pinned, sizeof(host), device[1].stream));
	memset(host, 0, sizeof(host));
	MUST(cuMemcpyDtoHAsync_v2(host, device[1].buffer, sizeof(host), device[1].stream));
	MUST(cuStreamSynchronize(device[1].stream));
	CHECK(!memcmp(host, pinned, sizeof(host)));
	MUST(cuMemFreeHost(pinned));
	printf("%d pairs\n", pairs);
	return 0;
}

static int copies(void)
{
	return copy_all(7);
}

static int waited(void)
{
	return copy_all(3);
}

/* ------------------------------------------------------------------ order */

/* a ring: each device's stream goes on when the one before it is through, by the same events */
static int events(void)
{
	unsigned int x;
	int i, k;

	for (i = 0; i < devices; i++) {
		use(i);
		MUST(cuMemsetD32_v2(device[i].buffer, 0, 4));
		MUST(cuCtxSynchronize());
	}
	for (k = 1; k <= ROUNDS; k++)
		for (i = 0; i < devices; i++) {
			int before = (i + devices - 1) % devices;

			use(i);
			if (k > 1 || i)
				MUST(cuStreamWaitEvent(device[i].stream, device[before].event, 0));
			if (k % 50 == 1)
				launch_spin(before, 200000, device[before].stream);
			/* the count of the device before comes here, and is overwritten */
			if (k > 1 || i)
				MUST(cuMemcpyPeerAsync(device[i].buffer + 64, device[i].ctx,
						       device[before].buffer + 64,
						       device[before].ctx, 4, device[i].stream));
			MUST(cuMemsetD32Async(device[i].buffer + 64, k * 100 + i, 1,
					      device[i].stream));
			MUST(cuEventRecord(device[i].event, device[i].stream));
		}
	for (i = 0; i < devices; i++) {
		MUST(cuStreamSynchronize(device[i].stream));
		MUST(cuMemcpyDtoH_v2(&x, device[i].buffer + 64, 4));
		CHECK(x == (unsigned int)(ROUNDS * 100 + i));
	}
	return 0;
}

/* what holds the stream of waits() back, and whether it gave up before it was let go */
static atomic_bool let_go, gave_up;

/* a host function: the stream's later work, and its event, wait until let_go */
static void hold_back(void *unused)
{
	double end = now() + HELD_S;

	while (!let_go && now() < end)
		usleep(1000);
	gave_up = !let_go;
}

/*
 * A stream waits for the other server's event. All calls up to let_go have to return while that
 * event can't come. How long the calls took is printed.
 */
static int waits(void)
{
	double start, called;
	unsigned int x = 0;

	use(1);
	MUST(cuMemsetD32_v2(device[1].buffer + 128, 1, 1));
	MUST(cuCtxSynchronize());
	start = now();
	MUST(cuLaunchHostFunc(device[1].stream, hold_back, NULL));
	launch_spin(1, 3000000, device[1].stream);
	MUST(cuMemsetD32Async(device[1].buffer + 128, 2, 1, device[1].stream));
	MUST(cuEventRecord(device[1].event, device[1].stream));
	use(0);
	MUST(cuStreamWaitEvent(device[0].stream, device[1].event, 0));
	MUST(cuMemcpyPeerAsync(device[0].buffer + 128, device[0].ctx, device[1].buffer + 128,
			       device[1].ctx, 4, device[0].stream));
	called = now() - start;
	MUST(cuMemsetD8_v2(device[0].buffer, 1, 64));
	FAILS(cuStreamQuery(device[0].stream), CUDA_ERROR_NOT_READY);
	CHECK(!gave_up);
	let_go = true;
	MUST(cuStreamSynchronize(device[0].stream));
	MUST(cuEventQuery(device[1].event));
	MUST(cuMemcpyDtoH_v2(&x, device[0].buffer + 128, 4));
	CHECK(x == 2);
	printf("calls %.0f ms, all %.0f ms\n", called * 1e3, (now() - start) * 1e3);
	return 0;
}

/*
 * A library may wait for all work before it takes or gives back something. Here that work waits for
 * bytes of another server, which this server's thread has to take.
 */
static int loads(void)
{
	enum { LOAD, GET, FREE, UNLOAD, CALLS };
	CUmodule module = NULL;
	CUfunction function;
	unsigned int x = 0;
	CUdeviceptr p;
	int i;

	use(0);
	MUST(cuMemAlloc_v2(&p, 100));
	for (i = LOAD; i < CALLS; i++) {
		use(1);
		MUST(cuMemsetD32_v2(device[1].buffer + 128, 0, 1));
		MUST(cuCtxSynchronize());
		launch_spin(1, 3000000, device[1].stream);
		MUST(cuMemsetD32Async(device[1].buffer + 128, i + 1, 1, device[1].stream));
		MUST(cuEventRecord(device[1].event, device[1].stream));
		use(0);
		MUST(cuStreamWaitEvent(device[0].stream, device[1].event, 0));
		MUST(cuMemcpyPeerAsync(device[0].buffer + 128, device[0].ctx,
				       device[1].buffer + 128, device[1].ctx, 4, device[0].stream));
		switch (i) {
		case LOAD:
			MUST(cuModuleLoad(&module, file));
			break;
		case GET:
			MUST(cuModuleGetFunction(&function, module, "spin"));
			break;
		case FREE:
			MUST(cuMemFree_v2(p));
			break;
		case UNLOAD:
			MUST(cuModuleUnload(module));
			break;
		}
		MUST(cuStreamSynchronize(device[0].stream));
		MUST(cuMemcpyDtoH_v2(&x, device[0].buffer + 128, 4));
		CHECK(x == (unsigned int)i + 1);
	}
	return 0;
}

static void *work(void *arg)
{
	struct device *d = arg;
	CUstream s;
	CUdeviceptr p;
	unsigned int i, x;

	MUST(cuCtxSetCurrent(d->ctx));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&p, 4096));
	for (i = 0; i < ROUNDS; i++) {
		MUST(cuMemsetD32Async(p, i, 1024, s));
		MUST(cuMemcpyDtoHAsync_v2(&x, p + 4 * (i % 1024), 4, s));
		MUST(cuStreamSynchronize(s));
		CHECK(x == i);
	}
	MUST(cuMemFree_v2(p));
	MUST(cuStreamDestroy_v2(s));
	return NULL;
}

static int threads(void)
{
	pthread_t t[2 * DEVICES_MAX];
	int i;

	for (i = 0; i < 2 * devices; i++)
		pthread_create(&t[i], NULL, work, &device[i % devices]);
	for (i = 0; i < 2 * devices; i++)
		pthread_join(t[i], NULL);
	return 0;
}

/* ------------------------------------------------------------------ one server is killed */

static void *wait_there(void *arg)
{
	use(1);
	*(CUresult *)arg = cuCtxSynchronize();
	return NULL;
}

static int dies(void)
{
	CUresult r = CUDA_SUCCESS;
	CUdeviceptr p;
	pthread_t t;
	double start;
	int i;

	use(1);
	launch_spin(1, LONG_ROUNDS, device[1].stream);
	MUST(cuEventRecord(device[1].event, device[1].stream));
	pthread_create(&t, NULL, wait_there, &r);
	use(0);
	MUST(cuStreamWaitEvent(device[0].stream, device[1].event, 0));
	MUST(cuMemsetD32Async(device[0].buffer, 5, 1, device[0].stream));
	puts("ready");
	fflush(stdout);
	pthread_join(t, NULL);
	CHECK(r == CUDA_ERROR_SYSTEM_NOT_READY);
	start = now();
	use(1);
	FAILS(cuMemAlloc_v2(&p, 100), CUDA_ERROR_SYSTEM_NOT_READY);
	FAILS(cuStreamSynchronize(device[1].stream), CUDA_ERROR_SYSTEM_NOT_READY);
	use(0);
	/* the stream that waited goes on, and says once that what it waited for has not come */
	FAILS(cuStreamSynchronize(device[0].stream), CUDA_ERROR_SYSTEM_NOT_READY);
	FAILS(cuMemcpyPeer(device[0].buffer, device[0].ctx, device[1].buffer, device[1].ctx, 100),
	      CUDA_ERROR_SYSTEM_NOT_READY);
	for (i = 0; i < devices; i++) {
		if (i == 1)
			continue;
		use(i);
		MUST(cuStreamSynchronize(device[i].stream));
		work(&device[i]);
	}
	printf("%.1f s\n", now() - start);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{ "belongs", belongs }, { "copies", copies }, { "waited", waited },
		{ "events", events },	{ "waits", waits },   { "threads", threads },
		{ "loads", loads },	{ "dies", dies },
	};
	unsigned int i;

	alarm(300);
	for (i = 0; argc == 3 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			begin(argv[2]);
			return modes[i].run();
		}
	return 2;
}
