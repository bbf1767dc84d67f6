# SPDX-License-Identifier: GPL-2.0-only
"""Checks that documents stay short and tell what holds, not how it came to hold: the lines of
README.md, of all pages of docs/, the characters of a page's line, and that no page names a commit.
points() looks at the open points."""
import re
import shutil

MAX_README = 115
MAX_PAGES = 3600
MAX_LINE = 400
POINTS = "docs/open-points"
POINT = re.compile(r"\b(?:MO|RO)[0-9]+\b")
HASH = re.compile(r"\b[0-9a-f]{7,40}\b")


def commits(tree):
    """Return the hashes of all commits that git knows: none without git, or where it refuses."""
    if not (tree.root / ".git").exists() or not shutil.which("git"):
        return []
    return tree.run("git", "rev-list", "--all", "HEAD").stdout.split()


def check(tree):
    if "README.md" in tree.known and (lines := tree.text("README.md").count("\n")) > MAX_README:
        yield f"README.md: {lines} lines, {MAX_README} is the limit"
    pages = [file for file in tree.of(".md", rooms=("docs",)) if file.count("/") == 1]
    if (lines := sum(tree.text(file).count("\n") for file in pages)) > MAX_PAGES:
        yield f"docs/: its pages have {lines} lines, {MAX_PAGES} is the limit"
    known = {}
    for hash in commits(tree):
        known.setdefault(hash[:7], []).append(hash)
    for file in pages:
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            if len(line) > MAX_LINE:
                yield f"{file}:{number}: {len(line)} characters, {MAX_LINE} is the limit"
            for word in HASH.findall(line):
                if any(hash.startswith(word) for hash in known.get(word[:7], ())):
                    yield f"{file}:{number}: {word} is a commit; git has the history"


def points(tree):
    """docs/open-points.md is made of its table as it is now, and an open point that a text names is one of that table's."""
    if POINTS + ".tsv" not in tree.known:
        return
    made = tree.run("python3", "selftests/tooling/docs/points.py", ".")
    if made.returncode or made.stdout != tree.text(POINTS + ".md"):
        yield f"{POINTS}.md is stale: make docs" if not made.returncode else made.stderr.strip()
    known = {line.split("\t")[0] for line in tree.text(POINTS + ".tsv").split("\n")}
    for file in tree.of(".md", ".c", ".h", ".sh", ".py", ".tsv"):
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            for point in POINT.findall(line):
                if point not in known:
                    yield f"{file}:{number}: {point} is no point of {POINTS}.tsv"
