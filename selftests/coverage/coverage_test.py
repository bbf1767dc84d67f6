#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: coverage.py on made-up counts, worked out by hand."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import coverage

ROOMS = "# room folder least\nface\tmdev\t70\npure\tsched\t95\nfree\ttools\t-\n"
FILES = {
    "mdev/a.c": "int a(void)\n{\n\treturn 1;\n}\n",
    "mdev/unseen.c": "/* int no(void);\n */\nint b(void)\n{\n\tif (x)\n\t\treturn 2;\n\treturn 3;\n}\n",
    "mdev/table.c": "const int table[] = {\n\t1,\n\t2,\n};\n",
    "mdev/machine/deep.c": "int deep(void)\n{\n\treturn 1;\n}\n",
    "sched/s.c": "int s(void)\n{\n\treturn 1;\n}\n",
}
results = []


def ok(good, text):
    results.append(bool(good))
    print(f"{'ok' if good else 'not ok'} {len(results)} - {text}")


def gcov(**files):
    return json.dumps({"files": [{"file": f.replace("__", "/") + ".c", "lines": [{"line_number": n, "count": c} for n, c in of.items()]}
                                 for f, of in files.items()]})


def run(*objects):
    """exit status, what it printed, what it wrote"""
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        for name, text in FILES.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        (top / "rooms.list").write_text(ROOMS)
        (top / "compiled").write_text("mdev/a.c\nmdev/table.c\nsched/s.c\n")
        said, sys.stdin = io.StringIO(), io.StringIO("\n".join(objects))
        with contextlib.redirect_stdout(said):
            status = coverage.main(top / "rooms.list", top / "out.json", top / "compiled", top)
        sys.stdin = sys.__stdin__
        return status, said.getvalue(), json.loads((top / "out.json").read_text())


def main():
    full = gcov(mdev__a={1: 1, 3: 1}, sched__s={1: 1, 3: 1})
    status, said, out = run(full)
    ok(out["rooms"]["face"] == 40.0, "a file that no program links counts as not run")
    ok(status == 1 and "face" in said and "too little" in said.splitlines()[1], "a room below its bound fails and is named")
    ok(out["rooms"]["pure"] == 100.0 and "too little" not in said.splitlines()[2], "a room above it does not")
    ok(out["rooms"]["free"] == 0.0 and "too little" not in said.splitlines()[3], "nor a room without one")
    ok(out["files"] == {"mdev/unseen.c": [5, 6, 7]}, "lines that did not run, of files that have some; a compiled table has no code")
    _, _, out = run(gcov(mdev__a={1: 1, 3: 0}, mdev__unseen={5: 1, 6: 0}), gcov(mdev__a={1: 0, 3: 2}, mdev__unseen={5: 0, 6: 0, 7: 3}))
    ok(out["lines"]["face"] == {"have": 5, "ran": 4}, "a line ran if it did in any object, and counts once")
    _, _, out = run(gcov(mdev__machine__deep={1: 1, 3: 1}))
    ok(out["lines"]["face"]["ran"] == 0, "a folder's folders are other rooms")
    status, _, _ = run(gcov(mdev__a={n: 1 for n in range(1, 9)}, mdev__unseen={1: 0}), gcov(sched__s={1: 1}))
    ok(status == 0, "all above their bounds")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
