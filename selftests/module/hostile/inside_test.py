#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: "inside.sh kill" returns when the guest's process has ended and its vGPU is not open, not before. Here a process that sleeps
is the guest, and a file that this test writes is the vGPU's "state" of debugfs."""
import os
import subprocess
import sys
import tempfile
import time

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.sh")
UUID = "6b766770-0000-4000-8000-%012x" % os.getpid()
LONG = 0.5        # seconds; in less, a call that does not wait has returned

results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}")


class Guest:
    """The process stays a zombie until it is waited for: its command line is gone, its id is not."""
    def __init__(self, work):
        self.folder = f"{work}/debugfs/0000:01:00.0/{UUID}"
        self.env = {**os.environ, "HOSTILE_RUN": f"{work}/run", "HOSTILE_DEBUGFS": f"{work}/debugfs"}
        os.makedirs(self.folder, exist_ok=True)
        self.state(1)
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "qemu-system",
                                         f"sysfsdev=/sys/bus/mdev/devices/{UUID}"])

    def state(self, is_open):
        with open(f"{self.folder}/state.new", "w") as f:
            f.write(f"id 0 type kvgpu-512m open {is_open}\nmsi 0 intx 1 masked 0 pending 0 request 0\n")
        os.replace(f"{self.folder}/state.new", f"{self.folder}/state")

    def kill(self):
        return subprocess.Popen([INSIDE, "kill", UUID], env=self.env)


def returns(process, seconds):
    """exit code; None: it has not returned"""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def main():
    with tempfile.TemporaryDirectory() as work:
        guest = Guest(work)
        kill = guest.kill()
        guest.process.wait()
        check(guest.process.returncode == -9 and returns(kill, LONG) is None, "it waits while the vGPU is open")
        guest.state(0)
        check(returns(kill, 60) == 0, "it returns when the vGPU is not open any more")

        guest = Guest(work)
        guest.state(0)
        kill = guest.kill()
        time.sleep(LONG)
        check(returns(kill, 0) is None, "it waits while the process has not ended")
        guest.process.wait()
        check(guest.process.returncode == -9 and returns(kill, 60) == 0, "it returns when the process has ended")
        check(guest.kill().wait() != 0, "without a guest it fails")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
