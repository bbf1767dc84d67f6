#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""screen.py FOLDER REPORT.json SECONDS: prints the last screen of make demo: guests, their vGPUs,
what each computed, exits and shares; then where the tables are. Reads the files that demo.sh and
report.py wrote. Exit status 1 if a check or a CUDA program failed."""
import json
import os
import re
import sys

SIZE = {"512m": "512 MiB", "1g": "1 GiB", "2g": "2 GiB", "4g": "4 GiB"}


class Demo:
    def __init__(self, folder, report):
        self.folder, self.report = folder, report
        self.failed = report["checks_failed"]
        self.vgpus = {v["uuid"]: v for v in report["shares"]["gpus"][0]["vgpus"]}

    def text(self, name):
        path = f"{self.folder}/{name}"
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace") as f:
            return f.read()

    def copied(self, *names):
        text = "".join(self.text(n) for n in names)
        good, bad = (len(re.findall(f"^{v} ", text, re.M)) for v in ("ok", "not ok"))
        return f"{good} of {good + bad} right"

    def cuda(self, guest):
        """Return [(program, its message)] of a guest's TAP lines, and count failures in
        self.failed."""
        out = []
        for verdict, name, said in re.findall(r"^(ok|not ok) \d+ - (\S+)(?: # \d+ ms: (.*))?$", self.text(f"cuda.{guest}.tap"), re.M):
            self.failed += verdict != "ok"
            out.append((name, re.sub(r"^PASS(ED)?:? *", "", said) if verdict == "ok" else "FAILED: " + said))
        return out


def line(name, text):
    print(f"  {name:26}{text}")


def guests(d):
    print(f"  {'':10}{'vGPU':10}{'weight':>6}{'share of the GPU':>18}{'exits/s':>9}   copies, every byte compared")
    print(f"  {'natively':10}{'the card':10}{'':33}   {d.copied('copy.tap')}")
    for name, size, uuid in (g.split() for g in d.text("guests").splitlines()):
        v = d.vgpus.get(uuid, {})
        share, exits = v.get("share"), v.get("exits_per_s")
        files = ["guest.tap", "two.g1.tap"] if name == "g1" else [f"two.{name}.tap"]
        print(f"  {name:10}{SIZE.get(size, size):10}{v.get('weight', '?'):>6}"
              f"{'?' if share is None else f'{100 * share:.0f} %':>18}{'?' if exits is None else f'{exits:.0f}':>9}   {d.copied(*files)}")
    print("  Share and exits while both ran the client again and again. A run makes its channels and buffers anew:\n"
          "  that is what the exits are for, submissions have none (below). Shares may add up to some 10 % above 100:\n"
          "  while the GPU changes from one vGPU to another, both may be charged.")
    print(" ", short_of_it(d))


def short_of_it(d):
    """Return a sentence that says whether weights decided the shares."""
    known = [v for v in d.vgpus.values() if v.get("share") is not None]
    shares = [v["share"] for v in known]
    if not shares:
        return ""
    total = sum(v["weight"] for v in known)
    if sum(shares) >= 0.95:
        if all(abs(v["share"] - v["weight"] / total) <= 0.05 for v in known):
            return "The GPU was short: weights decided."
        return ("Together they had nearly all of the GPU, but not by\n"
                "  their weights: not each asked for its part all the time. `make bench-shares` shows weights.")
    return (f"They asked for {100 * sum(shares):.0f} % of the GPU: it was not short,\n"
            "  so their weights did not decide. `make bench-shares` shows weights on a GPU that is.")


def cuda(d):
    found = {g: d.cuda(g) for g in ("g1", "g2", "lab")}
    if not any(found.values()):
        print("  no CUDA: its toolkit could not be fetched")
    for guest, programs in found.items():
        for program, said in programs:
            line(f"{guest}  {program}", said + (", on g1's vGPU" if guest == "lab" else ""))
    return sum(map(len, found.values()))


def cluster(d):
    for said in re.findall("^(?:a product|paced GPUs|left out).*", d.text("cluster.txt"), re.M):
        print("  " + said)


def cost(r):
    for engine, s in r["steady"].items():
        c = s["guest_counters"]
        line(f"{s['submissions']:,} submissions, {engine}",
             f"{c['kvm.mmio_exits']} MMIO exits, {c['kvgpu.exits_bar0_read'] + c['kvgpu.exits_bar0_write']} traps, {c['kvm.pf_taken']} page faults")
    w = r["wakeups"]
    line("a wait that sleeps", f"{w['guest_exits_per_interrupt']:.1f} exits an interrupt; natively {w['native_accesses_per_interrupt']:.1f} register accesses")
    m = min(r["mapping"], key=lambda row: (row["memory"] != "VRAM", row["mib"]))
    mapped, native = (m[side + "_map_us"] + m[side + "_unmap_us"] for side in ("guest", "native"))
    line(f"{m['mib']} MiB of {m['memory']}", f"mapped and unmapped in {mapped / 1000:.1f} ms with {m['guest_traps']:.0f} traps; natively in {native / 1000:.1f} ms")
    n = r["load"]
    line("nouveau loads", f"in {n['guest_ms'] / 1000:.1f} s with {n['guest_traps']:.0f} traps; natively in {n['native_ms'] / 1000:.1f} s")


def main(folder, path, seconds):
    with open(path) as f:
        report = json.load(f)
    d = Demo(folder, report)
    print("One Tesla K20m (modelled), Debian's own nouveau natively and in two stock Debian guests on vGPUs of it\n")
    guests(d)
    print("\nCUDA programs, compiled by nvcc: g1 and g2 at once; then two of them in lab, a guest without a GPU, while g1 rests")
    programs = cuda(d)
    if d.text("cluster.txt"):
        print("\nOne CUDA program with the GPUs of two proxies, by kvgpu-run, without a VM")
        cluster(d)
    print("\nWhat a vGPU costs (g1; the CPUs are emulated: counts are exact, times are not those of a real machine)")
    cost(report)
    verdict = "all passed" if not d.failed else f"{d.failed} FAILED"
    print(f"\n{report['checks_passed']} checks of copies and costs, {programs} runs of CUDA programs in guests: {verdict}; {seconds} s. Mappings, bandwidth and all counters: {path} and table.txt beside it")
    print("Next: docs/testbed.md, 'By hand', has the commands for a server and guests that stay, to try by hand;"
          " docs/remote-setup.md those for a VM like lab.")
    return 1 if d.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
