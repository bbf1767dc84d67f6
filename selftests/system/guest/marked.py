#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""marked.py OUT.json SNAPSHOT -- CMD...: runs a program that prints marks around what it measures (selftests/system/client/mark.h).

At each line "# mark NAME begin" and "# mark NAME end" this takes a snapshot of counters, and
then lets the program go on. SNAPSHOT is a shell command that prints lines "name value", or
model:SOCKET for the statistics of the GPU model. The program's output is passed on. OUT.json
gets {"between": {NAME: {counter: difference}}, "measured": [{"what": ..., ...}]}; "measured" is
from lines "# measure". Exit status: the program's, or 1 if a begin or an end has no partner."""
import json
import socket
import subprocess
import sys

import counted


def number(text):
    return int(text) if text.lstrip("-").isdigit() else text


def pairs(words):
    return {k: number(v) for k, v in (w.split("=", 1) for w in words if "=" in w)}


def model_counters(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        text = b""
        while chunk := s.recv(65536):
            text += chunk
    stats = json.loads(text)
    counters = {
        "model.bar0_reads": sum(u["reads"] for u in stats["mmio"]),
        "model.bar0_writes": sum(u["writes"] for u in stats["mmio"]),
    }
    for unit in stats["units"]:
        name = f"model.unit.{unit['unit']}"
        counters[name] = counters.get(name, 0) + unit["reads"] + unit["writes"]
    for name in ("doorbells", "tlb_flushes", "intr_msgs", "nonstall_intrs"):
        counters["model." + name] = stats[name]
    return counters


def snapshot(how):
    if how.startswith("model:"):
        return model_counters(how[6:])
    text = subprocess.run(how, shell=True, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    return counted.counters(text)


def main(argv):
    if len(argv) < 5 or argv[3] != "--":
        sys.exit(__doc__.splitlines()[0])
    out, how, command = argv[1], argv[2], argv[4:]
    began, between, measured, orphans = {}, {}, [], 0
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    for line in child.stdout:
        print(line, end="", flush=True)
        words = line.split()
        if words[:2] == ["#", "measure"] and len(words) > 2:
            measured.append({"what": words[2], **pairs(words[3:])})
        if words[:2] != ["#", "mark"] or len(words) < 4:
            continue
        name, end = words[2], words[3]
        now = {**snapshot(how), **{"own." + k: v for k, v in pairs(words[4:]).items()}}
        if end == "begin":
            began[name] = now
        elif name in began:
            before = began.pop(name)
            between[name] = {k: v - before.get(k, 0) for k, v in now.items()}
        else:
            orphans += 1
        try:
            child.stdin.write("\n")
            child.stdin.flush()
        except BrokenPipeError:
            pass
    status = child.wait()
    with open(out, "w") as f:
        json.dump({"between": between, "measured": measured}, f, indent=1)
    return status or (1 if orphans or began else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
