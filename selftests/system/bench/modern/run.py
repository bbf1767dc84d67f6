#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run.py [ROW...] --remote FOLDER [--carriers aperture,unix,tls] [--library FILE] [--python FILE] [--nvcc FILE] [--built FOLDER]
       [--link FILE] [--out FOLDER] [--seconds N] [--passes N] [--at-once N] [--commit C]

Programs with NVIDIA's own runtimes on the GPU of this machine: natively, and remoted by our libcuda.so.1 and kvgpu-remoted. FOLDER is
the one of make remote, built here or elsewhere. ROWs, or groups of them (runs and speed without any):
  runs    static shared reset cublas built numba triton cupy jax profiler nccl torch programs: whether they run. nvcc compiles the CUDA
          programs; built: each program in the folder --built, which may have libcudart.so of other versions beside it
  several PyTorch on two GPUs of this machine or more
  speed   mlp cnn gpt resnet18 lstm generate llama-graph images beside-bulk add call (PyTorch), jax-float jax-queued, import: the start, the
          first sample, the median of --passes (5) more, each natively and by each carrier in turn
Carriers: aperture, unix, tcp, tls, whose server has all GPUs of this machine; run: kvgpu-run (of make cluster), a proxy for each GPU.
tls+100us@25: through a network (../link.c, built as --link, FOLDER/link) with 100 us there and back and 25 Gbit/s; tls+2ms@25:mlp:gpt:
for these rows of speed alone.
LIBRARY is NVIDIA's libcuda.so.1 (the loader's); --python has PyTorch and so on (python3); --seconds bounds all of it (570); what was done
till then is kept. Tables on standard output, and OUT/remote-modern.json (build/bench), in which other rows of an earlier run stay.
README.md says what a row is."""
import argparse
import concurrent.futures
import datetime
import glob
import json
import math
import os
import queue
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../../cuda/programs")
NATIVE = "native"
RUN = "run"             # programs under kvgpu-run, each GPU with a proxy of its own
CARRIERS = ("aperture", "unix", "tcp", "tls", RUN)
RUNS = ("static", "shared", "reset", "cublas", "built", "numba", "triton", "cupy", "jax", "profiler", "nccl", "torch", "programs")


class Row(NamedTuple):
    kind: str                   # which process of speed.py measures it
    text: str                   # its name in tables
    lupine: float = None        # what Lupine took as a multiple of native. That is RECORDED: on 2026-11-27 by TCP on a machine with an H100,
                                # Lupine of 2026-08; no run of this script measures it.
    turns: float = None         # the most that a step should take of a network's turns
    ratio: bool = True          # there are aims of its times as multiples of native's
    most: float = None          # us: the aim of the median itself


SPEED = {
    "torch-start": Row("torch", "PyTorch, a process until its first operation's end"),
    "mlp": Row("torch", "PyTorch, MLP 784-512-512-10, Adam, batch 128: a step", 2.3, 1),
    "cnn": Row("torch", "PyTorch, LeNet, SGD, batch 64: a step", 2.8, 1),
    "gpt": Row("torch", "PyTorch, 4 layers of GPT-2's kind, AdamW: a step", None, 1),
    "resnet18": Row("torch", "PyTorch, ResNet18, SGD, batch 16: a step", None, 1),
    "lstm": Row("torch", "PyTorch, cuDNN LSTM 2x256, 64 steps, Adam, batch 32: a step", None, 1),
    "generate": Row("torch", "PyTorch, generate() of 64 tokens, Llama-like, 8 layers: a token", None, 2),
    "llama-graph": Row("torch", "PyTorch, CUDA graph of that Llama, 128 tokens, 4 bytes out: a replay", None, 1),
    "images": Row("torch", "PyTorch, DataLoader, 2 workers, pinned, 6 MB to the GPU: a batch", None, 1),
    "beside-bulk": Row("torch", "PyTorch, add_(1) and item() beside copies of 64 MiB: a call", ratio=False, most=2000),
    "add": Row("torch", "PyTorch, add_(1) of 5,000: each with the end", 1.5),
    "call": Row("torch", "PyTorch, mem_get_info(): a call", None, 1, ratio=False),
    "jax-start": Row("jax", "JAX, a process until its first operation's end"),
    "jax-float": Row("jax", "JAX, MLP 784-512-512-10, SGD, batch 128, float(loss): a step", None, 2),
    "jax-queued": Row("jax", "JAX, the same, one float(loss) after 200 steps: a step"),
    "import": Row("import", "PyTorch, import and first operation"),
}
START = "-start"        # rows that each process of speed.py has, and has once
SEVERAL = "several"     # it wants two GPUs
GROUPS = {"runs": RUNS, "speed": tuple(r for r in SPEED if not r.endswith(START))}
GROUPS["all"] = RUNS + GROUPS["speed"]
# carrier: the most times native's that a start and a first sample should take, and a median, if it is natively so many us or more
AIMS = {"aperture": (1.2, ((0, 1.05),)), "unix": (1.5, ((0, 1.5),)), "tcp": (1.5, ((0, 1.5),)), "tls": (1.5, ((0, 1.5),)),
        "tls+100us@25": (None, ((5000, 1.3), (0, 2)))}
LIMITS = {"torch": 280, "jax": 200, "cupy": 120, "programs": 280, "profiler": 90, "nccl": 90, "several": 120, "triton": 90, "numba": 60}
LIMIT = 30              # of other programs, in seconds
ANSWER = 60             # of a process of speed.py: it may have to import first
TAIL = 12               # last lines of a failed program that are shown
NEVER_ENDS = "error_endless"    # of selftests/cuda/programs: it waits for a driver that limits a kernel's time


class OutOfTime(Exception):
    pass


class Carrier(NamedTuple):
    """as --carriers names one"""
    name: str
    base: str               # what carries it, one of CARRIERS
    rtt: float              # of a network, in us: None without one
    gbit: float
    rows: tuple             # of speed, which it is asked for alone: all if empty


def carrier(word):
    name, *rows = word.split(":")
    found = re.fullmatch(r"(\w+)(?:\+(\d+)(us|ms)@(\d+))?", name)
    if not found or found[1] not in CARRIERS or found[2] and found[1] not in ("tcp", "tls"):
        raise argparse.ArgumentTypeError(f"{name} is not a carrier")
    for r in rows:
        if r not in SPEED:
            raise argparse.ArgumentTypeError(f"{word}: {r} is not a row of speed")
    return Carrier(name, found[1], found[2] and int(found[2]) * {"us": 1, "ms": 1000}[found[3]], found[4] and int(found[4]), tuple(rows))


class Link:
    """a network in front of a port"""
    def __init__(self, program, port, c):
        # pylint: disable=consider-using-with
        self.p = subprocess.Popen([program, "0", str(port), str(c.rtt / 2), str(c.gbit)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  text=True, start_new_session=True)
        self.port = int(self.p.stdout.readline() or 0)
        if not self.port:
            raise RuntimeError(f"{program} does not start")

    def counts(self):
        """turns and bytes since its start"""
        self.p.send_signal(signal.SIGUSR1)
        counts = json.loads(self.p.stdout.readline())
        return counts["turns"], counts["up"] + counts["down"]


class Machine:
    """the folder for files of a run, the server, and processes, of which none outlives the run"""
    def __init__(self, a, work):
        self.a, self.work, self.end = a, work, time.monotonic() + a.seconds
        self.running, self.server, self.lock = set(), None, threading.Lock()
        self.carriers = {c.name: c for c in a.carriers}
        bases = {c.base for c in a.carriers}
        self.port = {base: free_port() for base in ("tcp", "tls") if base in bases}
        os.mkdir(f"{work}/native")
        for name in ("libcuda.so.1", "libcuda.so"):     # numba and Triton look for the latter, too
            os.symlink(os.path.realpath(a.library), f"{work}/native/{name}")
        self.systems, self.log = [NATIVE, *self.carriers], f"{work}/server.log"
        if "tls" in bases:
            self.make_certificates()
        os.mkdir(f"{work}/compiled", 0o700)
        with open(f"{work}/remoted.conf", "w") as f:
            f.write(f"library = {os.path.realpath(a.library)}\ntls-folder = {work}/tls\ncompiled-folder = {work}/compiled\n"
                    f"admin-socket = {work}/admin\nusers = none\n")
        self.links = {c.name: Link(a.link, self.port[c.base], c) for c in a.carriers if c.rtt is not None}
        self.running |= {link.p for link in self.links.values()}

    def left(self):
        return self.end - time.monotonic()

    def start_server(self):
        """a server that listens, unless there is one"""
        with self.lock:
            if self.server and self.server.poll() is None:
                return
            if self.server:
                print(f"run.py: kvgpu-remoted ended with {self.server.returncode}: {tail(self.log)}", file=sys.stderr)
            addresses = [f"unix:{self.work}/socket", *(f"{base}:127.0.0.1:{port}" for base, port in self.port.items())]
            words = [word for address in addresses for word in ("--listen", address)]
            with open(self.log, "w") as log:
                self.server = subprocess.Popen([f"{self.a.remote}/kvgpu-remoted", "--config", f"{self.work}/remoted.conf", *words], stderr=log,
                                               start_new_session=True)
            while read(self.log).count("listens at") < len(addresses):
                if self.server.poll() is not None or self.left() < 0:
                    raise RuntimeError(f"kvgpu-remoted does not start: {tail(self.log)}")
                time.sleep(0.05)

    def make_certificates(self):
        for certs in (["server", "127.0.0.1"], ["client", "bench"]):
            subprocess.run([f"{self.a.remote}/kvgpu-remotectl", "certs", *certs, "--folder", f"{self.work}/tls"],
                           stdout=subprocess.DEVNULL, check=True)

    def environment(self, system):
        folder = f"{self.work}/native" if system == NATIVE else self.a.remote
        paths = [folder, *os.environ.get("LD_LIBRARY_PATH", "").split(":"), self.a.built]
        env = {**os.environ, "LD_LIBRARY_PATH": ":".join(p for p in paths if p), "NUMBA_CUDA_DRIVER": f"{folder}/libcuda.so.1",
               "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "NCCL_NVLS_ENABLE": "0", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
               "KVGPU_PROGRAM_TIMEOUT": "30"}
        if self.a.nvcc:     # for its ptxas
            env["PATH"] = f"{os.path.dirname(self.a.nvcc)}:{env['PATH']}"
        if system not in (NATIVE, RUN):
            self.start_server()
            base = self.carriers[system].base
            port = self.links[system].port if system in self.links else self.port.get(base)
            env.update(KVGPU_REMOTE=f"{base}:127.0.0.1:{port}" if port else f"{base}:{self.work}/socket", KVGPU_REMOTE_TLS=f"{self.work}/tls/clients/bench")
        return env

    def asked(self, system, row):
        c = self.carriers.get(system)
        return not c or not c.rows or row in c.rows

    def start(self, words, system, **options):
        if system == RUN:
            words = [f"{self.a.remote}/kvgpu-run", "--mpi", "local", "--gpus", "all", "--library", os.path.realpath(self.a.library), *words]
        p = subprocess.Popen(words, env=self.environment(system), start_new_session=True, text=True, errors="replace", **options)
        self.running.add(p)
        return p

    def kill(self, p):
        try:
            os.killpg(p.pid, signal.SIGKILL)    # with children that it left
        except ProcessLookupError:
            pass
        p.wait()
        self.running.discard(p)

    def run(self, words, system, limit, folder=None):
        """(exit code or None: it did not end, what it said)"""
        limit = min(limit, self.left())
        if limit < 1:
            raise OutOfTime
        with tempfile.NamedTemporaryFile("w+", dir=self.work, errors="replace") as said:
            p = self.start(words, system, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=folder)
            try:
                rc = p.wait(limit)
            except subprocess.TimeoutExpired:
                rc = None
            self.kill(p)
            return rc, read(said.name) + ("" if rc is not None else f"\nno end within {limit:.0f} s")

    def close(self):
        """nothing starts any more, and nothing goes on"""
        self.end = 0
        for p in list(self.running) + ([self.server] if self.server else []):
            self.kill(p)


def read(path):
    with open(path, errors="replace") as f:
        return f.read()


def tail(path):
    return " / ".join(read(path).splitlines()[-3:])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# ---------------------------------------------------------------- what runs


class Programs:
    """CUDA programs, which are compiled beside each other"""
    def __init__(self, m, rows):
        self.m, self.made = m, {}
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        for form in ("static", "shared"):
            if form in rows:
                self.compile(form, "-cudart", form, f"{PROGRAMS}/vector_add.cu")
        for name, *words in (("reset",), ("cublas", "-lcublas")):
            if name in rows:
                self.compile(name, f"{HERE}/{name}.cu", *words)
        self.folder, self.names = f"{m.work}/programs", []
        if "programs" in rows:
            os.mkdir(self.folder)
            shutil.copy(f"{PROGRAMS}/run.sh", self.folder)
            flags = dict(re.findall(r"^FLAGS_(\w+) := (.*)$", read(f"{PROGRAMS}/Makefile"), re.M))
            self.names = [os.path.basename(f)[:-3] for f in sorted(glob.glob(f"{PROGRAMS}/*.cu"))]
            self.names.remove(NEVER_ENDS)
            for n in self.names:
                self.compile(f"programs/{n}", f"{PROGRAMS}/{n}.cu", *flags.get(n, "").split())

    def compile(self, name, *words):
        self.made[name] = self.pool.submit(self.nvcc, name, *words)

    def nvcc(self, name, *words):
        if not self.m.a.nvcc:
            raise RuntimeError("no nvcc (--nvcc)")
        libraries = os.path.join(os.path.dirname(os.path.realpath(self.m.a.nvcc)), "../lib64")
        rc, said = self.m.run([self.m.a.nvcc, "-arch=native", "-O2", *words, "-Xlinker", f"-rpath={libraries}", "-o", f"{self.m.work}/{name}"],
                              NATIVE, 120)
        if rc != 0:
            raise RuntimeError(f"{name} does not compile:\n{said}")
        return f"{self.m.work}/{name}"

    def one(self, name):
        """the path of the program"""
        return self.made[name].result()

    def all(self):
        """the folder with what compiles of selftests/cuda/programs"""
        if all([self.made[f"programs/{n}"].exception() for n in self.names]):   # a list: it waits for each
            self.one(f"programs/{self.names[0]}")
        return self.folder

    def tell(self):
        bad = [n for n in self.names if self.made[f"programs/{n}"].exception()]
        if self.names:
            print(f"\nprograms: {len(self.names) - len(bad)} of {len(self.names)} compile, not {' '.join(bad) or 'one'}", flush=True)


def command(m, programs, row, system):
    """the words of a row's program, and the folder that it runs in"""
    if row in ("static", "shared", "reset", "cublas"):
        return [programs.one(row)], None
    if row == "programs":
        return ["./run.sh", m.environment(system)["LD_LIBRARY_PATH"]], programs.all()
    if row.startswith("built "):
        return ["./" + row[6:]], m.a.built
    script, *steps = {"numba": ["numba_add"], "triton": ["triton_add"], "profiler": ["torch_cover", "profiler"],
                      "nccl": ["torch_cover", "nccl"], SEVERAL: [SEVERAL]}.get(row, [f"{row}_cover"])
    return [m.a.python, f"{HERE}/{script}.py", *steps], None


