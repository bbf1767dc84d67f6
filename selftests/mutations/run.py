#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""run.py [--build FOLDER] [NAME...]: applies each mutation to a copy of the tree, and runs the
tests of its room there (README.md). NAME: only mutations whose names begin so. A mutation whose
tests are made of the same files as in an earlier run is not judged again."""
import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import judge
import lists as mutations

HERE = pathlib.Path(__file__).resolve().parent
# (rooms, part of their mutations with a judge that must be noticed)
BOUNDS = [(("mdev", "hw"), 55 / 60), (("gtt-shadow", "mmio-trap", "sched"), 38 / 40)]
DEFECTS = ("does not apply", "does not compile")


AT_ONCE = 6		# judges that one call of make builds


def read_first(path):
    """Return {name of a mutation: target of the judge that noticed it}, of the file first.tsv."""
    return dict(line.split("\t") for line in path.read_text().splitlines() if line) if path.is_file() else {}


class Runner:
    def __init__(self, tree, folder, files, judges, out=print, first=None):
        self.tree, self.folder, self.files, self.judges, self.out = pathlib.Path(tree), pathlib.Path(folder), files, judges, out
        self.first = first or {}
        (self.folder / "found").mkdir(parents=True, exist_ok=True)
        self.lock, self.base, self.digests = threading.Lock(), {}, {}

    # ------------------------------------------------------------------ results of earlier runs

    def judges_of(self, m):
        return [j for j in self.judges.get(mutations.room_of(m), []) if judge.is_made_of(j, m.file)]

    def digest(self, j):
        with self.lock:
            if j not in self.digests:
                self.digests[j] = judge.digest_of_judge(self.tree, self.files, j)
            return self.digests[j]

    def key(self, m):
        return judge.digest(repr(m[:3]), repr(m.block), *(self.digest(j) for j in self.judges_of(m)))

    def known(self, m):
        at = self.folder / "found" / self.key(m)
        return json.loads(at.read_text()) if at.is_file() else None

    def keep(self, m, found):
        at = self.folder / "found" / self.key(m)
        at.with_suffix(".new").write_text(json.dumps(found))
        at.with_suffix(".new").rename(at)

    # ------------------------------------------------------------------ judging mutations

    def baseline(self, copy, j):
        """Return the seconds that judge @j takes on the tree without a mutation. The first worker
        that needs it measures."""
        key = self.digest(j)
        with self.lock:
            entry = self.base.setdefault(key, [threading.Lock(), None])
        with entry[0]:
            at = self.folder / "found" / f"base-{key}"
            if entry[1] is None and at.is_file():
                entry[1] = float(at.read_text())
            if entry[1] is None:
                wrong = copy.make([j])
                if wrong:
                    raise judge.Broken(f"{j.target} can't be built from the tree as it is:\n{wrong}")
                rc, text, seconds = copy.ask(j, judge.BUILD_LIMIT)
                if rc != 0:
                    raise judge.Broken(f"{j.target} fails on the tree as it is (exit code {rc}):\n{text[-3000:]}")
                entry[1] = seconds
                at.write_text(f"{seconds:.3f}")
            return entry[1]

    def judged(self, copy, m):
        """Judge mutation @m; return its status and the test that noticed it, or the reason why it
        could not be judged."""
        judges = self.judges_of(m)
        try:
            text = mutations.apply(m, (self.tree / m.file).read_text())
        except (mutations.Bad, OSError) as e:
            return "does not apply", str(e)
        if not judges:
            return "no judge", ""
        for some in self.in_turn(copy, m, judges):
            base = {j: self.baseline(copy, j) for j in some}
            try:
                copy.write(m.file, text)
                wrong = copy.make(some)
                if wrong:
                    return "does not compile", wrong
                for j in some:
                    limit = judge.limit_of(base[j])
                    rc, _, _ = copy.ask(j, limit)
                    if rc != 0:
                        return "noticed", j.target + (f", which did not end in {limit:.0f} s" if rc is None else "")
            finally:
                copy.restore(m.file)
        return "survived", ""

    def in_turn(self, copy, m, judges):
        """Yield lists of the judges of mutation @m, in the order in which they are asked: the judge that
        noticed it before, then by kind, the quickest first."""
        known = [j for j in judges if j.target == self.first.get(m.name)]
        if known:
            yield known
        for kind in dict.fromkeys(j.kind for j in judges):
            rest = sorted((j for j in judges if j.kind == kind and j not in known), key=lambda j: self.baseline(copy, j))
            for i in range(0, len(rest), AT_ONCE):
                yield rest[i:i + AT_ONCE]

    def work(self, number, todo, results, broken):
        copy = None
        while not broken:
            try:
                m = todo.get_nowait()
            except queue.Empty:
                return
            try:
                copy = copy or judge.Copy(self.tree, self.files, self.folder / f"worker{number}")
                began = time.monotonic()
                status, by = self.judged(copy, m)
                found = {"status": status, "by": by, "seconds": round(time.monotonic() - began, 1)}
                if status not in DEFECTS:
                    self.keep(m, found)
            except (judge.Broken, OSError) as e:
                broken.append(str(e))
                return
            with self.lock:
                results[m.name] = found
                self.out(f"{len(results):4d}  {status:16s} {m.name:55s} {by.splitlines()[-1] if by else ''}"[:160])

    def run(self, chosen, workers):
        """Judge the @chosen mutations; return {name: result}."""
        results, broken, todo = {}, [], queue.Queue()
        for m in chosen:
            found = self.known(m)
            if found:
                results[m.name] = found
            else:
                todo.put(m)
        if results:
            self.out(f"{len(results)} of {len(chosen)} are known from before")
        threads = [threading.Thread(target=self.work, args=(i, todo, results, broken)) for i in range(workers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if broken:
            raise judge.Broken("\n".join(broken))
        return results


# ---------------------------------------------------------------------- report of all results

def report(chosen, results):
    rooms = {}
    for m in chosen:
        r = rooms.setdefault(mutations.room_of(m), {"noticed": 0, "total": 0, "judged": 0, "no_judge": 0, "defects": [], "survivors": []})
        status = results[m.name]["status"]
        r["total"] += 1
        r["noticed"] += status == "noticed"
        r["no_judge"] += status == "no judge"
        r["judged"] += status in ("noticed", "survived")
        if status == "survived":
            r["survivors"].append(m.name)
        if status in DEFECTS:
            r["defects"].append(f"{m.name}: {status}: {results[m.name]['by']}")
    return rooms


def misses(chosen, results, rooms, bounds):
    """Return lines for the rooms that miss their bound, and for survivors that break S1 to S4."""
    out = []
    for names, share in bounds:
        noticed, judged = (sum(rooms[n][k] for n in names if n in rooms) for k in ("noticed", "judged"))
        if noticed < share * judged:
            out.append(f"{' and '.join(names)}: {noticed} of {judged} noticed, {share:.0%} at least are wanted")
    out += [f"{m.name} breaks {' '.join(m.breaks)} and is not noticed" for m in chosen
            if results[m.name]["status"] == "survived" and set(m.breaks) & {"S1", "S2", "S3", "S4"}]
    return out


def table(rooms, out):
    out(f"{'room':12s} {'noticed':>8s} {'survived':>9s} {'no judge':>9s} {'defects':>8s} {'total':>6s}")
    for room, r in rooms.items():
        out(f"{room:12s} {r['noticed']:8d} {len(r['survivors']):9d} {r['no_judge']:9d} {len(r['defects']):8d} {r['total']:6d}")


def tell(chosen, results, bounds=BOUNDS, out=print):
    """Print the report; return (results by room, whether all bounds are met, no survivor breaks S1
    to S4, and no mutation is defective)."""
    rooms = report(chosen, results)
    table(rooms, out)
    why = {m.name: m for m in chosen}
    for r in rooms.values():
        for name in r["survivors"]:
            out(f"survivor: {name} ({' '.join(why[name].breaks)}): {why[name].why}")
        for defect in r["defects"]:
            out(f"defect: {defect}")
    missed = misses(chosen, results, rooms, bounds)
    for line in missed:
        out(line)
    return rooms, not missed and not any(r["defects"] for r in rooms.values())


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", default="build/mutations-work", help="where the copies of the tree are built")
    p.add_argument("--tree", default=HERE.parent.parent, type=pathlib.Path)
    p.add_argument("--lists", default=HERE, type=pathlib.Path, help="folder of the lists and of judges.txt")
    p.add_argument("--json", type=pathlib.Path, help="default: build/mutations.json in the tree")
    p.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 2))
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    began = time.time()
    files = subprocess.run(["selftests/tree-files.sh"], cwd=a.tree, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    try:
        chosen = [m for m in mutations.load(a.lists) if not a.names or m.name.startswith(tuple(a.names))]
        judges = judge.read_judges(a.lists / "judges.txt", judge.tests_of(a.tree))
        runner = Runner(a.tree, pathlib.Path(a.build).absolute(), files, judges, lambda s: print(s, flush=True),
                        read_first(a.lists / "first.tsv"))
        results = runner.run(chosen, a.jobs)
    except (mutations.Bad, judge.Broken) as e:
        print(e, file=sys.stderr)
        return 2
    rooms, good = tell(chosen, results, () if a.names else BOUNDS)	# the bounds are for all mutations of a room
    at = a.json or a.tree / "build/mutations.json"
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(json.dumps({
        "rooms": rooms, "seconds": round(time.time() - began), "partial": bool(a.names),
        "mutations": [dict(name=m.name, breaks=m.breaks, kind=m.kind, why=m.why, **results[m.name]) for m in chosen]}, indent=1) + "\n")
    at.with_name("mutations-first.tsv").write_text("".join(
        f"{m.name}\t{results[m.name]['by'].split(',')[0]}\n" for m in chosen if results[m.name]["status"] == "noticed"))
    print(f"{time.time() - began:.0f} s; {at}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
