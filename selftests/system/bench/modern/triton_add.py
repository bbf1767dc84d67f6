#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""triton_add.py: a kernel by Triton. The exit code says whether the GPU computed it."""
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


a = torch.arange(1000, device="cuda", dtype=torch.float32)
b = torch.empty_like(a)
add[(4,)](a, b, 1000, BLOCK=256)
assert (b == a + 1).all()
