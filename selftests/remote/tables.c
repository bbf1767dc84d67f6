// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables CUBIN: asks libcuda.so.1 what NVIDIA's runtimes of CUDA 12.4 and 13.0, and their cuBLAS
 * and cuFFT, ask its private tables, in their order. What the driver gives was seen on driver
 * 580.159. Exit code 0: all was so. It is linked with cuda/api/export/check.c, for MD2.
 */
#include <cuda/api/api.h>
#include <cuda/api/export/check.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { BEGIN = 1700000000, FUNCTIONS = 64 };
/* attributes of a device */
enum { PCI_BUS_ID = 33, PCI_DEVICE_ID = 34, PCI_DOMAIN_ID = 50 };

static CUresult ask(const void *const **table, const char *text)
{
	CUuuid id;
	unsigned int i;

	for (i = 0; i < sizeof(id); i++)
		CHECK(sscanf(text + 2 * i + (i > 3) + (i > 5) + (i > 7) + (i > 9), "%2hhx",
			     (unsigned char *)&id.bytes[i]) == 1);
	return cuGetExportTable((const void **)table, &id);
}

static const void *const *table_of(const char *id)
{
	const void *const *table;

	MUST(ask(&table, id));
	return table;
}

/* slot @i of table @id, as a function of these parameters */
#define SLOT(id, i, ...) ((CUresult(*)(__VA_ARGS__))table_of(id)[i])

#define LOG	 "f8cff951-2146-8b4e-b9e2-fb469e7c0dd9"
#define CONTEXTS "6bd5fb6c-5bf4-e74a-8987-d93912fd9df9"
#define TOOLS	 "a094798c-2e74-2e74-93f2-0800200c0a66"
#define THREAD	 "42d85a81-23f6-cb47-8298-f6e78a3aecdc"
#define STORAGE	 "c693336e-1121-df11-a8c3-68f355d89593"
#define FLAGS	 "263e8860-7cd2-6143-92f6-bbd5006dfa7e"
#define ANSWER	 "d4082055-bde6-704b-8d34-ba123c66e1f2"
#define STREAMS	 "21318c60-9714-3248-8ca6-41ff7324c8f2"
#define PLACES	 "1734dc26-800d-4745-8726-c0f1e7dd8bca"
#define MODULES	 "6e163fbe-b958-444d-835c-e182aff1991e"

/* ------------------------------------------------------------------ the answer */

static void hmac(const void *bytes, size_t n, uint8_t out[16])
{
	static const uint8_t key[16] = "\x14\x6a\xdd\xae\x53\xa9\xa7\x52"
				       "\xaa\x08\x41\x36\x0b\xf5\x5a\x9f";
	struct md2 inner = { 0 }, outer = { 0 };
	uint8_t pad[16];
	unsigned int i;

	for (i = 0; i < sizeof(pad); i++)
		pad[i] = key[i] ^ 0x36;
	md2_add(&inner, pad, sizeof(pad));
	md2_add(&inner, bytes, n);
	md2_end(&inner, out);
	for (i = 0; i < sizeof(pad); i++)
		pad[i] = key[i] ^ 0x5c;
	md2_add(&outer, pad, sizeof(pad));
	md2_add(&outer, out, 16);
	md2_end(&outer, out);
}

/* A runtime of @version asks three times, and compares. There is one device. */
static void answers(unsigned int version)
{
	CUresult (*answer)(unsigned int, uint64_t, uint8_t *) =
		SLOT(ANSWER, 1, unsigned int, uint64_t, uint8_t *);
	struct {
		uint32_t driver, version, pid, thread;
		uint64_t contexts, answers, function, time;
		CUuuid uuid;
		int32_t place[3];
		uint32_t end;
	} seen = { .version = version + 2,
		   .pid = getpid(),
		   .thread = (uint32_t)pthread_self(),
		   .contexts = (uintptr_t)table_of(CONTEXTS),
		   .answers = (uintptr_t)table_of(ANSWER),
		   .function = (uintptr_t)answer,
		   .time = BEGIN };
	uint8_t first[16], second[16], third[16], want[16];
	int driver;

	MUST(cuDriverGetVersion(&driver));
	seen.driver = driver;
	MUST(cuDeviceGetUuid_v2(&seen.uuid, 0));
	MUST(cuDeviceGetAttribute(&seen.place[0], PCI_DOMAIN_ID, 0));
	MUST(cuDeviceGetAttribute(&seen.place[1], PCI_BUS_ID, 0));
	MUST(cuDeviceGetAttribute(&seen.place[2], PCI_DEVICE_ID, 0));
	MUST(answer(version, BEGIN, first));
	MUST(answer(version + 1, BEGIN, second));
	MUST(answer(version + 2, BEGIN, third));
	CHECK(first[7] == 0x33 && second[7] == 0x18);
	hmac(&seen, (char *)&seen.end - (char *)&seen, want);
	CHECK(!memcmp(third, want, sizeof(want)));
}

/* ------------------------------------------------------------------ a runtime */

typedef void end_fn(CUcontext ctx, void *key, void *value);

static CUcontext primary;
static unsigned int ended;

static void end(CUcontext ctx, void *key, void *value)
{
	static const uintptr_t want[] = { 3, 1 };

	CHECK(ctx == primary && ended < 2 && (uintptr_t)key == want[ended]);
	CHECK((uintptr_t)value == 10 * want[ended]);
	ended++;
}

