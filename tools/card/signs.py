# SPDX-License-Identifier: GPL-2.0-only
"""What an admin has to know of the machine beside its cards: whether kvgpu.ko is the installed one, and whether Secure Boot
lets it be loaded."""
import os

from machine import lockdown

KEY = "/var/lib/dkms/mok.pub"


def secure_boot(system):
    folder = "/sys/firmware/efi/efivars"
    for name in system.names(folder):
        if name.startswith("SecureBoot-"):
            with open(system.path(f"{folder}/{name}"), "rb") as f:
                return f.read()[-1:] == b"\1"
    return False


def installed(system):
    """What the installed module says of itself: None if there is none for this kernel."""
    facts = {}
    for name in ("version", "srcversion"):
        status, said = system.run("modinfo", "-F", name, "kvgpu")
        if status:
            return None
        facts[name] = said.strip()
    return facts


def loaded(system):
    """What the loaded module says of itself: None if none is loaded."""
    folder = "/sys/module/kvgpu"
    return {n: system.read(f"{folder}/{n}", "") for n in ("version", "srcversion")} if system.exists(folder) else None


def module_notes(now, there):
    if not there:
        yield f"kvgpu.ko is not installed for this kernel ({os.uname().release}): dkms autoinstall (it wants the kernel's headers)"
    elif now and now["srcversion"] != there["srcversion"]:
        yield (f"the loaded kvgpu.ko ({now['version'] or 'before 0.4'}) is not the installed one ({there['version']}): cards and guests go "
               "on with it. To change over end the guests, then: modprobe -r kvgpu && modprobe kvgpu (or reboot)")


def secure_boot_notes(system, now):
    """A module that is loaded has passed."""
    if now or not secure_boot(system) and lockdown(system) == "none":
        return
    if not system.exists(KEY):
        yield f"Secure Boot is on, and {KEY} is not there: dkms generate_mok, then dkms install --force kvgpu"
        return
    said = system.run("mokutil", "--test-key", KEY)[1]
    rest = "reboot, choose \"Enroll MOK\" in the blue screen, and give that password"
    if "is not enrolled" in said:
        yield (f"Secure Boot is on, and DKMS's key is not enrolled, so this kernel refuses kvgpu.ko. Type: mokutil --import {KEY} (it asks "
               f"for a new password), {rest}")
    elif "enrollment request" in said:
        yield f"Secure Boot is on, and DKMS's key waits to be enrolled, with the password that mokutil asked for: {rest}"
    elif "already enrolled" not in said:
        yield f"Secure Boot is on; whether DKMS's key is enrolled says: apt install mokutil && mokutil --test-key {KEY}"


def module_signs(system):
    """(facts of the module, notes)"""
    now, there = loaded(system), installed(system)
    return {"loaded": now, "installed": there}, [*module_notes(now, there), *secure_boot_notes(system, now)]
