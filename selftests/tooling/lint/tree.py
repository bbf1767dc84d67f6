# SPDX-License-Identifier: GPL-2.0-only
"""The tree that lint checks: its files and their texts; and proofs, records in the cache that a
file passed a check."""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import time

# strings and comments of C; what looks like a comment in a string is part of the string
TOKEN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|/\*.*?\*/|//[^\n]*""", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]*)[">]', re.M)
C_FILES = (".c", ".h", ".cu", ".inc")
JOBS = len(os.sched_getaffinity(0))


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        said = subprocess.run([self.root / "selftests/tree-files.sh"], capture_output=True, text=True, check=True).stdout
        self.files = said.splitlines()
        self.known = set(self.files)
        self.texts, self.codes, self.hashes, self.reached = {}, {}, {}, {}

    def of(self, *endings, rooms=("",)):
        """Yield the files below these folders that have one of these endings. An ending that does
        not begin with a dot is a whole path."""
        for file in self.files:
            if any(file.endswith(e) if e.startswith(".") else file == e for e in endings) and \
                    any(not r or file.startswith(r + "/") for r in rooms) and (self.root / file).is_file():
                yield file

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = (self.root / file).read_text(errors="replace")
        return self.texts[file]

    def code(self, file):
        """Return the text of a C file without comments and with empty strings; line numbers stay
        the same."""
        if file not in self.codes:
            def blank(m):
                return '""' if m.group()[0] in "\"'" else re.sub(r"[^\n]", " ", m.group())
            self.codes[file] = TOKEN.sub(blank, self.text(file))
        return self.codes[file]

    def comments(self, file):
        """Yield (line number, text) of each comment of a C file."""
        text = self.text(file)
        for m in TOKEN.finditer(text):
            if m.group()[0] == "/":
                yield text.count("\n", 0, m.start()) + 1, m.group()

    def hash(self, file):
        if file not in self.hashes:
            self.hashes[file] = hashlib.sha256((self.root / file).read_bytes()).hexdigest()
        return self.hashes[file]

    def included(self, file, folders):
        """Yield the files of the tree that this file includes. @folders: where the compiler looks
        after the file's own folder."""
        for name in INCLUDE.findall(self.text(file)):
            for folder in (os.path.dirname(file), *folders):
                path = os.path.normpath(os.path.join(folder, name))
                if path in self.known:
                    yield path
                    break

    def closure(self, file, folders):
        """Return the file and all files of the tree that it includes, directly or through others."""
        seen, left = {file}, [file]
        while left:
            at = left.pop()
            if (at, folders) not in self.reached:
                self.reached[at, folders] = tuple(self.included(at, folders))
            for to in self.reached[at, folders]:
                if to not in seen:
                    seen.add(to)
                    left.append(to)
        return sorted(seen)

    def run(self, *command, **kwargs):
        return subprocess.run(command, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, **kwargs)


class Proofs:
    """Records that a check passed for files with these contents, so that it need not run again in
    any clone. Failures are not recorded."""
    folder = pathlib.Path(os.environ.get("KVGPU_CACHE") or pathlib.Path.home() / ".cache/kvgpu") / "proved"

    def __init__(self, tree, name, *about):
        """@about: what the result depends on besides files: versions, options."""
        self.tree, self.at, self.about = tree, self.folder / name, about

    def key(self, files):
        text = "\n".join([*map(str, self.about), *(f"{f} {self.tree.hash(f)}" for f in files)])
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def holds(self, key):
        try:
            os.utime(self.at / key)     # forget_old() removes proofs that were not used for 30 days
            return True
        except OSError:
            return False

    def keep(self, key):
        self.at.mkdir(parents=True, exist_ok=True)
        (self.at / key).touch()

    def forget_old(self):
        """Remove proofs that were not used for 30 days."""
        for path in self.at.glob("*"):
            try:
                if time.time() - path.stat().st_mtime > 30 * 86400:
                    path.unlink()
            except FileNotFoundError:
                pass

    def each(self, subjects, files_of, look):
        """Yield the complaints about @subjects. @look(subject) yields those of one; it runs only
        for subjects without a proof, in threads, on all CPUs. @files_of(subject) returns the files
        on which the result depends."""
        left = [(s, self.key(files_of(s))) for s in subjects]
        left = [(s, k) for s, k in left if not self.holds(k)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for (_, key), wrong in zip(left, pool.map(lambda one: list(look(one[0])), left)):
                yield from wrong
                if not wrong:
                    self.keep(key)
        if left:
            self.forget_old()


def exceptions(name):
    """Return [(words, reason)] of a list beside this file: in each line one or more words, then the
    reason after a #."""
    out = []
    for line in (pathlib.Path(__file__).parent / name).read_text().splitlines():
        what, _, why = line.partition("#")
        if what.strip():
            if not why.strip():
                raise SystemExit(f"selftests/tooling/lint/{name}: no reason for '{what.strip()}'")
            out.append((what.split(), why.strip()))
    return out


def unneeded(name, listed, used):
    for words, _ in listed:
        if tuple(words) not in used:
            yield f"selftests/tooling/lint/{name}: nothing needs '{' '.join(words)}'"
