# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The server's KVM: that it is there, that a guest really uses it, and when it reported a shutdown.

TRACE=/sys/kernel/tracing/instances/testbed

need_kvm()
{
	modprobe -a kvm_amd vhost_vsock || give_up "the server's kernel has no KVM for its CPU"
	[ -c /dev/kvm ] || give_up "there is no /dev/kvm in the server"
}

# watch_shutdowns: one trace line per SHUTDOWN exit, which is what the CPU does at a triple fault. A probe
# on its handler costs nothing until it happens; the kvm_exit tracepoint would cost at each exit. Guests may start side by side.
watch_shutdowns() (
	exec 6> "$STATE/watch.lock"
	flock 6
	[ ! -d "$TRACE/events/testbed/shutdown" ] || return 0
	grep -q '^p:testbed/shutdown ' /sys/kernel/tracing/kprobe_events ||
		echo 'p:testbed/shutdown kvm_amd:shutdown_interception' >> /sys/kernel/tracing/kprobe_events ||
		give_up "the server's kernel cannot watch for triple faults (kprobe on shutdown_interception)"
	mkdir -p "$TRACE"
	echo 1 > "$TRACE/events/testbed/shutdown/enable"
)

# qemu_pid: sets PID. Like all that the keeper does each second, it starts no process: under TCG each costs some 10 ms.
qemu_pid()
{
	PID=
	[ -e "/run/libvirt/qemu/$NAME.pid" ] && { read -r PID < "/run/libvirt/qemu/$NAME.pid"; } 2>/dev/null
	[ -n "$PID" ]
}

# note_threads: all threads that the guest has had; a trace line names one. Those that are gone stay noted: a QEMU that
# ends has lost the threads of its CPUs before it is gone itself. Never fails: QEMU may end at any moment.
note_threads()
{
	local -a tasks
	qemu_pid || return 0
	tasks=("/proc/$PID/task"/[0-9]*)
	[ -e "${tasks[0]}" ] || return 0
	[ "${tasks[*]}" = "${NOTED-}" ] || printf '%s\n' "${tasks[@]##*/}" >> "$DIR/threads"
	NOTED=${tasks[*]}
}

# shutdown_cpu: the server's CPU on which one of the guest's CPUs made a SHUTDOWN exit; false if none did.
shutdown_cpu()
{
	[ -s "$DIR/threads" ] || return 1
	sed -n 's/^ *.*-\([0-9]*\) *\[0*\([0-9][0-9]*\)\] .*shutdown:.*/\1 \2/p' "$TRACE/trace" |
		awk 'NR == FNR { mine[$1] = 1; next } $1 in mine { cpu = $2; found = 1 }
			END { if (found) print cpu; exit !found }' "$DIR/threads" -
}

# off_cpu_0: whether guests are kept off CPU 0, or there is no other CPU.
off_cpu_0()
{
	[ "$(nproc --all)" = 1 ] || systemctl show -P AllowedCPUs machine.slice | grep -qE '^[1-9]'
}

# check_kvm: whether QEMU and the guest itself both say that the guest runs under KVM.
check_kvm()
{
	virsh -q qemu-monitor-command "$NAME" --hmp 'info kvm' | grep -q 'kvm support: enabled' ||
		{ echo "QEMU runs it without KVM" > "$DIR/reason"; return 1; }
	talk_"$KIND" sh -c 'dmesg | grep -q "Hypervisor detected: KVM"' ||
		{ echo "it does not see KVM as its hypervisor" > "$DIR/reason"; return 1; }
}
