#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""mok.py SOCKET PASSWORD: enrolls the key that "mokutil --import" asked for with PASSWORD. Types on the machine's serial console
what a person types in the menus of MokManager at the next boot. Waits for the socket, and ends when MokManager reboots."""
import contextlib
import os
import socket
import sys
import time

DOWN, ENTER = b"\x1b[B", b"\r"
LIMIT_S = 600


class Console:
    def __init__(self, path):
        self.said, self.end = b"", time.monotonic() + LIMIT_S
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > self.end:
                    sys.exit(f"{path}: no console within {LIMIT_S} s")
                time.sleep(0.1)

    def wait(self, *texts):
        """Waits until the console has shown these texts in this order."""
        for text in texts:
            while text.encode() not in self.said:
                self.socket.settimeout(max(self.end - time.monotonic(), 0.1))
                try:
                    new = self.socket.recv(4096)
                except TimeoutError:
                    new = b""
                if not new:
                    sys.exit(f"the console did not show '{text}'; its last words: {self.said[-500:]}")
                self.said += new
            self.said = self.said.split(text.encode(), 1)[1]

    def second(self, text):
        """Chooses the second entry of a menu, which is shown again when it is marked."""
        self.socket.sendall(DOWN)
        self.wait(text)
        self.socket.sendall(ENTER)


def main(path, password):
    # QEMU drops what the firmware says while the socket is full, and some 300 bytes fill it, since each is a message: read at once
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    console = Console(path)
    console.wait("Press any key to perform MOK management")
    console.socket.sendall(b" ")
    console.wait("Enroll hash from disk")
    console.second("Enroll MOK")
    console.wait("View key 0", "Continue")
    console.second("Continue")
    console.wait("Enroll the key(s)?", "Yes")
    console.second("Yes")
    console.wait("Password:")
    console.socket.sendall(password.encode() + ENTER)
    console.wait("Enroll hash from disk")
    console.socket.sendall(ENTER)


if __name__ == "__main__":
    main(*sys.argv[1:])
