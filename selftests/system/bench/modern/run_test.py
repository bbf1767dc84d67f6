#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run_test.py LINK     TAP: run.py on made-up answers, worked out by hand: names of carriers, what becomes of samples, what is judged. Then
all of it with a made-up server and made-up programs, through LINK (../link.c)."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import run

FAR = "tls+100us@25"
results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}", flush=True)


def refused(word):
    try:
        run.carrier(word)
    except argparse.ArgumentTypeError:
        return True
    return False


def carriers():
    check(run.carrier("tls+2ms@10:mlp:gpt") == ("tls+2ms@10", "tls", 2000, 10, ("mlp", "gpt")) and
          run.carrier("aperture") == ("aperture", "aperture", None, None, ()), "a carrier, its network and its rows")
    check(all(map(refused, ("tls+2s@10", "tls+2ms", "unix+2ms@10", "rdma", "tls:nothing", ""))), "others are refused")


def answer(value, turns=None, size=None, **more):
    return {"value": value, "steps": 10, **({} if turns is None else {"turns": turns, "bytes": size}), **more}


def summaries():
    got = run.summary("c", "mlp", FAR, [answer(9e6, 70, 5000000), answer(20, 30, 9), answer(10, 20, 9), answer(14, 10, 9), answer(11, 12, 9, result=0.5)])
    want = {"start": 9e6, "start_turns": 70, "start_bytes": 5000000, "first": 20, "median": 11, "least": 10, "most": 14, "samples": 3,
            "turns": 1.2, "result": 0.5}
    check({key: got.get(key) for key in want} == want, "the start and the first sample are apart, turns are of a step")
    got = run.summary("c", "mlp", "tls", [answer(9e6), answer(20), {"error": "the time is up"}])
    check(got["first"] == 20 and got["error"] == "the time is up" and "median" not in got, "what was measured before an error stays")
    check(run.summary("c", "mlp", "tls", [answer(1, result=float("nan"))])["error"].startswith("WRONG"), "a loss that is no number")
    check(run.summary("c", "beside-bulk", "tls", [answer(1, worst=99), answer(1, worst=50), answer(1, worst=7), answer(1, worst=8)])["worst"] == 8,
          "the worst call of the samples")


def judgements():
    def median(system, mine, native, row="mlp"):
        return run.times(row, system, "median", {"median": mine}, {"median": native})
    check([median("aperture", 2.2, 2), median("tls", 2.2, 2), median("native", 1, 1), median("aperture", 2, 2, "import")] ==
          [(1.1, 1.05), (1.1, 1.5), None, (1, 1.2)], "an aim for each carrier, and an import is a start")
    check([median(FAR, 8000, 5000), median(FAR, 8000, 4000)] == [(1.6, 1.3), (2, 2)], "over a network it depends on the step's length")
    check(median("tls", 8, 4, "call") == (2, None) and run.times("mlp", "tls", "start", {"start": 8}, {}) is None, "rows without an aim, and without native")
    check(run.same(1.04, 1.0) and not run.same(1.2, 1.0) and run.same("1 2", "1 2") and not run.same("1 2", "1 3"), "losses are near, tokens equal")
    native = {"start": 1e6, "first": 2000, "median": 1000, "least": 900, "most": 1100, "result": 1.0}
    mine = {"start": 3e6, "first": 2200, "median": 2500, "least": 2400, "most": 2600, "result": 3.0, "turns": 1.04, "start_turns": 9, "start_bytes": 5e6}
    line = run.speed_line("mlp", FAR, mine, native)
    check(all(part in line for part in ("3.00 s  3.00 ", "2.200 ms  1.10 ", "2.500 ms  2.50!", "aim 2: MISSED", "turns a step: 1.04 aim 1: met",
                                        "start: 9 turns, 5.0 MB", "WRONG: 3.0, natively 1.0")), "a line says all of it")
    check("3.00!" in run.speed_line("mlp", "tls", mine, native), "a start has an aim, too")
    bulk = {**native, "median": 2500, "worst": 7000, "result": None}
    check("aim 2 ms: MISSED; worst 7.000 ms" in run.speed_line("beside-bulk", "tls", bulk, native), "an aim in ms")
    rows = {r["name"].split(": ", 1)[1]: r for r in run.report_rows([{"row": "mlp", "system": "native", **native}, {"row": "mlp", "system": "tls", **mine}])}
    check((rows["a step: tls: remote time to native"]["value"], rows["a step: tls: remote time to native, the start"]["aim"],
           rows["a step: tls: turns"]["value"]) == (2.5, "<= 1.5", 1), "rows of the report")


SERVER = """#!/usr/bin/env python3
import socket, sys, threading
def echo(s):
    while got := s.recv(4096):
        s.sendall(got)
port = next(w.split(":")[2] for w in sys.argv if w.startswith("tcp:"))
listener = socket.create_server(("127.0.0.1", int(port)))
print("listens at", "listens at", file=sys.stderr, flush=True)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
# asks three times for a start or a first step, and twice a step then
PROGRAM = """#!/usr/bin/env python3
import json, os, socket, sys
at, seen = os.environ.get("KVGPU_REMOTE"), set()
s = at and socket.create_connection(("127.0.0.1", int(at.split(":")[2])))
for row in map(str.strip, sys.stdin):
    if row == "cnn":
        break
    for _ in range(20 if row in seen else 3):
        if s:
            s.sendall(b"question")
            s.recv(8, socket.MSG_WAITALL)
    print(json.dumps({"row": row, "value": 100 * (2 if s else 1), "steps": 10, "result": 1.0}), flush=True)
    seen.add(row)
"""


def whole():
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("kvgpu-remoted", SERVER), ("python", PROGRAM), ("libcuda.so.1", "")):
            with open(f"{folder}/{name}", "w") as f:
                f.write(content)
            os.chmod(f"{folder}/{name}", 0o755)
        p = subprocess.run([f"{run.HERE}/run.py", "mlp", "cnn", "gpt", "--remote", folder, "--carriers", "tcp,tcp+0us@25:mlp", "--link", sys.argv[1],
                            "--library", f"{folder}/libcuda.so.1", "--python", f"{folder}/python", "--passes", "2", "--out", folder],
                           capture_output=True, text=True, check=False, timeout=60)
        if p.returncode:
            print(p.stdout, p.stderr, sep="\n")
        with open(f"{folder}/remote-modern.json") as f:
            at = {(s["row"], s["system"]): s for s in json.load(f)["speeds"]}
    far = at["mlp", "tcp+0us@25"]
    check((far["median"], far["samples"], far["start_turns"], far["start_bytes"], far["turns"]) == (200, 2, 3, 48, 2) and
          at["mlp", "native"]["median"] == 100 and at["torch-start", "tcp+0us@25"]["start_turns"] == 3, "a run: turns at the start and of a step")
    check(("gpt", "tcp+0us@25") not in at and "its process ended" in at["cnn", "native"]["error"] and "its process is gone" in p.stdout,
          "a row that is not asked for, a process that ended")


def main():
    carriers()
    summaries()
    judgements()
    whole()
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
