// SPDX-License-Identifier: GPL-2.0-only
/*
 * devices [PART...]: a program with NVIDIA's runtime on all GPUs that it sees, as programs for
 * several GPUs are written: threads with a device each, a batch that is scattered, halves of a
 * network. Parts: all without any. TAP.
 */
#include <pthread.h>

#include "../cuda/programs/want.h"

enum { MAX = 8, THREADS = 256, N = 100003 };

static int gpus;

__device__ int me;
__constant__ float factor[4];

/* ------------------------------------------------------------------ kernels */

__global__ void stamp(int *p, int n, int add)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = p[i] * 3 + me * 1000 + add;
}

__global__ void scaled(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * factor[1];
}

/* takes @rounds steps, so that what does not wait for it comes too early */
__global__ void slow(int *p, int n, int add, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = 0;

	for (int k = 0; k < rounds; k++)
		x = x * 5 + k;
	if (i < n)
		p[i] = p[i] * 2 + add + (x == 12345 && rounds < 0);
}

__global__ void bad_store(int *p)
{
	*p = 1;
}

static int blocks(int n)
{
	return CEIL_DIV(n, THREADS);
}

static void use(int d)
{
	int now;

	CHECK(cudaSetDevice(d));
	CHECK(cudaGetDevice(&now));
	WANT(now == d);
}

static void name(int d)
{
	float f[4] = { 0, d + 1.5f };

	use(d);
	CHECK(cudaMemcpyToSymbol(me, &d, sizeof(d)));
	CHECK(cudaMemcpyToSymbol(factor, f, sizeof(f)));
}

static int *ints(int d, int n, int value)
{
	int *host = (int *)malloc(n * sizeof(int)), *p;

	use(d);
	CHECK(cudaMalloc(&p, n * sizeof(int)));
	for (int i = 0; i < n; i++)
		host[i] = value + i;
	CHECK(cudaMemcpy(p, host, n * sizeof(int), cudaMemcpyHostToDevice));
	free(host);
	return p;
}

/* how many of @n are not what @f says */
template <typename F> static int differ(const int *p, int n, F f)
{
	int *host = (int *)malloc(n * sizeof(int)), bad = 0;

	CHECK(cudaMemcpy(host, p, n * sizeof(int), cudaMemcpyDefault));
	for (int i = 0; i < n; i++)
		bad += host[i] != f(i);
	free(host);
	return bad;
}

/* ------------------------------------------------------------------ each device for itself */

struct times {
	int a, b;
	int operator()(int i) const
	{
		return (a + i) * 3 + b;
	}
};

/* a kernel on each, with the module's variables of each */
static void kernels(void)
{
	int *p[MAX], *where, value;

	for (int d = 0; d < gpus; d++) {
		name(d);
		p[d] = ints(d, N, d * 7);
	}
	for (int d = 0; d < gpus; d++) {
		use(d);
		stamp<<<blocks(N), THREADS>>>(p[d], N, 5);
		CHECK_LAUNCH();
	}
	for (int d = gpus; d--;) {
		times want = { d * 7, d * 1000 + 5 };

		use(gpus - 1 - d); /* memory is known by its address */
		WANT(!differ(p[d], N, want));
		CHECK(cudaMemcpy(&value, p[d] + N - 1, sizeof(int), cudaMemcpyDeviceToHost));
		WANT(value == want(N - 1));
	}
	for (int d = 0; d < gpus; d++) {
		use(d);
		CHECK(cudaGetSymbolAddress((void **)&where, me));
		CHECK(cudaMemcpyFromSymbol(&value, me, sizeof(value)));
		WANT(value == d);
		CHECK(cudaMemcpy(&value, where, sizeof(value), cudaMemcpyDeviceToHost));
		WANT(value == d);
		use(0);
		CHECK(cudaFree(p[d]));
	}
}

