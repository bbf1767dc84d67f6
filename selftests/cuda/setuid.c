// SPDX-License-Identifier: GPL-2.0-only
/* For setuid.sh: loads PTX, and prints cuInit()'s answer, then that of the load and its log. */
#include <stdint.h>
#include <stdio.h>

#include <cuda/api/api.h>

static const char ptx[] = ".version 4.0\n.target sm_35\n.address_size 64\n"
			  ".visible .entry k()\n{\nret;\n}\n";

int main(void)
{
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	char log[512] = "";
	void *values[] = { log, (void *)(uintptr_t)sizeof(log) };
	CUcontext ctx;
	CUmodule m;
	CUresult r = cuInit(0);

	printf("init %d\n", r);
	if (!r)
		r = cuCtxCreate_v2(&ctx, 0, 0);
	if (!r)
		printf("load %d %s\n", cuModuleLoadDataEx(&m, ptx, 2, options, values), log);
	return 0;
}
