#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server. Prints numbers, "name value" a line, to compare before and after vGPUs and
# guests came and went. kernel_kib is memory that is neither free nor cache nor a program's: the
# kernel uses it, or has leaked it.
card=$(ls -d /sys/class/mdev_bus/* | head -n 1)
sync
echo 3 >/proc/sys/vm/drop_caches
# What was freed comes back a while later: the smallest of ten looks at the memory.
# Pages on the free lists of single CPUs (count: in zoneinfo) are free, but MemFree does not count
# them.
for look in 1 2 3 4 5 6 7 8 9 10; do
	[ "$look" = 1 ] || sleep 1
	awk 'FILENAME ~ /zoneinfo/ { if ($1 == "count:") listed += $2; next }
		{ v[$1] = $2 }
		END {
			used = v["MemTotal:"] - v["MemFree:"] - listed * 4
			print "kernel_kib", used - v["Buffers:"] - v["Cached:"] - v["SReclaimable:"] - v["AnonPages:"]
			print "slab_unreclaimable_kib", v["SUnreclaim:"]
		}' /proc/zoneinfo /proc/meminfo
done | awk '!($1 in least) || $2 < least[$1] { least[$1] = $2 } END { for (name in least) print name, least[name] }'
echo 1 >/proc/sys/vm/stat_refresh	# what single CPUs have counted comes into the sums
awk '$1 == "nr_foll_pin_acquired" { a = $2 } $1 == "nr_foll_pin_released" { r = $2 } END { print "pages_pinned", a - r }' /proc/vmstat
awk '/\[kvgpu\]/ { n += $2 } END { print "vmalloc_bytes", n + 0 }' /proc/vmallocinfo
echo "module_users $(awk '$1 == "kvgpu" { print $3 }' /proc/modules)"
echo "mdev_devices $(ls /sys/bus/mdev/devices | wc -l)"
echo "iommu_groups $(ls /sys/kernel/iommu_groups | wc -l)"
echo "debugfs_files $(find /sys/kernel/debug/kvgpu | wc -l)"
for t in "$card"/mdev_supported_types/*; do
	echo "available_${t##*/} $(cat "$t/available_instances")"
done
