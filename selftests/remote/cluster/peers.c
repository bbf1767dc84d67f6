// SPDX-License-Identifier: GPL-2.0-only
/*
 * peers MODE CUBIN: copies between the devices of kvgpu-run, whose bytes go from proxy to proxy.
 * Exit code 0: what it saw was right. Some modes print "ready" when processes are to die, or a
 * network is to be cut.
 */
#include <cuda/api/api.h>
#include <remote/client/broadcast.h>
#include <selftests/remote/must.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES_MAX = 8, WORDS = 1 << 20, BYTES = 4 * WORDS, ROUNDS = 12, AFTER_STOP = 8 };

static struct device {
	CUcontext ctx;
	CUfunction spin;
	CUstream stream, other;
	CUevent event;
	CUdeviceptr buffer, more;
} device[DEVICES_MAX];
static int devices;
static uint32_t words[WORDS];

static void begin(const char *cubin)
{
	CUmodule module;
	int i;

	MUST(cuInit(0));
	MUST(cuDeviceGetCount(&devices));
	CHECK(devices >= 2 && devices <= DEVICES_MAX);
	for (i = 0; i < devices; i++) {
		struct device *d = &device[i];

		MUST(cuCtxCreate_v2(&d->ctx, 0, i));
		MUST(cuModuleLoad(&module, cubin));
		MUST(cuModuleGetFunction(&d->spin, module, "spin"));
		MUST(cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING));
		MUST(cuStreamCreate(&d->other, CU_STREAM_NON_BLOCKING));
		MUST(cuEventCreate(&d->event, CU_EVENT_DISABLE_TIMING));
		MUST(cuMemAlloc_v2(&d->buffer, BYTES));
		MUST(cuMemAlloc_v2(&d->more, BYTES));
	}
}

