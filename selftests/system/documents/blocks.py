# SPDX-License-Identifier: GPL-2.0-only
"""Finds the command blocks of documents and their marks, and checks them without running them.
README.md has the marks."""
import os
import re
import shlex
import subprocess

MARK = re.compile(r"^<!-- (.*) -->$")
PLACES = {"here": ("here", None), "in the server": ("server", None), "with the CUDA toolkit": ("here", "toolkit")}
OURS = {"kvgpu-top", "kvgpu-firmware", "kvgpu-card", "kvgpu-aperture", "cuda-info"}	# this project's programs: not in the server's root
BUILTINS = {"cd", "test", "[", "echo", "export", "printf"}


class Block:
    def __init__(self, document, line, mark, lines):
        self.document, self.line, self.lines = document, line, lines
        self.place, self.needs, self.reason, self.wrong = "here", None, None, None
        text = mark or "here"
        if text in PLACES:
            self.place, self.needs = PLACES[text]
        elif text.startswith("not run: "):
            self.place, self.reason = "nowhere", text[len("not run: "):]
        elif text.startswith("no commands: "):
            self.place, self.reason = "text", text[len("no commands: "):]
        else:
            self.wrong = f"the mark '{text}' is none of README.md's"

    @property
    def name(self):
        return f"{self.document}:{self.line}"

    def commands(self):
        """Return the commands of the block. A line that ends in a backslash and the next are one;
        blank lines and comments are none."""
        out, part = [], ""
        for line in self.lines:
            part += line + "\n"
            if line.endswith("\\"):
                continue
            if part.strip() and not part.lstrip().startswith("#"):
                out.append(part.rstrip("\n"))
            part = ""
        return out


def blocks_of(document, text):
    """Return the indented and fenced blocks of a text. A block's mark is in the line above it, or
    above the blank lines before it."""
    lines, out, i, mark = text.split("\n"), [], 0, None
    while i < len(lines):
        line = lines[i]
        before = lines[i - 1].strip() if i else ""
        if MARK.match(line.strip()):
            mark, i = MARK.match(line.strip()).group(1), i + 1
            continue
        if line.lstrip().startswith("```"):
            end = i + 1
            while end < len(lines) and not lines[end].lstrip().startswith("```"):
                end += 1
            out.append(Block(document, i + 2, mark, lines[i + 1:end]))
            mark, i = None, end + 1
            continue
        if line.startswith("    ") and line.strip() and (not before or MARK.match(before)):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or (not lines[end].strip() and lines[end + 1:end + 2] and
                                        lines[end + 1].startswith("    "))):
                end += 1
            out.append(Block(document, i + 1, mark, [one[4:] for one in lines[i:end]]))
            mark, i = None, end
            continue
        if line.strip():
            mark = None
        i += 1
    return out


def words(command):
    """Return the simple commands of a shell command, as lists of words, and those within $() after
    them."""
    inner = re.findall(r"\$\(([^()]*)\)", command)
    if inner:
        return words(re.sub(r"\$\(([^()]*)\)", "$IT", command)) + [one for part in inner for one in words(part)]
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split, lexer.commenters = True, "#"
    out = [[]]
    for word in lexer:
        if word and set(word) <= set(";&|"):
            out.append([])
        else:
            out[-1].append(word)
    return [one for one in out if one]


