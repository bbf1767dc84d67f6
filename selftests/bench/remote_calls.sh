#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# remote_calls.sh PROGRAM REMOTE LIBRARY CUBIN OUT [--quick]: what calls and copies cost on LIBRARY, a libcuda.so.1 with a GPU: by
# itself, and remoted over a socket and over an aperture. PROGRAM is remote_calls, REMOTE the folder with kvgpu-remoted and the
# remote libcuda.so.1. Tables on standard output, OUT/remote-calls-{native,unix,aperture}.json. Nothing else of this tree is needed:
# it runs wherever LIBRARY does.
set -u
[ $# -ge 5 ] || { sed -n '3,6p' "$0" >&2; exit 2; }
program=$1 remote=$2 library=$3 cubin=$4 out=$5 quick=${6-}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
mkdir -p "$out" "$work/native" || exit 1
ln -s "$(realpath "$library")" "$work/native/libcuda.so.1"
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$work/native:${LD_LIBRARY_PATH-} "$program" $quick native "$cubin" "$out/remote-calls-native.json" || exit 1
: > "$work/log"
"$remote/kvgpu-remoted" --listen "unix:$work/socket" --library "$(realpath "$library")" 2> "$work/log" & server=$!
for _ in $(seq 200); do
	grep -q 'listens at' "$work/log" && break
	sleep 0.05
done
for carrier in unix aperture; do
	# shellcheck disable=SC2086
	KVGPU_REMOTE=$carrier:$work/socket LD_LIBRARY_PATH=$remote:${LD_LIBRARY_PATH-} \
		"$program" $quick $carrier "$cubin" "$out/remote-calls-$carrier.json" || exit 1
done
