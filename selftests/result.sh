# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by scripts that print TAP.
# result STATUS NAME [DETAIL]: the line of one test, whose name begins with $over. $results and $failures count.
results=0 failures=0 over=
result()
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$over$2" "${3:+ # $3}"
}
