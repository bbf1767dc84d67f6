#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A caching HTTP proxy for apt, on 127.0.0.1 of the network namespace that it is started in.

With --netns it reaches the archive from that network namespace. Packages, and index files that
are named by their hash, are kept in the folder --cache and served from there. Other files are
fetched each time. --log gets a line for each answer: bytes sent
to apt, bytes that came from the archive, status, URL. Prints its port when it listens.
"""
import argparse
import base64
import ctypes
import fcntl
import hashlib
import http.client
import os
import re
import socket
import ssl
import struct
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOREVER = re.compile(r"(\.u?deb|/by-hash/SHA256/[0-9a-f]{64})$")
PIECE = 1 << 16
ONE_HOP = {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade",
           "proxy-authorization", "proxy-authenticate"}


class Archive:
    """Connections to the archive: to each host directly, or through the proxy that this machine
    uses."""

    def __init__(self, via="", tls_hosts=(), ca_file=None, timeout=60):
        self.via = urllib.parse.urlsplit(via) if via else None
        self.tls_hosts = set(tls_hosts)
        self.tls = ssl.create_default_context(cafile=ca_file) if tls_hosts else None
        self.timeout = timeout
        self.kept = threading.local()

    def _connect(self, host):
        via_headers = {}
        if self.via and self.via.username:
            secret = f"{self.via.username}:{self.via.password or ''}"
            via_headers["Proxy-Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(secret).encode()).decode()
        if host in self.tls_hosts:
            where = (self.via.hostname, self.via.port or 80) if self.via else (host, None)
            connection = http.client.HTTPSConnection(*where, timeout=self.timeout, context=self.tls)
            if self.via:
                connection.set_tunnel(host, headers=via_headers)
            return connection, {}
        if self.via:
            return http.client.HTTPConnection(self.via.hostname, self.via.port or 80, timeout=self.timeout), via_headers
        return http.client.HTTPConnection(host, timeout=self.timeout), {}

    def ask(self, url, headers):
        """Send GET url, and return the answer. If the kept connection was closed meanwhile, use a
        new one."""
        parts = urllib.parse.urlsplit(url)
        whole = bool(self.via) and parts.netloc not in self.tls_hosts
        target = url if whole else urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        pool = self.kept.__dict__.setdefault("pool", {})
        known = pool.pop(parts.netloc, None)
        for connection, extra in ([known] if known else []) + [self._connect(parts.netloc)]:
            try:
                connection.request("GET", target, headers={**headers, **extra, "Host": parts.netloc})
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException):
                connection.close()
                if known and known[0] is connection:
                    continue
                raise
            pool[parts.netloc] = (connection, extra)
            return answer
        raise OSError("no answer")

    def forget(self, url):
        """Close the connection to the URL's host: after half an answer it can't be used again."""
        known = self.kept.__dict__.get("pool", {}).pop(urllib.parse.urlsplit(url).netloc, None)
        if known:
            known[0].close()


class Store:
    """Kept files by URL. A file gets its name only when it has the announced length and, if the URL
    has a hash, that hash."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def name(self, url):
        parts = urllib.parse.urlsplit(url)
        key = hashlib.sha256((parts.netloc + parts.path).encode()).hexdigest()[:16]
        return os.path.join(self.path, key + "-" + os.path.basename(parts.path)[-100:])

    def open(self, url):
        try:
            kept = open(self.name(url), "rb")
        except FileNotFoundError:
            return None
        os.utime(kept.fileno())     # cell.sh drops files that were not used for 30 days
        return kept

    def begin(self):
        return tempfile.NamedTemporaryFile(dir=self.path, prefix="new.", delete=False)

    def end(self, url, new, digest, whole):
        new.close()
        hashed = re.search(r"/by-hash/SHA256/([0-9a-f]{64})$", url)
        if whole and (not hashed or hashed.group(1) == digest):
            os.rename(new.name, self.name(url))
        else:
            os.unlink(new.name)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "kvgpu-fresh"
    sent = came = status = 0

    def do_GET(self):
        self.sent = self.came = self.status = 0
        url = self.path
        try:
            if not url.startswith("http://"):
                self.refuse(400, "this proxy knows http only")
                return
            kept = self.server.store.open(url) if FOREVER.search(urllib.parse.urlsplit(url).path) else None
            if kept:
                with kept:
                    self.send_kept(kept)
            else:
                self.pass_on(url)
        except ConnectionError:
            self.close_connection = True    # apt went away
        finally:
            self.server.note(f"{self.sent} {self.came} {self.status} {url}")

    def refuse(self, status, why):
        self.status = status
        self.close_connection = True
        self.send_error(status, why)

    def send_head(self, status, reason, headers):
        self.status = status
        self.send_response_only(status, reason)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def send_kept(self, kept):
        size = os.fstat(kept.fileno()).st_size
        self.send_head(200, "OK", [("Content-Type", "application/octet-stream"), ("Content-Length", str(size))])
        while piece := kept.read(PIECE):
            self.wfile.write(piece)
            self.sent += len(piece)

    def pass_on(self, url):
        forever = FOREVER.search(urllib.parse.urlsplit(url).path)
        # a file that will be kept is fetched whole, also if apt asks for a part of it
        dropped = ONE_HOP | ({"range", "if-range", "if-modified-since"} if forever else set())
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped | {"host"}}
        try:
            answer = self.server.archive.ask(url, headers)
        except (OSError, http.client.HTTPException) as error:
            self.refuse(502, f"the archive does not answer: {type(error).__name__}: {error}"[:200])
            return
        length = answer.getheader("Content-Length")
        bare = answer.status in (204, 304)
        out = [(name, value) for name, value in answer.getheaders() if name.lower() not in ONE_HOP | {"content-length"}]
        if length is not None:
            out.append(("Content-Length", length))
        elif not bare:
            out.append(("Connection", "close"))
            self.close_connection = True
        self.send_head(answer.status, answer.reason, out)
        new = self.server.store.begin() if forever and answer.status == 200 else None
        digest, whole = hashlib.sha256(), False
        try:
            while piece := answer.read(PIECE):
                self.came += len(piece)
                digest.update(piece)
                if new:
                    new.write(piece)
                self.wfile.write(piece)
                self.sent += len(piece)
            whole = length is None or self.came == int(length)
        except (http.client.HTTPException, TimeoutError):
            pass
        finally:
            if new:
                self.server.store.end(url, new, digest.hexdigest(), whole and length is not None)
            if not whole:
                # close the connection, so that apt sees it break off, as it would without a proxy
                self.server.archive.forget(url)
                self.close_connection = True

    def log_message(self, *args):
        pass


