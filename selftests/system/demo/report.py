#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""report.py FOLDER REPORT.json BYTES SECONDS MODEL_ARGS: writes what make demo measured as JSON
(README.md here says what is in it), and prints it as a table. Exit status 1 if a check
failed: a TAP line of the client, a steady state without exits, or the number of exits for an
interrupt."""
import datetime
import json
import re
import statistics
import subprocess
import sys

sys.path.insert(0, "selftests/system/guest")
import counted  # noqa: E402

WHERE = {"native": "natively", "guest": "in_guest"}


def base_kernel():
    """Return the release of the base kernel (testbed/packages/kernels.list)."""
    lines = subprocess.run(["testbed/tb", "kernels"], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.split()[1] for line in lines if line.endswith(" base"))


class Run:
    """The files that demo.sh wrote. A side is "native" (the server with nouveau) or "guest" (g1)."""

    def __init__(self, folder):
        self.folder = folder

    def text(self, name):
        with open(f"{self.folder}/{name}") as f:
            return f.read()

    def counted(self, side, name):
        return json.loads(self.text(f"{WHERE[side]}-{name}.json"))

    def measured(self, side, name, what):
        return [m for m in self.counted(side, name)["measured"] if m["what"] == what]

    def lines(self, verdict):
        names = ["copy.tap", "guest.tap", "two.g1.tap", "two.g2.tap"] + [f"{w}-{n}.tap" for w in WHERE.values() for n in ("steady", "map", "copy1")]
        return sum(len(re.findall(f"^{verdict} ", self.text(n), re.M)) for n in names)

    def seconds(self, name):
        return round(sum(map(float, re.findall(r", ([0-9.]+) s$", self.text(name), re.M))), 1)

    def snapshot(self, name):
        return counted.counters(self.text(name))


def copies(run):
    before, after = run.snapshot("before"), run.snapshot("after")
    return {
        "native_seconds": run.seconds("copy.tap"), "guest_seconds": run.seconds("guest.tap"),
        "first_load": before, "counters": {k: after[k] - before[k] for k in after},
    }


def steady(run):
    native, guest = run.counted("native", "steady"), run.counted("guest", "steady")
    out = {}
    for mine, theirs in zip(run.measured("guest", "steady", "steady"), run.measured("native", "steady", "steady")):
        engine = mine["engine"]
        out[engine] = {
            "submissions": mine["submissions"],
            "native_us_each": theirs["us"] / theirs["submissions"], "guest_us_each": mine["us"] / mine["submissions"],
            "native_fifo_accesses": native["between"]["steady-" + engine].get("model.unit.fifo"),
            "guest_counters": guest["between"]["steady-" + engine],
        }
    return out


def wakeups(run):
    native, guest = run.counted("native", "steady"), run.counted("guest", "steady")
    return {
        "waits": counted.waits_of(guest), "guest_interrupts": guest["between"]["wakeups"]["kvgpu.interrupts"],
        "guest_exits_per_interrupt": counted.guest_per_interrupt(guest),
        "native_accesses_per_interrupt": counted.native_per_interrupt(native),
    }


def mapping(run):
    native, guest = run.counted("native", "map"), run.counted("guest", "map")
    out = []
    for mine, theirs in zip(run.measured("guest", "map", "map"), run.measured("native", "map", "map")):
        name, rounds = f"map-{mine['memory']}-{mine['mib']}", mine["rounds"]
        g, n = guest["between"][name], native["between"][name]

        def each(*names):
            return sum(g[k] for k in names) / rounds

        out.append({
            "memory": mine["memory"], "mib": mine["mib"],
            # only units that mappings access: natively the thermal alarm accesses others meanwhile
            "native_accesses": (n["model.unit.mmu"] + n["model.unit.bar"] + n.get("model.unit.fifo", 0)) / rounds,
            "guest_traps": each("kvgpu.exits_bar0_read", "kvgpu.exits_bar0_write", "kvgpu.exits_bar1_bar3"),
            "guest_page_faults": each("kvgpu.page_faults"),
            "tables_read": each("kvgpu.shadow_tables_read"), "shadow_entries": each("kvgpu.shadow_entries_written"),
            "tlb_flushes": each("kvgpu.tlb_flushes"),
            **{f"{side}_{k}": m[k] for side, m in (("native", theirs), ("guest", mine))
               for k in ("map_us", "use_us", "unmap_us")},
        })
    return out


def bandwidth(run):
    turns = []
    for i in (1, 2, 3):
        pair = [run.measured(side, f"copy{i}", "bandwidth") for side in WHERE]
        turns.append(list(zip(*pair)))
    out = []
    for case in zip(*turns):
        native, guest = ([t[side]["us"] for t in case] for side in (0, 1))
        one = case[0][0]
        size = one["batch_mib"] << 20
        out.append({
            "from": one["from"], "to": one["to"], "mib": one["mib"],
            "native_gb_s": size / 1e3 / statistics.median(native), "guest_gb_s": size / 1e3 / statistics.median(guest),
            "ratio": statistics.median(n / g for n, g in zip(native, guest)),
        })
    return out


def loads(run):
    native, guest = run.counted("native", "load")["between"], run.counted("guest", "load")["between"]

    def middle(counters, *names):
        return statistics.median(sum(c[k] for k in names) for c in counters.values())

    return {
        "native_ms": statistics.median(m["ms"] for m in run.measured("native", "load", "load")),
        "guest_ms": statistics.median(m["ms"] for m in run.measured("guest", "load", "load")),
        "native_accesses": middle(native, "model.bar0_reads", "model.bar0_writes"),
        "guest_traps": middle(guest, "kvgpu.exits_bar0_read", "kvgpu.exits_bar0_write", "kvgpu.exits_bar1_bar3"),
        "guest_page_faults": middle(guest, "kvgpu.page_faults"),
        "shadow_entries": middle(guest, "kvgpu.shadow_entries_written"),
        "tlb_flushes": middle(guest, "kvgpu.tlb_flushes"),
    }


def table(r):
    for engine, s in r["steady"].items():
        c = s["guest_counters"]
        print(f"{s['submissions']} submissions on {engine}: {c['kvm.mmio_exits']} MMIO exits, {c['kvgpu.exits_bar0_read']}"
              f" + {c['kvgpu.exits_bar0_write']} traps, {c['kvm.pf_taken']} page faults;"
              f" {s['guest_us_each']:.0f} us each, natively {s['native_us_each']:.0f}")
    w = r["wakeups"]
    print(f"a wait that sleeps: {w['guest_exits_per_interrupt']:.1f} exits an interrupt,"
          f" natively {w['native_accesses_per_interrupt']:.1f} register accesses")
    n = r["load"]
    print(f"nouveau loads in {n['guest_ms'] / 1000:.1f} s with {n['guest_traps']:.0f} traps and"
          f" {n['guest_page_faults']:.0f} page faults; natively in {n['native_ms'] / 1000:.1f} s with"
          f" {n['native_accesses']:.0f} register accesses")
    print(f"{'map, use, unmap':18} {'traps':>6} {'native':>6} {'faults':>7} {'tables':>7} {'entries':>8} {'us':>8} {'native':>8}  each")
    for m in r["mapping"]:
        us = {side: sum(m[f"{side}_{k}_us"] for k in ("map", "use", "unmap")) for side in WHERE}
        print(f"{m['mib']:3} MiB {m['memory']:10} {m['guest_traps']:6.0f} {m['native_accesses']:6.0f}"
              f" {m['guest_page_faults']:7.0f} {m['tables_read']:7.0f} {m['shadow_entries']:8.0f}"
              f" {us['guest']:8} {us['native']:8}")
    print(f"{'copies, ' + r['mode']:22} {'guest':>8} {'native':>8} GB/s {'ratio':>6}")
    for b in r["bandwidth"]:
        print(f"{b['mib']:3} MiB {b['from']:>6} to {b['to']:6} {b['guest_gb_s']:9.2f} {b['native_gb_s']:8.2f} {b['ratio']:11.2f}")
    print("  GB/s: the median of each side; ratio: the median of the ratios of rounds that ran side by side")
    c = r["copies"]
    print(f"verified copies took {c['native_seconds']} s natively, {c['guest_seconds']} s in the guest (sums of the client's"
          f" own lines); {c['counters']['kvgpu.doorbells_trapped']} doorbells were trapped")
    print(f"{r['checks_passed']} checks passed, {r['checks_failed']} failed")


def main(folder, path, asked, seconds, model_args):
    run = Run(folder)
    rate = re.search(r"--ce-rate[ =](\S+)", model_args)
    noisy = counted.quiet(run.counted("guest", "steady"))
    woken, text = counted.wakeups(run.counted("guest", "steady"), run.counted("native", "steady"))
    verdicts = [not noisy, woken]
    report = {
        "date": datetime.date.today().isoformat(), "mode": f"paced {rate[1]}B/s" if rate else "unpaced",
        "kernel": base_kernel(), "type": "kvgpu-512m", "bytes_asked": asked,
        "copies": copies(run), "steady": steady(run), "wakeups": wakeups(run), "load": loads(run),
        "mapping": mapping(run), "bandwidth": bandwidth(run), "shares": json.loads(run.text("shares.json")),
        "checks_passed": run.lines("ok") + sum(verdicts),
        "checks_failed": run.lines("not ok") + verdicts.count(False), "seconds": int(seconds),
    }
    with open(path, "w") as f:
        json.dump(report, f, indent=1)
    table(report)
    if noisy:
        print("not a steady state without exits:", noisy)
    if not woken:
        print("too many exits for an interrupt:", text)
    return 1 if report["checks_failed"] or not report["checks_passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
