#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""wrap.py code|docs [FILE...]: wraps lines of more than 100 columns; without FILEs, in the whole
tree.

code: first wraps long comments itself (a comment that follows code moves above it, or below after
a brace, else or case), then runs clang-format on the lines that are still too long. A file stays as
it is, and is named, if its tokens or the words of its comments would change. docs: wraps paragraphs and lists of Markdown;
tables, code blocks and lines without a blank stay. Prints the lines that are still too long. A
second run changes nothing."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import textwrap

from columns import MAX, too_long, width
from tree import JOBS, TOKEN, Tree

LEXEME = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\S')


def tokens(text):
    """Return the tokens of C that the compiler sees; the end of a preprocessor directive counts as
    one."""
    code = TOKEN.sub(lambda m: m.group() if m.group()[0] in "\"'" else " ", text).replace("\\\n", " ")
    out = []
    for line in code.split("\n"):
        found = LEXEME.findall(line)
        out += found + (["\n"] if found[:1] == ["#"] else [])
    return out


def words(text):
    return sorted(w for m in TOKEN.finditer(text) if m.group()[0] == "/" for w in re.sub(r"[*/]+|-{3,}", " ", m.group()).split())


# ---------------------------------------------------------------- wrapping comments of C

def block(indent, text):
    """Return the lines of a comment with @text that stands alone."""
    if width(f"{indent}/* {text} */") <= MAX:
        return [f"{indent}/* {text} */"]
    room = MAX - width(indent) - 3
    return [f"{indent}/*", *(f"{indent} * {line}" for line in textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)),
            f"{indent} */"]


def plain(comment):
    """Return the text of a comment as one line, without its marks."""
    if comment.startswith("//"):
        return comment[2:].strip()
    return " ".join(line.strip().removeprefix("*").strip() for line in comment[2:-2].split("\n")).strip()


PROSE = re.compile(r"^(\s*)\*\s*(\S.*)$")
# the beginning of a list's item or of a line "term  text"; the text's further lines are aligned
# with its first word
LEAD = re.compile(r"(?:[-*+] |\d+[.)] |\S[^\t]{0,40}?\t+|\S.{0,40}? {2,})(?=\S)")
ITEM = re.compile(r"^(?:[-*+] |\d+[.)] |@\w+:|\w+:\s|\|)")


