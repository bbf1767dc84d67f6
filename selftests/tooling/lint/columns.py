# SPDX-License-Identifier: GPL-2.0-only
"""Checks that lines of C, CUDA, assembly and Markdown have 100 columns at most, but for those that
free() lets be longer, and for code blocks of Markdown. A tab goes to the next multiple of 8."""
import re

MAX = 100
MESSAGE = 40


def width(line):
    return len(line.expandtabs(8))


STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def free(line, document):
    """Return whether a line may be longer: in a document a row of a table, a heading or a picture; in code a
    string of over 40 characters with its quotes, which a person may search for; in both a line
    without blanks, such as a link."""
    if not document and any(len(s) > MESSAGE for s in STRING.findall(line)):
        return True
    stripped = line.strip()
    return document and (stripped.startswith(("|", "#", "!["))) or " " not in stripped.lstrip("*#/-> \t")


def too_long(text, document=False):
    """Return the numbers of the lines of @text that are too long. @document: Markdown, whose code
    blocks may have long lines."""
    out, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if document and line.lstrip().startswith("```"):
            fenced = not fenced
        if len(line) > MAX // 8 and width(line) > MAX and not free(line, document) and \
                not (document and (fenced or line.startswith("\t") or line.startswith("    ") and not line.lstrip().startswith(("- ", "* ")))):
            out.append(number)
    return out


ENDINGS = (".c", ".h", ".cu", ".S", ".md")


def check(tree):
    # the .inc of other rooms are tables
    for file in (*tree.of(*ENDINGS), *tree.of(".inc", rooms=("gpu-model",))):
        text = tree.text(file)
        for number in too_long(text, file.endswith(".md")):
            yield f"{file}:{number}: {width(text.split(chr(10))[number - 1])} columns, {MAX} is the limit"
