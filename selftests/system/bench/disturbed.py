#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""disturbed.py clock CLOCKS COMMAND... | disturbed.py table SHARES.json CLOCKS GAPS [--slice-us US]

Tells which windows of make bench-shares were disturbed from outside of the server, by CPUs of this machine that were away (gaps.c),
and which were not. A gap is seen outside of the server, so a delay that kvgpu or the server's kernel causes is none.

clock: appends to CLOCKS what the server's clock says beside this machine's; COMMAND answers each byte with the server's, in ns
(kvgpu-tenants clock). Call it before and after the measurement. table: prints the windows of SHARES.json, all, undisturbed and
disturbed ones, and notes in SHARES.json which is which. Timings decide no exit code.

The rule follows from what the paced GPU and the policy do, and from no result:

- While a CPU is away for g, the GPU goes on, and the slicer may not run: a vGPU's turn is too long by up to g. The policy serves
  vGPUs by how far behind they are, so this vGPU waits until the others have had as much in proportion. That takes
  g / share - g, where its share of the GPU is 1 / n for n equal vGPUs; the smallest share takes longest. Some time of
  that goes to switches, so RETURN times g / share is allowed, and a round, because turns are whole. A window's error is
  the difference of what a vGPU was ahead at its two ends. So a gap that was given back before an end does not
  count for this end, and one that begins after an end does not either.
- A gap that begins within a round of another one's end may lengthen the same vGPU's next turn. Both are one, with their lengths
  added. Time for which two CPUs are away at once counts once.
- A tenant keeps QUEUE_MS of the GPU's time queued (../../module/tenants/work.c), and half of it may be gone when a gap begins. A vGPU with the
  greatest share is out of work after QUEUE_MS / 2 / share, and what it misses then no policy gives back: a longer gap
  disturbs each window that it touches.
- Gaps below LIMIT_MS do not count: at one end of a window of 2 s that is 0.4 % of what one of eight equal vGPUs gets.

