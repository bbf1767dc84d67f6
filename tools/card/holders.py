# SPDX-License-Identifier: GPL-2.0-only
"""Who holds a card or a vGPU of it: the processes that have one of its device files open, as guests, as clients of
kvgpu-remoted, or as what they are. A vGPU that is open by kvgpu's own count, but whose holder was not found, has an unknown one."""
import json
import os
import re
import stat

from system import Card, find_cards

VFIO_DEVICE = "[vfio-device]"  # what VFIO calls a device that was opened by its group


def file_id(system, name):
    """What a file is, whatever path it was opened by: a device's number, or a file system and an inode. None: it is not there."""
    try:
        s = os.stat(system.path(name))
    except OSError:
        return None  # the process has closed it, or has ended
    return ("device", os.major(s.st_rdev), os.minor(s.st_rdev)) if stat.S_ISCHR(s.st_mode) else ("file", s.st_dev, s.st_ino)


def device_files(system, card, groups):
    """The files by which a program holds the card or a vGPU, with those of VFIO groups or without: file_id() -> what it is of."""
    files = {}

    def add(what, folder):
        number = re.fullmatch(r"(\d+):(\d+)", system.read(f"{folder}/dev", ""))
        if number:
            files["device", int(number[1]), int(number[2])] = what

    for name in [f"resource{i}{wc}" for i in range(6) for wc in ("", "_wc")]:
        files[file_id(system, f"{card.folder}/{name}")] = "the card"
    files.pop(None, None)
    for name in system.names(f"{card.folder}/drm"):
        add("the card", f"{card.folder}/drm/{name}")
    nvidia = re.search(r"^ *(\d+) nvidia(-frontend)?$", system.read("/proc/devices", ""), re.MULTILINE)
    if card.driver() == "nvidia" and nvidia:  # which minor number is this card's, only that driver knows
        files.update({("device", int(nvidia[1]), minor): "the card" for minor in range(32)})
    for what, folder in [("the card", card.folder)] + [(f"vGPU {v}", f"{card.folder}/{v}") for v in card.vgpus()]:
        if groups:
            add(what, f"/sys/class/vfio/{system.link(f'{folder}/iommu_group')}")
        for name in system.names(f"{folder}/vfio-dev"):
            add(what, f"{folder}/vfio-dev/{name}")
    return files


def guest_name(words):
    """The guest's name in a QEMU's command line."""
    if "-name" not in words[:-1]:
        return None
    parts = words[words.index("-name") + 1].split(",")
    return next((p[len("guest="):] for p in parts if p.startswith("guest=")), parts[0])


def printable(name):
    """A process chooses its name itself."""
    return "".join(c if c.isprintable() else "?" for c in name)


def clients(system):
    """The clients of kvgpu-remoted: process -> name."""
    status, said = system.run("kvgpu-remotectl", "list", "--json", "--interval", "0", timeout=20)
    try:
        return {c["pid"]: c["who"] for c in json.loads(said)["clients"]} if not status else {}
    except (ValueError, KeyError):
        return {}


def processes(system):
    return filter(str.isdigit, system.names("/proc"))


def held_files(system, pid):
    """What a process has open or mapped. Each thread may have files of its own, the first one may have ended, and the memory is that of
    all. What is in a socket's queue is not seen."""
    threads = system.names(f"/proc/{pid}/task")
    folders = [f"/proc/{t}/fd" for t in threads] + [f"/proc/{t}/map_files" for t in {*threads[:1], *threads[-1:]}]
    return [f"{folder}/{n}" for folder in folders for n in system.names(folder)]


def named_holders(system, card, groups=True):
    files, found, remote = device_files(system, card, groups), [], None
    for pid in processes(system):
        ids = {file_id(system, name) for name in held_files(system, pid)}
        held = {files[i] for i in ids if i in files}
        if not held:
            continue
        name = system.read(f"/proc/{pid}/comm", "?")
        guest = guest_name(system.read(f"/proc/{pid}/cmdline", "").split("\0"))
        who = {"kind": "guest", "name": guest} if guest else {"kind": "process", "name": name}
        if name == "kvgpu-remoted":
            remote = clients(system) if remote is None else remote
            if int(pid) in remote:
                who = {"kind": "client", "name": remote[int(pid)]}
        who["name"] = printable(who["name"])
        found += [dict(who, pid=int(pid), holds=what) for what in sorted(held)]
    return found


def has_vfio_device(system, pid):
    return any(VFIO_DEVICE in (system.link(name) or "") for name in held_files(system, pid))


def known_vgpus(system):
    """The vGPUs of all cards whose holder has a device of VFIO. Who has a group's file alone does not use the vGPU."""
    cards = [card for card in (Card(system, a) for a in find_cards(system)) if card.driver() == "kvgpu"]
    return {h["holds"] for card in cards for groups in (False, True) for h in named_holders(system, card, groups)
            if not groups or has_vfio_device(system, h["pid"])} - {"the card"}


def open_devices(system, card):
    """What is open by the kernel's count: vGPUs by kvgpu's, and a whole card by that of who enabled it, since vfio-pci does so while it
    is open. Without debugfs the use count of the module tells, for all cards together, whether there are more vGPUs than were found."""
    if card.driver() == "vfio-pci":
        return ["the card"] if card.number("enable", 0) else []
    if not card.vgpus():
        return []
    said = system.read(f"/sys/kernel/debug/kvgpu/{card.address}/vgpus")
    if said is not None:
        return [f"vGPU {words[1]}" for words in map(str.split, said.splitlines()) if words[3:4] == ["open"]]
    return ["a vGPU of a card of kvgpu's"] if system.number("/sys/module/kvgpu/refcnt", 0) > len(known_vgpus(system)) else []


def unknown_holders(system, card, found):
    held = {h["holds"] for h in found}
    unknown = [what for what in open_devices(system, card) if what not in held]
    may_be = [f"{printable(system.read(f'/proc/{pid}/comm', '?'))} (process {pid})" for pid in processes(system)
              if unknown and has_vfio_device(system, pid)]
    return [{"kind": "unknown", "name": None, "pid": None, "holds": what, "may_be": may_be} for what in unknown
            if may_be or what != "the card"]  # a card may also have been enabled before vfio-pci got it


def holders(system, card):
    """A list of {kind: guest, client, process or unknown, name, pid, holds}; name and pid of an unknown one are None, and may_be
    says which processes it may be."""
    found = named_holders(system, card)
    return found + unknown_holders(system, card, found)


def tell(holder):
    if holder["kind"] == "unknown":
        return f"{holder['holds']} is held by a process that can't be named: it has closed the VFIO group's file" + (
            f". These have a VFIO device: {', '.join(holder['may_be'])}" if holder["may_be"] else ", and no process shows a VFIO device")
    of = " of kvgpu-remoted" if holder["kind"] == "client" else ""
    return f"{holder['kind']} {holder['name']}{of} (process {holder['pid']}) holds {holder['holds']}"
