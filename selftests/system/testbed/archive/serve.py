#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""serve.py FOLDER: an HTTP server on loopback for the archive in FOLDER/now, which can be made to
fail. It writes its port to FOLDER/port and each request to FOLDER/requests: "METHOD PATH RANGE".
It takes absolute URIs as a proxy does. FOLDER/faults, which it reads at each request, has a
fault a line: "KIND COUNT PATTERN". The first fault with COUNT above 0 and PATTERN in the
request's path happens, and its COUNT goes down by one. KIND:
  lose   answer 404
  break  send half of what was asked for, then close the connection
  stall  the same, but wait 30 s before closing
  slow   send it in parts, one each quarter of a second
  move   rename FOLDER/next to FOLDER/now, then answer the request from there
"""
import http.server
import os
import sys
import threading
import time
import urllib.parse

FOLDER = sys.argv[1]
LOCK = threading.Lock()


def take_fault(path):
    """Return the kind of fault for this path ("" if none) and count it down; do the renaming of
    "move"."""
    name = os.path.join(FOLDER, "faults")
    with LOCK:
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return ""
        for i, line in enumerate(lines):
            kind, count, pattern = line.split(" ", 2)
            if int(count) > 0 and pattern in path:
                lines[i] = f"{kind} {int(count) - 1} {pattern}"
                with open(name, "w", encoding="utf-8") as file:
                    file.write("".join(x + "\n" for x in lines))
                if kind == "move":
                    os.rename(os.path.join(FOLDER, "now"), os.path.join(FOLDER, "past"))
                    os.rename(os.path.join(FOLDER, "next"), os.path.join(FOLDER, "now"))
                return kind
    return ""


class Archive(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        with LOCK, open(os.path.join(FOLDER, "requests"), "a", encoding="utf-8") as file:
            file.write(f"{self.command} {self.path} {self.headers.get('Range', '-')}\n")
        kind = take_fault(path)
        try:
            with open(os.path.join(FOLDER, "now", path.lstrip("/")), "rb") as file:
                data = file.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            kind = "lose"
        if kind == "lose":
            self.send_error(404)
            return
        self.send(data, kind)

    def send(self, data, kind):
        begin = 0
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes=") and wanted.endswith("-") and int(wanted[6:-1]) < len(data):
            begin = int(wanted[6:-1])
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        # apt resumes a part only of a file with the same modification time
        self.send_header("Last-Modified", "Mon, 01 Jan 2035 00:00:00 GMT")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        data = data[begin:]
        if kind in ("break", "stall"):
            self.wfile.write(data[:len(data) // 2])
            self.wfile.flush()
            if kind == "stall":
                time.sleep(30)
            self.close_connection = True
            self.connection.close()
        elif kind == "slow":
            part = len(data) // 20 + 1
            for i in range(0, len(data), part):
                self.wfile.write(data[i:i + part])
                time.sleep(0.25)
        else:
            self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # the client has closed the connection, which the test wants


def main():
    server = Server(("127.0.0.1", 0), Archive)
    with open(os.path.join(FOLDER, "port.new"), "w", encoding="utf-8") as file:
        file.write(f"{server.server_port}\n")
    os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
    server.serve_forever()


main()
