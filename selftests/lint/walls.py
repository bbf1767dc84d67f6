#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""walls.py [TREE]: checks for make lint what the module's rooms may include of mdev/, and how many
files of a room may call each other in a circle. A file calls another if it uses a name that the other defines
and that is not static, as the linker would see it."""
import collections
import pathlib
import re
import sys

# folder: the headers in mdev/ that its files may include; a path that ends in a slash stands for
# all files of that folder
INCLUDES = {
    "mdev": ("mdev/internal.h", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h", "mdev/machine/machine.h"),
    "mdev/machine": ("mdev/machine/", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h"),
    "hw": (), "mmio-trap": (), "gtt-shadow": (), "sched": (),
}
# (folder, how many of its files may be in circles of calls, folders whose files are also in the
# graph)
CIRCLES = (
    ("mdev", 0, ("mdev/machine",)),
    ("mdev/machine", 5, ("mdev",)),
    ("hw", 0, ()), ("gtt-shadow", 0, ()), ("sched", 2, ()),
    ("cuda/device", 0, ()), ("cuda/image", 0, ()),
    ("cuda/driver", 2, ()), ("cuda/export", 2, ()),
    ("remote/server", 0, ()), ("remote/cluster/relay", 0, ()),
    ("remote/client", 2, ()),
)

COMMENT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*""", re.S)
# definitions at the start of a line that other files can use: functions with a body, data with a
# value
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z][\w \t*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)
STATIC = re.compile(r"^static\b[\w \t*]*?\b(\w+)\(", re.M)
DATA = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z][\w \t*]*?\b(\w+)(?:\[\w*\])? = ", re.M)


def files_of(tree, folder, *endings):
    return sorted(p for p in (pathlib.Path(tree) / folder).glob("*") if p.suffix in endings)


def code_of(path):
    return COMMENT.sub(lambda m: '""' if m.group()[0] in "\"'" else " ", path.read_text())


def calls(texts):
    """Return {file: {file that it uses: names}}. @texts: {file: its code}."""
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
    """Return {file that is in a circle: (the next file of the circle, a name that it uses of it)}."""
    out = {}
    for file in graph:
        back = sorted(to for to in graph[file] if file in reached(graph, to))
        if back:
            out[file] = back[0], sorted(graph[file][back[0]])[0]
    return out


def included(tree, path):
    """Yield the files that this file includes, as paths in the tree. As for the compiler, a file
    beside it comes first."""
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