class Tree:
    """The tree and the server's root: what the words of a command are checked against."""

    def __init__(self, root, server_root=None):
        self.root, self.server_root = root, server_root
        with open(f"{root}/testbed/lib/help.sh") as f:
            self.help = f.read()

    def makefiles(self, folder):
        if folder == ".":
            found = subprocess.run(["find", ".", "-name", "*.mk", "-not", "-path", "./build/*"], cwd=self.root,
                                   capture_output=True, text=True, check=True).stdout.split()
            return ["Makefile", *found]
        return [f"{folder}/Makefile"]

    def text(self, files):
        return "".join(open(f"{self.root}/{f}").read() for f in files)

    def complaints_make(self, args):
        folder, targets = ".", []
        args = list(args)
        while args:
            arg = args.pop(0)
            if arg == "-C" and args:
                folder = args.pop(0)
            elif not arg.startswith("-"):
                targets.append(arg)
        if not os.path.exists(f"{self.root}/{folder}/Makefile"):
            return [f"there is no {folder}/Makefile"]
        rules = self.text(self.makefiles(folder))
        out = []
        for target in targets:
            if "=" in target:
                name = target.split("=")[0]
                scripts = [f"{folder}/{f}" for f in os.listdir(f"{self.root}/{folder}") if f.endswith(".sh")]
                if "bench" in targets:
                    scripts.append("selftests/system/bench/bench.sh")
                if not re.search(rf"\b{re.escape(name)}\b", rules + self.text(scripts)):
                    out.append(f"make: nothing here reads {name}")
            elif not re.search(rf"^(?:[\w. -]* )?{re.escape(target)}(?: [\w. -]*)?:(?!=)", rules, re.M) and \
                    not os.path.exists(f"{self.root}/{folder}/{target}.cu"):
                out.append(f"make: there is no target {target}" + (f" in {folder}" if folder != "." else ""))
        return out

    def complaints_tb(self, args):
        out, inner = [], []
        if "--" in args:
            inner, args = args[args.index("--") + 1:], args[:args.index("--")]
        command = " ".join(args[:2]) if args[:1] == ["guest"] else " ".join(args[:1])
        if not re.search(rf"\btb {re.escape(command)}\b", self.help):
            out.append(f"tb has no command '{command}'")
        out += [f"tb has no option {a}" for a in args if a.startswith("--") and not re.search(rf"{re.escape(a)}\b", self.help)]
        return out + (self.complaints_server(inner) if inner else [])

    def complaints_server(self, args):
        program = args[0]
        if "=" in program or "$" in program or program in BUILTINS | OURS or program.startswith("/share/") or not self.server_root:
            return []
        if any(os.path.lexists(f"{self.server_root}/{place}/{program}") for place in ("usr/bin", "usr/sbin")):
            return []
        return [f"the server has no program {program}"]

    def complaints_here(self, args, folder):
        while args and re.match(r"^\w+=", args[0]):
            args = args[1:]
        if not args or "$" in args[0] or args[0].startswith("build/"):
            return []
        if args[0] == "make":
            return self.complaints_make(args[1:])
        if args[0] == "testbed/tb":
            return self.complaints_tb(args[1:])
        # a tree of a tarball may be tested where there is no git
        if args[0] == "git" and not os.path.exists(os.path.join(self.root, ".git")):
            return []
        if args[0] in BUILTINS or self.is_file(args[0], folder) or \
                subprocess.run(["sh", "-c", 'command -v "$1"', "sh", args[0]], capture_output=True).returncode == 0:
            return []
        return [f"there is no program {args[0]} here"]

    def is_file(self, name, folder):
        return any(os.path.exists(os.path.join(self.root, base, name)) for base in ("", folder))

    def complaints(self, block):
        """Return what is wrong with a block, as a list of lines."""
        if block.wrong:
            return [block.wrong]
        if block.place == "text":
            return []
        if not block.commands():
            return ["no command in it"]
        folder, out = os.path.dirname(block.document), []
        for command in block.commands():
            syntax = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True)
            if syntax.returncode:
                out.append(f"'{command}': {syntax.stderr.strip().splitlines()[0]}")
                continue
            for args in words(command):
                if block.place == "here":
                    out += self.complaints_here(args, folder)
                elif block.place == "server":
                    out += self.complaints_server(args)
                elif args[0] in ("make", "testbed/tb") and "/path/to/tree" not in command:
                    out += self.complaints_here(args, folder)
                out += self.complaints_files(block, args, folder)
        return out

    # complaints about words that look like a path in the tree, but for build/, or like a file
    # beside the document
    def complaints_files(self, block, args, folder):
        out = []
        for arg in args:
            if re.search(r"[$*=\s\[]", arg) or arg.startswith(("/", "-", "~", "build/", "./")):
                continue
            of_tree = "/" in arg and self.is_file(arg.split("/")[0], folder)
            if (of_tree or arg.endswith((".xml", ".sh", ".cu"))) and not self.is_file(arg, folder):
                out.append(f"there is no file {arg}")
        return out
