#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""torch_cover.py [STEP...]: what PyTorch asks of CUDA, in breadth; right or wrong by the CPU's result. TAP."""
import io
import os
import subprocess
import sys
import tempfile
import threading
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import steps
from steps import step

warnings.filterwarnings("ignore")
GPU = {"device": "cuda"}
torch.manual_seed(0)
X, W = torch.randn(512, 512), torch.randn(512, 512)
QKV = [torch.randn(2, 8, 256, 64) for _ in range(3)]


def close(found, want, limit=3e-2):
    return steps.close(found.detach().double().cpu(), want.detach().double().cpu(), limit)


def on_both(model, a):
    """@model of @a on the CPU, then on the GPU"""
    want = model(a)
    return close(model.cuda()(a.cuda()), want)


# ---------------------------------------------------------------- products


@step
def mm_fp32():
    return close(X.cuda() @ W.cuda(), X @ W)


@step
def mm_tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return close(X.cuda() @ W.cuda(), X @ W)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


@step
def mm_bf16():
    return close(X.cuda().bfloat16() @ W.cuda().bfloat16(), X @ W)


@step
def mm_fp16():
    return close(X.cuda().half() @ W.cuda().half(), X @ W)


@step
def mm_fp64():
    return close(X.cuda().double() @ W.cuda().double(), X @ W)


@step
def mm_fp8():
    a, b = X.cuda().to(torch.float8_e4m3fn), W.cuda().t().contiguous().to(torch.float8_e4m3fn).t()
    one = torch.tensor(1.0, **GPU)
    return close(torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16), X @ W, 0.1)


@step
def mm_int8():
    a = torch.randint(-5, 5, (64, 64), dtype=torch.int8)
    assert (torch._int_mm(a.cuda(), a.cuda()).cpu() == a.int() @ a.int()).all()


@step
def bmm():
    a = torch.randn(8, 64, 64)
    return close(torch.bmm(a.cuda(), a.cuda()), torch.bmm(a, a))


@step
def addmm_gelu():
    return on_both(nn.Sequential(nn.Linear(512, 512), nn.GELU()), X)


# ---------------------------------------------------------------- layers


@step
def conv2d():
    return on_both(nn.Conv2d(8, 16, 3), torch.randn(4, 8, 32, 32))


@step
def conv2d_bf16_nhwc():
    m, a = nn.Conv2d(64, 64, 3, padding=1), torch.randn(8, 64, 32, 32)
    want, form = m(a), {"memory_format": torch.channels_last}
    return close(m.cuda().bfloat16().to(**form)(a.cuda().bfloat16().to(**form)), want)


@step
def conv3d_transpose():
    return on_both(nn.Sequential(nn.Conv3d(2, 4, 3), nn.ConvTranspose3d(4, 2, 3)), torch.randn(2, 2, 8, 8, 8))


@step
def conv_benchmark():
    torch.backends.cudnn.benchmark = True
    try:
        nn.Conv2d(16, 32, 5).cuda()(torch.randn(4, 16, 40, 40, **GPU, requires_grad=True)).sum().backward()
    finally:
        torch.backends.cudnn.benchmark = False


@step
def norms():
    return on_both(nn.Sequential(nn.BatchNorm2d(8), nn.GroupNorm(2, 8)).train(), torch.randn(4, 8, 16, 16))


@step
def lstm_gru():
    m, g = nn.LSTM(32, 64, 2).cuda(), nn.GRU(64, 32).cuda()
    g(m(torch.randn(10, 4, 32, **GPU))[0])[0].sum().backward()


@step
def ctc():
    lengths = torch.full((4,), 50, dtype=torch.int32), torch.full((4,), 10, dtype=torch.int32)
    chances = torch.randn(50, 4, 20, **GPU).log_softmax(2).requires_grad_()
    F.ctc_loss(chances, torch.randint(1, 20, (4, 10), dtype=torch.int32), *lengths).backward()


def sdpa(backend):
    want = F.scaled_dot_product_attention(*QKV)
    with sdpa_kernel(backend):
        return close(F.scaled_dot_product_attention(*[t.cuda().bfloat16() for t in QKV]), want)


@step
def sdpa_flash():
    return sdpa(SDPBackend.FLASH_ATTENTION)


@step
def sdpa_efficient():
    return sdpa(SDPBackend.EFFICIENT_ATTENTION)


@step
def sdpa_cudnn():
    return sdpa(SDPBackend.CUDNN_ATTENTION)


@step
def sdpa_math():
    return sdpa(SDPBackend.MATH)


# ---------------------------------------------------------------- operations


@step
def sort_topk_unique():
    a = torch.randint(0, 100, (10000,))
    b = a.cuda()
    assert (b.sort()[0].cpu() == a.sort()[0]).all() and (b.unique().cpu() == a.unique()).all()
    assert (b.cumsum(0).cpu() == a.cumsum(0)).all() and (b.bincount().cpu() == a.bincount()).all()
    b.nonzero()
    for f in (lambda c: c.topk(5), lambda c: c.kthvalue(3), torch.median):
        f(b.float())


