# SPDX-License-Identifier: GPL-2.0-only
"""Checks rooms, the top folders of sources: that they include only what the table of docs/design.md
allows; that kvgpu.ko is made of all sources of its rooms; that the pure rooms call no function of
others but those listed here."""
import pathlib
import re
import sys
import tempfile

from tree import Proofs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import rooms    # noqa: E402  selftests/tooling/docs/rooms.py, which draws the same table

HARNESS = "selftests/module/harness"
MODULE = ("hw", "mmio-trap", "gtt-shadow", "sched", "mdev")
LOOKED_IN = ("", "include", "include/user", "remote")
# functions that a pure room may call without defining them
MEM = r"mem(?:cpy|set|cmp|move)"
# include/user calls abort() for a broken list and for a division by 0
PURE = {"mmio-trap": MEM, "gtt-shadow": MEM + "|abort", "sched": MEM + "|strn?cmp|strlen|abort"}
PURE_FLAGS = ("-std=gnu11", "-O1", "-I.", "-Iinclude", "-Iinclude/user", "-fno-stack-protector")


def check(tree):
    table = rooms.table(tree.root)
    for room in rooms.PLACES:
        may = rooms.allowed(table, room)
        for file in tree.of(".c", ".h", rooms=(room,)):
            if rooms.room_of(file) != room:
                continue
            for to in tree.included(file, LOOKED_IN):
                other = rooms.room_of(to)
                if other not in (room, None) and other not in may:
                    yield f"{file}: includes {to}, and docs/design.md's table does not allow {room}/ that"
    yield from remote(tree)
    yield from harness(tree)
    yield from cuda(tree)
    yield from model(tree)


def harness(tree):
    """The harness reaches the module as a user and the chip do, so that it can judge another module.
    inside.c alone reads the module's state, for the frame; topics/ ask nothing of it."""
    for file in tree.of(".c", ".h", rooms=(HARNESS,)):
        for to in tree.included(file, LOOKED_IN):
            if to.split("/")[0] in MODULE and file != f"{HARNESS}/inside.c":
                yield f"{file}: includes {to}; of the harness, inside.c alone reads the module's state"
            elif to == f"{HARNESS}/inside.h" and file.startswith(f"{HARNESS}/topics/"):
                yield f"{file}: includes {to}; topics/ reaches the module by world.h, admin.h and the chip alone"


def model(tree):
    """The README of a unit, a folder of gpu-model/, says after "May include" which headers of gk110/
    the unit includes; `gk110/` alone stands for all. The unit must include no others."""
    units = {}
    for file in tree.of(".c", ".h", ".inc", rooms=("gpu-model",)):
        units.setdefault(file.rpartition("/")[0], []).append(file)
    units.pop("gpu-model", None)
    for unit, files in sorted(units.items()):
        readme = unit + "/README.md"
        said = re.search(r"May\s+include,?\s(.*?)(?:;|\.\s)", tree.text(readme), re.S) if readme in tree.known else None
        if not said:
            yield f"{readme}: does not say what the unit may include (May include ...)"
            continue
        lists = re.findall(r"`gk110/(?:\{?([\w,]+)\}?\.h)?`", said.group(1))
        may = {f"include/gk110/{name}.h" for names in lists for name in names.split(",")}
        for file in files:
            for to in tree.included(file, ("include",)):
                if "" not in lists and to.startswith("include/gk110/") and to not in may:
                    yield f"{file}: includes {to}, and {readme} does not allow that"


def remote_table(tree):
    """Return {folder of remote/: folders that it may include}, from the table of remote/README.md."""
    rows = re.findall(r"^\| `(\w+)/` \|.*\| *([^|]*?) *\|$", tree.text("remote/README.md"), re.M)
    return {folder: set(re.findall(r"`(\w+)/`", may)) for folder, may in rows}


def remote(tree):
    table = remote_table(tree)
    for file in tree.of(".c", ".h", rooms=("remote",)):
        folder = file.split("/")[1]
        if folder not in table:
            yield f"{file}: the table of remote/README.md does not say what {folder}/ may include"
            continue
        for to in tree.included(file, LOOKED_IN):
            if to.startswith("remote/") and to.split("/")[1] not in {folder} | table[folder]:
                yield f"{file}: includes {to}, which remote/{folder}/ is not to know"
            elif to.startswith("cuda/") and to.rpartition("/")[0] != "cuda/api" and to != "cuda/api/export/export.h":
                yield f"{file}: includes {to}; of cuda/, remote/ knows the headers of api/ and api/export/export.h only"


def cuda(tree):
    """The table of cuda/README.md says which folders or files a folder of cuda/ may include of the
    others, and of include/gk110/."""
    rows = re.findall(r"^\| `([\w/]+)/` \|.*\| *([^|]*?) *\|$", tree.text("cuda/README.md"), re.M)
    table = {folder: re.findall(r"`([\w/.]+)`", may) for folder, may in rows}
    for file in tree.of(".c", ".h", rooms=("cuda",)):
        folder = file.rpartition("/")[0].removeprefix("cuda/")
        if folder not in table:
            yield f"{file}: the table of cuda/README.md does not say what {folder}/ may include"
            continue
        may = tuple(("include/" if name.startswith("gk110/") else "cuda/") + name for name in table[folder])
        for to in tree.included(file, LOOKED_IN):
            ours = to.rpartition("/")[0] == f"cuda/{folder}" or not to.startswith(("cuda/", "include/"))
            if not ours and not any(to == name or (name.endswith("/") and to.startswith(name)) for name in may):
                yield f"{file}: includes {to}, which cuda/{folder}/ is not to know"


def kbuild(tree):
    text = "\n".join(line for line in tree.text("Kbuild").split("\n") if not line.startswith("#"))
    made = set(re.findall(rf"(?<![\w/-])((?:{'|'.join(MODULE)})/(?:[a-z]+/)?[a-z0-9_]+)\.o\b", text))
    sources = {file[:-2] for file in tree.of(".c", rooms=MODULE)}
    yield from (f"Kbuild: there is no source for {name}.o" for name in sorted(made - sources))
    yield from (f"Kbuild: {name}.o is missing" for name in sorted(sources - made))


def undefined(tree, sources):
    """Compile and link @sources; return (names that none of them defines, error message or None)."""
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for i, file in enumerate(sources):
            objects.append(f"{folder}/{i}.o")
            said = tree.run("gcc", *PURE_FLAGS, "-c", file, "-o", objects[-1])
            if said.returncode:
                return set(), f"{file}: does not compile in user space: {said.stderr.strip()}"
        said = tree.run("ld", "-r", "-o", f"{folder}/all.o", *objects)
        if said.returncode:
            return set(), said.stderr.strip()
        return set(re.findall(r"\bU (\S+)", tree.run("nm", "-u", f"{folder}/all.o").stdout)), None


def pure(tree):
    proofs = Proofs(tree, "pure", tree.run("gcc", "--version").stdout, PURE_FLAGS, PURE)

    def sources(room):
        return list(tree.of(".c", rooms=(room,)))

    def look(room):
        names, failed = undefined(tree, sources(room))
        if failed:
            yield failed
        for name in sorted(names):
            if not re.fullmatch(PURE[room], name):
                yield f"{room}/: wants {name} of others; a pure room has no more than its README says"

    yield from proofs.each([room for room in PURE if sources(room)],
                           lambda room: sorted({f for s in sources(room) for f in tree.closure(s, ("", "include", "include/user"))}), look)
