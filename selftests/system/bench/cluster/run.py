#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run.py WHAT... --folder F --programs P --library L --cudart C --out OUT [--mpi M] [--link LINK] [--quick]
       [--count N] [--sizes N,...] [--gpus N] [--cards N] [--matrix N] [--grid N]

The programs of this folder (built, in P), locally and by kvgpu-run (in F), whose servers have the libcuda.so.1 L; C is our
libcudart.so.11.0. WHAT: mpi, what the link carries without kvgpu-run; matrix, the paper's table 1; paced, the same with the paper's
balance of computing to copies; fft, its table 2; gpus, programs on 1, 2, 4, ... --gpus (8) GPUs, beside the same written with MPI.
L has --cards (1) GPUs: on more, a program with paced GPUs alone is run. LINK is how MPI's messages go, all on this machine: shm,
MPI's shared memory; tcp, over the loopback; paced, the same in a network namespace whose loopback carries 3,650 MB/s, as the paper's
InfiniBand. Each time of tables 1 and 2 is the median of --count (3), and --sizes (all) are those of table 1. --matrix and --grid are
the sizes of gpus. Prints what it runs, and writes OUT/remote-cluster-WHAT-LINK.json."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LINKS = {"shm": "MPI's shared memory", "tcp": "TCP over the loopback", "paced": "TCP over a link of 3,650 MB/s"}
TCP = {"openmpi": {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_pml": "ob1"},
       "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "lo"}}
PACED_BITS = 3650 * 8       # million a second
PLACES = ("local, pageable", "local, pinned", "remote, pipelined", "remote, not pipelined")
SPINNING = "remote, pipelined, relays that spin for 5 ms"
AS_IT_IS = "as it is"
# the paper's local column of table 1 is about COMPUTES * n^3 + COPIES * n^2 seconds
COMPUTES, COPIES = 7.514e-12, 5.104e-9
AIMS = {"matrix": ("matrix products of 8192 and more, pipelined, paced kernel: over local pageable", "%", "<= 1"),
        "fft": ("FFTs of 4096 points and more: over local", "%", "<= 3"), "points": ("FFTs of 8 points: over local", "ms", "<= 0.02"),
        "two": ("two GPUs of two servers, one program: to one", "times", ">= 1.9")}


def paper():
    """{table: {n: (local, pipelined, not pipelined)}} in ms"""
    out = {"matrix": {}, "fft": {}}
    with open(f"{HERE}/paper.tsv") as f:
        for line in f:
            if not line.startswith("#"):
                table, n, *times = line.split("\t")
                out[table][int(n)] = tuple(float(t) * (1000 if table == "matrix" else 1) for t in times)
    return out


class Runner:
    def __init__(self, a, work):
        self.a, self.work, self.gpu = a, work, ""
        self.env = dict(os.environ)
        os.mkdir(f"{work}/local")
        os.mkdir(f"{work}/cudart")
        os.symlink(os.path.abspath(a.library), f"{work}/local/libcuda.so.1")
        for folder in ("local", "cudart"):
            os.symlink(os.path.abspath(a.cudart), f"{work}/{folder}/libcudart.so.11.0")
        if a.link != "shm":
            self.env.update(TCP[a.mpi])
        self.root = ["--allow-run-as-root"] if a.mpi == "openmpi" else []

    def command(self, words, folder):
        env = {**self.env, "LD_LIBRARY_PATH": ":".join(p for p in (f"{self.work}/{folder}", self.env.get("LD_LIBRARY_PATH")) if p)}
        print("+", " ".join(os.path.basename(w) if "/" in w else w for w in words), flush=True)
        r = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=False)
        print(r.stdout, end="", flush=True)
        if r.returncode:
            raise SystemExit(f"run.py: {words[0]}: exit code {r.returncode}")
        found = re.search("^gpu (.*)$", r.stdout, re.M)
        if found:
            self.gpu = re.sub(" on [^ ]*$", "", found[1])
        return r.stdout

    def local(self, program, *words):
        return self.command([f"{self.a.programs}/{program}", *words], "local")

    def mpi(self, ranks, program, *words):
        over = ["--oversubscribe"] if self.a.mpi == "openmpi" else []
        return self.command([f"mpirun.{self.a.mpi}", *self.root, *over, "-n", str(ranks), f"{self.a.programs}/{program}", *words], "local")

    def remote(self, gpus, options, program, *words):
        return self.command([f"{self.a.folder}/kvgpu-run", "--mpi", self.a.mpi, "--trust-network", *self.root, "--gpus", str(gpus), "--share",
                             "--library", os.path.abspath(self.a.library), "--client", self.a.folder, *options,
                             f"{self.a.programs}/{program}", *words], "cudart")


def lines(text):
    """{n: {"whole": ms, "copies": ms, "kernel": ms}}"""
    out = {}
    for n, rest in re.findall(r"^(?:matrix|fft) \w+ (\d+) (.*)$", text, re.M):
        words = rest.split()
        out[int(n)] = dict(zip(words[::2], map(float, words[1::2])))
    return out


def measure(r, table, sizes, places):
    """{place: {n: times}} of the sizes, each n or n:microseconds"""
    whole = ["--pipeline", "off", "--arena", "64M" if r.a.quick else "12G"]     # an eighth holds the largest matrix
    out = {}
    for place in places:
        words = [table, "pinned" if place.endswith("pinned") else "pageable", str(r.a.count), *sizes]
        if place.startswith("local"):
            out[place] = lines(r.local("tables", *words))
        else:
            options = {PLACES[3]: whole, SPINNING: ["--spin", "5000"]}.get(place, [])
            out[place] = lines(r.remote(1, options, "tables", *words))
    return out


def rows_of(table, kind, link, found):
    what = "table 1, matrices of" if table == "matrix" else "table 2, FFTs of"
    rows = []
    for place, by_size in found.items():
        where = "" if place.startswith("local") else f", {LINKS[link]}"
        for n, t in by_size.items():
            for part in ("whole", "copies", "kernel"):
                if part == "kernel" and (place != PLACES[0] or kind != AS_IT_IS):
                    continue
                name = f"{what} {n}, {kind}: {place}{where}" + ("" if part == "whole" else f", {part} alone")
                rows.append({"name": name, "value": t[part], "unit": "ms"})
    return rows


def aim_row(key, value, link):
    name, unit, aim = AIMS[key]
    return {"name": name if link == "shm" else f"{name}, {LINKS[link]}", "value": round(value, 4), "unit": unit, "aim": aim}


def over_local(found, least):
    """the worst of these sizes, in percent"""
    return max(100 * (found[PLACES[2]][n]["whole"] / t["whole"] - 1) for n, t in found[PLACES[0]].items() if n >= least)


def sizes(r, table):
    if r.a.quick:
        return [64, 128] if table == "matrix" else [8, 16]
    return [n for n in sorted(paper()[table]) if table == "fft" or not r.a.sizes or n in r.a.sizes]


def matrix(r):
    places = PLACES if r.a.link == "shm" else PLACES[2:]
    return rows_of("matrix", AS_IT_IS, r.a.link, measure(r, "matrix", [str(n) for n in sizes(r, "matrix")], places))


def paced(r):
    """over shared memory a kernel that keeps the paper's balance with local copies here; else the paper's own times of computing"""
    ns, link = sizes(r, "matrix"), r.a.link
    if link != "shm":
        found = measure(r, "matrix", [f"{n}:{round(1e6 * COMPUTES * n ** 3)}" for n in ns], PLACES[2:])
        return rows_of("matrix", "computing as long as the paper's", link, found)
    probe = [f"{n}:1" for n in (ns if r.a.quick else (2048, 4096, 8192))]
    each = sorted(t["copies"] / n ** 2 for n, t in measure(r, "matrix", probe, PLACES[:1])[PLACES[0]].items())[len(probe) // 2]
    found = measure(r, "matrix", [f"{n}:{max(1, round(1000 * each * COMPUTES / COPIES * n ** 3))}" for n in ns],
                    (PLACES[0], *PLACES[2:]))
    rows = rows_of("matrix", "balance as the paper's", link, found)
    least = 0 if r.a.quick else 8192
    return rows + ([aim_row("matrix", over_local(found, least), link)] if max(ns) >= least else [])


def fft(r):
    found = measure(r, "fft", [str(n) for n in sizes(r, "fft")], (*PLACES, SPINNING) if r.a.link == "shm" else PLACES[2:])
    rows = rows_of("fft", AS_IT_IS, r.a.link, found)
    if r.a.link == "shm":
        rows.append(aim_row("fft", over_local(found, 0 if r.a.quick else 4096), r.a.link))
        rows.append(aim_row("points", found[PLACES[2]][8]["whole"] - found[PLACES[0]][8]["whole"], r.a.link))
    return rows


def mpi(r):
    """what the link carries without kvgpu-run"""
    said = r.mpi(2, "cluster_mpi", "3", str(1 << 20))
    return [{"name": f"{r.a.mpi} by itself, 64 MiB in messages of 1 MiB, {LINKS[r.a.link]}", "unit": "MB/s",
             "value": float(re.search(r"^mpi to 67108864 ([\d.]+)$", said, re.M)[1])}]


def told(text):
    """(ms, checksum) of the programs with several GPUs"""
    found = re.search(r"gpus \d+ n \d+ ms ([\d.]+) sum (\w+)", text)
    return float(found[1]), found[2]


def code_lines(program):
    """without blank lines and comments"""
    with open(f"{HERE}/{program}.cu") as f:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip())


def several(r):
    """(name, program, its arguments, how many GPUs): paced GPUs may be one card, in slices of time"""
    counts = [n for n in (1, 2, 4, 8, 16) if n <= r.a.gpus]
    n, grid, steps, power, us = (256, 256, 20, 4, 200000) if r.a.quick else (r.a.matrix, r.a.grid, 200, 100, 4000000)
    real = [c for c in counts if c <= r.a.cards]
    half = n // 2
    return ((f"matrix product of {half}, paced GPUs of {us / 1e6:g} s", "matrix", (half, 1, us), counts),
            (f"matrix product of {n}", "matrix", (n, 1), real), (f"matrix of {n} times another one {power} times", "matrix", (n, power), real),
            (f"Jacobi, {grid} by {grid}, {steps} iterations", "jacobi", (grid, steps), real))


def gpus(r):
    rows, link = [], LINKS[r.a.link]
    for name, program, words, counts in several(r):
        words = [str(w) for w in words]
        times, sums = {}, set()
        for n in counts:
            for form, text in (("kvgpu-run", r.remote(n, ["--arena", "1G"], f"{program}_plain", *words)),
                               ("MPI and CUDA", r.mpi(n, f"{program}_mpi", *words))):
                times[form, n], found = told(text)
                sums.add(found)
                rows.append({"name": f"{name}, {n} GPUs: {form}, {link}", "value": times[form, n], "unit": "ms"})
                if n > 1:
                    rows.append({"name": f"{name}, {n} GPUs to one: {form}, {link}", "unit": "times",
                                 "value": round(times[form, 1] / times[form, n], 3)})
        if len(sums) > 1 and "paced" not in name:
            raise SystemExit(f"run.py: {name}: results differ: {sums}")
        if ("kvgpu-run", 2) in times and "times another" in name:
            rows.append(aim_row("two", times["kvgpu-run", 1] / times["kvgpu-run", 2], r.a.link))
    for program in ("matrix_plain", "matrix_mpi", "jacobi_plain", "jacobi_mpi"):
        rows.append({"name": f"lines of code of {program}.cu", "value": code_lines(program), "unit": "lines"})
    return rows


def alone(link):
    """This process goes on in a network namespace, where others don't reach what mpirun listens at. "paced": its loopback is as
    fast as the paper's link."""
    if not os.environ.get("KVGPU_BENCH_ALONE"):
        os.environ["KVGPU_BENCH_ALONE"] = "1"
        os.execvp("unshare", ["unshare", "-n" if link == "paced" else "-Urn", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    if link == "paced":
        subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", f"{PACED_BITS}mbit", "burst", "1mb", "latency", "50ms"],
                       check=True)


WHAT = {"mpi": mpi, "matrix": matrix, "paced": paced, "fft": fft, "gpus": gpus}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("what", nargs="+", choices=WHAT)
    for name in ("folder", "programs", "library", "cudart", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--mpi", default="openmpi")
    p.add_argument("--link", default="shm", choices=LINKS)
    p.add_argument("--count", type=int, default=3)
    p.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], help="of table 1; all")
    p.add_argument("--gpus", type=int, default=8)
    p.add_argument("--cards", type=int, default=1)
    p.add_argument("--matrix", type=int, default=8192)
    p.add_argument("--grid", type=int, default=16384)
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    alone(a.link)
    for what in a.what:
        with tempfile.TemporaryDirectory() as work:
            r = Runner(a, work)
            rows = WHAT[what](r)
        path = f"{a.out}/remote-cluster-{what}-{a.link}.json"
        with open(path, "w") as f:
            json.dump({"gpu": r.gpu, "rows": rows}, f, indent=0)
        print(f"{len(rows)} rows: {path}")


if __name__ == "__main__":
    main()