static void *one_thread(void *arg)
{
	int d = (int)(intptr_t)arg % gpus, now;
	float *in, *out, *host = (float *)malloc(N * sizeof(float));
	cudaStream_t s;
	cudaEvent_t e;

	CHECK(cudaGetDevice(&now));
	WANT(now == 0); /* each thread begins there */
	use(d);
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	for (int round = 0; round < 4; round++) {
		CHECK(cudaMalloc(&in, N * sizeof(float)));
		CHECK(cudaMalloc(&out, N * sizeof(float)));
		for (int i = 0; i < N; i++)
			host[i] = i % 1000 + round;
		CHECK(cudaMemcpyAsync(in, host, N * sizeof(float), cudaMemcpyHostToDevice, s));
		scaled<<<blocks(N), THREADS, 0, s>>>(in, out, N);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(host, out, N * sizeof(float), cudaMemcpyDeviceToHost, s));
		CHECK(cudaEventRecord(e, s));
		CHECK(cudaEventSynchronize(e));
		for (int i = 0; i < N; i++)
			if (host[i] != (i % 1000 + round) * (d + 1.5f)) {
				WANT(!"a thread's result");
				break;
			}
		CHECK(cudaFree(in));
		CHECK(cudaFree(out));
	}
	CHECK(cudaEventDestroy(e));
	CHECK(cudaStreamDestroy(s));
	free(host);
	return NULL;
}

static void threads(void)
{
	pthread_t t[2 * MAX];

	for (int d = 0; d < gpus; d++)
		name(d);
	for (int i = 0; i < 2 * gpus; i++)
		pthread_create(&t[i], NULL, one_thread, (void *)(intptr_t)i);
	for (int i = 0; i < 2 * gpus; i++)
		pthread_join(t[i], NULL);
}

/* addresses of all devices differ, and each says whose it is */
static void addresses(void)
{
	enum { EACH = 6 };
	static char *p[MAX][EACH];
	struct cudaPointerAttributes a;

	for (int k = 0; k < EACH; k++)
		for (int d = 0; d < gpus; d++) {
			use(d);
			CHECK(cudaMalloc(&p[d][k], k % 2 ? 1000 : 3 << 20));
		}
	for (int d = 0; d < gpus; d++)
		for (int k = 0; k < EACH; k++) {
			CHECK(cudaPointerGetAttributes(&a, p[d][k] + 999));
			WANT(a.device == d && a.type == cudaMemoryTypeDevice);
		}
	for (int i = 0; i < gpus * EACH; i++)
		for (int k = 0; k < i; k++) {
			char *x = p[i / EACH][i % EACH], *y = p[k / EACH][k % EACH];

			if (x < y + 1000 && y < x + 1000)
				WANT(!"addresses of their own");
		}
	for (int i = 0; i < gpus * EACH; i++)
		CHECK(cudaFree(p[i / EACH][i % EACH]));
}

/* ------------------------------------------------------------------ copies */

struct plain {
	int v;
	int operator()(int i) const
	{
		return v + i;
	}
};

static void copies(void)
{
	static const int sizes[] = { 1, 4096, N };
	int *p[MAX];

	for (int d = 0; d < gpus; d++)
		p[d] = ints(d, N, d * 1000);
	for (int n : sizes)
		for (int from = 0; from < gpus; from++)
			for (int to = 0; to < gpus; to++) {
				plain want = { n + from };
				int *src = ints(from, n, n + from);

				if (from == to)
					continue;
				CHECK(cudaMemset(p[to], 0, n * sizeof(int)));
				use((from + n) % gpus);
				switch (n % 3) {
				case 0:
					CHECK(cudaMemcpyPeer(p[to], to, src, from,
							     n * sizeof(int)));
					break;
				case 1:
					CHECK(cudaMemcpy(p[to], src, n * sizeof(int),
							 cudaMemcpyDefault));
					break;
				case 2:
					CHECK(cudaMemcpy(p[to], src, n * sizeof(int),
							 cudaMemcpyDeviceToDevice));
					break;
				}
				WANT(!differ(p[to], n, want));
				CHECK(cudaFree(src));
			}
	for (int d = 0; d < gpus; d++)
		CHECK(cudaFree(p[d]));
}

struct doubled {
	int v, rounds;
	int operator()(int i) const
	{
		int x = i;
		for (int k = 1; k <= rounds; k++)
			x = x * 2 + k;
		return x + v;
	}
};

