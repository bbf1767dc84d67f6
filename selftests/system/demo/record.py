#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""make demo 2>&1 | record.py PICTURE.svg: passes on what the demo prints, and draws it as a terminal whose lines come as they came,
but faster: no gap is shorter than SHORTEST or longer than LONGEST. The last screen then stays for a while, and it begins again. Where
a viewer shows no movement, the last screen is seen. A log in place of the demo does as well: record.py PICTURE.svg <LOG. Exit status
1, and no picture, if the demo's last screen is not there, or the picture would be larger than MOST bytes."""
import html
import os
import re
import sys
import time

COLUMNS, ROWS = 118, 34
SHORTEST, LONGEST, STAYS = 0.1, 0.7, 10         # seconds
MOST = 60000
WIDE, HIGH, EDGE = 7.2, 15, 10                  # of a character and a line, in pixels
BACK, FORE, COLOURS = "#1b1f24", "#d6dde4", (("#7ec699", r"\d+/\d+  |make demo: "), ("#8a949e", r" +\d+/\d+ took "))


def read(stream):
    """Return [(seconds since the line before, line)], and pass the lines on."""
    out, last = [], time.monotonic()
    for line in stream:
        print(line, end="", flush=True)
        now = time.monotonic()
        out.append((now - last, line))
        last = now
    return out


def plain(line):
    """a line as the terminal shows it at the end: without colours and what was written over, no wider than the picture; without the
    places of this tree and of the user's home"""
    line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line.rstrip("\r\n")).split("\r")[-1].expandtabs()
    line = line.replace(f"{os.getcwd()}/", "").replace(os.path.expanduser("~"), "~")
    line = "".join(c for c in line if c.isprintable())
    return line if len(line) <= COLUMNS else line[:COLUMNS - 1] + "…"


def colour(line):
    return next((c for c, begin in COLOURS if re.match(begin, line)), None)


def keyframes(name, ends, places):
    """the CSS of a movement in steps: at ends[i], in percent, to places[i]"""
    steps = [(at, place) for i, (at, place) in enumerate(zip(ends, places)) if not i or place != places[i - 1]]
    return f"@keyframes {name}{{" + "".join(f"{at:.2f}%{{transform:translateY({place}px)}}" for at, place in [*steps, (100, places[-1])]) + "}"


def draw(lines):
    """@lines: as read() returns them. Text moves up, and a cover over what is not printed yet moves down."""
    gaps = [min(max(gap, SHORTEST), LONGEST) for gap, _ in lines]
    whole = sum(gaps) + STAYS
    ends = [100 * sum(gaps[:i + 1]) / whole for i in range(len(gaps))]
    shown = range(1, len(lines) + 1)
    up, down = [-HIGH * max(n - ROWS, 0) for n in shown], [HIGH * min(n, ROWS) for n in shown]
    width, height = round(COLUMNS * WIDE) + 2 * EDGE, ROWS * HIGH + 2 * EDGE
    texts = []
    for i, line in enumerate(plain(line) for _, line in lines):
        fill = f' fill="{colour(line)}"' if colour(line) else ""
        if line:
            texts.append(f'<text y="{HIGH * (i + 1) - 4}"{fill}>{html.escape(line, quote=False)}</text>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" xml:space="preserve" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>A terminal with what make demo prints: its plan, each step with its time, and what passed</title>",
        f"<style>text{{font:12px monospace;fill:{FORE};white-space:pre}}" + "".join(f'text[fill="{c}"]{{fill:{c}}}' for c, _ in COLOURS),
        "@media (prefers-reduced-motion:no-preference){",
        *(f"#{name}{{animation:{name} {whole:.1f}s step-end infinite}}" for name in ("up", "down")),
        "}", keyframes("up", [0, *ends], [0, *up]), keyframes("down", [0, *ends], [0, *down]), "</style>",
        f'<rect width="100%" height="100%" rx="6" fill="{BACK}"/>',
        f'<svg x="{EDGE}" y="{EDGE}" width="{width - EDGE}" height="{ROWS * HIGH}"><g id="up" transform="translate(0 {up[-1]})">', *texts,
        f'</g><rect id="down" transform="translate(0 {down[-1]})" width="100%" height="100%" fill="{BACK}"/></svg></svg>', ""])


def main(path):
    lines = read(sys.stdin)
    while lines and not plain(lines[0][1]).startswith("make demo: "):
        lines.pop(0)                            # what make built
    if not any(re.match(r"\d+ checks of copies and costs, .* all passed;", line) for _, line in lines):
        sys.exit("record.py: no picture: these are not the lines of a demo that passed")
    picture = draw(lines)
    if len(picture.encode()) > MOST:
        sys.exit(f"record.py: no picture: it would have {len(picture.encode())} bytes, {MOST} is the limit")
    with open(path, "w", encoding="utf-8") as f:
        f.write(picture)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make demo 2>&1 | record.py PICTURE.svg")
    main(sys.argv[1])
