#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""cupy_cover.py [STEP...]: what CuPy asks of CUDA, in breadth; right or wrong by numpy's result. TAP."""
import sys

import cupy as cp
import numpy as np

import steps
from steps import step

A = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)


def close(found, want, limit=1e-4):
    return steps.close(cp.asnumpy(found), want, limit)


@step
def ones():
    assert (cp.ones(1000) + 1).sum() == 2000


@step
def elementwise():
    f = cp.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "kvgpu_elementwise")
    return close(f(cp.asarray(A), cp.asarray(A)), A * A + 1)


@step
def reduction():
    f = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "kvgpu_reduction")
    return close(f(cp.asarray(A)), np.linalg.norm(A))


@step
def fused():
    @cp.fuse()
    def f(x, y):
        return cp.sqrt(x * x + y * y)
    return close(f(cp.asarray(A), cp.asarray(A)), np.sqrt(2 * A * A))


@step
def raw_kernel():
    f = cp.RawKernel(r'''extern "C" __global__ void add(const float *a, float *b, int n)
        { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i] + 1; }''', "add")
    a = cp.asarray(A)
    b = cp.empty_like(a)
    f((256,), (256,), (a, b, np.int32(a.size)))
    return close(b, A + 1)


@step
def raw_module():
    m = cp.RawModule(code=r'''__constant__ float scale[4];
        template <typename T> __global__ void twice(T *a) { a[threadIdx.x] *= scale[1]; }''',
                     options=("-std=c++17",), name_expressions=("twice<float>",))
    a = cp.arange(32, dtype=cp.float32)
    cp.ndarray(4, cp.float32, m.get_global("scale"))[...] = cp.asarray([1, 2, 3, 4], cp.float32)
    m.get_function("twice<float>")((1,), (32,), (a,))
    assert (a == 2 * cp.arange(32)).all()


@step
def cooperative():
    f = cp.RawKernel(r'''#include <cooperative_groups.h>
        extern "C" __global__ void both(int *a)
        { atomicAdd(a, 1); cooperative_groups::this_grid().sync(); if (!threadIdx.x) a[1 + blockIdx.x] = a[0]; }''',
                     "both", options=("-std=c++17",), enable_cooperative_groups=True)
    a = cp.zeros(9, cp.int32)
    f((8,), (32,), (a,))
    assert (a == 256).all(), a


@step
def gemm():
    return close(cp.asarray(A) @ cp.asarray(A), A @ A, 1e-2)


@step
def gemm_fp16():
    a = cp.asarray(A.astype(np.float16))
    return close((a @ a).astype(cp.float32), A @ A, 1e-2)


@step
def fft():
    return close(cp.abs(cp.fft.fft2(cp.asarray(A))), np.abs(np.fft.fft2(A)))


@step
def linalg():
    s = A @ A.T + 256 * np.eye(256, dtype=np.float32)
    c = cp.asarray(s)
    for f in (cp.linalg.svd, cp.linalg.eigh, cp.linalg.qr):
        f(c)
    return close(cp.linalg.cholesky(c), np.linalg.cholesky(s)), close(c @ cp.linalg.inv(c), np.eye(256), 1e-2)


@step
def sparse():
    from cupyx.scipy import sparse as sp
    a = np.maximum(A, 0)
    return close(sp.csr_matrix(cp.asarray(a)) @ cp.asarray(A), a @ A, 1e-2)


@step
def sort_scan():
    a = cp.asarray(A.ravel())
    assert (cp.asnumpy(cp.sort(a)) == np.sort(A.ravel())).all()
    return close(cp.cumsum(a.astype(cp.float64)), np.cumsum(A.ravel().astype(np.float64)))


@step
def random():
    assert 0.4 < cp.random.default_rng(1).random(10000).mean() < 0.6
    assert abs(cp.random.normal(size=10000).mean()) < 0.1


@step
def streams():
    s, e, f = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.cuda.Event()
    with s:
        e.record()
        a = cp.arange(1 << 20).sum()
        f.record()
    s.synchronize()
    assert a == (1 << 19) * ((1 << 20) - 1)
    return f"{cp.cuda.get_elapsed_time(e, f):.3f} ms"


@step
def graph():
    s, a = cp.cuda.Stream(non_blocking=True), cp.zeros(16)
    a += 1
    with s:
        s.begin_capture()
        a += 1
        g = s.end_capture()
        for _ in range(4):
            g.launch(s)
    s.synchronize()
    assert (a == 5).all(), a


@step
def async_memory():
    with cp.cuda.using_allocator(cp.cuda.MemoryAsyncPool().malloc):
        assert cp.ones(1 << 20).sum() == 1 << 20


@step
def pinned():
    m = cp.cuda.alloc_pinned_memory(A.nbytes)
    h = np.frombuffer(m, A.dtype, A.size).reshape(A.shape)
    h[...] = A
    d = cp.empty_like(A)
    d.set(h)
    return close(d, A)


if __name__ == "__main__":
    sys.exit(steps.run(cp.cuda.Device().synchronize))
