# SPDX-License-Identifier: GPL-2.0-only
"""Checks that functions of shell scripts have one form, that of two sourced files the second does
not replace a function of the first, that no pipe under pipefail ends in grep -q, and that
shellcheck finds nothing."""
import re
import shutil

from tree import Proofs

# SC2319 of newer versions of shellcheck warns that $? is of a condition, which tests pass to
# result()
OPTIONS = ("-x", "-S", "warning", "-e", "SC2319")
SOURCE = re.compile(r"shellcheck source=(\S+)")
# OPENS finds a function of several lines whose { is not on a line of its own, KEYWORD "function
# NAME" and "NAME ()"
OPENS = re.compile(r"^\s*(?:function\s+)?[\w-]+\s*\(\) *\{[ \t]*(?:#.*)?$")
KEYWORD = re.compile(r"^(?:function\s+[\w-]+ *(?:\(\) *)?(?:\{.*)?|[\w-]+\s+\(\)\s*(?:\{.*)?)$")
NAMED = re.compile(r"^([\w-]+)\(\)", re.M)
# grep -q ends at the first match. What still writes into the pipe then gets SIGPIPE, and pipefail
# makes a failure of the match.
QUIET = re.compile(r"(?<!\|)\|\s*(?:\w+=\S+\s+)*grep\s+(?:-\S+\s+)*-\w*q")
HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


def scripts(tree):
    for file in tree.of(".sh", "testbed/tb", ".ci/run"):
        if re.search(r"^#!.*sh\b|SPDX", tree.text(file)[:400], re.M):
            yield file


def lines_of(text):
    """Yield (number, line) of the lines of a script that are not in a here-document."""
    ends = []
    for number, line in enumerate(text.split("\n"), 1):
        if ends:
            if line.strip("\t") == ends[0]:
                ends.pop(0)
            continue
        yield number, line
        if not line.lstrip().startswith("#"):
            ends = [m.group(2) for m in HERE.finditer(line.replace("<<<", "   "))]


def sourced(tree, file):
    """Return the file and all files that it sources, directly or through others."""
    seen, left = {file}, [file]
    while left:
        for to in SOURCE.findall(tree.text(left.pop())):
            if to not in seen and to in tree.known:
                seen.add(to)
                left.append(to)
    return sorted(seen)


def replaced(tree, file):
    """A script may have its own version of a function that it sources: it sees both. Yield what two
    files that it sources define."""
    by = {}
    for other in sourced(tree, file):
        for name in set(NAMED.findall(tree.text(other))) if other != file else ():
            if name in by:
                yield f"{file}:1: {by[name]} and {other} are sourced, and both define {name}()"
            by[name] = other


def piped(tree):
    """Return the scripts that set pipefail, and all files that they source. testbed/tb sources those
    of testbed/lib by a loop."""
    return {to for file in scripts(tree) if "pipefail" in tree.text(file) or file.startswith("testbed/lib/")
            for to in sourced(tree, file)}


def style(tree):
    fails = piped(tree)
    for file in scripts(tree):
        yield from replaced(tree, file)
        for number, line in lines_of(tree.text(file)):
            if OPENS.match(line):
                yield f"{file}:{number}: the {{ of a function of several lines has a line of its own"
            elif KEYWORD.match(line):
                yield f"{file}:{number}: a function is written name()"
            if file in fails and QUIET.search(line):
                yield f"{file}:{number}: grep -q in a pipe under pipefail: grep ... > /dev/null"


def shellcheck(tree):
    if not shutil.which("shellcheck"):
        yield "shellcheck is not installed: testbed/tb setup installs it"
        return
    version = re.search(r"^version: (.*)", tree.run("shellcheck", "--version").stdout, re.M)

    def look(file):
        said = tree.run("shellcheck", *OPTIONS, file)
        if said.returncode:
            yield (said.stdout + said.stderr).rstrip() or f"{file}: shellcheck ended with {said.returncode}"

    yield from Proofs(tree, "shellcheck", version and version.group(1), OPTIONS).each(list(scripts(tree)), lambda file: sourced(tree, file), look)
