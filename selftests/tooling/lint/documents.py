# SPDX-License-Identifier: GPL-2.0-only
"""Checks that documents stay short and tell what holds, not how it came to hold: the lines of
README.md, of all pages of docs/, the characters of a page's line, and that no page names a commit.
points() looks at the open points, words() at the glossary and the words that it forbids, pictures()
at pictures, sentences() at the length of sentences and of cells of tables."""
import os
import re
import shutil

MAX_README = 115
MAX_PAGES = 3735
MAX_LINE = 400
MAX_WORDS = 25          # of a sentence; MAX_SENTENCES of all pages together may have more
MAX_SENTENCES = 40
MAX_CELL = 140          # characters
MIN_ALT = 50
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
POINTS = "docs/open-points"
WORDS = "docs/words.tsv"
POINT = re.compile(r"\b(?:MO|RO)[0-9]+\b")
HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
PICTURE = re.compile(r"!\[[^][]*\]\([^()\s]*\)")
LINK = re.compile(r"\[([^][]*)\]\([^()\s]*\)")
CODE = re.compile(r"`[^`]*`")
ITEM = re.compile(r"\s*(?:[-*]|[0-9]+\.)\s")
CELLS = re.compile(r"(?<!\\)\|")
# a mark behind which a sentence ends: not the last one of "..."; a colon only ahead of what begins a sentence
END = re.compile(r"(?:(?<!\.\.)[.?!]|:(?=[*)\"]*\s+[A-Z`*[(]))[*)\"]*\s+")


def commits(tree):
    """Return the hashes of all commits that git knows: none without git, or where it refuses."""
    if not (tree.root / ".git").exists() or not shutil.which("git"):
        return []
    return tree.run("git", "rev-list", "--all", "HEAD").stdout.split()


def pages_of(tree):
    return [file for file in tree.of(".md", rooms=("docs",)) if file.count("/") == 1]


def check(tree):
    if "README.md" in tree.known and (lines := tree.text("README.md").count("\n")) > MAX_README:
        yield f"README.md: {lines} lines, {MAX_README} is the limit"
    pages = pages_of(tree)
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


def blocks(text):
    """Yield (line number, text) of each row of a table and of each paragraph or item of a list, which has its lines in one. Headings,
    comments and blocks of code are none."""
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    began, words, fenced = 0, [], False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        mark = line.lstrip()[:3]
        row, item = mark.startswith("|"), ITEM.match(line)
        other = fenced or row or not mark or mark[0] == "#" or mark == "```" or line.startswith(("    ", "\t")) and not item
        if (other or item) and words:
            yield began, " ".join(words)
            words = []
        if mark == "```":
            fenced = not fenced
        elif row and not fenced:
            yield number, line.strip()
        elif not other:
            began = began if words else number
            words.append(line.strip())


def split(text):
    """Yield the sentences of a paragraph. Marks inside of code end none."""
    masked = CODE.sub(lambda m: re.sub(r"[.?!:]", "_", m.group()), text)
    cuts = [0, *(m.end() for m in END.finditer(masked)), len(text)]
    for at, end in zip(cuts, cuts[1:]):
        yield text[at:end]


def sentences(tree):
    """Few sentences of the pages are long, and no cell of a table. A link counts by its text, a picture not at all."""
    long = []
    for file in pages_of(tree):
        for number, text in blocks(tree.text(file)):
            text = LINK.sub(r"\1", PICTURE.sub("", text))
            if text.startswith("|"):
                for cell in map(str.strip, CELLS.split(text)):
                    if len(cell) > MAX_CELL:
                        yield f"{file}:{number}: a cell of {len(cell)} characters, {MAX_CELL} is the limit: {cell[:40]} ..."
                continue
            for sentence in split(text):
                if (count := len(re.findall(r"\S*\w\S*", sentence))) > MAX_WORDS:
                    long.append(f"{file}:{number}: a sentence of {count} words: {' '.join(sentence.split()[:8])} ...")
    if len(long) > MAX_SENTENCES:
        yield f"docs/: {len(long)} sentences have more than {MAX_WORDS} words, {MAX_SENTENCES} is the limit"
        yield from long


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


def pictures(tree):
    """For who does not see a picture of docs/ it has a title and a role, and the page that shows it says what is seen."""
    shown = set()
    for file in tree.of(".md"):
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            for said, path in IMAGE.findall(line):
                shown.add(os.path.normpath(os.path.join(os.path.dirname(file), path)))
                if len(said) < MIN_ALT:
                    yield f"{file}:{number}: say what is seen in {path}, in {MIN_ALT} characters or more"
    for file in tree.of(".svg", rooms=("docs",)):
        head = tree.text(file)[:2000]
        if ' role="img"' not in head or not re.search(r"<title>[^<]+</title>", head):
            yield f"{file}: has no <title> and role=\"img\" at its begin"
        if file not in shown:
            yield f"{file}: no page shows it"


def forbids(word):
    """Return the pattern of a word of the list: * stands for the rest of a name, and a parenthesis makes it a function's."""
    return re.compile(r"(?<![\w.>])" + re.escape(word).replace(r"\*", r"\w*") + (r"(?!\w)" if word[-1] != "(" else ""))


def words(tree):
    """docs/glossary.md is made of the list of words as it is now, and no word stands where the list forbids it."""
    if WORDS not in tree.known:
        return
    made = tree.run("python3", "selftests/tooling/docs/words.py", ".")
    if made.returncode:
        yield made.stderr.strip()
        return
    if made.stdout != tree.text("docs/glossary.md"):
        yield "docs/glossary.md is stale: make docs"
    for row in tree.text(WORDS).splitlines():
        word, field, _, paths = row.split("\t") if row[0] != "#" else ("", "", "", "")
        for path in paths.split():
            files = [file for file in tree.of(".c", ".h", ".def", ".py", ".md") if file == path or file.startswith(path + "/")]
            if not files:
                yield f"{WORDS}: {word}: there is no {path}"
            for file in files:
                text = tree.text(file)
                for m in forbids(word).finditer(text) if word.rstrip("*(") in text else ():
                    line = text.count("\n", 0, m.start()) + 1
                    yield f"{file}:{line}: {word}: {field} ({WORDS})"
