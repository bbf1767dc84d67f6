# SPDX-License-Identifier: GPL-2.0-only
"""Checks that code has no register offsets as numbers: registers and fields of the chip's
structures have names in include/gk110.

There are two rules. The functions that access registers get no number as the offset. And no
number in these rooms looks like an offset in BAR0, that is, a hexadecimal multiple of 4 from
0x1000 up to the end of its 16 MiB. offsets.list has the numbers that look so but are no offsets."""
import fnmatch
import re

from tree import exceptions, unneeded

ROOMS = ("hw", "mdev", "mmio-trap", "gtt-shadow", "sched", "gpu-model", "firmware", "tools")
ACCESS = re.compile(r"\b(?:hw_(?:rd|wr|mask|wait)\w*|hw_vram_\w+|reg_(?:get|set|merge)\w*|block_(?:rd|wr|get|put)\w*|\w*_(?:rd|wr)32)"
                    r"\(\s*[^,()]+(?:\([^()]*\))?[^,()]*,\s*(0x[0-9a-f]+)", re.I)
NUMBER = re.compile(r"(?<![\w.])0x([0-9a-f]+)(?:u?l{0,2})\b", re.I)
FIRST, LAST = 0x1000, 0xfffffc


def looks_like_offset(digits):
    value = int(digits, 16)
    return FIRST <= value <= LAST and value % 4 == 0


def check(tree):
    listed, used = exceptions("offsets.list"), set()
    for file in tree.of(".c", ".h", rooms=ROOMS):
        code = tree.code(file)
        found = {(m.start(1), m.group(1)) for m in ACCESS.finditer(code)}
        found |= {(m.start(), m.group()) for m in NUMBER.finditer(code) if looks_like_offset(m.group(1))}
        for at, number in sorted(found):
            excuse = next((tuple(words) for words, _ in listed if fnmatch.fnmatchcase(file, words[0]) and
                           (words[1] == "*" or int(words[1], 16) == int(number.rstrip("uUlL"), 16))), None)
            if excuse:
                used.add(excuse)
            else:
                yield f"{file}:{code.count(chr(10), 0, at) + 1}: {number}: name it in include/gk110, with its source"
    yield from unneeded("offsets.list", listed, used)
