# SPDX-License-Identifier: GPL-2.0-only
"""What stages need of the machine: files, commands, the kernel's log, and the card in sysfs. All paths are below one root,
which is "/" but in tests."""
import fnmatch
import os
import re
import subprocess


class Outcome:
    """How a stage ended. A failed one has a cause and an advice (what to do), a skipped one the same; facts are for
    programs, notes for a person."""

    def __init__(self, status, cause="", advice="", facts=None, notes=()):
        self.status, self.cause, self.advice = status, cause, advice
        self.facts, self.notes = facts or {}, list(notes)


def passed(facts=None, notes=()):
    return Outcome("pass", facts=facts, notes=notes)


def failed(cause, advice="", facts=None, notes=()):
    return Outcome("fail", cause, advice, facts, notes)


def skipped(cause, advice=""):
    return Outcome("skip", cause, advice)


class System:
    def __init__(self, root="/"):
        self.root = root

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def read(self, name, default=None):
        try:
            with open(self.path(name), "rb") as f:
                return f.read().decode("utf-8", "replace").strip("\0\n ")
        except OSError:
            return default

    def number(self, name, default=None):
        try:
            return int(self.read(name, ""), 0)
        except ValueError:
            return default

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def write_apart(self, name, text):
        """write() by a child, which is returned: the caller can be ended though the kernel does not let the child go."""
        return subprocess.Popen(["/bin/sh", "-c", 'printf %s "$2" >"$1"', "sh", self.path(name), text], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def names(self, name):
        try:
            return sorted(os.listdir(self.path(name)))
        except OSError:
            return []

    def link(self, name):
        try:
            return os.path.basename(os.readlink(self.path(name)))
        except OSError:
            return None

    def exists(self, name):
        return os.path.exists(self.path(name))

    def run(self, *command, timeout=900):
        """The exit status and the output of a command; 127 if it is not there, 124 if it does not end in time."""
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=timeout, check=False)
            return done.returncode, done.stdout.decode("utf-8", "replace")
        except OSError as e:
            return 127, str(e)
        except subprocess.TimeoutExpired as e:
            return 124, (e.stdout or b"").decode("utf-8", "replace") + f"\n{command[0]}: not done after {timeout} s"


class KernelLog:
    """/dev/kmsg: what the kernel said since mark()."""
    RECORD = re.compile(r"^(\d+),(\d+),(\d+),[^;]*;(.*)$")

    def __init__(self, system):
        self.system, self.seen = system, -1

    def records(self):
        try:
            fd = os.open(self.system.path("/dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return
        try:
            while True:
                try:
                    chunk = os.read(fd, 65536)
                except BlockingIOError:
                    return
                except BrokenPipeError:  # the kernel has overwritten what was to be read: go on behind it
                    continue
                if not chunk:
                    return
                for line in chunk.decode("utf-8", "replace").splitlines():
                    m = self.RECORD.match(line)
                    if m:
                        yield int(m[2]), m[4]
        finally:
            os.close(fd)

    def mark(self):
        self.seen = max((number for number, _ in self.records()), default=-1)

    def since(self):
        return [text for number, text in self.records() if number > self.seen]


class Card:
    """The PCI device at an address such as 0000:01:00.0."""

    def __init__(self, system, address):
        self.system, self.address = system, address
        self.folder = f"/sys/bus/pci/devices/{address}"

    def read(self, name, default=None):
        return self.system.read(f"{self.folder}/{name}", default)

    def number(self, name, default=None):
        return self.system.number(f"{self.folder}/{name}", default)

    def driver(self):
        return self.system.link(f"{self.folder}/driver")

    def bar_size(self, bar):
        """Bytes; 0: the BAR has no address."""
        lines = (self.read("resource") or "").splitlines()
        first, last = (int(word, 16) for word in lines[bar].split()[:2]) if bar < len(lines) else (0, 0)
        return last - first + 1 if first else 0

    def vgpus(self):
        return [n for n in self.system.names(self.folder) if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", n)]

    def is_known(self):
        """Whether the installed module names this board."""
        status, aliases = self.system.run("modinfo", "-F", "alias", "kvgpu")
        return not status and any(fnmatch.fnmatchcase(self.read("modalias", ""), a) for a in aliases.split())


def find_cards(system):
    """Addresses of all NVIDIA display controllers (PCI classes 0300 and 0302)."""
    folder = "/sys/bus/pci/devices"
    return [a for a in system.names(folder)
            if system.read(f"{folder}/{a}/vendor") == "0x10de" and (system.read(f"{folder}/{a}/class") or "").startswith("0x03")]
