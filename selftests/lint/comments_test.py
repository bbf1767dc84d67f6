#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: tests comments.py on made-up trees of one file each."""
import pathlib
import sys
import tempfile

import comments

DOC = "/**\n * f() - {}\n * @a: {}\n *\n * Return: 0.\n */\n{}\n"
results = []


def expect(text, source, *wanted, name="hw/chip.c"):
    """One test: comments.check() finds @wanted in @source: "LINE: BEGINNING" of each complaint, in
    order, without quotes."""
    with tempfile.TemporaryDirectory() as top:
        path = pathlib.Path(top) / name
        path.parent.mkdir(parents=True)
        path.write_text(source)
        wrong = comments.check(pathlib.Path(top))
    report(text, len(wrong) == len(wanted) and
           all(line.replace('"', "").startswith(f"{name}:{w}") for line, w in zip(wrong, wanted)), wrong)


def report(text, good, wrong):
    results.append(good)
    if not good:
        print("".join(f"# {w}\n" for w in wrong), end="")
    print(f"{'ok' if good else 'not ok'} {len(results)} - {text}")


def main():
    expect("plain words", "/* Returns the channel whose list that is. The last one is NULL. */\nint who;\n// See what_is(), and the other one.\n")
    expect("who", "int a;\n/* The guest who asks. */\n", "2: who")
    expect("who, at the start and in any form", "// Who waits\n// for whom\n// Whoever it is\n", "1: Who", "2: whom", "3: Whoever")
    expect("the one that, over the end of a line", "/*\n * The first\n * one\n *  that fits.\n */\n", "3: one that")
    expect("the ones which", "int a; /* ones which are late */\n", "1: ones which")
    expect("persons", "/* somebody, No one, Everyone */\n", "1: somebody", "1: No one", "1: Everyone")
    expect("owners without a name", "/* the others' pages, another one's and the other's */\n", "1: others'", "1: one's", "1: other's")
    expect("he and his", "/* his page, as he likes */\n", "1: his", "1: he")
    expect("a sentence that begins with What", "/* What is left. What else? Not: what is left. */\n", "1: What", "1: What")
    expect("words in kernel-doc", DOC.format("who calls", "What it is", "int f(int a);"), "2: who", "3: What")
    expect("words that have others in them", "/* whole, ones, someone_else(), oneself, this, the, shed, history */\n")
    expect("a string", 'const char *s = "who asks /* who */";\n')
    expect("a reason in mmio-trap", '\t.why = "who asks",\t/* fine */\n', "1: who", name="mmio-trap/pmc.c")
    expect("a comment behind a string with a quote", 'f("\\"", \'"\'); /* who */\n', "1: who")
    expect("a folder in a room", "/* who */\n", "1: who", name="mdev/machine/pin.c")
    expect("a room that is not asked for", "/* who */\n", name="tools/top.c")
    expect("kernel-doc of a function", DOC.format("add", "number", "static inline unsigned int f(const u8 a[4])\n{\n}"))
    expect("kernel-doc of a function pointer", DOC.format("add", "call", "void f(int (*a)(void *, int, u8));"))
    expect("kernel-doc with an attribute", DOC.format("add", "format", "void f(const char *a) __printf(1, 0);"))
    expect("a parameter without a line", DOC.format("add", "number", "void f(int a, struct b *b);"), "1: kernel-doc of f() has parameters (a), not (a, b)")
    expect("a parameter that is gone", DOC.format("add", "number", "void f(void);"), "1: kernel-doc of f() has parameters (a), not ()")
    expect("kernel-doc above another function", DOC.format("add", "number", "void g(int a);"), "1: kernel-doc of f() stands above g()")
    expect("kernel-doc above no function", DOC.format("add", "number", "struct f;\nvoid f(int a);"), "1: kernel-doc begins with")
    wrong = comments.check(pathlib.Path(__file__).resolve().parents[2])
    report("the rooms' comments", not wrong, wrong)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
