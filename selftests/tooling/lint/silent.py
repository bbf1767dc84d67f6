# SPDX-License-Identifier: GPL-2.0-only
"""Checks that remoting refuses nothing in silence: where a file of remote/client or remote/server
gives CUDA_ERROR_NOT_SUPPORTED, it does so by REFUSE(), which prints a line once, or prints a line of
its own just before. silent.list has the functions that may give it all the same."""
import re

from tree import exceptions, unneeded

ROOMS = ("remote/client", "remote/server")
GIVEN = re.compile(r"(?<![=!]= )\bCUDA_ERROR_NOT_SUPPORTED\b")
SAYS = re.compile(r"\b(?:client_say|fprintf)\(")
BEFORE = 5  # lines in which a line of its own is looked for
BEGIN = re.compile(r"^(?:#define |[A-Za-z][^;{}()]*?)(\w+)\(", re.M)


def check(tree):
    listed, used = exceptions("silent.list"), set()
    for file in tree.of(".c", ".h", rooms=ROOMS):
        code = tree.code(file)
        for m in GIVEN.finditer(code):
            lines = code[:m.start()].split("\n")
            function = (BEGIN.findall(code[:m.start()]) or ["?"])[-1]
            if (file, function) in [tuple(words) for words, _ in listed]:
                used.add((file, function))
            elif not SAYS.search("\n".join(lines[-BEFORE:])):
                yield f"{file}:{len(lines)}: {function}() gives CUDA_ERROR_NOT_SUPPORTED in silence: use REFUSE()"
    yield from unneeded("silent.list", listed, used)
