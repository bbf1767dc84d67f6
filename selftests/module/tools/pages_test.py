#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each tool's parser, --help and man page name the same options and commands; pages are whole; all tools tell the one release, and
name a wrong word. pages_test.py FOLDER...: where programs in C are; those that are in none are read, but not run. Prints TAP."""
import os
import re
import shutil
import subprocess
import sys

TREE = os.path.realpath(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
LONG = r'\{\s*"([a-z-]+)",\s*(?:no_argument|required_argument)'
NAMED = r'(?:==|strcmp\(\w+(?:\[1\])?,) "(--?[a-zA-Z-]+)"'
COMMAND = r'\{ "([a-z]+)", "[^"]*", \d'
SHELL = r"^(?:\d-|\*-)?(--[a-z]+|[a-z]+)\)"
ARGPARSE = r'add_argument\("(--[a-z]+)"(?!.*SUPPRESS)'
# name: man page, sources of the parser, patterns of its options and commands, a misspelt word and what is near (None: all are named)
TOOLS = {
    "kvgpu-top": ("tools/kvgpu-top.1", ["tools/main.c"], [LONG], ("--jsno", "--json")),
    "kvgpu-firmware": ("firmware/kvgpu-firmware.8", ["firmware/main.c"], [LONG], ("--outptu", "--output")),
    "kvgpu-card": ("tools/card/kvgpu-card.8", ["tools/card/kvgpu-card", "tools/verify/command_line.py"],
                   [ARGPARSE, r'one_of\("command", \["(\w+)"', r'^COMMANDS = .*"(share)"', r'^COMMANDS = .*"(whole)":', r'^COMMANDS = .*"(host)"',
                    r', "(boot)"\]\)'], ("shaer", "share")),
    "kvgpu-verify": ("tools/verify/kvgpu-verify.8", ["tools/verify/kvgpu-verify", "tools/verify/command_line.py"], [ARGPARSE], ("--otu", "--out")),
    "kvgpu-profile": ("tools/admin/kvgpu-profile.8", ["tools/admin/kvgpu-profile"], [SHELL], ("chekc", "check")),
    "kvgpu-report": ("tools/admin/kvgpu-report.8", ["tools/admin/kvgpu-report"], [SHELL], ("--outptu", "--output")),
    "kvgpu-remoted": ("remote/supervisor/kvgpu-remoted.8", ["remote/supervisor/main.c"], [LONG, r'\{ "([a-z-]+)", "[a-z-]+" \}'], ("--lisetn", "--listen")),
    "kvgpu-remotectl": ("remote/ctl/kvgpu-remotectl.8", ["remote/ctl/main.c"], [LONG, COMMAND], ("lsit", "list")),
    "kvgpu-aperture": ("remote/pmem/kvgpu-aperture.8", ["remote/pmem/main.c"], [LONG, COMMAND], ("lst", "list")),
    "kvgpu-run": ("remote/cluster/run/kvgpu-run.1", ["remote/cluster/run/options.c"], [r'\[O_\w+\] = \{ "([a-z-]+)"'], ("--gpsu", "--gpus")),
    "cuda-info": ("cuda/info/cuda-info.1", ["cuda/info/main.c"], [NAMED], ("--jsno", "--json")),
    "kvgpu-persist": ("cuda/persist/kvgpu-persist.8", ["cuda/persist/persist.c"], [NAMED], ("--verison", "--version")),
}
# pages of files and of all; what a page may leave out
OTHER = {"remote.conf": "remote/conf/remote.conf.5", "kvgpu": "tools/kvgpu.7"}
SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO")
LEFT_OUT = {"remote.conf": {"OPTIONS", "EXIT STATUS"}, "kvgpu": {"SYNOPSIS", "OPTIONS", "EXIT STATUS"}}
# not for people, or for one of these tools alone
UNSAID = {"kvgpu-profile": {"callout"}, "kvgpu-card": {"root"}, "cuda-info": {"-h"}, "kvgpu-persist": {"-h"}, "kvgpu-aperture": {"help"},
          "kvgpu-remoted": {"--adopt", "--can-adopt"}}
WRONG_USAGE = {"kvgpu-run": 125}
WORD = r"(?<![\w-])({})(?![\w-])"

results = []


def check(fine, name):
    results.append(bool(fine))
    print(f"{'ok' if fine else 'not ok'} {len(results)} - {name}")


def read(path):
    with open(f"{TREE}/{path}", encoding="utf-8") as f:
        return f.read()


def program(name, folders):
    """its path, or None"""
    sources = [s for s in TOOLS[name][1] if os.access(f"{TREE}/{s}", os.X_OK)]
    made = [f"{folder}/{name}" for folder in folders if os.access(f"{folder}/{name}", os.X_OK)]
    return f"{TREE}/{sources[0]}" if sources else made[0] if made else None


def run(*argv):
    out = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return out.returncode, out.stdout.decode(), out.stderr.decode()


def parsed(name):
    """the options and commands that the parser takes, with --version and --help"""
    _, sources, patterns, _ = TOOLS[name]
    text = "".join(read(s) for s in sources)
    words = {w for p in patterns for w in re.findall(p, text, re.M)}
    if LONG in patterns or name == "kvgpu-run":
        words = {w if re.search(COMMAND.replace("[a-z]+", w, 1), text) else f"--{w}" for w in words}
    return words - UNSAID.get(name, set()) | {"--help"}


def helped(name, path):
    if path:
        return run(path, "--help")[1]
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.search(r"usage\[\] =(.*?);\n", read(TOOLS[name][1][0]), re.S).group(1)))


def page(path):
    """its text without roff's marks, and its sections"""
    text = read(path)
    heads = [h.strip('"') for h in re.findall(r"^\.SH (.*)$", text, re.M)]
    text = "\n".join(line for line in text.split("\n") if not line.startswith('.\\"'))
    text = re.sub(r"^\.[A-Z]+ ?", "", text, flags=re.M).replace("\\-", "-").replace("\\(aq", "'")
    return re.sub(r"\\f.", "", text).replace('"', " "), heads


