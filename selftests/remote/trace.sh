# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh and sleep.sh: traces of clients, and the client's own
# log of what went wrong.

# begin_traced CARRIER: traced.c; $program, and its $id
begin_traced()
{
	rm -f "$work/go"
	: > "$work/said"
	env "KVGPU_REMOTE=$1:$work/socket" "$work/traced" "$cubin" "$work/go" > "$work/said" 2>&1 &
	program=$!
	until_true grep -q ready "$work/said" && id=$(last_id)
}

trace_runs() { selftests/remote/trace.py ask "$work/admin" "$id" | grep -q state=runs; }

# begin_trace SECONDS: in the background, $tracer, until it is under way
begin_trace()
{
	ctl trace "$id" "$1" > "$work/trace.json" 2> "$work/trace.said" &
	tracer=$!
	until_true trace_runs
}

# trace_ends TEXT: and says so
trace_ends()
{
	wait "$tracer" && grep -qF -- "$1" "$work/trace.said" && jq .otherData "$work/trace.json" && return
	cat "$work/trace.said"
	return 1
}

# whole_trace CARRIER
whole_trace()
{
	begin_traced "$1" && begin_trace 60 || return 1
	touch "$work/go"
	wait "$program" && trace_ends "ended its connection" && selftests/remote/trace.py "$work/trace.json" "ended its connection"
}

# with its time, with the client's sleep, and with the process that serves it
ended_traces()
{
	begin_traced unix && begin_trace 1 && trace_ends "its time is over" && begin_trace 60 || return 1
	refused_by_ctl "is under way" trace "$id" 1 && ctl suspend "$id" && trace_ends "was told to sleep" || return 1
	refused_by_ctl "it sleeps" trace "$id" 1 && ctl resume "$id" && until_true is_in_state "$id" awake && begin_trace 60 || return 1
	kill -9 "$(ctl list --json --interval 0 | jq ".clients[] | select(.id == $id) | .pid")"
	trace_ends "process was ended" || return 1
	end_program
	until_true no_clients
}

# fails FILE: what goes wrong in a program, with its log
fails() { timeout 60 env "KVGPU_REMOTE=unix:$work/socket" "KVGPU_REMOTE_TRACE=$1" "$work/traced" "$cubin" "$work/go" 0 > "$work/said" 2>&1; }

# what stands in a log, but for times and numbers
logged_calls() { sed -E 's/^[0-9.]+ [0-9]+\.[0-9]+ //; s/, [0-9.]+ ms$//' "$1"; }

wrong_calls()
{
	cat > "$work/wrong" <<-'E'
	cuLaunchCooperativeKernelMultiDevice() is not supported
	cuMemAlloc_v2(): CUDA_ERROR_OUT_OF_MEMORY
	launch (a frame): CUDA_ERROR_INVALID_VALUE
	E
	touch "$work/go"
	fails "$work/calls,60000" && logged_calls "$work/calls" | sed 's/: a group.*//; s/ supported:.*/ supported/' | diff - "$work/wrong" && [ "$(stat -c %a "$work/calls")" = 600 ] && return
	cat "$work/said"
	return 1
}

all_calls()
{
	fails "$work/calls,0" && logged_calls "$work/calls" | grep -qx 'cuMemAlloc_v2(): CUDA_SUCCESS'
}

# a log that is a link, or not this user's: the program goes on
other_logs()
{
	: > "$work/target"
	ln -s "$work/target" "$work/link"
	fails "$work/link" && ! [ -s "$work/target" ] && grep -qF "KVGPU_REMOTE_TRACE: it is a symbolic link" "$work/said" || return 1
	fails /dev/null && grep -qF "it is no file of this user's" "$work/said" && return
	cat "$work/said"
	return 1
}

# without a server: why there is none is in the log
setuid_log()
{
	install -D -m 755 "$remote/libcuda.so.1" "$work/suid/libcuda.so.1"
	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/traced.c -o "$work/suid/plain" "$work/suid/libcuda.so.1" -Wl,-rpath,"$work/suid" || return 1
	install -o 65534 -m 4755 "$work/suid/plain" "$work/suid/changes"
	chmod 777 "$work/suid"
	for name in plain changes; do
		timeout 60 env -u KVGPU_REMOTE "KVGPU_REMOTE_TRACE=$work/suid/log.$name" "$work/suid/$name" "$cubin" "$work/go"
	done
	[ -s "$work/suid/log.plain" ] && ! [ -e "$work/suid/log.changes" ]
}

# a queued launch has no instruction of a trace that is off: its functions name no function of remote/client/trace.c, nor trace_file
launch_is_free()
{
	objdump -d --no-show-raw-insn "$remote/libcuda.so.1" | awk '/^[0-9a-f]+ <.*>:$/ { name = $2; inside = name ~ /^<(launch|call_async|call_enter|submit_call)[.>]/; found += inside }
		inside && /trace_/ { print name, $0; wrong = 1 }
		END { print found " functions"; exit found < 4 || wrong }'
}

run_trace()
{
	local name

	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/traced.c -o "$work/traced" "$work/libcuda.so.1" -Wl,-rpath,"\$ORIGIN" ||
		{ result 1 "traced: the program builds"; return; }
	cp "$inprocess/libnvidia-ml.so.1" "$work/public/"
	service_config "idle-suspend = 1h"
	start_service
	for name in unix aperture; do
		try "a trace by $name has all kernels, copies and waits, and a capture goes on" whole_trace $name
	done
	try "it ends with its time, with sleep, or with the client's process" ended_traces
	try "a client that is not there" refused_by_ctl "no client with that number" trace 999 1
	try "too long" refused_by_ctl "seconds from 1 to 60" trace 1 61
	out=$(script -qec "'$remote/kvgpu-remotectl' --socket '$work/admin' trace 1 1" /dev/null)
	[[ $out == *"which is a terminal"* ]]
	result $? "a terminal gets no trace" "$out"
	try "calls that failed or were refused are in the client's log" wrong_calls
	try "and with 0 ms all that were answered" all_calls
	try "a log that is a link, or no file of the user's, is refused" other_logs
	[ "$(id -u)" != 0 ] || try "a set-user-ID program writes none" setuid_log
	try "without a trace a launch looks at nothing of it" launch_is_free
	stop_server
}
