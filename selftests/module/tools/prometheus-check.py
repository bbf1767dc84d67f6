#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads Prometheus' text format 0.0.4 from stdin and says what is wrong: names, escapes, numbers,
each metric in one block below its HELP and TYPE, no sample twice, counters end in _total and are not
below 0."""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(r"(%s)(?:\{((?:%s)(?:,%s)*)\})? (-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$" % (NAME, LABEL, LABEL))
KINDS = ("counter", "gauge")


def check(text):
    if text and not text.endswith("\n"):
        yield 0, "the last line has no end"
    helped, typed, seen, done, current = {}, {}, set(), set(), None
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            yield number, "empty line"
            continue
        if line.startswith("#"):
            m = re.match(r"# (HELP|TYPE) (%s) (.+)$" % NAME, line)
            if not m:
                yield number, "neither HELP nor TYPE"
                continue
            kind, name, rest = m.groups()
            into = helped if kind == "HELP" else typed
            if name in into:
                yield number, "%s of %s twice" % (kind, name)
            into[name] = rest
            if kind == "TYPE" and rest not in KINDS:
                yield number, "type %s" % rest
            if kind == "TYPE" and (rest == "counter") != name.endswith("_total"):
                yield number, "%s is a %s" % (name, rest)
            if name != current:
                done.add(current)
                current = name
            if name in done:
                yield number, "%s is in two blocks" % name
            continue
        m = SAMPLE.match(line)
        if not m:
            yield number, "not a sample: %s" % line
            continue
        name, labels, value = m.group(1), m.group(2) or "", m.groups()[-1]
        if name not in typed or name not in helped:
            yield number, "%s has no TYPE or HELP before it" % name
        if name != current:
            yield number, "%s stands outside of its block" % name
        names = [found[0] for found in re.findall(LABEL, labels)]
        if len(names) != len(set(names)):
            yield number, "a label twice"
        if (name, labels) in seen:
            yield number, "the same sample twice"
        seen.add((name, labels))
        if typed.get(name) == "counter" and float(value) < 0:
            yield number, "a counter below 0"
    for name in typed:
        if not any(sample[0] == name for sample in seen):
            yield 0, "%s has no sample" % name


def main():
    wrong = list(check(sys.stdin.read()))
    for number, what in wrong:
        print("line %d: %s" % (number, what))
    return 1 if wrong else 0


sys.exit(main())
