# SPDX-License-Identifier: GPL-2.0-only
"""Checks what documents and packages owe who installs kvgpu:

- where a document has "make packages" or "make module-packages", it has the line before that debian/packages.sh says when something lacks; where it has
  "make install", a line before names all libraries of debian/control's Build-Depends
- pages of docs/ that installed texts name are installed: texts of man pages, units, settings and alerts, strings of C and, in
  tools/, of Python
- docs/admin.md has a row for each parameter of the module, with its default"""
import ast
import re

from tree import TOKEN

INSTALLERS = ("kvgpu.mk", "cuda/package.sh", "remote/package.sh")
INSTALLED = (".1", ".5", ".7", ".8", ".conf", ".rules", ".service", ".socket", ".yml")
ROOMS = ("mdev", "hw", "firmware", "tools", "cuda", "remote", "libvirt-xml")
PAGE = re.compile(r"(?:docs|/usr/share/doc/[\w-]+)/([\w-]+\.md)")
PARAMETER = re.compile(r"^module_param(?:_named)?\((\w+)", re.M)


def strings(tree, file):
    """Yield (offset, text) of what a file says once it is installed: of a program its strings."""
    text = tree.text(file)
    if file.endswith((".c", ".h")):
        yield from ((m.start(), m.group()) for m in TOKEN.finditer(text) if m.group()[0] == '"')
    elif file.endswith(".py"):
        parts = list(ast.walk(ast.parse(text)))
        prose = {part.value for part in parts if isinstance(part, ast.Expr)}
        starts = [0] + [m.end() for m in re.finditer("\n", text)]
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part not in prose:
                yield starts[part.lineno - 1], part.value
    else:
        yield 0, text


def pages(tree):
    given = set(re.findall(r"\bdocs/([\w-]+\.md)", "".join(tree.text(file) for file in INSTALLERS if file in tree.known)))
    for file in (*tree.of(*INSTALLED, ".c", ".h", rooms=ROOMS), *tree.of(".py", rooms=("tools",))):
        for offset, text in strings(tree, file):
            for m in PAGE.finditer(text):
                if m.group(1) not in given:
                    line = tree.text(file).count("\n", 0, offset + (m.start() if text == tree.text(file) else 0)) + 1
                    yield f"{file}:{line}: names {m.group(1)}, which none of {', '.join(INSTALLERS)} installs"


def installs(tree):
    if "debian/control" not in tree.known:
        return
    first = re.search(r"apt build-dep .*(?=\")", tree.text("debian/packages.sh")).group()
    needed = re.search(r"^Build-Depends: (.*)", tree.text("debian/control"), re.M).group(1)
    libraries = [name for name in re.findall(r"[\w.+-]+", needed) if name.endswith("-dev")]
    for file in tree.of(".md"):
        text = tree.text(file)
        for m in re.finditer(r"^    make ((?:module-)?packages|install)\b", text, re.M):
            before = text[:m.start()]
            line = before.count("\n") + 1
            if m.group(1) != "install" and first not in before:
                yield f"{file}:{line}: make {m.group(1)} wants '{first}' before it"
            lacking = [name for name in libraries if name not in before]
            if m.group(1) == "install" and lacking:
                yield f"{file}:{line}: make install wants {' '.join(lacking)}, which no line before installs"


def parameters(tree):
    told = tree.text("docs/admin.md") if "docs/admin.md" in tree.known else ""
    for file in tree.of(".c", rooms=("mdev", "hw")):
        for name in PARAMETER.findall(tree.code(file)):
            default = re.search(rf"\b{name} = (\w+);", tree.code(file))
            row = f"| `{name}` | {default.group(1) if default else 0} |"
            if row not in told:
                yield f"{file}: docs/admin.md has no row '{row}' for this parameter of the module"


def check(tree):
    yield from pages(tree)
    yield from installs(tree)
    yield from parameters(tree)
