#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""http_peers.py ask|silent COMMAND...: COMMAND serves HTTP at the socket that is its standard input, as a socket unit would start it.
ask: sends the request that standard input has, and prints the answer. silent: hundreds of peers say nothing, half a request, or do not
read the answer; meanwhile each request is answered, the silent ones are ended, and COMMAND ends by itself when nobody comes any more."""
import socket
import subprocess
import sys

SILENT = 600                # more than COMMAND has room for
HANGS_S = 60
REQUEST = b"GET /metrics HTTP/1.1\r\n\r\n"


def connect(listening, first=b""):
    peer = socket.create_connection(listening.getsockname(), timeout=HANGS_S)
    peer.sendall(first)
    return peer


def read_all(peer):
    try:
        return b"".join(iter(lambda: peer.recv(65536), b""))
    except ConnectionResetError:
        return b""


def ask(listening, request):
    with connect(listening, request) as peer:
        peer.shutdown(socket.SHUT_WR)
        return read_all(peer)


def silent(listening):
    held = []
    for i in range(SILENT):
        held.append(connect(listening, (b"", REQUEST[:7], REQUEST)[i % 3]))
        if i % 20 == 0 and not ask(listening, REQUEST).startswith(b"HTTP/1.1 200 "):
            return f"no answer beside {i} silent peers"
    for peer in held:
        try:
            read_all(peer)
        except TimeoutError:
            return "a silent peer is not ended"
    return None


listening = socket.create_server(("127.0.0.1", 0), backlog=1000)
command = subprocess.Popen(sys.argv[2:], stdin=listening)
if sys.argv[1] == "ask":
    sys.stdout.buffer.write(ask(listening, sys.stdin.buffer.read()))
    command.kill()
    sys.exit(0)
wrong = silent(listening)
if not wrong and command.wait(HANGS_S) != 0:
    wrong = f"exit code {command.returncode}"
command.kill()
print(wrong or "as it should be")
sys.exit(wrong is not None)
