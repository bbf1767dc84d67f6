#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: disturbed.py on made-up windows and gaps, worked out by hand. Times are in ms. With slices of 4 ms a round is 30 ms for eight
vGPUs, and 18 ms for two; a gap of g is given back after 12 g with eight equal ones, after 3 g with two."""
import sys

import disturbed

START, AHEAD = 50_000, 7_000     # of the watcher; the server's clock is so far behind this machine's
LOOKS = range(60_000, 73_000, 1000)
results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}")


def ns(ms):
    return int(ms * 1e6)


def clock(machine, server, half=0.0):
    return {"machine_ns": ns(machine), "server_ns": ns(server), "half_ns": ns(half)}


def clocks(half=0.0):
    return disturbed.Clocks([clock(START, START - AHEAD, half), clock(90_000, 90_000 - AHEAD, half)])


def gap_lines(gaps, begin=START, end=90_000, priority="fifo"):
    """gaps: (CPU, from, to)"""
    return [f"from {ns(begin)} to {ns(end)} cpus 2 limit 1000000 priority {priority}"] + \
        [f"{c} {ns(a)} {ns(b)}" for c, a, b in gaps]


def setup(tenants, error=0.002, took=0.0, least=None, greatest=None, aim=0.01):
    """a setup with six windows of 2 s, which begin and end at looks"""
    each = [{"from": i, "to": i + 2, "mean": error / 2, "worst": error} for i in range(0, 12, 2)]
    return {"name": "made up", "tenants": tenants, "least": least or 1 / tenants, "greatest": greatest or 1 / tenants,
            "looks": [[ns(at - AHEAD), ns(took)] for at in LOOKS],
            "windows": [{"s": 2, "nr": 6, "mean": error / 2, "worst": error, "aim": aim, "each": each}]}


def disturbed_windows(s, gaps, half=0.0):
    disturbed.judge([s], clocks(half), disturbed.Gaps(gap_lines(gaps)), 4000)
    return [i for i, w in enumerate(s["windows"][0]["each"]) if w.get("disturbed")]


def rule():
    d = disturbed_windows
    check(d(setup(8), []) == [], "without a gap no window is disturbed")
    check(d(setup(8), [(0, 63_720, 63_740)]) == [1, 2] and d(setup(8), [(0, 63_709, 63_729)]) == [],
          "20 ms, 260 ms before an end of eight: the windows on both sides of it; but not 271 ms before: 240 and a round of 30")
    check(d(setup(3, least=1 / 7, greatest=4 / 7), [(0, 63_870, 63_880)]) == [1, 2] and d(setup(3), [(0, 63_870, 63_880)]) == [],
          "with weights the smallest share counts: 105 and 20, against 45 and 20")
    check(d(setup(8), [(0, 64_001, 64_021)]) == [] and d(setup(8, took=2), [(0, 64_001, 64_021)]) == [1, 2] and
          d(setup(8), [(0, 64_001, 64_021)], half=1.5) == [1, 2], "a gap after an end counts if it may be within the look")
    check(d(setup(8), [(0, 63_775, 63_785), (0, 63_800, 63_810)]) == [1, 2] and d(setup(8), [(0, 63_759, 63_769), (0, 63_800, 63_810)]) == [],
          "10 ms and 10 ms within a round are 20 ms")
    check(d(setup(8), [(1, 63_800, 63_810), (0, 63_800, 63_810)]) == [], "time that both CPUs were away at once counts once")


def refused(make):
    try:
        make()
    except disturbed.Unknown:
        return True
    return False


def what_is_not_known():
    check(abs(clocks().machine(ns(60_000 - AHEAD)) - ns(60_000)) < 1000, "the server's clock as this machine's")
    check(refused(lambda: disturbed.Clocks([clock(0, 0), clock(1000, 1020)])), "clocks that differ by 2 % are refused")
    for name, lines in (("that began late", gap_lines([], begin=60_001)), ("that ended early", gap_lines([], end=71_999)),
                        ("that wrote nothing", []), ("that noted long gaps only", [gap_lines([])[0].replace("1000000", "9000000")])):
        check(refused(lambda lines=lines: disturbed.judge([setup(2)], clocks(), disturbed.Gaps(lines), 4000)),
              f"a watcher {name} is refused")


def verdicts():
    def judged(s, gaps):
        disturbed_windows(s, gaps)
        return s["windows"][0]

    check(judged(setup(8), [])["verdict"] == "met" and judged(setup(8, error=0.011), [])["verdict"] == "MISSED",
          "six windows within the aim meet it, beyond it they miss it")
    two_gaps = [(0, 63_990, 64_000), (0, 67_990, 68_000)]
    found = judged(setup(8), two_gaps)
    check(found["verdict"] == "too few undisturbed windows" and found["undisturbed"]["nr"] == 2 and found["disturbed"]["nr"] == 4,
          "two undisturbed windows tell nothing")
    s = setup(8)
    s["windows"][0]["each"][0].update(worst=0.08, mean=0.05)
    s["windows"][0]["each"][1].update(worst=0.004, mean=0.003)
    found = judged(s, [(0, 59_990, 59_999)])
    check(found["verdict"] == "met" and found["undisturbed"]["worst"] == 0.004 and
          abs(found["undisturbed"]["mean"] - (0.003 + 4 * 0.001) / 5) < 1e-9 and
          found["disturbed"] == {"nr": 1, "worst": 0.08, "mean": 0.05}, "an error in a disturbed window is told apart")
    check(judged(s, [])["verdict"] == "MISSED", "the same error without a gap is not excused")


if __name__ == "__main__":
    rule()
    what_is_not_known()
    verdicts()
    print(f"1..{len(results)}")
    sys.exit(0 if all(results) else 1)
