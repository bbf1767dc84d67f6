# SPDX-License-Identifier: GPL-2.0-only
"""Stage "registers": reads registers of the card before any driver touches it, by resource0 of sysfs. Nothing is written
to BAR0. Of what they say decode() makes the board, for the model's --board-file.

Names and offsets are those of include/gk110, codes those of a Tesla K80's dump (docs/hardware.md)."""
import mmap
import os

from system import failed, passed, skipped

BAR0_SIZE = 16 << 20
# name, offset, how many words
TABLE = (
    ("PMC_BOOT_0", 0x000000, 1), ("PMC_BOOT_2", 0x000008, 1), ("PMC_ENABLE", 0x000200, 1), ("PMC_ENABLE_PBDMA", 0x000204, 1),
    ("PMC_NEW_ID", 0x000a00, 1), ("PFIFO_PBDMA_RUNLISTS", 0x002390, 3), ("PTIMER_MMIO_FAULT", 0x009084, 1),
    ("PTIMER_NUMERATOR", 0x009200, 1), ("PTIMER_DENOMINATOR", 0x009210, 1), ("PTIMER_SCALE", 0x009220, 1),
    ("PTOP_DEVINIT", 0x02240c, 1), ("PTOP_COUNTS", 0x022430, 7), ("PTOP_DISABLE", 0x022500, 24), ("PTOP_DEVICE", 0x022700, 64),
    ("PSTRAPS_BOOT0", 0x101000, 1), ("FB_MMU_CTRL", 0x100c80, 1), ("PFFB_LTC_COUNT", 0x100800, 1),
    ("PRIVRING_COUNTS", 0x120070, 3), ("LTC_PARTS", 0x17e8dc, 1), ("FECS_CAPS", 0x409108, 1), ("FECS_UNITS", 0x409604, 1),
    ("GPCCS_CAPS", 0x502108, 1),
) + tuple((f"PBFB_AMOUNT_{i}", 0x11020c + 0x1000 * i, 1) for i in range(16)) \
  + tuple((f"GPCCS_UNITS_{i}", 0x502608 + 0x8000 * i, 1) for i in range(8))
BOOT_0, DEVINIT = 0x000000, 0x02240c
CHIPS = {0x0f0: "GK110", 0x0f1: "GK110B"}
# longest prefix first
CODES = (("bad0011f", "no such register"), ("bad0da1f", "the unit is off in PMC_ENABLE"), ("bad0fb", "video memory is off"),
         ("badf1002", "no such register"), ("badf1100", "no such register, or a GPC without power"),
         ("badf12", "the unit is off"), ("badf3000", "the unit has no clock"), ("badf5", "the unit is off"),
         ("bad0", "no answer on the bus"), ("badf", "no answer on the register ring"))


def code(value):
    """What an error code of the register ring says, or None for data."""
    if value & 0xfff00000 != 0xbad00000:
        return None
    return next((text for prefix, text in CODES if f"{value:08x}".startswith(prefix)), "no answer")


