#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""mutate.py RANGE [PATH...]: makes one fault at a time in the functions that the commits of RANGE
(HEAD~5..) changed, in a copy of the tree at the last of these commits, and runs the tests without a
VM that are made of the file. Prints each mutant that survives all of them. README.md says more.
Exit status 1: one survived, or nothing could be judged."""
import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
HARNESS_FOR = ("mdev/", "hw/")		# what the harness judges; the pure rooms have tests of their own
BUILD_LIMIT = 1800			# seconds for a build, and for a test without a mutant
LIMIT_MIN = 120				# seconds that a test with a mutant gets, at the least
FUZZ = ("-max_total_time=8", "-seed=1", "-rss_limit_mb=2048", "-len_control=0", "-timeout=20")

TOKEN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*""", re.S | re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
# what is no call, and calls whose lack no test should notice
NO_CALL = re.compile(r"if|while|for|switch|return|sizeof|(?:pr|dev|trace|lockdep)_\w+|v?f?printf|WARN\w*|BUG\w*|assert\w*|might_sleep|cond_resched|free|kfree")
FLUSH = re.compile(r"flush|inval|barrier|fence|(?<![a-z])sync(?![a-z])|[rw]?mb\b", re.I)

Mutant = collections.namedtuple("Mutant", "file line function start end new what")
Judge = collections.namedtuple("Judge", "kind name sources")


def fail(text):
    sys.exit(f"mutate: {text}")


def git(*args):
    p = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True)
    return p.stdout if p.returncode == 0 else None


