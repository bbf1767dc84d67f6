#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that whoever changes code of remoting that is written by hand has thought of the builds on
the other side: remote/meanings.tsv has, for each entry with such code, the number of its meaning
and a hash of that code: of the functions in remote/client that name its operation, and of its
function in remote/server. What these call is not looked at. meanings.py renews the file (make
meanings)."""
import hashlib
import pathlib
import re
import sys

import tree as trees

LIST = "remote/meanings.tsv"
TABLES = {"remote/frames.def": re.compile(r"^frame (\w+)\([^()]*\)(.*)$", re.M),
          "cuda/api/api.def": re.compile(r"^(?:\d+|-) (?:async|sync|waits) (\w+)\([^()]*\)(.*)$", re.M)}
NUMBER = re.compile(r"(?:^|;|\))\s*meaning (\d+)\b")
FUNCTION = re.compile(r"^(?![\s#/}{*])[^;{}]*?\b(\w+)\([^;{}]*\)\n\{\n.*?^\}$", re.M | re.S)
OPERATION = re.compile(r"\bOP_(\w+)")
SERVES = re.compile(r"(?:frame|own)_(\w+)")


def entries(tree):
    """{name of an entry: (number, hash of its code, its table)}"""
    code, found = {}, {}
    for file in tree.of(".c", rooms=("remote/client", "remote/server")):
        for m in FUNCTION.finditer(tree.code(file)):
            serves = SERVES.fullmatch(m.group(1)) if file.startswith("remote/server/") else None
            names = {serves.group(1)} if serves else set(OPERATION.findall(m.group())) if file.startswith("remote/client/") else ()
            for name in names:
                code.setdefault(name, []).append(" ".join(m.group().split()))
    for table, line in TABLES.items():
        for name, options in line.findall(tree.text(table)) if table in tree.known else ():
            if name in code:
                number = NUMBER.search(options)
                text = "\n".join(sorted(code[name]))
                found[name] = int(number.group(1)) if number else 1, hashlib.sha256(text.encode()).hexdigest()[:12], table
    return found


def rows(tree):
    lines = tree.text(LIST).splitlines() if LIST in tree.known else ()
    return {name: (int(number), code) for name, number, code in (line.split("\t") for line in lines if line[0] != "#")}


def check(tree):
    now, listed = entries(tree), rows(tree)
    for name, (number, code, table) in now.items():
        if name in listed and number < listed[name][0]:
            yield f"{table}: {name}: its `meaning {listed[name][0]}` went back to {number}: numbers only rise"
        elif listed.get(name) == (number, code):
            continue
        elif name in listed and listed[name][0] == number:
            yield f"{LIST}: {name}: its code in client/ or server/ has changed. If an old build on the other side would take it amiss, " \
                  f"write `meaning {number + 1}` in {table}; then make meanings"
        else:
            yield f"{LIST}: {name}: make meanings"
    for name in listed.keys() - now.keys():
        yield f"{LIST}: {name} has no such code: make meanings"


def main():
    tree = trees.Tree(pathlib.Path(__file__).resolve().parents[3])
    wrong = [line for line in check(tree) if "went back" in line]
    if wrong:
        sys.exit("\n".join(wrong))
    text = "# SPDX-License-Identifier: MIT\n# entries with code by hand: number of the meaning, hash of the code. By make meanings; CONTRIBUTING.md\n"
    text += "".join(f"{name}\t{number}\t{code}\n" for name, (number, code, _) in sorted(entries(tree).items()))
    (tree.root / LIST).write_text(text)


if __name__ == "__main__":
    main()
