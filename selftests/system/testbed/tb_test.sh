#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tb_test.sh [quick|long [STEPS...]]: tests of the test bed itself. TAP on stdout. It starts beds
# with names of its own.
set -u
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
steps=(setup argument agent bed end)
case ${1:-quick} in
quick) ;;
long) steps=(setup argument agent bed guest crash full kernel fresh_setup end) ;;
*) echo "usage: tb_test.sh [quick|long [STEPS...]], STEPS of: ${steps[*]} guest crash full kernel fresh_setup" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || steps=("${@:2}")
TB=testbed/tb
# not the PID, which a bed that an earlier run left may have in its name
run=tbtest-$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
A=$run-a B=$run-b
scratch=$(mktemp -d)
count=0 failed=0

# shellcheck source=/dev/null
. selftests/system/testbed/bed_steps.sh
# shellcheck source=/dev/null
. selftests/system/testbed/crash_steps.sh
# shellcheck source=/dev/null
. selftests/system/testbed/guest_steps.sh
# shellcheck source=/dev/null
. selftests/system/testbed/setup_steps.sh

# try TEXT COMMAND...: one test; prints the command's output if it fails
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

# status_is WANT COMMAND...: true if COMMAND's exit status is WANT; its output is in $scratch/out
# and $scratch/err
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

said() # PATTERN: true if the last command of status_is wrote a line to stderr that matches
{
	grep -qE -- "$1" "$scratch/err" && return 0
	echo "stderr does not match '$1':"
	cat "$scratch/err"
	return 1
}

# beside STEPS: runs these steps in the background, on bed A. The steps that run meanwhile use only
# bed B.
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

# await_beside: waits for the steps that beside() began, and prints their TAP lines with numbers
# that continue this program's
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

# sweep: removes dead beds that killed runs of this program have left. Returns false and removes
# nothing while another run goes on: that run's beds may be dead for a moment, as part of a test.
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
