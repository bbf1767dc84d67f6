# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The server's KVM: whether it is there, whether a guest runs under it, and on which CPU a guest
# made a SHUTDOWN exit.

TRACE=/sys/kernel/tracing/instances/testbed

need_kvm()
{
	modprobe -a kvm_amd vhost_vsock || give_up "the server's kernel has no KVM for its CPU"
	[ -c /dev/kvm ] || give_up "there is no /dev/kvm in the server"
	"$HERE/hold-vm" || give_up "KVM in the server can't open a VM"
}

# watch_shutdowns: makes the kernel trace each SHUTDOWN exit, the exit that a triple fault causes.
# Takes a lock, because several guests may be started at once.
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

# qemu_pid: sets PID to the guest's QEMU; false if there is none.
qemu_pid()
{
	PID=
	[ -e "/run/libvirt/qemu/$NAME.pid" ] && { read -r PID < "/run/libvirt/qemu/$NAME.pid"; } 2>/dev/null
	[ -n "$PID" ]
}

# note_threads: adds the IDs of all threads of the guest's QEMU to $DIR/threads, so that
# shutdown_cpu knows the guest's trace lines. IDs of threads that have ended stay there: QEMU loses
# its CPUs' threads some time before it ends.
note_threads()
{
	local -a tasks
	qemu_pid || return 0
	tasks=("/proc/$PID/task"/[0-9]*)
	[ -e "${tasks[0]}" ] || return 0
	[ "${tasks[*]}" = "${NOTED-}" ] || printf '%s\n' "${tasks[@]##*/}" >> "$DIR/threads"
	NOTED=${tasks[*]}
}

# shutdown_cpu: prints the CPU of this guest's last SHUTDOWN exit; false if there was none
shutdown_cpu()
{
	[ -s "$DIR/threads" ] || return 1
	sed -n 's/^ *.*-\([0-9]*\) *\[0*\([0-9][0-9]*\)\] .*shutdown:.*/\1 \2/p' "$TRACE/trace" |
		awk 'NR == FNR { mine[$1] = 1; next } $1 in mine { cpu = $2; found = 1 }
			END { if (found) print cpu; exit !found }' "$DIR/threads" -
}

# off_cpu_0: true if systemd keeps guests off CPU 0, or the server has no other CPU
off_cpu_0()
{
	[ "$(nproc --all)" = 1 ] || systemctl show -P AllowedCPUs machine.slice | grep -qE '^[1-9]'
}

# check_kvm: true if both QEMU and the guest's own kernel say that the guest runs under KVM; else
# writes $DIR/reason
check_kvm()
{
	virsh -q qemu-monitor-command "$NAME" --hmp 'info kvm' | grep -q 'kvm support: enabled' ||
		{ echo "QEMU runs it without KVM" > "$DIR/reason"; return 1; }
	talk_"$KIND" sh -c 'dmesg | grep -q "Hypervisor detected: KVM"' ||
		{ echo "it does not see KVM as its hypervisor" > "$DIR/reason"; return 1; }
}
