// SPDX-License-Identifier: GPL-2.0-only
/*
 * many N FILE CALLS: N devices, each with bytes of its own, which come back right after all devices
 * have theirs. Once that is so it writes FILE, and waits until that is removed. Then it asks the
 * first device something CALLS times, says how long that took, and writes FILE again; and once more
 * with all devices, each by a thread. At the end it gives all devices other bytes.
 */
#include <selftests/remote/must.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 100000, BYTES = 4 * WORDS, DEVICES_MAX = 64, WAIT_US = 20000 };

static CUcontext ctx[DEVICES_MAX];
static CUdeviceptr at[DEVICES_MAX];
static uint32_t words[WORDS];

static void give(int dev, uint32_t salt)
{
	int i;

	for (i = 0; i < WORDS; i++)
		words[i] = i * 2654435761u ^ (dev + 1) * salt;
	MUST(cuCtxSetCurrent(ctx[dev]));
	MUST(cuMemcpyHtoD_v2(at[dev], words, BYTES));
}

static void look(int dev, uint32_t salt)
{
	int i;

	memset(words, 0, BYTES);
	MUST(cuCtxSetCurrent(ctx[dev]));
	MUST(cuMemcpyDtoH_v2(words, at[dev], BYTES));
	for (i = 0; i < WORDS; i++)
		CHECK(words[i] == (i * 2654435761u ^ (dev + 1) * salt));
}

static void stop(const char *path)
{
	FILE *f = fopen(path, "w");

	CHECK(f && !fclose(f));
	while (!access(path, F_OK))
		usleep(WAIT_US);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int calls;

static void ask(void)
{
	double *took = malloc(calls * sizeof(*took)), start;
	size_t left, total;
	int i;

	MUST(cuCtxSetCurrent(ctx[0]));
	for (i = 0; i < calls; i++) {
		start = now();
		MUST(cuMemGetInfo_v2(&left, &total));
		took[i] = now() - start;
	}
	qsort(took, calls, sizeof(*took), compare);
	printf("a call: %.0f us at best, %.0f us at the median\n", took[0] * 1e6,
	       took[calls / 2] * 1e6);
	fflush(stdout);
	free(took);
}

static void *ask_one(void *of)
{
	size_t left, total;
	int i;

	MUST(cuCtxSetCurrent(*(CUcontext *)of));
	for (i = 0; i < calls; i++)
		MUST(cuMemGetInfo_v2(&left, &total));
	return NULL;
}

static void ask_all(int n)
{
	pthread_t t[DEVICES_MAX];
	double start = now();
	int i;

	for (i = 0; i < n; i++)
		CHECK(!pthread_create(&t[i], NULL, ask_one, &ctx[i]));
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("all at once: %.0f calls a second\n", n * calls / (now() - start));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static CUuuid uuid[DEVICES_MAX];
	int n, i, k;

	if (argc != 4)
		return 2;
	MUST(cuInit(0));
	MUST(cuDeviceGetCount(&n));
	CHECK(n == atoi(argv[1]) && n <= DEVICES_MAX);
	for (i = 0; i < n; i++) {
		MUST(cuDeviceGetUuid(&uuid[i], i));
		for (k = 0; k < i; k++)
			CHECK(memcmp(&uuid[k], &uuid[i], sizeof(uuid[i])));
		MUST(cuCtxCreate_v2(&ctx[i], 0, i));
		MUST(cuMemAlloc_v2(&at[i], BYTES));
		give(i, 40503);
	}
	for (i = 0; i < n; i++)
		look(i, 40503);
	stop(argv[2]);
	calls = atoi(argv[3]);
	ask();
	stop(argv[2]);
	ask_all(n);
	stop(argv[2]);
	for (i = 0; i < n; i++) {
		give(i, 7919);
		look(i, 7919);
	}
	printf("%d devices\n", n);
	return 0;
}
