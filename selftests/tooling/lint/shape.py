# SPDX-License-Identifier: GPL-2.0-only
"""Checks how long functions are, but for switches and tables; the beginnings of the names of the
module's functions, and that no two of its files have a function of one name."""
import re

from tree import exceptions, unneeded

MAX_FUNCTION = 60
# a function may be longer that is one switch with arms of so many lines at most, or one table, and
# so many lines beside
MAX_ARM, MAX_BESIDE = 20, 10
NAME = re.compile(r"\b(\w+)\((?!\()")
TEST = re.compile(r"\bTEST(?:_WITH)?\((\w+).*\)$")  # of selftests/unit_test.h


def functions_of(code):
    """Yield (name, number of the body's first line, number of lines between its braces, text before
    the braces) of each C function. @code: of Tree.code()."""
    lines, start, head = code.split("\n"), None, 0
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif start is not None and line.startswith("}"):
            said = TEST.sub(r"static void \1(void **state)", " ".join(lines[head:start]))
            names = NAME.findall(said)
            yield (names[0] if names else "?"), start + 2, i - start - 1, said
            start, head = None, i + 1
        elif start is None and (not line or line[-1] in ";}\\" or line.startswith("#")):
            head = i + 1


def is_switch_or_table(body):
    """Tell whether nearly all lines of a function's body are of one switch or one table."""
    start, length = None, 0
    for i, line in enumerate(body):
        if start is None and re.match(r"\tswitch \(|\t\S.*= \{$", line):
            start = i
        elif line in ("\t}", "\t};") and start is not None:
            labels = [k for k in range(start, i) if re.match(r"\t(case\b.*|default):", body[k])] + [i]
            if max((b - a for a, b in zip(labels, labels[1:])), default=0) <= MAX_ARM:
                length = max(length, i + 1 - start)
            start = None
    return len(body) - length <= MAX_BESIDE


def functions(tree):
    listed, used = exceptions("functions.list"), set()
    for file in tree.of(".c", ".h", ".cu", ".inc"):
        code = tree.code(file)
        for name, line, length, _ in functions_of(code):
            if length <= MAX_FUNCTION or is_switch_or_table(code.split("\n")[line - 1:line - 1 + length]):
                continue
            if ([file, name] in (words for words, _ in listed)):
                used.add((file, name))
            else:
                yield f"{file}:{line}: {name}() has {length} lines, {MAX_FUNCTION} is the limit"
    yield from unneeded("functions.list", listed, used)


# room: the beginnings of its functions' names, for use in the room and by other rooms
PREFIX = {
    "hw": "hw_|kvgpu_hw_", "mmio-trap": "vtrap_|kvgpu_trap_", "gtt-shadow": "vgtt_|kvgpu_shadow_", "sched": "vsched_|kvgpu_sched_",
    "mdev": "vgpu_|kvgpu_mdev_", "mdev/machine": "vmach_|kvgpu_machine_",
}


def prefixes(tree):
    seen = {}
    for file in tree.of(".c", ".h"):
        allowed = PREFIX.get(file.rpartition("/")[0])
        if not allowed:
            continue
        for name, line, _, said in functions_of(tree.code(file)):
            if not re.match(r"static\b", said.strip()) and not re.match(allowed, name) and NAME.search(said):
                yield f"{file}:{line}: {name}() begins with none of {allowed.replace('|', ', ')}"
            if file.endswith(".c") and NAME.search(said) and seen.setdefault(name, file) != file:
                yield f"{file}:{line}: {seen[name]} has a function {name}(), too"
