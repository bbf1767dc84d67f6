# SPDX-License-Identifier: GPL-2.0-only
"""Stage "ROM": saves the card's VBIOS to a file of the user's, and checks it. The image is NVIDIA's copyright: it stays on
this machine, and no report has it."""
import os

from registers import Registers
from system import failed, passed, skipped

SHADOW = 0x088050  # a word of configuration space, in BAR0: bit 0 puts a copy of the ROM in the place of the ROM itself
PROM, PROM_SIZE = 0x300000, 0x100000
BLOCK = 512


def le16(data, at):
    return int.from_bytes(data[at:at + 2], "little")


def check(data):
    """(cause, facts): the cause is empty if the image is good."""
    if data[:2] != b"\x55\xaa":
        return f"no VBIOS in the card's ROM: it begins with {data[:4].hex(' ') or 'nothing'}, not with 55 aa", {}
    size = data[2] * BLOCK
    if not size or size > len(data):
        return f"the image says that it has {size} bytes, {len(data)} were read", {}
    image, pcir = data[:size], le16(data, 0x18)
    facts = {"bytes": size}
    if image[pcir:pcir + 4] != b"PCIR":
        return f"no PCI data structure at 0x{pcir:04x}", facts
    facts["device"] = f"0x{le16(image, pcir + 6):04x}"
    if sum(image) & 0xff:
        return f"the image's checksum is 0x{sum(image) & 0xff:02x}, not 0", facts
    bit = image.find(b"\xff\xb8BIT")
    if bit < 0:
        return "no BIT directory in the image", facts
    length, entry, nr = image[bit + 8:bit + 11]
    facts["bit"] = "".join(chr(image[at]) for at in range(bit + length, bit + length + entry * nr, max(entry, 1)) if at < size)
    if "I" not in facts["bit"]:
        return "the BIT directory names no boot scripts (I)", facts
    return "", facts


def read_window(card):
    """The ROM through BAR0, which shows it while the shadow is off."""
    with Registers(card, write=True) as registers:
        was = registers.read(SHADOW)
        registers.write(SHADOW, was & ~1)
        try:
            first = registers.read(PROM)
            size = min((first >> 16 & 0xff) * BLOCK or BLOCK, PROM_SIZE) if first & 0xffff == 0xaa55 else BLOCK
            return b"".join(registers.read(PROM + i).to_bytes(4, "little") for i in range(0, size, 4))
        finally:
            registers.write(SHADOW, was)


def stage(run):
    if run.card.driver():
        return skipped(f"{run.card.driver()} holds the card", "unload it, and run this again")
    try:
        data = read_window(run.card)
    except OSError as e:
        return skipped(f"the ROM can't be read: {e}", "the module reads it by itself")
    cause, facts = check(data)
    if cause:
        return failed(cause, "without a VBIOS kvgpu can't POST the card; is the ROM chip there, and the bus alive?", facts)
    name = f"{run.card.address.replace(':', '.')}.rom"
    path = os.path.join(run.out, name)
    run.folder.write(name, data, 0o600)
    return passed(dict(facts, file=path), [f"{facts['bytes']} bytes saved as {path}: yours alone, NVIDIA's copyright; "
                                           f"KVGPU_VBIOS={path} make check PARTS=unit runs its boot scripts"])
