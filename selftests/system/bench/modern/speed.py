#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""speed.py torch|jax     for each line of standard input, which names a row: prints a line of JSON
speed.py import         what the import of PyTorch and its first operation take, once

run.py has one such process on each system, and asks them in turn. The row "start" is the process's first operation. The first line with
another row makes what it needs and does its work for the first time: {"row": NAME, "value": us}. Each later one times it once more:
{"row": NAME, "value": us a step, "steps": N, "result": R}, R a loss, a sum or tokens, null if there is none. Or {"row": NAME, "error": TEXT}."""
import json
import statistics
import sys
import threading
import time

SAMPLES = 16            # of a row's inputs, which a training takes in turn
TOKENS = 64             # of generate()
BATCHES = 32            # of an epoch of images
QUEUED = 200            # steps of JAX whose losses nobody reads
BULK = 64 << 20
BESIDE_SECONDS = 0.5    # of calls beside copies


# A row is a function that makes it, the number of calls of what it returns in a sample, and the steps in such a call. The call returns
# when its work is done, and gets the number of calls before it.
def torch_rows():
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)

    def training(model, optimizer, inputs, targets):
        """a step as people write it: the data goes in, the loss comes out"""
        def step(i):
            a, b = inputs[i % SAMPLES].cuda(), targets[i % SAMPLES].cuda()
            loss = F.cross_entropy(model(a), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()
        return step

    def pictures(model, optimizer, batch, *shape, **options):
        m = model.cuda()
        g = torch.Generator().manual_seed(1)
        return training(m, optimizer(m.parameters(), **options), [torch.randn(batch, *shape, generator=g) for _ in range(SAMPLES)],
                        [torch.randint(0, 10, (batch,), generator=g) for _ in range(SAMPLES)])

    def mlp():
        m = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        return pictures(m, torch.optim.Adam, 128, 784)

    def cnn():
        m = nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500),
                          nn.ReLU(), nn.Linear(500, 10))
        return pictures(m, torch.optim.SGD, 64, 1, 28, 28, lr=0.01)

    def resnet18():
        import torchvision
        return pictures(torchvision.models.resnet18(num_classes=10), torch.optim.SGD, 16, 3, 64, 64, lr=0.01)

    class Gpt(nn.Module):
        """4 layers of GPT-2's kind, 256 wide, 128 tokens of 1,000"""
        def __init__(self):
            super().__init__()
            self.token, self.place = nn.Embedding(1000, 256), nn.Parameter(torch.zeros(128, 256))
            one = nn.TransformerEncoderLayer(256, 4, 1024, 0.0, "gelu", batch_first=True, norm_first=True)
            self.layers, self.head = nn.TransformerEncoder(one, 4, nn.LayerNorm(256), enable_nested_tensor=False), nn.Linear(256, 1000)
            self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(128))

        def forward(self, a):
            return self.head(self.layers(self.token(a) + self.place, mask=self.mask, is_causal=True)).transpose(1, 2)

    def gpt():
        m = Gpt().cuda()
        g = torch.Generator().manual_seed(1)
        texts = [torch.randint(0, 1000, (4, 129), generator=g) for _ in range(SAMPLES)]
        return training(m, torch.optim.AdamW(m.parameters()), [t[:, :-1] for t in texts], [t[:, 1:] for t in texts])

    class Last(nn.Module):
        """an LSTM's last output, as one of ten"""
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(64, 256, 2, batch_first=True), nn.Linear(256, 10)

        def forward(self, a):
            return self.head(self.lstm(a)[0][:, -1])

    def lstm():
        return pictures(Last(), torch.optim.Adam, 32, 64, 64)

    def llama():
        from transformers import LlamaConfig, LlamaForCausalLM
        torch.manual_seed(0)
        config = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1408, num_hidden_layers=8, num_attention_heads=8,
                             num_key_value_heads=8, max_position_embeddings=512)
        return LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()

    def generate():
        model, prompt = llama(), torch.arange(3, 19, device="cuda")[None]
        mask = torch.ones_like(prompt)

        def call(_):
            tokens = model.generate(prompt, attention_mask=mask, do_sample=False, min_new_tokens=TOKENS, max_new_tokens=TOKENS, pad_token_id=0)
            return " ".join(map(str, tokens[0, -TOKENS:].tolist()))
        return call

    def llama_graph():
        model, tokens = llama(), torch.arange(3, 131, device="cuda")[None]
        aside, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()

        def forward():
            return model(tokens, use_cache=False).logits.float().abs().mean()
        with torch.no_grad():
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(3):
                    forward()
            torch.cuda.current_stream().wait_stream(aside)
            with torch.cuda.graph(graph):
                out = forward()

        def call(_):
            graph.replay()
            return out.item()
        return call

    def images():
        class Pictures(torch.utils.data.Dataset):
            """of 600 KB each, ten of them a batch"""
            def __len__(self):
                return 10 * BATCHES

            def __getitem__(self, i):
                return torch.full((3, 224, 224), i / 100)
        loader = torch.utils.data.DataLoader(Pictures(), 10, num_workers=2, pin_memory=True, persistent_workers=True, timeout=30)

        def call(_):
            total = torch.zeros((), device="cuda")
            for batch in loader:
                total += batch.cuda(non_blocking=True).mean()
            return total.item()
        return call

    def beside_bulk():
        small, host = torch.zeros(16, device="cuda"), torch.zeros(BULK, dtype=torch.uint8, pin_memory=True)
        card, streams = torch.zeros(BULK, dtype=torch.uint8, device="cuda"), [torch.cuda.Stream() for _ in range(2)]
        torch.cuda.synchronize()

        def copies(done):
            with torch.cuda.stream(streams[0]):
                while not done.is_set():
                    card.copy_(host, non_blocking=True)
                    host.copy_(card, non_blocking=True)
                    streams[0].synchronize()

        def call(_):
            took, done = [], threading.Event()
            thread = threading.Thread(target=copies, args=(done,))
            thread.start()
            try:
                end = time.perf_counter() + BESIDE_SECONDS
                with torch.cuda.stream(streams[1]):
                    while not took or time.perf_counter() < end:
                        start = time.perf_counter()
                        small.add_(1)[0].item()
                        took.append(time.perf_counter() - start)
            finally:
                done.set()
                thread.join()
            return {"value": statistics.median(took) * 1e6, "worst": max(took) * 1e6}
        return call

    def add():
        a = torch.zeros(16, device="cuda")

        def call(_):
            for _ in range(5000):
                a.add_(1)
            torch.cuda.synchronize()
        return call

    def call():
        return lambda _: torch.cuda.mem_get_info() and None
    return {"start": (lambda: lambda _: torch.zeros(1, device="cuda").item(), 1, 1), "mlp": (mlp, 100, 1), "cnn": (cnn, 100, 1),
            "gpt": (gpt, 50, 1), "resnet18": (resnet18, 20, 1), "lstm": (lstm, 30, 1), "generate": (generate, 1, TOKENS),
            "llama-graph": (llama_graph, 100, 1), "images": (images, 1, BATCHES), "beside-bulk": (beside_bulk, 1, 1), "add": (add, 1, 5000),
            "call": (call, 500, 1)}


