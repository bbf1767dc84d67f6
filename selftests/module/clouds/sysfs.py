#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""sysfs.py [--sysfs DIR] [--reads FILE]: looks at each file of the cards and vGPUs of kvgpu that clouds read (reads.tsv). TAP,
one line for each row: who reads it, where, and what is wrong with it. A row about vGPUs is skipped where there is none, one
about the card's IOMMU group where the machine has no IOMMU, or it is off."""
import argparse
import os
import re
import sys

CARD = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def first_line(path):
    with open(path, encoding="utf-8") as file:
        return file.readline().rstrip("\n")


# Each form says what the reader does with the path; an exception or False is a failure.
FORMS = {
    "text": lambda path, sysfs: first_line(path).strip() != "",
    "number": lambda path, sysfs: re.fullmatch(r"-?[0-9]+", first_line(path)),
    "hex": lambda path, sysfs: re.fullmatch(r"0x[0-9a-f]{4,6}", first_line(path)),
    "vfio-pci": lambda path, sysfs: first_line(path) == "vfio-pci",
    "pci-id": lambda path, sysfs: re.search(r"^PCI_ID=10DE:[0-9A-F]{4}$", open(path, encoding="utf-8").read(), re.M),
    # root writes a UUID or a 1; nobody is asked to read it
    "written": lambda path, sysfs: os.path.isfile(path) and os.stat(path).st_mode & 0o200,
    "folder": lambda path, sysfs: os.path.isdir(path),
    "link": lambda path, sysfs: os.path.basename(os.readlink(path)) != "",
    "to-number": lambda path, sysfs: re.fullmatch(r"[0-9]+", os.path.basename(os.readlink(path))),
    "to-type": lambda path, sysfs: re.fullmatch(r"kvgpu-(512m|1g|2g|4g)", os.path.basename(os.readlink(path))),
    # the link's target ends in CARD/UUID, and has five parts at least when it is cut at slashes
    "below-card": lambda path, sysfs: re.search(rf"/{CARD}/{UUID}$", os.readlink(path)) and len(os.readlink(path).split("/")) >= 5,
}


def listed(path, pattern):
    try:
        return sorted(name for name in os.listdir(path) if re.fullmatch(pattern, name))
    except OSError:
        return []


def looks(sysfs, path):
    """Return the paths that a row's path stands for."""
    found = []
    for card in listed(f"{sysfs}/bus/pci/drivers/kvgpu", CARD):
        device = f"{sysfs}/bus/pci/drivers/kvgpu/{card}"
        types = listed(f"{device}/mdev_supported_types", r"kvgpu-.*") or ["kvgpu-512m"]
        vgpus = listed(device, UUID)
        for kind in types if "{type}" in path else [""]:
            for vgpu in vgpus if "{vgpu}" in path else [""]:
                found.append(f"{sysfs}/" + path.format(card=card, type=kind, vgpu=vgpu))
    return sorted(set(found))


def problem(form, path, sysfs):
    try:
        return None if FORMS[form](path, sysfs) else f"{path} is no {form}"
    except (OSError, UnicodeDecodeError) as error:
        return f"{path}: {error.strerror if isinstance(error, OSError) else error}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sysfs", default="/sys")
    parser.add_argument("--reads", default=os.path.join(os.path.dirname(os.path.realpath(__file__)), "reads.tsv"))
    args = parser.parse_args()
    failures = number = 0
    if not listed(f"{args.sysfs}/bus/pci/drivers/kvgpu", CARD):
        print("not ok 1 - kvgpu has a card\n1..1")
        return 1
    for line in open(args.reads, encoding="utf-8"):
        if line.startswith("#"):
            continue
        who, where, path, form = line.rstrip("\n").split("\t")
        number += 1
        if path.endswith("{card}/iommu_group") and not listed(f"{args.sysfs}/class/iommu", ".*"):
            print(f"ok {number} - {who}, {where}: {path} # SKIP no IOMMU")
            continue
        paths = looks(args.sysfs, path)
        wrong = [what for what in (problem(form, each, args.sysfs) for each in paths) if what]
        failures += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {who}, {where}: {path}" +
              (f" # {wrong[0]}" if wrong else "" if paths else " # SKIP no vGPU"))
    print(f"1..{number}")
    return 1 if failures else 0


sys.exit(main())