def commits_of(text):
    """Return (commit before the range, last commit of the range)."""
    first, dots, last = text.partition("..")
    if not first or not dots or last.startswith("."):
        fail(f"RANGE is two commits with '..' between them, such as RANGE=HEAD~5.. or RANGE=v1..v2, not '{text}'")
    ends = [git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{c or 'HEAD'}^{{commit}}") for c in (first, last)]
    if None in ends:
        fail(f"RANGE: git knows no commit '{(first, last)[ends.index(None)]}' here")
    base = git("merge-base", *map(str.strip, ends)) or fail(f"RANGE: '{first}' and '{last or 'HEAD'}' have no history in common")
    return base.strip(), ends[1].strip()


def changed_lines(base, tip):
    """Return {file: numbers of lines that changed, as they are in @tip}."""
    out, file = collections.defaultdict(set), None
    for line in git("diff", "--unified=0", "--no-color", "--no-ext-diff", "--diff-filter=AMR", "--src-prefix=a/", "--dst-prefix=b/",
                    base, tip, "--", "*.c", "*.h").split("\n"):
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if line.startswith("+++ b/"):
            file = line[6:]
        elif hunk:
            at, n = int(hunk[1]), int(hunk[2] or 1)
            out[file].update(range(at, at + n) if n else (at, at + 1))
    return {f: lines for f, lines in out.items() if not f.startswith(("selftests/", "include/user/"))}


def bare(text):
    """Return @text with blanks in place of comments, strings and lines of the preprocessor."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions_of(code):
    """Yield (name, number of the first line, number of the last line) of each function."""
    lines, start, head = code.split("\n"), None, 0
    for i, line in enumerate(lines):
        if line.rstrip() == "{":
            start = i
        elif start is not None and line.startswith("}"):
            name = re.search(r"\b(\w+)\((?!\()", " ".join(lines[head:start]))
            if name:
                yield name[1], head + 1, i + 1
            start, head = None, i + 1
        elif start is None and (not line.strip() or line.rstrip()[-1] in ";}"):
            head = i + 1


def closed(code, at):
    """Return the index behind the bracket that closes the one at @at."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if not depth:
            return i + 1
    return len(code)


def operators(code, start, end):
    """Yield (start, end, new text, kind) for each fault that can be made between @start and @end."""
    def found(pattern):
        return re.compile(pattern).finditer(code, start, end)

    for m in found(r"\b(?:if|while) (?=\()"):
        yield m.end(), closed(code, m.end()), "(!{})", "negated condition"
    for m in found(r"(?<=[;{}:)])\s*\n[ \t]+(?=(\w+(?:(?:->|\.)\w+)*)\()"):
        stop = closed(code, m.end(1))
        if code[stop:stop + 1] == ";" and not NO_CALL.fullmatch(m[1]):
            yield m.end(), stop, "", "missing flush" if FLUSH.search(m[1]) else "dropped call"
    for m in found(r" (<|<=|>|>=) "):
        yield m.start(1), m.end(1), {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[m[1]], "off by one"
    for m in found(r" [+-] 1\b(?![.\w])"):
        yield m.start(), m.end(), "", "off by one"
    for m in found(r"(?<=[=!]= )0\b(?![.\w])|(?<== )(?:true|false|\d+)\b(?![.\w])|(?<=return )(?:true|false|0|1|-E[A-Z0-9]+)\b(?=;)"):
        new = {"true": "false", "false": "true", "0": "1"}.get(m[0], "0")
        flush = m[0] == "true" and FLUSH.search(code[code.rfind("\n", 0, m.start()):m.start()])
        yield m.start(), m.end(), new, "missing flush" if flush else "swapped constant"
    names = list(found(r"\b([A-Z][A-Z0-9]*_)[A-Z0-9_]+\b(?!\()"))
    others = ((m, next((n[0] for n in names if n[1] == m[1] and n[0] != m[0]), None)) for m in names)
    yield from ((m.start(), m.end(), other, "swapped constant") for m, other in others if other)


def mutants_of(file, text, changed):
    """Return the mutants of the functions with lines of @changed, those on these lines first."""
    code, out = bare(text), []
    starts = [0, *(m.end() for m in re.finditer("\n", code)), len(code)]
    for name, first, last in functions_of(code):
        if changed.isdisjoint(range(first, last + 1)):
            continue
        for start, end, new, kind in operators(code, code.index("\n{", starts[first - 1]), starts[last - 1]):
            old = text[start:end]
            new = new.format(old) if kind == "negated condition" else new
            told = " ".join(old.split()) + (f" -> {new.strip() or 'nothing'}" if kind in ("off by one", "swapped constant") else "")
            whole = " ".join(text[text.rfind("\n", 0, start) + 1:].split("\n")[0].split())
            what = f"{kind}: {told}" + (f", in {whole}" if len(told) < 30 and told != whole else "")
            out.append(Mutant(file, code.count("\n", 0, start) + 1, name, start, end, new + "\n" * (old.count("\n") - new.count("\n")), what))
    return sorted(out, key=lambda m: (m.line not in changed, m.start))


def spread(mutants, most):
    """Return @most of the mutants: of each file as many, the first of each."""
    place = collections.Counter()
    turns = sorted((place.update([m.file]) or place[m.file], m) for m in mutants)
    return sorted((m for _, m in turns[:most]), key=lambda m: (m.file, m.start))


class Scratch:
    """A copy of the tree at one commit, and what is built of it."""
    def __init__(self, folder, tip):
        self.folder, self.tree, self.build = folder, folder / "tree", folder / "build"
        for f in (self.tree, self.build):
            f.mkdir()
        archive = subprocess.Popen(["git", "archive", tip], cwd=ROOT, stdout=subprocess.PIPE)
        if subprocess.run(["tar", "-x", "-C", self.tree], stdin=archive.stdout).returncode or archive.wait():
            fail(f"git archive {tip}: the tree can't be copied to {folder}")

    def run(self, argv, limit, **env):
        """Run a command; return its exit status (None: not done in @limit seconds), output, seconds."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as out:
            p = subprocess.Popen(argv, cwd=self.tree, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True, env=dict(os.environ, **env))
            try:
                rc = p.wait(limit)
            except subprocess.TimeoutExpired:
                rc = None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(p.pid, signal.SIGKILL)
                p.wait()
            out.seek(0)
            return rc, out.read().decode(errors="replace"), time.monotonic() - began

    def make(self, jobs, *targets, **env):
        rc, text, _ = self.run(["make", "-s", f"-j{jobs}", "--no-print-directory", f"O={self.build}", *targets], BUILD_LIMIT, **env)
        return rc == 0, text
    def target(self, judge):
        return f"{self.build}/{judge.kind}/{judge.name}"

    def ask(self, judge, limit):
        """Run a test where it sees no process but its own, and writes to /tmp and this folder only: a
        mutant may signal or remove anything."""
        with tempfile.TemporaryDirectory(dir=self.build) as work:
            args = ("1", "4", "1000") if judge.kind == "harness" and judge.name.endswith("_fuzz") else ()
            if judge.kind == "fuzz":	# the committed corpus only, so that each run is the same
                corpus = next(self.tree.glob(f"selftests/*/fuzz/corpus/{judge.name.split('/')[-1]}"), self.tree / "none")
                args = (*FUZZ, f"-artifact_prefix={work}/", work, *([str(corpus)] if corpus.is_dir() else []))
            box = 'mount --bind /tmp /tmp && mount --bind "$0" "$0" && mount -o remount,bind,ro / && cd "$0/tree" || exit 125\n' \
                  'echo 1000 > /proc/self/oom_score_adj; ulimit -c 0; ulimit -f 4000000; "$@"; exit $?'
            return self.run(["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c", box, str(self.folder),
                             self.target(judge), *args], limit, CMOCKA_MESSAGE_OUTPUT="TAP", ASAN_OPTIONS="abort_on_error=0")


def included(tree, file, seen):
    """Return the files of the tree that a file includes. @seen: what is known, by file."""
    if file not in seen:
        names = INCLUDE.findall((tree / file).read_text(errors="replace")) if (tree / file).is_file() else []
        tried = ([os.path.normpath(os.path.join(d, n)) for d in (os.path.dirname(file), "", "include", "include/user")] for n in names)
        seen[file] = [f for t in tried for f in t if (tree / f).is_file()]
    return seen[file]


def made_of(tree, sources, seen):
    out, left = set(sources), list(sources)
    while left:
        new = set(included(tree, left.pop(), seen)) - out
        out |= new
        left += new
    return out


class Bench:
    """The judges of all files, built and run once without a mutant."""
    def __init__(self, scratch, files, jobs):
        self.scratch, self.jobs, seen = scratch, jobs, {}
        good, text = scratch.make(1, "print-judges")
        if not good:
            fail(f"make print-judges, in the tree of RANGE's last commit: {text[-2000:]}")
        known = (Judge(kind, name, tuple(sources)) for kind, name, _, *sources in map(str.split, text.splitlines()))
        made = {j: made_of(scratch.tree, j.sources, seen) for j in known}
        self.of = {f: [j for j in made if f in made[j] and (j.kind != "harness" or f.startswith(HARNESS_FOR))] for f in files}
        wanted = sorted({j for js in self.of.values() for j in js})
        print(f"{len(wanted)} tests are built and run without a fault first", flush=True)
        text = scratch.make(jobs, "-k", *map(scratch.target, wanted))[1] if wanted else ""
        built = [j for j in wanted if os.path.exists(scratch.target(j))]
        base = self.ask(built, dict.fromkeys(built, BUILD_LIMIT))
        for j in wanted:
            if j not in built or base[j][0] != 0:
                print(f"left out: {j.kind} {j.name} " + ("fails" if j in built else "does not build") + " without a fault", flush=True)
        print("".join(f"  {line}\n" for line in (text.splitlines() if len(built) < len(wanted) else [])[:10]), end="", flush=True)
        self.limit = {j: max(LIMIT_MIN, 10 * base[j][2] + 1) for j in built if base[j][0] == 0}
        self.of = {f: sorted((j for j in js if j in self.limit), key=lambda j: (j.kind == "harness", base[j][2])) for f, js in self.of.items()}

    def ask(self, judges, limit):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip(judges, pool.map(lambda j: self.scratch.ask(j, limit[j]), judges)))

    def judge(self, mutant):
        """Return "killed", "survived" or "not compiled", and the test that killed it."""
        at, judges, n = self.scratch.tree / mutant.file, self.of[mutant.file], max(self.jobs, 4)
        text = at.read_text()
        try:
            at.write_text(text[:mutant.start] + mutant.new + text[mutant.end:])
            for some in (judges[i:i + n] for i in range(0, len(judges), n)):
                # programs of the harness share a library, and need no new link
                targets = {f"{self.scratch.build}/harness/libharness.so" if j.kind == "harness" else self.scratch.target(j) for j in some}
                if not self.scratch.make(self.jobs, *targets, CCACHE_READONLY="1")[0]:
                    return "not compiled", ""
                said = self.ask(some, self.limit)
                by = next((j for j in some if said[j][0] != 0), None)
                if by:
                    judges.insert(0, judges.pop(judges.index(by)))	# it is asked first the next time
                    return "killed", f" # {by.name}" + (f", not done in {self.limit[by]:.0f} s" if said[by][0] is None else "")
            return "survived", ""
        finally:
            at.write_text(text)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", type=pathlib.Path, default=tempfile.gettempdir(), help="folder for the copy of the tree, which is removed at the end")
    p.add_argument("--most", type=int, default=60, help="mutants at most (60), those on changed lines first")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--verbose", action="store_true", help="tell also what is killed or does not compile")
    p.add_argument("range")
    p.add_argument("paths", nargs="*", help="only files whose paths begin so")
    a = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.geteuid():
        fail("this wants root: a test with a fault in it runs in namespaces of its own")
    base, tip = commits_of(a.range)
    changed = {f: lines for f, lines in changed_lines(base, tip).items() if not a.paths or f.startswith(tuple(a.paths))}
    possible = [m for f in sorted(changed) for m in mutants_of(f, git("show", f"{tip}:{f}"), changed[f])]
    if not possible:
        fail(f"{a.range} changed no function in which a fault can be made" + (f", in {' '.join(a.paths)}" if a.paths else ""))
    a.build.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mutate.", dir=a.build.resolve()))
    try:
        bench = Bench(Scratch(folder, tip), sorted({m.file for m in possible}), a.jobs)
        for file in sorted(f for f, js in bench.of.items() if not js):
            print(f"no test without a VM judges {file}")
        possible = [m for m in possible if bench.of[m.file]]
        chosen, count = spread(possible, a.most), collections.Counter()
        print(f"{len(chosen)} of {len(possible)} mutants", flush=True)
        for m in chosen:
            fate, by = bench.judge(m)
            count[fate] += 1
            if fate == "survived" or a.verbose:
                print(f"{fate} {m.file}:{m.line} {m.function}: {m.what}{by}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count['killed']} killed, {count['survived']} survived, {count['not compiled']} do not compile")
    return 0 if count["killed"] and not count["survived"] else 1


if __name__ == "__main__":
    sys.exit(main())