/* A buffer goes around all devices, each of which works on it: order by events alone. */
static void ring(void)
{
	enum { ROUNDS = 3 };
	cudaStream_t s[MAX];
	cudaEvent_t arrived[MAX], done[MAX];
	int *p[MAX], step = 0;
	doubled want = { 0, ROUNDS * gpus };

	for (int d = 0; d < gpus; d++) {
		p[d] = ints(d, N, 0);
		CHECK(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming));
		CHECK(cudaEventCreateWithFlags(&arrived[d], cudaEventDisableTiming));
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int d = 0; d < gpus; d++) {
			int to = (d + 1) % gpus;

			use(d);
			slow<<<blocks(N), THREADS, 0, s[d]>>>(p[d], N, ++step, 50);
			CHECK_LAUNCH();
			CHECK(cudaEventRecord(done[d], s[d]));
			if (d % 2) { /* the receiver's stream copies */
				use(to);
				CHECK(cudaStreamWaitEvent(s[to], done[d], 0));
				CHECK(cudaMemcpyPeerAsync(p[to], to, p[d], d, N * sizeof(int),
							  s[to]));
			} else {
				CHECK(cudaMemcpyPeerAsync(p[to], to, p[d], d, N * sizeof(int),
							  s[d]));
				CHECK(cudaEventRecord(arrived[d], s[d]));
				use(to);
				CHECK(cudaStreamWaitEvent(s[to], arrived[d], 0));
			}
		}
	for (int d = 0; d < gpus; d++) {
		use(d);
		CHECK(cudaStreamSynchronize(s[d]));
	}
	WANT(!differ(p[0], N, want));
	for (int d = 0; d < gpus; d++) {
		CHECK(cudaEventDestroy(done[d]));
		CHECK(cudaEventDestroy(arrived[d]));
		CHECK(cudaStreamDestroy(s[d]));
		CHECK(cudaFree(p[d]));
	}
}

/* ------------------------------------------------------------------ memory of the host */

static void pinned(void)
{
	int *host, *own = (int *)malloc(N * sizeof(int)), *p[MAX];
	cudaStream_t s[MAX];

	use(0);
	CHECK(cudaHostAlloc(&host, N * sizeof(int), cudaHostAllocPortable));
	CHECK(cudaHostRegister(own, N * sizeof(int), cudaHostRegisterPortable));
	for (int d = 0; d < gpus; d++) {
		name(d);
		p[d] = ints(d, N, 0);
		CHECK(cudaStreamCreate(&s[d]));
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			host[i] = i;
		for (int d = 0; d < gpus; d++) {
			use(d);
			CHECK(cudaMemcpyAsync(p[d], host, N * sizeof(int), cudaMemcpyHostToDevice,
					      s[d]));
			stamp<<<blocks(N), THREADS, 0, s[d]>>>(p[d], N, round);
			CHECK_LAUNCH();
			CHECK(cudaMemcpyAsync(own, p[d], N * sizeof(int), cudaMemcpyDeviceToHost,
					      s[d]));
			CHECK(cudaStreamSynchronize(s[d]));
			for (int i = 0; i < N; i += 1009)
				WANT(own[i] == i * 3 + d * 1000 + round);
		}
	}
	for (int d = 0; d < gpus; d++) {
		use(d);
		CHECK(cudaStreamDestroy(s[d]));
		CHECK(cudaFree(p[d]));
	}
	CHECK(cudaHostUnregister(own));
	CHECK(cudaFreeHost(host));
	free(own);
}

/* managed memory, first of one device's, then copied to the other */
static void managed(void)
{
	int *m, *p;
	times want = { 4, 1000 };

	for (int d = 0; d < gpus; d++) {
		name(d);
		CHECK(cudaMallocManaged(&m, N * sizeof(int)));
		for (int i = 0; i < N; i++)
			m[i] = 4 + i;
		stamp<<<blocks(N), THREADS>>>(m, N, 1000 - d * 1000);
		CHECK_LAUNCH();
		CHECK(cudaDeviceSynchronize());
		for (int i = 0; i < N; i += 1009)
			WANT(m[i] == want(i));
		p = ints((d + 1) % gpus, N, 0);
		CHECK(cudaMemcpy(p, m, N * sizeof(int), cudaMemcpyDefault));
		WANT(!differ(p, N, want));
		CHECK(cudaFree(p));
		CHECK(cudaFree(m));
	}
}

