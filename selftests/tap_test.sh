#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests which score tap_run of tap.sh gives to programs, and what client/tap.c makes of a known bug.
# Prints TAP.
# shellcheck disable=SC2154
set -u
cd "$(dirname "$0")" || exit 1
n=0 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
counts "a skipped test" "1 0 1" printf '1..2\nok 1 - a\nok 2 - b # SKIP no\n'
counts "a test that cmocka skips; a failure that speaks of skipping" "1 1 1" printf '1..3\nok 1 - a\nnot ok 2 # SKIP b\nnot ok 3 - c # SKIP d\n'
counts "a program that is skipped as a whole" "0 0 1" printf '1..0 # SKIP it has nothing to run on\n'
counts "fewer lines than planned" "1 1 0" printf '1..2\nok 1 - a\n'
counts "no line" "0 1 0" true
counts "an error after good lines" "1 1 0" sh -c 'echo ok 1 - a; echo 1..1; exit 3'
counts "a program that does not end" "1 1 0" sh -c 'echo ok 1 - a; sleep 60'
counts "a bad line and an error are one failure" "0 1 0" sh -c 'echo not ok 1 - a; echo 1..1; exit 1'

# known_bug TEXT WORD: one test: a program for which the bug is gone or not passes, and tap_report
# says which of the two it was
known_bug()
{
	local text=$1 word=$2 said rc
	counts "$text" "2 0 0" "$work/known" "$word"
	(. ./tap.sh; tap_run it 5 "$work/known" "$word" >/dev/null; tap_save "$work/save")
	said=$(. ./tap.sh; tap_add "$work/save"; tap_report)
	[[ $said == *"known bugs of others"*$'\n'"  $word"*" it: 2 - b # "*" theirs: it sleeps"$'\n'"2 passed, 0 failed, 0 skipped" ]]
	rc=$?
	n=$((n + 1))
	if [ $rc = 0 ]; then echo "ok $n - the summary says '$word'"; else echo "not ok $n - the summary says '$word' # $said"; bad=1; fi
}

${CC:-cc} -Iclient -x c - client/tap.c -o "$work/known" <<'EOC'
#include <string.h>
#include "tap.h"
int main(int argc, char **argv)
{
	tap_result(true, "a", NULL);
	tap_known_bug(!strcmp(argv[1], "gone"), "b", "theirs: it sleeps");
	return tap_finish();
}
EOC
known_bug "a bug of others that is there" "as known"
known_bug "a bug of others that is gone" "gone"
echo "1..$n"
exit $bad
