# SPDX-License-Identifier: GPL-2.0-only
"""What the module's rooms may include of mdev/, and how many files of a room may be in circles of
calls. A file calls another if it uses a name that the other defines and that is not static, as the
linker would see it. A room is a folder with C files; those of selftests/ are many programs, and are
left out."""
import collections
import functools
import os
import re

import tree as trees

# folder: the headers in mdev/ that its files may include; a path that ends in a slash stands for
# all files of that folder
INCLUDES = {
    "mdev": ("mdev/internal.h", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h", "mdev/machine/machine.h"),
    "mdev/machine": ("mdev/machine/", "mdev/vgpu.h", "mdev/trace.h", "mdev/compat.h"),
    "hw": (), "mmio-trap": (), "gtt-shadow": (), "sched": (),
}
# how many files of a room may be in circles of calls, and of which rooms the number is another;
# where it is larger, the room's README argues for its circle
MOST = 6
CIRCLES = {
    "mmio-trap": 18,
    "mdev": 0, "mdev/machine": 5, "hw": 0, "gtt-shadow": 0, "sched": 2,
    "cuda/api": 0, "cuda/api/export": 2, "cuda/kepler/device": 0, "cuda/kepler/image": 0, "cuda/kepler/driver": 2,
    "remote/server": 0, "remote/cluster/relay": 0, "remote/channel": 0, "remote/client": 2,
    "gpu-model/fifo": 0,
}
# room: the other side of its wall, by whose files its circles may go, too
SIDES = {"mdev": "mdev/machine", "mdev/machine": "mdev"}

# definitions at the start of a line that other files can use: functions with a body, data with a
# value
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z][\w \t*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)
STATIC = re.compile(r"^static\b[\w \t*]*?\b(\w+)\(", re.M)
DATA = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z][\w \t*]*?\b(\w+)(?:\[\w*\])? = ", re.M)
# the name of a struct is no function's
WORD = re.compile(r"(?<!struct )\b[A-Za-z_]\w*\b")


def calls(texts):
    """Return {file: {file that it uses: names}}. @texts: {file: its code}."""
    own = {file: set(FUNCTION.findall(text) + DATA.findall(text)) for file, text in texts.items()}
    owner = {name: file for file, names in own.items() for name in names}
    out = collections.defaultdict(lambda: collections.defaultdict(set))
    for file, text in texts.items():
        for word in set(WORD.findall(text)) - own[file] - set(STATIC.findall(text)):
            if word in owner:
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


def rooms(tree):
    """Return {room: its C files}."""
    out = collections.defaultdict(list)
    for file in tree.of(".c"):
        if not file.startswith("selftests/"):
            out[os.path.dirname(file)].append(file)
    return out


@functools.lru_cache
def circles(tree):
    """Return {room: (its files in circles as of in_circles(), how many files it has)}."""
    files, out = rooms(tree), {}
    for room, own in files.items():
        steps = in_circles(calls({f: tree.code(f) for f in own + files.get(SIDES.get(room), [])}))
        out[room] = {f: step for f, step in steps.items() if f in own}, len(own)
    return out


def largest(tree):
    """Return the rooms with most files in circles, as text."""
    order = sorted(circles(tree).items(), key=lambda room: -len(room[1][0]))
    return ", ".join(f"{room} {len(steps)} of {files} files" for room, (steps, files) in order[:3])


def included(tree, file):
    """Yield the files that this file includes, as paths in the tree. As for the compiler, a file
    beside it comes first."""
    for inc in trees.INCLUDE.findall(tree.text(file)):
        beside = os.path.normpath(os.path.join(os.path.dirname(file), inc))
        yield beside if beside in tree.known else inc


def check_includes(tree):
    for file in tree.of(".c", ".h", rooms=tuple(INCLUDES)):
        allowed = INCLUDES.get(os.path.dirname(file))
        for inc in included(tree, file) if allowed is not None else ():
            if inc.startswith("mdev/") and not any(inc == a or (a.endswith("/") and inc.startswith(a)) for a in allowed):
                yield f"{file}: includes {inc}, which {os.path.dirname(file)}/ is not to know"


def check_circles(tree):
    for room, (steps, _) in circles(tree).items():
        most = CIRCLES.get(room, MOST)
        if len(steps) > most:
            yield f"{room}/: {len(steps)} files in circles of calls, {most} at most:"
            yield from (f"  {f} calls {to} ({name}), which comes back to it" for f, (to, name) in sorted(steps.items()))
    for room, most in CIRCLES.items():
        count = len(circles(tree).get(room, ((), 0))[0])
        if room not in circles(tree) or most > MOST >= count:
            yield f"selftests/tooling/lint/walls.py: nothing needs the number of {room}/ in CIRCLES"
        elif most > MOST and not ((readme := f"{room}/README.md") in tree.known and "circle" in tree.text(readme)):
            yield f"{readme}: does not argue for the circle of {count} files in {room}/"


def check(tree):
    yield from check_includes(tree)
    yield from check_circles(tree)
