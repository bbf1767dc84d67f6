#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""diagrams.py FOLDER: draws FOLDER/data-path.svg, card-states.svg, vgpu-states.svg and remote-arena.svg of the tables below. Places are
(left, top, width, height); an arrow is its kind, its points and its heads (">", "<>" or none); words are at (x, y) or centred there."""
import pathlib
import sys

import svg

# fill, stroke and how thick it is
BOXES = {"plain": ("#f6f8fa", svg.FAINT, 1), "ours": ("#ddf4ff", "#0550ae", 1.5), "card": ("#fff8c5", "#7d4e00", 1.5), "shared": ("#dafbe1", "#1a7f37", 1.5)}
# colour, how thick, dashes
ARROWS = {"trap": ("#cf222e", 2.5, "6 4"), "map": ("#1a7f37", 3.5, ""), "call": ("#8250df", 2.5, ""), "host": ("#24292f", 2, ""), "to": ("#24292f", 1.5, "")}

DATA_PATH = {
    "title": "Data paths of kvgpu: two guests share one card through kvgpu.ko and map their parts of it; a VM of the same host without a GPU uses"
             " a guest's vGPU by shared memory; a program on another machine uses a GPU with NVIDIA's driver by TLS; kvgpu-run gives a program"
             " the GPUs of a cluster",
    "size": (1000, 664),
    "frames": {"one host with a Tesla K20m": (18, 34, 614, 578), "a machine without a GPU": (660, 34, 322, 128),
               "another, with its GPU": (660, 206, 322, 162), "a cluster: kvgpu-run": (660, 404, 322, 208)},
    "boxes": [
        ((36, 52, 174, 150), "plain", ["*guest A", "programs: Mesa, CUDA", "", "its distribution's", "nouveau, unmodified"]),
        ((226, 52, 196, 150), "plain", ["*lab: without a GPU", "a CUDA program,", "unchanged"]),
        ((438, 52, 174, 150), "plain", ["*guest B", "its distribution's", "nouveau, unmodified"]),
        ((236, 136, 172, 50), "ours", ["kvgpu's libcuda.so.1", "sends the calls"]),
        ((448, 136, 138, 50), "ours", ["*kvgpu-remoted", "makes them here"]),
        ((84, 240, 130, 32), "plain", ["QEMU, vfio-pci"]),
        ((454, 240, 130, 32), "plain", ["QEMU, vfio-pci"]),
        ((84, 340, 500, 112), "ours", ["*kvgpu.ko", "registers: a table line says what each access may do",
                                       "page tables, instance blocks, runlists: copies of the host's",
                                       "time: slices by weight, caps, preempt, watchdog", "errors: one guest's channel dies, the others go on"]),
        ((36, 540, 576, 56), "card", ["*the card", "obeys physical addresses that the host wrote, no others"]),
        ((676, 50, 290, 36), "plain", ["a CUDA program, unchanged"]),
        ((676, 108, 290, 36), "ours", ["kvgpu's libcuda.so.1: sends the calls"]),
        ((676, 222, 290, 36), "ours", ["kvgpu-remoted: makes the calls here"]),
        ((676, 272, 290, 36), "plain", ["NVIDIA's driver and libcuda.so.1"]),
        ((676, 322, 290, 32), "card", ["its GPU: Kepler or newer"]),
        ((676, 420, 290, 54), "plain", ["one CUDA program, unchanged", "kvgpu's libcuda.so.1: many devices"]),
        *(((676 + 101 * i, 516, 88, 32), "ours", ["proxy"]) for i in range(3)),
        *(((676 + 101 * i, 566, 88, 32), "card", [f"GPU {n}"]) for i, n in enumerate("01n")),
    ],
    "arrows": [
        *(("trap", [(x, 202), (x, 240)], "") for x in (150, 519)), *(("trap", [(x, 272), (x, 338)], ">") for x in (150, 519)),
        *(("map", [(x, 202), (x, 538)], ">") for x in (60, 598)), ("host", [(334, 452), (334, 538)], ">"),
        ("call", [(408, 161), (446, 161)], ">"), ("call", [(821, 86), (821, 108)], ""), ("call", [(900, 144), (900, 220)], ">"),
        ("host", [(821, 258), (821, 272)], ""), ("host", [(821, 308), (821, 322)], ""),
        *(("call", [(720 + 101 * i, 474), (720 + 101 * i, 514)], ">") for i in range(3)),
        *(("host", [(720 + 101 * i, 548), (720 + 101 * i, 566)], "") for i in range(3)),
    ],
    "words": [((324, 222), "call", "memory of the host that both map, or vsock", "middle"), ((162, 312), "trap", "registers (BAR0): trap", "start"),
              ((72, 504), "map", "mapped", "start"), ((588, 504), "map", "mapped", "end"), ((346, 500), "to", "what the host wrote", "start"),
              ((910, 188), "call", "by TLS", "start"), ((727, 498), "call", "MPI: srun", "start"), ((829, 498), "call", "or mpirun", "start")],
    "legend": [(24, "trap", "traps, is checked"), (202, "map", "does not trap: video memory (BAR1, BAR3), doorbells"), (626, "call", "calls of CUDA"),
               (790, "ours", "of kvgpu")],
}

CARD_STATES = {
    "title": "States of a card: shared by kvgpu, whole for one guest by vfio-pci, or the host's by nouveau; kvgpu-card share, whole and host lead"
             " from each to each; a shared card that does not answer is cut off until it is bound anew",
    "size": (1000, 400),
    "boxes": [
        ((30, 140, 220, 100), "plain", ["*host", "driver: nouveau", "the host's programs use it,", "kvgpu-remoted is one"]),
        ((390, 140, 220, 100), "ours", ["*shared", "driver: kvgpu", "guests have vGPUs of it"]),
        ((750, 140, 220, 100), "plain", ["*whole", "driver: vfio-pci", "one guest has all of it"]),
        ((390, 20, 220, 50), "card", ["*cut off", "nothing runs on it"]),
    ],
    "arrows": [("to", [(250, 170), (388, 170)], ">"), ("to", [(390, 214), (252, 214)], ">"), ("to", [(610, 170), (748, 170)], ">"),
               ("to", [(750, 214), (612, 214)], ">"), ("to", [(120, 240), (120, 276), (880, 276), (880, 242)], ">"),
               ("to", [(920, 240), (920, 316), (80, 316), (80, 242)], ">"), ("to", [(470, 140), (470, 72)], ">"), ("to", [(530, 70), (530, 138)], ">")],
    "words": [((320, 162), "to", "kvgpu-card share", "middle"), ((320, 232), "to", "kvgpu-card host", "middle"),
              ((680, 162), "to", "kvgpu-card whole", "middle"), ((680, 232), "to", "kvgpu-card share", "middle"),
              ((500, 270), "to", "kvgpu-card whole", "middle"), ((500, 310), "to", "kvgpu-card host", "middle"),
              ((460, 110), "to", "it does not answer, or was reset", "end"), ((540, 110), "to", "unbind and bind it, as below", "start"),
              ((500, 352), "faint", "A command changes this card alone, at once and for each boot. While somebody uses the card it refuses, and says who.", "middle"),
              ((500, 376), "faint", "If none was chosen the kernel decides: kvgpu takes the boards that it knows, nouveau the others.", "middle")],
    "legend": [],
}

VGPU_STATES = {
    "title": "States of a vGPU: idle, waits, runs; throttled when its cap is used up; parked when it makes no progress; suspended after eight strikes",
    "size": (1000, 560),
    "boxes": [
        ((40, 30, 200, 56), "plain", ["*stopped", "defined, but not there"]),
        ((40, 190, 200, 84), "ours", ["*idle", "no work for the GPU", "STATE: idle"]),
        ((400, 190, 200, 84), "ours", ["*waits", "has work, others run", "STATE: run"]),
        ((760, 190, 200, 84), "shared", ["*runs", "it has the chip", "STATE: run"]),
        ((320, 390, 200, 84), "ours", ["*throttled", "by cap, or by policy", "STATE: run"]),
        ((690, 390, 200, 84), "ours", ["*parked", "does not compete", "STATE: run"]),
        ((40, 390, 200, 84), "card", ["*suspended", "its channels are ended", "STATE: stop"]),
    ],
    "arrows": [("to", [(120, 86), (120, 188)], ">"), ("to", [(150, 190), (150, 88)], ">"), ("to", [(240, 212), (398, 212)], ">"),
               ("to", [(600, 212), (758, 212)], ">"), ("to", [(760, 250), (602, 250)], ">"), ("to", [(860, 190), (860, 128), (190, 128), (190, 188)], ">"),
               ("to", [(420, 274), (420, 388)], ">"), ("to", [(480, 390), (480, 276)], ">"), ("to", [(800, 274), (800, 388)], ">"),
               ("to", [(690, 430), (580, 430), (580, 276)], ">"), ("to", [(930, 274), (930, 520), (140, 520), (140, 476)], ">"),
               ("to", [(100, 390), (100, 276)], ">")],
    "words": [((112, 116), "to", "mdevctl start", "end"), ((158, 116), "to", "mdevctl stop", "start"), ((319, 204), "to", "work comes", "middle"),
              ((679, 204), "to", "its turn comes", "middle"), ((679, 268), "to", "its turn ends", "middle"),
              ((525, 120), "to", "its work has ended, or its VMM", "middle"), ((412, 324), "to", "its part is", "end"), ((412, 340), "to", "used up", "end"),
              ((490, 352), "to", "some is back", "start"), ((812, 330), "to", "no progress", "start"),
              ((634, 424), "to", "a pause", "middle"), ((634, 450), "to", "is over", "middle"), ((535, 514), "to", "eighth strike: its work has hung the GPU", "middle"),
              ((110, 316), "to", "a reset by the guest, a new", "start"), ((110, 332), "to", "driver or open, 0 in", "start"), ((110, 348), "to", "suspended", "start"),
              ((500, 548), "faint", "STATE is a column of kvgpu-top. Whose turn comes: who has had least time by its share.", "middle")],
    "legend": [],
}

REMOTE_ARENA = {
    "title": "Remoting over an aperture: the client's library writes calls as frames into memory that both sides map, a server process makes"
             " them by a real libcuda.so.1 and answers there; data of copies lies in the arena, where the GPU reads it",
    "size": (1000, 506),
    "frames": {"the client": (18, 40, 262, 356), "aperture: memory that both map": (340, 40, 300, 356), "a server process, this client's": (700, 40, 282, 356)},
    "boxes": [
        ((36, 60, 226, 86), "plain", ["*the program", "unchanged; its threads", "call CUDA"]),
        ((36, 186, 226, 86), "ours", ["*kvgpu's libcuda.so.1", "answers what it knows,", "else sends a frame"]),
        ((36, 318, 226, 60), "plain", ["*memory of the program", "pageable"]),
        ((358, 60, 264, 46), "shared", ["frames: calls, in their order"]),
        ((358, 126, 264, 46), "shared", ["completion slots: answers"]),
        ((358, 192, 264, 46), "shared", ["long answers, notifications"]),
        ((358, 294, 264, 84), "shared", ["*arena", "data of copies;", "pinned memory lies here"]),
        ((718, 60, 246, 86), "ours", ["*kvgpu-remoted's process", "one thread makes the calls,", "under a filter"]),
        ((718, 186, 246, 86), "plain", ["*a real libcuda.so.1", "NVIDIA's, or kvgpu-cuda's"]),
        ((718, 318, 246, 60), "card", ["*the GPU"]),
    ],
    "arrows": [("call", [(149, 146), (149, 184)], ">"), ("call", [(262, 206), (310, 206), (310, 83), (356, 83)], ">"), ("call", [(622, 83), (716, 83)], ">"),
               ("call", [(718, 120), (670, 120), (670, 149), (624, 149)], ">"), ("call", [(670, 149), (670, 215), (624, 215)], ">"),
               ("call", [(358, 149), (326, 149), (326, 230), (264, 230)], ">"), ("call", [(358, 215), (326, 215)], ""),
               ("call", [(841, 146), (841, 184)], ">"), ("call", [(841, 272), (841, 316)], ">"), ("map", [(264, 348), (356, 348)], "<>"),
               ("map", [(624, 348), (716, 348)], "<>")],
    "words": [((310, 338), "map", "copied", "middle"), ((670, 338), "map", "DMA", "middle"),
              ((500, 424), "faint", "Where the server's library takes the arena as pinned memory the GPU reads and writes it by itself.", "middle"),
              ((500, 446), "faint", "Over a socket each side has a copy of the arena: a piece is sent ahead of the frame or answer that names it.", "middle")],
    "legend": [(36, "call", "calls and answers"), (214, "map", "data"), (320, "ours", "of kvgpu"), (430, "shared", "mapped by both")],
}

PICTURES = {"data-path.svg": DATA_PATH, "card-states.svg": CARD_STATES, "vgpu-states.svg": VGPU_STATES, "remote-arena.svg": REMOTE_ARENA}


def draw_box(picture, place, kind, lines):
    """of one line: centred in its height; else below one another; * begins a bold one"""
    x, y, width, height = place
    fill, stroke, thick = BOXES[kind]
    picture.box(x, y, width, height, fill, stroke, 6, thick)
    for i, line in enumerate(lines):
        bold, size = line.startswith("*"), 13 if line.startswith("*") else 12
        words, at = line.lstrip("*"), y + height / 2 + 5 if len(lines) == 1 else y + 21 + 18 * i
        if svg.length(words, size, bold) > width - 12 or at > y + height - 5:
            raise ValueError(f"{picture.title}: a box is too small for: {words}")
        if line:
            picture.text(x + 12 if width > 100 else x + width / 2, at, words, size, "start" if width > 100 else "middle", bold)


def draw_legend(picture, entries, y):
    for x, kind, words in entries:
        if kind in BOXES:
            fill, stroke, thick = BOXES[kind]
            picture.box(x, y - 11, 26, 15, fill, stroke, 3, thick)
        else:
            colour, thick, dashes = ARROWS[kind]
            picture.line([(x, y - 4), (x + 30, y - 4)], colour, thick, dashes)
        picture.text(x + 38, y, words, 12)


def draw(what):
    width, height = what["size"]
    picture = svg.Picture(width, height, what["title"])
    picture.box(1, 1, width - 2, height - 2, "#ffffff", "#8c959f", 10)
    for label, (x, y, w, h) in what.get("frames", {}).items():
        picture.box(x, y, w, h, "#ffffff", "#8c959f", 8, dashes="4 3")
        picture.text(x + 10, y - 8, label, 13, bold=True)
    for place, kind, lines in what["boxes"]:
        draw_box(picture, place, kind, lines)
    for kind, points, ends in what["arrows"]:
        colour, thick, dashes = ARROWS[kind]
        picture.line(points, colour, thick, dashes, ends)
    for (x, y), kind, words, anchor in what["words"]:
        colour = ARROWS[kind][0] if kind in ARROWS else svg.FAINT
        picture.text(x, y, words, 12, anchor, kind in ("trap", "map", "call"), colour)
    draw_legend(picture, what["legend"], height - 26)
    return str(picture)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, table in PICTURES.items():
        (pathlib.Path(sys.argv[1]) / name).write_text(draw(table))
