#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""with_pycuda.py: a kernel that PyCUDA has nvcc compile, and an array of its own. Fails with a message."""
import numpy
import pycuda.autoinit  # noqa: F401  pylint: disable=unused-import
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule

saxpy = SourceModule("""
__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] += a * x[i];
}
""").get_function("saxpy")
x = numpy.arange(1000, dtype=numpy.float32)
y = numpy.ones(1000, dtype=numpy.float32)
saxpy(driver.InOut(y), driver.In(x), numpy.float32(2), numpy.int32(1000), block=(128, 1, 1), grid=(8, 1))
assert (y == 1 + 2 * x).all(), "saxpy is wrong"
assert (gpuarray.to_gpu(x) * 3 + 1).get().sum() == (x * 3 + 1).sum(), "an array is wrong"
print("PASS: saxpy of 1000 numbers")
