#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: report.py on a made-up run whose results are worked out by hand: the interface that report.json is, ratios in both
directions, counters for one operation, comparisons, bounds; what the plots draw, and that they refuse text without room."""
import contextlib
import io
import json
import os
import re
import sys
import tempfile

import plot
import report
import svg

ROW_KEYS = {"name", "unit", "better", "native", "passthrough", "vgpu", "ratio", "ratio_passthrough", "remoted", "ratio_remoted",
            "spread", "counters"}
COUNTER_KEYS = {"exits", "traps", "shadow_written", "tlb_flushes", "vram_read_bytes", "pinned_pages"}
# row, unit, better, system, round, values
SAMPLES = [
    ("copy", "MB/s", "higher", "native", 1, [100, 110, 120]), ("copy", "MB/s", "higher", "vgpu", 1, [50, 55, 60]),
    ("copy", "MB/s", "higher", "native", 2, [200]), ("copy", "MB/s", "higher", "vgpu", 2, [180]),
    ("copy", "MB/s", "higher", "native", 3, [100]), ("copy", "MB/s", "higher", "vgpu", 3, [80]),
    ("copy", "MB/s", "higher", "busy", 1, [11]),
    ("boot", "ms", "lower", "passthrough", 1, [3000]), ("boot", "ms", "lower", "vgpu", 1, [4000]),
    ("copy", "MB/s", "higher", "base", 1, [44]),
    ("cuda-madd-chain", "ns", "lower", "native", 1, [2.5e9]), ("cuda-madd-chain", "ns", "lower", "passthrough", 1, [2.75e9]),
    ("cuda-madd-chain", "ns", "lower", "vgpu", 1, [3.125e9, 3.125e9]), ("cuda-madd-chain", "ns", "lower", "remoted", 1, [5e9]),
]
COUNTED = {"copy": {"own.ops": 50, "kvm.mmio_exits": 100, "kvgpu.exits_bar0_read": 75, "kvgpu.exits_bar0_write": 25,
                    "kvgpu.exits_config": 50, "kvgpu.tlb_flushes": 50, "kvgpu.zaps": 0}}
CUDA_COUNTED = {"cuda-madd-init": {"own.ops": 1, "kvm.mmio_exits": 6, "kvgpu.exits_bar0_read": 3},
                "cuda-madd-chain": {"own.ops": 1, "kvm.mmio_exits": 7, "kvgpu.exits_bar0_read": 3}}
SHARES = [{"name": "two equal", "tenants": 2, "want": [0.5, 0.5], "worst_error": 0.002, "preempt_us": 1300},
          {"name": "latency beside greedy", "tenants": 2, "want": [0.5, 0.5], "worst_error": 0.5, "preempt_us": 7,
           "latency_us": {"n": 9, "p50": 1200, "p99": 4700, "max": 5000}},
          {"name": "three 1:2:4", "tenants": 3, "want": [1 / 7, 2 / 7, 4 / 7], "worst_error": 0.03},
          {"name": "cap 20", "tenants": 2, "want": [0.2, 0.8], "worst_error": 0.01}]

results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}")


def quietly(argv):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = report.main(argv)
    return status, said.getvalue()


def write(path, what):
    with open(path, "w") as f:
        f.write(what if isinstance(what, str) else json.dumps(what))


def make_run(folder):
    with open(f"{folder}/samples", "w") as f:
        for row, unit, better, system, turn, values in SAMPLES:
            for v in values:
                f.write(json.dumps({"system": system, "round": turn, "row": row, "unit": unit, "better": better, "value": v}) + "\n")
    write(f"{folder}/vgpu.copy.json", {"between": COUNTED, "measured": []})
    write(f"{folder}/vgpu.cuda.json", {"between": CUDA_COUNTED, "measured": []})


def numbers(points):
    return [tuple(map(float, p.split(","))) for p in points.split()]


def pictures():
    """of recorded rows each is in one group; medians by hand; two windows of two vGPUs, the first of which gets 20 % more in the first"""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "performance_rows.json")) as f:
        names = [r["name"] for r in json.load(f)["rows"]]
    check(all(sum(bool(re.fullmatch(pattern, n)) for pattern, _ in plot.GROUPS.values()) == 1 for n in names), "each recorded row is in one group")
    rows = [{"name": n, "ratio": v} for n, v in (("copy-a", 0.5), ("copy-b", 0.9), ("copy-c", 3), ("boot", 0.25), ("boot beside 2 busy", 9), ("load", None))]
    drawn = plot.ratios(rows, "ratio", "native", "made up")
    check(re.findall(r'font-weight="bold"[^>]*>([0-9.]+)<', drawn) == ["0.90", "0.25"] and "copies of 4 KiB to 16 MiB (3)" in drawn,
          "a bar is its group's median, without rows beside busy vGPUs")
    setup = {"name": "two equal", "want": [0.5, 0.5], "worst_error": 0.2, "looks": [[int(i * 1e9), 9] for i in range(5)], "windows": [
        {"each": [{"from": 0, "to": 2, "error": [0.2, -0.2]}, {"from": 2, "to": 4, "error": [0, 0]}]}]}
    drawn = plot.shares([setup, {"name": "another"}], "made up")
    steps = [numbers(p) for p in re.findall(r'<polyline points="([^"]*)" fill="none" stroke="#(?:0969da|1a7f37)"', drawn)]
    half = plot.PANEL / 2
    check([[(x - steps[0][0][0]) / half for x, _ in s] for s in steps] == [[0, 1, 1, 2]] * 2 and steps[0][0][1] < steps[0][2][1] == steps[1][2][1] < steps[1][0][1] and
          "two equal vGPUs: at most 20.00 % off" in drawn, "shares over time: a step for each window, up is more")
    check(plot.shares([{"name": "one"}], "made up") is None, "no picture without setups for it")
    for what, *texts in (("cut off at the right", (60, 50, "sixteen letters!")), ("cut off at the bottom", (5, 101, "a")), ("over other text", (5, 50, "first"), (20, 52, "second"))):
        picture, refused = svg.Picture(100, 100, "made up"), False
        try:
            for text in texts:
                picture.text(*text)
        except ValueError:
            refused = True
        check(refused, f"text that is {what} is refused")
    picture.text(5, 80, "a < b")
    check('role="img"' in str(picture) and "<title>made up</title>" in str(picture) and "a &lt; b" in str(picture), "a picture has a title and a role")


def main():
    pictures()
    with tempfile.TemporaryDirectory() as run, tempfile.TemporaryDirectory() as out:
        make_run(run)
        write(f"{out}/shares.json", SHARES)
        status, _ = quietly([run, out, "--mode", "fast", "--rounds", "3"])
        with open(f"{out}/report.json") as f:
            r = json.load(f)
        rows = {row["name"]: row for row in r["rows"]}
        copy, chain, busy = rows["copy"], rows["cuda-madd-chain"], rows["copy beside 2 busy"]
        check(status == 0 and all(set(row) == ROW_KEYS for row in r["rows"]), "rows have the documented keys and no others")
        check(copy["native"] == 110 and copy["vgpu"] == 60 and copy["passthrough"] is None and copy["ratio"] == 0.8 and
              busy["vgpu"] == 11 and busy["ratio"] == 0.1, "medians of all samples; the ratio is the median of the turns': 0.5, 0.9, 0.8")
        check(rows["boot"]["ratio_passthrough"] == 0.75 and chain["ratio_passthrough"] == 0.88, "less time is better")
        check(chain["remoted"] == 5e9 and chain["ratio_remoted"] == 0.5 and copy["remoted"] is None, "remoted is compared with native")
        check({n: rows[n]["vgpu"] for n in rows if n.startswith(("slice", "wake"))} ==
              {"slice-switch-2": 1300, "wake-up-p50": 1200, "wake-up-p99": 4700}, "switches and wake-ups are those of bench-shares")
        check(set(copy["counters"]) == COUNTER_KEYS and copy["counters"]["exits"] == 2 and copy["counters"]["traps"] == 3 and
              chain["counters"]["exits"] == 7 and rows["boot"]["counters"] is None, "counters are those of one operation")
        check(r["shares"][1] == {"vgpus": 3, "policy": "best-effort", "weights": [100, 200, 400], "window_s": 2, "max_error": 0.03}, "shares")
        quietly([run, out, "--base", "abc1234"])
        with open(f"{out}/compare.json") as f:
            compared = {row["name"]: row for row in json.load(f)["rows"]}
        check(compared["copy"]["base"] == 44 and compared["copy"]["ratio"] == 1.25, "against another version")
        for fails, line in ((0, "copy kvgpu.tlb_flushes 1\ncopy kvm.mmio_exits+kvgpu.zaps 2"), (1, "copy kvgpu.tlb_flushes 0.9"),
                            (1, "launch kvm.exits 9"), (1, "copy kvgpu.nothing 9"), (1, "#")):
            write(f"{out}/bounds", line + "\n")
            check(quietly(["--bounds", f"{out}/bounds", f"{out}/counters.json"])[0] == fails, f"bounds: {line.splitlines()[0]}")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
