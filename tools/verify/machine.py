# SPDX-License-Identifier: GPL-2.0-only
"""Stage "machine": what the machine is, and whether a card can be tried in it. Changes nothing."""
import os

from system import failed, passed

MIB = 1 << 20
# bytes that kvgpu needs of the BARs 0, 1 and 3
BARS = {0: 16 * MIB, 1: 256 * MIB, 3: 32 * MIB}
FIRMWARE = "/lib/firmware/kvgpu/gk110.fw"


def lockdown(system):
    """The kernel's lockdown: none, integrity or confidentiality."""
    words = (system.read("/sys/kernel/security/lockdown") or "[none]").split()
    return next((w.strip("[]") for w in words if w.startswith("[")), "none")


def iommu(run):
    group = run.system.link(f"{run.card.folder}/iommu_group")
    if group is None:
        return {"iommu": "off"}, ["no IOMMU: a fault of the card or of kvgpu can write to any memory. "
                                  "Turn it on in the firmware's set-up, and boot with iommu.strict=1"]
    kind = run.system.read(f"/sys/kernel/iommu_groups/{group}/type", "unknown")
    members = run.system.names(f"/sys/kernel/iommu_groups/{group}/devices")
    notes = [] if kind == "DMA" else [f"the IOMMU is on, but not strict (type {kind}): boot with iommu.strict=1"]
    return {"iommu": kind, "iommu_group": members}, notes


def holder(run):
    """What is in the way of a first run: another driver, or vGPUs that exist."""
    driver = run.card.driver()
    if driver == "kvgpu" and run.card.vgpus():
        return failed(f"the card has vGPUs ({len(run.card.vgpus())})", "end their guests, and mdevctl stop --uuid UUID for each")
    if driver not in (None, "kvgpu"):
        return failed(f"{driver} holds the card", f"kvgpu-card share {run.card.address}; or, if nothing uses the card: "
                      f"echo {run.card.address} > /sys/bus/pci/drivers/{driver}/unbind")
    return None


def module(run):
    status, version = run.system.run("modinfo", "-F", "version", "kvgpu")
    if status:
        return failed(f"kvgpu.ko is not installed for this kernel ({os.uname().release})",
                      "apt install kvgpu (docs/install.md)")
    run.facts["module"] = version.strip()
    if not run.card.is_known():
        return failed(f"PCI device {run.card.read('device')} is no board that kvgpu takes", "docs/supported.md has the boards")
    if not run.system.exists(FIRMWARE):
        return failed(f"{FIRMWARE} is not there", "run kvgpu-firmware")
    return None


def bars(run):
    for bar, least in BARS.items():
        size = run.card.bar_size(bar)
        if not size:
            return failed(f"BAR {bar} has no address", "turn on \"above 4G decoding\" in the firmware's set-up")
        if size < least:
            return failed(f"BAR {bar} has {size // MIB} MiB, kvgpu needs {least // MIB}", "this board can't be used")
    return None


def stage(run):
    card, system = run.card, run.system
    facts, notes = iommu(run)
    facts.update(kernel=os.uname().release, cpus=os.cpu_count(), lockdown=lockdown(system),
                 link=f"{card.read('current_link_speed')} x{card.read('current_link_width')}",
                 link_most=f"{card.read('max_link_speed')} x{card.read('max_link_width')}",
                 bars={str(b): card.bar_size(b) for b in BARS}, driver=card.driver(),
                 device=card.read("device"), subsystem=f"{card.read('subsystem_vendor')}:{card.read('subsystem_device')}")
    if not system.exists("/dev/kvm"):
        notes.append("no /dev/kvm: guests can't run here. Turn on VT-x or AMD-V in the firmware's set-up")
    if facts["lockdown"] != "none":
        notes.append(f"the kernel is locked down ({facts['lockdown']}, Secure Boot): registers can't be read, and kvgpu.ko needs "
                     "a key that this machine trusts (mokutil)")
    for check in (holder, bars, module):
        bad = check(run)
        if bad:
            bad.facts, bad.notes = facts, notes
            return bad
    return passed(facts, notes)