def has(text, word):
    return re.search(WORD.format(re.escape(word)), text)


def compare(name, path):
    text = page(TOOLS[name][0])[0].partition("\nEXAMPLES")[0]
    said = helped(name, path)
    words = parsed(name)
    check(len(words) >= 2 and "--version" in words, f"{name}: {len(words)} words of its parser were found")
    missing = [f"{word} in {where}" for word in sorted(words) for where, t in (("--help", said), ("the page", text)) if not has(t, word)]
    check(not missing, f"{name}: --help and page have all that is parsed" + (f" # not {', '.join(missing)}" if missing else ""))
    extra = {w for t in (said, text) for w in re.findall(r"(?<![\w-])--[a-z][a-z-]*", t)}
    extra -= words | {"--generate-crl", "--overlap", "--pty", "--live", "--config"}
    check(not extra, f"{name}: they have no other option" + (f" # {', '.join(sorted(extra))}" if extra else ""))


# tools that tell the protocol's version, too
PROTOCOL = ("kvgpu-remoted", "kvgpu-remotectl", "kvgpu-run")


def try_words(name, path, release):
    word, near = TOOLS[name][3]
    status, said, _ = run(path, "--version")
    protocol = r", protocol [0-9a-f]{8}-[0-9a-f]{8}" if name in PROTOCOL else ""
    check(status == 0 and re.fullmatch(re.escape(f"{name} {release}") + protocol + "\n", said), f"{name}: its version ({said.strip()})")
    status, said, err = run(path, word)
    check(status == WRONG_USAGE.get(name, 2) and not said and err.count("\n") == 1 and word in err and has(err.replace(word, ""), near),
          f"{name}: a wrong word is named, and the right one ({err.strip()})")


def whole(name, path):
    text, heads = page(path)
    missing = [s for s in SECTIONS if s not in heads and s not in LEFT_OUT.get(name, ())]
    check(not missing, f"{path}: has its sections" + (f" # not {', '.join(missing)}" if missing else ""))
    check(name == "kvgpu" or has(text.partition("SEE ALSO")[2], "kvgpu (7)"), f"{path}: names kvgpu(7)")
    out = subprocess.run(["man", "--warnings", "-l", f"{TREE}/{path}"], env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100"),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False) if shutil.which("man") else None
    check(not out or not out.returncode and not out.stderr, f"{path}: is read without a warning{'' if out else ' # SKIP no man'}")


def overview():
    text = page(OTHER["kvgpu"])[0]
    pages = {name: info[0] for name, info in TOOLS.items()} | {"remote.conf": OTHER["remote.conf"]}
    missing = [name for name, path in pages.items() if not has(text, f"{name} ({path[-1]})")]
    check(not missing, "kvgpu(7) names all pages" + (f" # not {', '.join(missing)}" if missing else ""))
    there = subprocess.run(["git", "-C", TREE, "ls-files", "*.[1-8]"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    check(sorted(there) == sorted([*pages.values(), OTHER["kvgpu"]]), "this test knows all pages")


def main(folders):
    release = re.search(r"^KVGPU_VERSION\s*:= (\S+)$", read("kvgpu.mk"), re.M).group(1)
    for name in TOOLS:
        path = program(name, folders)
        compare(name, path)
        if path:
            try_words(name, path, release)
        whole(name, TOOLS[name][0])
    for name, path in OTHER.items():
        whole(name, path)
    overview()
    print(f"1..{len(results)}")
    return not all(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
