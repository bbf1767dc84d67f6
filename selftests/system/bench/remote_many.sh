#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# remote_many.sh PROGRAM REMOTE LIBRARY OUT [--quick]: CPU time of a million calls by 1, 8 and 64 clients, and of clients that do
# nothing, over an aperture and over a socket. PROGRAM is remote_many, REMOTE the folder with kvgpu-remoted and the remote
# libcuda.so.1, LIBRARY a libcuda.so.1 with a GPU. Tables on standard output, OUT/remote-many-{aperture,unix}.json.
set -u
[ $# -ge 4 ] || { sed -n '3,5p' "$0" >&2; exit 2; }
program=$1 remote=$2 library=$3 out=$4 quick=${5-}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
mkdir -p "$out" || exit 1
: > "$work/log"
"$remote/kvgpu-remoted" --listen "unix:$work/socket" --library "$(realpath "$library")" 2> "$work/log" & server=$!
for _ in $(seq 200); do
	grep -q 'listens at' "$work/log" && break
	sleep 0.05
done
for carrier in aperture unix; do
	# shellcheck disable=SC2086
	KVGPU_REMOTE=$carrier:$work/socket LD_LIBRARY_PATH=$remote:${LD_LIBRARY_PATH-} \
		"$program" $quick $carrier $server "$out/remote-many-$carrier.json" || { tail -n 5 "$work/log" >&2; exit 1; }
done
