# SPDX-License-Identifier: GPL-2.0-only
"""Checks that headers have include guards, and that those of the product's rooms compile alone."""
import re
import tempfile

from tree import Proofs, exceptions, unneeded

PRODUCT = ("include", "hw", "mdev", "mmio-trap", "gtt-shadow", "sched", "gpu-model", "cuda", "firmware", "tools", "remote")
# headers here have the names of the kernel's, and need no guard
STAND_INS = ("selftests/module/kbuild/",)
GUARD = re.compile(r"^#(?:ifndef (\w+_H_?)|if !defined\((\w+_H_?)\) \|\| defined\(TRACE_HEADER_MULTI_READ\))$", re.M)
# SETTINGS: (beginning of a path, flags of the compiler for such headers); the first that fits
# counts
USER = ("-I.", "-Iinclude", "-Iinclude/user")
KERNEL = ("-I.", "-I{harness}", "-Iinclude", "-Iinclude/user", "-D_GNU_SOURCE", "-w", "-DKVGPU_PROBED", "-DKVGPU_HAVE_VFIO_FREE_DEVICE",
          "-DKVGPU_HAVE_VFIO_IOMMUFD")
SETTINGS = (("hw/", KERNEL), ("mdev/", KERNEL), ("gpu-model/", ("-Igpu-model", *USER)), ("remote/", ("-Iremote", "-I{remote}", *USER, "-D_GNU_SOURCE")),
            ("cuda/", USER + ("-I{remote}", "-I/usr/include/libdrm", "-D_GNU_SOURCE")), ("", USER))
# files on which the headers of a room depend besides those that they include: generated headers are
# made of them
GENERATOR = ("remote/api.py", "remote/frames.def", "cuda/api/entries.py", "cuda/api/api.def", "cuda/nvml/table.py", "cuda/nvml/nvml.def", "kvgpu.mk")
MADE_OF = {"hw": ("selftests/module/harness/kernel/kernel.h",), "mdev": ("selftests/module/harness/kernel/kernel.h",), "remote": GENERATOR, "cuda": GENERATOR}


def guards(tree):
    for file in tree.of(".h"):
        if file.startswith(STAND_INS):
            continue
        text = tree.text(file)
        found = GUARD.search(text)
        name = found and (found.group(1) or found.group(2))
        if not name:
            yield f"{file}: no include guard"
        elif not re.search(rf"^#\s*define {name}$", text, re.M):
            yield f"{file}: guard {name} is tested but not defined"
        elif file.startswith(("include/gk110/", "include/kvgpu/", "gpu-model/")) and not name.startswith("KVGPU_"):
            yield f"{file}: its guard is {name}, not KVGPU_..._H"
    by_name = {}
    for file in tree.of(".h", rooms=PRODUCT):
        found = GUARD.search(tree.text(file))
        if found:
            other = by_name.setdefault(found.group(1) or found.group(2), file)
            if other != file:
                yield f"{file}: has the guard of {other}"


def settings(file):
    return next(flags for start, flags in SETTINGS if file.startswith(start))


def folders(flags):
    return tuple(f[2:].rstrip("/").replace(".", "", 1) if f == "-I." else f[2:] for f in flags if f.startswith("-I"))


def alone(tree):
    made = tree.run("make", "-s", "harness-headers")
    harness = tree.run("make", "-s", "print-harness-headers").stdout.strip()
    if made.returncode or not harness:
        yield f"make harness-headers: {made.stderr.strip()}"
        return
    listed = exceptions("alone.list")
    excepted = {words[0] for words, _ in listed}
    proofs = Proofs(tree, "alone", tree.run("gcc", "--version").stdout, SETTINGS)
    with tempfile.TemporaryDirectory() as made_of_api:
        if "remote/api.py" in tree.known:
            tree.run("remote/api.py", ".", made_of_api)
            tree.run("cuda/nvml/table.py", made_of_api)

        def look(file):
            flags = [f.format(harness=harness, remote=made_of_api) for f in settings(file)]
            said = tree.run("gcc", "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", *flags, "-x", "c", file)
            if said.returncode:
                error = next((line for line in said.stderr.splitlines() if "error" in line), said.stderr.strip())
                yield f"{file}: does not compile alone: {error}"

        def needs(file):
            more = MADE_OF.get(file.split("/")[0], ())
            return sorted({f for start in (file, *more) if start in tree.known for f in tree.closure(start, folders(settings(file)))})

        yield from proofs.each([f for f in tree.of(".h", rooms=PRODUCT) if f not in excepted], needs, look)
    yield from unneeded("alone.list", listed, {(f,) for f in tree.known})
