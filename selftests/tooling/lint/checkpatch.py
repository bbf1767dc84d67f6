# SPDX-License-Identifier: GPL-2.0-only
"""Runs the kernel's checkpatch.pl on the module's rooms. checkpatch.sh takes it out of Debian's
linux-source package and keeps it in the cache. checkpatch.list has the types of complaints that
this project ignores, each with a reason."""
import hashlib
import pathlib
import re

from tree import Proofs, exceptions

ROOMS = ("hw", "mdev", "mmio-trap", "gtt-shadow", "sched", "include/gk110", "include/kvgpu")
MOST = 10
OPTIONS = ("--no-tree", "--no-summary", "--terse", "--show-types", "-f")
SAID = re.compile(r"^(\S+?:\d+): (?:ERROR|WARNING):([A-Z_0-9]+): (.*)$", re.M)


def check(tree):
    listed = exceptions("checkpatch.list")
    if len(listed) > MOST:
        yield f"selftests/tooling/lint/checkpatch.list: {len(listed)} types, {MOST} at most"
    got = tree.run("selftests/tooling/lint/checkpatch.sh")
    script = got.stdout.strip()
    if got.returncode:
        yield f"checkpatch.pl did not come: {got.stderr.strip()}"
        return
    version = hashlib.sha256(pathlib.Path(script).read_bytes()).hexdigest()
    ignored = [words[0] for words, _ in listed]

    def look(file):
        said = tree.run("perl", script, *OPTIONS, "--ignore", ",".join(ignored) or "NOTHING", file)
        found = SAID.findall(said.stdout)
        for at, kind, text in found:
            yield f"{at}: {text} (checkpatch: {kind})"
        if not found and (said.returncode or said.stderr.strip()):
            yield f"{file}: checkpatch ended with {said.returncode}: {(said.stdout + said.stderr).strip()}"

    yield from Proofs(tree, "checkpatch", version, OPTIONS, ignored).each(list(tree.of(".c", ".h", rooms=ROOMS)), lambda f: [f], look)
