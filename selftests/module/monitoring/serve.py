#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""serve.py PORT COMMAND...: as a socket unit: starts COMMAND, with the socket as its standard input, when somebody connects."""
import select
import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        select.select([server], [], [])
        subprocess.run(sys.argv[2:], stdin=server, check=False)