/* ------------------------------------------------------------------ training */

enum { WIDE = 64, DEEP = 32, BATCH = 48 };

/* gradient of the squares of x * w - y by w, summed over the batch's lines: a linear layer's */
__global__ void gradient(const float *x, const float *y, const float *w, int lines, float *g)
{
	int i = threadIdx.x, o = blockIdx.x;
	float sum = 0;

	for (int b = 0; b < lines; b++) {
		float e = -y[b * DEEP + o];

		for (int k = 0; k < WIDE; k++)
			e += x[b * WIDE + k] * w[k * DEEP + o];
		sum += e * x[b * WIDE + i];
	}
	g[i * DEEP + o] = sum;
}

__global__ void add(float *a, const float *b, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] += by * b[i];
}

struct replica {
	int device, lines;
	float *x, *y, *w, *g;
	pthread_t thread;
};

static void *step_of(void *arg)
{
	struct replica *r = (struct replica *)arg;

	use(r->device);
	gradient<<<DEEP, WIDE>>>(r->x, r->y, r->w, r->lines, r->g);
	CHECK_LAUNCH();
	return NULL;
}

/* the weights after some steps with a batch that is scattered over @n devices */
static void train(int n, const float *x, const float *y, float *w)
{
	const size_t weights = WIDE * DEEP * sizeof(float);
	struct replica r[MAX];
	float *theirs;

	for (int d = 0; d < n; d++) {
		r[d].device = d;
		r[d].lines = BATCH / n + (d < BATCH % n);
		use(d);
		CHECK(cudaMalloc(&r[d].x, BATCH * WIDE * sizeof(float)));
		CHECK(cudaMalloc(&r[d].y, BATCH * DEEP * sizeof(float)));
		CHECK(cudaMalloc(&r[d].w, weights));
		CHECK(cudaMalloc(&r[d].g, weights));
	}
	use(0);
	CHECK(cudaMalloc(&theirs, weights));
	CHECK(cudaMemset(r[0].w, 0, weights));
	for (int step = 0; step < 4; step++) {
		for (int d = 0, at = 0; d < n; at += r[d++].lines) {
			use(d);
			CHECK(cudaMemcpyAsync(r[d].x, x + at * WIDE,
					      r[d].lines * WIDE * sizeof(float),
					      cudaMemcpyHostToDevice));
			CHECK(cudaMemcpyAsync(r[d].y, y + at * DEEP,
					      r[d].lines * DEEP * sizeof(float),
					      cudaMemcpyHostToDevice));
			use(0);
			if (d)
				CHECK(cudaMemcpyPeer(r[d].w, d, r[0].w, 0, weights));
		}
		for (int d = 0; d < n; d++)
			pthread_create(&r[d].thread, NULL, step_of, &r[d]);
		for (int d = 0; d < n; d++)
			pthread_join(r[d].thread, NULL);
		use(0);
		for (int d = 1; d < n; d++) {
			CHECK(cudaMemcpyPeer(theirs, 0, r[d].g, d, weights));
			add<<<blocks(WIDE * DEEP), THREADS>>>(r[0].g, theirs, 1, WIDE * DEEP);
		}
		add<<<blocks(WIDE * DEEP), THREADS>>>(r[0].w, r[0].g, -0.5f / BATCH, WIDE * DEEP);
		CHECK_LAUNCH();
	}
	CHECK(cudaMemcpy(w, r[0].w, weights, cudaMemcpyDeviceToHost));
	for (int d = 0; d < n; d++) {
		CHECK(cudaFree(r[d].x));
		CHECK(cudaFree(r[d].y));
		CHECK(cudaFree(r[d].w));
		CHECK(cudaFree(r[d].g));
	}
	CHECK(cudaFree(theirs));
}

