#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The walls between rooms, for make lint: what each side of mdev/ may include of the other, and which files may call each other in
a circle. Calls are what the linker would see: a name that one file defines for others, and another one uses.
  walls.py [TREE]"""
import collections
import pathlib
import re
import sys

# files of a folder, and what they may include that lies in mdev/; a path that ends in a slash is all of a folder
INCLUDES = {
    "mdev": ("mdev/internal.h", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h", "mdev/machine/machine.h"),
    "mdev/machine": ("mdev/machine/", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h"),
    "hw": (), "mmio-trap": (), "gtt-shadow": (), "sched": (),
}
# files that may be in circles: of which folder, how many; in one graph with the folder that follows
CIRCLES = (
    ("mdev", 0, ("mdev/machine",)),
    ("mdev/machine", 5, ("mdev",)),
    ("hw", 0, ()), ("gtt-shadow", 0, ()), ("sched", 2, ()),
    ("cuda/device", 0, ()), ("cuda/image", 0, ()),
)

COMMENT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*""", re.S)
# at the start of a line: a function with its body, or data with its value; others see it unless it is static
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-z][\w \t*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)
STATIC = re.compile(r"^static\b[\w \t*]*?\b(\w+)\(", re.M)
DATA = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-z][\w \t*]*?\b(\w+)(?:\[\w*\])? = ", re.M)


def files_of(tree, folder, *endings):
    return sorted(p for p in (pathlib.Path(tree) / folder).glob("*") if p.suffix in endings)


def code_of(path):
    return COMMENT.sub(lambda m: '""' if m.group()[0] in "\"'" else " ", path.read_text())


def calls(texts):
    """which file uses what of which: {file: {file: names}}; @texts: code by file"""
    owner, out = {}, collections.defaultdict(lambda: collections.defaultdict(set))
    for file, text in texts.items():
        for name in FUNCTION.findall(text) + DATA.findall(text):
            owner[name] = file
    for file, text in texts.items():
        for word in set(re.findall(r"\b[A-Za-z_]\w*\b", text)) - set(STATIC.findall(text)):
            if owner.get(word, file) != file:
                out[file][owner[word]].add(word)
    return out


def reached(graph, start):
    seen, left = set(), [start]
    while left:
        for to in graph.get(left.pop(), ()):
            if to not in seen:
                seen.add(to)
                left.append(to)
    return seen


def in_circles(graph):
    """files that come back to themselves, and for each one a step of the way"""
    out = {}
    for file in graph:
        back = sorted(to for to in graph[file] if file in reached(graph, to))
        if back:
            out[file] = back[0], sorted(graph[file][back[0]])[0]
    return out


def included(tree, path):
    """what of the tree this file includes, by its path in the tree: the compiler looks beside the file first"""
    for inc in re.findall(r'^\s*#\s*include\s*["<]([^">]*)[">]', path.read_text(), re.M):
        beside = (path.parent / inc).resolve()
        yield str(beside.relative_to(tree.resolve())) if beside.is_file() and beside.is_relative_to(tree.resolve()) else inc


def check_includes(tree):
    for folder, allowed in INCLUDES.items():
        for path in files_of(tree, folder, ".c", ".h"):
            for inc in included(tree, path):
                if not inc.startswith("mdev/"):
                    continue
                if not any(inc == a or (a.endswith("/") and inc.startswith(a)) for a in allowed):
                    yield f"{folder}/{path.name}: includes {inc}, which {folder}/ is not to know"


def check_circles(tree):
    for folder, most, others in CIRCLES:
        texts = {str(p.relative_to(tree)): code_of(p) for f in (folder, *others) for p in files_of(tree, f, ".c")}
        circles = {f: step for f, step in in_circles(calls(texts)).items() if f.rsplit("/", 1)[0] == folder}
        if len(circles) > most:
            yield f"{folder}/: {len(circles)} files in circles of calls, {most} at most:"
            yield from (f"  {f} calls {to} ({name}), which comes back to it" for f, (to, name) in sorted(circles.items()))


def check(tree):
    return [*check_includes(tree), *check_circles(tree)]


def main():
    wrong = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]))
    print("".join(f"{w}\n" for w in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
