#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""serve.py PORT COMMAND...: as a socket unit with Accept=yes. COMMAND gets each connection as its standard input and output."""
import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        connection, _ = server.accept()
        with connection:
            subprocess.run(sys.argv[2:], stdin=connection, stdout=connection, check=False)