static void parallel(void)
{
	static float x[BATCH * WIDE], y[BATCH * DEEP], one[WIDE * DEEP], all[WIDE * DEEP];
	uint32_t seed = 3;
	int bad = 0;

	for (float &v : x)
		v = random_float(&seed) - 0.5f;
	for (float &v : y)
		v = random_float(&seed) - 0.5f;
	train(1, x, y, one);
	train(gpus, x, y, all);
	for (int i = 0; i < WIDE * DEEP; i++)
		bad += !(fabs(one[i] - all[i]) < 1e-5) || one[i] == 0;
	WANT(!bad);
}

struct halves {
	int v;
	int operator()(int i) const
	{
		return ((v + i) * 2 + 1) * 2 + 2;
	}
};

/* a network's first half on one device, the second on the next, micro-batches in both at once */
static void pipeline(void)
{
	enum { PIECES = 6, EACH = 20011 };
	int last = gpus - 1, *first[PIECES], *second[PIECES];
	cudaStream_t s[2];
	cudaEvent_t e[PIECES];

	for (int k = 0; k < PIECES; k++) {
		first[k] = ints(0, EACH, k);
		second[k] = ints(last, EACH, 0);
		use(0);
		CHECK(cudaEventCreateWithFlags(&e[k], cudaEventDisableTiming));
	}
	CHECK(cudaStreamCreate(&s[0]));
	use(last);
	CHECK(cudaStreamCreate(&s[1]));
	for (int k = 0; k < PIECES; k++) {
		use(0);
		slow<<<blocks(EACH), THREADS, 0, s[0]>>>(first[k], EACH, 1, 50);
		CHECK(cudaMemcpyPeerAsync(second[k], last, first[k], 0, EACH * sizeof(int), s[0]));
		CHECK(cudaEventRecord(e[k], s[0]));
		use(last);
		CHECK(cudaStreamWaitEvent(s[1], e[k], 0));
		slow<<<blocks(EACH), THREADS, 0, s[1]>>>(second[k], EACH, 2, 50);
		CHECK_LAUNCH();
	}
	CHECK(cudaStreamSynchronize(s[1]));
	for (int k = 0; k < PIECES; k++) {
		halves want = { k };

		WANT(!differ(second[k], EACH, want));
		CHECK(cudaFree(first[k]));
		CHECK(cudaFree(second[k]));
		CHECK(cudaEventDestroy(e[k]));
	}
	CHECK(cudaStreamDestroy(s[0]));
	CHECK(cudaStreamDestroy(s[1]));
}

/* ------------------------------------------------------------------ what is refused */

#define GIVES(call, error)                                                                        \
	do {                                                                                      \
		cudaError_t err_ = (call);                                                        \
		if (err_ != (error)) {                                                            \
			printf("line %d: %s: %s (%d)\n", __LINE__, #call, cudaGetErrorName(err_), \
			       (int)err_);                                                        \
			wrong++;                                                                  \
		}                                                                                 \
		cudaGetLastError();                                                               \
	} while (0)

static void refused(void)
{
	struct cudaDeviceProp a, b;
	cudaStream_t s;
	cudaEvent_t e0, e1;
	int can, value, *p = ints(1, N, 0);
	float ms;

	for (int d = 0; d < gpus; d++)
		for (int to = 0; to < gpus; to++) {
			CHECK(cudaDeviceCanAccessPeer(&can, d, to));
			WANT(!can);
			use(d);
			if (d == to)
				continue;
			GIVES(cudaDeviceEnablePeerAccess(to, 0), cudaErrorPeerAccessUnsupported);
			GIVES(cudaDeviceDisablePeerAccess(to), cudaErrorPeerAccessNotEnabled);
			CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, d,
							to));
			WANT(!value);
			CHECK(cudaGetDeviceProperties(&a, d));
			CHECK(cudaGetDeviceProperties(&b, to));
			WANT(memcmp(&a.uuid, &b.uuid, sizeof(a.uuid)));
			WANT(a.unifiedAddressing);
		}
	GIVES(cudaSetDevice(gpus), cudaErrorInvalidDevice);
	use(1);
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&e1));
	use(0);
	CHECK(cudaEventCreate(&e0));
	GIVES(cudaEventRecord(e0, s), cudaErrorInvalidResourceHandle);
	stamp<<<1, 1, 0, s>>>(p, 1, 0);
	GIVES(cudaGetLastError(), cudaErrorInvalidResourceHandle);
	CHECK(cudaEventRecord(e0));
	use(1);
	CHECK(cudaEventRecord(e1));
	CHECK(cudaEventSynchronize(e1));
	CHECK(cudaEventSynchronize(e0));
	GIVES(cudaEventElapsedTime(&ms, e0, e1), cudaErrorInvalidResourceHandle);
	CHECK(cudaEventDestroy(e0));
	CHECK(cudaEventDestroy(e1));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(p));
}

