# SPDX-License-Identifier: GPL-2.0-only
"""Plots of make bench's report as SVG, drawn here so that nothing has to be installed for them."""
import html
import math

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
