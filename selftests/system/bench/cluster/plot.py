#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""plot.py ROWS.json FOLDER: plots like the paper's figures 8 to 10, of what was recorded (../remote_rows.json): FOLDER/cluster-copies.svg,
bandwidth against the size of a copy; cluster-matrix.svg and cluster-fft.svg, how long the copies of a matrix product and of the FFTs
take, local, pipelined and not. Both axes are logarithmic. A row that is not there is left out."""
import html
import json
import math
import re
import sys

LEFT, TOP, WIDTH, HEIGHT = 70, 74, 520, 260
COLOURS = ("#808080", "#3a7d44", "#b5523b", "#4a6fa5", "#8a6fa5")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}


def number(v):
    return f"{v:g}" if v < 10000 else f"{v:.0f}"


def size(n):
    return f"{n >> 20} MiB" if n >= 1 << 20 else f"{n >> 10} KiB"


def axis(values):
    """the decades that hold the values"""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def lines(title, x_title, y_title, series, label):
    """@series: {name: {x: y}}; @label: of an x"""
    xs = sorted({x for s in series.values() for x in s})
    low, high = axis([y for s in series.values() for y in s.values()])
    left, right = math.log2(xs[0]), math.log2(xs[-1])

    def at(x, y):
        return (LEFT + WIDTH * (math.log2(x) - left) / (right - left), TOP + HEIGHT * (high - math.log10(y)) / (high - low))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 40}" height="{TOP + HEIGHT + 50}" font-family="sans-serif"'
           ' font-size="11"><rect width="100%" height="100%" fill="white"/>', f'<text x="8" y="16" font-size="13">{html.escape(title)}</text>']
    x, y = 8, 26
    for (name, _), colour in zip(series.items(), COLOURS):
        if x + 13 + 6 * len(name) > LEFT + WIDTH + 40:
            x, y = 8, y + 14
        out.append(f'<rect x="{x}" y="{y}" width="9" height="9" fill="{colour}"/><text x="{x + 13}" y="{y + 9}">{html.escape(name)}</text>')
        x += 25 + 6 * len(name)
    for e in range(low, high + 1):
        y = at(xs[0], 10.0 ** e)[1]
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(10.0 ** e)}</text>')
    out.append(f'<text x="8" y="{TOP - 8}">{html.escape(y_title)}</text>')
    last = -100
    for v in xs:
        place = at(v, 10.0 ** low)[0]
        if place - last >= 38:
            out.append(f'<text x="{place:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{label(v)}</text>')
            last = place
    out.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">{html.escape(x_title)}</text>')
    for (_, points), colour in zip(series.items(), COLOURS):
        places = [at(x, y) for x, y in sorted(points.items())]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
    return "\n".join(out + ["</svg>", ""])


def found(rows, pattern):
    """{n: value}; of two places the later row"""
    return {int(m[1]): r["value"] for r in rows if (m := re.fullmatch(pattern, r["name"]))}


def bandwidth(rows):
    series = {}
    for name, text in (("the MPI by itself", "the MPI by itself"), ("pageable to the GPU", "pageable memory to the GPU"),
                       ("pageable from the GPU", "pageable memory from the GPU"), ("pinned to the GPU", "pinned memory to the GPU"),
                       ("pinned from the GPU", "pinned memory from the GPU")):
        matches = [(re.fullmatch(rf"openmpi, buffers of 1 MiB: {text}, (\d+) (KiB|MiB)", r["name"]), r["value"]) for r in rows]
        series[name] = {int(m[1]) * UNITS[m[2]]: v for m, v in matches if m}
    return series


def copies(rows, what, link):
    series = {"local, pageable": found(rows, rf"{what} (\d+), as it is: local, pageable, copies alone"),
              "remote, pipelined": found(rows, rf"{what} (\d+), as it is: remote, pipelined, {link}, copies alone"),
              "remote, not pipelined": found(rows, rf"{what} (\d+), as it is: remote, not pipelined, {link}, copies alone")}
    return {name: s for name, s in series.items() if s}


def plots(rows):
    """(name of the file, its text)"""
    shm = "MPI's shared memory"
    for name, title, x_title, y_title, series, label in (
            ("cluster-copies.svg", "Copies by kvgpu-run, buffers of 1 MiB, Open MPI's shared memory, H100", "size of a copy", "MB/s",
             bandwidth(rows), size),
            ("cluster-matrix.svg", "Copies of a matrix product, by MPI's shared memory, H100", "n", "ms",
             copies(rows, "table 1, matrices of", shm), str),
            ("cluster-fft.svg", "Copies of 1,024 FFTs, by MPI's shared memory, H100", "n", "ms", copies(rows, "table 2, FFTs of", shm), str)):
        series = {k: s for k, s in series.items() if len(s) > 1}
        if series:
            yield name, lines(title, x_title, y_title, series, label)


def main(path, folder):
    with open(path) as f:
        data = json.load(f)
    for name, text in plots(data.get("recorded", data.get("rows"))):
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)
        print(f"{folder}/{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
