#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Comments, for make lint. No words that leave open which thing they stand for: comments name the thing. Kernel-doc names the
function that follows it, and each parameter in its order. Looks at the rooms below, and for words also at the strings of
mmio-trap/, whose reasons are printed in docs/registers.md.
  comments.py [TREE]"""
import pathlib
import re
import sys

ROOMS = ("sched", "mmio-trap", "hw", "gtt-shadow", "mdev", "include/gk110", "include/kvgpu")
STRINGS = ("mmio-trap",)

# what is refused, and what to write instead; "whose" has no other word for things, and is allowed
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
# the beginning of a comment, and of each of its lines
MARGIN = re.compile(r"^[ \t]*(?:/\*+|\*/?|//)?[ \t]*", re.M)

# kernel-doc, and the declaration or the head of the definition behind it
KERNEL_DOC = re.compile(r"^/\*\*\n(.*?)\*/\n(.*?)\s*[;{]", re.S | re.M)
TITLE = re.compile(r" \* (\w+)\(\) - ")
FUNCTION = re.compile(r"(\w+)\((.*?)\)(?:\s+__\w+(?:\([^()]*\))?)*$", re.S)


def flat(text):
    """a comment as one line, with each character at its place, and the line breaks as spaces"""
    return re.sub(r"\s", " ", MARGIN.sub(lambda m: " " * len(m.group()), text))


def found(text, strings):
    """(line, words, what to do) of a source text"""
    for m in TOKEN.finditer(text):
        if m.group()[0] == "/":
            said = flat(m.group())
        elif m.group()[0] == '"' and strings:
            said = m.group().strip('"')
        else:
            continue
        # blanks between words may be many: a line ended there
        said, at = squeezed(said)
        for words, instead in REFUSED:
            for w in words.finditer(said):
                line = text.count("\n", 0, m.start() + at[w.start()]) + 1
                yield line, w.group().strip(" .:"), instead


def squeezed(said):
    """@said with single blanks and none in front, and where each of its characters was"""
    out, at = [], []
    for i, c in enumerate(said):
        if c != " " or (out and out[-1] != " "):
            out.append(c)
            at.append(i)
    return "".join(out), at


def parameters(text):
    """names of the parameters in the declaration @text: of a function pointer, the name in (*name)"""
    pointers = re.sub(r"\(\*\s*(\w+)\)\s*\([^()]*\)", r"\1", text)
    names = [re.findall(r"\w+|\.\.\.", re.sub(r"\[[^]]*\]", "", p))[-1:] for p in pointers.split(",")]
    return [n for name in names for n in name if n != "void"]


def misfits(text):
    """(line, complaint) of kernel-doc that is not the next function's"""
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
