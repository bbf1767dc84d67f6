# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb_test.sh sets scratch, TB, A and B (names of beds). Single quotes: the server expands the text.
# shellcheck disable=SC2154,SC2016
# The model, QEMU, the supervisor, its parent and "tb up" are killed, and no process may be left.
# end_steps() looks for mounts, too.

crash_steps()
{
	try "bed for the crashes" status_is 0 "$TB" up --name "$A"
	try "model killed: told, by name" part_killed gk110-model 'GPU model ended: killed by signal 9'
	try "up again after that" status_is 0 "$TB" up --name "$A"
	run_begins
	try "QEMU killed: told, by name" part_killed qemu-system-x86 'QEMU ended: killed by signal 9'
	try "a command that runs meanwhile ends with 125" run_ended
	try "up again after that" status_is 0 "$TB" up --name "$A"
	try "supervisor killed: told" part_killed tb 'supervisor was killed'
	try "down cleans up after that" status_is 0 "$TB" down --name "$A"
	try "up again after that" status_is 0 "$TB" up --name "$A"
	try "the supervisor's parent killed: told" part_killed unshare 'supervisor was killed'
	try "up without GPU after that" status_is 0 "$TB" up --name "$A" --no-gpu
	try "kernel panic: told, by its text" panicked
	try "tb up killed in the middle: down cleans up" up_killed KILL
	try "tb up interrupted: nothing is left" up_killed INT
	try "last down" status_is 0 "$TB" down --name "$A"
}

part_pid() { "$TB" status --name "$A" | awk -v part="$1" '$1 == "process" && index(part, $3) == 1 { print $2; exit }'; }

bed_pids() { "$TB" status --name "$A" | awk '$1 == "process" { print $2 }'; }

# await_state STATUS: waits until the exit status of "tb status" is STATUS; false after 60 s
await_state()
{
	local end=$((SECONDS + 60)) got=0
	while :; do
		got=0
		"$TB" status --name "$A" > "$scratch/status" || got=$?
		[ "$got" != "$1" ] || return 0
		[ $SECONDS -lt $end ] || break
		sleep 0.2
	done
	echo "status is $got, not $1"
	cat "$scratch/status"
	return 1
}

part_killed() # PART REASON: kills that process of bed A; the bed must die, tb must print REASON, and no process may be left
{
	local pid pids
	pids=$(bed_pids)
	pid=$(part_pid "$1")
	[ -n "$pid" ] || { echo "no process '$1' in the bed"; "$TB" status --name "$A"; return 1; }
	kill -KILL "$pid"
	await_state 4 && grep -q "$2" "$scratch/status" || return 1
	status_is 125 "$TB" run --name "$A" -- true && said 'tb up' && all_gone "$pids"
}

all_gone() # PIDS: true if these processes end within 60 s
{
	local pid end=$((SECONDS + 60))
	for pid in $1; do
		while [ -e "/proc/$pid" ]; do
			[ $SECONDS -lt $end ] || { echo "process $pid is left: $(tr '\0' ' ' < "/proc/$pid/cmdline")"; return 1; }
			sleep 0.2
		done
	done
}

# run_begins: starts a command in the server that still runs when QEMU is killed
run_begins()
{
	local began
	began=$("$TB" share --name "$A")/begun
	"$TB" run --name "$A" -- sh -c 'touch /share/begun; sleep 600' < /dev/null > "$scratch/run" 2>&1 &
	runner=$!
	await_true 60 test -e "$began"
	rm -f "$began"
}

run_ended()
{
	local status=0
	wait "$runner" || status=$?
	cat "$scratch/run"
	[ $status = 125 ] && grep -q 'QEMU ended' "$scratch/run"
}

# await_true SECONDS COMMAND...: repeats COMMAND until it succeeds; false after SECONDS
await_true()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

panicked()
{
	"$TB" run --name "$A" -- sh -c 'echo c > /proc/sysrq-trigger' < /dev/null
	await_state 4 && grep -q 'panicked: Kernel panic.*sysrq' "$scratch/status" || return 1
	status_is 0 "$TB" down --name "$A" && said 'Kernel panic'
}

up_killed() # SIGNAL: sends SIGNAL to a tb up that waits for the server; no process may be left, after a "tb down" if SIGNAL is KILL
{
	local pid pids
	: > "$scratch/up"	# grep below must not see the output of an earlier call
	# a background job of a script ignores SIGINT unless env resets that
	env --default-signal=INT "$TB" up --name "$A" --no-gpu > "$scratch/up" 2>&1 &
	pid=$!
	await_true 60 grep -q "waiting for the server's ssh" "$scratch/up"
	pids=$(bed_pids)
	[ -n "$pids" ] || { echo "it had not started anything"; cat "$scratch/up"; return 1; }
	kill -"$1" "$pid"
	wait "$pid"
	if [ "$1" = KILL ]; then
		status_is 1 "$TB" up --name "$A" --no-gpu && said 'tb down' && status_is 0 "$TB" down --name "$A" || return 1
	fi
	await_state 3 && all_gone "$pids"
}

# runs after all other steps
end_steps() { try "no process and no mount is left" nothing_left; }

nothing_left()
{
	status_is 0 "$TB" down --name "$A" && status_is 0 "$TB" down --name "$B" || return 1
	! grep -lzs "^KVGPU_TB_MARK=$run-" /proc/[0-9]*/environ | tr '\0' '\n' | grep . || return 1
	! grep -E '/tools-[0-9a-f]{16}/root' /proc/self/mounts && ! ls -d "/run/kvgpu-tb/$run-"?/ 2> /dev/null
}