/* ------------------------------------------------------------------ one ends, the others go on */

static volatile bool over;

static void *goes_on(void *)
{
	int *p = ints(0, N, 0), n = 0;

	while (!over && n < 100) {
		CHECK(cudaMemset(p, 0, N * sizeof(int)));
		slow<<<blocks(N), THREADS>>>(p, N, ++n, 1);
		CHECK_LAUNCH();
		CHECK(cudaDeviceSynchronize());
	}
	plain want = { 0 };

	CHECK(cudaMemset(p, 0, N * sizeof(int)));
	WANT(differ(p, N, want) == N - 1);
	CHECK(cudaFree(p));
	return NULL;
}

static void reset(void)
{
	pthread_t t;
	int value = 17;
	times want = { 1, 1002 };

	for (int d = 0; d < gpus; d++)
		name(d);
	over = false;
	pthread_create(&t, NULL, goes_on, NULL);
	for (int round = 0; round < 2; round++) {
		int *p = ints(1, N, 1), *other = ints(0, N, 1);

		use(1);
		CHECK(cudaMemcpyFromSymbol(&value, me, sizeof(value)));
		WANT(value == (round ? 0 : 1)); /* a module's variables begin anew */
		name(1);
		stamp<<<blocks(N), THREADS>>>(p, N, 2);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyPeer(other, 0, p, 1, N * sizeof(int)));
		CHECK(cudaDeviceReset());
		WANT(!differ(other, N, want));
		use(0);
		CHECK(cudaFree(other));
		CHECK(cudaMemcpyFromSymbol(&value, me, sizeof(value)));
		WANT(value == 0);
	}
	over = true;
	pthread_join(t, NULL);
}

/* last: a device whose kernel had an exception stays so */
static void exception(void)
{
	int *p[MAX];
	times want = { 3, 2 };

	for (int d = 0; d < gpus; d++) {
		name(d);
		p[d] = ints(d, N, 3);
	}
	use(1);
	bad_store<<<1, 1>>>((int *)16);
	GIVES(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	GIVES(cudaMemset(p[1], 0, 4), cudaErrorIllegalAddress);
	use(0);
	stamp<<<blocks(N), THREADS>>>(p[0], N, 2);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
	WANT(!differ(p[0], N, want));
	GIVES(cudaMemcpyPeer(p[0], 0, p[1], 1, N * sizeof(int)), cudaErrorIllegalAddress);
	WANT(!differ(p[0], N, want));
}

/* ------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "kernels", kernels }, { "threads", threads },	  { "addresses", addresses },
	{ "copies", copies },	{ "ring", ring },	  { "pinned", pinned },
	{ "managed", managed }, { "parallel", parallel }, { "pipeline", pipeline },
	{ "refused", refused }, { "reset", reset },	  { "exception", exception },
};

int main(int argc, char **argv)
{
	int number = 0, failed = 0;

	CHECK(cudaGetDeviceCount(&gpus));
	if (gpus < 2 || gpus > MAX)
		return verdict(false, "%d GPUs", gpus);
	for (auto &part : parts) {
		bool named = argc == 1;

		for (int i = 1; i < argc; i++)
			named |= !strcmp(argv[i], part.name);
		if (!named)
			continue;
		double start = now_ms();
		wrong = 0;
		part.run();
		printf("%s %d - %s # %.0f ms\n", wrong ? "not ok" : "ok", ++number, part.name,
		       now_ms() - start);
		fflush(stdout);
		failed |= !!wrong;
	}
	printf("1..%d\n", number);
	return failed;
}
