#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: tests each rule on a made-up tree without faults, and on that tree with one fault at a time.
comments_test.py has the faults of the rule "comments"; "checkpatch" runs a stand-in."""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import formatted
import run
import tree

ROOT = pathlib.Path(__file__).resolve().parents[3]
C = "// SPDX-License-Identifier: GPL-2.0-only\n"
SH = "#!/usr/bin/env bash\n# SPDX-License-Identifier: GPL-2.0-only\n"


def header(guard, text=""):
    return f"/* SPDX-License-Identifier: GPL-2.0-only */\n#ifndef {guard}\n#define {guard}\n{text}#endif\n"


TREE = {
    ".gitignore": "*.o\n", ".clang-format": (ROOT / ".clang-format").read_text(),
    "Kbuild": "kvgpu-y := hw/bar.o sched/turn.o\n",
    "Makefile": "# SPDX-License-Identifier: GPL-2.0-only\nharness-headers: ;\nprint-harness-headers: ; @echo include\n",
    "docs/design.md": "\n## Rooms\n\n" + "".join(re.findall(r"^\| .*\n", (ROOT / "docs/design.md").read_text(), re.M)),
    "docs/remote.md": "", "cuda/api/api.h": header("CUDA_API_H"), "cuda/api/types.h": header("CUDA_TYPES_H"),
    "cuda/api/text.h": header("CUDA_TEXT_H"), "cuda/api/README.md": "", "cuda/kepler/driver/README.md": "",
    "cuda/README.md": "| folder | what | may include |\n|---|---|---|\n| `api/` | | |\n| `kepler/driver/` | | `kepler/image/` |\n"
                      "| `kepler/image/` | | |\n| `kepler/device/` | | `kepler/image/`, `gk110/pmc.h` |\n",
    "remote/README.md": "| folder | what | may include |\n|---|---|---|\n| `wire/` | frames | |\n| `client/` | a library | `wire/` |\n",
    "remote/wire/README.md": "", "remote/wire/frame.h": header("KVGPU_REMOTE_FRAME_H"),
    "remote/client/README.md": "", "remote/client/call.c": C + '#include "wire/frame.h"\n',
    "hw/README.md": "", "hw/bar.c": C + '#include "hw/hw.h"\n/* see sched/turn.c */\nint hw_first(int hw)\n{\n\treturn hw_rd(hw, PMC_BOOT0);\n}\n',
    "hw/hw.h": header("KVGPU_HW_H", "int hw_rd(int hw, int reg);\n"),
    "sched/README.md": "", "sched/turn.c": C + "int vsched_turn(void)\n{\n\treturn 0;\n}\n",
    "include/README.md": "`gk110/`\n", "include/gk110/pmc.h": header("KVGPU_GK110_PMC_H", "#define PMC_BOOT0 0x1000\n"),
    "selftests/README.md": "", "selftests/tree-files.sh": (ROOT / "selftests/tree-files.sh").read_text(),
    "selftests/one.sh": SH + "one()\n{\n\techo 1\n}\ntwo() { echo 2; }\none\ntwo\n",
    **{f"docs/page{i}.md": "" for i in range(100)},
}
results = []


def make(top, changes):
    for name, text in {**TREE, **changes}.items():
        path = pathlib.Path(top) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (pathlib.Path(top) / "selftests/tree-files.sh").chmod(0o755)


def result(good, text, said=()):
    results.append(good)
    print("".join(f"# {line}\n" for line in said) if not good else "", end="")
    print(f"{'ok' if good else 'not ok'} {len(results)} - {text}")


def expect(rule, text, changes, *wanted):
    """One test: with these changes to the tree, each complaint of the rule contains one of @wanted,
    and each of @wanted is in one."""
    with tempfile.TemporaryDirectory() as top:
        make(top, changes)
        said = [line for line in run.RULES[rule][0](tree.Tree(top)) if "nothing needs" not in line]
    result(all(any(w in line for line in said) for w in wanted) and all(any(w in line for w in wanted) for line in said), f"{rule}: {text}", said)


def lines(count, more=()):
    return C + "void f(void)\n{\n" + "\tg();\n" * count + "".join(f"\t{line}\n" for line in more) + "}\n"


def switch(arms, length):
    """Return lines of a switch whose arms have this length."""
    return ["switch (i) {", *[line for i in range(arms) for line in (f"case {i}:", *["\tg();"] * (length - 1))], "}"]


def files():
    expect("files", "no licence", {"hw/a.c": "int a;\n"}, "hw/a.c: no SPDX line")
    expect("files", "a name that says nothing", {"hw/utils.c": C}, "hw/utils.c: a name")
    expect("readme", "a folder without; too long; a file of its table that is not there",
           {"hw/new/a.c": C, "sched/README.md": "\n" * 71, "hw/README.md": "| `bar.c`, `turn.c` | `old.c` |\n"},
           "hw/new: no README.md", "sched/README.md: longer than 70", "hw/README.md: its table has turn.c")
    static = C + "static int b(void)\n{\n\treturn 1;\n}\n"
    expect("prefixes", "another room's, two of one name", {"hw/a.c": static.replace("static int b", "int sched_a"), "hw/b.c": static, "hw/c.c": static},
           "hw/a.c:4: sched_a() begins with none of hw_, kvgpu_hw_", "hw/c.c:4: hw/b.c has a function b(), too")
    expect("functions", "61 lines", {"hw/a.c": lines(61), "hw/b.c": lines(60)}, "hw/a.c:4: f() has 61 lines")
    table = ["static const int t[] = {", *["\t0,"] * 80, "};"]
    expect("functions", "more than a switch or a table", {"hw/a.c": lines(10, switch(30, 3)), "hw/b.c": lines(11, switch(30, 3)),
           "hw/c.c": lines(0, switch(4, 21)), "hw/d.c": lines(10, table), "hw/e.c": lines(30, switch(10, 2) * 2)},
           "hw/b.c:4: f() has 103 lines", "hw/c.c:4: f() has 86 lines", "hw/e.c:4: f() has 74 lines")
    expect("columns", "code and a document, but no message and no table", {"hw/a.c": C + "\t\tint a = b" + " + c" * 19 + ";\n",
           "hw/b.c": C + '\tsay("' + "word " * 20 + '");\n', "docs/page1.md": "word " * 21, "docs/page2.md": "| " + "word " * 21 + "|",
            "docs/page3.md": "![" + "word " * 21 + "](a.svg)"},
           "hw/a.c:2: 102 columns", "docs/page1.md:1: 105 columns")


def headers():
    expect("guards", "none, another one's, another name, not the project's",
           {"hw/a.h": "/* SPDX-License-Identifier: GPL-2.0-only */\nint a;\n", "hw/b.h": "#ifndef A_H\n#define B_H\n#endif\n",
            "hw/internal.h": header("KVGPU_HW_H"), "include/gk110/pmc.h": header("PMC_H")},
           "hw/a.h: no include guard", "hw/b.h: guard A_H is tested but not defined", "has the guard of hw/hw.h", "its guard is PMC_H")
    expect("alone", "a type that is nowhere, also of a header that it includes", {"mdev/a.h": header("KVGPU_A_H", "u99 a;\n"),
           "hw/hw.h": header("KVGPU_HW_H", '#include "hw/low.h"\n'), "hw/low.h": header("KVGPU_LOW_H", "u99 a;\n")},
           "mdev/a.h: does not", "hw/hw.h: does not", "hw/low.h: does not")


def code(*body):
    return C + "void f(int hw)\n{\n" + "".join(f"\t{line}\n" for line in body) + "}\n"


def offsets():
    expect("offsets", "of an access, of a register, by another name",
           {"hw/a.c": code("hw_vram_wr32(&v->at, 0xb8, 1);"), "hw/b.c": code("int reg = 0x101000;"), "mdev/a.c": C + "#define STRAPS 0x00101000u\n",
            "sched/a.c": code('/* 0x101000 */ say("0x101000");', "hw &= 0xffff & 0x3ff;")},
           "hw/a.c:4: 0xb8: name it", "hw/b.c:4: 0x101000", "mdev/a.c:2")


def environment():
    expect("environment", "a variable, a tool of $PATH, a library; not where a program or a comment does it",
           {"cuda/kepler/driver/a.c": code('getenv("A");', 'secure_getenv("A");', "posix_spawnp(0);", "/* getenv( */ t.open(1);"),
            "remote/client/a.c": code('dlopen("a", 1);'), "remote/pmem/a.c": code('getenv("A");')},
           "cuda/kepler/driver/a.c:4: getenv", "cuda/kepler/driver/a.c:6: posix_spawnp", "remote/client/a.c:4: dlopen")


def refusals():
    expect("silent", "an error without a line", {
        "remote/client/a.c": code("if (hw == CUDA_ERROR_NOT_SUPPORTED)", "\tclient_say(hw);", "/* CUDA_ERROR_NOT_SUPPORTED */",
                                  *["g();"] * 4, "hw = CUDA_ERROR_NOT_SUPPORTED;"),
        "remote/server/a.c": code('fprintf(stderr, "");', "hw = CUDA_ERROR_NOT_SUPPORTED;", 'hw = REFUSE("a", "b");')},
           "remote/client/a.c:11: f() gives")


def rooms():
    expect("kbuild", "a source that nobody builds, one that is not there", {"hw/new.c": C, "Kbuild": TREE["Kbuild"] + "kvgpu-y += hw/old.o\n"},
           "hw/new.o is missing", "no source for hw/old.o")
    expect("layers", "of the module", {"hw/a.c": C + '#include "sched/sched.h"\n', "sched/sched.h": header("KVGPU_SCHED_H"),
           "include/gk110/ce.h": header("KVGPU_GK110_CE_H", '#include "hw/hw.h"\n')}, "hw/a.c: includes sched/sched.h", "includes hw/hw.h")
    expect("layers", "of remote/, and a folder without a row", {"remote/wire/a.c": C + '#include "../client/client.h"\n',
           "remote/client/client.h": header("C_H"), "remote/new/a.c": C},
           "remote/wire/a.c: includes remote/client/client.h", "remote/new/a.c: the table")
    expect("layers", "of what cuda/ has for our chips alone, from remote/",
           {"remote/client/a.c": C + "#include <cuda/api/api.h>\n#include <cuda/kepler/driver/a.h>\n", "cuda/kepler/driver/a.h": header("A_H")},
           "remote/client/a.c: includes cuda/kepler/driver/a.h; of cuda/, remote/ knows")
    inside = '#include "sched/sched.h"\n#include "selftests/module/harness/inside.h"\n'
    expect("layers", "of the module, from the harness",
           {"sched/sched.h": header("KVGPU_SCHED_H"), "selftests/module/harness/inside.h": header("KVGPU_INSIDE_H"),
            **{f"selftests/module/harness/{name}.c": C + inside for name in ("inside", "oracle", "topics/a")}},
           "selftests/module/harness/oracle.c: includes sched/sched.h", "selftests/module/harness/topics/a.c: includes sched/sched.h",
           "selftests/module/harness/topics/a.c: includes selftests/module/harness/inside.h; topics/ reaches")
    expect("layers", "of cuda/, and a folder without a row",
           {"cuda/kepler/image/a.c": C + '#include "../driver/a.h"\n', "cuda/kepler/driver/a.h": header("A_H"), "cuda/new/a.c": C,
            "cuda/kepler/device/a.c": C + "#include <gk110/fifo.h>\n#include <gk110/pmc.h>\n", "include/gk110/fifo.h": header("KVGPU_GK110_FIFO_H")},
           "cuda/kepler/image/a.c: includes cuda/kepler/driver/a.h", "cuda/kepler/device/a.c: includes include/gk110/fifo.h", "cuda/new/a.c: the table")
    ce = {"include/gk110/ce.h": header("KVGPU_GK110_CE_H"), "gpu-model/ce/a.c": C + "#include <gk110/ce.h>\n#include <gk110/pmc.h>\n"}
    expect("layers", "of a unit of the model", {**ce, "gpu-model/ce/README.md": "Pure. May\ninclude, beside what\n[../README.md](../README.md) "
           "allows all units, `../model.h` and\n`gk110/{ce,ram}.h`; uses `gk110/pmc.h` not.\n"},
           "gpu-model/ce/a.c: includes include/gk110/pmc.h, and gpu-model/ce/README.md")
    expect("layers", "of one whose README does not say", {**ce, "gpu-model/ce/README.md": "Uses libc only.\n"}, "gpu-model/ce/README.md: does not say")
    internal = {"mdev/internal.h": header("KVGPU_MDEV_INTERNAL_H"), "mdev/machine/internal.h": header("KVGPU_MACHINE_INTERNAL_H")}
    expect("walls", "both sides of mdev/, and hw", {**internal, "mdev/face.c": '#include "machine/internal.h"\n',
           "mdev/machine/pin.c": '#include "mdev/internal.h"\n', "hw/a.c": '#include "../mdev/internal.h"\n'},
           "mdev/face.c: includes mdev/machine/internal.h", "mdev/machine/pin.c: includes mdev/internal.h", "hw/a.c: includes mdev/internal.h")
    calls = "int face_{0}(int v)\n{{\n\treturn {1}(v);\n}}\n"
    expect("walls", "a circle of mdev/ by a table of functions of the machine",
           {"mdev/a.c": calls.format("a", "machine_go"), "mdev/machine/go.c": "int machine_go(int v)\n{\n\treturn ops.go(v);\n}\n",
            "mdev/machine/ops.c": "static int go(int v)\n{\n\treturn face_a(v);\n}\nconst struct ops ops = {\n\t.go = go,\n};\n"},
           "mdev/: 1 files", "mdev/a.c calls mdev/machine/go.c (machine_go)")
    expect("walls", "a circle by a function whose type has capital letters",
           {"hw/a.c": "CUresult hw_a(int v)\n{\n\treturn hw_b(v);\n}\n", "hw/b.c": "int hw_b(int v)\n{\n\treturn hw_a(v);\n}\n"}, "hw/: 2 files", "hw/a.c calls", "hw/b.c calls")
    ring = {f"mdev/machine/{i}.c": calls.format(i, f"face_{(i + 1) % 6}") for i in range(6)}
    expect("walls", "six files in a circle", ring, "mdev/machine/: 6 files in circles of calls, 5 at most", "calls mdev/machine/")
    new = {f"new/room/{i}.c": calls.format(i, f"face_{(i + 1) % 7}") for i in range(7)}
    expect("walls", "seven files in a circle, in a room that no table has", new, "new/room/: 7 files in circles of calls, 6 at most", "calls new/room/")
    expect("walls", "a large circle for which no README argues", {f.replace("new/room", "mmio-trap"): text for f, text in new.items()},
           "mmio-trap/README.md: does not argue for the circle of 7 files")
    name = "struct face_1 *face_0(int v)\n{\n\treturn 0;\n}\nint main(void)\n{\n\treturn 0;\n}\n"
    expect("walls", "no circle by names of structs, nor by two programs", {"hw/a.c": name, "hw/b.c": name.replace("face_0", "face_2").replace("face_1", "face_0"),
           "hw/c.c": "int face_1(void)\n{\n\treturn !face_2(0);\n}\n"})
    expect("pure", "a room that allocates", {"sched/a.c": C + "void *malloc(unsigned long n);\nint vsched_turn(void);\nvoid *sched_new(void)\n"
           "{\n\treturn vsched_turn() ? malloc(8) : 0;\n}\n"}, "sched/: wants malloc")


def texts():
    expect("cited", "in a comment, a document, a script", {"hw/a.c": C + "/* see sched/old.c, turn.c, tests/NAME.c, nvkm/core/client.c */\n",
           "docs/page1.md": "one\n`hw/old.h`\n", "selftests/one.sh": SH + "# as old.sh does\n"},
           "hw/a.c:2: there is no sched/old.c", "docs/page1.md:2: there is no hw/old.h", "selftests/one.sh:3: there is no old.sh")
    expect("cited", "a function that only a comment has, one of another file; not those of others, nor calls",
           {"hw/a.c": C + "/* hw_old() was here */\n", "docs/page1.md": "`hw_old()`\n`bar.c:hw_first` `hw/a.c:hw_first`\n",
            "docs/page2.md": "    hw_rd();\n`nvkm_runl_rc()` hw_first()\n"},
           "docs/page1.md:1: no source has hw_old()", "docs/page1.md:2: hw/a.c has no hw_first")
    rows = "| F1 | one |\n| F2 | two |\n"
    expect("marks", "two rows with one mark", {"docs/page1.md": rows + "\n| F2 | three |\n", "docs/page2.md": rows}, "docs/page1.md:4: line 2 is F2, too")
    expect("shell", "a brace beside the name, a keyword", {"selftests/one.sh": SH + "one() {\n\techo\n}\nfunction two\n{\n\techo\n}\ncat << 'END'\nsix() {\nEND\n"},
           "selftests/one.sh:3: the {", "selftests/one.sh:6: a function is written name()")
    pipe = "set -o pipefail\nlist | LC_ALL=C grep -F -xq one\n"
    expect("shell", "grep -q under pipefail", {"selftests/one.sh": SH + pipe}, "selftests/one.sh:4: grep -q in a pipe under pipefail")
    two = SH + "".join(f"# shellcheck source=selftests/{n}.sh\n. selftests/{n}.sh\n" for n in ("two", "three"))
    expect("shell", "two sourced files with one function", {"selftests/one.sh": two, "selftests/two.sh": SH + "same() { :; }\n",
           "selftests/three.sh": SH + "same()\n{\n\techo\n}\n"},
           "selftests/one.sh:1: selftests/three.sh and selftests/two.sh are sourced, and both define same()")
    if shutil.which("shellcheck"):
        expect("shellcheck", "a variable that nothing sets", {"selftests/one.sh": SH + "cd $nowhere || exit\necho ${a[@]\n"}, "SC")


def shipped():
    expect("shipped", "a page that no package has; not in comments, nor one that is installed",
           {"kvgpu.mk": "PAGES := docs/page1.md\n", "tools/a.yml": "one\nsee docs/page2.md, /usr/share/doc/kvgpu/page1.md\n",
            "hw/a.c": C + '/* docs/page3.md */\nsay("(docs/page4.md)");\n', "remote/api.py": 'say("docs/page3.md")\n',
            "tools/a.py": '"""docs/page3.md"""\n# docs/page3.md\nprint(f"docs/page5.md")\n'},
           "tools/a.yml:2: names page2.md", "hw/a.c:3: names page4.md", "tools/a.py:3: names page5.md")
    needs = {"debian/control": "Build-Depends: debhelper, liba-dev\n", "debian/packages.sh": SH + 'echo "apt build-dep . && apt install gpg"\n'}
    expect("shipped", "lines of an installation that lack what a build wants", {
        **needs, "docs/page1.md": "    make packages && ls\n", "docs/page2.md": "    apt install gcc\n    make install\n",
        "docs/page3.md": "    apt build-dep . && apt install gpg\n    make packages\n    apt install liba-dev\n    make install\n"},
           "docs/page1.md:1: make packages wants 'apt build-dep . && apt install gpg'", "docs/page2.md:2: make install wants liba-dev")
    code = C + "static int a = 5;\nmodule_param(a, int, 0444);\nstatic int old = 7;\nmodule_param(old, int, 0444);\n"
    expect("shipped", "a parameter of the module that has another default, or no row",
           {"mdev/a.c": code, "docs/admin.md": "| `a` | 4 |\n| `old` | 7 |\n"}, "no row '| `a` | 5 |'")


def claims():
    page = "It takes 12.5 to 13\nms, or 8 %.\n| one | 1.44 ms | 0.96 | 1.33 |\n"
    head = "Of [a page](docs/page1.md#here):\n\n| | a | b | c |\n|---|---:|---:|---:|\n"

    def readme(text, rows, *wanted):
        expect("claims", text, {"docs/page1.md": page, "README.md": head + rows + "\n"}, *wanted)

    readme("as on the page", "| CUDA 11.8 | 1.44 ms | 0.96 | 1.33 |\n| two | in 12.5 to 13 ms | **8 %** | 9 % ([of others](https://example.org)) |")
    readme("a wrong number, a wrong unit, half a range", "| one | in 13.5 ms | 8 ms by itself | to 13 ms and 12.5 ms |",
           "README.md:5: '13.5 ms' is not in docs/page1.md", "'8 ms'", "'12.5 ms'")
    readme("cells that have changed places, one with a wrong number", "| one | 1.44 ms | 1.33 | 0.96 |\n| one | 1.44 ms | 0.97 | 1.33 |",
           "README.md:5: '1.44 ms | 1.33 | 0.96' is", "README.md:6: '1.44 ms | 0.97 | 1.33' is")
    readme("a row's own page counts, not that above the table", "| one | 8 % ([2](docs/page2.md)) | |", "README.md:5: '8 %' is not in docs/page2.md")
    expect("claims", "no page", {"README.md": "A table:\n\n| | a |\n|---|---|\n| one | 8 % |\n"}, "README.md:5: '8 %' cites no page")


def meanings():
    made = {"remote/frames.def": "frame ask(u32 a) -> (u32 b) passes; meaning 2\nframe tell(u32 a)\n",
            "remote/server/a.c": C + "/* b */\nCUresult frame_ask(int a)\n{\n\treturn a;\n}\n",
            "remote/client/a.c": C + "void told(void)\n{\n\tsend(OP_tell);\n}\n\nint frame_no(void)\n{\n\treturn 0;\n}\n"}
    code = [hashlib.sha256(text).hexdigest()[:12] for text in (b"CUresult frame_ask(int a) { return a; }", b"void told(void) { send(OP_tell); }")]
    rows = f"ask\t{{}}\t{code[0]}\ntell\t1\t{code[1]}\n"
    expect("meanings", "all is as it was", {**made, "remote/meanings.tsv": rows.format(2)})
    made["remote/server/a.c"] = made["remote/server/a.c"].replace("return a;", "return a + 1;").replace("/* b */", "/* c */")
    expect("meanings", "code that has changed, and the number has not", {**made, "remote/meanings.tsv": rows.format(2)},
           "remote/meanings.tsv: ask: its code in client/ or server/ has changed")
    expect("meanings", "a number that was raised, or went back", {**made, "remote/meanings.tsv": rows.format(1)}, "remote/meanings.tsv: ask: make meanings")
    expect("meanings", "a number that went back, and a row too many", {**made, "remote/meanings.tsv": rows.format(3) + "old\t1\t0\n"}, "remote/frames.def: ask: its `meaning 3` went back", "old has no")


def documents():
    expect("documents", "116 lines of README.md", {"README.md": "\n" * 116}, "README.md: 116 lines")
    expect("documents", "3,736 lines of pages", {"docs/page1.md": "\n" * 1936, "docs/page2.md": "\n" * 1800}, "docs/: its pages have 3")
    expect("documents", "a line of 401 characters", {"docs/page1.md": "| " + "a" * 399}, "docs/page1.md:1: 401 characters")
    expect("documents", "a hash that no commit has, in a tree without git", {"docs/page1.md": "abc1234\n"})
    if shutil.which("git"):
        with tempfile.TemporaryDirectory() as top:
            make(top, {})
            git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", top]
            subprocess.run([*git, "init", "-q"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
            head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
            make(top, {"docs/page1.md": f"of `{head[:8]}`\n"})
            said = list(run.RULES["documents"][0](tree.Tree(top)))
        result(said == [f"docs/page1.md:1: {head[:8]} is a commit; git has the history"], "documents: a commit", said)


def sentences():
    words = "so " * 24 + "so"
    long = {"docs/page2.md": f"{words} so\n\n" * 40}
    expect("sentences", "40 long ones, and what is none", {**long, "docs/page1.md":
           f"{words}. {words}.* 12 {words[6:]}? {words}: `a` so\n- {words}\n- {words}\n\n# {words} so\n    {words} so\n```\n{words} so\n```\n"
           f"<!-- {words}\nso -->\n![{words} so](a.svg)\n| {words} so |\n"})
    expect("sentences", "45: in two lines, with a colon, dots, a mark in code, a link",
           {**long, "docs/page1.md": f"{words}\nso\n\n{words}: so\n\n{words} ... so\n\n{words[3:]} `a. B`\n\n[{words} so](docs/page2.md)\n"},
           "docs/: 45 sentences", *(f"docs/page1.md:{line}: a sentence of 26 words" for line in (1, 4, 6, 8, 10)), "docs/page2.md:")
    expect("sentences", "cells of 141 and 142 characters, and 140 with a link",
           {"docs/page1.md": f"| {'a' * 141} | [{'b' * 140}](docs/page2.md) | {'c' * 100}\\|{'c' * 40} |\n"},
           "docs/page1.md:1: a cell of 141", "docs/page1.md:1: a cell of 142")


def points():
    program = "selftests/tooling/docs/points.py"
    row, rows = "MO1\thigh\tS1\t\twho\tcost\t\n", {program: (ROOT / program).read_text()}
    expect("points", "a page that its table does not make", {**rows, "docs/open-points.tsv": row, "docs/open-points.md": "old\n"}, "docs/open-points.md is stale")
    for wrong, said in (("MO1\thigh\n", "7 columns"), (row + row, "MO1 is there already"), (row.replace("high", "bad"), "a severity is one of")):
        expect("points", said, {**rows, "docs/open-points.tsv": wrong, "docs/open-points.md": ""}, said)
    with tempfile.TemporaryDirectory() as top:
        make(top, {**rows, "docs/open-points.tsv": row})
        made = subprocess.run(["python3", program, "."], cwd=top, capture_output=True, text=True).stdout
    expect("points", "a point that is none", {**rows, "docs/open-points.tsv": row, "docs/open-points.md": made, "docs/page1.md": "MO1 and RO7\n"},
           "docs/page1.md:1: RO7 is no point")


def pictures():
    fine, link = '<svg role="img" width="1">\n<title>two boxes</title>\n</svg>\n', f"![{'two boxes, ' * 5}](a.svg)\n"
    expect("pictures", "a picture that is shown", {"docs/a.svg": fine, "docs/page1.md": link})
    expect("pictures", "a link that says little", {"docs/a.svg": fine, "docs/page1.md": "![two boxes](a.svg)\n"}, "docs/page1.md:1: say what is seen in a.svg")
    expect("pictures", "a picture without a title", {"docs/a.svg": fine.replace("two boxes", ""), "docs/page1.md": link}, "docs/a.svg: has no <title>")
    expect("pictures", "one without a role", {"docs/a.svg": fine.replace("img", "no"), "docs/page1.md": link}, "docs/a.svg: has no <title>")
    expect("pictures", "one that no page shows", {"docs/a.svg": fine}, "docs/a.svg: no page shows it")


def words():
    program = "selftests/tooling/docs/words.py"
    row, rule = "arena\tstaging buffer\tBytes.\t\n", "grab(\ttake_bar(\tTake.\thw\nold_*\tnew_*\tNew.\thw/bar.c sched\n"
    made = {program: (ROOT / program).read_text(), "docs/words.tsv": row + rule}
    with tempfile.TemporaryDirectory() as top:
        make(top, made)
        made["docs/glossary.md"] = subprocess.run(["python3", program, "."], cwd=top, capture_output=True, text=True).stdout
    expect("words", "all is well: the old word is a part of others, a member, or elsewhere",
           {**made, "hw/bar.c": C + "/* grab */\nx.grab(1); regrab(2); an_old_one();\n", "include/README.md": "`gk110/` grab( old_bar\n"})
    expect("words", "a page that its list does not make", {**made, "docs/glossary.md": "old\n"}, "docs/glossary.md is stale")
    expect("words", "words that are forbidden", {**made, "hw/bar.c": C + "grab(1);\n/* old_bar */\n", "hw/hw.h": header("KVGPU_HW_H", "int old_hw;\n"), "sched/README.md": "old_turn\n"},
           "hw/bar.c:2: grab(: take_bar(", "hw/bar.c:3: old_*: new_*", "sched/README.md:1: old_*")
    expect("words", "a path that is none", {**made, "docs/words.tsv": row + rule + "a\tb\tc\tgone\n"}, "docs/words.tsv: a: there is no gone")
    for wrong, said in (("arena\n", "4 columns"), (row + row, "arena is there already"), ("arena\t\tBytes.\t\n", "the field's, a meaning?"), (row.replace("Bytes", "b" * 141), "140 characters")):
        expect("words", said, {**made, "docs/words.tsv": wrong}, said)


def checkpatch():
    """With a script in place of checkpatch.pl: it gets the module's files, and its complaints are
    passed on."""
    with tempfile.TemporaryDirectory() as top:
        make(top, {"selftests/tooling/lint/checkpatch.sh": f"#!/bin/sh\necho {top}/said.pl\n",
                   "said.pl": 'my $f = $ARGV[-1]; print "$f:3: WARNING:RETURN_VOID: void function return\\n" if $f eq "hw/bar.c";\n'})
        (pathlib.Path(top) / "selftests/tooling/lint/checkpatch.sh").chmod(0o755)
        said = list(run.RULES["checkpatch"][0](tree.Tree(top)))
    result(said == ["hw/bar.c:3: void function return (checkpatch: RETURN_VOID)"], "checkpatch: a complaint is passed on", said)


def formatting():
    if formatted.program(tree.Tree(ROOT)):
        expect("formatted", "a brace", {"hw/a.c": C + "int hw_a(void) {\n\treturn 0;\n}\n"}, "hw/a.c:2: clang-format would change it")


def main():
    with tempfile.TemporaryDirectory() as cache:
        tree.Proofs.folder = pathlib.Path(cache)
        for group in (files, headers, offsets, environment, refusals, rooms, texts, shipped, claims, meanings, documents, sentences, points, pictures, words, checkpatch, formatting):
            group()
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
