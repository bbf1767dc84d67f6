# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh and reload.sh: clients are put to sleep and wake, on
# a GPU of CARD_MIB that all processes share: servers' and, in place of another user of the GPU, programs of their own.

SUSPENDS=20 CARD_MIB=256
# longer than a client without a bell holds out for a server that has gone (remote/channel/endpoint.c)
WAIT_S=${KVGPU_SLEEP_WAIT_S:-25}
on_the_card=("KVGPU_INPROCESS_CARD=$work/card" "KVGPU_INPROCESS_VRAM_MIB=$CARD_MIB")

# sleeps I [VARIABLE=VALUE...] -- ARGUMENT...: number I of the programs of sleeps.c, until the file $work/enough.I is there
sleeps()
{
	local i=$1 variables=()

	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	rm -f "$work/enough.$i"
	: > "$work/sleep.$i"
	env "${variables[@]}" "$work/sleeps" "$work/enough.$i" "${@:2}" > "$work/sleep.$i" 2>&1 &
	sleeping[i]=$!
}

# the same beside all servers: a user of the GPU of which they know nothing
uses_the_card() { sleeps "$1" "${on_the_card[@]}" "LD_PRELOAD=$inprocess/libcuda.so.1" -- "${@:2}"; }
is_ready() { grep -q ready "$work/sleep.$1"; }
ends_right() { touch "$work/enough.$1" && wait "${sleeping[$1]}"; }

ids() { ctl list --json --interval 0 | jq '.clients[].id'; }
last_id() { ids | sort -n | tail -n 1; }
is_in_state() { clients_say ".clients[] | select(.id == $1) | .sleep == \"$2\""; }
# slept N: each client did, so often at least
slept() { clients_say ".clients | length > 0 and all(.sleeps >= $1)"; }

# suspend_often ID: SUSPENDS times, at any moment of its calls
suspend_often()
{
	local i wrong=0

	for ((i = 0; i < SUSPENDS; i++)); do
		until_true is_in_state "$1" awake
		sleep "0.0$((RANDOM % 90))"
		ctl suspend "$1" > "$work/suspend.$1" 2>&1 || wrong=$((wrong + 1))
	done
	[ $wrong = 0 ] || { echo "$wrong times"; cat "$work/suspend.$1"; } >> "$work/suspends"
}

run_suspends()
{
	local id at=() wrong=0 i

	: > "$work/suspends"
	program 1 "KVGPU_REMOTE=unix:$work/socket"
	program 2 "KVGPU_REMOTE=aperture:$work/socket"
	program 3 "KVGPU_REMOTE=aperture:$work/shared,bell=unix:$work/bell"
	program 4 "KVGPU_REMOTE=aperture:$work/silent"
	program 5 "$tls" "$ann"
	until_true eval '[ "$(cat "$work"/reload.[1-5] | grep -c ready)" = 5 ]'
	for id in $(ids); do
		suspend_often "$id" & at+=($!)
	done
	wait "${at[@]}"
	! [ -s "$work/suspends" ] && slept "$SUSPENDS"
	result $? "programs of five carriers are put to sleep $SUSPENDS times, between calls and in them" "$(xargs < "$work/suspends")"
	touch "$work/over"
	for i in 1 2 3 4 5; do
		wait "${reloading[i]}" || wrong=$((wrong + 1))
	done
	result $wrong "and have right bytes until their end" "$(cat "$work"/reload.[1-5] | grep -v ready | xargs)"
}

# a sleeper of more than half of the card, of which another takes more than half
run_wait_for_room()
{
	local id

	sleeps 6 "KVGPU_REMOTE=aperture:$work/silent" -- 150 3000
	until_true is_ready 6
	id=$(last_id)
	try "a program that pauses is put to sleep" ctl suspend "$id"
	uses_the_card 7 150 100
	try "what it had is there for others" until_true is_ready 7
	try "its next call waits for room, and the list says so" until_true clients_say ".clients[] | select(.id == $id) | .sleep == \"waits\" and (.why | test(\"room\"))"
	sleep "$WAIT_S"
	is_in_state "$id" waits
	result $? "it waits for $WAIT_S s"
	ends_right 7
	result $? "who took the room ends" "$(xargs < "$work/sleep.7")"
	try "it wakes" until_true is_in_state "$id" awake
	ends_right 6
	result $? "and has its bytes" "$(xargs < "$work/sleep.6")"
}

