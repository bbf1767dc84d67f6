// SPDX-License-Identifier: MIT
/*
 * The private tables as a runtime sees them: sizes, answers and refusals. What each has to be was
 * seen on NVIDIA's driver 580.159. The library that they call is here. With -DWITHOUT_CHECK it is
 * what a packager has who left check.c out.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <cuda/api/export/check.h>
#include <cuda/api/export/export.h>
#include <cuda/api/forked.h>

#define OK(call)	  assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, with) assert_int_equal(call, with)

/* ------------------------------------------------------------------ the library */

static __thread CUcontext current;
static CUcontext mine = (CUcontext)0x1000, other = (CUcontext)0x2000;
static const void *loaded;

CUresult export_primary(CUcontext *ctx, CUdevice dev)
{
	*ctx = mine;
	return dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = current;
	return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *dev)
{
	*dev = 1;
	return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuDriverGetVersion(int *version)
{
	*version = 11080;
	return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *n)
{
	*n = 2;
	return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	memset(uuid, 0x70 + dev, sizeof(*uuid));
	return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	*value = 100 * dev + (int)attribute;
	return CUDA_SUCCESS;
}
/* NULL is refused, with a log as by another machine's server, of two lines. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
			    CUjit_option *options, void **values)
{
	loaded = image;
	*module = (CUmodule)&loaded;
	assert_int_equal(n, 2);
	assert_int_equal(options[0], CU_JIT_ERROR_LOG_BUFFER);
	assert_int_equal(options[1], CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
	if (image)
		return CUDA_SUCCESS;
	snprintf(values[0], (size_t)values[1], "no \033 code\nof it");
	return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult cuModuleGetFunctionCount(unsigned int *n, CUmodule module)
{
	*n = 3;
	return module == (CUmodule)&loaded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int n, CUmodule module)
{
	while (n--)
		functions[n] = (CUfunction)(uintptr_t)(0x10 + n);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ what a runtime does */

static CUresult ask(const void *const **table, const char *text)
{
	static const void *untouched;
	const void *got = &untouched;
	CUuuid id;
	unsigned int i;
	CUresult r;

	for (i = 0; i < sizeof(id); text += *text == '-')
		if (*text != '-') {
			assert_int_equal(sscanf(text, "%2hhx", (unsigned char *)&id.bytes[i++]), 1);
			text += 2;
		}
	r = cuGetExportTable(&got, &id);
	*table = got;
	return r;
}

static const void *const *table_of(const char *id)
{
	const void *const *table;

	OK(ask(&table, id));
	assert_non_null(table);
	return table;
}

/* slot @i of table @id, as a function of these parameters */
#define SLOT(id, i, ...) ((CUresult(*)(__VA_ARGS__))table_of(id)[i])

#define CONTEXTS "6bd5fb6c-5bf4-e74a-8987-d93912fd9df9"
#define TOOLS	 "a094798c-2e74-2e74-93f2-0800200c0a66"
#define THREAD	 "42d85a81-23f6-cb47-8298-f6e78a3aecdc"
#define STORAGE	 "c693336e-1121-df11-a8c3-68f355d89593"
#define FLAGS	 "263e8860-7cd2-6143-92f6-bbd5006dfa7e"
#define CHECK	 "d4082055-bde6-704b-8d34-ba123c66e1f2"
#define STREAMS	 "21318c60-9714-3248-8ca6-41ff7324c8f2"
#define PLACES	 "1734dc26-800d-4745-8726-c0f1e7dd8bca"
#define MODULES	 "6e163fbe-b958-444d-835c-e182aff1991e"

static void sizes(void **state)
{
	static const struct {
		const char *id;
		size_t bytes;
	} want[] = { { CONTEXTS, 104 }, { TOOLS, 56 },	 { THREAD, 24 },  { FLAGS, 120 },
#ifndef WITHOUT_CHECK
		     { CHECK, 24 },
#endif
		     { STREAMS, 744 },	{ PLACES, 136 }, { MODULES, 792 } };
	const void *const *table, *const *again;
	unsigned int i, j, refuse = 0;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		OK(ask(&table, want[i].id));
		OK(ask(&again, want[i].id));
		assert_ptr_equal(table, again);
		assert_int_equal((size_t)table[0], want[i].bytes);
		for (j = 1; j < want[i].bytes / sizeof(*table); j++) {
			assert_non_null(table[j]);
			refuse += table[j] == table_of(CONTEXTS)[1];
		}
	}
	/* of 242 slots 15 are answered; of the check's two slots one */
	assert_int_equal(refuse, sizeof(want) / sizeof(*want) == 8 ? 227 : 226);
	FAILS(SLOT(CONTEXTS, 1, void)(), CUDA_ERROR_NOT_SUPPORTED);
	table = table_of(STORAGE);
	for (i = 0; i < 3; i++)
		assert_non_null(table[i]);
	assert_null(table[3]);
}

