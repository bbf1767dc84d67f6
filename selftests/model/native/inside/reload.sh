#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: unloads and loads nouveau $1 times; after each load a verified copy. Ends loaded.
set -eu
times=${1:?how often}
slowest=0
for ((i = 1; i <= times; i++)); do
	modprobe -r nouveau
	if [ -e /dev/dri/renderD128 ]; then echo "round $i: the node stays"; exit 1; fi
	ms=$(/share/native/load.sh)
	if [ "$ms" -gt $slowest ]; then slowest=$ms; fi
	if ! out=$(timeout 60 /share/native/kvgpu-client --quick --bytes 1M copy 2>&1); then
		printf 'round %d: %s\n' $i "$(printf '%s\n' "$out" | grep -v '^ok' | head -n 3)"
		exit 1
	fi
done
echo "slowest load $slowest ms"