# can_not_sleep HOW TEXT
can_not_sleep()
{
	sleeps 6 "KVGPU_REMOTE=unix:$work/socket" -- 8 50 "$1"
	until_true is_ready 6 || return 1
	ctl suspend "$(last_id)" > "$work/out" 2>&1
	[ $? = 1 ] && grep -qF -- "$2" "$work/out" && ends_right 6 && return
	cat "$work/out" "$work/sleep.6"
	return 1
}

run_refused_suspends()
{
	try "managed memory keeps a program awake, and it goes on" can_not_sleep managed "managed memory"
	try "memory that others may open" can_not_sleep shares "shares memory"
	try "a capture" can_not_sleep captures "captures"
	try "a client that is not there" refused_by_ctl "there is no client with that number" suspend 99999
}

killed_asleep()
{
	local id

	sleeps 6 "KVGPU_REMOTE=unix:$work/socket" -- 200 60000
	until_true grep -q . "$work/sleep.6"
	is_ready 6 || { ctl list --json --interval 0; cat "$work/sleep.6"; return 1; }
	id=$(last_id)
	ctl suspend "$id" && is_in_state "$id" asleep || return 1
	kill -9 "${sleeping[6]}"
	wait "${sleeping[6]}" 2> /dev/null
	until_true clients_say ".clients | all(.id != $id)" || return 1
	uses_the_card 7 200 1
	until_true grep -q . "$work/sleep.7" # "ready", or its error
	ends_right 7 && return
	ctl list --interval 0
	cat "$work"/sleep.[67]
	return 1
}

# Three programs that need twice what the card has, on a server of their own: it takes a minute, so it runs beside the rest.
begin_crowd()
{
	local i

	printf '%s\n' "library = $work/public/libcuda.so.1" "admin-socket = $work/crowd-admin" "listen = unix:$work/crowd" \
		"suspend-for = memory" > "$work/crowd.conf"
	: > "$work/crowd-card"
	chmod 666 "$work/crowd-card"
	env "${on_the_card[@]}" "KVGPU_INPROCESS_CARD=$work/crowd-card" "$remote/kvgpu-remoted" --config "$work/crowd.conf" 2> "$work/crowd.log" &
	crowd=$!
	until_true test -S "$work/crowd"
	for i in 11 12 13; do
		sleeps $i "KVGPU_REMOTE=unix:$work/crowd" -- 170 2500
	done
}

crowd_slept() { "$remote/kvgpu-remotectl" --socket "$work/crowd-admin" list --json --interval 0 | jq -e '.clients | map(.sleeps) | min > 0'; }

end_crowd()
{
	local i wrong=0

	until_true crowd_slept || until_true crowd_slept
	result $? "three programs that need twice the GPU's memory sleep in turn"
	for i in 11 12 13; do
		touch "$work/enough.$i"
	done
	for i in 11 12 13; do
		wait "${sleeping[i]}" || wrong=$((wrong + 1))
	done
	result $wrong "and end right" "$(cat "$work"/sleep.1[123] | xargs)"
	kill "$crowd"
	wait "$crowd"
}

run_sleep()
{
	local sleeping=() reloading=() starts=() crowd

	if ! gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/sleeps.c -o "$work/sleeps" "$work/libcuda.so.1" -Wl,-rpath,"\$ORIGIN"; then
		result 1 "sleeps: the program builds"
		return
	fi
	cp "$inprocess/libnvidia-ml.so.1" "$work/public/"
	rm -f "$work/over"
	truncate -s 80M "$work/shared" "$work/silent"
	begin_crowd
	service_config "listen = tls:127.0.0.1:$tls_port" "listen = aperture:$work/shared,bell=unix:$work/bell" "listen = aperture:$work/silent" "idle-suspend = 1h"
	: > "$work/card"
	chmod 666 "$work/card"
	starts=(env "${on_the_card[@]}" "$remote/kvgpu-remoted")
	start_service
	run_suspends
	run_refused_suspends
	try "a client that is killed asleep leaves nothing" killed_asleep
	run_wait_for_room
	stop_server
	end_crowd
	rm "$work/shared" "$work/silent"
}
