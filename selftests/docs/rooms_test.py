#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: rooms.py on this tree's table with made-up sources, and what it says when the two disagree."""
import pathlib
import sys
import tempfile

import rooms

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {
    "include/gk110/unit.h": "", "mmio-trap/trap.h": "#include <gk110/unit.h>\n", "mdev/vgpu.h": '#include "hw/hw.h"\n',
    "mdev/machine/machine.h": '#include "mdev/vgpu.h"\n', "mdev/driver.c": '#include "mdev/machine/machine.h"\n#include <gk110/unit.h>\n',
    "mdev/machine/command.c": '#include "mmio-trap/trap.h"\n', "hw/hw.h": "#include <linux/pci.h>\n#include <gk110/unit.h>\n",
    "mmio-trap/table.c": '#include "mmio-trap/trap.h"\n', "gpu-model/gr/unit.c": "#include <gk110/unit.h>\n", "gpu-model/gr/gr.h": "",
    "selftests/unit/a_test.c": '#include "gpu-model/gr/gr.h"\n',
}
DRAWN = [("gpu-model", "include", False), ("hw", "include", False), ("mdev/machine", "hw", False), ("mdev/machine", "mmio-trap", False),
         ("mmio-trap", "include", False), ("mdev", "mdev/machine", True)]
results = []


def result(good, text):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {text}")


def looked(changes):
    """what is drawn, and what is wrong"""
    with tempfile.TemporaryDirectory() as top:
        for name, text in {**SOURCES, **changes}.items():
            path = pathlib.Path(top) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        arrows = rooms.includes(pathlib.Path(top))
    return rooms.drawn(arrows), list(rooms.check(TABLE, arrows))


TABLE = rooms.table(ROOT)
arrows, wrong = looked({})
result(arrows == DRAWN and not wrong, "each room's nearest ones, a pair with two heads, none of selftests/")
for what, changes, wanted in (
    ("the model includes the module", {"gpu-model/gr/unit.c": '#include "hw/hw.h"\n'}, "gpu-model/ includes headers of hw/"),
    ("a pure room includes another one", {"mmio-trap/table.c": '#include "hw/hw.h"\n'}, "mmio-trap/ includes headers of hw/"),
    ("include/ includes a room, by its own folder", {"include/gk110/unit.h": '#include "../../hw/hw.h"\n'}, "include/ includes headers of hw/"),
):
    wrong = looked(changes)[1]
    result(any(wanted in line for line in wrong), f"{what}: it is said")
result(any("no place" in line for line in rooms.check({**TABLE, "attic": ("things", "")}, set())), "a room without a place: it is said")
result(any("lacks hw/" in line for line in rooms.check({r: v for r, v in TABLE.items() if r != "hw"}, set())), "a room that the table lacks: it is said")
result(any("'what it likes'" in line for line in rooms.check({**TABLE, "hw": ("", "what it likes")}, set())), "a permission that means nothing: it is said")
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)
