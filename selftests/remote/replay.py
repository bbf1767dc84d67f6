#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""replay.py PORT GROUP ATTACKERS SECONDS: so many peers without a certificate say one ClientHello to 127.0.0.1 again and again, from
127.9.9.9, and wait each time for what comes. GROUP: x25519 or ffdhe8192, whose key share costs them nothing. Prints how many
connections, and their CPU time together."""
import os
import socket
import struct
import sys
import time

GROUPS = {"x25519": (0x001D, 32), "ffdhe8192": (0x0104, 1024)}


def counted(size, data):
    return len(data).to_bytes(size, "big") + data


def client_hello(group):
    """RFC 8446, 4.1.2: TLS 1.3, AES-128-GCM, ECDSA P-256 and RSA-PSS, one group and a key share of it"""
    number, size = GROUPS[group]
    share = b"\x42" + os.urandom(size - 1)
    extensions = ((43, counted(1, b"\x03\x04")), (10, counted(2, struct.pack(">H", number))), (13, counted(2, b"\x04\x03\x08\x04")),
                  (51, counted(2, struct.pack(">H", number) + counted(2, share))))
    body = b"\x03\x03" + os.urandom(32) + counted(1, os.urandom(32)) + counted(2, b"\x13\x01") + b"\x01\x00"
    body += counted(2, b"".join(struct.pack(">H", kind) + counted(2, data) for kind, data in extensions))
    return b"\x16\x03\x01" + counted(2, b"\x01" + counted(3, body))


def attack(port, hello, end):
    n = 0
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), 2, ("127.9.9.9", 0)) as s:
                s.sendall(hello)
                s.settimeout(max(end - time.monotonic(), 0.1))
                s.recv(1)
                n += 1
        except OSError:
            pass
    return n


def main():
    port, hello, end = int(sys.argv[1]), client_hello(sys.argv[2]), time.monotonic() + float(sys.argv[4])
    reader, writer = os.pipe()
    for _ in range(int(sys.argv[3])):
        if not os.fork():
            before = time.process_time()
            n = attack(port, hello, end)
            os.write(writer, struct.pack("=Qd", n, time.process_time() - before))
            os._exit(0)
    said = [struct.unpack("=Qd", os.read(reader, 16)) for _ in range(int(sys.argv[3]))]
    print(f"connections={sum(n for n, _ in said)} cpu={sum(cpu for _, cpu in said):.2f}")


main()
