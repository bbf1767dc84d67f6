#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""coverage.py ROOMS OUT COMPILED [TREE] < JSON of gcov, an object a line: prints what ran of each
room of ROOMS (rooms.list), and writes it to OUT. COMPILED: a file with the paths of the sources.
Exit status 1: a room is below its bound."""
import collections
import json
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def read_rooms(text):
    """{room: (folder, least percent or None)}"""
    rooms = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            room, folder, least = words
            rooms[room] = folder, None if least == "-" else float(least)
    return rooms


def add_up(objects):
    """{file: {line: whether it ran}}, of all objects that were made of it"""
    lines = collections.defaultdict(dict)
    for o in objects:
        for f in o["files"]:
            of = lines[f["file"]]
            for x in f["lines"]:
                n = x["line_number"]
                of[n] = of.get(n, False) or x["count"] > 0
    return lines


def code_lines(text):
    """where no compiler has said which lines have code: those that end in ; or , and those that begin with if, for, while or switch"""
    bare = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    return [n for n, line in enumerate(bare.splitlines(), 1) if re.search(r"[;,]\s*$|^\s*(if|for|while|switch)\b", line)]


def files_of(tree, folder):
    return sorted(str(p.relative_to(tree)) for p in (tree / folder).glob("*") if p.suffix in (".c", ".h", ".inc"))


def measure(tree, rooms, lines, compiled):
    """{room: (lines with code, lines that ran)}, {file: lines that did not}"""
    total, left = {}, {}
    for room, (folder, _) in rooms.items():
        have = ran = 0
        for file in files_of(tree, folder):
            of = lines.get(file)
            if of is None and file.endswith(".c") and file not in compiled:
                of = dict.fromkeys(code_lines((tree / file).read_text()), False)
            if not of:
                continue
            have += len(of)
            ran += sum(of.values())
            left[file] = sorted(n for n, hit in of.items() if not hit)
        total[room] = have, ran
    return total, left


def main(rooms_file, out, compiled, tree="."):
    tree = pathlib.Path(tree)
    rooms = read_rooms(pathlib.Path(rooms_file).read_text())
    lines = add_up(json.loads(line) for line in sys.stdin if line.strip())
    total, left = measure(tree, rooms, lines, set(pathlib.Path(compiled).read_text().split()))
    percent = {room: round(100 * ran / have, 1) if have else 0.0 for room, (have, ran) in total.items()}
    low = [room for room, (_, least) in rooms.items() if least is not None and percent[room] < least]
    print(f"{'room':<20} {'lines':>7} {'ran':>7} {'percent':>8} {'least':>6}")
    for room, (have, ran) in total.items():
        least = rooms[room][1]
        print(f"{room:<20} {have:>7} {ran:>7} {percent[room]:>8} {'' if least is None else f'{least:g}':>6}"
              f"{'  too little' if room in low else ''}")
    pathlib.Path(out).write_text(json.dumps({"rooms": percent, "lines": {r: {"have": h, "ran": n} for r, (h, n) in total.items()},
                                             "files": {f: n for f, n in left.items() if n}}, indent=1) + "\n")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
