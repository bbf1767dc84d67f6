#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""sleep.py [ROW...] --remote FOLDER [--library FILE] [--python FILE]

Clients of a kvgpu-remoted are put to sleep and wake, on the GPU of this machine. FOLDER is that of make remote.
  torch jax    a training loop of STEPS steps (4000) is put to sleep SUSPENDS times (20), both of the environment; its losses are compared
               with those of a loop that was not
  others       while a client with half of the GPU's memory sleeps, another one takes three quarters; the first waits for room, and wakes
  1 10 60      so many GiB: seconds to sleep, and of the call that wakes
  move         on two GPUs: a client wakes on the other one
Rows that a machine has no GPU, memory or package for say so."""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

SUSPENDS, STEPS, GIB, ALL = int(os.environ.get("SUSPENDS", 20)), int(os.environ.get("STEPS", 4000)), 1 << 30, ("torch", "jax", "others", "1", "10", "60", "move")

# ------------------------------------------------------------------ programs, as clients


def torch_loop():
    import torch
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
    o = torch.optim.Adam(m.parameters())
    x, y = torch.randn(128, 784), torch.randint(0, 10, (128,))
    for i in range(STEPS):
        loss = torch.nn.functional.cross_entropy(m(x.cuda()), y.cuda())
        o.zero_grad()
        loss.backward()
        o.step()
        print(f"{i} {loss.item():.9g}", flush=True)


def jax_loop():
    import jax
    import jax.numpy as jnp
    x = jax.random.normal(jax.random.key(0), (128, 784))
    w = jax.random.normal(jax.random.key(1), (784, 10)) * 0.05
    step = jax.jit(lambda w: (w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.square(x @ w)))(w), jnp.mean(jnp.square(x @ w))))
    for i in range(STEPS):
        w, loss = step(w)
        print(f"{i} {float(loss):.9g}", flush=True)


def fill(gib):
    """for each line: whether all of the memory is as before, and where it is"""
    import torch
    parts = [torch.full((GIB,), i + 1, dtype=torch.uint8, device="cuda") for i in range(int(gib))]
    was = [p.data_ptr() for p in parts]
    torch.cuda.synchronize()
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.monotonic()
        torch.cuda.synchronize()
        woke = time.monotonic() - began
        right = all(bool((p == i + 1).all()) and p.data_ptr() == at for i, (p, at) in enumerate(zip(parts, was)))
        print(json.dumps({"right": right, "woke": woke, "gpu": str(torch.cuda.get_device_properties(0).uuid)}), flush=True)


# ------------------------------------------------------------------ the server, and what is done with it


class Server:
    def __init__(self, a, work):
        self.a, self.work = a, work
        with open(f"{work}/conf", "w") as f:
            f.write(f"library = {os.path.realpath(a.library)}\nlisten = unix:{work}/socket\nadmin-socket = {work}/admin\nhost-memory = 100G\n"
                    "suspend-memory = 100G\n")
        self.log = open(f"{work}/log", "w")
        self.process = subprocess.Popen([f"{a.remote}/kvgpu-remoted", "--config", f"{work}/conf"], stderr=self.log)
        for _ in range(200):
            if os.path.exists(f"{work}/admin"):
                break
            time.sleep(0.05)

    def start(self, *words):
        env = {**os.environ, "KVGPU_REMOTE": f"aperture:{self.work}/socket", "LD_LIBRARY_PATH": self.a.remote, "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
               "XLA_FLAGS": "--xla_gpu_autotune_level=0"}
        return subprocess.Popen([self.a.python, __file__, "--program", *words], env=env, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ctl(self, *words):
        p = subprocess.run([f"{self.a.remote}/kvgpu-remotectl", "--socket", f"{self.work}/admin", *words], capture_output=True, text=True)
        return p.returncode, (p.stdout + p.stderr).strip()

    def clients(self):
        return json.loads(self.ctl("list", "--json", "--interval", "0")[1])["clients"]

    def client_with_memory(self):
        """the one that has most: a program may have a second connection, of NVML"""
        return max(self.clients(), key=lambda c: c["memory_bytes"])["id"]

    def is_awake(self, client):
        return [c["sleep"] for c in self.clients() if c["id"] == client] in (["awake"], [])

    def suspend(self, client):
        """seconds; the last call has woken it by now, or does so first"""
        while not self.is_awake(client):
            time.sleep(0.02)
        began = time.monotonic()
        rc, said = self.ctl("suspend", str(client))
        if rc:
            raise RuntimeError(said)
        return time.monotonic() - began


def loop(server, kind):
    plain = server.start(kind).communicate()[0].splitlines()
    p = server.start(kind)
    first = p.stdout.readline()
    if not first:
        return "not there, or it does not run"
    client, times, lines = server.client_with_memory(), [], [first.strip()]
    for _ in range(SUSPENDS):
        time.sleep(random.random() / 5)
        times.append(server.suspend(client))
    lines += p.communicate()[0].splitlines()
    slept = SUSPENDS if p.returncode == 0 else None
    same = sum(a == b for a, b in zip(plain, lines))
    return f"{slept} times, {same} of {len(plain)} losses equal, {len(lines)} there, {sorted(times)[len(times) // 2]:.2f} s each"


def ask(p):
    p.stdin.write("\n")
    p.stdin.flush()
    return json.loads(p.stdout.readline())


def size(server, gib):
    p = server.start("fill", gib)
    if p.stdout.readline().strip() != "ready":
        return "no memory for it"
    client = server.client_with_memory()
    slept = server.suspend(client)
    told = ask(p)
    again = server.suspend(client), ask(p)
    p.communicate()
    return f"sleeps in {slept:.1f} and {again[0]:.1f} s, wakes in {told['woke']:.1f} and {again[1]['woke']:.1f} s, right: {told['right'] and again[1]['right']}"


def others(server, _):
    p = server.start("fill", "60")
    if p.stdout.readline().strip() != "ready":
        return "no memory for it"
    client = server.client_with_memory()
    server.suspend(client)
    other = server.start("fill", "100")
    took = other.stdout.readline().strip()
    p.stdin.write("\n")
    p.stdin.flush()
    time.sleep(5)
    waits = [(c.get("sleep"), c.get("why")) for c in server.clients() if c["id"] == client]
    other.communicate()
    told = json.loads(p.stdout.readline())
    p.communicate()
    return f"the other one: {took}; the first: {waits}, then {told}"


def move(server, _):
    p = server.start("fill", "4")
    if p.stdout.readline().strip() != "ready":
        return "no memory for it"
    client = server.client_with_memory()
    before = ask(p)
    server.suspend(client)
    said = server.ctl("resume", str(client), "--gpu", "1")
    used = subprocess.run(["nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader"], capture_output=True, text=True).stdout.split("\n")
    told = ask(p)
    p.communicate()
    return f"{said}; {used}; right: {before['right'] and told['right']}"


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("rows", nargs="*", default=ALL)
    p.add_argument("--remote")
    p.add_argument("--library", default="/usr/local/nvidia/lib64/libcuda.so.1")
    p.add_argument("--python", default=sys.executable)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o711)
        server = Server(a, work)
        for row in a.rows:
            try:
                told = loop(server, row) if row in ("torch", "jax") else size(server, row) if row.isdigit() else globals()[row](server, row)
            except Exception as e:  # pylint: disable=broad-except
                told = f"{type(e).__name__}: {e}"
            print(f"{row}: {told}", flush=True)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
        sys.stderr.write(open(f"{work}/log").read())


if __name__ == "__main__":
    if "--program" in sys.argv:
        kind = sys.argv[sys.argv.index("--program") + 1]
        {"torch": torch_loop, "jax": jax_loop, "fill": fill}[kind](*sys.argv[sys.argv.index(kind) + 1:])
    else:
        main()
