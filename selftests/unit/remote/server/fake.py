#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fake.py TREE OUT: makes OUT/fake.c of remote/api.def: a library that is none, for tests of the server's decoder (fake.h)."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "remote"))
sys.dont_write_bytecode = True
from api import BYTES, HANDLES, HEADER, STRUCT_WIRE, WIRE, read_table, write  # noqa: E402


def fake_c(entries):
    text = HEADER + "/* A library that is none: reads all that it is given, and makes handles of nothing. */\n"
    text += "#include <remote/server/server.h>\n\n#include \"fake.h\"\n\n"
    made = [e for e in entries if e.made]
    for e in made:
        body = []
        for x in e.args:
            if x.kind == "handle" and not x.out:
                body.append(f"\tfake_handle(CLASS_{HANDLES[x.type]}, {x.name});")
            elif x.kind == "string":
                body.append(f"\tfake_string({x.name});")
            elif x.kind == "struct" and not x.out:
                body.append(f"\tfake_read({x.name}, sizeof(*{x.name}));")
            elif x.kind == "list" and not x.out and x.type in HANDLES:
                body.append(f"\tfake_handles(CLASS_{HANDLES[x.type]}, (void *const *){x.name}, {x.count});")
            elif x.kind == "list" and not x.out:
                body.append(f"\tfake_read({x.name}, {BYTES[WIRE[x.type]]}ull * {x.count});")
            elif x.kind == "list" and x.type in HANDLES:
                body.append(f"\tfake_list(CLASS_{HANDLES[x.type]}, (void **){x.name}, {x.count});")
            elif x.kind == "list":
                body.append(f"\tfake_write({x.name}, {BYTES[WIRE[x.type]]}ull * {x.count});")
            elif x.kind == "handle":
                body.append(f"\tif ({x.name})\n\t\t*{x.name} = fake_new(CLASS_{HANDLES[x.type]});")
            elif x.out and not x.counts and x.type not in STRUCT_WIRE:
                body.append(f"\tif ({x.name})\n\t\tfake_write({x.name}, sizeof(*{x.name}));")
        text += f"static {e.prototype().replace(e.name, 'fake_' + e.name, 1)}\n{{\n" + "\n".join(body)
        text += "\n\treturn fake_result();\n}\n\n"
    text += "void fake_fill(struct library *library)\n{\n" + "".join(f"\tlibrary->{e.name} = fake_{e.name};\n" for e in made)
    return text + "}\n"


write(os.path.join(sys.argv[2], "fake.c"), fake_c(read_table(sys.argv[1])[0]))
