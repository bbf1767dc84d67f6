#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""several.py [STEP...]: PyTorch on two GPUs or more, of one driver, of one server, or of a server each; right or wrong by the CPU's or one
GPU's result. TAP."""
import copy
import os
import sys
import tempfile
import threading

import torch
import torch.nn.functional as F
from torch import nn

import steps
from steps import step

GPUS = range(torch.cuda.device_count())
torch.manual_seed(0)
X, Y = torch.randn(96, 64), torch.randint(0, 10, (96,))


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


def close(found, want, limit=1e-4):
    return steps.close(torch.cat([p.detach().double().cpu().flatten() for p in found]),
                       torch.cat([p.detach().double().cpu().flatten() for p in want]), limit)


def train(parameters, forward, gradients=lambda: None):
    """@parameters after some steps of training; @forward gives the output on any GPU"""
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    for _ in range(20):
        optimizer.zero_grad()
        out = forward(X)
        F.cross_entropy(out, Y.to(out.device)).backward()
        gradients()
        optimizer.step()
    return parameters


def one_gpu():
    """what training on one GPU gives"""
    m = model().to(0)
    return train(list(m.parameters()), lambda a: m(a.to(0)))


# ---------------------------------------------------------------- devices


@step
def devices():
    assert len(GPUS) >= 2, f"{len(GPUS)} GPUs"
    uuids = {str(torch.cuda.get_device_properties(d).uuid) for d in GPUS}
    assert len(uuids) == len(GPUS), uuids
    peers = sum(torch.cuda.can_device_access_peer(a, b) for a in GPUS for b in GPUS if a != b)
    return f"{len(GPUS)}: {torch.cuda.get_device_name(1)}; {peers} pairs with peer access"


@step
def each():
    for d in GPUS:
        with torch.cuda.device(d):
            a = torch.arange(100000, device="cuda")
            assert a.device.index == d and int((a * 2).sum()) == 100000 * 99999


@step
def products():
    for d in GPUS:
        for kind in (torch.float32, torch.bfloat16):
            steps.close((X.to(d, kind) @ X.to(d, kind).T).double().cpu(), (X @ X.T).double())


@step
def errors():
    a, b = torch.ones(3, device=0), torch.ones(3, device=1)
    try:
        _ = a + b
    except RuntimeError as e:
        assert "same device" in str(e), e
    else:
        raise AssertionError("a sum of two devices")
    assert (a + b.to(0)).eq(2).all()


# ---------------------------------------------------------------- tensors that move


@step
def moves():
    for n in (1, 1000, 1 << 20, 3 << 22):
        want = torch.randn(n)
        for a in GPUS:
            for b in GPUS:
                there = want.to(a).to(b)
                assert there.device.index == b and torch.equal(there.to(a).cpu(), want), (n, a, b)


@step
def moves_in_parts():
    want = torch.randn(300, 500)
    a = want.to(0)
    assert torch.equal(a[::2, 3:400].to(1).cpu(), want[::2, 3:400])
    assert torch.equal(a.T.to(1).cpu(), want.T)
    assert torch.equal(a.half().to(1).cpu(), want.half())


@step
def moves_beside_work():
    """copies that do not wait, in streams, behind work and ahead of work"""
    first, second = torch.cuda.Stream(0), torch.cuda.Stream(1)
    a, done = torch.zeros(1 << 20, device=0), torch.cuda.Event()
    torch.cuda.synchronize(0)
    for i in range(10):
        with torch.cuda.stream(first):
            for _ in range(20):
                a += 1
            b = a.to(1, non_blocking=True)
            done.record(first)
        with torch.cuda.stream(second):
            second.wait_event(done)
            b *= 2
            a2 = b.to(0, non_blocking=True)
        second.synchronize()
        assert a2.eq(40 * (i + 1)).all(), (i, a2[:3])


@step
def pinned():
    want = torch.randn(1 << 20).pin_memory()
    got = torch.empty_like(want).pin_memory()
    for d in GPUS:
        a = want.to(d, non_blocking=True) + d
        got.copy_(a, non_blocking=True)
        torch.cuda.synchronize(d)
        assert torch.equal(got, want + d), d


@step
def threads():
    wrong = []

    def run(d):
        with torch.cuda.device(d):
            for i in range(100):
                a = torch.full((1000,), float(d + i), device="cuda")
                if float((a * 2).sum()) != 2000.0 * (d + i):
                    wrong.append((d, i))
    started = [threading.Thread(target=run, args=(d,)) for d in GPUS for _ in range(2)]
    for t in started:
        t.start()
    for t in started:
        t.join()
    assert not wrong, wrong


# ---------------------------------------------------------------- training


@step
def pipeline():
    """the first half on one GPU, the second on the last one, micro-batches in both at once"""
    m = model()
    first, second, last = m[:2].to(0), m[2:].to(GPUS[-1]), GPUS[-1]
    found = train([*first.parameters(), *second.parameters()],
                  lambda a: torch.cat([second(first(part.to(0)).to(last, non_blocking=True)) for part in a.chunk(4)]))
    return close(found, one_gpu())


@step
def scatter_gather():
    """as nn.DataParallel, but for copies of the model that NCCL does not make"""
    m = model().to(0)
    parameters, replicas = list(m.parameters()), [copy.deepcopy(m).to(d) for d in GPUS]

    def forward(a):
        with torch.no_grad():
            for r in replicas:
                r.zero_grad()
                for p, q in zip(r.parameters(), parameters):
                    p.copy_(q, non_blocking=True)
        parts = nn.parallel.scatter(a.to(0), list(GPUS))
        return nn.parallel.gather(nn.parallel.parallel_apply(replicas[:len(parts)], [(p,) for p in parts]), GPUS[-1])

    def gradients():
        for p, *theirs in zip(parameters, *(r.parameters() for r in replicas)):
            p.grad = sum(q.grad.to(0) for q in theirs)
    return close(train(parameters, forward, gradients), one_gpu())


# ---------------------------------------------------------------- NCCL


@step
def nccl_one_rank():
    import torch.distributed as d
    with tempfile.TemporaryDirectory() as folder:
        d.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)
        t = torch.ones(4, device="cuda")
        d.all_reduce(t)
        torch.cuda.synchronize()
        d.destroy_process_group()
    assert t.eq(1).all()


@step
def nccl_one_process():
    from torch.cuda import nccl
    a = [torch.full((1 << 16,), float(d + 1), device=d) for d in GPUS]
    nccl.all_reduce(a)
    want = sum(d + 1 for d in GPUS)
    assert all(t.eq(want).all() for t in a), [float(t[0]) for t in a]
    nccl.broadcast(a)


@step
def data_parallel():
    """nn.DataParallel has NCCL broadcast the model, where the GPUs are several"""
    m = model().to(0)
    parallel = nn.DataParallel(m, list(GPUS), GPUS[-1])
    return close(train(list(m.parameters()), lambda a: parallel(a.to(0))), one_gpu())


if __name__ == "__main__":
    os.environ.setdefault("NCCL_DEBUG", "WARN")     # says which call has failed
    sys.exit(steps.run(lambda: [torch.cuda.synchronize(d) for d in GPUS]))
