#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""remote_plot.py ROWS.json FOLDER: plots of what was recorded (remote_rows.json): FOLDER/remote-calls.svg and remote-copies.svg of
the H100, remote-cpu.svg of many clients. A bar ends at the least of several passes, its lighter part at the most. A row that is not
there is left out."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tooling/docs"))
import svg  # noqa: E402

LEFT, WIDTH, BAR = 390, 470, 14
CARRIERS = ("native", "aperture", "unix")
COLOURS = {"native": "#808080", "aperture": "#3a7d44", "unix": "#4a6fa5"}
NAMES = {"native": "native", "aperture": "remote, by an aperture", "unix": "remote, by a UNIX socket"}
CALLS = ("a call that is asked, nothing to do on the server, p50", "cuStreamQuery, p50", "cuMemGetInfo, p50",
         "a queued launch for the caller, bursts of 100, best", "a queued launch for the caller, bursts of 100, p50",
         "launches without a pause, each with its end", "a training step: 4 KiB in, 20 launches, 4 bytes out")
COPIES = tuple(f"{m} memory {way} the GPU, {size}" for m in ("pinned", "pageable") for size in ("64 KiB", "1 MiB", "64 MiB")
               for way in ("to", "from"))
CLIENTS = tuple(f"a million calls by {n}, CPUs {state}: CPU time of {side}" for state in ("idle", "busy") for n in (1, 8, 64)
                for side in ("clients", "the server"))
# file: its title, what it says beside that, unit, rows, whether the axis is logarithmic
PLOTS = {"remote-calls": ("How long calls and launches hold up their caller", ". A remote launch is queued when it returns, not done", "us", CALLS, True),
         "remote-copies": ("Bandwidth of copies between a program and the GPU", "", "GB/s", COPIES, False),
         "remote-cpu": ("CPU time of a million calls, of clients and of the server", "", "s", CLIENTS, False)}


def short(name):
    """what differs from row to row"""
    return re.sub(r"a million calls by (\d+), CPUs (\w+): CPU time of (.*)", lambda m: f"{m[1]} client{'s' * (m[1] != '1')}, CPUs {m[2]}: {m[3]}", name)


def number(v):
    return f"{v:.3g}" if v < 1000 else f"{v:.0f}"


def scale(most, least, logarithmic):
    """from a value to its place on the axis, and the marks of the axis: (value, whether it has a number)"""
    if not logarithmic:
        step = 10 ** math.floor(math.log10(most))
        step = step if most / step >= 4 else step / 2
        top = step * math.ceil(most / step)
        return lambda v: WIDTH * v / top, [(step * i, True) for i in range(int(round(top / step)) + 1)]
    low, high = svg.around([least, most])
    return lambda v: WIDTH * math.log(v / low) / math.log(high / low), list(svg.decades(low, high))


def bars(title, where, unit, groups, logarithmic):
    """@groups: (name, [(carrier, least, most)])"""
    values = [v for _, of in groups for _, *two in of for v in two]
    place, marks = scale(max(values), min(values), logarithmic)
    height = 112 + sum(BAR * len(of) + 10 for _, of in groups)
    said = "; ".join(f"{short(name)}: " + ", ".join(f"{NAMES[c]} {number(least)} {unit}" for c, least, _ in of) for name, of in groups[:3])
    picture = svg.Picture(1000, height, f"{title}. {where}. {said}")
    picture.text(16, 24, title, 15, bold=True)
    picture.text(16, 44, where, 12, colour=svg.FAINT)
    carriers = list(dict.fromkeys(c for _, of in groups for c, *_ in of))
    several = [(svg.GRID, "lighter: from the least of several passes to the most")] if any(least < most for _, of in groups for _, least, most in of) else []
    picture.legend(16, 66, [(COLOURS[c], NAMES[c]) for c in carriers] + several)
    for m, named in marks:
        at = LEFT + place(m)
        picture.line([(at, 96), (at, height - 8)])
        if named:
            picture.text(at, 90, number(m), 11, "middle")
    picture.text(LEFT + WIDTH + 40, 90, unit, 11, bold=True)
    y = 102
    for name, of in groups:
        picture.text(LEFT - 10, y + BAR * len(of) / 2 + 4, short(name), 11, "end")
        for c, least, most in of:
            a, b = place(least), place(most)
            told = number(least) if least == most else f"{number(least)} to {number(most)}"
            picture.box(LEFT, y, a, BAR - 2, COLOURS[c])
            picture.box(LEFT + a, y, b - a, BAR - 2, COLOURS[c], opacity=0.45)
            picture.text(LEFT + b + 5, y + BAR - 3, told, 11)
            y += BAR
        y += 10
    return str(picture)


def groups_of(rows, names, carriers):
    found = {r["name"]: r for r in rows}
    groups = []
    for name in names:
        of = [(c, found[f"{name}: {c}"]) for c in carriers if f"{name}: {c}" in found]
        if of:
            groups.append((name, [(c, *r.get("range", [r["value"]] * 2)) for c, r in of]))
    return groups


def plots(rows):
    """(file name, text) of each plot for which there are rows; of several places, of the one whose rows were recorded last"""
    by_place, drawn = {}, {}
    for r in rows:
        by_place.setdefault(r["where"], []).append(r)
    for where, some in by_place.items():
        measured = f"{'Measured on the' if 'model' in where else 'Measured on a GPU:'} {where} ({some[0]['date']})"
        for name, (title, more, unit, names, logarithmic) in PLOTS.items():
            groups = groups_of(some, names, CARRIERS)
            if groups and ("model" in where) == (name == "remote-cpu"):
                drawn[f"{name}.svg"] = bars(title + ", on the GPU model" * ("model" in where), measured + more, unit, groups, logarithmic)
    return drawn.items()


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    with open(argv[0]) as f:
        rows = json.load(f)["recorded"]
    for name, text in plots(rows):
        with open(f"{argv[1]}/{name}", "w") as f:
            f.write(text)
        print(f"written: {argv[1]}/{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