A look that takes long without a gap excuses nothing, though it makes a window's error greater: the vGPU that is read last may have had
the GPU meanwhile. The table has the longest look of the undisturbed windows, or of all if there are none.
"""
import bisect
import json
import subprocess
import sys
import time

LIMIT_MS = 1
RETURN = 1.5
ROUND_SLICES = 3.5      # SCHED_ROUND() of sched/internal.h
PREEMPT_MS = 2          # for each vGPU, once a round: about what it takes in the test bed
QUEUE_MS = 16           # 8 jobs of 2 ms at 400 MB/s
ENOUGH = 5              # undisturbed windows, to say something
DRIFT_MOST = 0.01
TRIPS = 200
MS = 1e6


class Unknown(Exception):
    """why no window can be judged"""


# ---------------------------------------------------------------------- clocks

def read_clocks(path, command):
    """the tightest of some round trips: the server read its clock at machine_ns, give or take half_ns"""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as p:
        best = None
        for _ in range(TRIPS):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            try:
                p.stdin.write(b"?")
            except BrokenPipeError:
                break
            answer = p.stdout.readline()
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            if not answer.strip().isdigit():
                break
            if best is None or after - before < 2 * best["half_ns"]:
                best = {"machine_ns": (before + after) // 2, "server_ns": int(answer), "half_ns": (after - before + 1) // 2}
        p.stdin.close()
    if best is None:
        return 1
    with open(path, "a") as f:
        f.write(json.dumps(best) + "\n")
    return 0


class Clocks:
    """the server's clock as this machine's"""

    def __init__(self, lines):
        if len(lines) != 2 or lines[1]["server_ns"] <= lines[0]["server_ns"]:
            raise Unknown("the clocks were not read before and after")
        self.first, last = lines
        self.rate = (last["machine_ns"] - self.first["machine_ns"]) / (last["server_ns"] - self.first["server_ns"])
        self.uncertain = max(x["half_ns"] for x in lines)
        if abs(self.rate - 1) > DRIFT_MOST:
            raise Unknown(f"the server's clock and this machine's differ by {abs(self.rate - 1):.1%} of the time")

    def machine(self, server_ns):
        return self.first["machine_ns"] + (server_ns - self.first["server_ns"]) * self.rate


# ---------------------------------------------------------------------- gaps

class Gaps:
    """what gaps.c wrote; each is (from, to), of any CPU, in the order in which they begin"""

    def __init__(self, lines):
        head = lines[0].split() if lines else []
        if head[0::2] != ["from", "to", "cpus", "limit", "priority"]:
            raise Unknown("the gaps of this machine's CPUs were not noted")
        self.begin, self.end, self.cpus, limit = map(int, head[1:8:2])
        self.priority = head[9]
        if limit > LIMIT_MS * MS:
            raise Unknown("gaps were noted from too great a length on")
        self.all = sorted((int(a), int(b)) for _, a, b in map(str.split, lines[1:]) if int(b) - int(a) >= LIMIT_MS * MS)

    def joined(self, near):
        """(from, to, length) of gaps with less than near between them"""
        out = []
        for a, b in self.all:
            if out and a - out[-1][1] < near:
                begin, end, length = out[-1]
                out[-1] = (begin, max(end, b), length + max(0, b - max(a, end)))
            else:
                out.append((a, b, b - a))
        return out


def round_ns(tenants, slice_us):
    return ROUND_SLICES * slice_us * 1e3 + tenants * PREEMPT_MS * MS


class Judge:
    """of one setup"""

    def __init__(self, setup, clocks, gaps, slice_us):
        self.round = round_ns(setup["tenants"], slice_us)
        self.least, self.greatest = setup["least"], setup["greatest"]
        self.gaps = gaps.joined(self.round)
        self.looks = [(clocks.machine(at) - clocks.uncertain, clocks.machine(at + took) + clocks.uncertain)
                      for at, took in setup["looks"]]
        if self.looks[0][0] < gaps.begin or self.looks[-1][1] > gaps.end:
            raise Unknown("the gaps of this machine's CPUs were not noted all the time")
        self.ends = self.given_back()
        self.bad = [self.end_is_disturbed(*look) for look in self.looks]

    def given_back(self):
        """for each gap, when it and all before it are given back"""
        out, latest = [], 0
        for _, end, length in self.gaps:
            latest = max(latest, end + RETURN * length / self.least + self.round)
            out.append(latest)
        return out

    def end_is_disturbed(self, begin, end):
        i = bisect.bisect_right(self.gaps, (end, float("inf"), 0)) - 1
        return i >= 0 and self.ends[i] >= begin

    def disturbed(self, window):
        if self.bad[window["from"]] or self.bad[window["to"]]:
            return True
        begin, end = self.looks[window["from"]][0], self.looks[window["to"]][1]
        return any(length > QUEUE_MS * MS / 2 / self.greatest and a <= end and b >= begin for a, b, length in self.gaps)


# ---------------------------------------------------------------------- the table

def spread(windows):
    if not windows:
        return {"nr": 0, "worst": None, "mean": None}
    return {"nr": len(windows), "worst": max(w["worst"] for w in windows), "mean": sum(w["mean"] for w in windows) / len(windows)}


def verdict(found, aim):
    if not aim:
        return ""
    if found["nr"] < ENOUGH:
        return "too few undisturbed windows"
    return "met" if found["worst"] <= aim else "MISSED"


def judge(setups, clocks, gaps, slice_us):
    """notes it in the setups; those that say nothing about shares stay as they are"""
    for s in setups:
        if s["tenants"] < 2 or not s["least"]:
            continue
        j = Judge(s, clocks, gaps, slice_us)
        for span in s["windows"]:
            for w in span["each"]:
                w["disturbed"] = j.disturbed(w)
            span["undisturbed"] = spread([w for w in span["each"] if not w["disturbed"]])
            span["disturbed"] = spread([w for w in span["each"] if w["disturbed"]])
            span["verdict"] = verdict(span["undisturbed"], span["aim"])


def per_cent(value):
    return "-" if value is None else f"{100 * value:.2f} %"


def row(setup, span):
    everything, good, bad = spread(span["each"]), span["undisturbed"], span["disturbed"]
    aim = f"{100 * span['aim']:.1f} %" if span["aim"] else "-"
    shown = [w for w in span["each"] if not w["disturbed"]] or span["each"]
    took = max(setup["looks"][w[end]][1] for w in shown for end in ("from", "to")) / MS
    return (f"{setup['name']:26} {span['s']:>4g} {aim:>6} {everything['nr']:>4} {per_cent(everything['worst']):>8} "
            f"{per_cent(everything['mean']):>8} {good['nr']:>6} {per_cent(good['worst']):>8} {per_cent(good['mean']):>8} "
            f"{bad['nr']:>6} {per_cent(bad['worst']):>8} {took:>6.1f}  {span['verdict']}").rstrip()


def print_table(setups, clocks, gaps):
    seconds = (gaps.end - gaps.begin) / 1e9
    longest = max((b - a for a, b in gaps.all), default=0)
    print(f"this machine, {seconds:.0f} s: {len(gaps.all)} gaps of {LIMIT_MS} ms and more on {gaps.cpus} CPUs, "
          f"{longest / MS:.1f} ms at the longest; the server's clock is known to {clocks.uncertain / MS:.1f} ms, "
          f"{1e6 * (1 - clocks.rate):+.0f} ppm")
    if gaps.priority != "fifo":
        print(f"gaps were noted with priority {gaps.priority}, so other programs may have made some")
    print(f"{'':26} {'':>4} {'':>6} {'all windows':>22} {'undisturbed':>24} {'disturbed':>15} {'a look':>6}")
    print(f"{'error of shares':26} {'s':>4} {'aim':>6} {'nr':>4} {'worst':>8} {'mean':>8} {'nr':>6} {'worst':>8} {'mean':>8} "
          f"{'nr':>6} {'worst':>8} {'ms':>6}")
    for s in setups:
        for span in s["windows"]:
            if "verdict" in span and span["each"]:
                print(row(s, span))


def table(shares, clocks_path, gaps_path, slice_us):
    with open(shares) as f:
        setups = json.load(f)
    try:
        with open(clocks_path) as f:
            clocks = Clocks([json.loads(line) for line in f])
        with open(gaps_path) as f:
            gaps = Gaps(f.read().splitlines())
        judge(setups, clocks, gaps, slice_us)
    except (OSError, Unknown) as e:
        print(f"not told apart, disturbed windows and others: {e}")
        return 1
    print_table(setups, clocks, gaps)
    with open(shares, "w") as f:
        f.write("[\n" + ",\n".join("  " + json.dumps(s) for s in setups) + "\n]\n")
    return 0


def main(argv):
    if argv[:1] == ["clock"] and len(argv) > 2:
        return read_clocks(argv[1], argv[2:])
    if argv[:1] == ["table"] and (len(argv) == 4 or len(argv) == 6 and argv[4] == "--slice-us"):
        return table(*argv[1:4], float(argv[5]) if len(argv) == 6 else 4000)
    print(__doc__.split("\n", maxsplit=1)[0], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
