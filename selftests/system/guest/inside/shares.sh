#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shares.sh SAMPLES SECONDS GUEST...: runs in the server. Prints SAMPLES lines, one every SECONDS:
# the time in ns, for which the card was busy, and for which each guest's vGPU was charged, of both
# engines that vGPUs share. It starts no process for a sample.
samples=$1 every=$2
shift 2
card=$(echo /sys/bus/pci/drivers/kvgpu/*:*)
files=("$card/kvgpu/"{busy_ns,copy_busy_ns})
for guest; do
	files+=("/sys/bus/mdev/devices/$(/opt/testbed/guest-device uuid "$guest")/kvgpu/"{gpu_time_ns,copy_time_ns})
done
exec 3<> <(:)	# a pipe without data: read -t on it waits without starting a process
next=${EPOCHREALTIME/./}
for ((i = 0; i < samples; i++)); do
	line=${EPOCHREALTIME/./}000
	for ((f = 0; f < ${#files[@]}; f += 2)); do
		read -r value <"${files[f]}" && read -r copies <"${files[f + 1]}" || exit 1
		line+=" $((value + copies))"
	done
	echo "$line"
	[ $((i + 1)) -lt "$samples" ] || break
	next=$((next + every * 1000000))
	left=$((next - ${EPOCHREALTIME/./}))
	[ $left -le 0 ] || read -r -t "$((left / 1000000)).$(printf %06d $((left % 1000000)))" -u 3 _
done
exit 0
