#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""with_numba.py: kernels by numba, whose print() has its format in constant memory; and its cuda.close(), which frees all where no
context is current. Prints TAP."""
import ctypes
import os
import sys
import tempfile

import numpy
from numba import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def say(v):
    print("thread", cuda.threadIdx.x, v[cuda.threadIdx.x])


def printed(call):
    """what @call has the library write on standard output"""
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as f:
        saved = os.dup(1)
        os.dup2(f.fileno(), 1)
        call()
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
        f.seek(0)
        return f.read()


def launch():
    say[1, 2](v)
    cuda.synchronize()
    cuda.close()


v = cuda.to_device(numpy.arange(100, dtype=numpy.float32))
sums = cuda.device_array_like(v)
add[1, 128](v, v, sums)
right = (sums.copy_to_host() == 2 * numpy.arange(100)).all()
print("ok" if right else "not ok", "1 - numba: a kernel")
text = printed(launch)
right = sorted(text.split("\n")) == ["", "thread 0 0.000000", "thread 1 1.000000"]
print("ok" if right else "not ok", "2 - numba: print() in a kernel, then close() #", repr(text))
add[1, 128](numpy.ones(3), numpy.ones(3), numpy.ones(3))
print("ok 3 - numba: a kernel after close()")
print("1..3")
