#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""garbage.py SOCKET VERSION SEED: clients that say nonsense to kvgpu-remoted. Exit code 1: the server did not live up to it."""
import random
import socket
import struct
import sys
import threading

path, version, seed = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
MAGIC, WELCOME = 0x746D6572757067, 32
rng = random.Random(seed)


def connect(said=version):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(path)
    s.sendall(struct.pack("<QQ", MAGIC, said))
    return s, s.recv(WELCOME, socket.MSG_WAITALL)


def frame(op, payload=b"", box=0, seq=1):
    return struct.pack("<QHHI", seq, op, box, len(payload)) + payload


def swallow(s):
    """a server that answers with a whole arena waits until somebody reads it"""
    try:
        while s.recv(1 << 20):
            pass
    except OSError:
        pass


def send(s, data):
    """the server may have closed already"""
    try:
        s.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def word():
    """often a number of a handle that may exist: class, generation, index"""
    return rng.choice((0, 1, 2, 8, 4096, 1 << 20, rng.getrandbits(64), 1 << 56 | 1 << 32 | rng.randrange(8),
                       rng.randrange(1, 16) << 56 | 1 << 32 | rng.randrange(9)))


# what no peer of this kind says
s, welcome = connect(version + 1)
assert struct.unpack("<QQQII", welcome)[3] == 1, "another version is welcome"
for data in (b"", b"\0" * 100, bytes(rng.randrange(256) for _ in range(5000))):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    send(s, data)
    s.close()
# frames of random operations, lengths and words
for turn in range(20):
    s, welcome = connect()
    assert len(welcome) == WELCOME, "no welcome"
    threading.Thread(target=swallow, args=(s,), daemon=True).start()
    for i in range(200):
        words = rng.randrange(40)
        payload = b"".join(struct.pack("<Q", word()) for _ in range(words))
        op = rng.choice((rng.randrange(16, 300), rng.randrange(1 << 16)))
        if op in (1, 2):
            op = 16
        if not send(s, frame(op, payload, rng.choice((0, 1, 1024)), i + 1)):
            break
    s.shutdown(socket.SHUT_RDWR)
    s.close()
# a frame that never ends, a piece beside the arena
for data in (frame(16)[:7], struct.pack("<QHHI", 1, 16, 1, 1 << 31), frame(2, struct.pack("<QQ", 1 << 62, 1 << 62))):
    s, _ = connect()
    send(s, data)
    s.close()
print("all said")
