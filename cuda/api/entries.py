#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entries.py OUT: makes C of api.def, the table of CUDA's entry points, in the folder OUT:

prototypes.h	their prototypes, for api.h
entries.inc	what cuGetProcAddress() finds, for procaddress.c
refused.inc	what our own libcuda refuses, for ../kepler/driver/refused.c
outside.inc	what programs call, for outside.c

entries.py names:  prints the names of all.

remote/api.py reads the table by this module, and makes the rest.
"""
import os
import re
import sys

WAYS = ("here", "async", "sync", "waits", "hand", "refused")
OPTIONS = ("ptsz", "ptds", "why", "kepler", "nocontext", "finds", "own", "known", "clears", "touches", "works", "moves", "takes", "passes",
           "destroys", "ends", "current", "reports", "each", "across", "gone", "anyplace", "parent", "direct", "meaning", "wrong", "when", "tried", "unless", "stays", "after", "remark")
TOOLKIT = 11080  # the oldest toolkit beside whose cuda.h the prototypes are used (selftests/cuda/abi.sh)
HEADER = "/* Made by cuda/api/entries.py of cuda/api/api.def. */\n"


class Bad(Exception):
    """why a line of a table is refused"""


class Arg:
    """one argument; count: of a list, out: it comes back, both: it goes in, too, null: it may be NULL, address: it is one of the GPU's"""

    def __init__(self, text):
        m = re.fullmatch(r"(const )?([\w ]+?)\s*(\**)\s*(\w+)(?:\[(out )?([\w-]+)\])?([?&+])?", text.strip())
        if not m:
            raise Bad("argument not understood: " + text)
        self.const, self.type, self.stars, self.name, out, self.count, mark = m.groups()
        self.null, self.address, self.both = mark == "?", mark == "&", mark == "+"
        self.out = bool(out) if self.count else bool(self.stars) and not self.const and not self.address
        self.c = f"{self.const or ''}{self.type} {self.stars}{self.name}"


def options_of(text):
    options = {}
    for o in filter(None, (o.strip() for o in text.split(";"))):
        word, _, rest = o.partition(" ")
        if word not in OPTIONS:
            raise Bad("no such option: " + word)
        options[word] = rest.strip()
    return options


class Entry:
    """one line; since: None where cuGetProcAddress() never gives it"""

    def __init__(self, line, arg=Arg):
        m = re.fullmatch(r"(\d+|-) (\w+) (cu\w+)\(([^()]*)\)\s*(.*)", line)
        if not m:
            raise Bad("line not understood")
        since, self.way, self.name, args, options = m.groups()
        if self.way not in WAYS:
            raise Bad("no such way: " + self.way)
        self.since = None if since == "-" else int(since)
        self.args = [arg(a) for a in filter(None, args.split(","))]
        self.options = options_of(options)
        self.line = line
        if (self.way == "refused") != self.has("why"):
            raise Bad("what is refused needs an option `why`, and nothing else does")

    def has(self, option):
        return option in self.options

    def base(self):
        """the name that programs give to cuGetProcAddress()"""
        return re.sub(r"_v\d+$", "", self.name)

    def forms(self):
        """beginning with the name itself"""
        return [self.name] + [f"{self.name}_{form}" for form in ("ptsz", "ptds") if self.has(form)]

    def parameters(self):
        return ", ".join(x.c for x in self.args) or "void"

    def prototype(self, suffix=""):
        return f"CUresult {self.name}{suffix}({self.parameters()})"


def read_table(path, name, take):
    """{key: text} of the lines `reason KEY TEXT` of a table; take(line, those before) has its other lines"""
    reasons = {}
    for number, line in enumerate(open(path), 1):
        line = line.rstrip()
        try:
            if line.startswith("reason "):
                _, key, text = line.split(None, 2)
                reasons[key] = text
            elif line and not line.startswith("#"):
                take(line, reasons)
        except Bad as why:
            sys.exit(f"{name}:{number}: {why}: {line}")
    return reasons


def read(entry=Entry):
    """(entries, reasons: {key: text}) of api.def"""
    entries = []
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "api.def")
    reasons = read_table(path, "cuda/api/api.def", lambda line, _: entries.append(entry(line)))
    check(entries, reasons)
    return entries, reasons


def check(entries, reasons):
    said = [n for e in entries for n in e.forms()]
    wrong = [f"{n} is there twice" for n in sorted(set(said)) if said.count(n) > 1]
    used = {e.options[o] for e in entries for o in ("why", "kepler") if e.has(o)}
    wrong += [f"there is no reason {key}" for key in used if key not in reasons]
    wrong += [f"nothing is refused for reason {key}" for key in reasons if key not in used]
    wrong += [f"{e.name}: there is no {e.options['ptds']}" for e in entries if e.options.get("ptds") and e.options["ptds"] not in said]
    if wrong:
        sys.exit("cuda/api/api.def: " + "\ncuda/api/api.def: ".join(wrong))


def prototypes_h(entries):
    """behind a toolkit's cuda.h those that are newer are left out, for it lacks their types"""
    text, now = HEADER + "#ifndef KVGPU_CUDA_PROTOTYPES_H\n#define KVGPU_CUDA_PROTOTYPES_H\n\n", None
    for e in entries:
        newer = e.since if e.since and e.since > TOOLKIT else None
        if newer != now:
            text += "#endif\n" * bool(now) + f"#if !defined(CUDA_VERSION) || CUDA_VERSION >= {newer}\n" * bool(newer)
            now = newer
        where = "API" if e.has("direct") else "ENTRY_POINT({})"
        text += "".join(f"{e.prototype(n[len(e.name):])} {where.format(n)};\n" for n in e.forms())
    return text + "#endif\n" * bool(now) + "\n#endif\n"


def entries_inc(entries):
    """in one with a per-thread form, what has none is not found by programs that ask for such forms"""
    own = {e.base() for e in entries if e.forms()[1:]}
    text = HEADER
    for e in sorted((e for e in entries if e.since), key=lambda e: (e.base(), e.since)):
        per_thread = e.forms()[-1] if e.forms()[1:] or e.base() not in own else "NULL"
        text += f"ENTRY({e.base()}, {e.since}, {e.name}, {per_thread})\n"
    return text


def refused_inc(entries):
    text = HEADER
    for e in (e for e in entries if e.has("kepler")):
        text += "".join(f"REFUSED({n}, {e.parameters()})\n" for n in e.forms())
    return text


def outside_inc(entries):
    text = HEADER
    for e in (e for e in entries if not e.has("direct")):
        args = ", ".join(x.name for x in e.args)
        text += "".join(f"OUTSIDE({n}, ({e.parameters()}), ({args}))\n" for n in e.forms())
    return text


def write(path, text):
    """what is as it was keeps its time"""
    if os.path.exists(path) and open(path).read() == text:
        return
    with open(path + ".new", "w") as f:
        f.write(text)
    os.replace(path + ".new", path)


def write_all(out, entries):
    os.makedirs(out, exist_ok=True)
    for name, made in (("prototypes.h", prototypes_h), ("entries.inc", entries_inc), ("refused.inc", refused_inc), ("outside.inc", outside_inc)):
        write(os.path.join(out, name), made(entries))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: entries.py OUT|names")
    entries = read()[0]
    if sys.argv[1] == "names":
        print("\n".join(sorted(n for e in entries for n in e.forms())))
    else:
        write_all(sys.argv[1], entries)


if __name__ == "__main__":
    main()
