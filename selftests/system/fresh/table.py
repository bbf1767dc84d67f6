#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""table.py --records DIR --out DIR [--needs] CELL...: writes the cells' records as table.md and
table.json into --out.

With --needs it also compares the needs that README.md names with those that were measured: exit
code 1 if one is too low.
"""
import argparse
import json
import pathlib
import sys

import readme

STEP = ("command", "exit_code", "seconds", "fetched", "from_archive", "memory", "disk", "cache", "tree")


def read_record(path):
    """Return a cell's record as a dictionary, or None if there is none. The file has lines
    NAME<tab>VALUE[<tab>VALUE...]."""
    cell = {"steps": []}
    if not path.exists():
        return None
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *values = line.split("\t")
        if name == "step":
            cell["steps"].append(dict(zip(STEP, [values[0], *map(int, values[1:])])))
        elif name == "seconds":
            cell["seconds"] = int(values[0])
        else:
            cell[name] = values[0]
    return cell


def mb(count):
    return f"{count / 1e6:,.0f}"


def rows(name, cell):
    if cell is None:
        yield [name, "", "", "", "", "", "", "", "not run"]
        return
    for step in cell["steps"]:
        yield [name, cell["place"], step["command"], f"{step['seconds']:,}", mb(step["fetched"]), mb(step["from_archive"]),
               mb(step["memory"]), mb(step["disk"]), f"exit code {step['exit_code']}" if step["exit_code"] else "passed"]
    if cell["result"] != "passed" and not any(step["exit_code"] for step in cell["steps"]):
        yield [name, cell["place"], "", "", "", "", "", "", cell.get("why", "failed")]


def table(cells):
    head = ["cell", "place", "command", "seconds", "fetched (MB)", "of it not kept (MB)", "memory (MB)", "disk (MB)", "result"]
    lines = [head, ["---"] * 3 + ["---:"] * 5 + ["---"]]
    for name, cell in cells.items():
        lines += rows(name, cell)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def measured(cells):
    """Return {need: (the largest value of a cell, the cell's name)} for disk, memory and fetched,
    in bytes."""
    most = {}
    for name, cell in cells.items():
        steps = cell["steps"] if cell else []
        for what, of in (("disk", max), ("memory", max), ("fetched", sum)):
            most[what] = max(most.get(what, (0, "")), (of([step[what] for step in steps] or [0]), name))
    return most


def too_low(needs, cells):
    return [f"README.md says {needs[what] / 1e9:.1f} GB ({what}), {name} took {value / 1e9:.2f} GB"
            for what, (value, name) in measured(cells).items() if value > needs[what]]


def main():
    parser = argparse.ArgumentParser(description="tables of make check-fresh")
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--needs", action="store_true")
    parser.add_argument("cells", nargs="+")
    options = parser.parse_args()
    cells = {name: read_record(options.records / f"{name}.tsv") for name in options.cells}
    text = table(cells)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "table.md").write_text(text, encoding="utf-8")
    (options.out / "table.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    print(text, end="")
    counts = {"passed": 0, "failed": 0, "not run": 0}
    for cell in cells.values():
        counts[cell["result"] if cell else "not run"] += 1
    low = too_low(readme.needs(readme.README.read_text(encoding="utf-8")), cells) if options.needs else []
    for line in low:
        print(f"fresh: {line}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
