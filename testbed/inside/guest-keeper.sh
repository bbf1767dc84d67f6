# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The keeper of one guest: starts it, watches it, and writes down why it died.

MOST_RESTARTS=8

keep_guest()
{
	local restarts=0
	load_parameters
	while true; do
		life_of_guest
		[ ! -e "$DIR/stopping" ] || { event "$NAME" stopped; break; }
		cause_of_death
		printf '%s\n' "$REASON" > "$DIR/reason"
		event "$NAME" died "$CAUSE" "$REASON"
		if [ "$CAUSE" != emulated-svm ] || [ $restarts -ge $MOST_RESTARTS ]; then break; fi
		restarts=$((restarts + 1))
		echo starting > "$DIR/state"
		event "$NAME" again "restart $restarts"
	done
	echo gone > "$DIR/state"
}

# life_of_guest: starts the guest, and returns when its QEMU has ended. Sets FAILURE if
# the guest did not start, or KVM could not run it.
life_of_guest()
{
	local began=$SECONDS
	NOTED=
	rm -f "$DIR/log-read" "$DIR/cid" "$DIR/threads" "$DIR/gpu" "$DIR/ssh.sock" "$DIR/agent.sock"
	FAILURE=''
	event "$NAME" start "$KIND"
	domain_xml > "$DIR/domain.xml" ||
		{ FAILURE="no device for it: $(tail -n 1 "$DIR/device.log")"; return 0; }
	virsh -q create "$DIR/domain.xml" > "$DIR/virsh.log" 2>&1 ||
		{ FAILURE="libvirt did not start it: $(tail -n 2 "$DIR/virsh.log" | xargs -0)"; return 0; }
	until greets_"$KIND"; do
		note_threads
		is_alive || return 0
		[ $((SECONDS - began)) -lt "$READY_SECONDS" ] ||
			{ end_life "it did not answer within $READY_SECONDS s"; return 0; }
		sleep 0.5
	done
	check_kvm || { end_life "$(cat "$DIR/reason")"; return 0; }
	await_gpu || return 0
	echo $((SECONDS - began)) > "$DIR/seconds"
	event "$NAME" up "after $((SECONDS - began)) s"
	echo up > "$DIR/state"
	while is_alive; do
		note_threads
		sleep 1
	done
}

# await_gpu: waits until udev in a full guest has handled its GPU. If no driver holds the GPU then,
# or udev is not done in time, writes that to $DIR/gpu. False if the guest died.
await_gpu()
{
	local talk rc=0 limit=$((SECONDS + GPU_SECONDS + 10))
	[ "$KIND" = full ] && [ -n "$TYPE" ] || return 0
	# shellcheck disable=SC2016
	talk_full sh -c 'udevadm settle --timeout="$1" || exit 4
		for device in /sys/bus/pci/devices/*; do
			read -r vendor < "$device/vendor"
			[ "$vendor" != 0x10de ] || [ -e "$device/driver" ] || exit 5
		done' sh "$GPU_SECONDS" < /dev/null > /dev/null 2>&1 &
	talk=$!
	while kill -0 $talk 2> /dev/null; do
		note_threads
		is_alive || return 1
		[ $SECONDS -lt $limit ] || { echo "its udev does not say within $GPU_SECONDS s whether a driver holds its GPU" > "$DIR/gpu"; return 0; }
		sleep 0.5
	done
	wait $talk || rc=$?
	case $rc in
	0) ;;
	4) echo "no driver has its GPU ready after $GPU_SECONDS s: tb guest run $NAME -- dmesg" > "$DIR/gpu" ;;
	5) echo "no driver of it holds its GPU: tb guest run $NAME -- dmesg" > "$DIR/gpu" ;;
	*) echo "whether a driver holds its GPU is not known: asked, it ended with exit code $rc" > "$DIR/gpu" ;;
	esac
}

# is_alive: true if QEMU is there and KVM still runs the guest. If KVM can't run the guest any
# further, this ends QEMU.
is_alive()
{
	local log=/var/log/libvirt/qemu/$NAME.log
	qemu_pid && [ -e "/proc/$PID" ] || return 1
	[ "$log" -nt "$DIR/log-read" ] || return 0
	touch -r "$log" "$DIR/log-read"
	! grep -qsE 'KVM internal error|kvm run failed' "$log" ||
		{ end_life "$(grep -m 1 -E 'KVM internal error|kvm run failed' "$log")"; return 1; }
}

end_life()
{
	FAILURE=$1
	virsh -q destroy "$NAME" > /dev/null 2>&1 || true
}

qemu_log() { printf '/var/log/libvirt/qemu/%s.log\n' "$NAME"; }

# cause_of_death: sets CAUSE, a word, and REASON, a text
cause_of_death()
{
	# libvirt writes the reason some time after QEMU has ended
	local tries libvirt_says=''
	for tries in {1..20}; do
		libvirt_says=$(tail -n 3 "$(qemu_log)" 2>/dev/null | grep -o 'reason=[a-z]*' | tail -n 1) && break
		sleep 0.1
	done
	: "$tries"
	local cpu
	if cpu=$(shutdown_cpu) && [ "$cpu" = 0 ] && [ "$(nproc --all)" -gt 1 ]; then
		CAUSE=emulated-svm REASON="a triple fault on the server's CPU 0, where the emulated SVM is unreliable"
	elif [ -n "$cpu" ]; then
		CAUSE=triple-fault REASON="a triple fault of its own (KVM reported SHUTDOWN on the server's CPU $cpu)"
	elif [[ $FAILURE == *KVM* || $FAILURE == *'kvm run'* ]]; then
		CAUSE=kvm-error REASON=$FAILURE
	elif [ -n "$FAILURE" ]; then
		CAUSE=no-start REASON=$FAILURE
	elif grep -qs 'Kernel panic' "$DIR/console.log"; then
		CAUSE=panic REASON=$(grep -m 1 'Kernel panic' "$DIR/console.log" | tr -d '\r')
	else
		case $libvirt_says in
		reason=shutdown) CAUSE=power-off REASON="it powered off or rebooted by itself" ;;
		reason=destroyed) CAUSE=destroyed REASON="it was destroyed through libvirt" ;;
		reason=crashed) CAUSE=qemu-killed REASON="its QEMU crashed or was killed" ;;
		*) CAUSE=unknown REASON="its QEMU ended; libvirt says '$libvirt_says'" ;;
		esac
	fi
}
