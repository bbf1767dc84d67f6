#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: disturbed.py on made-up windows and gaps, worked out by hand. Times are in ms. With slices of 4 ms a round is 30 ms for eight
vGPUs, and 18 ms for two; a gap of g is given back after 12 g with eight equal ones, after 3 g with two."""
import contextlib
import io
import json
import os
import sys
import tempfile

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
    check(d(setup(8), [(0, 63_720, 63_740)]) == [1, 2], "20 ms, 260 ms before an end of eight: the windows on both sides of it")
    check(d(setup(8), [(0, 63_720, 63_740 - 0.1)]) == [1, 2] and d(setup(8), [(0, 63_709, 63_729)]) == [],
          "but not 271 ms before: 240 and a round of 30")
    check(d(setup(2), [(0, 63_941, 63_951)]) == [] and d(setup(2), [(0, 63_943, 63_953)]) == [1, 2],
          "two give 10 ms back sooner: 30 and a round of 18")
    check(d(setup(3, least=1 / 7, greatest=4 / 7), [(0, 63_870, 63_880)]) == [1, 2] and d(setup(3), [(0, 63_870, 63_880)]) == [],
          "with weights the smallest share counts: 105 and 20, against 45 and 20")
    check(d(setup(8), [(0, 62_900, 62_920)]) == [], "a look within a window is no end of it")
    check(d(setup(8), [(0, 64_001, 64_021)]) == [], "a gap after an end does not change what was seen")
    check(d(setup(8, took=2), [(0, 64_001, 64_021)]) == [1, 2], "but one in a look does")
    check(d(setup(8), [(0, 64_001, 64_021)], half=1.5) == [1, 2], "and one that may be before, as clocks are not known better")
    check(d(setup(8), [(0, 63_708, 63_728)], half=1.5) == [] and d(setup(8), [(0, 63_709, 63_729)], half=1.5) == [1, 2],
          "which holds in the other direction, too")
    check(d(setup(8), [(0, 59_990, 59_998)]) == [0] and d(setup(8), [(0, 71_990, 71_998)]) == [5],
          "the first and the last end are of one window each")


def several_gaps():
    d = disturbed_windows
    ten = [(0, 63_800, 63_810)]
    check(d(setup(8), ten) == [] and d(setup(8), [(0, 63_775, 63_785)] + ten) == [1, 2],
          "10 ms and 10 ms within a round are 20 ms")
    check(d(setup(8), [(0, 63_759, 63_769)] + ten) == [], "further apart they are not")
    check(d(setup(8), [(1, 63_800, 63_810)] + ten) == [], "time that both CPUs were away at once counts once")
    check(d(setup(8), [(1, 63_805, 63_820)] + ten) == [1, 2], "and what is beyond it is added")
    check(d(setup(8), [(0, 63_990, 63_990.9)]) == [], "a gap below the limit does not count")
    check(d(setup(8), [(0, 63_700, 63_725), (0, 63_960, 63_961)]) == [1, 2], "a short gap after a long one does not hide it")
    check(d(setup(2), [(0, 63_000, 63_015)]) == [] and d(setup(2), [(0, 63_000, 63_017)]) == [1],
          "two run out of work in 16 ms: a longer gap disturbs the window that it is in")


def refused(make):
    try:
        make()
    except disturbed.Unknown:
        return True
    return False


def what_is_not_known():
    check(abs(clocks().machine(ns(60_000 - AHEAD)) - ns(60_000)) < 1000, "the server's clock as this machine's")
    fast = disturbed.Clocks([clock(0, 0), clock(1000, 1001, 3)])
    check(abs(fast.machine(ns(500.5)) - ns(500)) < 1000 and fast.uncertain == ns(3), "and one that goes fast")
    check(refused(lambda: disturbed.Clocks([clock(0, 0), clock(1000, 1020)])), "clocks that differ by 2 % are refused")
    check(refused(lambda: disturbed.Clocks([clock(0, 0)])), "and those that were read once")
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
    check(judged(setup(8, error=0.011, aim=0), [])["verdict"] == "", "without an aim there is nothing to meet")
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
    found = judged(s, [])
    check(found["verdict"] == "MISSED" and found["undisturbed"]["worst"] == 0.08, "the same error without a gap is not excused")
    alone = setup(1)
    disturbed_windows(alone, [])
    check("verdict" not in alone["windows"][0], "one alone has no share that could be wrong")


def quietly(*argv):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = disturbed.main(list(argv))
    return status, said.getvalue()


def files():
    with tempfile.TemporaryDirectory() as d:
        shares, clock_file, gap_file = (f"{d}/{n}" for n in ("shares.json", "clocks", "gaps"))
        eight = setup(8)
        for i in range(len(LOOKS)):
            eight["looks"][i][1] = ns(0.4) if i else ns(7)
        with open(shares, "w") as f:
            json.dump([eight, setup(1)], f)
        with open(gap_file, "w") as f:
            f.write("\n".join(gap_lines([(0, 59_990, 59_999)], priority="nice")) + "\n")
        status, said = quietly("table", shares, clock_file, gap_file)
        check(status == 1 and said.startswith("not told apart"), "without clocks the table says so")
        answers = f"import os\nwhile os.read(0, 1): os.write(1, b'{ns(START - AHEAD)}\\n')"
        check(quietly("clock", clock_file, sys.executable, "-c", answers)[0] == 0, "the clock is read from a command")
        with open(clock_file) as f:
            read = json.loads(f.read())
        check(read["server_ns"] == ns(START - AHEAD) and read["half_ns"] > 0, "with how far it may be off")
        check(quietly("clock", clock_file, "false")[0] == 1, "a command that does not answer is an error")
        with open(clock_file, "w") as f:
            f.writelines(json.dumps(clock(at, at - AHEAD, 0.4)) + "\n" for at in (START, 90_000))
        status, said = quietly("table", shares, clock_file, gap_file, "--slice-us", "4000")
        line = next(line for line in said.splitlines() if line.startswith("made up"))
        check(status == 0 and line.split() == ["made", "up", "2", "1.0", "%", "6", "0.20", "%", "0.10", "%", "5", "0.20", "%", "0.10",
                                               "%", "1", "0.20", "%", "0.4", "met"] and said.count("made up") == 1,
              "a line of the table, with the longest look of undisturbed windows")
        check("1 gaps of 1 ms" in said and "priority nice" in said and "known to 0.4 ms" in said, "what is above it")
        with open(shares) as f:
            kept = json.load(f)
        check([w["disturbed"] for w in kept[0]["windows"][0]["each"]] == [True] + [False] * 5 and len(kept) == 2 and
              quietly("table", shares, clock_file, gap_file)[1] == said and os.path.getsize(shares) > 0,
              "the file has it, too, and can be judged again")


if __name__ == "__main__":
    rule()
    several_gaps()
    what_is_not_known()
    verdicts()
    files()
    print(f"1..{len(results)}")
    sys.exit(0 if all(results) else 1)
