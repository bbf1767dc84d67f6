#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""abi.py OURS THEIRS [OPTION...]: prints a C program that prints the values, sizes and offsets that OURS and its folder declare.

The program includes what the macro HEADER names: abi.sh compiles it with OURS and with THEIRS, the toolkit's. OPTIONs are gcc's.
Left out are functions, members named reserved, pad or opaque, what THEIRS does not name, which is of later toolkits, and OTHER.
"""
import os
import re
import subprocess
import sys

# members that are one in ours, and several in theirs
OTHER = {"CUlaunchAttributeValue, event"}
HEAD = """#include HEADER
#include <stddef.h>
#include <stdio.h>
#define SIZE(type) printf("sizeof " #type " %zu\\n", sizeof(type))
#define FIELD(type, member) printf(#type "." #member " at %zu, %zu bytes\\n", offsetof(type, member), sizeof(((type *)0)->member))
#define VALUE(name) printf(#name " %lld\\n", (long long)(name))
int main(void)
{"""


def preprocessed(header, options):
    """with #defines"""
    text = f"#include <{header}>\n"
    return subprocess.run(["gcc", "-E", "-dD", *options, "-"], check=True, stdout=subprocess.PIPE, text=True, input=text).stdout


def declared(header, options):
    """the text of HEADER and of what it includes from its folder"""
    lines, ours = [], False
    for line in preprocessed(header, options).splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = os.path.normpath(os.path.dirname(mark[1])) == os.path.dirname(header)
        elif ours:
            lines.append(line)
    return re.sub(r"__attribute__\s*\(\([^()]*(\([^()]*\))?[^()]*\)\)", "", "\n".join(lines))


def statements(text):
    """(words, what is in the braces behind them or None, names behind these or None)"""
    at = 0
    while m := re.compile(r"([^;{}]*)([;{])").match(text, at):
        at = m.end()
        if m[2] == ";":
            yield m[1], None, None
            continue
        depth, begin = 1, at
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        end = text.index(";", at)
        yield m[1].strip(), text[begin:at - 1], names(text[at:end])
        at = end + 1


def names(declarators):
    words = (re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", d)) for d in declarators.split(","))
    return [w[-1] for w in words if w]


def members(body, path=""):
    for words, inside, behind in statements(body):
        for name in names(words) if inside is None else behind:
            if not re.fullmatch(r"(reserved|pad|opaque|__cudaReserved)\d*", name):
                yield path + name
        if inside is not None and not words.startswith("enum"):
            for name in behind or [None]:
                yield from members(inside, f"{path}{name}." if name else path)


def main():
    ours, theirs, *options = sys.argv[1:]
    known = set(re.findall(r"\w+", preprocessed(theirs, options)))
    text = declared(ours, options)
    found = [("VALUE", m[1]) for m in re.finditer(r"(?m)^#define (cu\w+|CU\w+) +[(\d]", text)]
    text = re.sub(r"(?m)^#.*", "", text)
    for m in re.finditer(r"\benum\b\s*\w*\s*\{([^{}]*)\}", text):
        found += [("VALUE", n.split("=")[0].strip()) for n in m[1].split(",") if n.strip()]
    for words, inside, behind in statements(text):
        if inside is None and re.match(r"\s*typedef (?!struct|union)[^(]*$", words):
            found += [("SIZE", name) for name in names(words)]
        elif inside is not None and re.search(r"\b(struct|union)\b", words):
            of = behind[0] if words.startswith("typedef") else words
            found += [("SIZE", of), *(("FIELD", f"{of}, {m}") for m in members(inside))]
    print(HEAD, *(f"\t{kind}({what});" for kind, what in found if what not in OTHER and known.issuperset(re.findall(r"\w+", what))),
          "}", sep="\n")


if __name__ == "__main__":
    main()