@step
def scatter_index():
    a = torch.zeros(100, **GPU)
    a.index_add_(0, torch.randint(0, 100, (1000,), **GPU), torch.ones(1000, **GPU))
    assert a.sum() == 1000
    a.scatter_add_(0, torch.zeros(5, dtype=torch.long, **GPU), torch.ones(5, **GPU))
    a[torch.rand(100, **GPU) > 0.5] = 0


@step
def random():
    torch.manual_seed(1)
    assert 0.4 < torch.rand(10000, **GPU).mean() < 0.6
    assert torch.randperm(1000, **GPU).sort()[0].equal(torch.arange(1000, **GPU))
    torch.multinomial(torch.ones(10, **GPU), 3)
    F.dropout(torch.ones(10, **GPU))
    torch.randn(5, **GPU, dtype=torch.double)
    torch.poisson(torch.ones(5, **GPU))


@step
def linalg():
    a = torch.randn(64, 64)
    s = a @ a.t() + 64 * torch.eye(64)
    c, lib = s.cuda(), torch.linalg
    for f in (lib.qr, lib.eigh, lib.svd, lib.inv, lib.det, lib.lu, lib.eig):
        f(c)
    for f in (lib.lstsq, lib.solve):
        f(c, c)
    lib.matrix_exp(c / 100)
    lib.solve_triangular(c.tril(), c, upper=False)
    lib.cholesky(c.expand(4, 64, 64))
    return close(lib.cholesky(c), lib.cholesky(s))


@step
def fft():
    a = torch.randn(4, 256, 256)
    close(torch.fft.rfft2(a.cuda()).abs(), torch.fft.rfft2(a).abs())
    close(torch.fft.fft(a[:, :, :251].cuda()).abs(), torch.fft.fft(a[:, :, :251]).abs())
    return close(torch.fft.ifft(torch.fft.fft(a.cuda())).real, a)


@step
def sparse():
    a = X.relu()
    close(a.cuda().to_sparse() @ W.cuda(), a @ W)
    b = a[:64, :64].cuda().to_sparse_csr()
    torch.sparse.mm(b, b)
    return close(a.cuda().to_sparse_csr() @ W.cuda(), a @ W)


@step
def sparse_24():
    from torch.sparse import to_sparse_semi_structured
    half = {**GPU, "dtype": torch.bfloat16}
    a, ones = torch.tensor([0, 0, 1, 1], **half).tile(128, 32), torch.ones(128, 128, **half)
    return close(to_sparse_semi_structured(a) @ ones, a @ ones)


# ---------------------------------------------------------------- training


@step
def amp_train():
    m = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2).cuda()
    o, scaler = torch.optim.AdamW(m.parameters()), torch.amp.GradScaler("cuda")
    for _ in range(3):
        with torch.autocast("cuda", torch.float16):
            loss = m(torch.randn(4, 16, 64, **GPU)).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(o)
        scaler.update()
        o.zero_grad()


@step
def optimizers():
    def one_step(make, **options):
        m = nn.Linear(64, 64).cuda()
        o = make(m.parameters(), lr=0.01, **options)
        m(torch.randn(8, 64, **GPU)).sum().backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1)
        o.step()
    for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
        one_step(make, foreach=True)
    one_step(torch.optim.AdamW, fused=True)


# ---------------------------------------------------------------- graphs, streams, memory


@step
def graph():
    g, s, m, side = torch.cuda.CUDAGraph(), torch.zeros(16, **GPU), nn.Linear(16, 16).cuda(), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        m(s)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(g):
        s += 1
        o = m(s)
    for _ in range(5):
        g.replay()
    torch.cuda.synchronize()
    assert s[0] == 5
    return close(o, m(torch.full((16,), 5.0, **GPU)))


@step
def graphed_callable():
    m, a = nn.Sequential(nn.Linear(16, 16), nn.ReLU()).cuda(), torch.randn(4, 16, **GPU, requires_grad=True)
    torch.cuda.make_graphed_callables(m, (a,))(torch.randn(4, 16, **GPU, requires_grad=True)).sum().backward()


