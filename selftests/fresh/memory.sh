# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The memory of a cell's commands: what they hold and can't be dropped, pages of programs and of shared memory (the
# server's memory, tmpfs), looked at every second. A cgroup's own peak would count the page cache, which takes whatever is free.

# make_group NAME: prints the directory of a new memory cgroup, version 2 or 1; nothing where there is none to be had
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

# remove_groups: this run's, and those of runs that were killed. A group is named by its run's process.
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

# memory_now GROUP: bytes. Without a group: of all processes in other mount namespaces of this PID namespace, shared pages by parts.
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

# watch_memory GROUP FILE: keeps the most in FILE until it is killed
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
