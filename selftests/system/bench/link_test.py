#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""link_test.py LINK     TAP: link.c carries bytes whole, counts turns, holds little, sleeps when nothing crosses, and ends with its parent."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

BIG = 16 << 20
HELD = 8 << 20          # the link's own MiB, and what the kernel's buffers towards the target hold
results = []


def check(ok, what):
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}", flush=True)


class Link:
    """a link, and a target that it leads to"""
    def __init__(self, delay, gbit):
        self.target = socket.create_server(("127.0.0.1", 0))
        self.target.settimeout(20)
        self.p = subprocess.Popen([sys.argv[1], "0", str(self.target.getsockname()[1]), delay, gbit], stdout=subprocess.PIPE, text=True)
        self.port = int(self.p.stdout.readline())

    def connect(self):
        """the client's end and the target's"""
        client = socket.create_connection(("127.0.0.1", self.port), 20)
        return client, self.target.accept()[0]

    def counts(self):
        self.p.send_signal(signal.SIGUSR1)
        return json.loads(self.p.stdout.readline())

    def cpu(self):
        """in ticks"""
        with open(f"/proc/{self.p.pid}/stat") as f:
            return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))


def all_of(s):
    got = bytearray()
    while more := s.recv(1 << 20):
        got += more
    return bytes(got)


def send_and_end(s, what):
    s.sendall(what)
    s.shutdown(socket.SHUT_WR)


def turns(link):
    client, target = link.connect()
    for _ in range(7):
        client.sendall(b"a")
        client.sendall(b"question")
        target.recv(9, socket.MSG_WAITALL)
        target.sendall(b"answer")
        client.recv(6, socket.MSG_WAITALL)
    target.sendall(b"news")
    client.recv(4, socket.MSG_WAITALL)
    check(link.counts() == {"connections": 1, "up": 63, "down": 46, "turns": 7}, "seven questions are seven turns, and news is none")
    client.close()
    target.close()


def whole(link):
    client, target = link.connect()
    up, down = os.urandom(BIG), os.urandom(BIG)
    senders = [threading.Thread(target=send_and_end, args=a) for a in ((client, up), (target, down))]
    senders[0].start()
    before = -1
    while (held := link.counts()["up"] - 63) > before:     # the target does not read yet
        before = held
        time.sleep(0.1)
    check(held <= HELD, f"a target that does not read makes the sender wait ({held >> 10} KiB are under way)")
    senders[1].start()
    back = []
    reader = threading.Thread(target=lambda: back.append(all_of(client)))
    reader.start()
    check(all_of(target) == up, "bytes and the end arrive at the target")
    reader.join()
    check(back == [down], "and at the client")
    counts = link.counts()
    check((counts["up"], counts["down"], counts["connections"]) == (63 + BIG, 46 + BIG, 2), "all of them are counted")


def gone(link):
    client, target = link.connect()
    client.sendall(b"x")
    target.recv(1)
    client.close()
    check(target.recv(1) == b"", "the target sees the client's end")
    target.close()
    link.target.close()
    client = socket.create_connection(("127.0.0.1", link.port), 20)
    check(client.recv(1) == b"", "without a target a connection ends")


def idle(link):
    before = link.cpu()
    time.sleep(0.2)
    check(link.cpu() - before <= 2, "it takes no CPU time while nothing crosses")


def ends(link):
    link.p.terminate()
    last = link.p.stdout.readline()
    check(link.p.wait(20) == 0 and json.loads(last)["connections"] == 3, "SIGTERM ends it, with its counts")
    code = "import subprocess, sys; p = subprocess.Popen([sys.argv[1], '0', '1', '0', '1'], stdout=subprocess.PIPE); p.stdout.readline(); print(p.pid)"
    pid = int(subprocess.run([sys.executable, "-c", code, sys.argv[1]], capture_output=True, check=True).stdout)
    end = time.monotonic() + 20
    while running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    check(not running(pid), "it ends with its parent")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def refused():
    good = ["0", "1", "0", "1"]
    for at, wrong in ((0, "65536"), (0, "-1"), (1, "0"), (1, "port"), (2, "-5"), (2, "1s"), (3, "0"), (3, "nan"), (3, "")):
        p = subprocess.run([sys.argv[1], *good[:at], wrong, *good[at + 1:]], capture_output=True, text=True, check=False, timeout=20)
        if p.returncode != 2 or f'not "{wrong}"' not in p.stderr or p.stdout:
            return False
    p = subprocess.run([sys.argv[1], *good[:3]], capture_output=True, text=True, check=False, timeout=20)
    return p.returncode == 2 and p.stderr.startswith("usage")


def main():
    link = Link("50", "25")
    turns(link)
    whole(link)
    gone(link)
    idle(link)
    ends(link)
    check(refused(), "arguments that are wrong are named")
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
