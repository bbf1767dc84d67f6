#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests which score tap_run of tap.sh gives to programs. Prints TAP.
# shellcheck disable=SC2154
set -u
cd "$(dirname "$0")" || exit 1
n=0 bad=0

# counts TEXT 'PASSED FAILED SKIPPED' CMD...: one test: tap_run gives the program CMD this score
counts()
{
	local text=$1 want=$2 got
	shift 2
	got=$(. ./tap.sh; tap_run it 5 "$@" >/dev/null; echo "$tap_passed $tap_failed $tap_skipped")
	n=$((n + 1))
	if [ "$got" = "$want" ]; then
		echo "ok $n - $text"
	else
		echo "not ok $n - $text # $got, not $want"
		bad=1
	fi
}

counts "ok and not ok" "2 1 0" printf '1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n'
counts "a skipped test, one that is known to fail" "1 0 2" printf '1..3\nok 1 - a\nok 2 - b # SKIP no\nnot ok 3 - c # XFAIL known\n'
counts "a test that cmocka skips; a failure that speaks of skipping" "1 1 1" printf '1..3\nok 1 - a\nnot ok 2 # SKIP b\nnot ok 3 - c # SKIP d\n'
counts "a program that is skipped as a whole" "0 0 1" printf '1..0 # SKIP it has nothing to run on\n'
counts "fewer lines than planned" "1 1 0" printf '1..2\nok 1 - a\n'
counts "no line" "0 1 0" true
counts "an error after good lines" "1 1 0" sh -c 'echo ok 1 - a; echo 1..1; exit 3'
counts "a program that does not end" "1 1 0" sh -c 'echo ok 1 - a; sleep 60'
counts "a bad line and an error are one failure" "0 1 0" sh -c 'echo not ok 1 - a; echo 1..1; exit 1'
echo "1..$n"
exit $bad