def judge(rc, said):
    """what the table says of a program, the steps that failed, and whether all is right"""
    steps = re.findall(r"^(ok|not ok) \d+ - (.*)$", said, re.M)
    plan = re.search(r"^1\.\.(\d+)", said, re.M)
    failed = [text for verdict, text in steps if verdict != "ok"]
    if not steps:
        return "PASS" if rc == 0 else "no end" if rc is None else f"FAIL {rc}", failed, rc == 0
    of = int(plan[1]) if plan else "?"
    return f"{len(steps) - len(failed)} of {of}" + ("" if rc is not None else ", no end"), failed, rc == 0 and len(steps) == of


def one_run(m, programs, row, system):
    """a result, as it is written"""
    result = {"row": row, "system": system, "date": datetime.date.today().isoformat(), "commit": m.a.commit, "right": False, "failed": []}
    start = time.monotonic()
    try:
        words, folder = command(m, programs, row, system)
        rc, said = m.run(words, system, LIMITS.get(row, LIMIT), folder)
        result["result"], result["failed"], result["right"] = judge(rc, said)
        result["details"] = re.findall(r"^ok \d+ - (.*)$", said, re.M)
        ours = [line for line in said.splitlines() if line.startswith("libcuda (remote)") or "NCCL WARN" in line]
        rest = [] if result["right"] else [line for line in said.splitlines() if line.strip()][-TAIL:]
        result["said"] = [line for line in ours if line not in rest][:TAIL] + rest
    except OutOfTime:
        result.update(result="not run", said=["the time is up (--seconds)"])
    except (RuntimeError, OSError) as e:
        result.update(result="not run", said=str(e).splitlines()[-TAIL:])
    result["seconds"] = round(time.monotonic() - start, 1)
    return result