static void begin(unsigned int version)
{
	const void *const *table;
	const void *flags;
	size_t bytes;
	void *p = &p;

	if (version >= 13000)
		FAILS(ask(&table, LOG), CUDA_ERROR_INVALID_VALUE);
	MUST(cuGetProcAddress_v2("", &p, 0, 0, NULL));
	CHECK(!p);
	MUST(cuInit(0));
	table_of(CONTEXTS);
	SLOT(TOOLS, 2, const void **, size_t *)(&flags, &bytes);
	CHECK(bytes >= 523 * sizeof(uint32_t)); /* the calls of 13.0 */
	SLOT(TOOLS, 6, const void **, size_t *)(&flags, &bytes);
	CHECK(bytes == 14);
	table_of(THREAD);
	table_of(STORAGE);
	MUST(SLOT(FLAGS, 3, void)());
	answers(version);
}

/* the handle of a context that is not active, which has storage already */
static void store(void)
{
	CUresult (*put)(CUcontext, uintptr_t, uintptr_t, end_fn *) =
		SLOT(STORAGE, 0, CUcontext, uintptr_t, uintptr_t, end_fn *);
	CUresult (*delete)(CUcontext, uintptr_t) = SLOT(STORAGE, 1, CUcontext, uintptr_t);
	CUresult (*get)(uintptr_t *, CUcontext, uintptr_t) =
		SLOT(STORAGE, 2, uintptr_t *, CUcontext, uintptr_t);
	unsigned int flags = 9;
	uintptr_t value;
	CUcontext ctx;
	int active;

	MUST(SLOT(CONTEXTS, 2, CUcontext *, CUdevice)(&primary, 0));
	FAILS(SLOT(CONTEXTS, 2, CUcontext *, CUdevice)(&ctx, 1), CUDA_ERROR_INVALID_DEVICE);
	MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
	CHECK(!active);
	FAILS(get(&value, NULL, 1), CUDA_ERROR_INVALID_CONTEXT);
	MUST(put(primary, 1, 10, end));
	MUST(cuDevicePrimaryCtxRetain(&ctx, 0));
	CHECK(ctx == primary);
	MUST(cuCtxSetCurrent(ctx));
	MUST(SLOT(THREAD, 2, CUcontext *, void *)(&ctx, NULL));
	CHECK(ctx == primary);
	MUST(SLOT(FLAGS, 2, CUcontext, unsigned int *, void **)(ctx, &flags, NULL));
	CHECK(!flags);
	MUST(put(NULL, 2, 20, end));
	MUST(put(NULL, 3, 30, end));
	FAILS(put(primary, 3, 31, end), CUDA_ERROR_INVALID_HANDLE);
	MUST(get(&value, primary, 3));
	CHECK(value == 30);
	MUST(delete (NULL, 2));
}

/* ------------------------------------------------------------------ cuBLAS, cuFFT */

static CUfunction function[FUNCTIONS];
static unsigned int functions;

static void take(void *arg, CUfunction f, void *zero)
{
	CHECK(arg == function && !zero && functions < FUNCTIONS);
	function[functions++] = f;
}

static void libraries(const void *cubin)
{
	const struct {
		uint32_t magic, version;
		const void *data, *more;
	} wrapper = { 0x466243b1, 1, cubin, NULL };
	typedef void take_fn(void *, CUfunction, void *);
	uint8_t *gpc, *number;
	unsigned int word, i;
	CUfunction add;
	CUmodule m;
	void *object;

	MUST(SLOT(CONTEXTS, 6, CUmodule *, const void *, void *, void *, size_t)(&m, &wrapper, NULL,
										 NULL, 0));
	MUST(SLOT(CONTEXTS, 7, const void *)(&wrapper));
	/* that is what the driver gives after success */
	functions = 0;
	FAILS(SLOT(MODULES, 7, CUcontext, CUmodule, take_fn *, void *)(primary, m, take, function),
	      CUDA_ERROR_INVALID_VALUE);
	MUST(cuModuleGetFunction(&add, m, "add"));
	for (i = 0; i < functions && function[i] != add; i++)
		;
	CHECK(i < functions);
	MUST(SLOT(STREAMS, 4, CUcontext, unsigned int *)(primary, &word));
	CHECK(word == 1);
	MUST(SLOT(STREAMS, 51, CUcontext, CUstream, void **)(primary, NULL, &object));
	MUST(SLOT(STREAMS, 39, CUcontext, void *, unsigned int *)(primary, object, &word));
	MUST(SLOT(PLACES, 4, uint8_t **, uint8_t **)(&gpc, &number));
	MUST(SLOT(PLACES, 13, uint8_t *, uint8_t *)(gpc, number));
}

/* ------------------------------------------------------------------ */

static void *read_file(const char *name)
{
	FILE *f = fopen(name, "rb");
	uint8_t *bytes = calloc(1, 1 << 20);

	CHECK(f && bytes && fread(bytes, 1, 1 << 20, f) > 64);
	fclose(f);
	return bytes;
}

int main(int argc, char **argv)
{
	static const unsigned int versions[] = { 12040, 13000 };
	void *cubin = argc == 2 ? read_file(argv[1]) : NULL;
	unsigned int i;
	int driver;

	CHECK(cubin);
	for (i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		ended = 0;
		begin(versions[i]);
		store();
		libraries(cubin);
		MUST(cuDevicePrimaryCtxReset(0)); /* as cudaDeviceReset() */
		CHECK(ended == 2);
		MUST(cuCtxSetCurrent(NULL));
		MUST(cuDevicePrimaryCtxRelease(0));
		CHECK(ended == 2);
	}
	free(cubin);
	MUST(cuDriverGetVersion(&driver));
	printf("as the runtimes of 12.4 and 13.0, with a driver of %d\n", driver);
	return 0;
}
