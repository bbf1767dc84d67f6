#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""spoil_rom.py FROM TO: copies a VBIOS, with an opcode that does not exist at the beginning of its first boot script."""
import sys


def le16(data, at):
    return int.from_bytes(data[at:at + 2], "little")


def main(source, target):
    with open(source, "rb") as f:
        image = bytearray(f.read())
    bit = image.index(b"\xff\xb8BIT")
    entries = [image[at:at + 6] for at in range(bit + 12, bit + 12 + 6 * image[bit + 10], 6)]
    table = next(le16(e, 4) for e in entries if e[0] == ord("I"))
    image[le16(image, le16(image, table))] = 0xfe
    size = image[2] * 512
    image[size - 1] = (image[size - 1] - sum(image[:size])) & 0xff
    with open(target, "wb") as f:
        f.write(image)


if __name__ == "__main__":
    main(*sys.argv[1:])
