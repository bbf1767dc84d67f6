# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb_test.sh sets scratch, TB, A and B (names of beds). Single quotes: the server expands the text.
# shellcheck disable=SC2154,SC2016
# Guests inside the server of bed B: that they work, and that tb names the causes of their deaths.

guest() { "$TB" guest --name "$B" "$@"; }

# tests the agent of tiny guests and guest-talk.sh without a guest
agent_steps()
{
	mkdir "$scratch/agent"
	selftests/system/testbed/agent_port.py "$scratch/agent/agent.sock" "$scratch/agent" &
	local port=$!
	try "a tiny guest that got ready while nobody listened is found ready" agent_found
	try "an answer that nobody waited for does not go to the next request" agent_answers_its_own
	try "half a request is not carried out" agent_takes_whole_requests
	kill $port
	wait $port 2> /dev/null
}

agent() ( # FUNCTION ARG...: calls a function of guest-talk.sh
	DIR=$scratch/agent
	# shellcheck source=/dev/null
	. testbed/inside/guest-talk.sh
	"$@"
)

agent_found()
{
	await_true 60 test -e "$scratch/agent/greeting" && await_true 60 agent greets_tiny &&
		[ "$(agent talk_tiny echo one)" = one ]
}

agent_answers_its_own()
{
	touch "$scratch/agent/hold"
	await_true 60 test -e "$scratch/agent/held" || return 1
	! agent agent_line '?' 1 || return 1
	! agent agent_line "$(echo 'echo late' | base64 -w 0)" 1 || return 1
	rm "$scratch/agent/hold"
	[ "$(agent talk_tiny echo two)" = two ] && [ "$(agent agent_line '?' 60)" = ready ] &&
		[ "$(agent talk_tiny echo three)" = three ]
}

# The agent takes what comes first first.
agent_takes_whole_requests()
{
	printf '9.9 %s' "$(echo "touch $scratch/agent/half" | base64 -w 0)" | socat -u - "UNIX-CONNECT:$scratch/agent/agent.sock"
	[ "$(agent talk_tiny echo four)" = four ] && [ ! -e "$scratch/agent/half" ]
}

guest_steps()
{
	try "a server for them" server_for_guests
	try "a tiny guest starts" status_is 0 guest start one
	try "its exit status comes through" status_is 6 guest run one -- sh -c 'exit 6'
	try "its streams come through" guest_streams
	try "its arguments arrive as they are" guest_arguments
	try "it runs under the server's KVM" under_kvm
	try "KVM patches no code while a guest comes and goes" nothing_patched
	try "the same name twice is refused" status_is 1 guest start one
	try "bad arguments are refused" guest_refusals
	try "two more start at once" two_guests
	try "guests are kept off the server's CPU 0" off_cpu_0
	try "a CPU's thread stays noted when its QEMU ends" ended_thread_noted
	try "a full guest is up when its driver has probed the GPU" gpu_probed
	try "one whose GPU no driver holds is up, and that is told" gpu_without_driver
	try "one that does not say is up after a bounded wait, and that is told" gpu_unknown
	try "one that dies meanwhile is not up" gpu_guest_dies
	try "a guest's own triple fault is told by cause" triple_fault
	try "a triple fault on CPU 0 is taken for the emulated SVM's, and the guest starts again" svm_fault
	try "a killed QEMU is told by cause, and not taken for a triple fault" qemu_killed
	try "a guest's panic is told by cause" guest_panic
	try "a guest that powers off is told by cause" guest_power_off
	try "statistics tell them apart" guest_statistics
	try "a guest whose device can't be made does not start, and why" without_device
	try "stop ends them" guests_stop one two three
}

full_steps()
{
	try "a server for a full one" server_for_guests
	try "a full Debian guest starts" status_is 0 guest start big --full --busy
	try "systemd runs in it, nothing failed" status_is 0 guest run big -- systemctl is-system-running --wait
	try "exit status and streams over its ssh" full_streams
	try "it sees the shared folder" full_share
	try "its machine ID is its own" [ "$(guest run big -- cat /etc/machine-id < /dev/null)" = "$(echo big | md5sum | cut -c1-32)" ]
	try "stop ends it" guests_stop big
	"$TB" down --name "$B" > /dev/null 2>&1
}

server_for_guests()
{
	"$TB" status --name "$B" || "$TB" up --name "$B" --no-gpu --mem 3G
}

guest_streams()
{
	status_is 3 guest run one -- sh -c 'echo one; echo two >&2; exit 3' &&
		[ "$(cat "$scratch/out")" = one ] && [ "$(cat "$scratch/err")" = two ]
}

