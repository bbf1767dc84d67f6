#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""rooms.py TREE: prints docs/rooms.svg: the rooms as boxes, and which includes which.

What a room holds is in the table of docs/design.md. An arrow from one room to another says that a
source file of the first one includes a header of the second one; drawn() says which arrows are left
out or moved. This file has the places of the boxes, and what a permission of the table means in
rooms. check() has what ends the program with an error."""
import os
import pathlib
import re
import sys
import textwrap

# name: left, top, width, height
PLACES = {
    "mdev": (40, 150, 510, 66), "mdev/machine": (40, 276, 510, 66),
    "mmio-trap": (40, 412, 120, 104), "gtt-shadow": (170, 412, 120, 104), "sched": (300, 412, 120, 104), "hw": (430, 412, 120, 104),
    "include": (40, 600, 1060, 52),
    "gpu-model": (600, 412, 140, 104), "firmware": (760, 412, 140, 104),
    "testbed": (600, 276, 140, 66), "libvirt-xml": (600, 150, 140, 66), "tools": (760, 150, 140, 66),
    "remote": (950, 150, 150, 104), "cuda": (950, 412, 150, 104),
    "selftests": (40, 40, 1060, 44),
}
# label: rooms that a frame surrounds
FRAMES = {
    "kvgpu.ko, the host's module": ("mdev", "mdev/machine", "mmio-trap", "gtt-shadow", "sched", "hw"),
    "MIT: what programs link": ("remote", "cuda"),
}
PURE = ("mmio-trap", "gtt-shadow", "sched")
NO_BOX = ("docs",)
OF_MODULE = FRAMES["kvgpu.ko, the host's module"] + ("include",)
# what a "may use" of the table means in rooms
MAY = {
    "nothing": (), "": (), "`include/` only": ("include",), "`include/`": ("include",), "kernel, `include/`": ("include",),
    "everything in the module, of the machine its one header": OF_MODULE,
    "everything in the module, of the face what both need": OF_MODULE,
    "anything": tuple(PLACES), "libdrm_nouveau, the list of boards in `include/`": ("include",), "headers of `cuda/` and `include/` that its README names, libc": ("cuda", "include"),
}


def table(tree):
    """{room: (what it holds, what it may use)} of design.md"""
    text = (tree / "docs/design.md").read_text().split("\n## Rooms\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w/-]+)/` \| (.*?) \| ?(.*?) ?\|$", text, re.M)
    return {room: (holds, may) for room, holds, may in rows}


def room_of(path):
    return max((r for r in PLACES if path.startswith(r + "/")), key=len, default=None)


def includes(tree):
    """{(room, room)}: headers are looked for beside the file, from the top, in include/ and in include/user/"""
    found = set()
    for path in (p for room in PLACES for p in (tree / room).rglob("*.[ch]")):
        name = str(path.relative_to(tree))
        for inc in re.findall(r'^\s*#\s*include\s*[<"]([^">]*)[">]', path.read_text(), re.M):
            places = (os.path.normpath(f"{base}{inc}") for base in (os.path.dirname(name) + "/", "", "include/", "include/user/"))
            to = next((p for p in places if (tree / p).is_file()), None)
            if to and room_of(to) not in (room_of(name), None):
                found.add((room_of(name), room_of(to)))
    return found


def reached(arrows, start, without=()):
    seen, left = set(), [start]
    while left:
        at = left.pop()
        for a, b in arrows:
            if a == at and b not in seen and (a, b) not in without:
                seen.add(b)
                left.append(b)
    return seen


def drawn(arrows):
    """of two rooms that include each other the lower one stands for both; what follows from other arrows is left out, and selftests/
    may include anything"""
    lower = {a: b for a, b in arrows if (b, a) in arrows and PLACES[a][1] < PLACES[b][1]}
    rest = {(lower.get(a, a), b) for a, b in arrows if a != "selftests" and (b, a) not in arrows}
    return sorted((a, b, False) for a, b in rest if b not in reached(rest, a, {(a, b)})) + [(a, b, True) for a, b in sorted(lower.items())]


def allowed(rooms, room):
    return MAY.get(rooms.get(room, ("", ""))[1], PLACES)


def check(rooms, arrows):
    for room in rooms:
        if room not in PLACES and room not in NO_BOX:
            yield f"docs/design.md has a room {room}/ that has no place in selftests/tooling/docs/rooms.py"
    for room in PLACES:
        if room not in rooms:
            yield f"docs/design.md's table of rooms lacks {room}/"
        elif rooms[room][1] not in MAY:
            yield f"selftests/tooling/docs/rooms.py does not know what '{rooms[room][1]}' means in rooms (docs/design.md, {room}/)"
    for a, b, _ in drawn(arrows):
        (ax, ay, aw, ah), (bx, by, bw, _) = PLACES[a], PLACES[b]
        if b in allowed(rooms, a) and (ay + ah >= by or max(ax, bx) >= min(ax + aw, bx + bw)):
            yield f"{a}/ includes headers of {b}/: give them places in selftests/tooling/docs/rooms.py of which {b}/ is the lower one"
    for a, b in sorted(arrows):
        if b not in allowed(rooms, a):
            yield f"{a}/ includes headers of {b}/, and docs/design.md's table does not allow it"


# ---------------------------------------------------------------- drawing

def short(holds, width, lines):
    """as many of its clauses as there is room for, one at least, without Markdown; wrapped"""
    plain = re.sub(r" ?\((?:[^()]|\([^()]*\))*\)", "", holds.replace("`", ""))
    ends = [m.start() for m in re.finditer(r"[:;,]( |$)", plain)] + [len(plain)]
    wrapped = [textwrap.wrap(plain[:end], width) for end in ends]
    return [w for w in wrapped if len(w) <= lines][-1:] or wrapped[:1]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text_at(x, y, kind, words):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def box(room, holds):
    x, y, w, h = PLACES[room]
    out = [f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="4" class="{"pure" if room in PURE else "room"}"/>',
           text_at(x + w / 2, y + 20, "name", room + "/")]
    for i, line in enumerate(short(holds, int((w - 10) / 6.3), (h - 26) // 15)[0]):
        out.append(text_at(x + w / 2, y + 38 + 15 * i, "holds", line))
    return out


def frame(label, rooms):
    boxes = [PLACES[r] for r in rooms]
    left, top = min(b[0] for b in boxes) - 14, min(b[1] for b in boxes) - 34
    right, bottom = max(b[0] + b[2] for b in boxes) + 14, max(b[1] + b[3] for b in boxes) + 14
    return [f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="8" class="frame"/>',
            text_at(left + 12, top + 20, "label", label)]


def arrow(a, b, both):
    """straight down, in the middle of what both boxes have in common"""
    ax, ay, aw, ah = PLACES[a]
    bx, by, bw, _ = PLACES[b]
    x = (max(ax, bx) + min(ax + aw, bx + bw)) / 2
    ends = 'marker-start="url(#head)" marker-end="url(#head)"' if both else 'marker-end="url(#head)"'
    return f'<path d="M{x:g} {ay + ah + (8 if both else 0)}V{by - 8}" class="arrow" {ends}/>'


STYLE = """text { font-family: sans-serif; text-anchor: middle; fill: #1b1f24 }
.name { font-size: 14px; font-weight: bold } .holds { font-size: 11px } .label { font-size: 12px; text-anchor: start; fill: #57606a }
.room { fill: #ddf4ff; stroke: #0969da } .pure { fill: #dafbe1; stroke: #1a7f37 }
.frame { fill: #f6f8fa; stroke: #8c959f; stroke-dasharray: 5 4 } .arrow { fill: none; stroke: #57606a; stroke-width: 1.5 }"""
WORDS = (
    "Arrows: source files of the upper room include headers of the lower one. What follows from two arrows is not drawn.",
    "Two rooms with an arrow of two heads include each other, and the arrows of the lower one stand for both.",
    "A room includes nothing that no arrow leads to: make check looks (docs/design.md, Rooms).",
    "Green rooms are pure: no allocation, no lock, no clock, no registers. selftests/ may include anything.",
)


def picture(rooms, arrows):
    width, height = 1120, 756
    out = ["<!-- made by make pictures -->",
           f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
           "<title>Rooms of kvgpu: selftests on top, then the module's rooms, tools and libraries; each includes lower ones, include/ at last</title>",
           f"<style>{STYLE}</style>",
           '<defs><marker id="head" viewBox="0 0 8 8" refX="0" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse"',
           ' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for label, names in FRAMES.items():
        out += frame(label, names)
    for a, b, both in drawn(arrows):
        out.append(arrow(a, b, both))
    for room in PLACES:
        out += box(room, rooms[room][0])
    out += [text_at(40, 682 + 18 * i, "label", words) for i, words in enumerate(WORDS)]
    return "\n".join(out + ["</svg>"])


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    rooms, arrows = table(tree), includes(tree)
    wrong = list(check(rooms, arrows))
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(picture(rooms, arrows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
