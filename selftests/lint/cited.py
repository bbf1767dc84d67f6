# SPDX-License-Identifier: GPL-2.0-only
"""Files that comments and documents name exist.

A path may be relative to the top of the tree or to the file that names it, or be the end of any
path in the tree. foreign.list has patterns of names that are not in the tree: files of other
projects, and files that a build makes. A name in capitals (FILE.json, selftests/unit/NAME.c) is
a placeholder and is not looked for."""
import fnmatch
import os
import re

from tree import exceptions, unneeded

NAMED = re.compile(r"(?<![\w/.$*{<~@%+-])((?:[\w.+-]+/)*[\w+-]+\.(?:c|h|sh|py|md|mk|cu|inc|list|def|awk|tsv|json|svg))\b(?![\w/(*-])")
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]+[./]")


def prose(tree, file):
    """Yield (line number, text) of the comments of a source file, or of a whole document."""
    if file.endswith((".c", ".h", ".cu", ".inc")):
        yield from tree.comments(file)
    elif file.endswith(".md"):
        yield 1, tree.text(file)
    else:
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            if re.search(r"(?:^|\s)#(?!\s*shellcheck)", line):
                yield number, line[line.index("#"):]


def ends(tree):
    out = set()
    for file in tree.files:
        parts = file.split("/")
        out.update("/".join(parts[i:]) for i in range(len(parts)))
    return out


def check(tree):
    listed, used, known = exceptions("foreign.list"), set(), ends(tree)
    for file in tree.of(".c", ".h", ".cu", ".inc", ".sh", ".py", ".mk", ".md", "Makefile", "Kbuild", "testbed/tb"):
        for first, text in prose(tree, file):
            for m in NAMED.finditer(text):
                name = m.group(1)
                beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
                if name in known or beside in known or PLACEHOLDER.search(name):
                    continue
                excuse = next((tuple(words) for words, _ in listed if fnmatch.fnmatchcase(name, words[0]) and
                               (len(words) == 1 or fnmatch.fnmatchcase(file, words[1]))), None)
                if excuse:
                    used.add(excuse)
                else:
                    yield f"{file}:{first + text.count(chr(10), 0, m.start())}: there is no {name}"
    yield from unneeded("foreign.list", listed, used)


def marks(tree):
    """In a document each first cell like F1, by which texts name a row, stands once."""
    for file in tree.of(".md"):
        seen = {}
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            m = re.match(r"\| ([A-Z]{1,2}[0-9]{1,2}) \|", line)
            if m and seen.setdefault(m.group(1), number) != number:
                yield f"{file}:{number}: line {seen[m.group(1)]} is {m.group(1)}, too"
