#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""shares.py SAMPLES GUEST...: prints how much of the GPU each guest got; fails if one got nothing of it for over a minute.
SAMPLES has lines of inside/shares.sh."""
import sys

MINUTE = 60


def samples(name):
    rows = [[int(w) for w in line.split()] for line in open(name) if line.strip()]
    if len(rows) < 2:
        sys.exit(f"{name}: {len(rows)} samples")
    return rows


def progress(argv):
    rows, guests = samples(argv[0]), argv[1:]
    idle = []
    for i, name in enumerate(guests):
        col = [(r[0] / 1e9, r[2 + i]) for r in rows]
        start = 0
        for at in range(1, len(col)):
            if col[at][1] > col[start][1]:
                start = at
            elif col[at][0] - col[start][0] > MINUTE:
                idle.append(f"{name} at {col[start][0] - col[0][0]:.0f} s")
                break
    used = [rows[-1][2 + i] - rows[0][2 + i] for i in range(len(guests))]
    wall = rows[-1][0] - rows[0][0]
    shares = ", ".join(f"{n} {100 * u / max(sum(used), 1):.1f} %" for n, u in zip(guests, used))
    print(f"in {wall / 1e9:.0f} s: GPU busy {100 * (rows[-1][1] - rows[0][1]) / wall:.0f} %; of its time {shares}"
          + (f"; nothing for a minute: {', '.join(idle)}" if idle else ""))
    return 1 if idle else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    sys.exit(progress(sys.argv[1:]))