def refill(lines):
    """Wrap the lines of a block comment without its first and last: from a line that is too long
    on, its paragraph is filled again."""
    out, i = [], 0
    while i < len(lines):
        line = lines[i]
        i += 1
        m = PROSE.match(line)
        if not m or width(line) <= MAX or "\t" in LEAD.sub("", m.group(2), 1):
            out.append(line)
            continue
        hang = re.match(r"^\s*\*\s*", line).group()
        body = line[len(hang):]
        lead = LEAD.match(body)
        first = hang + (lead.group() if lead else "")
        if lead and "\t" in lead.group():
            hang = m.group(1) + "*" + "\t" * (width(first) // 8 - width(m.group(1) + "*") // 8)
        elif lead:
            hang += " " * lead.end()
        body = body[lead.end():] if lead else body
        while i < len(lines) and lines[i].startswith(hang) and re.match(r"\S", lines[i][len(hang):]) and \
                not ITEM.match(lines[i][len(hang):]) and "  " not in lines[i][len(hang):]:
            body += " " + lines[i][len(hang):]
            i += 1
        pieces = textwrap.wrap(body, MAX - width(hang), break_long_words=False, break_on_hyphens=False)
        out += [first + pieces[0], *(hang + piece for piece in pieces[1:])]
    return out


def rewrite(text, m, long):
    """Return (start, stop, text) to replace a comment, and the code before it on its line, if they
    are too long; else None."""
    start = text.rfind("\n", 0, m.start()) + 1
    stop = text.find("\n", m.end())
    stop = len(text) if stop < 0 else stop
    lines = range(text.count("\n", 0, m.start()) + 1, text.count("\n", 0, m.end()) + 2)
    if not any(n in long for n in lines) or "SPDX" in m.group() or "clang-format" in m.group():
        return None
    before, after, comment = text[start:m.start()], text[m.end():stop], m.group()
    if after.strip():
        return None     # a comment in the middle of a line: left to clang-format
    indent = re.match(r"[ \t]*", before).group()
    if not before.strip():
        rule = re.match(r"/\* (-{10,}) (.*) \*/$", comment)
        if rule:
            return start, stop, f"{indent}/* {'-' * max(3, len(rule.group(1)) - width(before + comment) + MAX)} {rule.group(2)} */"
        if "\n" not in comment:
            return start, stop, "\n".join(block(indent, plain(comment)))
        inner = comment.split("\n")
        if inner[0].strip() in ("/*", "/**") and inner[-1].strip() == "*/":
            return start, stop, "\n".join([indent + inner[0].strip(), *refill(inner[1:-1]), f"{indent} */"])
        if inner[0].startswith("/**"):
            return None     # not kernel-doc's form
        if re.search(r"^\s*\*(?: {2,}| *\t| - |\s*$)", "\n".join(inner[1:]), re.M):
            head, last = inner[0][2:].strip(), re.sub(r"\s*\*/$", "", inner[-1])
            middle = ([f"{indent} * {head}"] if head else []) + inner[1:-1] + ([last] if last.strip(" \t*") else [])
            return start, stop, "\n".join([f"{indent}/*", *refill(middle), f"{indent} */"])
        return start, stop, "\n".join(block(indent, plain(comment)))
    previous = text[:start].rstrip("\n").rsplit("\n", 1)[-1]
    if previous.endswith("\\") or before.rstrip().endswith("\\"):
        return None     # within a macro no line can have a comment alone
    if before.lstrip().startswith(("}", "else")) or re.match(r"\s*(?:case\b.*|default):\s*$", before):
        inside = indent + "\t"
        return start, stop, "\n".join([before.rstrip(), *block(inside, plain(comment))])
    return start, stop, "\n".join([*block(indent, plain(comment)), before.rstrip()])


def wrap_comments(text):
    long = set(too_long(text))
    changes = [rewrite(text, m, long) for m in TOKEN.finditer(text) if m.group()[0] == "/"] if long else []
    done = len(text) + 1
    for start, stop, new in reversed([c for c in changes if c]):
        if stop >= done:
            continue    # two comments on a line: the last one moves first
        done = start
        text = text[:start] + new + text[stop:]
    return text


# ---------------------------------------------------------------- wrapping code

def clang_format(text, name, lines):
    spans = [f"--lines={n}:{n}" for n in lines]
    said = subprocess.run(["clang-format", "--style=file", f"--assume-filename={name}", *spans], input=text, capture_output=True, text=True,
                          check=True)
    return said.stdout


NOT_CODE = re.compile(r"^\s*(?:/\*|\*(?:[\s/]|$)|#define )")
ROW = re.compile(r"^\s*(?:[\[{.\"]|\w+\(.*\),(?: *\\\\)?$)")
STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|/\*.*?\*/')


def break_row(line, in_macro):
    """Return @line in pieces that end with a comma or an operator: for rows of tables, and for
    lines that clang-format does not break."""
    goes_on = line.endswith("\\")
    end = " \\" if goes_on or in_macro else ""
    rest = line[:-1].rstrip() if goes_on else line
    indent = re.match(r"\t*", line).group() + "\t"
    out = []
    while width(rest + end) > MAX:
        hidden = STRINGS.sub(lambda m: "_" * len(m.group()), rest)
        places = [m.end() for m in re.finditer(r", |&& |\|\| |(?<= )[|?:+] ", hidden) if width(rest[:m.end()].rstrip() + end) <= MAX and m.end() > len(indent) + 8]
        if not places:
            break
        at = max([p for p in places if hidden[p - 2] == ","] or places)
        out.append(rest[:at].rstrip() + end)
        rest = indent + rest[at:].lstrip()
    return [*out, rest + (end if goes_on else "")]


def break_rows(text, wanted):
    lines = text.split("\n")
    for n in reversed(too_long(text)):
        if wanted(lines[n - 1]) and "//" not in lines[n - 1]:
            lines[n - 1:n] = break_row(lines[n - 1], n > 1 and lines[n - 2].endswith("\\"))
    return "\n".join(lines)


def wrap_code(tree, file):
    """Return (file, its new text or None if it stays, reason of a refusal or None)."""
    old = tree.text(file)
    new = wrap_text(tree, file, old)
    if new != old and (tokens(new) != tokens(old) or words(new) != words(old)):
        return file, None, "its tokens or comments would change"
    return file, new if new != old else None, None


def wrap_text(tree, file, text):
    if not too_long(text):
        return text
    text = break_rows(wrap_comments(text), ROW.match)
    for _ in range(3):
        lines = too_long(text)
        if not lines:
            break
        new = clang_format(text, str(tree.root / (file if not file.endswith(".cu") else file[:-2] + "c")), lines)
        if new == text:
            break
        text = re.sub(r"(?m)^ +\\$", r"\\", new)
    return break_rows(text, lambda line: not NOT_CODE.match(line) or line.endswith("\\"))


# ---------------------------------------------------------------- wrapping documents

MARK = re.compile(r"^(\s*)((?:[-*+]|\d+\.) +|> ?)?")


def wrap_docs(text):
    out, fenced, lines, i = [], False, text.split("\n"), 0
    in_list = False
    while i < len(lines):
        line = lines[i]
        i += 1
        if line.lstrip().startswith("```"):
            fenced = not fenced
        mark = MARK.match(line)
        indent = len(mark.group(1))
        in_list = in_list and (not line.strip() or indent > 0) or bool(mark.group(2))
        code = fenced or line.startswith("\t") or (indent >= 4 and not in_list)
        if code or len(line) <= MAX or line.lstrip().startswith(("|", "#", "<", "![", "[!")):
            out.append(line)
            continue
        hang = " " * len(mark.group())
        body = line[len(mark.group()):]
        # join the other lines of this paragraph to its first line, to wrap them together
        while i < len(lines) and lines[i].strip() and re.match(rf"^ {{{len(hang)}}}(?=\S)", lines[i]) and \
                not re.match(r"^\s*(?:[-*+] |\d+\. |\||#|>|<|```)", lines[i]) and not body.endswith("  "):
            body += " " + lines[i].strip()
            i += 1
        whole = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda m: m.group().replace(" ", "\0"), body)
        # settle() keeps lines from beginning with a mark of Markdown; if that makes a line too
        # long, wrap to fewer columns
        for room in (MAX - len(hang), MAX - len(hang) - 12):
            pieces = settle(textwrap.wrap(whole, room, break_long_words=False, break_on_hyphens=False))
            if all(len(p) <= MAX - len(hang) for p in pieces):
                break
        pieces = [p.replace("\0", " ") for p in pieces]
        out += [mark.group() + pieces[0], *(hang + p for p in pieces[1:])]
    return "\n".join(out)


