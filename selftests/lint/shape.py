# SPDX-License-Identifier: GPL-2.0-only
"""How long functions are."""
import re

from tree import exceptions, unneeded

MAX_FUNCTION = 60
NAME = re.compile(r"\b(\w+)\((?!\()")


def functions_of(code):
    """(name, first line of the body, lines between its braces) of each function of C; @code: without comments"""
    lines, start, head = code.split("\n"), None, 0
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif start is not None and line.startswith("}"):
            names = NAME.findall(" ".join(lines[head:start]))
            yield (names[0] if names else "?"), start + 2, i - start - 1
            start, head = None, i + 1
        elif start is None and (not line or line[-1] in ";}\\" or line.startswith("#")):
            head = i + 1


def functions(tree):
    listed, used = exceptions("functions.list"), set()
    for file in tree.of(".c", ".h", ".cu"):
        for name, line, length in functions_of(tree.code(file)):
            if length <= MAX_FUNCTION:
                continue
            if ([file, name] in (words for words, _ in listed)):
                used.add((file, name))
            else:
                yield f"{file}:{line}: {name}() has {length} lines, {MAX_FUNCTION} is the limit"
    yield from unneeded("functions.list", listed, used)
