#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""remote_report.py OUT [PASS...] [--commit C] [--date D] [--where PLACE] [--quick] [--rows FILE.json]
remote_report.py record FROM.json [--rows FILE.json]

The first: what make bench-remote has measured in the folder OUT (remote-ring.json, remote-calls-*.json, remote-streams.json, remote-many-*.json, remote-cluster*.json,
remote-modern.json) becomes
rows of OUT/remote.json, beside rows that others have put there, rows recorded elsewhere and rows that nobody has measured; and a
table. Further folders are further passes of the same. The second: what was measured in FROM.json, a remote.json of another machine,
becomes recorded rows of FILE.json (remote_rows.json here).

A row is {name, value, unit, aim, met, where, commit, date}; "recorded" is true for rows of FILE.json, which no run here has made,
and "missing" for rows without a value. "range" is the least and the most of several passes; then value is the worse of both. Rows
of the same name and place are one: the later one is kept, but a recorded one never takes the place of one that was measured here."""
import argparse
import datetime
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = os.path.join(HERE, "remote_rows.json")
KEYS = ("name", "value", "unit", "aim", "met", "where", "commit", "date")
MODEL = "(in this process)"     # of the name of a GPU that is a model
CARRIERS = ("native", "unix", "aperture", "tcp", "tls")
# GB/s that 64 MiB of pinned memory reach over a socket, or 0.8 of a raw stream of the same run, whichever is less
STREAMS = {"unix": 8, "tcp": 6, "tls": 3}
# Of rows without an aim: more of these is better.
MORE = ("GB/s", "MB/s", "million/s", "%", "times")

# of remote_calls: its name, ours, and the aim of the aperture's row
CALLS = (
    ("asked, nothing to do: cuCtxGetFlags, p50", "a call that is asked, nothing to do on the server, p50", "<= 0.5"),
    ("asked: cuStreamQuery, p50", "cuStreamQuery, p50", None),
    ("asked: cuMemGetInfo, p50", "cuMemGetInfo, p50", None),
    ("a launch for the caller, in a burst of 100, best burst", "a queued launch for the caller, bursts of 100, best", "<= 0.15"),
    ("a launch for the caller, in a burst of 100, p50 of bursts", "a queued launch for the caller, bursts of 100, p50", None),
    ("launches without a pause, each, with their end", "launches without a pause, each with its end", None),
    ("a step: 4 KiB in, 20 launches, 4 bytes out, waited for", "a training step: 4 KiB in, 20 launches, 4 bytes out", None),
    ("user time of the program", "user time of the program of these rows", None),
    ("system time of the program", "system time of the program of these rows", None),
)
SIZES = (("64 KiB", "64 KiB"), ("1024 KiB", "1 MiB"), ("65536 KiB", "64 MiB"))
# one aperture's row to the native one: name, of which row, as what, aim; of real GPUs only: last
RATIOS = [
    ("a queued launch, p50: remote time to native", CALLS[4][1], "time", "<= 1", False),
    ("the training loop: native time to remote", CALLS[6][1], "speed", ">= 0.95", True),
]
for memory, least in (("pinned", 95), ("pageable", 100)):
    for way in ("to", "from"):
        for _, size in SIZES[1:]:
            text = f"{memory} memory {way} the GPU, {size}"
            RATIOS.append((f"{text}: of native", text, "percent", f">= {least}", True))


def met(value, aim):
    """None: there is nothing to judge"""
    if value is None or not aim:
        return None
    sign, number = aim.split()
    return value <= float(number) if sign == "<=" else value >= float(number)


def row(name, value, unit, aim, place):
    return {"name": name, "value": value, "unit": unit, "aim": aim, "met": met(value, aim), **place}


def merge(old, new):
    """both, in the order of their first; of a name and a place the later one. A missing row goes when there is one of its name"""
    rows = {}
    for r in old + new:
        key = (r["name"], r["where"])
        if key in rows and r.get("recorded") and not rows[key].get("recorded"):
            continue    # what was measured here stays
        rows[key] = r
    there = {r["name"] for r in rows.values() if not r.get("missing")}
    return [r for r in rows.values() if not (r.get("missing") and r["name"] in there)]


def load(path):
    if not os.path.exists(path):
        return None
    with open(path) as f:
        return json.load(f)


def ring_rows(found, place):
    return [row(f"ring: {r['name']}, p50", r["p50"], r["unit"], None, place) for r in found["rows"]]


def calls_rows(found, place):
    """@found: {carrier: what remote_calls measured over it}"""
    seen = {c: {r["name"]: r for r in found[c]["rows"]} for c in found}
    real = all(MODEL not in f.get("gpu", "") for f in found.values())
    names = list(CALLS) + [(f"{memory} memory {way} the GPU, {size}", f"{memory} memory {way} the GPU, {ours}", None)
                           for memory in ("pinned", "pageable") for way in ("to", "from") for size, ours in SIZES]
    rows, values = [], {}
    for name, ours, aim in names:
        for c in CARRIERS:
            r = seen.get(c, {}).get(name)
            if r:
                values[ours, c] = r["value"]
                rows.append(row(f"{ours}: {c}", r["value"], r["unit"], aim if c == "aperture" else None, place))
    for name, of, as_what, aim, only_real in RATIOS:
        remote, native = values.get((of, "aperture")), values.get((of, "native"))
        if not remote or not native or (only_real and not real):
            continue
        value = {"time": remote / native, "speed": native / remote, "percent": 100 * remote / native}[as_what]
        rows.append(row(name, round(value, 3), "%" if as_what == "percent" else "times", aim, place))
    return rows


def stream_rows(found, calls, place):
    """@found: what remote_streams measured; @calls: the rows of calls_rows()"""
    values, rows = {r["name"]: r["value"] for r in calls}, []
    for r in found["rows"]:
        c, raw = r["where"], r["value"]
        rows.append(row(f"a raw stream, 64 MiB: {c}", raw, r["unit"], None, place))
        for way in ("to", "from"):
            name = f"pinned memory {way} the GPU, 64 MiB: {c}"
            if name in values:
                of = min(STREAMS[c], 0.8 * raw)
                rows.append(row(f"{name}: of {STREAMS[c]} GB/s, or of 0.8 of a raw stream", round(100 * values[name] / of, 1), "%", ">= 100", place))
    return rows


def many_rows(carrier, found, place):
    return [row(f"{r['name']}: {carrier}", r["value"], r["unit"], None, place) for r in found["rows"]]


def machine():
    names = [line.split(":")[1] for line in open("/proc/cpuinfo") if line.startswith("model name")] + [os.uname().machine]
    return f"{os.cpu_count()} CPUs, {' '.join(names[0].split())}"


def more_is_better(r):
    return r["aim"].startswith(">") if r["aim"] else r["unit"] in MORE


def of_passes(passes):
    """@passes: the rows of each. One row of a name: the worse value, and from where to where they go"""
    rows = {}
    for r in (r for one in passes for r in one):
        rows.setdefault(r["name"], []).append(r)
    out = []
    for same in rows.values():
        r, values = same[0], [s["value"] for s in same]
        if min(values) != max(values):
            value = min(values) if more_is_better(r) else max(values)
            r = {**r, "value": value, "met": met(value, r["aim"]), "range": [min(values), max(values)]}
        out.append(r)
    return out


def measured(out, a):
    """rows of what lies in the folder"""
    here = (a.where or machine()) + (", a quick look" if a.quick else "")
    place = {"where": here, "commit": a.commit, "date": a.date}
    ring = load(f"{out}/remote-ring.json")
    calls = {c: f for c in CARRIERS if (f := load(f"{out}/remote-calls-{c}.json"))}
    many = {c: f for c in CARRIERS if (f := load(f"{out}/remote-many-{c}.json"))}
    rows = ring_rows(ring, {**place, "where": f"no GPU; {here}"}) if ring else []
    others = [load(path) for path in sorted(glob.glob(f"{out}/remote-cluster*.json") + glob.glob(f"{out}/remote-modern.json"))]
    named = [*calls.values(), *others]
    gpu = next((f["gpu"] for f in named if f.get("gpu")), "an unknown GPU")
    gpu = "GPU model" if MODEL in gpu else gpu
    with_gpu = {**place, "where": here if a.where else f"{gpu}; {here}"}
    copies = calls_rows(calls, with_gpu) if calls else []
    streams = load(f"{out}/remote-streams.json")
    rows += copies + (stream_rows(streams, copies, with_gpu) if streams and "model" not in gpu else [])
    for c, found in many.items():
        rows += many_rows(c, found, with_gpu)
    rows += [row(r["name"], r["value"], r["unit"], r.get("aim"), with_gpu) for c in others for r in c["rows"]]
    return rows


def listed(path):
    """what was recorded, and a missing row for each aim, which merge() drops if another row has its name"""
    data = load(path)
    nowhere = {"where": None, "commit": None, "date": None}
    recorded = [{**row(r["name"], r["value"], r["unit"], r.get("aim"), {k: r[k] for k in ("where", "commit", "date")}),
                 **({"range": r["range"]} if "range" in r else {}), "recorded": True} for r in data["recorded"]]
    missing = [{**row(m["name"], None, m["unit"], m["aim"], nowhere), "missing": True} for m in data["aims"]]
    return recorded, missing


def text(value):
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def table(rows):
    def show(title, some):
        if not some:
            return
        print(f"\n{title}\n{'':78} {'value':>14} {'unit':10} {'aim':9} met")
        for r in some:
            told = {True: "yes", False: "NO", None: ""}[r["met"]]
            between = " to ".join(text(v) for v in r["range"]) if "range" in r else text(r["value"])
            print(f"{r['name']:78} {between:>14} {r['unit']:10} {r['aim'] or '':9} {told:3}".rstrip())
    for place in dict.fromkeys((bool(r.get("recorded")), r["where"], r["commit"], r["date"]) for r in rows if not r.get("missing")):
        recorded, where, commit, date = place
        some = [r for r in rows if not r.get("missing") and (bool(r.get("recorded")), r["where"], r["commit"], r["date"]) == place]
        show(f"{'RECORDED, not of this run: ' if recorded else ''}{where}, {commit}, {date}", some)
    show("missing: nobody has measured these", [r for r in rows if r.get("missing")])


def write(path, what):
    """lists of rows, a line each"""
    lists = [f'"{name}": [\n' + ",\n".join(" " + json.dumps(r) for r in rows) + "\n]" for name, rows in what.items()]
    with open(path + ".new", "w") as f:
        f.write("{" + ",\n".join(lists) + "}\n")
    os.replace(path + ".new", path)


def report(a):
    path = f"{a.out[0]}/remote.json"
    recorded, missing = listed(a.rows)
    old = [r for r in (load(path) or {"rows": []})["rows"] if not r.get("recorded")]
    new = of_passes([measured(out, a) for out in a.out])
    rows = merge(missing, merge(old, new) + recorded)
    rows = [r for r in rows if not r.get("missing")] + [r for r in rows if r.get("missing")]
    write(path, {"rows": rows})
    table(rows)
    print(f"\nwritten: {path}")


def record(a):
    data = load(a.rows)
    new = [{k: r[k] for k in (*KEYS, "range") if k != "met" and k in r} for r in load(a.out[0])["rows"]
           if not r.get("recorded") and not r.get("missing")]
    data["recorded"] = merge(data["recorded"], new)
    write(a.rows, data)
    print(f"{len(new)} rows recorded: {a.rows}")


def this_commit():
    def git(*words):
        try:
            return subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True, check=False).stdout.strip()
        except FileNotFoundError:   # a machine without git has the tree from a tarball
            return ""
    return git("describe", "--always", "--dirty", "--exclude=*") or "unknown"


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    of_record = argv[:1] == ["record"]
    p.add_argument("out", nargs=1 if of_record else "+")
    p.add_argument("--rows", default=ROWS)
    if not of_record:
        p.add_argument("--commit", default="")
        p.add_argument("--date", default=datetime.date.today().isoformat())
        p.add_argument("--where", default="")
        p.add_argument("--quick", action="store_true")
    a = p.parse_args(argv[of_record:])
    if of_record:
        record(a)
        return 0
    a.commit = a.commit or this_commit()
    report(a)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