@step
def streams():
    s, (e, f) = torch.cuda.Stream(priority=-1), [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    p = torch.ones(1 << 20).pin_memory()
    with torch.cuda.stream(s):
        e.record()
        d = p.to("cuda", non_blocking=True)
        d.record_stream(s)
        f.record()
    torch.cuda.current_stream().wait_event(f)
    assert d.sum() == 1 << 20
    s.synchronize()
    assert s.query()
    return f"{e.elapsed_time(f):.3f} ms"


@step
def memory():
    a = torch.empty(1 << 28, **GPU)
    del a
    torch.cuda.empty_cache()
    torch.cuda.memory_stats()
    torch.cuda.memory_snapshot()
    torch.cuda.mem_get_info()
    torch.cuda.reset_peak_memory_stats()
    try:
        torch.empty(1 << 45, **GPU)
    except torch.cuda.OutOfMemoryError:
        return
    raise AssertionError("more memory than there is")


@step
def mempool_private():
    with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
        torch.ones(1000, **GPU)


@step
def loader():
    from torch.utils.data import DataLoader, TensorDataset
    found = DataLoader(TensorDataset(torch.ones(64, 10)), 16, num_workers=2, pin_memory=True)
    assert sum(b.cuda(non_blocking=True).sum() for (b,) in found) == 640


@step
def hooks_ipc():
    a = torch.ones(10, **GPU)
    a.share_memory_()
    return len(a.untyped_storage()._share_cuda_())


@step
def host_register():
    a, cudart = torch.ones(1 << 20), torch.cuda.cudart()
    assert int(cudart.cudaHostRegister(a.data_ptr(), a.numel() * 4, 0)) == 0 and a.is_pinned()
    assert a.cuda(non_blocking=True).sum() == 1 << 20
    assert int(cudart.cudaHostUnregister(a.data_ptr())) == 0


# ---------------------------------------------------------------- tools


@step
def profiler():
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        (torch.randn(64, 64, **GPU) @ torch.randn(64, 64, **GPU)).sum().item()
    return f"{sum(1 for e in p.events() if str(e.device_type).endswith('CUDA'))} events of the GPU"


@step
def nvtx():
    torch.cuda.nvtx.range_push("a")
    torch.cuda.nvtx.range_pop()
    torch.cuda.cudart().cudaProfilerStart()
    torch.cuda.cudart().cudaProfilerStop()


@step
def jiterator():
    f = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x, T y) { return x * y + 1; }")
    return close(f(X.cuda(), W.cuda()), X * W + 1)


@step
def jit_fuser():
    @torch.jit.script
    def f(a, b):
        return (a * b + a).relu() * 2
    for _ in range(4):
        r = f(X.cuda(), W.cuda())
    return close(r, (X * W + X).relu() * 2)


@step
def compile_():
    def f(a):
        return (a.sin() + a.cos() * 2).sum()
    return close(torch.compile(f)(X.cuda()), f(X))


@step
def compile_cudagraphs():
    m = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda(), mode="reduce-overhead")
    for _ in range(4):
        m(torch.randn(8, 64, **GPU))


# ---------------------------------------------------------------- models


@step
def resnet18():
    import torchvision
    torchvision.models.resnet18().cuda()(torch.randn(4, 3, 64, 64, **GPU)).sum().backward()


@step
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    m = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=4, n_embd=64, vocab_size=1000)).cuda().eval()
    o = m.generate(torch.ones(1, 4, dtype=torch.long, **GPU), max_new_tokens=8, do_sample=False, pad_token_id=0)
    return list(o.shape)


@step
def llama_bf16():
    from transformers import LlamaConfig, LlamaForCausalLM
    m = LlamaForCausalLM(LlamaConfig(num_hidden_layers=2, hidden_size=64, intermediate_size=128, num_attention_heads=4, vocab_size=1000))
    a = torch.ones(2, 16, dtype=torch.long, **GPU)
    loss = m.cuda().bfloat16()(a, labels=a).loss
    loss.backward()
    assert 5 < loss.item() < 9, loss.item()     # about ln 1000


@step
def geometric():
    from torch_geometric.nn import GCNConv
    GCNConv(16, 8).cuda()(torch.randn(10, 16, **GPU), torch.randint(0, 10, (2, 30), **GPU)).sum().backward()


@step
def save_load():
    b = io.BytesIO()
    torch.save(X.cuda(), b)
    b.seek(0)
    return close(torch.load(b, map_location="cuda"), X)


# ---------------------------------------------------------------- processes and threads


@step
def nccl():
    import torch.distributed as d
    os.environ["NCCL_NVLS_ENABLE"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        d.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)
        t = torch.ones(4, **GPU)
        d.all_reduce(t)
        d.broadcast(t, 0)
        torch.cuda.synchronize()
        d.destroy_process_group()
    assert t.eq(1).all()


@step
def multi_context_thread():
    found = []
    threads = [threading.Thread(target=lambda: found.append(float((torch.ones(100, **GPU) * 2).sum()))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [200.0] * 4, found


@step
def assert_device():
    code = "import torch; torch.zeros(3, device='cuda')[torch.tensor([5], device='cuda')]; torch.cuda.synchronize()"
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "device-side assert" in p.stderr, p.stderr[-100:]
    return "the kernel printed" if "Assertion" in p.stderr + p.stdout else "no text of the kernel"


if __name__ == "__main__":
    sys.exit(steps.run(torch.cuda.synchronize))
