#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run.py quick | long [DOCUMENT...]: checks (quick) or runs (long) the command blocks of README.md,
CONTRIBUTING.md, docs/ and the README.md of each folder. Prints TAP. README.md beside this file
says how, and how a block is marked that is not run."""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True
from blocks import Block, Tree, blocks_of  # noqa: E402

TB = "testbed/tb"
CACHE = os.environ.get("KVGPU_CACHE") or os.path.expanduser("~/.cache/kvgpu")
LIMIT_S = 1500
# These run first, in this order. A server stays as a document leaves it, for the blocks of the next.
FIRST = ["testbed/README.md", "docs/testbed.md", "firmware/README.md", "libvirt-xml/README.md", "docs/sharing.md", "tools/README.md"]
BED_WITH_KVGPU = [TB, "up", "--driver", "kvgpu", "--mem", "5G"]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{' # ' + detail if detail else ''}", flush=True)
        return good

    def skip(self, name, reason):
        self.result(True, name, f"SKIP {reason}")

    @staticmethod
    def note(text):
        for line in text.splitlines():
            print(f"# {line}", flush=True)

    def finish(self):
        print(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0


def documents():
    found = [f for f in glob.glob("**/*.md", root_dir=ROOT, recursive=True)
             if not f.startswith("build/") and (os.path.basename(f) in ("README.md", "CONTRIBUTING.md") or f.startswith("docs/"))]
    return FIRST + sorted(set(found) - set(FIRST))


def all_blocks(names):
    out = []
    for name in names:
        with open(f"{ROOT}/{name}") as f:
            out += blocks_of(name, f.read())
    return out


# ------------------------------------------------------- mode quick: checks without running a block

def server_root():
    roots = sorted(glob.glob(f"{CACHE}/testbed/server-*/root"), key=os.path.getmtime)
    return roots[-1] if roots else None


def tell_counts(tap, blocks):
    count = collections.Counter("no commands" if b.place == "text" else "not run" if b.place == "nowhere" else "run" for b in blocks)
    tap.note(f"{len(blocks)} blocks: {count['run']} run, {count['not run']} not run, {count['no commands']} no commands")
    for block in blocks:
        if block.place == "nowhere":
            tap.note(f"not run: {block.name}: {len(block.commands())} commands: {block.reason}")


MADE_UP = {
    "a target that is not there": ("    make no-such-target\n", "no target no-such-target"),
    "a variable that make does not read": ("    make help NO_SUCH_VARIABLE=1\n", "nothing here reads NO_SUCH_VARIABLE"),
    "a folder without a Makefile": ("    make -C no-such-folder\n", "no no-such-folder/Makefile"),
    "a command that tb lacks": ("    testbed/tb fly\n", "tb has no command"),
    "an option that tb lacks": ("    testbed/tb up --fast 1\n", "tb has no option --fast"),
    "a file that is not there": ("    cp libvirt-xml/nothing.xml build/\n", "no file libvirt-xml/nothing.xml"),
    "a program that is not there": ("    no-such-program --all\n", "no program no-such-program"),
    "a figure without a mark": ("    guest A: Debian           guest B ...\n", "no program guest"),
    "a mark that is none": ("<!-- some day -->\n    make help\n", "the mark 'some day'"),
    "a block without a command": ("    # nothing\n", "no command in it"),
    "bad syntax": ("    for x in a b\n", "syntax error"),
    "a fenced block": ("```sh\nmake no-such-target\n```\n", "no target no-such-target"),
    "what a block that is not run says": ("<!-- not run: long -->\n    make no-such-target\n", "no target no-such-target"),
}


def quick(tap, blocks):
    root = server_root()
    tree = Tree(ROOT, root)
    for block in blocks:
        wrong = tree.complaints(block)
        tap.note("\n".join(wrong))
        tap.result(not wrong, f"{block.name}: {len(block.commands())} commands" if block.place != "text" else f"{block.name}: no commands")
    if root:
        wrong = tree.complaints(blocks_of("x.md", "<!-- in the server -->\n    no-such-program\n")[0])
        tap.result(wrong == ["the server has no program no-such-program"], "a made-up document: a program that the server lacks is noticed")
    for what, (text, wanted) in MADE_UP.items():
        said = "; ".join(c for b in blocks_of("made-up.md", "Text:\n\n" + text + "\nText.\n") for c in tree.complaints(b))
        tap.result(wanted in said, f"a made-up document: {what} is noticed", said.replace("\n", " ") if wanted not in said else "")


# ---------------------------------------------------------------- mode long: runs the blocks

def script(block):
    """Return a shell script that runs a block's commands up to the first that fails, and prints
    each one's number and exit code."""
    return "\n".join(f"{command}\nrc=$?; printf '\\n::%d %d\\n' {i} $rc; [ $rc = 0 ] || exit 1" for i, command in enumerate(block.commands()))


