#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: "name value" lines of what is counted for guest $1: kvgpu's counters, the card's interrupts, its KVM's counters of
# exits, page faults and TLB flushes, and the CPU time that went into its QEMU, the guest's own included, and into the whole server. Few
# processes, because snapshots are taken often.
# bench.sh runs it as root, by way of tb run, for guests with a vGPU. selftests/system/guest/marked.py takes the difference of two snapshots;
# report.py and bounds.list know counters by these names. Only the guest's first vGPU is counted; without it there are no counters of a
# vGPU. Exit code 1: the guest does not run (no PID file).
uuid=$(/opt/testbed/guest-device uuid "$1") || exit 1
pid=$(cat "/run/libvirt/qemu/$1.pid") || exit 1
# of the card; its path has colons, which grep's lines are taken apart by
for at in /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/chip_interrupts; do
	read -r count <"$at" && echo "kvgpu.chip_interrupts $count"
done
grep -s '' "/sys/bus/mdev/devices/$uuid/kvgpu"/* /sys/kernel/debug/kvm/"$pid"-*/* "/proc/$pid/stat" /proc/stat |
	awk -v hz="$(getconf CLK_TCK)" '
	{
		at = index($0, ":")
		path = substr($0, 1, at - 1)
		value = substr($0, at + 1)
		n = split(path, part, "/")
		name = part[n]
	}
	part[n - 1] == "kvgpu" { print "kvgpu." name, value; next }
	path ~ /debug\/kvm/ {
		if (name ~ /^(exits|.*_exits|pf_.*|insn_emulation|hypercalls|tlb_flush|remote_tlb_flush)$/)
			print "kvm." name, value
		next
	}
	path == "/proc/stat" {
		# user, nice, system, then idle and waiting, then interrupts
		if (value ~ /^cpu /) {
			split(value, v, " ")
			printf "host.busy_cpu_ms %.0f\n", (v[2] + v[3] + v[4] + v[7] + v[8]) * 1000 / hz
		}
		next
	}
	{
		# utime and stime come 12th and 13th behind the name, which may hold blanks
		sub(/^.*\) /, "", value)
		split(value, v, " ")
		printf "host.qemu_cpu_ms %.0f\n", (v[12] + v[13]) * 1000 / hz
	}'
