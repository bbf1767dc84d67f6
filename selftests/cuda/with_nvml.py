#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""with_nvml.py WHAT: what a program does with libnvidia-ml.so.1 and libcuda.so.1, for nvml.sh. Fails with a message.

show            prints the first GPU: name, UUID, memory in all and in use (MiB), and the processes with theirs
forks           asks NVML, then a child uses CUDA: NVML must not have initialised that of the parent
threads         asks in several threads at a time: the thread-specific data that Python keeps stays as it is
bus             finds the GPU by the place on the bus that CUDA says, and asks for access to its memory, as NCCL does
children        asks in children of fork(), of which the parent has begun with NVML
hidden          CUDA_VISIBLE_DEVICES hides the GPU from CUDA, and not from NVML
late ADDRESS    names the server in its environment when it runs already
hold MIB        has so much of the GPU's memory, prints a line, and ends when its input does
pynvml          the same as show, by Python's bindings, in several threads
"""
import ctypes
import os
import sys
import threading


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("gpu", ctypes.c_uint), ("compute", ctypes.c_uint)]


def right(code, what):
    if code:
        sys.exit(f"{what}: {code}")


def first():
    nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    right(nvml.nvmlInit_v2(), "nvmlInit_v2")
    right(nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)), "nvmlDeviceGetHandleByIndex_v2")
    return nvml, device


def show():
    nvml, device = first()
    name, uuid, memory, n, list_ = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96), Memory(), ctypes.c_uint(64), (Process * 64)()
    right(nvml.nvmlDeviceGetName(device, name, 96), "nvmlDeviceGetName")
    right(nvml.nvmlDeviceGetUUID(device, uuid, 96), "nvmlDeviceGetUUID")
    right(nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)), "nvmlDeviceGetMemoryInfo")
    right(nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(n), list_), "nvmlDeviceGetComputeRunningProcesses_v3")
    print(name.value.decode(), uuid.value.decode(), memory.total >> 20, memory.used >> 20,
          *[f"{p.pid}:{p.bytes >> 20}" for p in list_[:n.value]], sep=", ")


def use_cuda(mib=1):
    cuda, device, context, memory = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    right(cuda.cuInit(0), "cuInit")
    right(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    right(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "cuCtxCreate_v2")
    right(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(mib << 20)), "cuMemAlloc_v2")


def forks():
    nvml, device = first()
    child = os.fork()
    if not child:
        use_cuda()
        os._exit(0)
    right(os.waitpid(child, 0)[1], "the child, which uses CUDA")
    right(nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(Memory())), "nvmlDeviceGetMemoryInfo")
    print("both did")


def in_threads(ask):
    wrong = []

    def run():
        try:
            for _ in range(20):
                ask()
        except (Exception, SystemExit) as why:  # pylint: disable=broad-exception-caught
            wrong.append(why)

    all_ = [threading.Thread(target=run) for _ in range(8)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    if wrong:
        sys.exit(f"in a thread: {wrong[0]}")


def threads():
    def ask():
        nvml, device = first()
        right(nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(Memory())), "nvmlDeviceGetMemoryInfo")
        right(nvml.nvmlShutdown(), "nvmlShutdown")
        # Python compares what this thread has under its key with what it knows
        if ctypes.pythonapi.PyGILState_Check() != 1:
            sys.exit("thread-specific data has changed")

    in_threads(ask)
    use_cuda()
    in_threads(ask)
    print("unchanged")


def bus():
    nvml, device = first()
    cuda, place, found, status = ctypes.CDLL("libcuda.so.1"), ctypes.create_string_buffer(16), ctypes.c_void_p(), ctypes.c_uint(99)
    right(cuda.cuInit(0), "cuInit")
    right(cuda.cuDeviceGetPCIBusId(place, 16, 0), "cuDeviceGetPCIBusId")
    right(nvml.nvmlDeviceGetHandleByPciBusId(place, ctypes.byref(found)), "nvmlDeviceGetHandleByPciBusId")
    right(nvml.nvmlDeviceGetP2PStatus(device, found, 0, ctypes.byref(status)), "nvmlDeviceGetP2PStatus")
    print(found.value == device.value, status.value)


def children():
    nvml, device = first()
    for _ in range(2):
        child = os.fork()
        if not child:
            show()
            sys.exit(0)
        right(os.waitpid(child, 0)[1], "the child, which asks NVML")
    right(nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(Memory())), "nvmlDeviceGetMemoryInfo")
    print("all did")


def hidden():
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    show()
    code = ctypes.CDLL("libcuda.so.1").cuInit(0)
    if code != 100:
        sys.exit(f"cuInit gives {code}, not CUDA_ERROR_NO_DEVICE")


def late(address):
    os.environ["KVGPU_REMOTE"] = address
    show()


def hold(mib):
    use_cuda(int(mib))
    print(os.getpid(), flush=True)
    sys.stdin.read()


def pynvml():
    import pynvml as p
    p.nvmlInit()
    device = p.nvmlDeviceGetHandleByIndex(0)
    name, uuid, memory = p.nvmlDeviceGetName(device), p.nvmlDeviceGetUUID(device), p.nvmlDeviceGetMemoryInfo(device)
    text = [t.decode() if isinstance(t, bytes) else t for t in (name, uuid)]
    print(*text, memory.total >> 20, memory.used >> 20,
          *[f"{x.pid}:{x.usedGpuMemory >> 20}" for x in p.nvmlDeviceGetComputeRunningProcesses(device)], sep=", ")
    in_threads(lambda: p.nvmlDeviceGetMemoryInfo(device))
    try:
        p.nvmlDeviceGetTemperature(device, p.NVML_TEMPERATURE_GPU)
    except p.NVMLError_NotSupported:
        p.nvmlShutdown()
    else:
        sys.exit("a temperature, which nothing tells")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
