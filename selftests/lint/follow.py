#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""follow.py: run it after wrap.py has wrapped code, and before that is committed. Patches of
selftests/harness/reverts/ and mutations of selftests/mutations/ quote lines of code. Those that
no longer apply are written again, so that they change the code of the tree as they change the
code of git's HEAD, compared by tokens. Prints those that have to be changed by hand."""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

from tree import TOKEN, Tree
from wrap import LEXEME, wrap_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "selftests/mutations"))
import lists    # noqa: E402


def before(file):
    return subprocess.run(["git", "show", f"HEAD:{file}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def lexemes(text):
    code = TOKEN.sub(lambda m: m.group() if m.group()[0] in "\"'" else re.sub(r"[^\n]", " ", m.group()), text).replace("\\\n", " \n")
    return [(m.group(), m.start(), m.end()) for m in LEXEME.finditer(code)]


def moved(old, mutant, new):
    """Find in @new the line that has to change as @old changes to @mutant. Return (the line, the
    changed line, its number), or None if it is more than one line or @new and @old have
    different tokens."""
    a, b, c = lexemes(old), lexemes(mutant), lexemes(new)
    words = [[t for t, _, _ in x] for x in (a, b, c)]
    if words[0] != words[2]:
        return None
    head = next((i for i, (x, y) in enumerate(zip(words[0], words[1])) if x != y), min(len(a), len(b)))
    tail = next((i for i, (x, y) in enumerate(zip(reversed(words[0][head:]), reversed(words[1][head:]))) if x != y), min(len(a), len(b)) - head)
    head -= head and (len(a) - tail <= head or len(b) - tail <= head)
    first, last = c[head][1], c[len(a) - tail - 1][2]
    text = re.sub(r"\s+", " ", mutant[b[head][1]:b[len(b) - tail - 1][2]])
    start, stop = new.rfind("\n", 0, first) + 1, new.find("\n", last)
    line = new[start:stop]
    if "\n" in line:
        return None
    return line.strip(), (new[start:first] + text + new[last:stop]).strip(), new.count("\n", 0, start)


def follow_mutations():
    for path in sorted((ROOT / "selftests/mutations").glob("*.list")):
        records, left = re.split(r"(\n\s*\n)", path.read_text()), []
        for i, record in enumerate(records):
            head = [line for line in record.split("\n") if line.strip() and not line.startswith("#")]
            if len(head) < 4:
                continue
            m = lists.parse(record, path.name)[0]
            new = (ROOT / m.file).read_text()
            try:
                lists.apply(m, new)
                continue
            except lists.Bad:
                pass
            change = moved(before(m.file), lists.apply(m, before(m.file)), new)
            if not change:
                left.append(f"{path.name}: {head[0]}")
                continue
            was, becomes, number = change
            lines, block = new.split("\n"), [f"- {was}", f"+ {becomes}"]
            for above in range(1, 4):
                try:
                    lists.apply(m._replace(block=[(b[0], b[1:].strip()) for b in block]), new)
                    break
                except lists.Bad:
                    block.insert(0, f"  {lines[number - above].strip()}")
            records[i] = "\n".join([*[line for line in record.split("\n") if line[:1] not in "-+ "], *block]).rstrip("\n") + \
                ("\n" if record.endswith("\n") else "")
        path.write_text("".join(records))
        yield from left


def applies(patch):
    return subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True).returncode == 0


def follow_patches(tree):
    for patch in sorted((ROOT / "selftests/harness/reverts").glob("*.patch")):
        if applies(patch):
            continue
        text = patch.read_text()
        files = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)
        intro = text[:re.search(r"^(?:diff |--- )", text, re.M).start()]
        with tempfile.TemporaryDirectory() as top:
            for file in files:
                path = pathlib.Path(top) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(before(file))
            if subprocess.run(["patch", "-s", "-p1", "-d", top, "-i", patch]).returncode:
                yield f"{patch.name}: did not apply to HEAD"
                continue
            out = []
            for file in files:
                old, new = (ROOT / file).read_text(), wrap_text(tree, file, (pathlib.Path(top) / file).read_text())
                out += difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{file}", f"b/{file}")
        patch.write_text(intro + "".join(out))
        if not applies(patch):
            yield f"{patch.name}: still does not apply"


def main():
    left = [*follow_mutations(), *follow_patches(Tree(ROOT))]
    print("".join(f"{line}: by hand\n" for line in left), end="")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
