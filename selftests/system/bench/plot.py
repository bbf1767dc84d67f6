#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plots as SVG, drawn here so that nothing has to be installed for them: of make bench's report, and
plot.py SHARES.json PLOT.svg CONDITIONS of what make bench-shares wrote."""
import html
import json
import math
import sys

LEFT, WIDTH, LINE, LOW, HIGH = 270, 420, 16, 1 / 32, 4


def x_of(ratio):
    """logarithmic from LOW to HIGH"""
    r = min(max(ratio, LOW), HIGH)
    return LEFT + WIDTH * (math.log(r) - math.log(LOW)) / (math.log(HIGH) - math.log(LOW))


def ratios(rows, key, title):
    """a bar for each row from 1 to its ratio: to the right is better"""
    rows = [r for r in rows if r[key] is not None]
    height = LINE * (len(rows) + 4)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 70}" height="{height}" font-family="sans-serif"'
           f' font-size="11"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="8" y="{LINE}" font-size="13">{html.escape(title)}</text>']
    tick = LOW
    while tick <= HIGH:
        x = x_of(tick)
        label = f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"
        out.append(f'<line x1="{x:.1f}" y1="{LINE * 2.5}" x2="{x:.1f}" y2="{height - LINE}" stroke="{"black" if tick == 1 else "#ddd"}"/>'
                   f'<text x="{x:.1f}" y="{LINE * 2.2}" text-anchor="middle">{label}</text>')
        tick *= 2
    for i, r in enumerate(rows):
        y, a, b = LINE * (i + 3), x_of(1), x_of(r[key])
        colour = "#3a7d44" if r[key] >= 0.95 else "#d9a400" if r[key] >= 0.82 else "#b23a48"
        out.append(f'<text x="{LEFT - 8}" y="{y + 9}" text-anchor="end">{html.escape(r["name"])}</text>'
                   f'<rect x="{min(a, b):.1f}" y="{y}" width="{max(abs(b - a), 1):.1f}" height="{LINE - 5}" fill="{colour}"/>'
                   f'<text x="{max(a, b) + 4:.1f}" y="{y + 9}">{r[key]:.2f}</text>')
    return "\n".join(out + ["</svg>", ""])


def all_of(rows, folder, conditions):
    """writes them; their paths"""
    paths = []
    for key, against in (("ratio", "native"), ("ratio_passthrough", "pass-through")):
        if not any(r[key] is not None for r in rows):
            continue
        path = f"{folder}/{key}.svg"
        with open(path, "w") as f:
            f.write(ratios(rows, key, f"vGPU against {against}, above 1 the vGPU is better ({conditions})"))
        paths.append(path)
    return paths


SHARE_WIDTH, SHARE_BAR = 420, 13


def shares(setups, conditions):
    """make bench-shares' setups of several tenants: a bar for what each got, a mark for what it should get"""
    setups = [s for s in setups if len(s["want"]) > 1 and all(w is not None for w in s["want"])]
    bars = sum(len(s["want"]) for s in setups)
    width, height = LEFT + SHARE_WIDTH + 110, SHARE_BAR * bars + 22 * len(setups) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
           f'<rect width="100%" height="100%" fill="white"/>',
           f'<text x="8" y="16" font-size="13">Share of the GPU\'s time in {html.escape(conditions)}; marks: entitlement</text>']
    y = 30
    for s in setups:
        out.append(f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{html.escape(s["name"])}</text>'
                   f'<text x="{LEFT + SHARE_WIDTH + 8}" y="{y + 11}">worst {100 * s["worst_error"]:.1f} %</text>')
        for got, want in zip(s["share"], s["want"]):
            x = LEFT + SHARE_WIDTH * want
            out.append(f'<rect x="{LEFT}" y="{y}" width="{SHARE_WIDTH * got:.1f}" height="{SHARE_BAR - 3}" fill="#3a7d44"/>'
                       f'<line x1="{x:.1f}" y1="{y - 1}" x2="{x:.1f}" y2="{y + SHARE_BAR - 2}" stroke="black" stroke-width="2"/>')
            y += SHARE_BAR
        y += 22
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: plot.py SHARES.json PLOT.svg CONDITIONS")
    with open(sys.argv[1]) as f:
        drawn = shares(json.load(f), sys.argv[3])
    with open(sys.argv[2], "w") as f:
        f.write(drawn)