class Proxy(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, store, archive, log):
        super().__init__(("127.0.0.1", 0), Handler)
        self.store, self.archive, self.log, self.lock = store, archive, log, threading.Lock()

    def server_bind(self):
        # HTTPServer.server_bind() would look up a host name, which takes long without a resolver
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def note(self, line):
        with self.lock:
            print(line, file=self.log, flush=True)


def raise_loopback():
    """Set the loopback interface up: in a new network namespace it is down."""
    get, put, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name, flags = struct.unpack("16sH", fcntl.ioctl(s, get, struct.pack("16sH14x", b"lo", 0))[:18])
        if not flags & up:
            fcntl.ioctl(s, put, struct.pack("16sH14x", name, flags | up))


def enter_netns(path):
    """Make new sockets in that network namespace from now on. The socket that listens stays in the
    old one."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as namespace:
        if libc.setns(namespace.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), f"setns {path}")


def main():
    parser = argparse.ArgumentParser(description="caching HTTP proxy for apt")
    parser.add_argument("--cache", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--netns")
    parser.add_argument("--via", default="", help="the proxy through which this machine reaches its archive")
    parser.add_argument("--tls", action="append", default=[], metavar="HOST", help="a host that is asked by https")
    parser.add_argument("--ca-file")
    options = parser.parse_args()
    if options.netns:
        raise_loopback()
    with open(options.log, "a", encoding="utf-8") as log:
        proxy = Proxy(Store(options.cache), Archive(options.via, options.tls, options.ca_file), log)
        if options.netns:
            enter_netns(options.netns)
        print(proxy.server_port, flush=True)
        proxy.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
