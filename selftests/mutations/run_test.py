#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: tests run.py on a made-up tree with one test, and on mutations of it whose results are
known."""
import contextlib
import io
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

import judge
import lists
import run

HERE = pathlib.Path(__file__).resolve().parent
ROOM = """int limit(int v)
{
	if (v > 7)
		v = 7;
	return v;
}

int twice(int v)
{
	int sum = v;

	sum += v;
	return sum;
}
"""
HEADER = """int limit(int v);

static inline int most(void)
{
	return 7;
}
"""
OTHER = """int unasked(int v)
{
	return v;
}
"""
TEST = """#include <stdio.h>
#include "room/room.h"

int main(void)
{
	FILE *f = fopen(COUNT, "a");

	fputs("x", f);
	fclose(f);
	return limit(9) == 7 && limit(3) == 3 && most() == 7 ? 0 : 1;
}
"""
MAKEFILE = """$(O)/unit/room/room_test: selftests/unit/room/room_test.c room/room.c room/room.h
	@mkdir -p $(@D)
	@gcc -I. -DCOUNT='"%s"' $(filter %%.c,$^) -o $@
print-judges:
	@echo 'unit room/room_test $(O)/unit/room/room_test selftests/unit/room/room_test.c room/room.c'
"""
FILES = """#!/bin/sh
cd "$(dirname "$0")/.." && find . -type f ! -path './build/*' -printf '%P\\n' | LC_ALL=C sort
"""
NOTICED = "room/room.c limit | S1 | off by one\nwhy: w\n- v = 7;\n+ v = 8;\n"
SURVIVES = "room/room.c twice | S6 | a step left out\nwhy: nobody asks twice()\n- sum += v;\n+\n"
INLINE = "room/room.h most | S1 | off by one\nwhy: w\n- return 7;\n+ return 8;\n"
HANGS = "room/room.c limit | S5 | a loop\nwhy: w\n  if (v > 7)\n- v = 7;\n+ for (;;) ;\n"
UNCOMPILED = "room/room.c twice | S2 | nonsense\nwhy: w\n- return sum;\n+ return nothing;\n"
UNJUDGED = "room/other.c unasked | S2 | off by one\nwhy: w\n- return v;\n+ return v + 1;\n"
GONE = "room/room.c limit | S3 | a bound\nwhy: w\n- v = 70;\n+ v = 80;\n"
TWO = "room/room.c - | S3 | a type\nwhy: w\n- {\n+ ;\n"

results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}", flush=True)


def write(tree, path, text):
    at = tree / path
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text)


def make_tree(tree, count):
    write(tree, "room/room.c", ROOM)
    write(tree, "room/room.h", HEADER)
    write(tree, "room/other.c", OTHER)
    write(tree, "selftests/unit/room/room_test.c", TEST)
    write(tree, "selftests/tree-files.sh", FILES)
    (tree / "selftests/tree-files.sh").chmod(stat.S_IRWXU)
    write(tree, "Makefile", MAKEFILE % count)


def start(tree, folder, *records):
    """Run run.py as make does, with these records as its list; return exit code, report and output."""
    where = folder / "lists"
    where.mkdir(exist_ok=True)
    (where / "room.list").write_text("\n".join(records))
    (where / "judges.txt").write_text("room\tunit\troom/\n")
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    p = subprocess.run([sys.executable, HERE / "run.py", "--tree", tree, "--lists", where, "--build", folder / "build", "--json", out,
                        "--jobs", "2"], capture_output=True, text=True, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    return p.returncode, json.loads(out.read_text()) if out.is_file() else {}, p.stdout + p.stderr


def status(report):
    return [m["status"] for m in report.get("mutations", [])]


def check_lists():
    for text, what in (("room/room.c limit | S1\nwhy: w\n- a\n+ b\n", "without a kind"), ("a f | S1 | k\n- a\n+ b\n", "without a reason"),
                       ("a f | S1 | k\nwhy: w\n- a\n- b\n+ c\n", "of two lines")):
        try:
            lists.parse(text, "test")
            check(False, f"a record {what} is refused")
        except lists.Bad:
            check(True, f"a record {what} is refused")
    one = lists.parse(NOTICED, "test")[0]
    check(lists.apply(one, "/* above */\n" + ROOM) == "/* above */\n" + ROOM.replace("v = 7;", "v = 8;"),
          "a mutation survives that lines move, and keeps the indentation")


def check_fates(tree, folder, count):
    rc, report, text = start(tree, folder, NOTICED, SURVIVES, UNJUDGED)
    check(status(report) == ["noticed", "survived", "no judge"], "one is noticed, one survives, one has no judge")
    room = report.get("rooms", {}).get("room", {})
    check(room.get("noticed") == 1 and room.get("total") == 3 and room.get("survivors") == ["room/room.c:twice:1"],
          "rooms.<room>.noticed and total are told, and the survivor by name")
    check("nobody asks twice()" in text and rc == 0, "the survivor is told with its reason")
    check((tree / "room/room.c").read_text() == ROOM, "the tree itself is not changed")
    asked = count.stat().st_size
    _, again, text = start(tree, folder, NOTICED, SURVIVES, UNJUDGED)
    check(status(again) == status(report) and count.stat().st_size == asked, "what is known is not asked again")
    write(tree, "selftests/unit/room/room_test.c", TEST + "/* more */\n")
    start(tree, folder, NOTICED, SURVIVES, UNJUDGED)
    check(count.stat().st_size > asked, "it is after the test has changed")
    _, report, _ = start(tree, folder, INLINE)
    check(status(report) == ["noticed"], "an inline function of a header is judged by the tests of its folder")


def check_first(tree, folder, count):
    """The room has a second test, which notices nothing."""
    write(tree, "selftests/unit/room/blind_test.c", TEST.replace("limit(9) == 7 && limit(3) == 3 && most() == 7", "1"))
    rule, listed = MAKEFILE.split("print-judges:\n")
    write(tree, "Makefile", "".join(
        (rule % count, rule.replace("room_test", "blind_test") % count, "print-judges:\n", listed, listed.replace("room_test", "blind_test"))))
    files = subprocess.run([tree / "selftests/tree-files.sh"], check=True, capture_output=True, text=True).stdout.split()
    judges = judge.read_judges(folder / "lists/judges.txt", judge.tests_of(tree))
    chosen = lists.parse(NOTICED, "test")
    for hint in ("room_test", "blind_test", "no_test"):
        for start in ("base", "asked"):	# the first round also runs the tests on the tree as it is
            found = run.Runner(tree, folder / f"first-{hint}", files, judges, lambda s: None, {chosen[0].name: f"unit/room/{hint}"})
            if start == "asked":
                for known in (folder / f"first-{hint}/found").glob("[!b]*"):
                    known.unlink()
            before = count.stat().st_size
            by = found.run(chosen, 1)[chosen[0].name]["by"]
        asked = count.stat().st_size - before
        check(by == "unit/room/room_test" and asked in {"room_test": (1,), "blind_test": (2,), "no_test": (1, 2)}[hint],
              f"first.tsv names {hint}: noticed by room_test, after {asked} tests")
    (tree / "selftests/unit/room/blind_test.c").unlink()
    make_tree(tree, count)


def check_defects(tree, folder):
    rc, report, _ = start(tree, folder, GONE, TWO, NOTICED)
    check(status(report) == ["does not apply", "does not apply", "noticed"] and rc == 1,
          "one that applies nowhere, and one that applies twice, are defects of the list")
    rc, report, _ = start(tree, folder, UNCOMPILED, NOTICED)
    check(status(report) == ["does not compile", "noticed"] and rc == 1, "one that does not compile is not noticed but a defect")


def check_times(tree, folder):
    limit, judge.LIMIT_MIN = judge.LIMIT_MIN, 2
    try:
        files = subprocess.run([tree / "selftests/tree-files.sh"], check=True, capture_output=True, text=True).stdout.split()
        judges = judge.read_judges(folder / "lists/judges.txt", judge.tests_of(tree))
        chosen = lists.parse(HANGS, "test")
        found = run.Runner(tree, folder / "times", files, judges, lambda s: None).run(chosen, 1)
        check(found[chosen[0].name]["status"] == "noticed" and "did not end" in found[chosen[0].name]["by"],
              "a test that hangs notices, because it takes less than a tenth of its time without the mutation")
        check(all(10 * s < judge.limit_of(s) for s in (0.01, 1, 3, 100)), "no time-out is shorter than ten times the test")
    finally:
        judge.LIMIT_MIN = limit


def check_broken(tree, folder):
    write(tree, "selftests/unit/room/room_test.c", TEST.replace("== 7", "== 6"))
    rc, report, text = start(tree, folder, NOTICED, SURVIVES)
    check(rc == 2 and not report and "fails on the tree as it is" in text, "a test that fails without a mutation ends the run")


def check_bounds():
    chosen = lists.parse(SURVIVES.replace("S6", "S2") + "\n" + NOTICED, "test")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        _, good = run.tell(chosen, {m.name: {"status": s, "by": ""} for m, s in zip(chosen, ("survived", "noticed"))})
    check(not good and "breaks S2 and is not noticed" in out.getvalue(), "a survivor that breaks S1 to S4 fails the run")


def main():
    with tempfile.TemporaryDirectory() as top:
        tree, folder, count = pathlib.Path(top) / "tree", pathlib.Path(top), pathlib.Path(top) / "asked"
        count.touch()
        make_tree(tree, count)
        check_lists()
        check_fates(tree, folder, count)
        check_first(tree, folder, count)
        check_defects(tree, folder)
        check_times(tree, folder)
        check_broken(tree, folder)
        check_bounds()
    wrong, _ = lists.check(HERE.parent.parent, lists.load(), lists.MINIMUM)
    print("".join(f"# {w}\n" for w in wrong), end="")
    check(not wrong, "each mutation of the module applies exactly once")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
