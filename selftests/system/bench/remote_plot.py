#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""remote_plot.py ROWS.json FOLDER: plots of what was recorded (remote_rows.json): FOLDER/remote-calls.svg and remote-copies.svg of
the H100, remote-cpu.svg of many clients. A bar ends at the least of several passes, its lighter part at the most. A row that is not
there is left out."""
import html
import json
import math
import sys

LEFT, WIDTH, BAR = 330, 420, 11
CARRIERS = ("native", "aperture", "unix")
COLOURS = {"native": "#808080", "aperture": "#3a7d44", "unix": "#4a6fa5"}
NAMES = {"native": "native", "aperture": "remote, aperture", "unix": "remote, UNIX socket"}
CALLS = ("a call that is asked, nothing to do on the server, p50", "cuStreamQuery, p50", "cuMemGetInfo, p50",
         "a queued launch for the caller, bursts of 100, best", "a queued launch for the caller, bursts of 100, p50",
         "launches without a pause, each with its end", "a training step: 4 KiB in, 20 launches, 4 bytes out")
COPIES = tuple(f"{m} memory {way} the GPU, {size}" for m in ("pinned", "pageable") for size in ("64 KiB", "1 MiB", "64 MiB")
               for way in ("to", "from"))
CLIENTS = tuple(f"a million calls by {n}, CPUs {state}: CPU time of {side}" for state in ("idle", "busy") for n in (1, 8, 64)
                for side in ("clients", "the server"))


def number(v):
    return f"{v:.3g}" if v < 1000 else f"{v:.0f}"


def scale(most, least, logarithmic):
    """from a value to its place on the axis, and the marks of the axis"""
    if not logarithmic:
        step = 10 ** math.floor(math.log10(most))
        step = step if most / step >= 4 else step / 2
        top = step * math.ceil(most / step)
        return lambda v: WIDTH * v / top, [step * i for i in range(int(round(top / step)) + 1)]
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return lambda v: WIDTH * (math.log10(v) - low) / (high - low), [10.0 ** e for e in range(low, high + 1)]


def bars(title, unit, groups, logarithmic):
    """@groups: (name, [(carrier, least, most)])"""
    values = [v for _, of in groups for _, *two in of for v in two]
    place, marks = scale(max(values), min(values), logarithmic)
    height = 62 + sum(BAR * len(of) + 8 for _, of in groups)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 110}" height="{height}" font-family="sans-serif"'
           ' font-size="11"><rect width="100%" height="100%" fill="white"/>', f'<text x="8" y="16" font-size="13">{html.escape(title)}</text>']
    x = 8
    for c in dict.fromkeys(c for _, of in groups for c, *_ in of):
        out.append(f'<rect x="{x}" y="26" width="9" height="9" fill="{COLOURS[c]}"/><text x="{x + 13}" y="35">{NAMES[c]}</text>')
        x += 150
    for m in marks:
        at = LEFT + place(m)
        out.append(f'<line x1="{at:.1f}" y1="52" x2="{at:.1f}" y2="{height - 8}" stroke="#ddd"/>'
                   f'<text x="{at:.1f}" y="48" text-anchor="middle">{number(m)}</text>')
    out.append(f'<text x="{LEFT + WIDTH + 30}" y="48">{html.escape(unit)}</text>')
    y = 58
    for name, of in groups:
        out.append(f'<text x="{LEFT - 8}" y="{y + BAR * len(of) / 2 + 3:.1f}" text-anchor="end">{html.escape(name)}</text>')
        for c, least, most in of:
            a, b = place(least), place(most)
            told = number(least) if least == most else f"{number(least)} to {number(most)}"
            out.append(f'<rect x="{LEFT}" y="{y}" width="{a:.1f}" height="{BAR - 2}" fill="{COLOURS[c]}"/>'
                       f'<rect x="{LEFT + a:.1f}" y="{y}" width="{b - a:.1f}" height="{BAR - 2}" fill="{COLOURS[c]}"'
                       ' fill-opacity="0.45"/>'
                       f'<text x="{LEFT + b + 4:.1f}" y="{y + BAR - 3}" font-size="10">{told}</text>')
            y += BAR
        y += 8
    return "\n".join(out + ["</svg>", ""])


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
        conditions = f"{where} ({some[0]['date']})"
        for name, what, unit, names, logarithmic in (
                ("remote-calls", "Calls and launches", "us", CALLS, True), ("remote-copies", "Copies", "GB/s", COPIES, False),
                ("remote-cpu", "CPU time of a million calls", "s", CLIENTS, False)):
            if name == "remote-cpu" or "H100" in where:
                groups = groups_of(some, names, CARRIERS)
                if groups:
                    drawn[f"{name}.svg"] = bars(f"{what}: {conditions}", unit, groups, logarithmic)
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
