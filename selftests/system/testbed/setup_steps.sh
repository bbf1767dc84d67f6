# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb_test.sh sets scratch, TB, A and B (names of beds). Single quotes: the server expands the text.
# shellcheck disable=SC2154,SC2016
# Tests of "tb setup": a second time, and (mode long) in an empty cache, where it is killed in the
# middle and then run twice at once.

setup_steps()
{
	try "setup" status_is 0 "$TB" setup
	try "a second setup fetches and builds nothing" again_nothing
}

# Steps of set-up print lines of their own, and what they make has another inode.
again_nothing()
{
	local cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/testbed before after
	before=$(stages_in "$cache")
	status_is 0 "$TB" setup && cat "$scratch/out" "$scratch/err" && after=$(stages_in "$cache") || return 1
	diff <(echo "$before") <(echo "$after") && [ -n "$before" ] &&
		[ ! -s "$scratch/out" ] && [ "$(cat "$scratch/err")" = "tb: ready: $cache" ]
}

# stages_in DIR: prints the stages that set-up makes, with inode and time. Other tests make further
# ones meanwhile.
stages_in() { stat -c '%n %i %Y' "$1"/{kernel,tools,server,image}-*; }

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
	local pid status=0
	"$TB" setup > "$scratch/setup" 2>&1 &
	pid=$!
	await_true 1800 root_grows || echo "no root of the tools is being made"
	kill -KILL "$pid"
	wait "$pid" || status=$?
	cat "$scratch/setup"
	[ $status = 137 ] && await_true 60 nothing_of_setup
}

# packages are being unpacked, in namespaces of their own
root_grows() { compgen -G "$scratch/cache/testbed/tmp.tools-*/root/usr/bin/dpkg" > /dev/null; }

nothing_of_setup() { ! pgrep -f "$scratch/cache" && ! grep "$scratch/cache" /proc/self/mounts; }

two_setups()
{
	local first=0 second=0
	: > "$scratch/setup"
	"$TB" setup > "$scratch/setup" 2>&1 &
	local pid=$!
	await_true 60 test -s "$scratch/setup"	# it has the lock
	"$TB" setup || second=$?
	wait "$pid" || first=$?
	cat "$scratch/setup"
	[ $first = 0 ] && [ $second = 0 ]
}
