# SPDX-License-Identifier: GPL-2.0-only
"""Who holds a card or a vGPU of it: the processes that have one of its device files open, as guests, as clients of
kvgpu-remoted, or as what they are."""
import json
import os


def links(system, folder):
    """What the files of a folder link to, as it is written there."""
    for name in system.names(folder):
        try:
            yield os.readlink(system.path(f"{folder}/{name}"))
        except OSError:
            pass  # the process has closed it, or has ended


def device_files(system, card):
    """The device files by which a program holds the card or a vGPU: path -> what it is of."""
    real = "/" + os.path.relpath(os.path.realpath(system.path(card.folder)), os.path.realpath(system.root))
    files = {f"{real}/resource{i}{wc}": "the card" for i in range(6) for wc in ("", "_wc")}
    files.update({f"/dev/dri/{n}": "the card" for n in system.names(f"{card.folder}/drm")})
    if card.driver() == "nvidia":
        files.update({f"/dev/nvidia{i}": "the card" for i in range(32)})  # which one is this card's, only that driver knows
    for what, folder in [("the card", card.folder)] + [(f"vGPU {v}", f"{card.folder}/{v}") for v in card.vgpus()]:
        group = system.link(f"{folder}/iommu_group")
        if group:
            files[f"/dev/vfio/{group}"] = what
        files.update({f"/dev/vfio/devices/{n}": what for n in system.names(f"{folder}/vfio-dev")})
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


def holders(system, card):
    """A list of {kind: guest, client or process, name, pid, holds}."""
    files, found, remote = device_files(system, card), [], None
    for pid in filter(str.isdigit, system.names("/proc")):
        held = {files[f] for f in links(system, f"/proc/{pid}/fd") if f in files}
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


def tell(holder):
    of = " of kvgpu-remoted" if holder["kind"] == "client" else ""
    return f"{holder['kind']} {holder['name']}{of} (process {holder['pid']}) holds {holder['holds']}"
