# SPDX-License-Identifier: GPL-2.0-only
"""Checks what the libraries that programs load take from the environment. A set-user-ID program's
caller has chosen that, so they ask by secure_getenv(), and start and load nothing that a variable
chooses. environment.list has what is harmless."""
import re

from tree import exceptions, unneeded

LIBRARIES = tuple(f"cuda/{room}" for room in ("api", "info", "kepler", "nvml")) + \
    tuple(f"remote/{room}" for room in ("channel", "client", "conf", "ring", "wire"))
CALL = re.compile(r"(?<!\w)(getenv|environ|posix_spawnp?|execv\w*|execl\w*|fexecve|popen|system|dlm?open|wordexp)\b(?!\.)")


def check(tree):
    listed, used = exceptions("environment.list"), set()
    for file in tree.of(".c", ".h", ".inc", rooms=LIBRARIES):
        code = tree.code(file)
        for m in CALL.finditer(code):
            if [file, m.group(1)] in [words for words, _ in listed]:
                used.add((file, m.group(1)))
            else:
                yield f"{file}:{code.count(chr(10), 0, m.start()) + 1}: {m.group(1)}: a set-user-ID program's caller may decide it: " \
                    "take secure_getenv() or look at environment_is_own() of cuda/api/process.h, and list it in selftests/tooling/lint/environment.list"
    yield from unneeded("environment.list", listed, used)
