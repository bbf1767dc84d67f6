#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fake.py TREE OUT: makes of cuda/api/api.def and remote/frames.def OUT/fake.c, a library that is none, and OUT/fake_shapes.c, what a good frame of each
operation looks like, for tests of the server (fake.h); and OUT/fake_calls.c, what a good answer of each operation looks like, and a
program's calls, for tests of the client (../client/liar.h)."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "remote"))
sys.dont_write_bytecode = True
from api import FIRST_OP, HANDLES, HEADER, NUMBERED, STRUCT_WIRE, ordered, read_table, write  # noqa: E402


# in frames without a prototype (`frame` lines of frames.def): the class of a handle by its field's name
BY_NAME = {c.lower(): c for c in HANDLES.values()} | {"ctx": "CONTEXT", "dst_ctx": "CONTEXT", "src_ctx": "CONTEXT"}


def shapes(entries, frames):
    """words of each operation's struct, the class of handle that each word is, and what may be behind the struct"""
    text = HEADER + "#include \"fake.h\"\n\nconst struct fake_shape fake_shapes[KVGPU_REMOTE_OPS + 1] = {\n"
    for op, e in enumerate(frames + [e for e in entries if e.made], FIRST_OP):
        args = {x.name: x for x in e.args}
        at, classes = 0, []
        for kind, name, _, size in ordered(e.q):
            handle = HANDLES.get(args[name].type) if name in args else BY_NAME.get(name) if kind == "u64" else None
            if handle:
                classes.append(f"[{at // 8}] = CLASS_{handle}")
            at += size
        behind = [x for x in e.args if x.kind in ("string", "list") and not x.out]
        of = "TEXT"
        if behind and behind[0].type in HANDLES:
            of = "CLASS_" + HANDLES[behind[0].type]
        elif not behind and not e.frame:
            of = "CLASS_NONE"
        of = "FAKE_TEXT" if of == "TEXT" else of
        text += f"\t[{op}] = {{ .words = {at // 8}, .behind = {of}, .class = {{ {', '.join(classes)} }} }},\t/* {e.name} */\n"
    return text + "};\n"


def fake_c(entries, frames):
    text = HEADER + "/* A library that is none: reads all that it is given, and makes handles of nothing. */\n"
    text += "#include <remote/server/server.h>\n\n#include \"fake.h\"\n\n"
    made = [e for e in entries if e.made]
    for e in made:
        body = []
        for x in e.args:
            if x.kind == "handle" and not x.out:
                handle = f"(void *)(uintptr_t){x.name}" if x.type in NUMBERED else x.name
                body.append(f"\tfake_handle(CLASS_{HANDLES[x.type]}, {handle});")
            elif x.kind == "string":
                body.append(f"\tfake_string({x.name});")
            elif x.kind == "struct" and not x.out:
                at = x.name if x.stars else "&" + x.name
                body.append(f"\tfake_read({at}, sizeof(*{at}));")
            elif x.kind == "list" and not x.out and x.type in HANDLES:
                body.append(f"\tfake_handles(CLASS_{HANDLES[x.type]}, (void *const *){x.name}, {x.count});")
            elif x.kind == "list" and not x.out:
                body.append(f"\tfake_read({x.name}, {x.bytes(x.count)});")
            elif x.kind == "list" and x.type in HANDLES:
                body.append(f"\tfake_list(CLASS_{HANDLES[x.type]}, (void **){x.name}, {x.count});")
            elif x.kind == "list":
                n = "*" * any(y.out for y in e.args if y.name == x.count) + x.count
                body.append(f"\tif ({x.name})\n\t\tfake_write({x.name}, {x.bytes(n)});")
            elif x.kind == "handle":
                cast = f"({x.type})(uintptr_t)" if x.type in NUMBERED else ""
                body.append(f"\tif ({x.name})\n\t\t*{x.name} = {cast}fake_new(CLASS_{HANDLES[x.type]});")
            elif x.out and not x.counts and x.type not in STRUCT_WIRE:
                body.append(f"\tif ({x.name})\n\t\tfake_write({x.name}, sizeof(*{x.name}));")
        text += f"static {e.prototype().replace(e.name, 'fake_' + e.name, 1)}\n{{\n" + "\n".join(body)
        text += "\n\treturn fake_result();\n}\n\n"
    text += "void fake_fill(struct library *library)\n{\n" + "".join(f"\tlibrary->{e.name} = fake_{e.name};\n" for e in made)
    return text + "}\n"