def jax_rows():
    import jax
    import jax.numpy as jnp
    import numpy as np

    def mlp():
        widths, g = (784, 512, 512, 10), np.random.default_rng(1)
        p = [(jnp.asarray(g.standard_normal((a, b), np.float32) / a ** 0.5), jnp.zeros(b)) for a, b in zip(widths, widths[1:])]
        inputs = [g.standard_normal((128, 784), np.float32) for _ in range(SAMPLES)]
        targets = [g.integers(0, 10, 128) for _ in range(SAMPLES)]

        def loss_of(p, a, b):
            for w, c in p[:-1]:
                a = jax.nn.relu(a @ w + c)
            a = jax.nn.log_softmax(a @ p[-1][0] + p[-1][1])
            return -jnp.take_along_axis(a, b[:, None], 1).mean()

        @jax.jit
        def train(p, a, b):
            loss, grad = jax.value_and_grad(loss_of)(p, a, b)
            return jax.tree.map(lambda v, d: v - 0.05 * d, p, grad), loss

        def step(i):
            nonlocal p
            p, loss = train(p, inputs[i % SAMPLES], targets[i % SAMPLES])
            return loss
        return step

    def waited():
        step = mlp()
        return lambda i: float(step(i))

    def queued():
        step = mlp()
        return lambda i: float([step(i * QUEUED + k) for k in range(QUEUED)][-1])
    return {"start": (lambda: lambda _: float(jnp.zeros(1)[0]), 1, 1), "jax-float": (waited, 200, 1), "jax-queued": (queued, 1, QUEUED)}


def serve(rows):
    made = {}
    for name in map(str.strip, sys.stdin):
        try:
            start = time.perf_counter()
            make, calls, steps = rows[name]
            if name in made:
                call, done = made[name]
            else:
                call, done, calls, steps = make(), 0, 1, 1
            for i in range(done, done + calls):
                result = call(i)
            reply = {"row": name, "value": (time.perf_counter() - start) / (calls * steps) * 1e6, "steps": calls * steps}
            reply.update(result if isinstance(result, dict) else {"result": result})
            made[name] = call, done + calls
        except Exception as e:  # pylint: disable=broad-except
            reply = {"row": name, "error": f"{type(e).__name__}: " + " ".join(str(e).split())[:300]}
        print(json.dumps(reply), flush=True)


def time_import():
    start = time.perf_counter()
    import torch
    imported = time.perf_counter()
    assert (torch.ones(3, device="cuda") + 1).sum().item() == 6
    end = time.perf_counter()
    print(json.dumps({"row": "import", "value": (end - start) * 1e6, "import": imported - start, "first operation": end - imported}))


if __name__ == "__main__":
    if sys.argv[1] == "import":
        time_import()
    else:
        serve({"torch": torch_rows, "jax": jax_rows}[sys.argv[1]]())
