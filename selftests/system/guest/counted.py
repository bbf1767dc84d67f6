#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""counted.py quiet GUEST.json | wakeups GUEST.json [NATIVE.json]: judges counters that marked.py wrote.

Prints one line. Exit status 1 if what is claimed below does not hold.
quiet: between the marks of STEADY no counter of STILL moved.
wakeups: a wait costs an interrupt or more; all MMIO exits are register accesses; with NATIVE.json:
for an interrupt a guest makes fewer than 0.5 accesses more than nouveau without kvgpu."""
import json
import sys

# counters that must not move in a steady state
STILL = [
    "kvm.mmio_exits", "kvm.pf_taken", "kvm.pf_fixed", "kvm.pf_emulate", "kvm.pf_spurious", "kvm.pf_mmio_spte_created",
    "kvgpu.exits_bar0_read", "kvgpu.exits_bar0_write", "kvgpu.exits_bar1_bar3", "kvgpu.exits_config",
    "kvgpu.doorbells_trapped", "kvgpu.page_faults", "kvgpu.zaps", "kvgpu.shadow_syncs", "kvgpu.shadow_tables_read",
    "kvgpu.shadow_entries_written", "kvgpu.tlb_flushes", "kvgpu.interrupts", "kvgpu.faults",
    "card.interrupts",
]
STEADY = ("steady-CE", "steady-GR")


def counters(text):
    """Return {name: value} of lines "name value"; other lines are left out."""
    pairs = (line.split() for line in text.splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}


def moved(between):
    """Return the counters of STILL that moved, as {name: difference}; a missing counter counts as
    moved."""
    return {k: between.get(k, "not counted") for k in STILL if between.get(k) != 0}


def quiet(guest):
    found = {name: moved(guest["between"].get(name, {})) for name in STEADY}
    return {name: m for name, m in found.items() if m}


def waits_of(run):
    return next(m["waits"] for m in run["measured"] if m["what"] == "wakeups")


def guest_per_interrupt(guest):
    c = guest["between"]["wakeups"]
    return (c["kvgpu.exits_bar0_read"] + c["kvgpu.exits_bar0_write"]) / max(c["kvgpu.interrupts"], 1)


def native_per_interrupt(native):
    """Return register accesses for one interrupt, natively. There the thermal alarm interrupts,
    too, which a vGPU does not have: accesses to its units are left out, those to PMC and PPCI are
    divided by the number of interrupts, those to PFIFO by the number of waits."""
    c = native["between"]["wakeups"]
    every = (c["model.unit.PMC"] + c["model.unit.PPCI"]) / max(c["model.intr_msgs"], 1)
    return every + c["model.unit.fifo"] / waits_of(native)


def wakeups(guest, native):
    c, waits = guest["between"]["wakeups"], waits_of(guest)
    mine = guest_per_interrupt(guest)
    text = f"{mine:.2f} exits for each of {c['kvgpu.interrupts']} interrupts, {waits} waits"
    ok = c["kvgpu.interrupts"] >= waits > 0 and mine > 0 and c["kvgpu.doorbells_trapped"] == 0
    ok = ok and c["kvm.mmio_exits"] == c["kvgpu.exits_bar0_read"] + c["kvgpu.exits_bar0_write"]
    if native:
        theirs = native_per_interrupt(native)
        text += f"; natively {theirs:.2f}"
        ok = ok and 0 < theirs and mine < theirs + 0.5
    return ok, text


def main(argv):
    if len(argv) < 3 or argv[1] not in ("quiet", "wakeups"):
        sys.exit(__doc__.splitlines()[0])
    runs = [json.load(open(name)) for name in argv[2:]]
    if argv[1] == "quiet":
        found = quiet(runs[0])
        print(found or ", ".join(f"{m['submissions']} on {m['engine']}" for m in runs[0]["measured"] if m["what"] == "steady"))
        return 1 if found else 0
    ok, text = wakeups(runs[0], runs[1] if len(runs) > 1 else None)
    print(text)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
