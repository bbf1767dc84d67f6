#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: how long it takes to create and to remove a vGPU, which scrubs its video memory each time, of every type for which
# there is room. Prints a line of JSON for each sample, as kvgpu-client bench does. The first vGPU of a type is not counted: the model
# gets pages for video memory when it is first written, 2 s for 2 GiB.
types=$(ls -d /sys/class/mdev_bus/*/mdev_supported_types | head -n 1)
uuid=00000000-0000-4000-8000-0000000be0c4

row() # NAME BEGAN ENDED
{
	printf '{"row": "%s", "unit": "us", "better": "lower", "value": %d, "ops": 1}\n' "$1" $((($3 - $2) / 1000))
}

for turn in first second; do
	for t in 512m 1g 2g 4g; do
		[ "$(cat "$types/kvgpu-$t/available_instances")" -gt 0 ] || continue
		a=$(date +%s%N)
		echo $uuid >"$types/kvgpu-$t/create" || exit 1
		b=$(date +%s%N)
		echo 1 >"/sys/bus/mdev/devices/$uuid/remove" || exit 1
		c=$(date +%s%N)
		[ "$turn" = first ] && continue
		row "vgpu-create-$t" "$a" "$b"
		row "vgpu-remove-$t" "$b" "$c"
	done
done
