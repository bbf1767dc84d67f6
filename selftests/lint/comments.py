#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""comments.py [TREE]: checks comments of the rooms below, for make lint. They must not have words
such as "who" or "one that", which do not name the thing that is meant. Kernel-doc must name the
function that follows it, and its parameters in their order. The words are also refused in the
strings of mmio-trap/, because build/docs/registers.md prints these."""
import pathlib
import re
import sys

ROOMS = ("sched", "mmio-trap", "hw", "gtt-shadow", "mdev", "include/gk110", "include/kvgpu")
STRINGS = ("mmio-trap",)

# (pattern of refused words, what to write instead)
WORDS = (
    (r"\bwho(?:m|ever|mever)?\b", "name the vGPU, the guest, the VMM, the caller"),
    (r"\b(?:one|ones) (?:that|which)\b", "name the thing"),
    (r"\b(?:some|any|every|no)body\b|\b(?:some|any|every)one\b|\bno one\b", "name the vGPU, the guest, the VMM, the caller"),
    (r"\bothers'|\b(?:one|other)'s\b", "name the owner"),
    (r"\b(?:s?he|his|hers?|him)\b", "name the vGPU, the guest, the VMM, the caller"),
    (r"(?:^|[.:] )What(?:ever)? ", "begin with the thing that the sentence is about"),
)
REFUSED = [(re.compile(r"(?i:%s)" % p if "What" not in p else p), instead) for p, instead in WORDS]

TOKEN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*""", re.S)
# the marks and blanks at the beginning of a comment and of each of its lines
MARGIN = re.compile(r"^[ \t]*(?:/\*+|\*/?|//)?[ \t]*", re.M)

# a kernel-doc comment, and the declaration or the beginning of the definition that follows it
KERNEL_DOC = re.compile(r"^/\*\*\n(.*?)\*/\n(.*?)\s*[;{]", re.S | re.M)
TITLE = re.compile(r" \* (\w+)\(\) - ")
FUNCTION = re.compile(r"(\w+)\((.*?)\)(?:\s+__\w+(?:\([^()]*\))?)*$", re.S)


def flat(text):
    """Return a comment as one line: each character keeps its place; line breaks, and the marks at
    the beginning of lines, become spaces."""
    return re.sub(r"\s", " ", MARGIN.sub(lambda m: " " * len(m.group()), text))


def found(text, strings):
    """Yield (line number, refused words, what to write instead) of a source text."""
    for m in TOKEN.finditer(text):
        if m.group()[0] == "/":
            said = flat(m.group())
        elif m.group()[0] == '"' and strings:
            said = m.group().strip('"')
        else:
            continue
        # where a line ended there are several blanks between two words
        said, at = squeezed(said)
        for words, instead in REFUSED:
            for w in words.finditer(said):
                line = text.count("\n", 0, m.start() + at[w.start()]) + 1
                yield line, w.group().strip(" .:"), instead


def squeezed(said):
    """Return @said with single blanks between words and none in front, and the place in @said of
    each of its characters."""
    out, at = [], []
    for i, c in enumerate(said):
        if c != " " or (out and out[-1] != " "):
            out.append(c)
            at.append(i)
    return "".join(out), at


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
            for line, words, instead in found(text, room in STRINGS):
                wrong.append(f'{name}:{line}: "{words}" in a comment: {instead}')
            wrong += [f"{name}:{line}: {complaint}" for line, complaint in misfits(text)]
    return wrong


def main():
    wrong = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]))
    print("".join(f"{w}\n" for w in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
