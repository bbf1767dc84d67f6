// SPDX-License-Identifier: GPL-2.0-only
/* PTX compiled, and linked, by the toolkit's ptxas and nvlink. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = ".version 6.0\n.target sm_35\n.address_size 64\n";
static const char triple[] =
	".visible .entry triple(.param .u64 p)\n{\n\t.reg .b64 a;\n\t.reg .b32 v;\n\tld.param.u64 a, [p];\n"
	"\tld.global.u32 v, [a];\n\tmul.lo.u32 v, v, 3;\n\tst.global.u32 [a], v;\n\tret;\n}\n";
static const char calls[] =
	".extern .func (.param .b32 r) helper(.param .b32 x);\n"
	".visible .entry triple(.param .u64 p)\n{\n\t.reg .b64 a;\n\t.reg .b32 v;\n\tld.param.u64 a, [p];\n"
	"\tld.global.u32 v, [a];\n\t.param .b32 x;\n\t.param .b32 r;\n\tst.param.b32 [x], v;\n\tcall (r), helper, (x);\n"
	"\tld.param.b32 v, [r];\n\tst.global.u32 [a], v;\n\tret;\n}\n";
static const char helper[] =
	".visible .func (.param .b32 r) helper(.param .b32 x)\n{\n\t.reg .b32 v;\n\tld.param.b32 v, [x];\n"
	"\tmul.lo.u32 v, v, 3;\n\tst.param.b32 [r], v;\n\tret;\n}\n";

static char *ptx(const char *body)
{
	char *s = fresh(sizeof(head) + strlen(body));

	strcpy(s, head);
	strcat(s, body);
	return s;
}

static CUresult run(CUmodule m, int *value)
{
	CUdeviceptr d = device_buffer(4);
	void *params[] = { &d };
	CUfunction f;
	CUresult r = cuModuleGetFunction(&f, m, "triple");

	r = r ? r : cuMemcpyHtoD_v2(d, value, 4);
	r = r ? r : cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(value, d, 4);
	MUST(cuMemFree_v2(d));
	return r;
}

static void linked(char *a, char *b)
{
	CUlinkState s;
	int value = 14;
	size_t size = 0;
	void *cubin;
	CUmodule m;
	CUresult r;

	MUST(cuLinkCreate_v2(0, NULL, NULL, &s));
	r = cuLinkAddData_v2(s, CU_JIT_INPUT_PTX, a, strlen(a) + 1, "a", 0, NULL, NULL);
	if (b)
		r = r ? r :
			cuLinkAddData_v2(s, CU_JIT_INPUT_PTX, b, strlen(b) + 1, "b", 0, NULL, NULL);
	r = r ? r : cuLinkComplete(s, &cubin, &size);
	r = r ? r : cuModuleLoadData(&m, cubin);
	MUST(cuLinkDestroy(s));
	r = r ? r : run(m, &value);
	tap_result(!r && value == 42 && size,
		   b ? "two pieces of PTX linked" : "one piece of PTX linked", "%s, %d, %zu bytes",
		   error_name(r), value, size);
	if (!r)
		MUST(cuModuleUnload(m));
}

/* the logs that a link was given, and its options: ptxas warns of fewer registers than it takes */
static void logged_link(char *good, char *bad)
{
	char info[1000] = "", error[1000] = "";
	CUjit_option options[] = { CU_JIT_MAX_REGISTERS, CU_JIT_INFO_LOG_BUFFER,
				   CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
				   CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { (void *)1, info, (void *)sizeof(info), error, (void *)sizeof(error) };
	CUlinkState s;
	void *cubin;
	CUresult r;

	MUST(cuLinkCreate_v2(5, options, values, &s));
	r = cuLinkAddData_v2(s, CU_JIT_INPUT_PTX, bad, strlen(bad) + 1, "bad", 0, NULL, NULL);
	tap_result(r == CUDA_ERROR_INVALID_PTX && strstr(error, "nonsense") &&
			   (size_t)values[4] == strlen(error),
		   "what is wrong with a piece of PTX is in the link's log", "%s", error_name(r));
	MUST(cuLinkDestroy(s));
	values[2] = (void *)sizeof(info);
	values[4] = (void *)sizeof(error);
	MUST(cuLinkCreate_v2(5, options, values, &s));
	r = cuLinkAddData_v2(s, CU_JIT_INPUT_PTX, good, strlen(good) + 1, "good", 0, NULL, NULL);
	r = r ? r : cuLinkComplete(s, &cubin, NULL);
	tap_result(!r && strstr(info, "register") && (size_t)values[2] == strlen(info),
		   "a link's options are the compiler's", "%s; %s", error_name(r), info);
	MUST(cuLinkDestroy(s));
}

void test_jit(void)
{
	char log[2000] = "", *good = ptx(triple),
	     *bad = ptx(".visible .entry x()\n{\n\tnonsense.u32 r;\n}\n"), *a = ptx(calls),
	     *b = ptx(helper);
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)sizeof(log) };
	int value = 14;
	CUmodule m;
	CUresult r = cuModuleLoadDataEx(&m, good, 2, options, values);

	if (r == CUDA_ERROR_JIT_COMPILER_NOT_FOUND) {
		tap_result(strstr(log, "ptxas") && (size_t)values[1] == strlen(log),
			   "without a compiler it is said what to do", "%s", log);
	} else {
		r = r ? r : run(m, &value);
		tap_result(!r && value == 42, "PTX compiled and run", "%s, %d; %s", error_name(r),
			   value, log);
		if (!r)
			MUST(cuModuleUnload(m));
		values[1] = (void *)sizeof(log);
		r = cuModuleLoadDataEx(&m, bad, 2, options, values);
		tap_result(r == CUDA_ERROR_INVALID_PTX && strstr(log, "nonsense"),
			   "what is wrong with PTX is in the log", "%s", error_name(r));
		linked(good, NULL);
		linked(a, b);
		logged_link(good, bad);
	}
	free(good);
	free(bad);
	free(a);
	free(b);
}
