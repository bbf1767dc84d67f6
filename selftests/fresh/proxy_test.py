#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""TAP: tests proxy.py against a made-up archive, and what readme.py and table.py take from
README.md and write."""
import contextlib
import hashlib
import http.client
import http.server
import io
import os
import pathlib
import sys
import tempfile
import threading
import traceback
import unittest.mock

sys.dont_write_bytecode = True
import proxy    # noqa: E402
import readme   # noqa: E402
import table    # noqa: E402

INDEX = b"Package: made-up\n" * 1000
BY_HASH = "/dists/x/by-hash/SHA256/" + hashlib.sha256(INDEX).hexdigest()
HANG_S = 60     # only ends a hang: no wait here lasts so long


class ArchiveHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        status, body, announced = self.server.files.get(self.path, (404, b"none", None))
        if self.headers.get("If-Modified-Since") and status == 200:
            status, body = 304, b""
        self.send_response(status)
        if announced != "none":
            self.send_header("Content-Length", str(announced or len(body)))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if announced:
            self.close_connection = True

    def log_message(self, *args):
        pass


class Case:
    """A made-up archive and a proxy.py that fetches from it; get() sends the requests that apt
    would send."""

    def __init__(self, directory, **options):
        self.archive = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ArchiveHandler)
        self.archive.daemon_threads = True
        self.archive.asked = []
        self.archive.files = {"/pool/a.deb": (200, b"a" * 300000, None), "/dists/x/InRelease": (200, b"first", None),
                              BY_HASH: (200, INDEX, None)}
        self.log, self.gets = io.StringIO(), []
        self.directory = directory
        self.proxy = proxy.Proxy(proxy.Store(directory), proxy.Archive(timeout=HANG_S, **options), self.log)
        self.host = f"127.0.0.1:{self.archive.server_port}"
        for server in (self.archive, self.proxy):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def get(self, path, connection=None, host=None, **headers):
        own = connection or http.client.HTTPConnection("127.0.0.1", self.proxy.server_port, timeout=HANG_S)
        self.gets.append(path)
        own.request("GET", f"http://{host or self.host}{path}", headers={n.replace("_", "-"): v for n, v in headers.items()})
        answer = own.getresponse()
        try:
            return answer.status, answer.read()
        finally:
            self.noted()

    def kept(self):
        return sorted(os.listdir(self.directory))

    def noted(self):
        """Return the proxy's log as numbers. A line is written after its answer was sent and kept,
        so wait for one line for each get()."""
        for _ in range(100 * HANG_S):
            lines = self.log.getvalue().splitlines()
            if len(lines) >= len(self.gets):
                return [tuple(map(int, line.split()[:3])) for line in lines]
            threading.Event().wait(0.01)
        raise AssertionError("an answer was not noted")


def a_package_is_fetched_once(case):
    assert case.get("/pool/a.deb") == case.get("/pool/a.deb") == (200, b"a" * 300000)
    assert len(case.archive.asked) == 1
    assert case.noted() == [(300000, 300000, 200), (300000, 0, 200)]


def what_is_asked_for_stays_young(case):
    case.get("/pool/a.deb")
    kept = os.path.join(case.directory, case.kept()[0])
    os.utime(kept, (1, 1))
    case.get("/pool/a.deb")
    assert os.stat(kept).st_mtime > 1


def an_index_by_its_hash_is_fetched_once(case):
    assert case.get(BY_HASH) == case.get(BY_HASH) == (200, INDEX)
    assert len(case.archive.asked) == 1


def an_index_with_a_wrong_hash_is_not_kept(case):
    case.archive.files[BY_HASH] = (200, INDEX[1:], None)
    case.get(BY_HASH)
    assert case.kept() == []
    case.archive.files[BY_HASH] = (200, INDEX, None)
    assert case.get(BY_HASH) == (200, INDEX)


def what_can_change_is_asked_for_again(case):
    assert case.get("/dists/x/InRelease") == (200, b"first")
    case.archive.files["/dists/x/InRelease"] = (200, b"second", None)
    assert case.get("/dists/x/InRelease") == (200, b"second")
    assert case.get("/dists/x/InRelease", If_Modified_Since="Sat, 21 Nov 2026 00:00:00 GMT") == (304, b"")
    assert case.kept() == []


def an_answer_that_breaks_off_is_not_kept(case):
    case.archive.files["/pool/a.deb"] = (200, b"a" * 1000, 300000)
    try:
        case.get("/pool/a.deb")
        raise AssertionError("apt saw a whole answer")
    except http.client.IncompleteRead:
        pass
    assert case.noted() == [(1000, 1000, 200)] and case.kept() == []
    case.archive.files["/pool/a.deb"] = (200, b"a" * 300000, None)
    assert case.get("/pool/a.deb") == (200, b"a" * 300000)


def an_answer_without_a_length_is_passed_on_and_not_kept(case):
    case.archive.files["/pool/a.deb"] = (200, b"a" * 5000, "none")
    assert case.get("/pool/a.deb") == (200, b"a" * 5000)
    assert case.kept() == []


def of_a_package_the_whole_is_asked_for(case):
    assert case.get("/pool/a.deb", Range="bytes=100-")[0] == 200
    assert "Range" not in case.archive.asked[0][1]


def an_error_of_the_archive_is_passed_on_and_not_kept(case):
    assert case.get("/pool/none.deb") == (404, b"none")
    assert case.kept() == []


def an_archive_that_is_not_there_is_a_502(case):
    with http.server.HTTPServer(("127.0.0.1", 0), ArchiveHandler) as gone:
        port = gone.server_port
    assert case.get("/pool/a.deb", host=f"127.0.0.1:{port}")[0] == 502


def a_connection_serves_many(case):
    connection = http.client.HTTPConnection("127.0.0.1", case.proxy.server_port, timeout=HANG_S)
    for _ in range(3):
        assert case.get("/pool/a.deb", connection)[0] == case.get("/dists/x/InRelease", connection)[0] == 200
    assert len(case.archive.asked) == 4


def several_at_once_get_the_same(case):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(case.get("/pool/a.deb"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [(200, b"a" * 300000)] * 8 and len(case.kept()) == 1


def the_way_goes_through_the_machines_proxy(case):
    case.proxy.archive.via = proxy.urllib.parse.urlsplit(f"http://me:secret@{case.host}")
    whole = "http://archive.invalid/pool/a.deb"
    case.archive.files[whole] = (200, b"through", None)
    assert case.get("/pool/a.deb", host="archive.invalid") == (200, b"through")
    assert case.archive.asked[0][1]["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"


def readme_says_what_the_cells_run(_case):
    text = readme.README.read_text(encoding="utf-8")
    assert readme.commands(text) == ["make demo", "make check"]
    assert readme.packages(text) and min(readme.needs(text).values()) > 0
    made_up = "## Two commands\n\n    a b   # c\n    d\n\nWhat has to be there: `pp`, `q-1.0`; 1.5 GB of disk,\n2 GB of memory, 1,300 MB fetched\n\n## Next\n\n    e\n"
    assert readme.commands(made_up) == ["a b", "d"] and readme.packages(made_up) == ["pp", "q-1.0"]
    assert readme.needs(made_up) == {"disk": 1500000000, "memory": 2000000000, "fetched": 1300000000}


def needs_that_are_too_low_are_told(_case):
    steps = [dict(zip(table.STEP, ("x", 0, 1, 600, 0, 50, 900, 0, 0))), dict(zip(table.STEP, ("y", 0, 1, 600, 0, 70, 800, 0, 0)))]
    cells = {"one": {"steps": steps}, "two": None}
    assert table.too_low({"disk": 900, "memory": 70, "fetched": 1200}, cells) == []
    assert [line.split("(")[1].split(")")[0] for line in table.too_low({"disk": 899, "memory": 69, "fetched": 1199}, cells)] == \
        ["disk", "memory", "fetched"]


def the_table_has_the_records_and_tells_needs_that_are_too_low(case):
    records = pathlib.Path(case.directory)
    for name, disk, needs, rc in (("one", 4000000, True, 0), ("two", 10**15, False, 0), ("two", 10**15, True, 1)):
        step = "\t".join(("step", "make x", "0", "61", "2000000", "1000000", "3000000", str(disk), "5", "6"))
        (records / f"{name}.tsv").write_text(f"cell\t{name}\nplace\t/x\ncommit\tabc\ndate\t2026-11-21\n{step}\nresult\tpassed\n", encoding="utf-8")
        arguments = ["table.py", "--records", case.directory, "--out", case.directory, *(["--needs"] if needs else []), "one", "two"]
        with unittest.mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(io.StringIO()) as said:
            assert table.main() == rc
        counts = "1 passed, 0 failed, 1 not run" if name == "one" else "2 passed, 0 failed, 0 not run"
        assert said.getvalue().splitlines()[-1] == counts and ("README.md says" in said.getvalue()) == (rc == 1)
        assert "| one | /x | make x | 61 | 2 | 1 | 3 | 4 | passed |" in (records / "table.md").read_text(encoding="utf-8")


CASES = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__code__", None)
         and value.__code__.co_varnames[:1] in (("case",), ("_case",))]


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, test in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as directory:
            name = test.__name__.replace("_", " ")
            try:
                test(Case(directory))
                print(f"ok {number} - {name}")
            except Exception as error:    # pylint: disable=broad-except
                failed += 1
                traceback.print_exc()
                print(f"# {type(error).__name__}: {error}\nnot ok {number} - {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