def tell_run(r):
    print(f"{r['row']} {r['system']}: {r['result']} ({r['seconds']} s)", flush=True)
    lines = [f"not ok: {f}" for f in r["failed"][:TAIL]]
    if not r["right"] and (not lines or "no end" in r["result"]):
        lines += r["said"][-3 if lines else 0:]
    for line in lines:
        print(f"    {line}", flush=True)


def all_runs(m, rows, keep):
    """several at once: nothing here is timed"""
    if "built" in rows:
        built = sorted(f for f in os.listdir(m.a.built or m.work) if m.a.built and os.access(f"{m.a.built}/{f}", os.X_OK) and ".so" not in f)
        rows = [r for r in rows if r != "built"] + [f"built {f}" for f in built]
    programs = Programs(m, rows)
    with concurrent.futures.ThreadPoolExecutor(m.a.at_once) as pool:
        try:
            asked = [pool.submit(one_run, m, programs, row, system) for row in rows for system in m.systems]
            for done in concurrent.futures.as_completed(asked):
                tell_run(done.result())
                keep(done.result())
        except BaseException:
            m.close()   # a pool waits for its threads
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    programs.tell()


# ---------------------------------------------------------------- how fast


class Worker:
    """a process of speed.py on one system, which is asked for rows"""
    def __init__(self, m, kind, system):
        self.m, self.log, self.lines, self.began = m, f"{m.work}/{kind}-{system}.log", queue.Queue(), time.monotonic()
        with open(self.log, "w") as log:
            self.p = m.start([m.a.python, f"{HERE}/speed.py", kind], system, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.p.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def start(self):
        """the answer to what a process has once: its value is the time since it began"""
        answer = self.ask("start")
        return answer if "error" in answer else {**answer, "value": (time.monotonic() - self.began) * 1e6, "result": None}

    def ask(self, row):
        """the answer; a process that gives none is asked no more"""
        if not self.p:
            return {"error": "its process is gone"}
        limit = min(ANSWER, self.m.left())
        end = time.monotonic() + limit
        why = "the time is up (--seconds)" if limit < ANSWER else f"no answer within {ANSWER} s"
        try:
            self.p.stdin.write(row + "\n")
            self.p.stdin.flush()
            while line := self.lines.get(timeout=max(0.01, end - time.monotonic())):
                if line.startswith('{"row"'):
                    return json.loads(line)
            why = "its process ended"
        except OSError:
            why = "its process ended"
        except queue.Empty:
            pass
        self.close()
        return {"error": ": ".join(filter(None, (why, tail(self.log))))}

    def close(self):
        if self.p:
            self.m.kill(self.p)
        self.p = None


def one_import(m, system):
    try:
        rc, said = m.run([m.a.python, f"{HERE}/speed.py", "import"], system, ANSWER)
    except OutOfTime:
        return {"error": "the time is up (--seconds)"}
    found = [line for line in said.splitlines() if line.startswith('{"row"')]
    return json.loads(found[-1]) if rc == 0 and found else {"error": " / ".join(said.splitlines()[-3:])}


def counted(m, system, ask):
    """the answer of ask(), with what crossed the system's network meanwhile"""
    link = m.links.get(system)
    before = link and link.counts()
    answer = ask()
    if link:
        answer["turns"], answer["bytes"] = (b - a for a, b in zip(before, link.counts()))
    return answer


def samples(m, rows, ask, keep):
    """asks each system in turn. The first answer of each is its start, the second its first sample, which is not in the median."""
    for row in rows:
        systems = [s for s in m.systems if m.asked(s, row)]
        found = {system: [] for system in systems}
        for _ in range(m.a.passes + 2):
            for system in systems:
                if not found[system] or "error" not in found[system][-1]:
                    found[system].append(counted(m, system, lambda s=system, r=row: ask(s, r)))
        keep([summary(m.a.commit, row, system, found[system]) for system in systems])


def summary(commit, row, system, answers):
    out = {"row": row, "system": system, "date": datetime.date.today().isoformat(), "commit": commit}
    if "error" in answers[-1]:
        out["error"] = answers[-1]["error"]
    right = [a for a in answers if "value" in a]
    if right:
        out["start"] = right[0]["value"]
        if "turns" in right[0]:
            out.update(start_turns=right[0]["turns"], start_bytes=right[0]["bytes"])
    if len(right) > 1:
        out["first"] = right[1]["value"]
    if len(right) > 2:
        values = [a["value"] for a in right[2:]]
        out.update(median=statistics.median(values), least=min(values), most=max(values), samples=len(values))
        out.update({key: statistics.median(a[key] / a["steps"] for a in right[2:]) for key in ("turns", "bytes") if key in right[2]})
        if "worst" in right[2]:
            out["worst"] = max(a["worst"] for a in right[2:])
    result = answers[-1].get("result")
    if isinstance(result, float) and not math.isfinite(result):
        out["error"] = f"WRONG: the result is {result}"
    elif result is not None:
        out["result"] = result
    return out


def all_speeds(m, rows, keep):
    for kind in ("torch", "jax"):
        mine, workers, starts = [r for r in rows if SPEED[r].kind == kind], {}, []
        for system in m.systems:    # one by one: they are timed
            if any(m.asked(system, r) for r in mine):
                answer = counted(m, system, lambda k=kind, s=system: workers.setdefault(s, Worker(m, k, s)).start())
                starts.append(summary(m.a.commit, kind + START, system, [answer]))
        if starts:
            keep(starts)
        samples(m, mine, lambda system, row, w=workers: w[system].ask(row), keep)
        for w in workers.values():
            w.close()
    samples(m, [r for r in rows if r == "import"], lambda system, row: one_import(m, system), keep)


# ---------------------------------------------------------------- tables


def runs_table(runs, systems):
    rows = list(dict.fromkeys(r["row"] for r in runs))
    at = {(r["row"], r["system"]): r for r in runs}
    if rows:
        print(f"\n{'what runs':30}" + "".join(f" {s:20}" for s in systems))
    for row in rows:
        native, line = at.get((row, NATIVE)), f"{row:30}"
        for system in systems:
            r = at.get((row, system))
            # a step's text has its time and its error behind its name
            worse = r and native and {f.split(" #")[0] for f in r["failed"]} - {f.split(" #")[0] for f in native["failed"]}
            mark = " !" if r and native and system != NATIVE and (worse or r["result"] != native["result"]) else ""
            line += f" {(r['result'] + mark) if r else '-':20}"
        print(line.rstrip())
    if rows:
        print("!: not as natively")


def same(a, b):
    """sums of floats are not in the same order each time, tokens are"""
    if a is None or b is None or isinstance(b, str):
        return None in (a, b) or a == b
    return abs(a - b) <= 0.01 + 0.05 * abs(b)


def times(row, system, what, mine, native):
    """a time as a multiple of native's, and its aim, None if there is none; None if it can't be said"""
    if system == NATIVE or what not in mine or what not in native:
        return None
    start, steps = AIMS.get(system, (None, ())) if SPEED[row].ratio else (None, ())
    aim = start if what != "median" or row == "import" else next((aim for least, aim in steps if native[what] >= least), None)
    return mine[what] / native[what], aim


def judged(value, aim, unit=""):
    """unit is part of the text of the aim"""
    return "" if aim is None else f" aim {aim:.4g}{unit}: {'met' if value <= aim else 'MISSED'}"


def text(value):
    return f"{value / 1e6:.2f} s" if value >= 1e6 else f"{value / 1000:.3f} ms" if value >= 1000 else f"{value:.1f} us"


def speed_line(row, system, mine, native):
    line = f"    {system:14}"
    for what, width in (("start", 11), ("first", 11), ("median", 11)):
        line += f" {text(mine[what]) if what in mine else '-':>{width}}"
        ratio = times(row, system, what, mine, native)
        line += f" {ratio[0]:>5.2f}{'!' if ratio[1] and ratio[0] > ratio[1] else ' '}" if ratio else " " * 7
    if "median" in mine:
        line += f" ({text(mine['least'])} to {text(mine['most'])})"
        ratio = times(row, system, "median", mine, native)
        line += judged(*ratio) if ratio else ""
        line += judged(mine["median"] / 1000, SPEED[row].most and SPEED[row].most / 1000, " ms")
    if "worst" in mine:
        line += f"; worst {text(mine['worst'])}"
    if "turns" in mine:     # what one sample asks beside its steps is not of the steps
        line += f"; turns a step: {mine['turns']:.2f}{judged(round(mine['turns'], 1), SPEED[row].turns)}"
    if "start_turns" in mine:
        line += f"; start: {mine['start_turns']} turns, {mine['start_bytes'] / 1e6:.1f} MB"
    if not same(mine.get("result"), native.get("result")):
        line += f"  WRONG: {mine['result']}, natively {native['result']}"[:200]
    return line + (f"  {mine['error']}"[:300] if "error" in mine else "")


def speeds_table(speeds, systems):
    rows = [r for r in SPEED if any(s["row"] == r for s in speeds)]
    at = {(s["row"], s["system"]): s for s in speeds}
    if rows:
        print("\nhow fast: each with its multiple of native's, ! above the aim; median (least to most) of samples in turn, without the first"
              f"\n    {'':14} {'start':>11} {'':6} {'first':>11} {'':6} {'median':>11}")
    for row in rows:
        print(SPEED[row].text)
        for system in systems:
            if (row, system) in at:
                print(speed_line(row, system, at[row, system], at.get((row, NATIVE), {})).rstrip())
        if SPEED[row].lupine:
            print(f"    {'Lupine':14} {SPEED[row].lupine} times native, by TCP: recorded on 2026-11-27, not of this run")


def report_rows(speeds):
    """as remote_report.py takes them"""
    out = []
    at = {(s["row"], s["system"]): s for s in speeds if s["row"] in SPEED}
    for (row, system), s in at.items():
        for what, suffix in (("start", ", the start"), ("first", ", the first sample"), ("median", "")):
            name, ratio = f"{SPEED[row].text}: {system}", times(row, system, what, s, at.get((row, NATIVE), {}))
            if what == "median" and what in s:
                most = SPEED[row].most
                out.append({"name": name, "value": round(s[what], 3), "unit": "us", **({"aim": f"<= {most:g}"} if most else {})})
            if ratio:
                out.append({"name": f"{name}: remote time to native{suffix}", "value": round(ratio[0], 3), "unit": "times",
                            "aim": ratio[1] and f"<= {ratio[1]:.3g}"})
        if "turns" in s:
            out.append({"name": f"{SPEED[row].text}: {system}: turns", "value": round(s["turns"], 1), "unit": "turns",
                        "aim": SPEED[row].turns and f"<= {SPEED[row].turns:g}"})
    return out


class Results:
    """what is written after each row, so that a run that is cut short leaves what it has"""
    def __init__(self, a):
        self.path = f"{a.out}/remote-modern.json"
        self.runs, self.speeds, self.new = [], [], []
        try:
            with open(self.path) as f:
                old = json.load(f)
            self.runs, self.speeds = old["runs"], [r for r in old["speeds"] if r["row"] in SPEED]
        except (OSError, ValueError, KeyError):
            pass
        self.gpu = gpu()

    def keep(self, where, results):
        for r in results:
            r["gpu"] = self.gpu
        rows = {r["row"] for r in results}
        where[:] = [r for r in where if r["row"] not in rows or r in self.new]     # those of an earlier run had another native
        where += results
        self.new += results
        with open(self.path + ".new", "w") as f:
            json.dump({"gpu": self.gpu, "rows": report_rows(self.speeds), "speeds": self.speeds, "runs": self.runs}, f, indent=1)
        os.replace(self.path + ".new", self.path)

    def show(self, systems):
        print(f"\n{self.gpu}, {os.cpu_count()} CPUs")
        runs_table([r for r in self.runs if r in self.new], systems)
        speeds_table([s for s in self.speeds if s in self.new], systems)
        print(f"\nwritten: {self.path}")


def gpu():
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    return ", driver ".join(said.splitlines()[0].split(", ")) if said else "an unknown GPU"


def loaders_library():
    paths = [f"{p}/libcuda.so.1" for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    try:
        paths += re.findall(r"libcuda\.so\.1 .*=> (\S+)", subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout)
    except OSError:
        pass
    return next((p for p in paths if os.path.exists(p)), None)


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("rows", nargs="*", metavar="ROW")
    p.add_argument("--remote", required=True, type=os.path.abspath)
    p.add_argument("--carriers", default="aperture,unix,tls", type=lambda t: [carrier(w) for w in t.split(",")])
    p.add_argument("--link")
    p.add_argument("--library", default=loaders_library())
    p.add_argument("--python", default="python3", type=shutil.which)
    p.add_argument("--nvcc", default=shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"), type=shutil.which)
    p.add_argument("--built", type=os.path.abspath)
    p.add_argument("--out", default=os.path.join(HERE, "../../../../build/bench"), type=os.path.abspath)
    p.add_argument("--seconds", type=float, default=570)
    p.add_argument("--passes", type=int, default=5)
    p.add_argument("--at-once", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    p.add_argument("--commit", default="")
    a = p.parse_args()
    a.rows = list(dict.fromkeys(r for word in a.rows or ["all"] for r in GROUPS.get(word, (word,))))
    for wrong in [r for r in a.rows if r not in (*GROUPS["all"], SEVERAL)]:
        p.error(f"{wrong} is not a row")
    if not a.library or not os.path.exists(a.library):
        p.error("there is no libcuda.so.1: --library names NVIDIA's")
    if not a.python:
        p.error("--python: there is no such program")
    for name in ("libcuda.so.1", "kvgpu-remoted", *(("kvgpu-run", "kvgpu-relay-local") if RUN in [c.base for c in a.carriers] else ())):
        if not os.path.exists(f"{a.remote}/{name}"):
            p.error(f"{a.remote} has no {name}: --remote wants the folder that make remote prints, for the carrier run make cluster")
    a.link = a.link or f"{a.remote}/link"
    if any(c.rtt is not None for c in a.carriers) and not os.access(a.link, os.X_OK):
        p.error(f"{a.link} is no program: --link wants ../link.c, built")
    return a


def main():
    a = arguments()
    os.makedirs(a.out, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("run.py: told to end"))
    results = Results(a)
    with tempfile.TemporaryDirectory(prefix="kvgpu-modern-", ignore_cleanup_errors=True) as work:
        m = Machine(a, work)
        try:
            if any(s not in (NATIVE, RUN) for s in m.systems):
                m.start_server()
            all_runs(m, [r for r in a.rows if r not in SPEED], lambda r: results.keep(results.runs, [r]))
            all_speeds(m, [r for r in a.rows if r in SPEED], lambda s: results.keep(results.speeds, s))
        except RuntimeError as e:
            sys.exit(f"run.py: {e}")
        finally:
            m.close()
            results.show(m.systems)


if __name__ == "__main__":
    main()
