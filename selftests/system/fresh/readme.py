#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints what the section "Share a Kepler card among VMs" of the project's README.md tells a user.

readme.py packages    what has to be installed before, one package a line
readme.py commands    the commands, one a line
readme.py needs       disk, memory and fetched, one a line, in bytes
"""
import pathlib
import re
import sys

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"
SECTION = "Share a Kepler card among VMs"
UNITS = {"MB": 10**6, "GB": 10**9}


def section(text):
    found = re.search(rf"^## {SECTION}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        sys.exit(f"README.md has no section '{SECTION}'")
    return found.group(1)


def commands(text):
    """Return the indented lines of the section, without their comments."""
    lines = (re.sub(r"\s+#.*", "", line).strip() for line in re.findall(r"^    (.+)", section(text), re.M))
    return [line for line in lines if line] or sys.exit(f"README.md: no commands in '{SECTION}'")


def needs_paragraph(text):
    found = re.search(r"^What has to be there: (.*?)(?=\n\n|\Z)", section(text), re.M | re.S)
    return found.group(1) if found else sys.exit(f"README.md: no paragraph 'What has to be there:' in '{SECTION}'")


def packages(text):
    """Return all names in back quotes in that paragraph."""
    return re.findall(r"`([a-z0-9][a-z0-9+.-]+)`", needs_paragraph(text))


def needs(text):
    paragraph, found = needs_paragraph(text), {}
    for what, form in (("disk", "{} of disk"), ("memory", "{} of memory"), ("fetched", "{} fetched")):
        match = re.search(form.format(r"([0-9][0-9,.]*) (MB|GB)").replace(" ", r"\s+"), paragraph)
        if not match:
            sys.exit(f"README.md: 'What has to be there:' does not say {form.format('N GB')}")
        found[what] = int(float(match.group(1).replace(",", "")) * UNITS[match.group(2)])
    return found


def main():
    text = README.read_text(encoding="utf-8")
    match sys.argv[1:]:
        case ["packages"]:
            print(*packages(text), sep="\n")
        case ["commands"]:
            print(*commands(text), sep="\n")
        case ["needs"]:
            print(*(f"{name} {value}" for name, value in needs(text).items()), sep="\n")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