static void spin(struct device *d, CUstream s)
{
	int rounds = 200000;
	void *params[] = { &d->more, &rounds };

	MUST(cuCtxSetCurrent(d->ctx));
	MUST(cuLaunchKernel(d->spin, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
}

static bool all_are(CUdeviceptr at, uint32_t value)
{
	int i;

	MUST(cuMemcpyDtoH_v2(words, at, BYTES));
	for (i = 0; i < WORDS && words[i] == value; i++)
		;
	return i == WORDS;
}

/*
 * Around the ring of devices: a stream writes its buffer behind a kernel that takes long, copies it
 * to the next device, and writes it anew at once. The next device's stream waits for the copy's
 * event, copies the bytes back, and writes its own buffer anew.
 */
static int order(void)
{
	struct device *d, *next;
	int k, i;

	for (k = 1; k <= ROUNDS; k++) {
		d = &device[k % devices];
		next = &device[(k + 1) % devices];
		spin(d, d->stream);
		MUST(cuMemsetD32Async(d->buffer, 100 + k, WORDS, d->stream));
		MUST(cuMemcpyPeerAsync(next->buffer, next->ctx, d->buffer, d->ctx, BYTES,
				       d->stream));
		MUST(cuMemsetD32Async(d->buffer, 7, WORDS, d->stream));
		MUST(cuEventRecord(d->event, d->stream));
		MUST(cuCtxSetCurrent(next->ctx));
		MUST(cuStreamWaitEvent(next->other, d->event, 0));
		MUST(cuMemcpyAsync(d->more, next->buffer, BYTES, next->other));
		MUST(cuMemsetD32Async(next->buffer, 9, WORDS, next->other));
		MUST(cuStreamSynchronize(next->other));
		CHECK(all_are(d->more, 100 + k));
		CHECK(all_are(d->buffer, 7));
		CHECK(all_are(next->buffer, 9));
	}
	for (i = 0; i < devices; i++) {
		MUST(cuCtxSetCurrent(device[i].ctx));
		MUST(cuCtxSynchronize());
	}
	return 0;
}

/* ------------------------------------------------------------------ threads */

static void *to_all(void *arg)
{
	struct device *d = arg;
	size_t part = BYTES / DEVICES_MAX / 4;
	int k, i, me = d - device;

	for (k = 0; k < ROUNDS; k++)
		for (i = 0; i < devices; i++) {
			CUdeviceptr to = device[i].more + me * 4 * part + k % 4 * part;

			if (i == me)
				continue;
			MUST(cuCtxSetCurrent(d->ctx));
			MUST(cuMemsetD32_v2(d->buffer, me * 1000 + k, part / 4));
			MUST(cuMemcpyPeer(to, device[i].ctx, d->buffer, d->ctx, part));
		}
	return NULL;
}

/* each device's thread copies to all others, at once */
static int threads(void)
{
	size_t part = BYTES / DEVICES_MAX / 4;
	pthread_t thread[DEVICES_MAX];
	unsigned int n = part / 4, k, w;
	int i, from;

	for (i = 0; i < devices; i++)
		CHECK(!pthread_create(&thread[i], NULL, to_all, &device[i]));
	for (i = 0; i < devices; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < devices; i++) {
		MUST(cuMemcpyDtoH_v2(words, device[i].more, BYTES));
		for (from = 0; from < devices; from++)
			for (k = 0; k < 4 && from != i; k++)
				for (w = 0; w < n; w++)
					CHECK(words[(from * 4 + k) * n + w] ==
					      from * 1000 + ROUNDS - 4 + k);
	}
	return 0;
}

/* ------------------------------------------------------------------ both ways at once */

/*
 * Copies in both directions, each behind kernels that take long. Before that each device gets work
 * that waits for the copy that it gets: small copies to the host, which @reads, or from the host.
 */
static void both_ways(int k, bool reads)
{
	enum { EDGE = 64 << 10 };
	uint32_t word[2] = { 0 };
	int i, n;

	for (i = 0; i < 2; i++) {
		struct device *d = &device[i], *to = &device[!i];

		for (n = 0; n < 4; n++)
			spin(d, d->stream);
		MUST(cuMemsetD32Async(d->buffer, 100 * k + i, EDGE / 4, d->stream));
		MUST(cuMemcpyPeerAsync(to->more, to->ctx, d->buffer, d->ctx, EDGE, d->stream));
		MUST(cuEventRecord(d->event, d->stream));
	}
	for (i = 0; i < 2; i++) {
		MUST(cuCtxSetCurrent(device[i].ctx));
		MUST(cuStreamWaitEvent(device[i].other, device[!i].event, 0));
		MUST(cuMemsetD32Async(device[i].buffer + EDGE, k, EDGE / 4, device[i].other));
	}
	for (i = 0; i < 2 && reads; i++) {
		MUST(cuMemcpyDtoHAsync_v2(&word[i], device[i].more + EDGE - 4, 4, device[i].other));
		CHECK(word[i] == 100u * k + !i);
	}
	for (i = 0; i < 4 && !reads; i++)
		MUST(cuMemcpyHtoDAsync_v2(device[i & 1].more + 2 * EDGE, words, EDGE,
					  device[i & 1].other));
	for (i = 0; i < 2; i++) {
		MUST(cuStreamSynchronize(device[i].other));
		MUST(cuMemcpyDtoH_v2(word, device[i].more + EDGE - 4, 4));
		CHECK(word[0] == 100u * k + !i);
	}
}

static int crossing(void)
{
	int k;

	for (k = 1; k <= 4; k++)
		both_ways(k, k & 1);
	return 0;
}

/*
 * As NVIDIA's Jacobi programs: a stream of each device computes when the edges of both neighbours
 * are there, and two further streams then push this device's edges to the neighbours.
 */
enum { STEPS = 60, EDGE_WORDS = 4096 };

static struct halo {
	CUstream push[2]; /* to the device before, to the one behind */
	CUevent computed, pushed[2][2]; /* .pushed[step % 2][] */
	CUdeviceptr mine[2], theirs[2]; /* edges; .theirs[0] is that of the device before */
} halo[DEVICES_MAX];

static void halo_begin(int i)
{
	struct halo *h = &halo[i];
	int k, n;

	MUST(cuCtxSetCurrent(device[i].ctx));
	MUST(cuEventCreate(&h->computed, CU_EVENT_DISABLE_TIMING));
	for (k = 0; k < 2; k++) {
		MUST(cuStreamCreate(&h->push[k], 0));
		for (n = 0; n < 2; n++)
			MUST(cuEventCreate(&h->pushed[n][k], CU_EVENT_DISABLE_TIMING));
		h->mine[k] = device[i].buffer + k * 4 * EDGE_WORDS;
		h->theirs[k] = device[i].more + k * 4 * EDGE_WORDS;
		MUST(cuMemsetD32_v2(h->theirs[k], 0, EDGE_WORDS));
	}
	MUST(cuCtxSynchronize());
}

static void halo_step(int i, int n)
{
	const int to[2] = { (i + devices - 1) % devices, (i + 1) % devices };
	CUstream compute = device[i].stream;
	struct halo *h = &halo[i];
	uint32_t edge[2];
	int k;

	MUST(cuCtxSetCurrent(device[i].ctx));
	for (k = 0; k < 2; k++)
		MUST(cuStreamWaitEvent(compute, halo[to[k]].pushed[n % 2][!k], 0));
	for (k = 0; k < 2; k++)
		MUST(cuMemsetD32Async(h->mine[k], n * DEVICES_MAX + i, EDGE_WORDS, compute));
	MUST(cuEventRecord(h->computed, compute));
	for (k = 0; k < 2; k++) {
		MUST(cuMemcpyDtoHAsync_v2(&edge[k], h->theirs[k] + 4 * EDGE_WORDS - 4, 4, compute));
		CHECK(!n || edge[k] >= (n - 1u) * DEVICES_MAX + to[k]);
	}
	for (k = 0; k < 2; k++) {
		MUST(cuStreamWaitEvent(h->push[k], h->computed, 0));
		MUST(cuMemcpyAsync(halo[to[k]].theirs[!k], h->mine[k], 4 * EDGE_WORDS, h->push[k]));
		MUST(cuEventRecord(h->pushed[(n + 1) % 2][k], h->push[k]));
	}
}

static int halos(void)
{
	int i, n;

	for (i = 0; i < devices; i++)
		halo_begin(i);
	for (n = 0; n < STEPS; n++)
		for (i = 0; i < devices; i++)
			halo_step(i, n);
	for (i = 0; i < devices; i++) {
		MUST(cuCtxSetCurrent(device[i].ctx));
		MUST(cuCtxSynchronize());
	}
	return 0;
}

/* ------------------------------------------------------------------ boxes */

static int boxes(void)
{
	enum { PITCH = 1024, LINES = 32, SLICES = 64, WIDTH = 900 };
	CUDA_MEMCPY3D_PEER c = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
				 .srcDevice = device[0].buffer,
				 .srcContext = device[0].ctx,
				 .srcPitch = PITCH,
				 .srcHeight = LINES,
				 .srcXInBytes = 8,
				 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
				 .dstDevice = device[1].buffer,
				 .dstContext = device[1].ctx,
				 .dstPitch = PITCH,
				 .dstHeight = LINES,
				 .dstY = 1,
				 .WidthInBytes = WIDTH,
				 .Height = LINES - 1,
				 .Depth = SLICES };
	static uint32_t in[PITCH / 4 * LINES * SLICES];
	unsigned int i, y, z;

	for (i = 0; i < sizeof(in) / 4; i++)
		words[i] = i * 2654435761u;
	MUST(cuMemcpyHtoD_v2(device[0].buffer, words, sizeof(in)));
	MUST(cuMemcpy3DPeer(&c));
	MUST(cuMemcpyDtoH_v2(in, device[1].buffer, sizeof(in)));
	for (z = 0; z < SLICES; z++)
		for (y = 1; y < LINES; y++)
			CHECK(!memcmp((char *)in + (z * LINES + y) * PITCH,
				      (char *)words + (z * LINES + y - 1) * PITCH + 8, WIDTH));
	return 0;
}

/* ------------------------------------------------------------------ broadcast */

static void fill(unsigned int seed)
{
	int i;

	for (i = 0; i < WORDS; i++)
		words[i] = i * 2654435761u + seed;
}

static void has(CUdeviceptr at, size_t bytes)
{
	static uint32_t in[WORDS];

	memset(in, 0, bytes);
	MUST(cuMemcpyDtoH_v2(in, at, bytes));
	CHECK(!memcmp(in, words, bytes));
}

static void all_have(int first, size_t bytes)
{
	int i;

	for (i = first; i < devices; i++)
		has(device[i].buffer, bytes);
}

static int broadcast(void)
{
	static const size_t sizes[] = { 4, 4096, 4100, 1 << 20, BYTES - 4, BYTES };
	CUdeviceptr to[DEVICES_MAX];
	unsigned int k;
	int i;

	for (i = 0; i < devices; i++)
		to[i] = device[i].buffer;
	for (k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		fill(k);
		MUST(kvgpuMemcpyBroadcast(to, devices, (uintptr_t)words, sizes[k]));
		all_have(0, sizes[k]);
		fill(k + 100);
		MUST(cuMemcpyHtoD_v2(device[0].more, words, sizes[k]));
		MUST(kvgpuMemcpyBroadcast(to + 1, devices - 1, device[0].more, sizes[k]));
		all_have(1, sizes[k]);
	}
	to[0] = device[1].more;
	fill(200);
	MUST(cuMemcpyHtoD_v2(device[0].more, words, BYTES));
	MUST(kvgpuMemcpyBroadcast(to, devices, device[0].more, BYTES));
	all_have(1, BYTES);
	has(device[1].more, BYTES);
	MUST(kvgpuMemcpyBroadcast(to, 0, device[0].more, BYTES));
	FAILS(kvgpuMemcpyBroadcast(NULL, 1, device[0].more, BYTES), CUDA_ERROR_INVALID_VALUE);
	FAILS(kvgpuMemcpyBroadcast(to, devices, device[0].more, BYTES + 4),
	      CUDA_ERROR_INVALID_VALUE);
	return 0;
}

static int send_all(bool tree)
{
	CUdeviceptr to[DEVICES_MAX];
	double start, best = 1e9;
	int i, k;

	for (i = 0; i < devices; i++)
		to[i] = device[i].buffer;
	fill(1);
	for (k = 0; k < 5; k++) {
		start = now();
		if (tree)
			MUST(kvgpuMemcpyBroadcast(to, devices, (uintptr_t)words, BYTES));
		for (i = 0; i < devices && !tree; i++)
			MUST(cuMemcpyHtoD_v2(to[i], words, BYTES));
		if (now() - start < best)
			best = now() - start;
	}
	all_have(0, BYTES);
	printf("%d devices, 5 times %d bytes, best %.2f ms\n", devices, BYTES, best * 1e3);
	return 0;
}

static int by_tree(void)
{
	return send_all(true);
}

static int one_by_one(void)
{
	return send_all(false);
}

/* ------------------------------------------------------------------ faults */

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* the second device dies amid copies from and to it */
static int dies(void)
{
	CUresult r = CUDA_SUCCESS;
	int k;

	for (k = 0; !r; k++) {
		struct device *from = &device[k & 1], *to = &device[!(k & 1)];

		r = cuMemcpyPeer(to->buffer, to->ctx, from->buffer, from->ctx, BYTES);
		if (k == 1)
			ready();
	}
	CHECK(r == CUDA_ERROR_SYSTEM_NOT_READY);
	MUST(cuCtxSetCurrent(device[0].ctx));
	FAILS(cuMemcpyPeer(device[1].buffer, device[1].ctx, device[0].buffer, device[0].ctx, BYTES),
	      CUDA_ERROR_SYSTEM_NOT_READY);
	if (devices < 3)
		return 0;
	MUST(cuMemsetD32_v2(device[0].buffer, 3, WORDS));
	MUST(cuMemcpyPeer(device[2].buffer, device[2].ctx, device[0].buffer, device[0].ctx, BYTES));
	CHECK(all_are(device[2].buffer, 3));
	return 0;
}

static int all_die(void)
{
	CUresult r = CUDA_SUCCESS;

	ready();
	while (!r)
		r = cuMemcpyPeer(device[1].buffer, device[1].ctx, device[0].buffer, device[0].ctx,
				 BYTES);
	CHECK(r == CUDA_ERROR_SYSTEM_NOT_READY);
	return 0;
}

/*
 * The second and the third device lose each other amid copies between them, and these go on, until
 * the file that KVGPU_PEERS_STOP names is there, and for some copies more.
 */
static int apart(void)
{
	const char *stop = getenv("KVGPU_PEERS_STOP");
	double began, longest = 0;
	struct device *from, *to;
	uint32_t k, after = 0;

	CHECK(devices == 3 && stop);
	for (k = 0; after < AFTER_STOP; k++) {
		after += after || !access(stop, F_OK);
		from = &device[1 + k % 2];
		to = &device[2 - k % 2];
		MUST(cuCtxSetCurrent(from->ctx));
		MUST(cuMemsetD32_v2(from->buffer, 1000 + k, WORDS));
		began = now();
		MUST(cuMemcpyPeer(to->more, to->ctx, from->buffer, from->ctx, BYTES));
		longest = now() - began > longest ? now() - began : longest;
		CHECK(all_are(to->more, 1000 + k));
		if (!k)
			ready();
	}
	printf("%u copies, the longest took %.1f s\n", k, longest);
	return 0;
}

static int __attribute__((noreturn)) copies_on(void)
{
	ready();
	for (;;)
		MUST(cuMemcpyPeer(device[1].buffer, device[1].ctx, device[0].buffer, device[0].ctx,
				  BYTES));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{ "order", order },	  { "threads", threads }, { "boxes", boxes },
		{ "crossing", crossing }, { "halos", halos },	  { "broadcast", broadcast },
		{ "send", by_tree },	  { "loop", one_by_one }, { "dies", dies },
		{ "apart", apart },	  { "all_die", all_die }, { "on", copies_on },
	};
	unsigned int i;

	if (argc != 3)
		return 2;
	begin(argv[2]);
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	return 2;
}
