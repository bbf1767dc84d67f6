#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""shares.py progress SAMPLES GUEST... | only SAMPLES LOSER WINNER | steps LOG: how much of the GPU each guest got. SAMPLES has lines
of inside/shares.sh, LOG output of kvgpu-client.

progress: print the shares; fail if a guest got nothing of the GPU for over a minute. only: fail if LOSER got any of the GPU after the
second sample. steps: print a stream's rate before and after its longest pause ("# progress" lines)."""
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


def only(argv):
    rows = samples(argv[0])
    wall, busy, *used = (b - a for a, b in zip(rows[0], rows[-1]))
    share = [100 * u / max(sum(used), 1) for u in used]
    print(f"{argv[1]} {share[0]:.2f} %, {argv[2]} {share[1]:.2f} % of what both had; GPU busy {100 * busy / wall:.0f} %")
    return 0 if rows[-1][2] == rows[1][2] else 1


def steps(argv):
    at = []
    for line in open(argv[0]):
        words = line.split()
        if words[:2] == ["#", "progress"]:
            v = dict(w.split("=") for w in words[2:])
            at.append((int(v["ms"]), int(v["bytes"])))
    moves = [p for i, p in enumerate(at) if i == 0 or p[1] != at[i - 1][1]]
    if len(moves) < 4:
        sys.exit(f"{len(moves)} steps of progress")
    gap = max(range(1, len(moves)), key=lambda i: moves[i][0] - moves[i - 1][0])

    def rate(a, b):
        return (b[1] - a[1]) / max(b[0] - a[0], 1) / 1e3

    before, after = rate(moves[0], moves[gap - 1]), rate(moves[gap], moves[-1])
    print(f"{before:.0f} MB/s before the longest pause of {moves[gap][0] - moves[gap - 1][0]} ms, {after:.0f} MB/s after it")
    return 0


COMMANDS = {"progress": (progress, 2), "steps": (steps, 1), "only": (only, 3)}


def main(argv):
    command, least = COMMANDS.get(argv[1] if len(argv) > 1 else "", (None, 0))
    if not command or len(argv) - 2 < least:
        sys.exit(__doc__.splitlines()[0])
    return command(argv[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