class Registers:
    """BAR0 by words, to read; to write as well, if so said."""

    def __init__(self, card, write=False):
        self.card, self.writes = card, write

    def __enter__(self):
        self.card.system.write(f"{self.card.folder}/enable", "1")
        try:
            fd = os.open(self.card.system.path(f"{self.card.folder}/resource0"), os.O_RDWR if self.writes else os.O_RDONLY)
            try:
                self.map = mmap.mmap(fd, BAR0_SIZE, mmap.MAP_SHARED, mmap.PROT_READ | self.writes * mmap.PROT_WRITE)
            finally:
                os.close(fd)
        except OSError:
            self.card.system.write(f"{self.card.folder}/enable", "0")
            raise
        self.words = memoryview(self.map).cast("I")
        return self

    def __exit__(self, *unused):
        self.words.release()
        self.map.close()
        self.card.system.write(f"{self.card.folder}/enable", "0")

    def read(self, offset):
        return self.words[offset // 4]

    def write(self, offset, value):
        self.words[offset // 4] = value


def read_table(registers):
    return {f"0x{at + 4 * i:06x}": registers.read(at + 4 * i) for _, at, nr in TABLE for i in range(nr)}


def name_of(offset):
    for name, at, nr in TABLE:
        if at <= offset < at + 4 * nr:
            return name if nr == 1 else f"{name}[{(offset - at) // 4}]"
    return "?"


def devices(values):
    """The engines of the device table, in its order: (engines, words that are codes)."""
    engines, e, codes = [], {}, 0
    for i in range(64):
        word = values[f"0x{0x022700 + 4 * i:06x}"]
        codes += code(word) is not None
        if code(word) is not None:
            continue
        kind = word & 3
        if kind == 1:
            e.update(base=word & 0xfff000, inst=word >> 26 & 0xf)
            if word & 4:
                e["fault"] = word >> 3 & 0x7f
        elif kind == 2:
            for bit, name, shift, mask in ((4, "reset", 9, 0x1f), (8, "intr", 15, 0x1f), (16, "runlist", 21, 0xf),
                                           (32, "engine", 26, 0xf)):
                if word & bit:
                    e[name] = word >> shift & mask
        elif kind == 3:
            e["type"] = word >> 2 & 0x1fffffff
        if not word & 1 << 31:
            if e:
                engines.append(e)
            e = {}
    return engines, codes


def decode(values):
    """The board as far as these registers tell it; a part that answered a code is null."""
    def get(offset):
        value = values.get(f"0x{offset:06x}")
        return None if value is None or code(value) is not None else value

    def falcon(offset):
        caps = get(offset)
        return None if not caps else {"imem": (caps & 0x1ff) * 256, "dmem": (caps >> 9 & 0x1ff) * 256}

    boot = get(BOOT_0)
    controllers = [get(0x11020c + 0x1000 * i) for i in range(16)]
    off = get(0x022554) or 0
    return {
        "boot0": boot, "chip": boot >> 20 & 0x1ff, "strap": get(0x101000),
        "counts": dict(zip(("gpcs", "tpcs_per_gpc", "fbps", "fbpas", "unk40", "ces", "heads"),
                           (get(0x022430 + 4 * i) for i in range(7)))),
        "disabled": {"engines": get(0x022500), "gpcs": get(0x022504), "tpcs": [get(0x022508 + 4 * i) for i in range(5)],
                     "fbps": get(0x022548), "fbpas": off},
        "memory_mib": [c for i, c in enumerate(controllers) if c and not off & 1 << i],
        "engines": devices(values)[0], "pbdma_runlists": [get(0x002390 + 4 * i) for i in range(3)],
        "tpcs": [None if t is None else t & 0x1f for t in (get(0x502608 + 0x8000 * i) for i in range(5))],
        "fecs": falcon(0x409108), "gpccs": falcon(0x502108),
    }


def judge(values):
    """The outcome of the stage for these registers."""
    boot = values["0x000000"]
    if boot == 0xffffffff:
        return failed("the bus is dead: registers read all ones",
                      "is the card powered (auxiliary connectors), seated and cold enough? Turn the machine off and on; a reboot "
                      "does not bring such a card back")
    if code(boot):
        return failed(f"PMC_BOOT_0 does not answer (0x{boot:08x}: {code(boot)})", "turn the machine off and on")
    chip = boot >> 20 & 0x1ff
    if chip not in CHIPS:
        return failed(f"chipset 0x{chip:03x} is no GK110 (0x0f0) or GK110B (0x0f1)", "docs/supported.md has the boards")
    board, codes = decode(values), {}
    for offset, value in values.items():
        if code(value) is not None:
            codes.setdefault(f"0x{value:08x}: {code(value)}", []).append(name_of(int(offset, 16)))
    posted = bool(values["0x02240c"] & 2) and code(values["0x02240c"]) is None
    notes = [f"{CHIPS[chip]}, boot id 0x{boot:08x}; " + ("POSTed" if posted else "not POSTed: kvgpu runs its boot scripts")]
    notes += [f"{text}: {len(names)} registers, the first one {names[0]}" for text, names in sorted(codes.items())]
    if not devices(values)[1] and not any(e.get("type") == 0 for e in board["engines"]):
        return failed("the device table names no graphics engine", "please report the registers in the JSON file",
                      {"board": board, "registers": values}, notes)
    return passed({"posted": posted, "board": board, "registers": values}, notes)


def stage(run):
    if run.card.driver():
        return skipped(f"{run.card.driver()} holds the card", "unload it, and run this again")
    try:
        with Registers(run.card) as registers:
            return judge(read_table(registers))
    except OSError as e:
        return skipped(f"the kernel does not let resource0 be mapped: {e}",
                       "Secure Boot's lockdown forbids it; the other stages go on without it")
