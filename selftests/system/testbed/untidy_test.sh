#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# untidy_test.sh [ROUNDS]: runs the quick check ROUNDS times (2) in one clone of this tree, on a
# machine made untidy on purpose: names that tests could take for absent are there, sockets and
# memory of programs that are gone, a busy port, and an environment that is far from the usual one.
# Prints TAP.
#
# The clone's check has locks and times of its own: a file system over $KVGPU_CACHE/check, in a mount
# namespace. Its beds have the names of other checks' beds, so no other check may run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_CACHE=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}
scratch=$(mktemp -d /tmp/kvgpu-untidy.XXXXXX) || exit 1
made=()
tidy() { rm -rf "${made[@]}" "$scratch"; kill "$holder" 2>/dev/null; }
holder=''
trap tidy EXIT
trap 'exit 1' INT TERM HUP

[ -z "$(git status --porcelain -- . ':!selftests/passed.tsv' 2>&1)" ] || { echo "1..0 # SKIP a clone has not what this tree has: it differs from its commit"; exit 0; }
mkdir -p "$KVGPU_CACHE/check"
git clone -q . "$scratch/tree" || exit 1

# untidy PATH COMMAND...: COMMAND makes PATH, unless it is there
untidy() { [ -e "$1" ] || { made+=("$1"); "${@:2}"; }; }

for dir in /nonexistent /nowhere /absent; do untidy $dir mkdir $dir; done
for file in /dev/shm/lab-1 /dev/shm/kvgpu-remote-test-1; do untidy $file truncate -s 1M $file; done
# sockets whose programs are gone, and a program with ports and names
cat >"$scratch/holder.py" <<'P'
import os, signal, socket, sys
for path in ("/tmp/kvgpu-gpu", "/tmp/socket", "/run/kvgpu.sock"):
    if not os.path.exists(path):
        socket.socket(socket.AF_UNIX).bind(path)
        print(path)
kept = []
for port in (1024, 7411, 40404):
    s = socket.socket()
    try:
        s.bind(("", port))
        s.listen()
        kept.append(s)
    except OSError:
        pass
sys.stdout.close()
signal.pause()
P
python3 "$scratch/holder.py" >"$scratch/sockets" &
holder=$!
for _ in {1..600}; do [ ! -s "$scratch/sockets" ] || break; sleep 0.1; done
mapfile -t -O ${#made[@]} made <"$scratch/sockets"

turkish=$(locale -a 2>/dev/null | grep -im1 '^tr_TR\.utf-\?8$')
environment=(-u MAKEFLAGS -u HOME -u USER "KVGPU_CACHE=$KVGPU_CACHE" "LANG=${turkish:-C}" "LC_ALL=${turkish:-POSIX}" LANGUAGE=de TZ=Pacific/Kiritimati
	CDPATH=.:/ TMPDIR=/tmp/kvgpu-gone CUDA_VISIBLE_DEVICES=-1 KVGPU_TB_NAME=mine KVGPU_REMOTE=unix:/tmp/kvgpu-gpu CC=cc)

echo "# LC_ALL=${turkish:-POSIX}"
rounds=${1:-2} bad=0
for ((n = 1; n <= rounds; n++)); do
	# shellcheck disable=SC2016
	(cd "$scratch/tree" && umask 077 && env "${environment[@]}" unshare --mount --propagation private sh -c '
		mount -t tmpfs tmpfs "$KVGPU_CACHE/check" && exec make check' 8>&- 9>&- >"$scratch/log" 2>&1 </dev/null)
	rc=$?
	line=$(tail -n 1 "$scratch/log")
	if [ $rc = 0 ] && [[ $line =~ ^[1-9][0-9]*\ passed,\ 0\ failed ]]; then
		echo "ok $n - the quick check on an untidy machine, round $n # $line"
	else
		bad=1
		{ sed -n '/^failures:/,$p' "$scratch/log" | head -n 70; tail -n 5 "$scratch/log"; } | sed 's/^/# /'
		echo "not ok $n - the quick check on an untidy machine, round $n # exit code $rc: $line"
	fi
done
echo "1..$rounds"
exit $bad
