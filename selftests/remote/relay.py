#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# relay.py vsock|tcp PORT JAIL USER GROUP: as the VMM of a microVM, in a jail: what comes to PORT, by vsock or by TCP from this machine, goes
# to the UNIX socket /v.sock_PORT there
import os
import socket
import sys
import threading


def copy(come, go):
    try:
        while data := come.recv(1 << 16):
            go.sendall(data)
        go.shutdown(socket.SHUT_RDWR)
    except OSError:
        come.close()


port, jail, user, group = int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
if sys.argv[1] == "vsock":
    guests = socket.socket(socket.AF_VSOCK)
    guests.bind((socket.VMADDR_CID_ANY, port))
    guests.listen()
else:
    guests = socket.create_server(("127.0.0.1", port))
os.chroot(jail)
os.setgroups([])
os.setgid(group)
os.setuid(user)
print("listens", flush=True)
while True:
    guest, host = guests.accept()[0], socket.socket(socket.AF_UNIX)
    try:
        host.connect(f"/v.sock_{port}")
    except OSError as e:
        print(e, flush=True)
        guest.close()
        continue
    for ends in (guest, host), (host, guest):
        threading.Thread(target=copy, args=ends, daemon=True).start()
