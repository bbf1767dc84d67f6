#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
doors.py FOLDER [PROGRAM...]: appends to FOLDER/doors each listening socket of a run's processes that
others can reach, and how many sockets were looked at; then becomes PROGRAM. FOLDER is the run's mark
(lib.sh), and has kvgpu-run's folders. "Others" are all users of this machine, and who reaches the
network namespace KVGPU_CLUSTER_NET.
"""
import glob
import os
import re
import subprocess
import sys

FOLDER = sys.argv[1]
HERE = os.readlink("/proc/self/ns/net")
OUTSIDE = os.environ["KVGPU_CLUSTER_NET"]
SHARED = HERE == OUTSIDE
MARK = f"KVGPU_CLUSTER_TEST={FOLDER}\0".encode()


def processes():
    """{pid: its network namespace} of the run, and of others of this test that root sees beside it"""
    found = {}
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/environ", "rb") as f:
                if MARK in f.read() + b"\0":
                    found[path[6:]] = os.readlink(f"{path}/ns/net")
        except OSError:
            pass    # it has ended
    return found


def is_open(kind, name):
    """Whether others can reach that socket. The registry (remote/cluster/relay/registry.h) is meant for all."""
    if name == "*" or name.startswith("@kvgpu-run/"):
        return False
    if not kind.startswith("u_") or name.startswith("@"):
        return SHARED
    own = re.match(re.escape(FOLDER) + r"/kvgpu-run\.\w+/", name)
    return not own or os.stat(own[0]).st_mode & 0o77 != 0


def sockets():
    """(kind, name, pid), as ss says"""
    said = subprocess.run(["ss", "-H", "-lntuxp"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in said.splitlines():
        words = line.split()
        for pid in re.findall(r"\bpid=(\d+)", line):
            yield words[0], words[4], pid


run, looked = processes(), 0
with open(f"{FOLDER}/doors", "a", encoding="utf-8") as doors:
    for p, net in run.items():
        if net != HERE and net == OUTSIDE:
            doors.write(f"door: process {p} is outside of the run's network namespace\n")
    for k, n, p in sockets():
        if p in run:
            looked += 1
            if is_open(k, n):
                doors.write(f"door: {k} {n} of process {p}\n")
    doors.write(f"looked at {looked} sockets\n")
if sys.argv[2:]:
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as e:
        sys.exit(f"doors.py: {sys.argv[2]}: {e}")
