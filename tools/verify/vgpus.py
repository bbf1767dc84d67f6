# SPDX-License-Identifier: GPL-2.0-only
"""Stages on vGPUs: copies, preempts, contexts, isolation, shares, guests. What works on a vGPU without a guest are
kvgpu-vfio and kvgpu-tenants of the tree's selftests, which the user builds and names by --programs."""
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
import uuid

from module import DRIVERS, advice, card_lines, debug_file, load, unbind
from system import failed, passed, skipped

PROGRAMS = "make verify-programs builds them; then --programs build/verify"
# how long a guest may take to use its vGPU, and how long it goes on then
GUEST_SECONDS, GUEST_MORE_SECONDS = 900, 10
# how long a channel may take to leave before kvgpu resets engines (PREEMPT_EVICT_MS of mdev/machine/internal.h)
LATE_US = 100000


class Vgpu:
    """A vGPU that lives as long as the block."""

    def __init__(self, run, kind="512m"):
        self.run, self.uuid = run, str(uuid.uuid4())
        self.folder = f"{run.card.folder}/{self.uuid}"
        self.types = f"{run.card.folder}/mdev_supported_types/kvgpu-{kind}"

    def __enter__(self):
        self.run.system.write(f"{self.types}/create", self.uuid)
        return self

    def __exit__(self, *unused):
        try:
            self.run.system.write(f"{self.folder}/remove", "1")
        except OSError as e:
            self.run.notes.append(f"vGPU {self.uuid} can't be removed: {e}")

    def number(self, name):
        return self.run.system.number(f"{self.folder}/kvgpu/{name}", 0)


def program(run, name):
    path = os.path.join(run.programs, name) if run.programs else None
    return path if path and os.access(path, os.X_OK) else None


def complaints(run):
    """What the kernel said of the card since the stage began, but for plain news."""
    return [s for s in card_lines(run.log.since(), run.card.address)
            if not s.startswith(("bring-up: ", "MDEV: ", "Adding to iommu"))]


def kernel_failed(run, what):
    said = complaints(run)
    cause = f"{what}: {'; '.join(said[:3])}" if said else what
    return failed(cause, advice(cause), notes=said)


def tap(said):
    """(lines that passed, lines that failed) of TAP."""
    lines = [re.sub(r"^(not )?ok \d+ - ", "", x) for x in said.splitlines() if x.startswith("ok ")]
    return lines, [re.sub(r"^not ok \d+ - ", "", x) for x in said.splitlines() if x.startswith("not ok ")]


def attack(run, tests, what):
    """Runs tests of kvgpu-vfio on a vGPU, beside a second one."""
    path = program(run, "kvgpu-vfio")
    if not path:
        return skipped("kvgpu-vfio is not there", PROGRAMS)
    try:
        with Vgpu(run) as first, Vgpu(run) as second:
            status, said = run.system.run(path, "--second", second.uuid, first.uuid, *tests)
    except OSError as e:
        return kernel_failed(run, f"no vGPU can be made ({e.strerror})")
    good, bad = tap(said)
    if status or bad:
        return kernel_failed(run, f"{what}: {', '.join(bad) or said.strip()[-200:]}")
    if run.card.number("kvgpu/lost", 0):
        return kernel_failed(run, f"{what}: the card was cut off meanwhile")
    return passed({"passed": good}, complaints(run))


def copies(run):
    run.log.mark()
    began = time.monotonic()
    try:
        with Vgpu(run):
            seconds = time.monotonic() - began
    except OSError as e:
        return kernel_failed(run, f"the host's copy channel did not clear a vGPU's memory ({e.strerror})")
    facts = {"clear_bytes_per_s": round((512 << 20) / seconds)}
    notes = [f"512 MiB cleared by a copy engine in {seconds * 1000:.0f} ms"]
    out = attack(run, ["copies"], "copies of a vGPU")
    if out.status == "fail":
        return out
    if out.status == "skip":
        notes.append(f"copies of a vGPU were not tried: {out.cause}. {out.advice}")
    return passed(dict(facts, **out.facts), notes + out.notes)


def contexts(run):
    run.log.mark()
    return attack(run, ["contexts", "reenable", "relist"], "graphics contexts")


def isolation(run):
    run.log.mark()
    return attack(run, ["foreign", "unmap", "reuse", "windows", "maps", "outlive"], "a hostile VMM")


