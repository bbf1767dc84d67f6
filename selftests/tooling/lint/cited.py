# SPDX-License-Identifier: GPL-2.0-only
"""Files that comments and documents name exist; so do functions, name(), that documents name, and
what stands behind a file, FILE:NAME.

A path may be relative to the top of the tree or to the file that names it, or be the end of any
path in the tree. foreign.list has patterns of names that are not in the tree: files of other
projects, and files that a build makes; and names of functions, with (). A name in capitals (FILE.json, hw/NAME.c) is
a placeholder and is not looked for."""
import fnmatch
import os
import re

from tree import C_FILES, exceptions, unneeded

NAMED = re.compile(r"(?<![\w/.$*{<~@%+-])((?:[\w.+-]+/)*[\w+-]+\.(?:c|h|sh|py|md|mk|cu|inc|list|def|awk|tsv|json|svg))\b(?![\w/(*-])")
WORD = re.compile(r"\w+")
CALLED = re.compile(r"(?<![\w.])(\w+)\(\)")
BEHIND = re.compile(r"(?<![\w/])((?:[\w-]+/)*[\w-]+\.(?:c|h|py|sh)):([A-Za-z_]\w*)")
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


def excused(listed, used, name, file):
    """Whether foreign.list has this name for this file. Notes in @used which of its lines says so."""
    for words, _ in listed:
        if fnmatch.fnmatchcase(name, words[0]) and (len(words) == 1 or fnmatch.fnmatchcase(file, words[1])):
            used.add(tuple(words))
            return True
    return False


def words_of(tree, file):
    return set(WORD.findall(tree.code(file) if file.endswith(C_FILES) else tree.text(file)))


def functions(tree):
    """Yield (file, offset, name, what is wrong) of what documents call name() or FILE:NAME and no
    source has, outside of C's comments."""
    sources = {file: words_of(tree, file) for file in tree.of(*C_FILES, ".S", ".py", ".sh", ".def", ".mk", "testbed/tb")}
    known = set().union(*sources.values())
    for file in tree.of(".md"):
        for m in CALLED.finditer(tree.text(file)):
            if m.group(1) not in known:
                yield file, m.start(), m.group(), f"no source has {m.group()}"
        for m in BEHIND.finditer(tree.text(file)):
            at = [source for source in sources if source == m.group(1) or source.endswith("/" + m.group(1))]
            if at and not any(m.group(2) in sources[source] for source in at):
                yield file, m.start(), m.group(), f"{m.group(1)} has no {m.group(2)}"


def check(tree):
    listed, used, known = exceptions("foreign.list"), set(), ends(tree)
    for file in tree.of(".c", ".h", ".cu", ".inc", ".sh", ".py", ".mk", ".md", "Makefile", "Kbuild", "testbed/tb"):
        for first, text in prose(tree, file):
            for m in NAMED.finditer(text):
                name = m.group(1)
                beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
                if name not in known and beside not in known and not PLACEHOLDER.search(name) and not excused(listed, used, name, file):
                    yield f"{file}:{first + text.count(chr(10), 0, m.start())}: there is no {name}"
    for file, offset, name, wrong in functions(tree):
        if not excused(listed, used, name, file):
            yield f"{file}:{tree.text(file).count(chr(10), 0, offset) + 1}: {wrong}"
    yield from unneeded("foreign.list", listed, used)


def marks(tree):
    """In a document each first cell like F1, by which texts name a row, stands once."""
    for file in tree.of(".md"):
        seen = {}
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            m = re.match(r"\| ([A-Z]{1,2}[0-9]{1,2}) \|", line)
            if m and seen.setdefault(m.group(1), number) != number:
                yield f"{file}:{number}: line {seen[m.group(1)]} is {m.group(1)}, too"