static void refused(void **state)
{
	static const char *const ids[] = {
		"f8cff951-2146-8b4e-b9e2-fb469e7c0dd9",
		"69a28e9f-2449-8b47-b030-c5da330ea4e9",
		"00000000-0000-0000-0000-000000000000",
		"6bd5fb6c-5bf4-e74a-8987-d93912fd9df8",
#ifdef WITHOUT_CHECK
		CHECK,
#endif
	};
	const void *const *table;
	const void *got = ids;
	CUuuid id = { { 0 } };
	unsigned int i;

	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		FAILS(ask(&table, ids[i]), CUDA_ERROR_INVALID_VALUE);
		assert_null(table);
	}
	FAILS(cuGetExportTable(NULL, &id), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuGetExportTable(&got, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_null(got);
}

/* ------------------------------------------------------------------ tools */

/*
 * What a child prints that has @variable in its environment, or is traced by a process with name
 * @tracer, and then calls cuInit() twice and asks for @table. The caller frees it.
 */
static char *printed(const char *variable, const char *tracer, const char *table)
{
	const void *const *unused;
	char *text = calloc(1, 4096);
	int end[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t child;

	assert_non_null(text);
	assert_int_equal(pipe(end), 0);
	prctl(PR_SET_NAME, tracer ? tracer : "tables_test");
	child = fork();
	if (!child) {
		dup2(end[1], STDERR_FILENO);
		if (variable)
			putenv((char *)(uintptr_t)variable);
		if (tracer)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		export_tools_look();
		export_tools_look();
		if (table)
			ask(&unused, table);
		_exit(0);
	}
	close(end[1]);
	while ((got = read(end[0], text + n, 4095 - n)) > 0)
		n += got;
	close(end[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return text;
}

/* one line, which names @tool; NULL: nothing */
static void tells(const char *tool, const char *variable, const char *tracer, const char *table)
{
	char *text = printed(variable, tracer, table), *newline = strchr(text, '\n');

	if (!tool) {
		assert_string_equal(text, "");
	} else {
		assert_non_null(strstr(text, tool));
		assert_non_null(strstr(text, "\"Tools\" in docs/remote-use.md"));
		assert_true(newline && !newline[1]);
	}
	free(text);
}

static void tools(void **state)
{
	static const char cupti[] = "2c8e0ad8-0710-ab4e-90dd-54719fe5f74b";

	tells(NULL, NULL, NULL, "f8cff951-2146-8b4e-b9e2-fb469e7c0dd9");
	tells(NULL, "NV_CUDA_LIB_VERSION=13", "gdb", CONTEXTS);
	tells("libcuda: a profiler by CUPTI ", NULL, NULL, cupti);
	tells("libcuda: compute-sanitizer ", "NV_SANITIZER_INJECTION_TRANSPORT_TYPE=uds", NULL,
	      NULL);
	tells("libcuda: ncu ", "NV_NSIGHT_INJECTION_PORT_BASE=49152", NULL, cupti);
	tells("CUDA_INJECTION64_PATH", "CUDA_INJECTION64_PATH=/x.so", NULL, NULL);
	tells("libcuda: cuda-gdb ", NULL, "cuda-gdb-python3.12-tui", NULL);
}

/* ------------------------------------------------------------------ slots */

static void contexts(void **state)
{
	CUcontext ctx = NULL;
	void *unused = &ctx;
	unsigned int word = 9;

	OK(SLOT(CONTEXTS, 2, CUcontext *, CUdevice)(&ctx, 0));
	assert_ptr_equal(ctx, mine);
	FAILS(SLOT(CONTEXTS, 2, CUcontext *, CUdevice)(&ctx, 7), CUDA_ERROR_INVALID_DEVICE);
	current = other;
	OK(SLOT(THREAD, 2, CUcontext *, void *)(&ctx, NULL));
	assert_ptr_equal(ctx, other);
	current = NULL;
	OK(SLOT(THREAD, 2, CUcontext *, void *)(&ctx, NULL));
	assert_null(ctx);
	OK(SLOT(FLAGS, 2, CUcontext, unsigned int *, void **)(mine, &word, &unused));
	assert_int_equal(word, 0);
	assert_ptr_equal(unused, &ctx);
	OK(SLOT(FLAGS, 3, void)());
}

static void modules(void **state)
{
	struct {
		uint32_t magic, version;
		const void *data;
		uint64_t more;
	} wrapper = { 0x466243b1, 1, "fat", 0 };
	CUmodule m = NULL;

	OK(SLOT(CONTEXTS, 6, CUmodule *, const void *, void *, void *, size_t)(&m, &wrapper, NULL,
									       NULL, 0));
	assert_ptr_equal(m, &loaded);
	assert_ptr_equal(loaded, wrapper.data);
	OK(SLOT(CONTEXTS, 7, const void *)(&wrapper));
	FAILS(SLOT(CONTEXTS, 6, CUmodule *, const void *, void *, void *, size_t)(&m, NULL, NULL,
										  NULL, 0),
	      CUDA_ERROR_INVALID_VALUE);
}

/*
 * A runtime gets the error, and who reads stderr why, in one line and once; not of what is outside
 * of the program's file.
 */
static void module_that_fails(void **state)
{
	static const void *const wrapper[] = { NULL, NULL };
	const void *const elsewhere[] = { NULL, NULL };
	int into[2], kept = dup(2), i;
	char said[256] = "";
	CUmodule m;

	assert_int_equal(pipe(into), 0);
	dup2(into[1], 2);
	FAILS(SLOT(CONTEXTS, 6, CUmodule *, const void *, void *, void *, size_t)(&m, elsewhere,
										  NULL, NULL, 0),
	      CUDA_ERROR_NO_BINARY_FOR_GPU);
	fputs("then\n", stderr);
	for (i = 0; i < 2; i++)
		FAILS(SLOT(CONTEXTS, 6, CUmodule *, const void *, void *, void *,
			   size_t)(&m, wrapper, NULL, NULL, 0),
		      CUDA_ERROR_NO_BINARY_FOR_GPU);
	dup2(kept, 2);
	close(kept);
	close(into[1]);
	assert_true(read(into[0], said, sizeof(said) - 1) > 0);
	close(into[0]);
	assert_string_equal(said,
			    "then\nlibcuda: code of this program can't be loaded: no ? code\n");
}

static unsigned int sum, calls;
static void take_function(void *arg, CUfunction function, void *zero)
{
	assert_ptr_equal(arg, &sum);
	assert_null(zero);
	sum += (uintptr_t)function;
	calls++;
}

static void functions(void **state)
{
	typedef void take(void *arg, CUfunction function, void *zero);

	FAILS(SLOT(MODULES, 7, CUcontext, CUmodule, take *, void *)(mine, (CUmodule)&sum,
								    take_function, &sum),
	      CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(calls, 0);
	/* that is what NVIDIA's gives after success */
	FAILS(SLOT(MODULES, 7, CUcontext, CUmodule, take *, void *)(mine, (CUmodule)&loaded,
								    take_function, &sum),
	      1);
	assert_int_equal(calls, 3);
	assert_int_equal(sum, 0x10 + 0x11 + 0x12);
}

static void no_tool(void **state)
{
	static const uint8_t zeros[1024 * sizeof(uint32_t)];
	uint8_t *flags = NULL;
	size_t n = 0;

	SLOT(TOOLS, 2, uint8_t **, size_t *)(&flags, &n);
	assert_int_equal(n, 1024 * sizeof(uint32_t));
	assert_memory_equal(flags, zeros, n);
	SLOT(TOOLS, 6, uint8_t **, size_t *)(&flags, &n);
	assert_int_equal(n, 14);
	assert_memory_equal(flags, zeros, n);
}

static void streams(void **state)
{
	unsigned int word = 9;
	void *object = NULL;

	OK(SLOT(STREAMS, 4, CUcontext, unsigned int *)(mine, &word));
	assert_int_equal(word, 1);
	OK(SLOT(STREAMS, 51, CUcontext, CUstream, void **)(mine, NULL, &object));
	assert_non_null(object);
	OK(SLOT(STREAMS, 39, CUcontext, void *, unsigned int *)(mine, object, &word));
	assert_int_equal(word, 0);
}

/* A TPC has a multiprocessor or more: device 1 has 116 of these here. ASan sees the ends. */
static void places(void **state)
{
	static const uint8_t zeros[116];
	uint8_t *p = NULL, *q = NULL;

	current = NULL;
	FAILS(SLOT(PLACES, 4, uint8_t **, uint8_t **)(&p, &q), CUDA_ERROR_INVALID_CONTEXT);
	current = mine;
	OK(SLOT(PLACES, 4, uint8_t **, uint8_t **)(&p, &q));
	assert_memory_equal(p, zeros, sizeof(zeros));
	assert_memory_equal(q, zeros, sizeof(zeros));
	OK(SLOT(PLACES, 13, uint8_t *, uint8_t *)(p, q));
	current = NULL;
}

/* ------------------------------------------------------------------ storage */

typedef void end_fn(CUcontext ctx, void *key, void *value);

static CUresult put(CUcontext ctx, uintptr_t key, uintptr_t value, end_fn *end)
{
	return SLOT(STORAGE, 0, CUcontext, uintptr_t, uintptr_t, end_fn *)(ctx, key, value, end);
}
static CUresult delete (CUcontext ctx, uintptr_t key)
{
	return SLOT(STORAGE, 1, CUcontext, uintptr_t)(ctx, key);
}
static CUresult get(uintptr_t *value, CUcontext ctx, uintptr_t key)
{
	return SLOT(STORAGE, 2, uintptr_t *, CUcontext, uintptr_t)(value, ctx, key);
}

static struct {
	CUcontext ctx;
	uintptr_t key, value;
} ended[8];
static unsigned int nr_ended;
static uintptr_t deletes; /* this key's value, by the first destructor */

static void end(CUcontext ctx, void *key, void *value)
{
	uintptr_t v;

	ended[nr_ended].ctx = ctx;
	ended[nr_ended].key = (uintptr_t)key;
	ended[nr_ended++].value = (uintptr_t)value;
	/* its own value is gone, and no lock is held */
	FAILS(get(&v, ctx, (uintptr_t)key), CUDA_ERROR_INVALID_HANDLE);
	if (deletes)
		OK(delete (ctx, deletes));
	deletes = 0;
}

static void storage(void **state)
{
	uintptr_t v = 0;

	current = NULL;
	FAILS(get(&v, NULL, 1), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(put(NULL, 1, 11, end), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(delete (NULL, 1), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(get(&v, mine, 1), CUDA_ERROR_INVALID_HANDLE);
	OK(put(mine, 1, 11, end));
	FAILS(put(mine, 1, 12, end), CUDA_ERROR_INVALID_HANDLE);
	OK(put(other, 1, 13, end));
	OK(get(&v, mine, 1));
	assert_int_equal(v, 11);
	current = other;
	OK(get(&v, NULL, 1));
	assert_int_equal(v, 13);
	OK(delete (NULL, 1));
	FAILS(delete (NULL, 1), CUDA_ERROR_INVALID_HANDLE);
	OK(delete (mine, 1));
	FAILS(get(&v, mine, 1), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(nr_ended, 0);
}

/* two contexts that the storage may keep in one list */
static void newest_first(void **state)
{
	CUcontext third = (CUcontext)(0x1000 + (1 << 20));
	uintptr_t v, i;

	for (i = 1; i <= 4; i++) {
		OK(put(mine, i, 10 * i, i == 2 ? NULL : end));
		OK(put(third, i, 100 * i, end));
	}
	export_context_ended(mine);
	assert_int_equal(nr_ended, 3);
	for (i = 0; i < 3; i++) {
		static const uintptr_t key[] = { 4, 3, 1 };

		assert_ptr_equal(ended[i].ctx, mine);
		assert_int_equal(ended[i].key, key[i]);
		assert_int_equal(ended[i].value, 10 * key[i]);
	}
	for (i = 1; i <= 4; i++) {
		FAILS(get(&v, mine, i), CUDA_ERROR_INVALID_HANDLE);
		OK(get(&v, third, i));
	}
	/* the destructor of 4 deletes 3 */
	nr_ended = 0;
	deletes = 3;
	export_context_ended(third);
	assert_int_equal(nr_ended, 3);
	assert_int_equal(ended[1].key, 2);
	nr_ended = 0;
	export_context_ended(third);
	assert_int_equal(nr_ended, 0);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *store(void *arg)
{
	uintptr_t key = (uintptr_t)arg, wrong = 0, v, i;

	current = mine;
	for (i = 0; i < ROUNDS; i++) {
		wrong += put(NULL, key, i, end) != CUDA_SUCCESS;
		wrong += get(&v, mine, key) != CUDA_SUCCESS || v != i;
		wrong += get(&v, mine, 99) != CUDA_SUCCESS || v != 9;
		wrong += delete (mine, key) != CUDA_SUCCESS;
	}
	return (void *)wrong;
}

static void threads(void **state)
{
	pthread_t thread[THREADS];
	uintptr_t i;
	void *wrong;

	OK(put(mine, 99, 9, end));
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, store, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &wrong), 0);
		assert_null(wrong);
	}
	OK(delete (mine, 99));
	assert_int_equal(nr_ended, 0);
}

/* In a child of fork() no lock is taken, as another thread may have held it. */
static void child(void **state)
{
	uintptr_t v;
	int status;
	pid_t pid;

	forked_expect();
	pid = fork();
	if (!pid)
		_exit(get(&v, mine, 1) == CUDA_ERROR_NOT_INITIALIZED &&
				      put(mine, 1, 1, end) == CUDA_ERROR_NOT_INITIALIZED &&
				      delete (mine, 1) == CUDA_ERROR_NOT_INITIALIZED ?
			      0 :
			      1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int nothing_ended(void **state)
{
	nr_ended = 0;
	return 0;
}

/* ------------------------------------------------------------------ the check */

#ifndef WITHOUT_CHECK

static void md2(const void *bytes, size_t n, uint8_t out[16])
{
	struct md2 m = { 0 };

	md2_add(&m, bytes, n);
	md2_end(&m, out);
}

static void says(const uint8_t bytes[16], const char *hex)
{
	char text[33];
	unsigned int i;

	for (i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	assert_string_equal(text, hex);
}

/* RFC 1319, A.5 */
static void md2_suite(void **state)
{
	static const struct {
		const char *text, *digest;
	} suite[] = {
		{ "", "8350e5a3e24c153df2275c9f80692773" },
		{ "a", "32ec01ec4a6dac72c0ab96fb34c0b5d1" },
		{ "abc", "da853b0d3f88d99b30283a69e6ded6bb" },
		{ "message digest", "ab4f496bfb2a530b219ff33031fe06b0" },
		{ "abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b" },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
		  "da33def2a42df13975352846c30338cd" },
		{ "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
		  "d5976f79d83d3a0dc9806c3c66f3efd8" },
	};
	uint8_t out[16];
	unsigned int i;

	for (i = 0; i < sizeof(suite) / sizeof(*suite); i++) {
		md2(suite[i].text, strlen(suite[i].text), out);
		says(out, suite[i].digest);
	}
}

/* RFC 2104's HMAC of @n bytes, over MD2 */
static void hmac(const void *bytes, size_t n, uint8_t out[16])
{
	static const uint8_t key[16] = "\x14\x6a\xdd\xae\x53\xa9\xa7\x52"
				       "\xaa\x08\x41\x36\x0b\xf5\x5a\x9f";
	uint8_t inner[16 + 256], outer[32];
	unsigned int i;

	for (i = 0; i < 16; i++) {
		inner[i] = key[i] ^ 0x36;
		outer[i] = key[i] ^ 0x5c;
	}
	memcpy(inner + 16, bytes, n);
	md2(inner, 16 + n, outer + 16);
	md2(outer, sizeof(outer), out);
}

/* As two runtimes ask: each compares what it computes of the same. */
static void answers(void **state)
{
	CUresult (*check)(unsigned int version, uint64_t time, uint8_t out[16]) =
		SLOT(CHECK, 1, unsigned int, uint64_t, uint8_t[16]);
	static const unsigned int versions[] = { 11082, 12042, 13002, 13009 };
	const uint64_t time = 1700000000;
	struct {
		uint32_t driver, version, pid, thread;
		uint64_t contexts, check, function, time;
		struct {
			uint8_t uuid[16];
			int32_t place[3];
		} device[2];
	} seen = { .driver = 11080,
		   .pid = getpid(),
		   .thread = (uint32_t)pthread_self(),
		   .contexts = (uintptr_t)table_of(CONTEXTS),
		   .check = (uintptr_t)table_of(CHECK),
		   .function = (uintptr_t)check,
		   .time = time,
		   .device = { { .place = { 50, 33, 34 } }, { .place = { 150, 133, 134 } } } };
	uint8_t out[16], want[16];
	unsigned int i;

	OK(check(11080, time, out));
	says(out, "5c67cb031c184133e8d14c1faa83d38e");
	OK(check(12041, time, out));
	says(out, "5c67cb031c184118e8d14c1faa83d38e");
	memset(seen.device[0].uuid, 0x70, 16);
	memset(seen.device[1].uuid, 0x71, 16);
	for (i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		seen.version = versions[i];
		OK(check(versions[i], time, out));
		hmac(&seen, sizeof(seen), want);
		assert_memory_equal(out, want, sizeof(out));
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tools), /* the first: later nobody looks again */
		cmocka_unit_test(sizes),
		cmocka_unit_test(refused),
		cmocka_unit_test(contexts),
		cmocka_unit_test(modules),
		cmocka_unit_test(module_that_fails),
		cmocka_unit_test(functions),
		cmocka_unit_test(no_tool),
		cmocka_unit_test(streams),
		cmocka_unit_test(places),
		cmocka_unit_test_setup(storage, nothing_ended),
		cmocka_unit_test_setup(newest_first, nothing_ended),
		cmocka_unit_test_setup(threads, nothing_ended),
#ifndef WITHOUT_CHECK
		cmocka_unit_test(md2_suite),
		cmocka_unit_test(answers),
#endif
		cmocka_unit_test(child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