def bench(run, *setups):
    """Runs kvgpu-tenants: (its exit status, its results, the most that each vGPU's counters showed meanwhile)."""
    most = {"strikes": 0, "preempt_ns_max": 0}
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out, tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen([program(run, "kvgpu-tenants"), "bench", "--card", run.card.address, "--looks", "6", "--json", out.name,
                                  *setups], stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        while child.poll() is None:
            for v in run.card.vgpus():
                for name in most:
                    most[name] = max(most[name], run.card.number(f"{v}/kvgpu/{name}", 0))
            time.sleep(0.2)
        try:
            results = json.load(out)
        except ValueError:
            said.seek(0)
            results = []
            run.notes.append(f"kvgpu-tenants: {said.read().strip()[-300:]}")
    return child.returncode, results, most


def preempts(run):
    if not program(run, "kvgpu-tenants"):
        return skipped("kvgpu-tenants is not there", PROGRAMS)
    run.log.mark()
    resets = run.card.number("kvgpu/engine_resets", 0)
    watchdog = run.card.number("kvgpu/watchdog_ms", 0)
    status, results, most = bench(run, "two equal")
    resets = run.card.number("kvgpu/engine_resets", 0) - resets
    got = results[0] if results else {}
    longest_ms = max(most["preempt_ns_max"] / 1e6, got.get("preempt_max_us", 0) / 1e3)
    facts = {"preempts": got.get("preempts"), "preempt_us": got.get("preempt_us"), "preempt_max_ms": longest_ms,
             "engine_resets": resets, "strikes": most["strikes"]}
    # a kvgpu-tenants that failed has no mean: a preempt that took so long may be why
    late = ((facts["preempt_us"] or 0) if results else 1e3 * longest_ms) >= LATE_US
    if resets or most["strikes"] or late or "the card was cut off" in "\n".join(complaints(run)):
        mean = f"{facts['preempt_us']} us each, " if results else ""
        out = kernel_failed(run, f"preempts come late: {mean}the longest one {longest_ms:.0f} ms (watchdog "
                            f"{watchdog} ms); engines were reset {resets} times, {most['strikes']} strikes")
        out.facts = facts
        out.advice = "report this; larger slice_us and watchdog_ms may do for this card (docs/sharing.md)"
        return out
    if status or not results:
        return kernel_failed(run, f"two busy vGPUs: kvgpu-tenants ended with {status}")
    return passed(facts, [f"{facts['preempts']} preempts of {facts['preempt_us']} us, the longest one {longest_ms:.2f} ms"])


def shares(run):
    if not program(run, "kvgpu-tenants"):
        return skipped("kvgpu-tenants is not there", PROGRAMS)
    run.log.mark()
    status, results, _ = bench(run, "one", "two equal", "three 1:2:4")
    if status or len(results) < 3:
        return kernel_failed(run, f"kvgpu-tenants ended with {status}: data were wrong, or a vGPU could not be made")
    facts = {r["name"]: {k: r.get(k) for k in ("share", "want", "busy", "bytes_per_s", "worst_error")} for r in results}
    return passed(facts, [f"{r['name']}: shares {', '.join(f'{x:.3f}' for x in r['share'])}; the GPU worked "
                          f"{100 * r['busy']:.0f} % of the time, {r['bytes_per_s'] / 1e6:.0f} MB/s" for r in results])


def fetches(run, v):
    """Whether a channel of the vGPU's has fetched work. kvgpu takes samples of the GPU's time, which miss short work."""
    return any(0 < int(get) < 0xffffffff for get in re.findall(r" get (\d+) ", debug_file(run, f"{v.uuid}/channels")))


def guests(run, nr):
    """Starts guests by the user's command, and waits until the driver in each has used the GPU."""
    if not run.guest:
        return skipped("no guest was given", "--guest 'COMMAND', a command that runs a VM with the vGPU {uuid} and ends by "
                       "itself or by SIGTERM, such as: qemu-system-x86_64 -enable-kvm -m 2G -snapshot -nographic debian.qcow2 "
                       "-device vfio-pci,sysfsdev=/sys/bus/mdev/devices/{uuid}")
    run.log.mark()
    vs, children, used = [], [], set()
    try:
        for _ in range(nr):
            vs.append(Vgpu(run).__enter__())
            children.append(subprocess.Popen(shlex.split(run.guest.replace("{uuid}", vs[-1].uuid)), stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        end = time.monotonic() + GUEST_SECONDS
        while time.monotonic() < end and len(used) < nr:
            ended = [c.returncode for c in children if c.poll() is not None]
            if ended:
                return kernel_failed(run, f"a guest's command ended (status {ended[0]}) before its driver used the vGPU")
            time.sleep(1)
            used.update(v for v in vs if fetches(run, v))
        time.sleep(GUEST_MORE_SECONDS)
        facts = {v.uuid: {n: v.number(n) for n in ("gpu_time_ns", "copy_time_ns", "faults", "strikes", "exits_bar0_read", "exits_bar0_write")}
                 for v in vs}
        if len(used) < nr:
            return kernel_failed(run, f"a guest's driver has not used its vGPU after {GUEST_SECONDS} s (its kernel's log says why)")
        if any(v.number("faults") or v.number("strikes") for v in vs):
            said = "; ".join(line for v in vs for line in debug_file(run, f"{v.uuid}/faults").splitlines()[-1:])
            return kernel_failed(run, f"a guest's vGPU had faults: {said}")
        return passed(facts, [f"the driver of guest {i + 1} used the GPU, without a fault" for i in range(nr)])
    except OSError as e:
        return kernel_failed(run, f"a guest can't be started ({e})")
    finally:
        for c in children:
            c.terminate()
            c.wait()
        for v in vs:
            v.__exit__()


def one_guest(run):
    return guests(run, 1)


def two_guests(run):
    return guests(run, 2)


def native(run):
    """The card by stock nouveau, after kvgpu let it go: copies and launches of kvgpu-client."""
    if not program(run, "kvgpu-client"):
        return skipped("kvgpu-client is not there", PROGRAMS)
    unbind(run)
    run.log.mark()
    error = load(run.system, "nouveau")
    if error:
        return skipped(f"nouveau can't be loaded: {error}", "modprobe nouveau")
    try:
        run.system.write(f"{DRIVERS}/nouveau/bind", run.card.address)
        status, said = run.system.run(program(run, "kvgpu-client"), "bench", "copy", "launch")
    except OSError as e:
        return kernel_failed(run, f"nouveau does not take the card ({e.strerror})")
    finally:
        unbind(run, "nouveau")
    rows = {}
    for line in said.splitlines():
        if line.startswith("{"):
            r = json.loads(line)
            rows.setdefault(f"{r['row']} ({r['unit']})", []).append(r["value"])
    if status or not rows:
        return kernel_failed(run, f"kvgpu-client ended with {status}: {said.strip()[-200:]}")
    medians = {name: sorted(values)[len(values) // 2] for name, values in rows.items()}
    return passed(medians, [f"{name}: {value:.6g}" for name, value in medians.items()])
