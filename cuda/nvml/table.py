#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py OUT: makes C of nvml.def, the table of NVML's entry points, in the folder OUT:

nvml_calls.h	the version, prototypes of what is exported, and of what this folder writes by hand
nvml_calls.inc	what is exported, but for what is `bare`
nvml_names.inc	the names, and how each answers, for tests

table.py names:  prints the names of all.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../api"))
from entries import Arg, Bad, read_table, write  # noqa: E402

WAYS = ("text", "value", "hand", "bare", "as")
HEADER = "/* Made by cuda/nvml/table.py of cuda/nvml/nvml.def. */\n"


class Call:
    """an entry point; expr: what its line has behind the prototype, of one that is refused its key"""

    def __init__(self, way, name, args, expr):
        self.way, self.name, self.expr = way, name, expr
        self.args = [Arg(a) for a in filter(None, args.split(","))]
        self.device = bool(self.args) and self.args[0].c.startswith("nvmlDevice_t ") and not self.args[0].stars

    def prototype(self):
        kind = "const char *" if self.name == "nvmlErrorString" else "nvmlReturn_t "
        return f"{kind}{self.name}({', '.join(a.c for a in self.args) or 'void'})"

    def rest(self):
        return self.args[1:] if self.device else self.args

    def own(self):
        args = ["struct nvml_gpu *gpu"] * self.device + [a.c for a in self.rest()]
        return f"nvmlReturn_t own_{self.name}({', '.join(args) or 'void'})"

    def answer(self):
        """an expression of type nvmlReturn_t"""
        names = [a.name for a in self.rest()]
        if self.way == "refused":
            return "NVML_ERROR_NOT_SUPPORTED"
        if self.way == "text":
            return f"nvml_text({self.expr}, {', '.join(names)})"
        if self.way == "value":
            to = next(a.name for a in self.rest() if a.stars and not a.null)
            return f"nvml_value({self.expr}, value) ? (*{to} = value, NVML_SUCCESS) : NVML_ERROR_NOT_SUPPORTED"
        return f"own_{self.name}({', '.join(['gpu'] * self.device + names)})"

    def wrong(self):
        return " || ".join(["!gpu"] * self.device + [f"!{a.name}" for a in self.rest() if a.stars and not a.null])

    def body(self):
        if self.way == "as":
            return f"\treturn {self.expr}({', '.join(a.name for a in self.args)});\n"
        text = "\tnvmlReturn_t r = nvml_enter();\n"
        if self.device:
            text += f"\tstruct nvml_gpu *gpu = r ? NULL : nvml_gpu({self.args[0].name});\n"
        text += "\tlong long value;\n" * (self.way == "value")
        text += "\n\tif (r)\n\t\treturn r;\n"
        answer = self.answer()
        if self.wrong():
            text += f"\tif ({self.wrong()})\n\t\tr = NVML_ERROR_INVALID_ARGUMENT;\n\telse\n\t\tr = {answer};\n"
        else:
            text += f"\tr = {answer};\n"
        return text + "\treturn nvml_leave(r);\n"


def calls_of(line, reasons):
    m = re.fullmatch(r"refused (\w+)\((device)?\) (.*)", line)
    if m:
        if m.group(1) not in reasons:
            raise Bad("there is no reason " + m.group(1))
        return [Call("refused", name, "nvmlDevice_t device" if m.group(2) else "", m.group(1)) for name in m.group(3).split()]
    m = re.fullmatch(r"(\w+) (nvml\w+)\(([^()]*)\) ?(.*)", line)
    if not m or m.group(1) not in WAYS:
        raise Bad("line not understood")
    if bool(m.group(4)) != (m.group(1) in ("text", "value", "as")):
        raise Bad("the ways text, value and as have an expression, and no other has")
    return [Call(*m.groups())]


def read():
    calls = []
    read_table(os.path.join(HERE, "nvml.def"), "cuda/nvml/nvml.def", lambda line, reasons: calls.extend(calls_of(line, reasons)))
    names = [c.name for c in calls]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        sys.exit(f"cuda/nvml/nvml.def: there twice: {', '.join(twice)}")
    return calls


def version():
    """of kvgpu, which is the driver's"""
    text = open(os.path.join(HERE, "../../kvgpu.mk")).read()
    return re.search(r"^KVGPU_VERSION\s*:= (\S+)$", text, re.M).group(1)


def calls_h(calls):
    text = HEADER + "#ifndef KVGPU_NVML_CALLS_H\n#define KVGPU_NVML_CALLS_H\n\n"
    text += f"#define KVGPU_VERSION \"{version()}\"\n\n"
    text += "".join(f"API {c.prototype()};\n" for c in calls)
    return text + "\n" + "".join(f"{c.own()};\n" for c in calls if c.way == "hand") + "\n#endif\n"


def calls_inc(calls):
    return HEADER + "".join(f"\n{c.prototype()}\n{{\n{c.body()}}}\n" for c in calls if c.way != "bare")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py OUT|names")
    calls = read()
    if sys.argv[1] == "names":
        print("\n".join(sorted(c.name for c in calls)))
        return
    os.makedirs(sys.argv[1], exist_ok=True)
    write(os.path.join(sys.argv[1], "nvml_calls.h"), calls_h(calls))
    write(os.path.join(sys.argv[1], "nvml_calls.inc"), calls_inc(calls))
    write(os.path.join(sys.argv[1], "nvml_names.inc"), HEADER + "".join(f"NAME({c.name}, {c.way}, {int(c.device)})\n" for c in calls))


if __name__ == "__main__":
    main()
