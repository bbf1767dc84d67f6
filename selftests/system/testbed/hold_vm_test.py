#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: testbed/inside/hold-vm returns when its VM is open, not before, also a second call while the first one opens it; and fails if
KVM opens none. KVM is a stand-in: an empty file, and an ioctl() that takes SLOW seconds and writes down what it was asked."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HOLD_VM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../testbed/inside/hold-vm")
SLOW = 0.1
# argv: the script, the stand-in, the file of what was asked
ROOM = f"""
import builtins, fcntl, os, sys, time
script, kvm, asked = sys.argv[1:]
plain = open

def instead(path, *rest, **options):
    return plain(kvm if path == "/dev/kvm" else path, *rest, **options)

def ioctl(fd, request, argument=0):
    time.sleep({SLOW})
    if os.path.exists(kvm + ".broken"):
        raise OSError("the stand-in is broken")
    with plain(asked, "a") as f:
        f.write(f"{{os.getpid()}} {{request:#x}}\\n")
    return fd if isinstance(fd, int) else fd.fileno()

builtins.open, fcntl.ioctl = instead, ioctl
sys.argv = [script]
exec(compile(plain(script).read(), script, "exec"), {{"__name__": "__main__", "__file__": script}})
"""
ALL = ["0xae01", "0xae60", "0xae41"]

results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}", flush=True)


class Server:
    def __init__(self, work):
        self.kvm, self.asked = pathlib.Path(work, "kvm"), pathlib.Path(work, "asked")
        for path in (self.kvm, self.asked):
            path.touch()

    def start(self):
        return subprocess.Popen([sys.executable, "-c", ROOM, HOLD_VM, self.kvm, self.asked], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def requests(self):
        return [line.split()[1] for line in self.asked.read_text().splitlines()]

    def holders(self):
        return {int(line.split()[0]) for line in self.asked.read_text().splitlines()}


def alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def ended(process):
    """(exit code, whether nothing holds its output open) when it has ended"""
    code = process.wait(60)
    begin = time.monotonic()
    process.stdout.read()
    return code, time.monotonic() - begin < 60


def main():
    with tempfile.TemporaryDirectory() as work:
        server = Server(work)
        first = server.start()
        time.sleep(SLOW)
        second = server.start()
        code, apart = ended(first)
        check(code == 0 and server.requests() == ALL, f"the first call returns when its VM is open ({code}, {server.requests()})")
        check(apart, "and the process that holds it has left the caller's output")
        code, _ = ended(second)
        check(code == 0 and server.requests() == ALL, f"a second call meanwhile waits for the same VM ({code}, {server.requests()})")
        holders = server.holders()
        check(len(holders) == 1 and all(map(alive, holders)), "one process holds the VM")
        for pid in filter(alive, holders):
            os.kill(pid, signal.SIGKILL)
    with tempfile.TemporaryDirectory() as work:
        server = Server(work)
        pathlib.Path(work, "kvm.broken").touch()
        code, _ = ended(server.start())
        check(code != 0, f"a VM that can't be opened is a failure ({code})")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
