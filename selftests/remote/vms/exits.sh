#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# exits.sh begin|end: runs in the server, whose KVM traces exits of its guests' CPUs between the two. end prints how many there were, by
# what the program `exits` did meanwhile (calls, spinning), by guest and reason, but for those of CPUID: leaves 0x4b56000N are that
# program's marks; and in the batch of calls with the fewest how many that no timer makes: of a CPU that sleeps, or asks its host.
trace=/sys/kernel/tracing
case $1 in
begin)
	echo 0 >$trace/tracing_on
	echo >$trace/trace
	echo 65536 >$trace/buffer_size_kb
	echo 1 >$trace/events/kvm/kvm_exit/enable
	echo 1 >$trace/events/kvm/kvm_cpuid/enable
	echo 1 >$trace/tracing_on
	;;
end)
	echo 0 >$trace/tracing_on
	echo 0 >$trace/events/kvm/enable
	! grep -h '^overrun: [1-9]' $trace/per_cpu/cpu*/stats || { echo "the trace is not whole"; exit 1; }
	# a guest's CPU is a thread of its QEMU
	for vm in gpu lab-1; do
		for task in /proc/"$(cat /run/libvirt/qemu/$vm.pid)"/task/*; do
			echo "$vm ${task##*/}"
		done
	done >/tmp/tasks
	awk '
	FNR == NR { vm[$2] = $1; next }
	function batch_ends() { if (phase == 1 && (least < 0 || n["batch"] < least)) least = n["batch"] + 0; n["batch"] = 0 }
	BEGIN { least = -1 }
	/kvm_cpuid:/ && match($0, /func 4b56000[0-9]/) { batch_ends(); phase = substr($0, RSTART + 12, 1); marks++ }
	/kvm_exit:/ && match($0, /-[0-9]+ /) {
		who = vm[substr($0, RSTART + 1, RLENGTH - 2)]
		match($0, /reason [^ ]+/)
		reason = substr($0, RSTART + 7, RLENGTH - 7)
		what = phase == 1 ? "calls" : phase == 2 ? "spinning" : ""
		if (what && who && reason != "cpuid") {
			n[what " " who " " reason]++
			n[what " all"]++
			if (reason ~ /^(hlt|HLT|vmmcall|VMCALL|io|IO_INSTRUCTION)$/) n["batch"]++
		}
	}
	END {
		if (marks < 3 || phase != 3) { print "marks are missing: " marks + 0; exit 1 }
		delete n["batch"]
		for (k in n) print k, n[k]
		print "best batch", least
	}' /tmp/tasks $trace/trace | sort
	;;
esac
