#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# flood.sh FRAMES [SEED]: a whole kvgpu-remoted, built with ASan and UBSan, on a library that is none, under a client that attacks it
# with FRAMES frames, beside programs that compare each byte (flood/). Before that, floods with a fault in the library, which have to
# be noticed. The seed is the day's number, if none is given. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/result.sh
. selftests/result.sh
frames=${1:?how many frames} seed=${2:-$(($(date +%s) / 86400))}
flood=$(make -s remote-flood) || { echo "flood.sh: it does not build" >&2; exit 2; }
flood=${flood##*$'\n'}
remote=$(make -s print-remote)
work=$(mktemp -d)
server='' loops=()
trap 'end_all; rm -rf "$work"' EXIT

# until_true COMMAND...: repeats the command until it succeeds, for a while
until_true()
{
	for _ in $(seq 400); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}

ctl() { "$remote/kvgpu-remotectl" --socket "$work/admin" "$@"; }
no_children() { ! pgrep -P "$server"; }
descriptors() { find "/proc/$server/fd" -mindepth 1 | wc -l; }
threads() { find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l; }

# what a sanitizer said, its first lines
complaints()
{
	find "$work" -maxdepth 1 -name 'sanitizer.*' -size +0 -exec head -n 40 {} + | grep -v '^$' | head -n 60
}

# start_server [FAULT]: of the library (flood/gpu.c)
start_server()
{
	: > "$work/server.log"
	truncate -s 4096 "$work/page"
	KVGPU_FLOOD_FAULT=${1-} KVGPU_FLOOD_PAGE=$work/page \
		ASAN_OPTIONS=log_path=$work/sanitizer:abort_on_error=1:handle_abort=1:allocator_may_return_null=1:quarantine_size_mb=16 \
		UBSAN_OPTIONS=log_path=$work/sanitizer.ub:abort_on_error=1:print_stacktrace=1 \
		"$flood/kvgpu-remoted" --listen "unix:$work/socket" --admin "$work/admin" --library "$flood/libcuda.so.1" \
		--arena 4M --pinned 4M --host-memory 0 2>> "$work/server.log" &
	server=$!
	until_true ctl list --interval 0
}

# loop CARRIER ROUNDS: programs beside the attack, one after the other, until $work/stop is there
loop()
{
	local of=$seed

	until [ -e "$work/stop" ] && [ $of -gt "$seed" ]; do
		of=$((of + 1))
		KVGPU_REMOTE=$1:$work/socket timeout 300 "$flood/honest" $of "$2" >> "$work/honest.$1" 2>&1 ||
			{ echo "exit code $?" >> "$work/honest.$1"; return 1; }
	done
}

# start_loops ROUNDS: of each program
start_loops()
{
	local carrier

	rm -f "$work/stop"
	for carrier in aperture unix; do
		: > "$work/honest.$carrier"
		loop $carrier "$1" & loops+=($!)
	done
}

# the programs end by themselves; 0: all of them without an error
stop_loops()
{
	local pid rc=0

	touch "$work/stop"
	for pid in "${loops[@]}"; do
		wait "$pid" || rc=1
	done
	loops=()
	return $rc
}

end_all()
{
	touch "$work/stop"
	[ -z "$server" ] || { pkill -KILL -P "$server"; kill -KILL "$server"; wait "$server"; } 2>/dev/null
	server=
	stop_loops
}

attack() { "$flood/attack" "$work/socket" "$work/page" "$1" "$seed" > "$work/attack.log" 2>&1; }
# said NAME: a number that the attack printed
said() { grep -oP "(^| )$1=\K[0-9]+" "$work/attack.log" || echo 0; }
rounds() { cat "$work"/honest.* | grep -oP '^rounds=\K[0-9]+' | awk '{ n += $1 } END { print n + 0 }'; }

# ------------------------------------------------------------------ whether a fault would be noticed

notices_a_crash()
{
	start_server "crash 1000"
	! attack 20000 && grep -q '^FAIL: ' "$work/attack.log" && until_true grep -q 'was killed by signal 6' "$work/server.log" &&
		[ -n "$(complaints)" ]
	result $? "a server's process that crashes is noticed" "$(grep '^FAIL: ' "$work/attack.log")"
	end_all
	rm -f "$work"/sanitizer.*
}

notices_a_byte()
{
	start_server "byte 5"
	start_loops 10
	! stop_loops && grep -q 'byte .* is ' "$work/honest.unix"
	result $? "a wrong byte is noticed" "$(head -n 2 "$work/honest.unix" | tail -n 1)"
	end_all
	rm -f "$work"/sanitizer.*
}

# ------------------------------------------------------------------ the flood

run_attack()
{
	local start=$SECONDS rc

	attack "$frames"
	rc=$?
	grep '^# ' "$work/attack.log" | tail -n 3
	result $rc "$(said taken) frames, seed $seed" "$((SECONDS - start)) s; $(xargs < <(grep -v '^# ' "$work/attack.log"))"
	# fewer frames reach fewer operations
	[ "$(said operations)" -ge $((frames >= 5000000 ? 200 : 100)) ]
	result $? "operations that succeeded" "$(said operations) of $(said of)"
	[ "$(said rules)" -ge "$([ "$frames" -ge 50000000 ] && said rules_of || echo 3)" ]
	result $? "rules of the channel that were broken" "$(said rules) of $(said rules_of)"
	[ "$(said ends)" -ge $((frames / 8000)) ] && [ "$(said later)" -ge $((frames / 8000)) ]
	result $? "copies with bytes of host memory, functions" "$(said ends) ends, $(said later) functions"
}

# what is left behind when all clients have gone
judge_end()
{
	local calls

	until_true no_children
	result $? "all processes of clients end"
	! grep 'was killed by signal' "$work/server.log" > "$work/killed"
	result $? "and by themselves" "$(head -n 1 "$work/killed")"
	[ -z "$(complaints)" ]
	result $? "the sanitizers say nothing"
	complaints | sed 's/^/# /'
	calls=$(ctl list --json --interval 0 | jq .calls)
	[ "$calls" -ge $(($(said taken) / 10 * 9)) ]
	result $? "the server has counted the frames" "$calls, with those of the programs beside"
	[ "$(descriptors)" = "$before_descriptors" ] && [ "$(threads)" = "$before_threads" ]
	result $? "the first process has as many descriptors and threads as before" "$(descriptors) and $(threads)"
}

judge_drain()
{
	local program rc

	KVGPU_REMOTE=aperture:$work/socket "$flood/honest" "$seed" 0 > "$work/last" 2>&1 & program=$!
	until_true grep -q ready "$work/last"
	grep -q '^Seccomp:.2$' "/proc/$(pgrep -P "$server")/status"
	result $? "a program after the flood: its server's process has the filter of system calls"
	ctl drain && ! KVGPU_REMOTE=unix:$work/socket timeout 60 "$flood/honest" 1 1 > "$work/none" 2>&1 && kill -0 "$server"
	result $? "a drain: no new program comes"
	kill -TERM "$program"
	wait "$program"
	rc=$?
	result $rc "the one that was there goes on" "$(tail -n 1 "$work/last")"
	[ $rc = 0 ] || kill -TERM "$server"
	wait "$server"
	rc=$?
	server=
	result $rc "the server ends, and has leaked no memory" "exit code $rc: $(tail -n 1 "$work/server.log")"
}

echo "# seed $seed"
notices_a_crash
notices_a_byte
start_server
# all that the first client of a name leaves: its row of the table stays
start_loops 10
stop_loops
until_true no_children
before_descriptors=$(descriptors) before_threads=$(threads)
start_loops 400
run_attack
stop_loops
result $? "programs beside it saw no error and no wrong byte" "$(rounds) rounds, $(grep -c '^rounds=' "$work/honest.aperture") and $(
	grep -c '^rounds=' "$work/honest.unix") programs"
[ $failures = 0 ] || tail -n 3 "$work"/honest.* | sed 's/^/# /'
judge_end
judge_drain
[ $failures = 0 ] || tail -n 20 "$work/server.log" | sed 's/^/# /'
echo "1..$results"
exit $((failures > 0))
