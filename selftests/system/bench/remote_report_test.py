#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: remote_report.py on made-up measurements, worked out by hand: which rows there are, which of two stays, what is judged; and
what lies beside it: the recorded rows are whole, and the plots of them say where they were measured."""
import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import tempfile

import remote_plot
import remote_report

CALL = "asked, nothing to do: cuCtxGetFlags, p50"
BURST = "a launch for the caller, in a burst of 100, p50 of bursts"
STEP = "a step: 4 KiB in, 20 launches, 4 bytes out, waited for"
COPY = "pinned memory to the GPU, 1024 KiB"
ASKED = "a call that is asked, nothing to do on the server, p50: aperture"
LOOP = "the training loop: native time to remote"
COPIED = "pinned memory to the GPU, 1 MiB: of native"
OWN = {"aims": [{"name": ASKED, "unit": "us", "aim": "<= 0.5"}, {"name": LOOP, "unit": "times", "aim": ">= 0.95"},
                {"name": "exits", "unit": "exits", "aim": "<= 0"}],
       "recorded": [{"name": LOOP, "value": 0.6, "range": [0.6, 0.7], "unit": "times", "aim": ">= 0.95", "where": "elsewhere",
                     "commit": "abc", "date": "2026-01-01"}]}

results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}")


def quietly(*argv):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = remote_report.main(list(argv))
    return status, said.getvalue()


def write(path, what):
    with open(path, "w") as f:
        json.dump(what, f)


def read(path):
    with open(path) as f:
        return json.load(f)


def calls(out, gpu, call, step):
    for carrier, factor in (("native", 1), ("aperture", 4), ("unix", 10)):
        rows = [(CALL, call * factor, "us"), (BURST, 8 / factor, "us"), (STEP, step if carrier == "native" else step * 1.25, "us"),
                (COPY, 40 / factor, "GB/s")]
        write(f"{out}/remote-calls-{carrier}.json",
              {"rows": [{"where": carrier, "name": n, "value": v, "unit": u} for n, v, u in rows], "gpu": gpu})


def by_name(out, where=None):
    return {r["name"]: r for r in read(f"{out}/remote.json")["rows"] if where is None or r["where"] == where}


def rows_of_runs(out, own):
    def run(*more):
        return quietly(out, *more, "--rows", own, "--commit", "c1", "--date", "2026-02-02")

    status, said = run()
    rows = read(f"{out}/remote.json")["rows"]
    check(status == 0 and all(set(remote_report.KEYS) <= set(r) for r in rows) and len(rows) == 3,
          "nothing measured: the recorded row and the two missing ones")
    found = by_name(out)
    exits, loop = found["exits"], found[LOOP]
    check(exits["missing"] and exits["met"] is None and loop["recorded"] and loop["met"] is False and "missing" not in loop,
          "what is missing is not met; what was recorded is judged")
    check("RECORDED, not of this run: elsewhere, abc, 2026-01-01" in said and "nobody has measured" in said, "the table says both")
    calls(out, "Tesla K20m (in this process)", 0.1, 100)
    run("--where", "here")
    found = by_name(out)
    asked = found[ASKED]
    check(asked["value"] == 0.4 and asked["met"] and asked["commit"] == "c1" and asked["date"] == "2026-02-02",
          "a call of 0.4 us meets its aim; the row says of when and of what it is")
    check(COPIED not in found and found[LOOP]["where"] == "elsewhere", "aims for real GPUs are not judged on a model")
    calls(out, "NVIDIA X", 0.2, 100)
    run("--where", "there")
    found = by_name(out, "there")
    check(found[ASKED]["met"] is False and found[LOOP]["value"] == 0.8 and found[LOOP]["met"] is False and
          found[COPIED]["value"] == 25 and found[COPIED]["unit"] == "%", "on a real GPU they are: 0.8 of native's speed, 25 % of its bandwidth")
    check(by_name(out, "here")[ASKED]["value"] == 0.4 and by_name(out, "elsewhere")[LOOP]["recorded"], "rows of other places stay")


def copies_and_streams():
    with tempfile.TemporaryDirectory() as out:
        own = f"{out}/own.json"
        write(own, {"aims": [], "recorded": []})
        name = "pinned memory to the GPU, 65536 KiB"
        for carrier, value in (("unix", 4.4), ("tcp", 7), ("tls", 1)):
            write(f"{out}/remote-calls-{carrier}.json", {"rows": [{"where": carrier, "name": name, "value": value, "unit": "GB/s"}], "gpu": "NVIDIA X"})
        write(f"{out}/remote-streams.json", {"rows": [
            {"where": carrier, "name": "a raw stream, 65536 KiB", "value": value, "unit": "GB/s"}
            for carrier, value in (("unix", 5), ("tcp", 20), ("tls", 2))]})
        quietly(out, "--rows", own)
        found = by_name(out)
    of = {c: found[f"pinned memory to the GPU, 64 MiB: {c}: of {n} GB/s, or of 0.8 of a raw stream"] for c, n in remote_report.STREAMS.items()}
    check([of[c]["value"] for c in ("unix", "tcp", "tls")] == [110.0, 116.7, 62.5] and of["unix"]["met"] and of["tls"]["met"] is False and
          found["a raw stream, 64 MiB: tcp"]["value"] == 20, "copies over sockets are judged by a raw stream of the same run, or by their aim")


def worse_of_passes():
    """rows of the cluster's benchmarks and of PyTorch, twice: MB/s; percent of what MPI carries; how many times as fast as one GPU; and others"""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        own = f"{one}/own.json"
        write(own, {"aims": [], "recorded": []})
        for out, value in ((one, 10), (two, 20)):
            write(f"{out}/remote-cluster-x.json", {"gpu": "NVIDIA X", "rows": [
                {"name": f"{unit} {aim}", "value": value, "unit": unit, "aim": aim}
                for unit in ("GB/s", "MB/s", "million/s", "%", "times", "ms", "s", "us") for aim in (None, "<= 15", ">= 15")]})
            write(f"{out}/remote-modern.json", {"gpu": "NVIDIA X", "rows": [{"name": "PyTorch", "value": value, "unit": "us"}]})
        quietly(one, two, "--rows", own)
        found = {name: r["value"] for name, r in by_name(one).items()}
    check(found.pop("PyTorch", 0) == 20 and len(found) == 24 and all(v == 20 for n, v in found.items() if n.endswith("<= 15")) and
          all(v == 10 for n, v in found.items() if n.endswith(">= 15")), "of two passes the value that is further from its aim")


