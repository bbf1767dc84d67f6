# SPDX-License-Identifier: GPL-2.0-only
"""older.py CUBIN: a program of a user with an older Debian and its Python: adds two vectors by a kernel of CUBIN, looks at each sum,
and counts the GPUs that libnvidia-ml.so.1 has. Exit code 0: all is right."""
import ctypes
import sys

N = 1000
cuda = ctypes.CDLL("libcuda.so.1")
nvml = ctypes.CDLL("libnvidia-ml.so.1")


def call(name, *args):
    error = getattr(cuda, name)(*args)
    if error:
        sys.exit(f"{name}: error {error}")


context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
with open(sys.argv[1], "rb") as f:
    call("cuModuleLoadData", ctypes.byref(module), f.read())
call("cuModuleGetFunction", ctypes.byref(function), module, b"add")
host = [(ctypes.c_float * N)(*(i * k for i in range(N))) for k in (1, 2, 0)]
device = [ctypes.c_uint64() for _ in host]
for h, d in zip(host, device):
    call("cuMemAlloc_v2", ctypes.byref(d), ctypes.c_size_t(ctypes.sizeof(h)))
    call("cuMemcpyHtoD_v2", d, h, ctypes.c_size_t(ctypes.sizeof(h)))
values = [*device, ctypes.c_int(N)]
pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in values))
call("cuLaunchKernel", function, (N + 255) // 256, 1, 1, 256, 1, 1, 0, None, pointers, None)
call("cuMemcpyDtoH_v2", host[2], device[2], ctypes.c_size_t(ctypes.sizeof(host[2])))
wrong = sum(host[2][i] != 3 * i for i in range(N))
count = ctypes.c_uint()
if wrong or nvml.nvmlInit_v2() or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) or count.value != 1:
    sys.exit(f"{wrong} sums are wrong, {count.value} GPUs")
print(f"{N} sums are right")
