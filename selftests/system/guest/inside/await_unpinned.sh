#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# await_unpinned.sh UUID SECONDS: runs in the server; waits until that vGPU has no page pinned
pinned=/sys/bus/mdev/devices/$1/kvgpu/pinned_pages
n=0
until [ "$(cat "$pinned")" = 0 ]; do
	n=$((n + 1))
	[ $n -lt $(($2 * 20)) ] || { echo "$(cat "$pinned") still after $2 s"; exit 1; }
	sleep 0.05
done
echo "0 after less than $((n / 20 + 1)) s"
