# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb_test.sh sets scratch, TB, A and B (names of beds). Single quotes: the server expands the text.
# shellcheck disable=SC2154,SC2016
# Tests of "tb setup": a second time, and (mode long) in an empty cache, where it is killed in the
# middle and then run twice at once.

setup_steps()
{
	try "setup" status_is 0 "$TB" setup
	try "a second setup takes less than 5 s" again_fast
}

again_fast()
{
	local began=$SECONDS
	"$TB" setup && [ $((SECONDS - began)) -lt 5 ]
}

fresh_setup_steps()
{
	export KVGPU_CACHE=$scratch/cache
	try "setup killed in the middle leaves nothing that counts" setup_killed
	try "two setups at once: both end well" two_setups
	try "the result boots" status_is 0 "$TB" up --name "$A" --no-gpu
	"$TB" down --name "$A" > /dev/null 2>&1
	unset KVGPU_CACHE
}

setup_killed()
{
	"$TB" setup > "$scratch/setup" 2>&1 &
	local pid=$!
	sleep 25
	kill -KILL "$pid"
	wait "$pid"
	sleep 1
	! pgrep -f "$scratch/cache" && ! grep "$scratch/cache" /proc/self/mounts
}

two_setups()
{
	local first=0 second=0
	"$TB" setup > "$scratch/setup" 2>&1 &
	local pid=$!
	sleep 1
	"$TB" setup || second=$?
	wait "$pid" || first=$?
	cat "$scratch/setup"
	[ $first = 0 ] && [ $second = 0 ]
}
