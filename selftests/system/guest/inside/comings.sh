#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# comings.sh SECONDS: runs in the server. For so long it makes as many vGPUs of type 512m as
# available_instances says, asks for one more, and removes them again. Fails if one of them can't be
# made, if one more can, or if available_instances differs afterwards. Prints how many it made.
types=$(ls -d /sys/class/mdev_bus/*/mdev_supported_types | head -n 1)
type=$types/kvgpu-512m
end=$(($(date +%s) + $1)) made=0 refused=0 wrong=0

uuid() { printf '00000000-0000-4000-9000-%012d' "$1"; }

while true; do
	promised=$(cat "$type/available_instances")
	n=0
	while [ $n -lt "$promised" ]; do
		uuid $n >"$type/create" 2>/dev/null || { wrong=$((wrong + 1)); break; }
		n=$((n + 1))
	done
	made=$((made + n))
	if uuid 99 >"$type/create" 2>/dev/null; then
		wrong=$((wrong + 1))
		echo 1 >"/sys/bus/mdev/devices/$(uuid 99)/remove"
	else
		refused=$((refused + 1))
	fi
	while [ $n -gt 0 ]; do
		n=$((n - 1))
		echo 1 >"/sys/bus/mdev/devices/$(uuid $n)/remove" || wrong=$((wrong + 1))
	done
	[ "$(cat "$type/available_instances")" = "$promised" ] || wrong=$((wrong + 1))
	[ "$(date +%s)" -lt "$end" ] || break
	sleep 0.5
done
echo "$made made, $refused refused, $wrong wrong"
[ $wrong = 0 ] && [ $refused -gt 0 ]
