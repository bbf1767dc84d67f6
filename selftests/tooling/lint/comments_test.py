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
    expect("kernel-doc of a function", DOC.format("add", "number", "static inline unsigned int f(const u8 a[4])\n{\n}"))
    expect("kernel-doc of a function pointer", DOC.format("add", "call", "void f(int (*a)(void *, int, u8));"))
    expect("kernel-doc with an attribute", DOC.format("add", "format", "void f(const char *a) __printf(1, 0);"))
    expect("a parameter without a line", DOC.format("add", "number", "void f(int a, struct b *b);"), "1: kernel-doc of f() has parameters (a), not (a, b)")
    expect("a parameter that is gone", DOC.format("add", "number", "void f(void);"), "1: kernel-doc of f() has parameters (a), not ()")
    expect("kernel-doc above another function", DOC.format("add", "number", "void g(int a);"), "1: kernel-doc of f() stands above g()")
    expect("kernel-doc above no function", DOC.format("add", "number", "struct f;\nvoid f(int a);"), "1: kernel-doc begins with")
    wrong = comments.check(pathlib.Path(__file__).resolve().parents[3])
    report("the rooms' comments", not wrong, wrong)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