def settle(pieces):
    for i in range(1, len(pieces)):
        while re.match(r"(?:[-+*>#|]|\d+[.)])(?: |$)", pieces[i]) and " " in pieces[i - 1]:
            pieces[i - 1], _, word = pieces[i - 1].rpartition(" ")
            pieces[i] = f"{word} {pieces[i]}"
    return pieces


def wrapped_docs(tree, file):
    old = tree.text(file)
    new = wrap_docs(old)
    if new.split() != old.split():
        return file, None, "its words would change"
    return file, new if new != old else None, None


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("code", "docs"):
        sys.exit(__doc__)
    tree = Tree(pathlib.Path(__file__).resolve().parents[2])
    endings, wrap = ((".c", ".h", ".cu"), wrap_code) if sys.argv[1] == "code" else ((".md",), wrapped_docs)
    files = sys.argv[2:] or [f for f in tree.of(*endings) if not f.startswith("LICENSES/")]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for file, new, refused in pool.map(lambda f: wrap(tree, f), files):
            if new is not None:
                (tree.root / file).write_text(new)
            if refused:
                print(f"{file}: {refused}: wrap it by hand")
            text = tree.text(file) if new is None else new
            for n in too_long(text, file.endswith(".md")):
                print(f"{file}:{n}: still too long: {text.split(chr(10))[n - 1].strip()[:60]}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
