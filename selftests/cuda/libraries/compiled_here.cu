// SPDX-License-Identifier: GPL-2.0-only
/* NVRTC: a kernel that the program compiles when it runs, to code for this GPU and to PTX. */
#include "numbers.h"

#include <cuda.h>
#include <nvrtc.h>

static const char source[] =
	"extern \"C\" __global__ void saxpy(float a, const float *x, float *y, size_t n)\n"
	"{\n"
	"	size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] = a * x[i] + y[i];\n"
	"}\n";

static std::vector<char> compiled(bool to_ptx)
{
	const char *option = to_ptx ? "--gpu-architecture=compute_35" : "--gpu-architecture=sm_35";
	std::vector<char> image;
	nvrtcProgram p;
	size_t size;

	OK(nvrtcCreateProgram(&p, source, "saxpy.cu", 0, NULL, NULL));
	OK(nvrtcCompileProgram(p, 1, &option));
	OK(to_ptx ? nvrtcGetPTXSize(p, &size) : nvrtcGetCUBINSize(p, &size));
	image.resize(size);
	OK(to_ptx ? nvrtcGetPTX(p, image.data()) : nvrtcGetCUBIN(p, image.data()));
	OK(nvrtcDestroyProgram(&p));
	return image;
}

static void run(const std::vector<char> &image, const char *name)
{
	size_t n = 1000;
	auto x = numbers<float>(n, 1), y = numbers<float>(n, 2);
	on_device<float> dx(x), dy(y);
	float a = 3, *px = dx, *py = dy;
	void *parameters[] = { &a, &px, &py, &n };
	double worst = 0;
	CUmodule module;
	CUfunction f;

	OK(cuModuleLoadData(&module, image.data()));
	OK(cuModuleGetFunction(&f, module, "saxpy"));
	OK(cuLaunchKernel(f, CEIL_DIV(n, 128), 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
	auto got = dy.back();
	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, fabs(got[i] - ((double)a * x[i] + y[i])));
	within(worst, 4 * kind<float>::eps(), "%s", name);
	OK(cuModuleUnload(module));
}

int main(void)
{
	OK(cudaFree(NULL)); /* the runtime's context is current */
	run(compiled(false), "code");
	run(compiled(true), "PTX");
	return verdict(!wrong, "%d of %d kernels are out of bounds", wrong, compared);
}
