#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""trace.py JSON END: a trace of traced.c has what that program did, and ended as END says.
trace.py ask SOCKET ID: the head of the server's answer about a trace of client ID."""
import collections
import json
import socket
import sys

CALLS, GPU = 1, 2
# launches and copies of traced.c: of these on the GPU; those in a capture are calls alone
WANTED = {"spin": 21, "scramble": 10, "cuGraphLaunch": 6, "copy_in": 5, "copy_out": 3, "cuMemsetD8Async": 4}
CAPTURED = {"shape": 3}


def ask(path, client):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(f"traced {client} 0\n".encode())
    print(s.makefile(errors="replace").readline().strip())


def spans(trace, pid):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == pid]


def check(path, end):
    trace = json.load(open(path))
    other = trace["otherData"]
    assert end in other["end"] and not other["dropped"] and not other["wrong"], other
    calls, gpu = spans(trace, CALLS), spans(trace, GPU)
    count = collections.Counter(e["name"] for e in gpu)
    assert count == WANTED, f"on the GPU: {count}"
    count = collections.Counter(e["name"] for e in calls if e["cat"] != "wait")
    assert count == {**WANTED, **CAPTURED}, f"calls: {count}"
    assert all((e["name"] in CAPTURED) == (e["args"]["gpu"] == "captured") for e in calls if e["cat"] != "wait")
    waits = [e for e in calls if e["cat"] == "wait"]
    assert {"cuStreamSynchronize", "cuCtxSynchronize"} <= {e["name"] for e in waits}, waits
    assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in calls + gpu)
    # the last call waits for all that went before
    last = max(e["ts"] + e["dur"] for e in waits)
    assert all(e["ts"] + e["dur"] <= last for e in gpu), "work ends behind the wait for it"
    begins = {e["id"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "f"}
    assert len(begins) == len(gpu) and begins.keys() == ends.keys()
    assert all(begins[i] <= ends[i] for i in begins), "work begins before its call"
    for row in {e["tid"] for e in gpu}:
        upto = 0
        for e in [e for e in gpu if e["tid"] == row]:
            assert round(e["ts"] * 1000) >= upto, f"{e} begins before what is ahead of it in the stream has ended, {upto} ns"
            upto = round(e["ts"] * 1000) + round(e["dur"] * 1000)


if sys.argv[1] == "ask":
    ask(*sys.argv[2:])
else:
    check(*sys.argv[1:])
