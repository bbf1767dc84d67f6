# SPDX-License-Identifier: GPL-2.0-only
"""Checks that clang-format finds nothing to change in C files: .clang-format. Versions of clang-format
differ in some lines, so only VERSION judges; where it is not there, nothing is judged."""
import re
import shutil

from tree import Proofs

VERSION = 14


def program(tree):
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name) and re.search(rf"version {VERSION}\.", tree.run(name, "--version").stdout):
            return name
    return None


def check(tree):
    name = program(tree)

    def look(file):
        said = tree.run(name, "--style=file", "--dry-run", "--ferror-limit=1", "-Werror", file)
        if said.returncode:
            line = re.search(r":(\d+):", said.stderr)
            yield f"{file}:{line.group(1) if line else 0}: clang-format would change it: make format"

    if name:
        yield from Proofs(tree, "formatted", VERSION, tree.text(".clang-format")).each(list(tree.of(".c", ".h")), lambda f: [f], look)