guest_arguments()
{
	local -a words=('a  b' "it's" '"quoted"' '$HOME' '*' '' 'semi;colon' '\back')
	[ "$(guest run one -- printf '<%s>' "${words[@]}" < /dev/null)" = "$(printf '<%s>' "${words[@]}")" ]
}

under_kvm()
{
	guest run one -- dmesg | grep -q 'Hypervisor detected: KVM' &&
		"$TB" run --name "$B" -- virsh qemu-monitor-command one --hmp 'info kvm' | grep -q 'kvm support: enabled' &&
		"$TB" run --name "$B" -- sh -c 'cat /sys/kernel/debug/kvm/*/exits' < /dev/null | grep -q '[1-9]'
}

# A kernel that patches code may die under TCG (testbed/inside/hold-vm).
nothing_patched()
{
	"$TB" run --name "$B" -- sh -ec 'cd /sys/kernel/tracing
		echo "p:patched/label jump_label_update" >> kprobe_events
		mkdir instances/patched; echo 1 > instances/patched/events/patched/enable' < /dev/null &&
		status_is 0 guest start four && status_is 0 guest stop four &&
		status_is 1 "$TB" run --name "$B" -- sh -c 'cd /sys/kernel/tracing; grep -v "^#" instances/patched/trace; seen=$?
		rmdir instances/patched; echo -:patched/label >> kprobe_events; exit $seen' < /dev/null
}

guest_refusals()
{
	status_is 2 guest start Big && status_is 2 guest start x --mem lots && status_is 2 guest start x --cpus none &&
		status_is 2 guest start x --kernel 2.4 && status_is 125 guest run nobody -- true && said 'guest start' &&
		status_is 1 guest stop nobody
}

without_device()
{
	status_is 1 guest start x --type 512m && said 'no GPU here offers vGPUs of type kvgpu-512m' && status_is 0 guest stop x &&
		status_is 1 guest start x --aperture /dev/shm/none && said 'the server has no such file' && status_is 0 guest stop x
}

two_guests()
{
	local first=0 second=0
	guest start two --append reboot=t > "$scratch/two" 2>&1 &
	local pid=$!
	guest start three || second=$?
	wait "$pid" || first=$?
	cat "$scratch/two"
	[ $first = 0 ] && [ $second = 0 ]
}

await_guest() # GUEST PATTERN: waits until the guest's line of "guest list" matches; false after 200 looks, 60 s or more
{
	local tries
	for tries in {1..200}; do
		! guest list | grep "^$1 " | grep -q "$2" || return 0
		sleep 0.3
	done
	echo "guest $1 does not get '$2' (after $tries looks)"
	guest list
	return 1
}

off_cpu_0()
{
	status_is 0 "$TB" run --name "$B" -- sh -c 'grep -h Cpus_allowed_list /proc/$(cat /run/libvirt/qemu/two.pid)/task/*/status' &&
		grep -q . "$scratch/out" && ! grep -qE '[[:space:]]0' "$scratch/out"
}

