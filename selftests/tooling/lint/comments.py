#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""comments.py [TREE]: checks the kernel-doc of the rooms below, for make lint. It must name the
function that follows it, and its parameters in their order."""
import pathlib
import re
import sys

ROOMS = ("sched", "mmio-trap", "hw", "gtt-shadow", "mdev", "include/gk110", "include/kvgpu")

# a kernel-doc comment, and the declaration or the beginning of the definition that follows it
KERNEL_DOC = re.compile(r"^/\*\*\n(.*?)\*/\n(.*?)\s*[;{]", re.S | re.M)
TITLE = re.compile(r" \* (\w+)\(\) - ")
FUNCTION = re.compile(r"(\w+)\((.*?)\)(?:\s+__\w+(?:\([^()]*\))?)*$", re.S)


def parameters(text):
    """Return the names of the parameters in the declaration @text; for a function pointer the name
    in (*name)."""
    pointers = re.sub(r"\(\*\s*(\w+)\)\s*\([^()]*\)", r"\1", text)
    names = [re.findall(r"\w+|\.\.\.", re.sub(r"\[[^]]*\]", "", p))[-1:] for p in pointers.split(",")]
    return [n for name in names for n in name if n != "void"]


def misfits(text):
    """Yield (line number, complaint) of kernel-doc that does not fit the function that follows it."""
    for m in KERNEL_DOC.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        title, function = TITLE.match(m[1]), FUNCTION.search(m[2])
        if not title or not function:
            yield line, "kernel-doc begins with NAME() - and stands above a function"
        elif title[1] != function[1]:
            yield line, f"kernel-doc of {title[1]}() stands above {function[1]}()"
        elif (has := re.findall(r"^ \* @(\w+|\.\.\.):", m[1], re.M)) != parameters(function[2]):
            yield line, f"kernel-doc of {title[1]}() has parameters ({', '.join(has)}), not ({', '.join(parameters(function[2]))})"


def check(tree):
    wrong = []
    for room in ROOMS:
        for path in sorted((tree / room).rglob("*.[ch]")):
            name, text = path.relative_to(tree), path.read_text()
            wrong += [f"{name}:{line}: {complaint}" for line, complaint in misfits(text)]
    return wrong


def main():
    wrong = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3]))
    print("".join(f"{w}\n" for w in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
