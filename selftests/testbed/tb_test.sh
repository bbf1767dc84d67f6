#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests of the test bed itself: tb_test.sh [quick|long [STEPS...]]. TAP on stdout. It starts beds of its own names and leaves
# nothing behind; that is one of the things it checks.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
steps=(setup argument agent bed end)
case ${1:-quick} in
quick) ;;
long) steps=(setup argument agent bed guest crash full kernel fresh_setup end) ;;
*) echo "usage: tb_test.sh [quick|long [STEPS...]], STEPS of: ${steps[*]} crash full kernel fresh_setup" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || steps=("${@:2}")
TB=testbed/tb
# not by the process's number: a machine that was cut off in a run may count the next one's up to the same
run=tbtest-$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
A=$run-a B=$run-b
scratch=$(mktemp -d)
count=0 failed=0

# shellcheck source=/dev/null
. selftests/testbed/bed_steps.sh
# shellcheck source=/dev/null
. selftests/testbed/crash_steps.sh
# shellcheck source=/dev/null
. selftests/testbed/guest_steps.sh
# shellcheck source=/dev/null
. selftests/testbed/setup_steps.sh

# try TEXT COMMAND...: one test; what the command says is shown when it fails.
try()
{
	local text=$1 began=$SECONDS
	shift
	count=$((count + 1))
	if "$@" > "$scratch/said" 2>&1; then
		printf 'ok %d - %s # %d s\n' $count "$text" $((SECONDS - began))
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n' $count "$text"
		sed 's/^/# /' "$scratch/said" | tail -n 40
	fi
}

# status_is WANT COMMAND...: its exit status; stdout and stderr stay in $scratch/out and $scratch/err.
status_is()
{
	local want=$1 got=0
	shift
	"$@" > "$scratch/out" 2> "$scratch/err" || got=$?
	[ "$got" = "$want" ] && return 0
	echo "exit status $got, not $want: $*"
	cat "$scratch/out" "$scratch/err"
	return 1
}

said() # PATTERN: the last command of status_is wrote it to stderr
{
	grep -qE -- "$1" "$scratch/err" && return 0
	echo "stderr does not match '$1':"
	cat "$scratch/err"
	return 1
}

# beside STEPS: they have bed A to themselves, and go on while the steps that follow use bed B
beside()
{
	mkdir "$scratch/beside"
	(
		scratch=$scratch/beside count=0 failed=0
		"${1}_steps" > "$scratch/tap"
		echo "$count $failed" > "$scratch/score"
	) &
	beside=$!
}

# await_beside: waits for the steps beside, and prints their lines of TAP under numbers of this program
await_beside()
{
	local line more=0 bad=1
	wait "$beside"
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*) count=$((count + 1)); line="${line%%ok *}ok $count - ${line#* - }" ;;
		esac
		printf '%s\n' "$line"
	done < "$scratch/beside/tap"
	read -r more bad < "$scratch/beside/score"
	[ "$more" -gt 0 ] || bad=1
	failed=$((failed + bad))
}

has_step() { [[ " ${steps[*]} " == *" $1 "* ]]; }

clean_up()
{
	"$TB" down --name "$A"
	"$TB" down --name "$B"
	rm -rf "$scratch" "/run/kvgpu-tb/$run"-?.lock
} > /dev/null 2>&1

# sweep: what runs of this program that were killed have left. Beside another run it leaves all alone: beds of that one may be dead
# for a moment, as part of a test. Then it says no.
sweep()
{
	local dir name state
	flock -n 8 || { flock -s 8; return 1; }
	for dir in /run/kvgpu-tb/tbtest-*/; do
		[ -d "$dir" ] || continue
		name=${dir%/}
		name=${name##*/}
		state=0
		"$TB" status --name "$name" > /dev/null 2>&1 || state=$?
		[ $state != 4 ] || "$TB" down --name "$name" > /dev/null 2>&1
		[ $state != 4 ] || rm -f "/run/kvgpu-tb/$name.lock"
	done
	flock -s 8
}

trap clean_up EXIT
trap 'exit 130' INT TERM

mkdir -p /run/kvgpu-tb
exec 8> /run/kvgpu-tb/tests.lock
sweep
for name in "${steps[@]}"; do
	case $name in
	crash) has_step guest || crash_steps ;;
	guest)
		! has_step crash || beside crash
		guest_steps
		! has_step crash || await_beside ;;
	*) "${name}_steps" ;;
	esac
done
printf '1..%d\n' $count
[ $failed = 0 ]