# A Python process that loses a thread stands for a QEMU that has lost a CPU's thread and has not
# ended yet.
ended_thread_noted() (
	local DIR NAME=it NOTED='' PID first second
	DIR=$(mktemp -d) || return 1
	mkfifo "$DIR/go"
	python3 -c 'import sys, threading, time
t = threading.Thread(target=lambda: open(sys.argv[1]).read())
t.start(), t.join(), time.sleep(60)' "$DIR/go" &
	PID=$!
	trap 'kill $PID; rm -rf "$DIR"' EXIT
	# shellcheck source=testbed/inside/guest-kvm.sh
	. testbed/inside/guest-kvm.sh
	qemu_pid() { [ -n "$PID" ]; }
	until [ "$(find "/proc/$PID/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]; do sleep 0.1; done
	note_threads
	first=$(sort -u "$DIR/threads")
	: > "$DIR/go"
	until [ "$(find "/proc/$PID/task" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]; do sleep 0.1; done
	note_threads
	second=$(sort -u "$DIR/threads")
	echo "noted first: $first; at the end: $second"
	[ "$(wc -l <<<"$first")" = 2 ] && [ "$first" = "$second" ]
)

# await_gpu_of SECONDS COMMAND: calls the keeper's await_gpu with GPU_SECONDS=SECONDS for a made-up
# full guest: COMMAND runs in place of the command by which await_gpu asks the guest's udev
await_gpu_of() (
	local DIR NAME=it KIND=full TYPE=512m GPU_SECONDS=$1 began=$SECONDS rc=0
	DIR=$(mktemp -d) || return 1
	trap 'kill $(jobs -p) 2> /dev/null; rm -rf "$DIR"' EXIT
	# shellcheck source=testbed/inside/guest-keeper.sh
	. testbed/inside/guest-keeper.sh
	eval "talk_full() { $2; }"
	note_threads() { :; }
	is_alive() { [ ! -e "$DIR/dead" ]; }
	await_gpu || rc=$?
	echo "exit code $rc after $((SECONDS - began)) s: $(cat "$DIR/gpu" 2>/dev/null)"
)

gpu_probed() { await_gpu_of 300 'sleep 2' | tee "$scratch/gpu" && grep -qE '^exit code 0 after ([2-9]|[0-9]{2,}) s: $' "$scratch/gpu"; }
gpu_without_driver() { await_gpu_of 300 'return 5' | tee "$scratch/gpu" && grep -q '^exit code 0 .*no driver of it holds its GPU' "$scratch/gpu"; }
gpu_unknown() { await_gpu_of -9 'exec sleep 60' | tee "$scratch/gpu" && grep -q '^exit code 0 .*its udev does not say' "$scratch/gpu"; }
gpu_guest_dies() { await_gpu_of 300 'touch "$DIR/dead"; exec sleep 60' | tee "$scratch/gpu" && grep -q '^exit code 1 ' "$scratch/gpu"; }

# guest "two" has reboot=t on its command line: its kernel reboots by a triple fault
triple_fault()
{
	status_is 125 guest run two -- sh -c 'echo b > /proc/sysrq-trigger' && said 'triple fault of its own' &&
		await_guest two ' gone ' && status_is 125 guest run two -- true
}

machine_cpus() { "$TB" run --name "$B" -- systemctl set-property --runtime machine.slice "AllowedCPUs=$1"; }

# The guest boots on CPU 1, and is moved to CPU 0 for its triple fault. A boot on CPU 0 may crash
# the server (testbed/studies/README.md).
svm_fault()
{
	machine_cpus 0 && status_is 1 guest start y --type 512m && said 'may run on the server.s CPU 0' &&
		status_is 0 guest stop y && machine_cpus 1 && status_is 0 guest start two --append reboot=t && machine_cpus 0 &&
		status_is 125 guest run two -- sh -c 'echo b > /proc/sysrq-trigger' && said 'emulated SVM' || return 1
	machine_cpus 1 && await_guest two ' up ' && status_is 0 guest run two -- true
}

qemu_killed()
{
	"$TB" run --name "$B" -- sh -c 'kill -9 $(cat /run/libvirt/qemu/three.pid)' < /dev/null
	await_guest three ' gone ' && status_is 125 guest run three -- true && said 'crashed or was killed'
}

guest_panic()
{
	status_is 125 guest run one -- sh -c 'echo c > /proc/sysrq-trigger' &&
		said 'Kernel panic' && said '[|] .*sysrq_handle_crash'
}

guest_power_off()
{
	status_is 0 guest start three && status_is 125 guest run three -- poweroff -f && said 'powered off'
}

# The emulated SVM may have killed guests more often than svm_fault() arranged, so these deaths and
# restarts are compared with the server's log.
guest_statistics()
{
	local cause log died
	status_is 0 guest stats && cat "$scratch/out" && log=$("$TB" log server --name "$B") || return 1
	for cause in triple-fault qemu-killed panic power-off; do
		grep -q "died of $cause: 1$" "$scratch/out" || return 1
	done
	died=$(grep -c 'testbed: guest [a-z]* died emulated-svm' <<< "$log") && grep -q 'testbed: guest two died emulated-svm' <<< "$log" &&
		grep -q "died of emulated-svm: $died$" "$scratch/out" && grep -q "started again $died," "$scratch/out"
}

full_streams()
{
	status_is 4 guest run big -- sh -c 'echo one; echo two >&2; exit 4' &&
		[ "$(cat "$scratch/out")" = one ] && [ "$(cat "$scratch/err")" = two ]
}

full_share()
{
	local folder
	folder=$("$TB" share --name "$B")
	echo "to the guest" > "$folder/note"
	[ "$(guest run big -- cat /share/note < /dev/null)" = "to the guest" ] && rm "$folder/note"
}

guests_stop() # NAME...: stops these guests, which must be all that there are
{
	local name
	for name; do
		status_is 0 guest stop "$name" || return 1
	done
	status_is 0 guest list && [ ! -s "$scratch/out" ] &&
		! "$TB" run --name "$B" -- pgrep qemu-system < /dev/null
}
