#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: what readme.py takes from README.md, and what table.py makes of records."""
import contextlib
import io
import pathlib
import sys
import tempfile
import traceback
import unittest.mock

sys.dont_write_bytecode = True
import readme   # noqa: E402
import table    # noqa: E402


def readme_says_what_the_cells_run(_directory):
    text = readme.README.read_text(encoding="utf-8")
    assert readme.commands(text) == ["make demo", "make check"]
    assert readme.packages(text) and min(readme.needs(text).values()) > 0


def needs_that_are_too_low_are_told(_directory):
    steps = [dict(zip(table.STEP, ("x", 0, 1, 600, 0, 50, 900, 0, 0))), dict(zip(table.STEP, ("y", 0, 1, 600, 0, 70, 800, 0, 0)))]
    cells = {"one": {"steps": steps}, "two": None}
    assert table.too_low({"disk": 900, "memory": 70, "fetched": 1200}, cells) == []
    assert [line.split("(")[1].split(")")[0] for line in table.too_low({"disk": 899, "memory": 69, "fetched": 1199}, cells)] == \
        ["disk", "memory", "fetched"]


def the_table_has_the_records_and_tells_needs_that_are_too_low(directory):
    records = pathlib.Path(directory)
    for name, disk, needs, rc in (("one", 4000000, True, 0), ("two", 10**15, False, 0), ("two", 10**15, True, 1)):
        step = "\t".join(("step", "make x", "0", "61", "2000000", "1000000", "3000000", str(disk), "5", "6"))
        (records / f"{name}.tsv").write_text(f"cell\t{name}\nplace\t/x\ncommit\tabc\ndate\t2026-11-21\n{step}\nresult\tpassed\n", encoding="utf-8")
        arguments = ["table.py", "--records", directory, "--out", directory, *(["--needs"] if needs else []), "one", "two"]
        with unittest.mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(io.StringIO()) as said:
            assert table.main() == rc
        counts = "1 passed, 0 failed, 1 not run" if name == "one" else "2 passed, 0 failed, 0 not run"
        assert said.getvalue().splitlines()[-1] == counts and ("README.md says" in said.getvalue()) == (rc == 1)
        assert "| one | /x | make x | 61 | 2 | 1 | 3 | 4 | passed |" in (records / "table.md").read_text(encoding="utf-8")


failed = 0
for number, test in enumerate((readme_says_what_the_cells_run, needs_that_are_too_low_are_told, the_table_has_the_records_and_tells_needs_that_are_too_low), 1):
    with tempfile.TemporaryDirectory() as top:
        try:
            test(top)
            good = True
        except Exception:    # pylint: disable=broad-except
            good, failed = False, failed + 1
            traceback.print_exc()
        print(f"{'ok' if good else 'not ok'} {number} - {test.__name__.replace('_', ' ')}")
print("1..3")
sys.exit(1 if failed else 0)
