#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads the *.list files, applies a mutation to a text, and checks that each mutation applies
exactly once (README.md)."""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
MINIMUM = {"mdev": 45, "hw": 21, "gtt-shadow": 15, "mmio-trap": 15, "sched": 12}	# how many mutations each room must have at least

Mutation = collections.namedtuple("Mutation", "name file function breaks kind why block")


class Bad(Exception):
    """A mutation has the wrong form, or does not apply exactly once."""


def parse(text, where):
    """Return the mutations of one list. The name of a mutation is FILE:FUNCTION:N, with N counted
    within the function."""
    out, counts = [], collections.Counter()
    for record in re.split(r"\n\s*\n", text):
        lines = [l for l in record.split("\n") if l.strip() and not l.startswith("#")]
        if not lines:
            continue
        try:
            place, breaks, kind = [p.strip() for p in lines[0].split("|")]
            file, function = place.split()
        except ValueError:
            raise Bad(f"{where}: {lines[0]!r} is not 'FILE FUNCTION | BREAKS | KIND'") from None
        if len(lines) < 4 or not lines[1].startswith("why: "):
            raise Bad(f"{where}: {lines[0]!r} has no 'why: '")
        block = [(l[0], l[1:].strip()) for l in lines[2:]]
        if any(mark not in " -+" for mark, _ in block) or [m for m, _ in block if m != " "] != ["-", "+"]:
            raise Bad(f"{where}: {lines[0]!r} is not one line (-) and what it becomes (+), with others ( ) around it")
        key = f"{file}:{function}" if function != "-" else file
        counts[key] += 1
        out.append(Mutation(f"{key}:{counts[key]}", file, function, breaks.split(), kind, lines[1][5:], block))
    return out


def load(folder=HERE):
    out = []
    for path in sorted(pathlib.Path(folder).glob("*.list")):
        out += parse(path.read_text(), path.name)
    return out


def room_of(m):
    return m.file.split("/")[0]


def extent(lines, function):
    """Return (index of the first line, index behind the last line) of a function; '-' is the whole
    file."""
    if function == "-":
        return 0, len(lines)
    head = re.compile(r"^[a-z].*\b" + re.escape(function) + r"\(")
    found = []
    for i, line in enumerate(lines):
        if not head.match(line) or line.rstrip().endswith(";"):
            continue
        for j in range(i, len(lines)):
            if lines[j] == "}":
                found.append((i, j + 1))
                break
            if lines[j].endswith(";") and not lines[j].startswith("\t"):
                break
    if len(found) != 1:
        raise Bad(f"function {function} is there {len(found)} times")
    return found[0]


def apply(m, text):
    """Return @text with the mutation @m in it."""
    lines = text.split("\n")
    first, end = extent(lines, m.function)
    old = [line for mark, line in m.block if mark != "+"]
    at = [i for i in range(first, end - len(old) + 1) if [l.strip() for l in lines[i:i + len(old)]] == old]
    if len(at) != 1:
        raise Bad(f"applies {len(at)} times")
    i = at[0]
    for mark, line in m.block:
        if mark == " ":
            i += 1
        elif mark == "-":
            indent = re.match(r"\s*", lines[i]).group()
            removed = lines.pop(i)
        else:
            if line == removed.strip():
                raise Bad("changes nothing")
            lines.insert(i, indent + line if line else "")
            i += 1
    return "\n".join(lines)


def check(tree, mutations, minimum):
    """Return (what is wrong with the mutations, as lines; their number by room)."""
    wrong, rooms, seen = [], collections.Counter(), {}
    for m in mutations:
        rooms[room_of(m)] += 1
        try:
            text = apply(m, (pathlib.Path(tree) / m.file).read_text())
        except (Bad, OSError) as e:
            wrong.append(f"{m.name}: {e}")
            continue
        if (m.file, text) in seen:
            wrong.append(f"{m.name}: the same as {seen[m.file, text]}")
        seen[m.file, text] = m.name
    wrong += [f"{room}: {rooms[room]} mutations, {n} at least" for room, n in minimum.items() if rooms[room] < n]
    return wrong, rooms


def main():
    tree = HERE.parent.parent
    try:
        wrong, rooms = check(tree, load(), MINIMUM)
    except Bad as e:
        wrong, rooms = [str(e)], {}
    print("\n".join(wrong))
    print(", ".join(f"{room} {n}" for room, n in sorted(rooms.items())), f"- {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
