#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plots as SVG.
plot.py rows REPORT.json PLOT.svg: what a vGPU costs against the whole card in pass-through: of make bench's report, or of performance_rows.json.
plot.py shares SHARES.json PLOT.svg CONDITIONS: the share of each vGPU over time, of what make bench-shares wrote."""
import json
import math
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tooling/docs"))
import svg  # noqa: E402

WORK, SETUP, BOTH = "#1a7f37", "#bf8700", "#0969da"
KINDS = {WORK: "work on the GPU: no exits", SETUP: "what sets up: exits, entries of page tables", BOTH: "whole programs: both"}
# what a bar stands for: pattern of the rows, kind
GROUPS = {
    "copies of 4 KiB to 16 MiB": (r"copy-.*", WORK),
    "empty launches and submissions": (r"(cuda-)?launch-.*|submit-.*|context-switch", WORK),
    "kernels of CUDA and OpenCL": (r"(cuda|matrix|fft|cold).*-kernel|clpeak-(float|int)", WORK),
    "transfers of CUDA and OpenCL": (r"(cuda|matrix|fft|cold).*-(in|out)|clpeak-(memory|write|read)", WORK),
    "4 MiB or a word of BAR1, by the CPU": (r"bar1-.*", WORK),
    "buffers of system memory": (r"buffer-gart-.*", SETUP),
    "buffers of video memory": (r"buffer-vram-.*", SETUP),
    "nouveau's load, boot, contexts, channels": (r"load|boot|first-context|context|channel-.*", SETUP),
    "begin and end of CUDA programs": (r"(cuda|matrix|fft|cold).*-(init|close)", SETUP),
    "whole CUDA programs, most of 0.1 s": (r"(cuda|matrix|fft|cold).*-chain", BOTH),
}
LEFT, WIDTH = 350, 560


def grouped(rows, key):
    """{group: its rows' ratios}; rows beside busy vGPUs are in none"""
    found = {}
    for r in rows:
        if r.get(key) is not None and (group := next((g for g, (pattern, _) in GROUPS.items() if re.fullmatch(pattern, r["name"])), None)):
            found.setdefault(group, []).append(r[key])
    return {g: found[g] for g in GROUPS if g in found}


def ratios(rows, key, against, conditions):
    """a bar from 1 to each group's median, a line from its least to its most ratio"""
    groups = grouped(rows, key)
    medians = {g: f"{statistics.median(values) + 1e-9:.2f}" for g, values in groups.items()}
    low, high = svg.around([v for values in groups.values() for v in values] + [0.5, 2])
    height = 138 + 34 * len(groups)
    picture = svg.Picture(1000, height, f"How many times as fast a vGPU is as {against}, medians of {len(groups)} groups of rows: " +
                          "; ".join(f"{g} {median}" for g, median in medians.items()))

    def at(v):
        return LEFT + WIDTH * (math.log(v) - math.log(low)) / (math.log(high) - math.log(low))

    picture.text(16, 24, f"vGPU against {against}: how many times as fast", 15, bold=True)
    picture.text(16, 44, f"On the GPU model, no GPU; {conditions}. Bar: median of a group; line: its least and its most row.", 12, colour=svg.FAINT)
    picture.legend(16, 66, KINDS.items())
    for v, named in svg.decades(low, high):
        picture.line([(at(v), 94), (at(v), height - 30)], svg.INK if v == 1 else svg.GRID)
        if named:
            picture.text(at(v), 88, f"{v:g}", 11, "middle")
    picture.text(986, 88, "median", 11, "end", colour=svg.FAINT)
    picture.text(at(1) - 12, height - 12, "slower than " + against, 12, "end", colour=svg.FAINT)
    picture.text(at(1) + 12, height - 12, "faster", 12, colour=svg.FAINT)
    for i, (group, values) in enumerate(groups.items()):
        y, median = 104 + 34 * i, statistics.median(values)
        picture.text(LEFT - 12, y + 14, f"{group} ({len(values)})", 12, "end")
        picture.box(min(at(1), at(median)), y, max(abs(at(median) - at(1)), 1), 18, GROUPS[group][1])
        picture.line([(at(min(values)), y + 9), (at(max(values)), y + 9)], svg.INK, 1.5)
        picture.text(986, y + 14, medians[group], 12, "end", bold=True)
    return str(picture)


def all_of(rows, folder, conditions):
    """writes them; their paths"""
    paths = []
    for key, against in (("ratio", "native"), ("ratio_passthrough", "the whole card")):
        if not grouped(rows, key):
            continue
        path = f"{folder}/{key}.svg"
        with open(path, "w") as f:
            f.write(ratios(rows, key, against, conditions))
        paths.append(path)
    return paths


# ---------------------------------------------------------------------- shares over time

# setups of make bench-shares, and their names in the picture
SETUPS = {"two equal": "two equal vGPUs", "three 1:2:4": "weights 1, 2 and 4", "eight 1:2:4": "eight of weights 1, 2 and 4", "cap 20": "a cap of 20 % beside another"}
COLOURS = ("#0969da", "#1a7f37", "#bf8700", "#8250df", "#cf222e", "#57606a", "#1b7c83", "#bf3989")
PANEL, HIGH = 400, 190


def panel(picture, left, top, name, s):
    """a step for each window and vGPU, the dashed line is what it should get"""
    windows = s["windows"][0]["each"]
    start = s["looks"][0][0]
    times = [(at - start) / 1e9 for at, _ in s["looks"]]
    most = 0.1 * math.ceil(10 * max(want * (1 + max(0, w["error"][i])) for i, want in enumerate(s["want"]) for w in windows) + 0.5)

    def place(t, share):
        return left + PANEL * t / times[-1], top + HIGH * (1 - share / most)

    picture.text(left, top - 12, f"{name}: at most {100 * s['worst_error']:.2f} % off", 13, bold=True)
    step = 0.05 if most < 0.35 else 0.1 if most < 0.75 else 0.2
    for i in range(int(most / step + 0.001) + 1):
        y = place(0, i * step)[1]
        picture.line([(left, y), (left + PANEL, y)])
        picture.text(left - 8, y + 4, f"{100 * i * step:.0f} %", 11, "end")
    every = max(1, 2 * math.ceil(times[-1] / 14))
    for t in range(0, int(times[-1] + 0.5) + 1, every):
        picture.text(place(min(t, times[-1]), 0)[0], top + HIGH + 16, f"{t} s", 11, "middle")
    for want in sorted(set(s["want"])):
        picture.line([place(0, want), place(times[-1], want)], svg.INK, 1, "5 4")
    for i, want in enumerate(s["want"]):
        points = [place(times[at], want * (1 + w["error"][i])) for w in windows for at in (w["from"], w["to"])]
        picture.line(points, COLOURS[i % len(COLOURS)], 2)


def shares(setups, conditions):
    found = {s["name"]: s for s in setups}
    setups = [(title, found[name]) for name, title in SETUPS.items() if name in found and found[name]["windows"][0]["each"]]
    if not setups:
        return None
    rows = (len(setups) + 1) // 2
    worst = "; ".join(f"{title}: at most {100 * s['worst_error']:.2f} % off" for title, s in setups)
    picture = svg.Picture(1000, 70 + 250 * rows, f"Shares of the GPU's time over time, each in a window of 2 s, beside what they should be. {worst}")
    picture.text(16, 24, "Each vGPU's share of the GPU's time, in windows of 2 s", 15, bold=True)
    picture.text(16, 44, f"{conditions}. Dashed: what it should get. Off: a window's error, of the share itself.", 12, colour=svg.FAINT)
    for i, (title, s) in enumerate(setups):
        panel(picture, 70 + 490 * (i % 2), 88 + 250 * (i // 2), title, s)
    return str(picture)


def main(argv):
    if len(argv) not in (3, 4) or (argv[0] == "shares") != (len(argv) == 4) or argv[0] not in ("rows", "shares"):
        sys.exit(__doc__)
    with open(argv[1]) as f:
        data = json.load(f)
    if argv[0] == "rows":
        c = data["conditions"]
        drawn = ratios(data["rows"], "ratio_passthrough", "the whole card", ", ".join(c[k] for k in ("date", "mode", "type", "board") if k in c))
    else:
        drawn = shares(data, argv[3])
    if drawn:
        with open(argv[2], "w") as f:
            f.write(drawn)
    return 0 if drawn else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
