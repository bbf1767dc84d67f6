#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""speed.py torch|jax     for each line of standard input, which names a row: times it once more, and prints a line of JSON
speed.py import         what the import of PyTorch and its first operation take, once

run.py has one such process on each libcuda.so.1, and asks them in turn. {"row": NAME, "value": us a step, "loss": L}, or
{"row": NAME, "error": TEXT}."""
import json
import sys
import time

SAMPLES = 16


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

    def add():
        a = torch.zeros(16, device="cuda")

        def step(_):
            a.add_(1)
        return step
    return {"mlp": (mlp, 100), "cnn": (cnn, 100), "gpt": (gpt, 50), "resnet18": (resnet18, 20), "add": (add, 5000)}, torch.cuda.synchronize


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
            return float(loss)
        return step
    return {"jax-mlp": (mlp, 200)}, lambda: None    # a step has waited for its loss


def serve(rows, settle):
    steps = {}
    for name in map(str.strip, sys.stdin):
        try:
            make, count = rows[name]
            if name not in steps:
                steps[name] = [make(), 0]
            step, done = steps[name]
            settle()
            start = time.perf_counter()
            for i in range(done, done + count):
                loss = step(i)
            settle()
            reply = {"row": name, "value": (time.perf_counter() - start) / count * 1e6, "loss": loss}
            steps[name][1] += count
        except Exception as e:  # pylint: disable=broad-except
            reply = {"row": name, "error": f"{type(e).__name__}: " + " ".join(str(e).split())[:300]}
        print(json.dumps(reply), flush=True)


def time_import():
    start = time.perf_counter()
    import torch
    imported = time.perf_counter()
    assert (torch.ones(3, device="cuda") + 1).sum().item() == 6
    end = time.perf_counter()
    print(json.dumps({"row": "import", "value": end - start, "import": imported - start, "first operation": end - imported}))


if __name__ == "__main__":
    if sys.argv[1] == "import":
        time_import()
    else:
        serve(*{"torch": torch_rows, "jax": jax_rows}[sys.argv[1]]())
