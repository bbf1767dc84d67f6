#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# rooms.sh PROGRAM REPORT.json [CASE...]: runs the micro-benchmarks of the pure rooms, and once more under valgrind's callgrind to count
# instructions, which do not depend on the machine's speed or load. Prints a table, writes the same as JSON.
set -euo pipefail
program=$1 report=$2
shift 2
mkdir -p "$(dirname "$report")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" "$@" >"$work/times"

# callgrind writes one dump for each call of rooms_counted()
: >"$work/instructions"
if command -v valgrind >/dev/null; then
	valgrind -q --tool=callgrind --callgrind-out-file="$work/dump" --toggle-collect=rooms_counted \
		--dump-after=rooms_counted "$program" --count "$@" >"$work/cases" 2>"$work/valgrind.log" ||
		{ cat "$work/valgrind.log" >&2; exit 1; }
	n=0
	while read -r name ops _; do
		n=$((n + 1))
		printf '%s %s %s\n' "$name" "$(sed -n 's/^summary: //p' "$work/dump.$n")" "$ops"
	done <"$work/cases" >"$work/instructions"
else
	echo "bench-rooms: valgrind is not installed, no instructions are counted" >&2
fi

awk -v cpu="$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" -v date="$(date +%F)" -v json="$report" '
	FILENAME ~ /instructions$/ { insn[$1] = $2 / $3; next }
	FNR == 1 {
		printf "%-26s %13s %13s %13s %13s  of one\n", "", "ns, median", "min", "max", "instructions"
		printf "{\n \"date\": \"%s\",\n \"cpu\": \"%s\",\n \"rows\": [", date, cpu > json
	}
	{
		has = $1 in insn
		printf "%-26s %13.1f %13.1f %13.1f %13s  %s\n", $1, $3, $4, $5, (has) ? sprintf("%.1f", insn[$1]) : "-", $6
		printf "%s\n  {\"name\": \"%s\", \"of\": \"%s\", \"ns\": %s, \"ns_min\": %s, \"ns_max\": %s, \"instructions\": %s}",
			(FNR > 1) ? "," : "", $1, $6, $3, $4, $5, (has) ? sprintf("%.2f", insn[$1]) : "null" > json
	}
	$1 ~ /^shadow\/compare/ { rate = 1000 / $3; if (!slowest || rate < slowest) slowest = rate }
	END {
		printf "\n ],\n \"million_entries_compared_per_second\": %s\n}\n", (slowest) ? sprintf("%.0f", slowest) : "null" > json
		if (slowest)
			printf "entries compared per second and core: %.0f million; the aim is 100 million\n", slowest
	}' "$work/instructions" "$work/times"
echo "written: $report"
