#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# loads.sh N: runs where nouveau drives the GPU, in the server or in a guest. Unloads and loads
# nouveau N times, with marks around each load (selftests/system/client/mark.h). rmmod leaves the modules
# that nouveau needs, so the time is nouveau's own.
n=${1:?how often}
i=1
while [ "$i" -le "$n" ]; do
	rmmod nouveau || exit 1
	echo "# mark load-$i begin"
	read -r _ || exit 1
	began=$(date +%s%N)
	modprobe nouveau || exit 1
	ended=$(date +%s%N)
	tries=50
	while [ ! -c /dev/dri/renderD128 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || exit 1
		sleep 0.1
	done
	echo "# mark load-$i end"
	read -r _ || exit 1
	echo "# measure load ms=$(((ended - began) / 1000000))"
	i=$((i + 1))
done
