#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""numba_add.py: a kernel by numba. The exit code says whether the GPU computed it."""
import numpy as np

if not hasattr(np, "row_stack"):    # some versions of numba want it, and later ones of numpy lack it
    np.row_stack = np.vstack
from numba import cuda  # noqa: E402 pylint: disable=wrong-import-position


@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i] + 1


a = np.arange(1000, dtype=np.float32)
d = cuda.to_device(a)
o = cuda.device_array_like(d)
add[4, 256](d, o)
assert (o.copy_to_host() == a + 1).all()
