#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: tests walls.py on a made-up tree, and on that tree with one change at a time."""
import pathlib
import sys
import tempfile

import walls

TREE = {
    "mdev/face.c": '#include "mdev/machine/machine.h"\n#include "mdev/vgpu.h"\nint face_open(int v)\n{\n\treturn machine_open(v);\n}\n',
    "mdev/zap.c": '#include "mdev/vgpu.h"\nvoid face_zap(int v)\n{\n\ttrace(v);\t/* and not face_open() */\n}\n',
    "mdev/machine/machine.h": '#include "mdev/vgpu.h"\nint machine_open(int v);\n',
    "mdev/machine/machine.c": '#include "mdev/machine/internal.h"\nint machine_open(int v)\n{\n\treturn machine_ops.open(v);\n}\n',
    "mdev/machine/window.c": '#include "mdev/machine/internal.h"\nstatic int open(int v)\n{\n\tface_zap(v);\n\treturn v;\n}\n'
                             "const struct ops machine_ops = {\n\t.open = open,\n};\n",
    "hw/hw.c": '#include "hw/hw.h"\nint hw_read(int r)\n{\n\treturn r;\n}\n',
}
results = []


def make(top, changes):
    for name, text in {**TREE, **changes}.items():
        path = pathlib.Path(top) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def expect(text, changes, *wanted):
    """One test: with these changes to the tree, each complaint contains one of @wanted; without
    @wanted there is none."""
    with tempfile.TemporaryDirectory() as top:
        make(top, changes)
        wrong = walls.check(pathlib.Path(top))
    results.append(bool(wrong) == bool(wanted) and all(any(w in line for line in wrong) for w in wanted))
    if not results[-1]:
        print("".join(f"# {w}\n" for w in wrong), end="")
    print(f"{'ok' if results[-1] else 'not ok'} {len(results)} - {text}")


def include(file, *what):
    return {file: "".join(f'#include "{w}"\n' for w in what) + TREE[file]}


def ring(n):
    """Return @n files of mdev/machine, each of which calls the next, and the last the first."""
    return {f"mdev/machine/ring{i}.c": f"int ring_{i}(int v)\n{{\n\treturn ring_{(i + 1) % n}(v);\n}}\n" for i in range(n)}


def main():
    expect("a tree with its walls up", {})
    expect("the face sees the machine's state", include("mdev/face.c", "mdev/machine/internal.h"), "mdev/face.c: includes mdev/machine/internal.h")
    expect("the machine sees the face's inside", include("mdev/machine/window.c", "mdev/internal.h"), "mdev/machine/window.c: includes mdev/internal.h")
    expect("the face sees the machine's state by another way", {**include("mdev/face.c", "machine/internal.h"), "mdev/machine/internal.h": ""},
           "mdev/face.c: includes mdev/machine/internal.h")
    expect("and by one more", {**include("hw/hw.c", "../mdev/vgpu.h"), "mdev/vgpu.h": ""}, "hw/hw.c: includes mdev/vgpu.h")
    expect("what they share", include("mdev/machine/window.c", "mdev/trace.h", "mdev/compat.h", "mdev/machine/machine.h"))
    expect("hw sees mdev", include("hw/hw.c", "mdev/vgpu.h"), "hw/hw.c: includes mdev/vgpu.h")
    expect("two files of the face call each other",
           {"mdev/zap.c": "void face_zap(int v)\n{\n\tface_open(v);\n}\n"}, "mdev/: 2 files", "mdev/zap.c calls mdev/face.c (face_open)")
    expect("a circle of the face that goes by the machine, through a table of functions",
           {"mdev/zap.c": "void face_zap(int v)\n{\n\tmachine_open(v);\n}\n"}, "mdev/: 1 files", "mdev/zap.c calls mdev/machine/machine.c (machine_open)")
    expect("a circle of five files of the machine", ring(5))
    expect("a circle of six files of the machine", ring(6), "mdev/machine/: 6 files in circles of calls, 5 at most")
    expect("a circle that only comments and strings close",
           {"mdev/zap.c": "void face_zap(int v)\n{\n\tprint(\"face_open\", '\"', v);\t// \" face_open\n}\n"})
    expect("a static function that is called as another file's",
           {"mdev/zap.c": "static int face_open(int v)\n{\n\treturn v;\n}\nvoid face_zap(int v)\n{\n\tface_open(v);\n}\n"})
    expect("a circle in hw", {"hw/a.c": "int hw_a(int v)\n{\n\treturn hw_b(v);\n}\n", "hw/b.c": "int hw_b(int v)\n{\n\treturn hw_a(v);\n}\n"},
           "hw/: 2 files")
    expect("a circle by a function whose type has capital letters",
           {"hw/a.c": "CUresult hw_a(int v)\n{\n\treturn hw_b(v);\n}\n", "hw/b.c": "int hw_b(int v)\n{\n\treturn hw_a(v);\n}\n"}, "hw/: 2 files")
    wrong = walls.check(pathlib.Path(__file__).resolve().parents[2])
    results.append(not wrong)
    print("".join(f"# {w}\n" for w in wrong), end="")
    print(f"{'ok' if results[-1] else 'not ok'} {len(results)} - the module's walls are up")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
