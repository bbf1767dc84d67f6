#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shares.sh SAMPLES SECONDS GUEST...: runs in the server. Prints SAMPLES lines, one every SECONDS:
# the time in ns, the card's busy_ns, and gpu_time_ns of each guest's vGPU. It starts no process for
# a sample.
samples=$1 every=$2
shift 2
card=$(echo /sys/bus/pci/drivers/kvgpu/*:*)
files=("$card/kvgpu/busy_ns")
for guest; do
	files+=("/sys/bus/mdev/devices/$(/opt/testbed/guest-device uuid "$guest")/kvgpu/gpu_time_ns")
done
exec 3<> <(:)	# a pipe without data: read -t on it waits without starting a process
next=${EPOCHREALTIME/./}
for ((i = 0; i < samples; i++)); do
	line=${EPOCHREALTIME/./}000
	for file in "${files[@]}"; do
		read -r value <"$file" || exit 1
		line+=" $value"
	done
	echo "$line"
	[ $((i + 1)) -lt "$samples" ] || break
	next=$((next + every * 1000000))
	left=$((next - ${EPOCHREALTIME/./}))
	[ $left -le 0 ] || read -r -t "$((left / 1000000)).$(printf %06d $((left % 1000000)))" -u 3 _
done
exit 0
