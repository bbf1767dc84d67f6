#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of mdev without a VM. Prints TAP: one line for each program of tests, two for actors_fuzz.
#   run.sh [quick|long]; with STOP=1 the first failure ends it; SEED is actors_fuzz's first seed. quick runs a quarter of the topics' .slow
#   rows: HARNESS_DAY=0..3 says which, else the date does.
set -u
cd "$(dirname "$0")/../../.." || exit 1
mode=${1:-quick}
results=0 failures=0

result() # STATUS NAME
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2"
	[ "$1" -eq 0 ] || [ -z "${STOP-}" ] || exit 1
}

log=$(mktemp) || exit 1
trap 'rm -f -- "$log"' EXIT
make -s harness || exit 1
[ "$mode" = quick ] || export HARNESS_ALL=1
day=${HARNESS_DAY:-$(($(date +%s) / 86400 % 4))}
[[ $day == [0-3] ]] || { echo "run.sh: HARNESS_DAY is 0, 1, 2 or 3, not '$day'" >&2; exit 2; }
export HARNESS_DAY=$day
[ "$mode" != quick ] || echo "# HARNESS_DAY=$day"
for t in $(make -s print-harness); do
	timeout --kill-after=10 3000 "$t" > "$log" 2>&1
	rc=$?
	[ $rc -eq 0 ] || sed 's/^/# /' "$log"
	result $rc "${t##*/}"
done
# a new seed each day, which is told
seed=${SEED:-$(date +%Y%m%d)000} seeds=4 cut_off=20
[ "$mode" = quick ] || seeds=600 cut_off=600
timeout --kill-after=10 2000 "$(make -s print-harness-fuzz)" "$seed" $seeds 1000 > "$log" 2>&1
rc=$?
sed 's/^/# /' "$log"
result $rc "actors_fuzz from seed $seed on"
timeout --kill-after=10 2000 "$(make -s print-harness-fuzz)" "$seed" $cut_off 400 cut-off > "$log" 2>&1
rc=$?
sed 's/^/# /' "$log"
result $rc "actors_fuzz from seed $seed on, with a card that is lost"
echo "1..$results"
[ $failures -eq 0 ]
