#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""plot.py ROWS.json FOLDER: plots like the paper's figures 8 to 10, of what was recorded (../remote_rows.json): FOLDER/cluster-copies.svg,
bandwidth against the size of a copy; cluster-matrix.svg and cluster-fft.svg, how long a matrix product and FFTs take, local, pipelined
and not. Both axes are logarithmic. A row that is not there is left out."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tooling/docs"))
import svg  # noqa: E402

LEFT, WIDTH, BOTTOM = 80, 880, 444
COLOURS = ("#808080", "#3a7d44", "#b5523b", "#4a6fa5", "#8a6fa5")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}


def number(v):
    return f"{v:,.0f}" if v >= 100 else f"{v:.3g}"


def size(n):
    return f"{n >> 20} MiB" if n >= 1 << 20 else f"{n >> 10} KiB"


def lines(title, where, x_title, y_title, series, label):
    """@series: {name: {x: y}}; @label: of an x"""
    xs = sorted({x for s in series.values() for x in s})
    low, high = svg.around([y for s in series.values() for y in s.values()])
    ends = {name: f"{name}: {number(s[max(s)])} {y_title} at {label(max(s))}" for name, s in series.items()}

    def at(x, y):
        return (LEFT + WIDTH * math.log(x / xs[0]) / math.log(xs[-1] / xs[0]), BOTTOM - (BOTTOM - top) * math.log(y / low) / math.log(high / low))

    picture = svg.Picture(1000, BOTTOM + 48, f"{title}, against {x_title}. {where}. {'; '.join(ends.values())}")
    picture.text(16, 24, title, 15, bold=True)
    picture.text(16, 44, where, 12, colour=svg.FAINT)
    top = picture.legend(16, 66, zip(COLOURS, ends.values())) + 42
    for v, named in svg.decades(low, high):
        picture.line([(LEFT, at(xs[0], v)[1]), (LEFT + WIDTH, at(xs[0], v)[1])], svg.FAINT if named else svg.GRID, 0.7)
        if named:
            picture.text(LEFT - 8, at(xs[0], v)[1] + 4, number(v), 11, "end")
    picture.text(LEFT - 8, top - 14, y_title, 11, "end", bold=True)
    last = -100
    for v in xs:
        place = at(v, low)[0]
        if place - last >= 50:
            picture.text(place, BOTTOM + 18, label(v), 11, "middle")
            last = place
    picture.text(LEFT + WIDTH / 2, BOTTOM + 38, x_title, 12, "middle")
    for (_, points), colour in zip(series.items(), COLOURS):
        places = [at(x, y) for x, y in sorted(points.items())]
        picture.line(places, colour, 2)
        for x, y in places:
            picture.box(x - 3, y - 3, 6, 6, colour, round=3)
    return str(picture)


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


def times(rows, what, link):
    series = {"local, pageable": found(rows, rf"{what} (\d+), as it is: local, pageable"),
              "remote, pipelined": found(rows, rf"{what} (\d+), as it is: remote, pipelined, {link}"),
              "remote, not pipelined": found(rows, rf"{what} (\d+), as it is: remote, not pipelined, {link}")}
    return {name: s for name, s in series.items() if s}


def plots(rows):
    """(name of the file, its text)"""
    shm = "MPI's shared memory"
    for name, title, how, x_title, y_title, series, label in (
            ("cluster-copies.svg", "Bandwidth of copies by kvgpu-run", "Open MPI's shared memory, buffers of 1 MiB", "size of a copy", "MB/s",
             bandwidth(rows), size),
            ("cluster-matrix.svg", "How long a matrix product takes under kvgpu-run, with its copies", shm, "n of matrices of n by n", "ms",
             times(rows, "table 1, matrices of", shm), str),
            ("cluster-fft.svg", "How long 1,024 FFTs take under kvgpu-run, with their copies", shm, "points of an FFT", "ms",
             times(rows, "table 2, FFTs of", shm), str)):
        series = {k: s for k, s in series.items() if len(s) > 1}
        if series:
            yield name, lines(title, f"Measured on a GPU: an H100, all of one machine, no network between. {how}", x_title, y_title, series, label)


def main(path, folder):
    with open(path) as f:
        data = json.load(f)
    for name, text in plots(data.get("recorded", data.get("rows"))):
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)
        print(f"{folder}/{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
