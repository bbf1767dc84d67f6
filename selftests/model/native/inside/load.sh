#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: loads nouveau, prints how many ms modprobe took. Exit code 0 only when a render node is there.
set -eu
# load the modules that nouveau needs first, so that the time is the driver's own
for module in $(modprobe --show-depends nouveau | awk '$1 == "insmod" { print $2 }' | head -n -1); do
	insmod "$module" 2>/dev/null || true
done
began=$(date +%s%N)
modprobe nouveau
echo $((($(date +%s%N) - began) / 1000000))
for _ in {1..600}; do
	if [ -c /dev/dri/renderD128 ]; then exit 0; fi
	sleep 0.1
done
echo "no /dev/dri/renderD128" >&2
exit 1
