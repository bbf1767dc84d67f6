# SPDX-License-Identifier: GPL-2.0-only
"""Checks that files have a licence and a name that says something, and that folders have a README."""
import os
import re

MAX_README = 70
LICENCE = re.compile(r"SPDX-License-Identifier: (?:GPL-2\.0-only|MIT)\b")
SAYS_NOTHING = re.compile(r"(?:^|/)(?:util[^/]*\.[ch]|common\.[ch]|misc\.[ch]|helpers\.[ch]|utils\.[^/]*)$")
# folders that need no README
MIRRORS = ("include/user/", *(f"selftests/{p}/{d}/" for p in ("module", "cuda", "remote", "model") for d in ("unit", "fuzz")), "selftests/module/kbuild/")


def check(tree):
    if len(tree.files) < 100:
        yield f"selftests/tree-files.sh finds {len(tree.files)} files of this tree"
    for file in (*tree.of(".c", ".h", ".sh", ".py", ".mk", "Makefile", "testbed/tb"), *tree.of(".inc", rooms=("gpu-model",))):
        if not any(LICENCE.search(line) for line in tree.text(file).splitlines()[:3]):
            yield f"{file}: no SPDX line among its first three"
    for file in tree.files:
        if SAYS_NOTHING.search(file):
            yield f"{file}: a name that says nothing"


def folders(tree):
    """Return the folders with sources. A folder with data alone needs no README."""
    return sorted({os.path.dirname(f) for f in tree.of(".c", ".h", ".cu", ".sh", ".py", ".S")} - {""})


def readmes(tree):
    """Each folder has a README.md, or the README of the folder above names it as NAME/. READMEs are
    short, and the C files in the first column of their tables exist."""
    for folder in folders(tree):
        above, _, name = folder.rpartition("/")
        if folder.startswith(MIRRORS) or f"{folder}/README.md" in tree.known:
            continue
        if f"{above}/README.md" not in tree.known or not re.search(rf"(?<![\w/-]){re.escape(name)}/", tree.text(f"{above}/README.md")):
            yield f"{folder}: no README.md says what it is for, neither its own nor the one above ({name}/)"
    for file in tree.of(".md"):
        if not file.endswith("/README.md"):
            continue
        if tree.text(file).count("\n") > MAX_README:
            yield f"{file}: longer than {MAX_README} lines"
        for cell in re.findall(r"^\|([^|\n]*)\|", tree.text(file), re.M):
            for name in re.findall(r"`([\w/.-]+\.[ch])`", cell):
                if os.path.normpath(os.path.join(os.path.dirname(file), name)) not in tree.known:
                    yield f"{file}: its table has {name}, which is not in that folder"
