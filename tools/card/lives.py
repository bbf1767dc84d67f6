# SPDX-License-Identifier: GPL-2.0-only
"""A card's lives, told by the driver that has it, and how a card changes from one to another: by driver_override, so that no
other card changes. What was chosen is kept in CHOSEN, a file for each card, for the next boot."""
import subprocess
import sys

import module
from files import Folder
from holders import holders, tell
from module import BringUp, advice, card_lines
from system import KernelLog

DRIVERS = {"shared": "kvgpu", "whole": "vfio-pci", "host": "nouveau"}
CHOSEN = "/etc/kvgpu/cards"
SETTLE_S = 60
PATIENCE_S = 10


class Refused(Exception):
    """The card stays as it is. held: who holds it."""

    def __init__(self, text, held=()):
        super().__init__(text)
        self.held = list(held)


def remedy(cause):
    """What to do about what kvgpu said."""
    known = advice(cause)
    return f". What to do: {known}" if known != advice("") else " (journalctl -k has all that was said)"


def life(card):
    """shared, whole, host; none without a driver, other with a driver of somebody else's."""
    driver = card.driver()
    return next((name for name, d in DRIVERS.items() if d == driver), "other" if driver else "none")


def chosen(system, address):
    return system.read(f"{CHOSEN}/{address}")


def choose(system, address, wanted):
    with Folder(system.path(CHOSEN)) as folder:
        folder.write(address, wanted + "\n")


# ------------------------------------------------------------------ the IOMMU group

def iommu(system, card):
    """The card's IOMMU group: its number (None: the IOMMU is off), its type, and who else is in it: (address, driver). Bridges
    are left out, because VFIO lets them be."""
    group = system.link(f"{card.folder}/iommu_group")
    if group is None:
        return {"group": None, "type": None, "others": []}
    folder = f"/sys/kernel/iommu_groups/{group}"
    others = [(a, system.link(f"{folder}/devices/{a}/driver")) for a in system.names(f"{folder}/devices") if a != card.address and
              not system.read(f"{folder}/devices/{a}/class", "").startswith("0x0604")]
    return {"group": int(group), "type": system.read(f"{folder}/type"), "others": others}


def tell_iommu(group):
    if group["group"] is None:
        return "IOMMU off: no whole card for a guest"
    others = ", ".join(f"{a} ({d or 'no driver'})" for a, d in group["others"])
    return f"IOMMU group {group['group']} ({group['type']}), " + (f"with {others}" if others else "alone")


def check_iommu(group):
    if group["group"] is None:
        raise Refused("the IOMMU is off, and a guest with a whole card could reach all memory: turn on VT-d or AMD-Vi in the firmware's "
                      "set-up, boot with intel_iommu=on (Intel), and try again")
    bad = [f"{a} ({d})" for a, d in group["others"] if d not in (None, "vfio-pci", "pci-stub")]
    if bad:
        raise Refused(f"{', '.join(bad)} is in IOMMU group {group['group']} with the card, and a guest gets all of a group or nothing of "
                      "it: give vfio-pci that device as well, or put the card into another slot")


# ------------------------------------------------------------------ changes

def load(system, driver):
    error = module.load(system, driver)
    if error:
        raise Refused(f"{driver} can't be loaded: {error}{remedy(error)}")


def leave(system, card, driver):
    """Takes the card from its driver. The kernel waits until nobody has the card or a vGPU open, and who writes to unbind can't be
    ended meanwhile: a child does it."""
    child = system.write_apart(f"/sys/bus/pci/drivers/{driver}/unbind", card.address)
    try:
        child.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        who = "; ".join(map(tell, holders(system, card))) or "somebody has the card or a vGPU open, and is not seen"
        print(f"kvgpu-card: {driver} lets go of {card.address} when nobody uses it any more. {who}. End that. To wait no longer: Ctrl-C; the "
              "kernel waits on", file=sys.stderr, flush=True)
        child.wait()
    if child.returncode:
        raise Refused(f"{driver} does not let go of it: {child.stderr.read().decode('utf-8', 'replace').strip()}")


def move(system, card, driver):
    """Takes the card from its driver and gives it to another one. Returns what the kernel said of it."""
    log, old = KernelLog(system), card.driver()
    log.mark()
    system.write(f"{card.folder}/driver_override", driver + "\n")
    if old:
        leave(system, card, old)
    try:
        system.write("/sys/bus/pci/drivers_probe", card.address)
    except OSError:
        pass  # the driver's link and the log tell more
    lines = log.since()
    if card.driver() == driver:
        return card_lines(lines, card.address)
    bring_up, said = BringUp(lines, card.address), card_lines(lines, card.address)
    cause = bring_up.cause() if bring_up.failed_at else said[-1] if said else "it said nothing"
    raise Refused(f"{driver} does not take the card: {cause}{remedy(cause)}")


def post(system, card):
    """Lets kvgpu drive the card once: it POSTs a card that nobody has POSTed since its last reset. Returns notes."""
    try:
        load(system, "kvgpu")
        said = move(system, card, "kvgpu")
    except Refused as e:
        return [f"not POSTed before it was handed on, the next driver has to: {e}"]
    return ["the card was not POSTed: kvgpu ran its VBIOS's boot scripts"] if any("boot scripts" in s for s in said) else []


def change(system, card, wanted):
    """Gives the card another life. Returns notes; raises Refused."""
    driver, old, notes = DRIVERS[wanted], card.driver(), []
    if old == driver:
        system.write(f"{card.folder}/driver_override", driver + "\n")
        return notes
    held = holders(system, card)
    if held:
        raise Refused(f"{'; '.join(map(tell, held))}. End that first", held)
    if wanted == "whole":
        check_iommu(iommu(system, card))
    load(system, driver)
    vgpus = card.vgpus()
    if vgpus:
        notes.append(f"vGPUs that nobody used are gone: {' '.join(vgpus)}; those that mdevctl starts by itself come back with the next share")
    if wanted != "shared" and old not in ("kvgpu", "nouveau"):
        notes += post(system, card)
    try:
        move(system, card, driver)
    except Refused as e:
        back_to(system, card, old)
        raise Refused(f"{e}. It {f'is with {card.driver()} again' if card.driver() else 'has no driver'}") from None
    if wanted == "shared":
        system.run("udevadm", "settle", f"--timeout={SETTLE_S}")  # udev has mdevctl start vGPUs
    return notes


def back_to(system, card, driver):
    system.write(f"{card.folder}/driver_override", (driver or "") + "\n")
    try:
        if driver:
            move(system, card, driver)
    except Refused:
        pass  # the caller says that the card has no driver
