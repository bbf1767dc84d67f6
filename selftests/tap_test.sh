#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests which score tap_run of tap.sh gives to programs, and what system/client/tap.c makes of a known bug.
# Prints TAP.
# shellcheck disable=SC2154
set -u
cd "$(dirname "$0")" || exit 1
n=0 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

result() # STATUS NAME DETAIL
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2 # $3"; bad=1; fi
}

# counts TEXT 'PASSED FAILED SKIPPED' CMD...: one test: tap_run gives the program CMD this score
counts()
{
	local got
	got=$(. ./tap.sh; tap_run it "${LIMIT:-60}" "${@:3}" >/dev/null; echo "$tap_passed $tap_failed $tap_skipped")
	result "$([ "$got" = "$2" ]; echo $?)" "$1" "$got, not $2"
}

counts "ok, not ok, what is skipped in both ways" "1 1 2" printf '1..4\nok 1 - a\nnot ok 2 - b # SKIP d\nok 3 - b # SKIP no\nnot ok 4 # SKIP b\n'
counts "a program that is skipped as a whole" "0 0 1" printf '1..0 # SKIP it has nothing to run on\n'
counts "fewer lines than planned" "1 1 0" printf '1..2\nok 1 - a\n'
counts "no line" "0 1 0" true
counts "an error after good lines" "1 1 0" sh -c 'echo ok 1 - a; echo 1..1; exit 3'
LIMIT=1 counts "a program that does not end" "0 1 0" sleep 600

${CC:-cc} -Isystem/client -x c - system/client/tap.c -o "$work/known" <<'EOC'
#include <string.h>
#include "tap.h"
int main(int argc, char **argv)
{
	tap_known_bug(!strcmp(argv[1], "gone"), "b", "theirs: it sleeps");
	return tap_finish();
}
EOC
for word in "as known" gone; do
	said=$(. ./tap.sh; tap_run it 60 "$work/known" "$word" >/dev/null; tap_save "$work/save"; . ./tap.sh; tap_add "$work/save"; tap_report)
	[[ $said == *"known bugs of others"*$'\n'"  $word"*" it: 1 - b # "*" theirs: it sleeps"$'\n'"1 passed, 0 failed, 0 skipped" ]]
	result $? "a bug of others passes, and the summary says '$word'" "$said"
done
echo "1..$n"
exit $bad
