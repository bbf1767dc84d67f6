# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by run.sh. Measures the memory of a cell's commands every second: pages of programs and of shared memory. The peak that a
# cgroup counts itself would include the page cache, which grows into free memory.

# make_group NAME: makes a memory cgroup, of version 2 or 1, and prints its folder; prints nothing
# if none can be made
make_group()
{
	local base group
	for base in /sys/fs/cgroup /sys/fs/cgroup/memory; do
		if [ -e "$base/cgroup.subtree_control" ]; then
			grep -qw memory "$base/cgroup.subtree_control" || continue
		elif [ ! -e "$base/memory.stat" ]; then
			continue
		fi
		group=$base/$1
		mkdir "$group" 2>/dev/null || continue
		if [ -r "$group/memory.stat" ]; then
			printf '%s\n' "$group"
			return
		fi
		rmdir "$group"
	done
}

# remove_groups: removes the cgroups of this run and of runs that were killed. The name of a cgroup
# ends with the PID of its run.
remove_groups()
{
	local group tries
	for group in /sys/fs/cgroup/kvgpu-fresh-* /sys/fs/cgroup/memory/kvgpu-fresh-*; do
		[ "${group##*-}" = $$ ] || ! kill -0 "${group##*-}" 2>/dev/null || continue
		for tries in {1..50}; do
			[ -d "$group" ] && ! rmdir "$group" 2>/dev/null || break
			sleep 0.1
		done
		: "$tries"
	done
}

# memory_now GROUP: prints the bytes that the processes of the cgroup have now. If GROUP is empty:
# of all processes of this PID namespace that are in another mount namespace; of a shared page each
# process counts its part.
memory_now()
{
	local own process
	if [ -n "$1" ]; then
		awk '$1 == "total_rss" || $1 == "total_shmem" { old += $2; v1 = 1 } $1 == "anon" || $1 == "shmem" { new += $2 }
			END { printf "%.0f\n", v1 ? old : new }' "$1/memory.stat"
		return
	fi
	own=$(readlink /proc/self/ns/mnt)
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/mnt" 2>/dev/null)" = "$own" ] || cat "$process/smaps_rollup" 2>/dev/null
	done | awk '$1 == "Pss_Anon:" || $1 == "Pss_Shmem:" { kb += $2 } END { printf "%.0f\n", kb * 1024 }'
}

# watch_memory GROUP FILE: writes the largest number of bytes so far to FILE, until it is killed
watch_memory()
{
	local now most=0
	while :; do
		now=$(memory_now "$1")
		if [ "$now" -gt "$most" ]; then
			most=$now
			printf '%s\n' "$most" >"$2.new"
			mv "$2.new" "$2"
		fi
		sleep 1
	done
}