def bed_down():
    subprocess.run([TB, "down"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True)


def bed_has_kvgpu():
    status = subprocess.run([TB, "status"], cwd=ROOT, capture_output=True, text=True)
    return status.returncode == 0 and re.search(r"\bdriver kvgpu\b", status.stdout) is not None


def shell_of(block):
    """Return (command that runs a script in the block's place, None), or (None, reason) if there is
    no server for it."""
    if block.place == "here":
        return ["bash", "-c"], None
    if not bed_has_kvgpu():
        bed_down()
        up = subprocess.run(BED_WITH_KVGPU, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if up.returncode:
            return None, up.stderr
    share = subprocess.run([TB, "share"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    folder = os.path.dirname(block.document) or "."
    shutil.copytree(f"{ROOT}/{folder}", f"{share}/documents/{folder}", dirs_exist_ok=True)
    return [TB, "run", "--", "env", "-C", f"/share/documents/{folder}", "bash", "-c"], None


def run(tap, block):
    shell, why = shell_of(block)
    if not shell:
        tap.note(why)
        return tap.result(False, f"{block.name}: a server for it")
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace", newline="\n") as log:
        try:
            subprocess.run([*shell, script(block)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            tap.note(f"{block.name}: not done after {LIMIT_S} s")
        log.seek(0)
        said, codes, part = {}, {}, []
        for line in log.read().split("\n"):
            if line.startswith("::") and len(line.split()) == 2:
                number, code = (int(word) for word in line[2:].split())
                said[number], codes[number], part = part, code, []
            else:
                part.append(line)
    good = True
    for number, command in enumerate(block.commands()):
        name = f"{block.name}: {' '.join(command.split('  #')[0].split())}"
        output = [one for one in said.get(number, part) if one.strip()]
        wrong = "" if codes.get(number) == 0 else f"exit code {codes.get(number, 'none')}"
        if not wrong and any("\r" in one.rstrip("\r") for one in output):
            wrong = "it writes for a terminal where there is none"
        if not tap.result(not wrong, name, wrong):
            tap.note("\n".join(output[-25:]))
            not_reached(tap, block, block.commands()[number + 1:])
            good = False
            break
    tap.note(f"{block.name}: {time.monotonic() - began:.0f} s")
    return good


def not_reached(tap, block, commands):
    for command in commands:
        tap.result(False, f"{block.name}: {' '.join(command.split('  #')[0].split())}", "not reached")


def long(tap, blocks):
    toolkit = subprocess.run(["selftests/cuda/toolkit.sh"], cwd=ROOT, capture_output=True).returncode == 0
    broken = None
    try:
        for block in blocks:
            if block.document == broken and block.place in ("here", "server"):
                not_reached(tap, block, block.commands())
            elif block.wrong:
                tap.result(False, block.name, block.wrong)
            elif block.place == "nowhere":
                tap.skip(f"{block.name}: {len(block.commands())} commands", block.reason)
            elif block.needs == "toolkit" and not toolkit:
                tap.skip(f"{block.name}: {len(block.commands())} commands", "no CUDA toolkit: selftests/cuda/toolkit.sh fetch")
            elif block.place != "text" and not run(tap, block):
                # later blocks of this document may need this one; other documents get a new server
                broken = block.document
                bed_down()
    finally:
        bed_down()


def main(mode=None, *names):
    if mode not in ("quick", "long"):
        sys.exit("usage: selftests/system/documents/run.py quick | long [DOCUMENT...]")
    os.environ.setdefault("KVGPU_TB_NAME", "documents")
    os.environ["LC_ALL"] = "C.UTF-8"
    tap = Tap()
    blocks = all_blocks(names or documents())
    {"quick": quick, "long": long}[mode](tap, blocks)
    tell_counts(tap, blocks)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
