#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""points.py TREE: prints docs/open-points.md, made of docs/open-points.tsv: the worst first. Ends with an error where a row lacks a
column, has a severity or an invariant that is none, or a point that another row has."""
import pathlib
import re
import sys

SEVERITIES = ("high", "medium", "low", "accepted", "own")
HEAD = """<!-- made of open-points.tsv by make docs -->
# Open points

What a tenant, a client or a peer can do although
[threat-model.md](threat-model.md) would not have it, and what is accepted. *High* reaches another's
data or rights, or ends the card for all. *Medium* costs others work, or a large part of a resource.
*Low* is bounded and small. *Accepted* stays as it is. *Own* hurts only who does it. S names the
invariant of [invariants.md](invariants.md). A T is the question of
[supported.md](supported.md#how-to-verify-on-a-card) that a card has to answer: until then the model
gives the worst answer where it can. "Yes" asks for a card, too, but kvgpu-verify has no question.
Times are of the model. Where the last cell is empty there is no way round. Numbers that are missing
are of points that are closed.
"""


def read(path):
    rows, seen = [], set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        row = line.split("\t")
        wrong = ("7 columns are wanted" if len(row) != 7 else
                 f"{row[0]} is there already" if row[0] in seen else
                 f"a severity is one of {', '.join(SEVERITIES)}" if row[1] not in SEVERITIES else
                 "the invariant is one or several of S1 to S6" if row[0][:2] != "RO" and not re.fullmatch(r"S[1-6](, S[1-6])*", row[2]) else
                 "who can, and what it costs?" if not (row[4] and row[5]) else "")
        if wrong:
            sys.exit(f"{path}:{number}: {wrong}")
        seen.add(row[0])
        rows.append(row)
    return sorted(rows, key=lambda row: SEVERITIES.index(row[1]))


def table(rows, heads):
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row).replace("|  |", "| |") + " |"


def document(path):
    rows = read(path)
    out = [HEAD]
    module = [row for row in rows if not row[0].startswith("RO")]
    remote = [row[:2] + row[4:] for row in rows if row[0].startswith("RO")]
    out += ["## The module and its guests\n", *table(module, ("point", "severity", "S", "card", "who can", "what it costs", "way round"))]
    out += ["\n## Remoting and kvgpu-run\n", *table(remote, ("point", "severity", "who can", "what it costs", "way round"))]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(document(pathlib.Path(sys.argv[1]) / "docs/open-points.tsv"), end="")
