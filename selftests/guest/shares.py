#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""shares.py progress SAMPLES GUEST... | record OUT.jsonl NAME WANT SAMPLES LOG... | only SAMPLES LOSER WINNER | steps LOG |
report OUT.jsonl [REPORT.json]: how much of the GPU each guest got. SAMPLES has lines of inside/shares.sh, LOG output of kvgpu-client.

progress: print the shares; fail if a guest got nothing of the GPU for over a minute.
record: append one measurement to OUT.jsonl and print it. WANT are the shares to compare with:
weights:1,3; cap:20 (the first guest's cap in per cent); or any. only: fail if LOSER got any of
the GPU after the second sample. steps: print a stream's rate before and after its longest pause
("# progress" lines).
report: print what is out of bounds, and write the measurements to REPORT.json; with KVGPU_JUDGE
set, fail if anything is."""
import json
import os
import sys

MINUTE = 60
SHARE_ERROR = 0.01  # bound of |share - entitlement| / entitlement in any window
LATENCY_SLICES = 2  # bound of the 99th percentile of a small copy's latency, in slices


def samples(name):
    rows = [[int(w) for w in line.split()] for line in open(name) if line.strip()]
    if len(rows) < 2:
        sys.exit(f"{name}: {len(rows)} samples")
    return rows


def measured(name):
    """Return the lines "# measure WHAT key=value" of a client's log as {WHAT: {key: number}}."""
    found = {}
    for line in open(name):
        words = line.split()
        if words[:2] == ["#", "measure"]:
            found[words[2]] = {k: int(v) for k, v in (w.split("=") for w in words[3:]) if v.isdigit()}
    return found


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


def wanted(spec, used, wall):
    """Return the share that each guest should have of the GPU time that all guests had; None if
    nothing is wanted."""
    kind, _, text = spec.partition(":")
    if kind == "weights":
        w = [float(x) for x in text.split(",")]
        return [x / sum(w) for x in w]
    if kind == "cap":
        first = float(text) / 100 * wall / sum(used)
        return [first] + [(1 - first) / (len(used) - 1)] * (len(used) - 1)
    return None


def shares_between(a, b, spec):
    used = [y - x for x, y in zip(a[2:], b[2:])]
    wall = b[0] - a[0]
    if not sum(used):
        return [0.0] * len(used), [0.0] * len(used), None, (b[1] - a[1]) / wall
    return [u / sum(used) for u in used], [u / wall for u in used], wanted(spec, used, wall), (b[1] - a[1]) / wall


def error(share, want):
    return max(abs(s - w) / w for s, w in zip(share, want))


def record(argv):
    out, name, spec, rows, logs = argv[0], argv[1], argv[2], samples(argv[3]), argv[4:]
    share, of_time, want, busy = shares_between(rows[0], rows[-1], spec)
    entry = {"name": name, "guests": len(share), "windows": len(rows) - 1,
             "window_s": (rows[-1][0] - rows[0][0]) / 1e9 / (len(rows) - 1), "busy": busy, "share": share, "of_time": of_time}
    if want:
        errors = []
        for a, b in zip(rows, rows[1:]):
            s, _, w, _ = shares_between(a, b, spec)
            errors.append(error(s, w) if w else 1.0)
        entry.update(want=want, error=error(share, want), worst_error=max(errors), mean_error=sum(errors) / len(errors))
    clients = [measured(log) for log in logs]
    entry["bytes_per_s"] = [c["busy"]["bytes"] * 1e6 / c["busy"]["us"] if "busy" in c else None for c in clients]
    for c in clients:
        if "latency" in c:
            entry["latency_us"] = c["latency"]
    with open(out, "a") as f:
        f.write(json.dumps(entry) + "\n")
    print(line_of(entry))
    return 0


def line_of(e):
    text = f"{e['name']}: GPU busy {100 * e['busy']:.1f} %, shares " + ", ".join(f"{100 * s:.2f}" for s in e["share"])
    if "want" in e:
        text += " % of " + ", ".join(f"{100 * w:.2f}" for w in e["want"])
        text += f" %, error {100 * e['error']:.2f} %, worst of {e['windows']} windows {100 * e['worst_error']:.1f} %"
    else:
        text += " %"
    rates = [f"{b / 1e6:.0f}" for b in e["bytes_per_s"] if b]
    if rates:
        text += f"; {', '.join(rates)} MB/s"
    if "latency_us" in e:
        lat = e["latency_us"]
        text += f"; small copies {lat['n']}: p50 {lat['p50_us']} us, p99 {lat['p99_us']} us, at most {lat['max_us']} us"
    return text


def only(argv):
    rows = samples(argv[0])
    share, of_time, _, busy = shares_between(rows[0], rows[-1], "any")
    print(f"{argv[1]} {100 * share[0]:.2f} %, {argv[2]} {100 * share[1]:.2f} % of what both had; GPU busy {100 * busy:.0f} %")
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


def complaints(entries, slice_us):
    for e in entries:
        if "worst_error" in e and e["worst_error"] > SHARE_ERROR:
            yield f"{e['name']}: a window is {100 * e['worst_error']:.1f} % off"
        if "latency_us" in e and e["guests"] > 1 and e["latency_us"]["p99_us"] >= LATENCY_SLICES * slice_us:
            yield f"{e['name']}: p99 {e['latency_us']['p99_us']} us is not below {LATENCY_SLICES} slices of {slice_us} us"


def report(argv):
    entries = [json.loads(line) for line in open(argv[0])]
    slice_us = int(os.environ.get("SLICE_US", 4000))
    if len(argv) > 1:
        os.makedirs(os.path.dirname(argv[1]) or ".", exist_ok=True)
        with open(argv[1], "w") as f:
            json.dump({"slice_us": slice_us, "measurements": entries}, f, indent=1)
            f.write("\n")
    bad = list(complaints(entries, slice_us))
    print("; ".join(bad) if bad else f"{len(entries)} measurements within bounds")
    return 1 if bad and os.environ.get("KVGPU_JUDGE") else 0


COMMANDS = {"progress": (progress, 2), "record": (record, 5), "steps": (steps, 1), "only": (only, 3),
            "report": (report, 1)}


def main(argv):
    command, least = COMMANDS.get(argv[1] if len(argv) > 1 else "", (None, 0))
    if not command or len(argv) - 2 < least:
        sys.exit(__doc__.splitlines()[0])
    return command(argv[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
