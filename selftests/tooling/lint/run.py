#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run.py [--long] [--times] [--only RULE,...] [TREE]: checks the tree for the rules of
docs/house-style.md that have a star. Prints each fault with its place; exit code 1 if there is
any. The rules that take long are left out; with --long they are all that is checked."""
import argparse
import pathlib
import resource
import sys
import time

import checkpatch
import cited
import claims
import columns
import comments
import documents
import environment
import formatted
import headers
import layers
import meanings
import names
import offsets
import shape
import shell
import shipped
import silent
import tree as trees
import walls

# name of a rule: (function that yields the faults of a tree, whether it takes long)
RULES = {
    "files": (names.check, False),              # SPDX line, names that say something
    "readme": (names.readmes, False),           # folders of sources have a README, or that of the folder above names them
    "guards": (headers.guards, False),
    "offsets": (offsets.check, False),
    "kbuild": (layers.kbuild, False),           # kvgpu.ko is made of all sources of its rooms
    "layers": (layers.check, False),            # which room includes which
    "walls": (walls.check, False),              # sides of mdev/, circles of calls in each room
    "comments": (lambda tree: comments.check(tree.root), False),     # kernel-doc fits its function
    "cited": (cited.check, False),
    "marks": (cited.marks, False),              # a document gives a row's mark, like F1, once
    "claims": (claims.check, False),            # README.md's numbers are those of the pages that it cites
    "columns": (columns.check, False),
    "documents": (documents.check, False),      # README.md and docs/ are short, and name no commit
    "sentences": (documents.sentences, False),  # few sentences of docs/ are long, and no cell of a table
    "points": (documents.points, False),        # docs/open-points.md is made of its table, and has all points that texts name
    "pictures": (documents.pictures, False),    # pictures of docs/ are shown, and tell what is seen
    "words": (documents.words, False),          # docs/glossary.md is made of its list, and no word stands where that forbids it
    "shipped": (shipped.check, False),          # who installs kvgpu has the pages that it names, and what it is built with
    "environment": (environment.check, False),  # no variable decides what a library runs or loads
    "formatted": (formatted.check, False),      # clang-format finds nothing to change
    "silent": (silent.check, False),            # remoting says what it refuses
    "meanings": (meanings.check, False),        # code of remoting by hand has changed: does it mean something else?
    "functions": (shape.functions, False),
    "prefixes": (shape.prefixes, False),        # names of the module's functions begin with their room
    "shell": (shell.style, False),
    "shellcheck": (shell.shellcheck, False),
    "alone": (headers.alone, False),            # each header of the product's rooms compiles alone
    "pure": (layers.pure, True),                # pure rooms call few functions of others: those listed
    "checkpatch": (checkpatch.check, True),
}


def cpu():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="the rules that take long, in place of the others")
    parser.add_argument("--only", help="these rules", type=lambda words: words.split(","))
    parser.add_argument("--times", action="store_true", help="say how much time each took")
    parser.add_argument("tree", nargs="?", default=pathlib.Path(__file__).resolve().parents[3])
    args = parser.parse_args()
    for rule in args.only or ():
        if rule not in RULES:
            parser.error(f"there is no rule {rule}; there are {' '.join(RULES)}")
    tree, wrong = trees.Tree(args.tree), 0
    for rule, (check, long) in RULES.items():
        if rule not in args.only if args.only else long != args.long:
            continue
        began = cpu(), time.monotonic()
        for line in check(tree):
            print(line, flush=True)
            wrong += 1
        if args.times:
            print(f"# {rule}: {cpu() - began[0]:.1f} s of CPU time, {time.monotonic() - began[1]:.1f} s", file=sys.stderr)
    if not wrong and "walls" in (args.only or RULES):
        print(f"largest circles: {walls.largest(tree)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
