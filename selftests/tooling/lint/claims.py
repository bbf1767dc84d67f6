# SPDX-License-Identifier: GPL-2.0-only
"""Numbers with a unit in the tables of README.md stand on the page that they cite: one that their
row links or, where it links none, the text above the table and its header. A number is compared with its unit, a
range as a whole. Neighbouring cells that are nothing but numbers have to be neighbours there, too;
so have numbers without a unit in such cells. A cell that links to a page of others has their
numbers."""
import os
import re

UNIT = r"(?:%|[num]?s|[KMG]i?B(?:/s)?|times|minutes|hours)"
NUMBER = r"\d[\d,]*(?:\.\d+)?"
RANGE = rf"{NUMBER}(?: (?:to|and) {NUMBER})?"
PHRASE = re.compile(rf"(?<![\w.,/-]){RANGE} {UNIT}(?![\w/])")
PURE = re.compile(rf"{RANGE}(?: {UNIT})?")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def rows(text):
    """Yield (line number, cells of a row, the text above its table with the table's header)."""
    above, before = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("|") and before.startswith("|"):
            if not re.fullmatch(r"[|:\- ]+", line):
                yield number, [cell.strip() for cell in line.strip("| ").split("|")], "\n".join(above)
        elif line.strip():
            above = [*above, line] if before.strip() or line.startswith("|") else [line]
        before = line


def phrases(cells):
    """Yield the numbers of a row: each of a text, and those of neighbouring cells as one."""
    run = []
    for cell in [*cells, ""]:
        if PURE.fullmatch(cell):
            run.append(cell)
            continue
        if run:
            yield " | ".join(run)
        run = []
        if "](http" not in cell:
            yield from PHRASE.findall(LINK.sub("]", cell))


def has(page, phrase):
    return re.search(rf"(?<![\w.,]){re.escape(phrase)}(?![\w/]|[.,]\d)", page)


def check(tree):
    if "README.md" not in tree.known:
        return
    for number, cells, above in rows(tree.text("README.md")):
        wanted = list(phrases(cells))
        if not wanted:
            continue
        cited = [[os.path.normpath(p) for p in LINK.findall(text) if p.endswith(".md")] for text in (" ".join(cells), above)]
        cited = [p for p in cited[0] or cited[1] if p in tree.known]
        if not cited:
            yield f"README.md:{number}: '{wanted[0]}' cites no page"
            continue
        pages = [" ".join(tree.text(p).replace("*", "").split()) for p in cited]
        for phrase in wanted:
            if not any(has(page, phrase) for page in pages):
                yield f"README.md:{number}: '{phrase}' is not in {' or '.join(dict.fromkeys(cited))}"
