#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""agent_port.py SOCKET DIR: runs the agent of tiny guests on a pseudo-terminal in place of a
guest's virtio port, and forwards between it and one client at a time of SOCKET, as QEMU's server
socket does.

What the agent writes while no client is connected is lost. While the file DIR/hold exists, the
agent is stopped; DIR/held is there while it is. DIR/greeting is made when the agent has written its
first line.
"""
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import termios
import tty

path, folder = sys.argv[1], sys.argv[2]
agent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../testbed/image/agent")
master, slave = pty.openpty()
tty.setraw(master, termios.TCSANOW)
tty.setraw(slave, termios.TCSANOW)
child = subprocess.Popen(["sh", agent, os.ttyname(slave), folder], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: (os.killpg(child.pid, signal.SIGKILL), sys.exit()))
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
client, held, first = None, False, b""
while True:
    hold = os.path.exists(os.path.join(folder, "hold"))
    if hold != held:
        os.killpg(child.pid, signal.SIGSTOP if hold else signal.SIGCONT)
        held = hold
        if held:
            open(os.path.join(folder, "held"), "w").close()
        else:
            os.remove(os.path.join(folder, "held"))
    ready = select.select([master, client or server], [], [], 0.05)[0]
    if master in ready and not held:
        data = os.read(master, 4096)
        if first is not None:
            first += data
            if b"\n" in first:
                open(os.path.join(folder, "greeting"), "w").close()
                first = None
        if client:
            try:
                client.sendall(data)
            except OSError:
                pass
    if client is None:
        if server in ready:
            client = server.accept()[0]
    elif client in ready:
        data = client.recv(4096)
        if data:
            os.write(master, data)
        else:
            client.close()
            client = None
