#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""remote_passes.py [--passes N] [--copies] OUT PROGRAM REMOTE LIBRARY CUBIN: N passes of remote_calls.sh with these arguments (it says what
they are), into OUT/1 and so on, and a table: of each row the least, the median and the most of the passes, and the same of its part
of native's row of the same pass; of copies over sockets also of the raw stream's. --copies: copies alone, which need no CUBIN."""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CARRIERS = ("native", "aperture", "unix", "tcp", "tls")
RAW = "a raw stream, 65536 KiB"


def rows_of(out):
    """{(name, carrier): (value, unit)} of a pass"""
    rows = {}
    for name in [f"remote-calls-{c}.json" for c in CARRIERS] + ["remote-streams.json"]:
        path = os.path.join(out, name)
        if os.path.exists(path):
            with open(path) as f:
                for r in json.load(f)["rows"]:
                    rows[r["name"], r["where"]] = r["value"], r["unit"]
    return rows


def spread(values, digits):
    return " / ".join(f"{v:.{digits}f}" for v in (min(values), statistics.median(values), max(values)))


def parts(passes, name, carrier, of):
    """of each pass that has both rows: the value of the row as a part of the other's"""
    return [p[name, carrier][0] / p[of][0] for p in passes if (name, carrier) in p and p.get(of, (0,))[0]]


def table(passes):
    names = list(dict.fromkeys(key for p in passes for key in p))
    print(f"{'':66} {'min / median / max':>28} {'unit':6} {'of native':>20} {'of raw':>20}")
    for name, carrier in names:
        if name.endswith(": in the call"):
            continue
        values = [p[name, carrier][0] for p in passes if (name, carrier) in p]
        native = parts(passes, name, carrier, (name, "native")) if carrier != "native" else []
        raw = parts(passes, name, carrier, (RAW, carrier)) if name.endswith("65536 KiB") and name != RAW else []
        print(f"{name + ': ' + carrier:66} {spread(values, 3):>28} {passes[0].get((name, carrier), (0, ''))[1]:6} "
              f"{spread(native, 2) if native else '':>20} {spread(raw, 2) if raw else '':>20}".rstrip())


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--passes", type=int, default=5)
    p.add_argument("--copies", action="store_true")
    p.add_argument("out")
    p.add_argument("what", nargs=4)
    a = p.parse_args(argv)
    outs = [os.path.join(a.out, str(i + 1)) for i in range(a.passes)]
    for out in outs:
        command = [os.path.join(HERE, "remote_calls.sh"), *a.what, out] + (["--copies"] if a.copies else [])
        if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
            return 1
    table([rows_of(out) for out in outs])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
