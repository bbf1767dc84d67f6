#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""report.py RUN OUT [--mode M] [--model-args A] [--type T] [--rounds N] [--seconds S] [--base COMMIT]
report.py --bounds BOUNDS.list COUNTERS.json

What make bench found in the folder RUN (samples, counters by row), as report.json and counters.json in OUT (compare.json with
--base), a table on standard output and plots; README.md here says what is in them. With --bounds: TAP, each counter of the
list against its bound."""
import argparse
import collections
import datetime
import glob
import json
import os
import statistics
import subprocess
import sys

import plot

TRAPS = ("exits_bar0_read", "exits_bar0_write", "exits_bar1_bar3", "exits_config")
# report.json's counters, and of what they are made
COUNTERS = {
    "exits": ["kvm.mmio_exits"], "traps": ["kvgpu." + t for t in TRAPS],
    "shadow_written": ["kvgpu.shadow_entries_written"], "tlb_flushes": ["kvgpu.tlb_flushes"],
    "vram_read_bytes": ["kvgpu.shadow_bytes_read"], "pinned_pages": ["kvgpu.pinned_pages"],
}


def base_kernel():
    """the version behind the role (testbed/packages/kernels.list)"""
    lines = subprocess.run(["testbed/tb", "kernels"], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.split()[1] for line in lines if line.endswith(" base"))


def short(number):
    return round(number, 4) if abs(number) < 100 else round(number, 1)


class Row:
    def __init__(self, name, unit, better):
        self.name, self.unit, self.better = name, unit, better
        self.samples = collections.defaultdict(lambda: collections.defaultdict(list))    # by system and round

    def median(self, system):
        values = [v for r in self.samples[system].values() for v in r]
        return short(statistics.median(values)) if values else None

    def ratio(self, mine, theirs):
        """the median over the rounds of how much better the medians of one system are; None where one was not measured"""
        both = [(statistics.median(self.samples[mine][r]), statistics.median(self.samples[theirs][r]))
                for r in self.samples[mine] if r in self.samples[theirs]]
        ratios = [(m / t if self.better == "higher" else t / m) for m, t in both if m > 0 and t > 0]
        return short(statistics.median(ratios)) if ratios else None

    def spread(self, system):
        """how wide the range of the middle half of all samples is, as a part of the median"""
        values = sorted(v for r in self.samples[system].values() for v in r)
        if len(values) < 3 or not values[len(values) // 2]:
            return None
        quarter = statistics.quantiles(values, n=4)
        return short((quarter[2] - quarter[0]) / statistics.median(values))


def load_rows(run):
    rows = {}
    with open(f"{run}/samples") as f:
        for s in map(json.loads, f):
            row = rows.setdefault(s["row"], Row(s["row"], s["unit"], s["better"]))
            row.samples[s["system"]][s["round"]].append(s["value"])
    return rows


def load_counters(run):
    """by system and row: what one operation moved"""
    out = collections.defaultdict(dict)
    for path in glob.glob(f"{run}/*.json"):
        system = os.path.basename(path).split(".")[0]
        with open(path) as f:
            for name, c in json.load(f)["between"].items():
                name = "load" if name.startswith("load-") else name
                ops = c.pop("own.ops", 1) or 1
                out[system][name] = {k: short(v / ops) for k, v in sorted(c.items())}
    return out


def few(counted):
    return {k: short(sum(counted.get(n, 0) for n in names)) for k, names in COUNTERS.items()} if counted is not None else None


def report_row(row, system, counted, name=None):
    return {
        "name": name or row.name, "unit": row.unit, "better": row.better,
        "native": row.median("native"), "passthrough": row.median("passthrough"), "vgpu": row.median(system),
        "remoted": row.median("remoted"), "ratio_remoted": row.ratio("remoted", "native"),
        "ratio": row.ratio(system, "native"), "ratio_passthrough": row.ratio(system, "passthrough"),
        "spread": row.spread(system), "counters": few(counted.get(system, {}).get(row.name)),
    }


def report_rows(rows, counted):
    out = []
    for row in rows.values():
        out.append(report_row(row, "vgpu", counted))
        if "busy" in row.samples:
            out.append(report_row(row, "busy", counted, row.name + " beside 2 busy"))
    return out


def load_shares(out):
    """what make bench-shares measured last"""
    path = f"{out}/shares.json"
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return json.load(f)


def switch_rows(out):
    """rows of bench-shares' results: the time to take one vGPU's channels off the chip, and the time from the submission of a small copy
    to its end beside a greedy vGPU"""
    found = {s["name"]: s for s in load_shares(out)}
    values = [(f"slice-switch-{s['tenants']}", s["preempt_us"]) for n, s in found.items() if n in ("two equal", "eight equal")]
    latency = found.get("latency beside greedy", {}).get("latency_us", {})
    values += [(f"wake-up-{p}", latency[p]) for p in ("p50", "p99") if p in latency]
    return [{
        "name": name, "unit": "us", "better": "lower", "native": None, "passthrough": None, "vgpu": value,
        "remoted": None, "ratio_remoted": None, "ratio": None, "ratio_passthrough": None, "spread": None, "counters": None,
    } for name, value in values]


def shares(out):
    """of setups in which all are streams; windows are 2 s, the policy is best-effort"""
    entries = [s for s in load_shares(out) if s["name"].startswith(("one", "two equal", "four", "eight", "three"))]
    return [{
        "vgpus": s["tenants"], "policy": "best-effort", "weights": [round(100 * w / min(s["want"])) for w in s["want"]],
        "window_s": 2, "max_error": s["worst_error"],
    } for s in entries]


def text(value):
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def table(rows):
    print(f"{'':36} {'unit':5} {'native':>9} {'pass-thr.':>9} {'vgpu':>9} {'ratio':>7} {'to p.-t.':>8} {'remoted':>9} {'ratio':>7} {'spread':>7}"
          f" {'traps':>7} {'entries':>8} {'flushes':>7}")
    for r in rows:
        c = r["counters"] or {}
        print(f"{r['name']:36} {r['unit']:5} {text(r['native']):>9} {text(r['passthrough']):>9} {text(r['vgpu']):>9}"
              f" {text(r['ratio']):>7} {text(r['ratio_passthrough']):>8} {text(r['remoted']):>9} {text(r['ratio_remoted']):>7}"
              f" {text(r['spread']):>7} {text(c.get('traps')):>7}"
              f" {text(c.get('shadow_written')):>8} {text(c.get('tlb_flushes')):>7}")


def compare(rows, counted, base):
    out = []
    print(f"{'':36} {'unit':5} {base:>9} {'now':>9} {'ratio':>7} {'traps':>7} {'now':>7} {'entries':>8} {'now':>8}")
    for row in rows.values():
        was, now = (few(counted.get(s, {}).get(row.name)) for s in ("base", "vgpu"))
        r = {"name": row.name, "unit": row.unit, "better": row.better, "base": row.median("base"), "vgpu": row.median("vgpu"),
             "ratio": row.ratio("vgpu", "base"), "spread": row.spread("vgpu"), "counters_base": was, "counters": now}
        out.append(r)
        was, now = was or {}, now or {}
        print(f"{r['name']:36} {r['unit']:5} {text(r['base']):>9} {text(r['vgpu']):>9} {text(r['ratio']):>7}"
              f" {text(was.get('traps')):>7} {text(now.get('traps')):>7} {text(was.get('shadow_written')):>8}"
              f" {text(now.get('shadow_written')):>8}")
    return out


def write(path, what):
    with open(path, "w") as f:
        json.dump(what, f, indent=1)
        f.write("\n")
    print("written:", path)


def bounds(listed, path):
    """ROW COUNTER AT-MOST, for one operation; '+' adds counters. What was not measured or not counted fails"""
    with open(path) as f:
        counted = json.load(f)["vgpu"]
    n = bad = 0
    for line in open(listed):
        words = line.split("#")[0].split()
        if not words:
            continue
        row, names, most = words[0], words[1].split("+"), float(words[2])
        values = [counted.get(row, {}).get(c) for c in names]
        found = None if None in values else sum(values)
        ok = found is not None and found <= most
        n, bad = n + 1, bad + (not ok)
        print(f"{'ok' if ok else 'not ok'} {n} - {row}: {words[1]} {text(found)}, at most {words[2]}")
    print(f"1..{n}")
    return 1 if bad or not n else 0


def main(argv):
    if argv[:1] == ["--bounds"] and len(argv) == 3:
        return bounds(*argv[1:])
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("run")
    p.add_argument("out")
    for name in ("mode", "model-args", "type", "rounds", "seconds", "base"):
        p.add_argument("--" + name, default="")
    a = p.parse_args(argv)
    rows, counted = load_rows(a.run), load_counters(a.run)
    conditions = {
        "date": datetime.date.today().isoformat(), "mode": a.mode, "model_args": a.model_args, "type": a.type, "kernel": base_kernel(),
        "rounds": int(a.rounds or 1), "seconds": int(a.seconds or 0), "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[2], 1),
    }
    write(f"{a.out}/counters.json", counted)
    if a.base:
        write(f"{a.out}/compare.json", {"conditions": {**conditions, "base": a.base}, "rows": compare(rows, counted, a.base)})
        return 0
    listed = report_rows(rows, counted) + switch_rows(a.out)
    table(listed)
    write(f"{a.out}/report.json", {"conditions": conditions, "rows": listed, "shares": shares(a.out)})
    for name in plot.all_of(listed, a.out, f"{conditions['date']}, {a.mode}, {a.type}"):
        print("written:", name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
