#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
far.py serve ADDRESS: starts commands for clients of that network, as a daemon of ssh does.
far.py [OPTION...] HOST COMMAND...: has HOST start a command, as ssh does for mpirun, by TCP: both
ends stay when the network between them is cut. Neither asks who the other one is.
"""
import os
import select
import signal
import socket
import subprocess
import sys

# MARK: a variable by which lib.sh finds the processes of a run; the command gets it, too
PORT, SOME, MARK = 1022, 65536, "KVGPU_CLUSTER_TEST"


def start(client):
    """One client: its lines, then its command; what the command says goes back until its end."""
    said = client.makefile("rb", buffering=0)
    mark, size = said.readline().decode().strip(), int(said.readline())
    command = b""
    while len(command) < size:
        command += said.read(size - len(command))
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.path.dirname(os.path.abspath(__file__)), MARK: mark,
                   "KVGPU_INPROCESS_GPUS": "2"}
    child = subprocess.Popen(["sh", "-c", command], env=environment, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
    inputs = [client, child.stdout]
    while child.stdout in inputs:
        for ready in select.select(inputs, [], [])[0]:
            data = client.recv(SOME) if ready is client else os.read(child.stdout.fileno(), SOME)
            if not data:
                inputs.remove(ready)
                if ready is client:
                    child.stdin.close()
            elif ready is client:
                child.stdin.write(data)
                child.stdin.flush()
            else:
                client.sendall(data)
    child.wait()


def serve(address):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        client = listener.accept()[0]
        if not os.fork():
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            start(client)
            os._exit(0)
        client.close()


def ask(words):
    while words[0].startswith("-"):
        words = words[1:]
    command = " ".join(words[1:]).encode()
    server = socket.create_connection((words[0], PORT))
    server.sendall(f"{os.environ.get(MARK, '')}\n{len(command)}\n".encode() + command)
    inputs = [0, server]
    while server in inputs:
        for ready in select.select(inputs, [], [])[0]:
            data = server.recv(SOME) if ready is server else os.read(0, SOME)
            if data and ready is server:
                os.write(1, data)
            elif data:
                server.sendall(data)
            else:
                inputs.remove(ready)
                if ready == 0:
                    server.shutdown(socket.SHUT_WR)


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    ask(sys.argv[1:])
