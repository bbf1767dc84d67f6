#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# neighbours.sh begin N GUEST | end GUEST: runs in the server. Two vGPUs of 512 MiB beside that of GUEST whose owners copy without
# end (selftests/module/tenants); begin returns when both do. N is how many are awaited: 2.
pid_file=/run/neighbours.pid

others() # GUEST
{
	mine=$(/opt/testbed/guest-device uuid "$1")
	for d in /sys/bus/mdev/devices/*; do
		[ -d "$d" ] && [ "${d##*/}" != "$mine" ] && echo "$d"
	done
}

busy() # GUEST
{
	n=0
	for d in $(others "$1"); do
		# a device that is just being made has no files yet
		ns=$(cat "$d/kvgpu/copy_time_ns" 2>/dev/null)
		[ "${ns:-0}" -gt 0 ] || ns=$(cat "$d/kvgpu/gpu_time_ns" 2>/dev/null)
		[ "${ns:-0}" -gt 100000000 ] && n=$((n + 1))
	done
	echo $n
}

case $1 in
begin)
	setsid /share/kvgpu-tenants bench --looks 3 --seconds 3600 "two equal" </dev/null >/share/neighbours.log 2>&1 &
	echo $! >$pid_file
	tries=150
	until [ "$(busy "$3")" -ge "$2" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { cat /share/neighbours.log; exit 1; }
		sleep 0.2
	done ;;
end)
	# dash's kill takes no "--" behind a signal
	kill -KILL "-$(cat $pid_file)"
	rm -f $pid_file
	for d in $(others "$2"); do
		tries=50
		until echo 1 >"$d/remove" || [ ! -e "$d" ]; do
			tries=$((tries - 1))
			[ $tries -gt 0 ] || exit 1
			sleep 0.2
		done
	done 2>/dev/null ;;
*) echo "usage: neighbours.sh begin N GUEST | end GUEST" >&2; exit 2 ;;
esac