def answers(entries, frames):
    """words of each answer's struct, and what each word is"""
    text = "const struct liar_shape liar_shapes[KVGPU_REMOTE_OPS + 1] = {\n"
    for op, e in enumerate(frames + [e for e in entries if e.made], FIRST_OP):
        args = {x.name: x for x in e.args}
        at, kinds = 0, {}
        for kind, name, _, size in ordered(e.a):
            handle = HANDLES.get(args[name].type) if name in args else BY_NAME.get(name) if kind == "u64" else None
            for word in range(at // 8, (at + size + 7) // 8):
                kinds[word] = f"CLASS_{handle}" if handle else "LIAR_WIDE" if kind in ("u64", "f64") else "LIAR_NARROW"
            at += size
        lists = [HANDLES[x.type] for x in e.args if x.kind == "list" and x.out and x.type in HANDLES]
        behind = f"CLASS_{lists[0]}" if lists else "0"
        kinds = ", ".join(f"[{i}] = {k}" for i, k in kinds.items() if k != "LIAR_WIDE")
        text += f"\t[{op}] = {{ .words = {at // 8}, .behind = {behind}, .word = {{ {kinds} }} }},\t/* {e.name} */\n"
    return text + "};\n\n"


def call_of(e):
    """a function that makes the call with what the program has"""
    t, call, after = [], [], []
    for x in e.args:
        n, kind = x.name, "uint8_t" if x.type == "void" else x.type
        if x.kind == "list":
            room = x.count if x.count.isdigit() else "LIAR_LIST"
            t.append(f"\t{kind} {n}[{room}] = {{ 0 }};")
            if x.out:
                call.append(f"lists ? {n} : NULL" if x.null else n)
            else:
                call.append(f"liar_below(2) ? {n} : NULL" if x.null else n)
                if x.type in HANDLES:
                    t.append(f"\tfor (unsigned int i = 0; i < LIAR_LIST; i++)\n\t\t{n}[i] = liar_handle(CLASS_{HANDLES[x.type]});")
        elif x.kind == "string":
            call.append('"kernel"')
        elif x.kind == "struct":
            t.append(f"\t{x.type} {n};\n\tliar_bytes(&{n}, sizeof({n}));")
            call.append(("&" if x.stars else "") + n)
        elif x.kind == "handle" and x.out:
            t.append(f"\t{x.type} {n} = 0;")
            call.append("&" + n)
            handle = f"(void *)(uintptr_t){n}" if x.type in NUMBERED else n
            after.append(f"\tif (!r)\n\t\tliar_take(CLASS_{HANDLES[x.type]}, {handle});")
        elif x.kind == "handle":
            cast = f"({x.type})(uintptr_t)" if x.type in NUMBERED else ""
            t.append(f"\t{x.type} {n} = {cast}liar_handle(CLASS_{HANDLES[x.type]});")
            call.append(n)
        elif x.address:
            t.append(f"\tvoid *{n} = (void *)(uintptr_t)liar_address();")
            call.append(n)
        elif x.counts:
            t.append(f"\t{x.type} {n} = liar_below(LIAR_LIST + 1);")
            call.append(("&" if x.out else "") + n)
            if x.out:
                t.append(f"\tconst uint64_t lists = liar_below(4), most = lists ? {n} : UINT32_MAX;")
                after.append(f"\tif (!r && {n} > most)\n\t\tabort();")
        elif x.out:
            t.append(f"\t{x.type} {n} = 0;")
            call.append("&" + n)
        else:
            value = {"CUdeviceptr": "liar_address()", "size_t": "liar_below(1 << 16)"}.get(x.type, "liar_number()")
            t.append(f"\t{x.type} {n} = {value};")
            call.append(n)
    gone = e.options.get("destroys")
    after += [f"\tif (!r)\n\t\tliar_drop(CLASS_{next(HANDLES[x.type] for x in e.args if x.name == gone)}, {gone});"] if gone else []
    text = "\n".join(t + [f"\tCUresult r = {e.name}({', '.join(call)});\n"] + after + ["\t(void)r;"])
    return f"static void call_{e.name}(void)\n{{\n{text}\n}}\n\n"


def calls_c(entries, frames):
    made = [e for e in entries if e.made]
    text = HEADER + "#include <stdlib.h>\n\n#include \"liar.h\"\n\n" + answers(entries, frames) + "".join(call_of(e) for e in made)
    text += "void (*const liar_calls[])(void) = {\n" + "".join(f"\tcall_{e.name},\n" for e in made) + "};\n"
    return text + f"const unsigned int liar_nr_calls = {len(made)};\n"


table = read_table(sys.argv[1])[:2]
write(os.path.join(sys.argv[2], "fake.c"), fake_c(*table))
write(os.path.join(sys.argv[2], "fake_shapes.c"), shapes(*table))
write(os.path.join(sys.argv[2], "fake_calls.c"), calls_c(*table))
