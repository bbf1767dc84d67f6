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
	refused_by_ctl "is under way" trace "$id" 1 && ctl suspend "$id" && trace_ends "was put to sleep" || return 1
	refused_by_ctl "it sleeps" trace "$id" 1 && ctl resume "$id" && until_true is_in_state "$id" awake && begin_trace 60 || return 1
	kill -9 "$(ctl list --json --interval 0 | jq ".clients[] | select(.id == $id) | .pid")"
	trace_ends "process was ended" || return 1
	end_program
	until_true no_clients
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
	stop_server
}