def records(out, own):
    before = len(read(own)["recorded"])
    quietly("record", f"{out}/remote.json", "--rows", own)
    recorded = read(own)["recorded"]
    check(len(recorded) > before and not any(r.get("missing") or r["value"] is None for r in recorded) and
          len([r for r in recorded if r["name"] == LOOP and r["where"] == "elsewhere"]) == 1 and read(own)["aims"] == OWN["aims"],
          "what was measured can be recorded, what was recorded or is missing not again")


def of_cluster(name):
    """a script of cluster/, whose names are those of scripts here"""
    spec = importlib.util.spec_from_file_location(f"cluster_{name}", os.path.join(remote_report.HERE, f"cluster/{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def what_is_kept():
    data = read(remote_report.ROWS)
    aims, recorded = data["aims"], data["recorded"]
    check(all(r["where"] and r["commit"] and r["date"] and r["value"] is not None for r in recorded) and
          len({(r["name"], r["where"]) for r in recorded}) == len(recorded),
          "each recorded row says where, of what and when; none is there twice")
    check(all(min(r["range"]) <= r["value"] <= max(r["range"]) for r in recorded if "range" in r), "values lie in their ranges")
    known = {a["name"]: a["aim"] for a in aims}
    check(len(known) == len(aims) and all(known.get(r["name"], r.get("aim")) == r.get("aim") for r in recorded),
          "a recorded row has its name's aim")
    plot, run = of_cluster("plot"), of_cluster("run")
    for name, text in [*remote_plot.plots(recorded), *plot.plots(recorded)]:
        check(not any(f"({r['commit']}" in text for r in recorded), f"{name} names no commit")
        where = "Measured on the GPU model" if name == "remote-cpu.svg" else "Measured on a GPU: "
        check(re.search(rf">{where}", text), f"{name} says whether it is of a GPU or of the model")
    fit = [1000 * (run.COMPUTES * n ** 3 + run.COPIES * n ** 2) / t[0] for n, t in run.paper()["matrix"].items()]
    check(len(fit) == 16 and max(abs(f - 1) for f in fit) < 0.016, "the balance of computing to copies is that of the paper's table 1")


def main():
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as kept:
        own = f"{kept}/rows.json"
        write(own, OWN)
        rows_of_runs(out, own)
        records(out, own)
    copies_and_streams()
    worse_of_passes()
    what_is_kept()
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
