#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""words.py TREE: prints docs/glossary.md, made of the rows of docs/words.tsv that forbid nothing. Ends with an error where a row lacks
a column, has a word that another row has, or a cell of over 140 characters."""
import pathlib
import sys

WIDEST = 140
HEAD = """<!-- made of words.tsv by make docs -->
# Glossary

Words of these pages, and by which names you find more elsewhere.

| here | elsewhere | what it means |
|---|---|---|
"""


def read(path):
    """Return the rows: word, the field's word, meaning, paths. A row with paths forbids its word there."""
    rows, seen = [], set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        row = line.split("\t")
        wrong = ("4 columns are wanted" if len(row) != 4 else
                 "a word, the field's, a meaning?" if not all(row[:3]) else
                 f"{row[0]} is there already" if row[0].lower() in seen else
                 f"a cell has {WIDEST} characters at most" if max(map(len, row)) > WIDEST else "")
        if wrong:
            sys.exit(f"{path}:{number}: {wrong}")
        seen.add(row[0].lower())
        rows.append((*row[:3], row[3].split()))
    return rows


def document(path):
    rows = sorted((row for row in read(path) if not row[3]), key=lambda row: row[0].lower())
    return HEAD + "".join(f"| {ours} | {theirs} | {meaning} |\n" for ours, theirs, meaning, _ in rows)


if __name__ == "__main__":
    print(document(pathlib.Path(sys.argv[1]) / "docs/words.tsv"), end="")
