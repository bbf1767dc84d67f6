#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judges are the tests that may notice a mutation: which there are, how one is built and run in a
copy of the tree, and its time limit."""
import collections
import fnmatch
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

BUILD_LIMIT = 900	# seconds for a build, and for a test without a mutation
LIMIT_MIN = 30		# seconds: the shortest time limit of a test with a mutation

HARNESS_FUZZ = ("1", "4", "1000")	# of the harness's fuzzer: first seed, seeds, steps

# @kind: unit, fuzz, harness or make; @target: what is built; @sources: patterns of the files it is
# made of; @seconds: how long a fuzz target runs
Judge = collections.namedtuple("Judge", "kind name target command sources seconds")


class Broken(Exception):
    """The run can't go on: a tool is missing, or a test fails without any mutation."""


def run(argv, cwd, limit, env=None):
    """Run a command; return exit code (None: not done in @limit seconds), output and seconds. Kill
    all processes of its process group at the end."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                             env=env)
        try:
            rc = p.wait(limit)
        except subprocess.TimeoutExpired:
            rc = None
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
        out.seek(0)
        return rc, out.read().decode(errors="replace"), time.monotonic() - began


def tests_of(tree):
    """Return {kind: [(name, sources)]} of the unit tests, fuzz targets and programs of the harness that
    "make print-judges" lists."""
    rc, text, _ = run(["make", "-s", "--no-print-directory", "O=/nowhere", "print-judges"], tree, BUILD_LIMIT)
    if rc:
        raise Broken(f"make print-judges: {text[-2000:]}")
    out = {"unit": [], "fuzz": [], "harness": []}
    for line in text.splitlines():
        kind, name, _, *sources = line.split()
        out[kind].append((name, sources))
    return out


def read_judges(path, tests):
    """Return {room: [Judge]} of the file judges.txt."""
    out = {}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split() if line.startswith("#") else line.split()
        if not words:
            continue
        room, kind, *rest = words
        judges = out.setdefault(room, [])
        if kind == "make":
            globs, target, *command = rest
            judges.append(Judge(kind, target, target, " ".join(command), tuple(globs.split(",")), 0))
            continue
        prefix, seconds = rest[0].rstrip("*"), int(rest[1]) if kind == "fuzz" else 0
        for name, sources in tests[kind]:
            if not name.startswith(prefix):
                continue
            folder = str(pathlib.PurePath(name).parent)
            near = () if kind == "harness" else (f"selftests/{kind}/{folder}/*", f"selftests/unit/{folder}/*", f"selftests/fuzz/corpus/{name.split('/')[-1]}/*")
            judges.append(Judge(kind, name, f"{kind}/{name}", "", tuple(sources) + near, seconds))
    return out


def is_made_of(judge, file):
    """a header belongs to the sources of its folder"""
    return any(fnmatch.fnmatch(file, g) or (file.endswith(".h") and pathlib.PurePath(g).parent == pathlib.PurePath(file).parent)
               for g in judge.sources)


class Copy:
    """A copy of the tree with a build folder, used by one worker only."""

    def __init__(self, tree, files, folder):
        self.tree, self.root, self.build = pathlib.Path(tree), pathlib.Path(folder) / "tree", pathlib.Path(folder) / "build"
        self.build.mkdir(parents=True, exist_ok=True)
        wanted = set(files)
        for at in list(self.root.rglob("*")) if self.root.exists() else []:
            if not at.is_dir() and str(at.relative_to(self.root)) not in wanted:
                at.unlink()
        for f in files:
            self.restore(f)

    def restore(self, file):
        """Make a file of the copy as it is in the tree. A file that is the same is not touched, so
        that make builds nothing for it."""
        src, dst = self.tree / file, self.root / file
        if src.is_symlink():
            dst.parent.mkdir(parents=True, exist_ok=True)
            dst.unlink(missing_ok=True)
            dst.symlink_to(os.readlink(src))
        elif not src.is_file():
            return
        elif not dst.is_file() or dst.stat().st_size != src.stat().st_size or dst.read_bytes() != src.read_bytes():
            dst.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(src, dst)

    def write(self, file, text):
        (self.root / file).write_text(text)

    def make(self, judges):
        """Build the judges; return None, or after a failure the end of the output ("make took too long"
        if there is none)."""
        targets = [j.target if j.kind == "make" else str(self.build / j.target) for j in judges]
        rc, text, _ = run(["make", "-s", "--no-print-directory", f"O={self.build}", *targets], self.root, BUILD_LIMIT)
        return None if rc == 0 else text[-3000:] or "make took too long"

    def ask(self, judge, limit):
        """Run a judge; return exit code (None: not done in @limit seconds), output and seconds."""
        env = dict(os.environ, O=str(self.build), CMOCKA_MESSAGE_OUTPUT="TAP", ASAN_OPTIONS="abort_on_error=0")
        if judge.kind == "make":
            return run(["bash", "-c", judge.command], self.root, limit, env)
        program = str(self.build / judge.target)
        if judge.kind == "harness":
            return run([program, *(HARNESS_FUZZ if judge.name.endswith("_fuzz") else ())], self.root, limit, env)
        if judge.kind == "unit":
            return run([program], self.root, limit, env)
        # the committed corpus and one seed: inputs that other runs have found must not matter
        seed = self.root / "selftests/fuzz/corpus" / pathlib.PurePath(judge.name).name
        with tempfile.TemporaryDirectory(dir=self.build) as work:
            corpus = pathlib.Path(work) / "corpus"
            corpus.mkdir()
            return run([program, f"-max_total_time={judge.seconds}", "-seed=1", "-rss_limit_mb=2048", "-len_control=0", "-timeout=20",
                        f"-artifact_prefix={work}/", str(corpus), *([str(seed)] if seed.is_dir() else [])], self.root, limit, env)


def limit_of(seconds):
    return max(LIMIT_MIN, 10 * seconds + 1)


def digest(*parts):
    h = hashlib.sha256()
    for p in parts:
        h.update(str(len(p)).encode() + b":" + (p if isinstance(p, bytes) else p.encode()))
    return h.hexdigest()[:24]


def digest_of_judge(tree, files, judge):
    """Return a hash of all files that a judge is made of, headers included."""
    folders = {str(pathlib.PurePath(f).parent) for f in files if is_made_of(judge, f)}
    mine = [f for f in files if is_made_of(judge, f) or f.startswith("include/") or
            (f.endswith((".h", ".mk")) and (str(pathlib.PurePath(f).parent) in folders or f.endswith("selftests/tests.mk")))]
    return digest(repr(judge), *(part for f in sorted(mine) if (pathlib.Path(tree) / f).is_file()
                                 for part in (f, (pathlib.Path(tree) / f).read_bytes())))
