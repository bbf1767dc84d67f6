#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make bench-model: what the model costs and delivers, seen by a program in the server and by stock nouveau, unpaced. Prints
# a table, writes build/bench/model.json. Exit code 1 when a part fails or a stated target is missed.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
export KVGPU_TB_NAME=${KVGPU_BENCH_NAME:-bench}
kernel=${KVGPU_BENCH_KERNEL:-base} board=${KVGPU_BENCH_BOARD:-k20m}
cell_name="$kernel $board"
loads=3
report=build/bench/model.json
values=$(mktemp)
trap 'bed_down; rm -f "$values"' EXIT
trap 'exit 130' INT TERM

give_up() { echo "bench-model: $*" >&2; exit 1; }

value() { awk -v n="$1" '$1 == n { print $2 }' "$values"; }

put() { printf '%s %s %s\n' "$1" "$2" "$3" >>"$values"; }

# before and after the copies it is compared with, on the same machine
measure_memcpy() { put "$1" "$("$OUT/memcpy_bench")" GB/s; }

measure_loads()
{
	local i ms

	for ((i = 1; i <= loads; i++)); do
		ms=$(LIMIT=90 in_server /share/native/load.sh) || give_up "nouveau did not load"
		put "nouveau_load_$i" "$ms" ms
		[ $i -eq $loads ] || LIMIT=60 in_server modprobe -r nouveau || give_up "nouveau did not unload"
	done
}

counts()
{
	model_stats | sed -n 's/^ *{"unit": "\([^"]*\)", "range": "\([^"]*\)", "reads": \([0-9]*\), "writes": \([0-9]*\)}.*/\1 \3 \4/p' |
		awk '{ r[$1] += $2; w[$1] += $3 } END { for (u in r) print u, r[u], w[u] }' | sort
	model_stats | sed -n 's/^ *"\(bar1\|bar3\|pramin\)": {"reads": \([0-9]*\), "writes": \([0-9]*\).*/\1-window \2 \3/p'
}

# difference of two counts: what all loads of nouveau between them needed
load_counts() { join -a 2 -e 0 -o 0,1.2,1.3,2.2,2.3 <(sort "$1") <(sort "$2") | awk '{ print $1, $4 - $2, $5 - $3 }'; }

table()
{
	local name

	printf '\n%-34s %12s\n' "measured on kernel $kernel, board $board" ''
	for name in mmio_read_median mmio_write_median mmio_write_read_median doorbell_write_median \
		doorbell_to_completion_median doorbell_to_completion_p90 nouveau_submit_to_completion_median switch_ce switch_gr; do
		printf '%-34s %12s us\n' "$name" "$(value $name)"
	done
	for name in copy_vram_to_vram copy_host_to_vram copy_vram_to_host memcpy_before memcpy_after; do
		printf '%-34s %12s GB/s\n' "$name" "$(value $name)"
	done
	printf '%-34s %12s %%\n' "worst copy against memcpy" "$ratio"
	for name in 1 2 3; do
		printf '%-34s %12s ms\n' "nouveau load $name" "$(value "nouveau_load_$name")"
	done
	printf '\nregister accesses of one load of nouveau, by unit\n%-24s %10s %10s\n' unit reads writes
	awk '$2 || $3 { printf "%-24s %10d %10d\n", $1, $2, $3 }' "$values.load"
}

write_report()
{
	mkdir -p build/bench
	{
		printf '{\n  "kernel": "%s",\n  "board": "%s",\n  "mode": "as fast as the machine",\n' "$kernel" "$board"
		printf '  "machine": "%s, %s CPUs",\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
		awk '{ printf "  \"%s\": {\"value\": %s, \"unit\": \"%s\"},\n", $1, $2, $3 }' "$values"
		printf '  "worst_copy_percent_of_memcpy": %s,\n' "$ratio"
		printf '  "load_accesses": {'
		awk '{ printf "%s\n    \"%s\": {\"reads\": %d, \"writes\": %d}", n++ ? "," : "", $1, $2, $3 }' "$values.load"
		printf '\n  },\n  "model": '
		model_stats
		printf '}\n'
	} >"$report"
}

check_targets()
{
	local bad=0 i

	awk -v r="$ratio" 'BEGIN { exit !(r >= 70) }' || { echo "MISSED: copies at 70 % of memcpy or more ($ratio %)"; bad=1; }
	for ((i = 1; i <= loads; i++)); do
		[ "$(value "nouveau_load_$i")" -lt 15000 ] || { echo "MISSED: load $i of nouveau in less than 15 s"; bad=1; }
	done
	return $bad
}

build_programs >&2 || give_up "programs do not build"
gcc -O2 -Wall -Wextra selftests/system/bench/memcpy_bench.c -o "$OUT/memcpy_bench" || give_up "memcpy_bench does not build"
bed_up >&2 || give_up "the server does not boot"
LIMIT=120 in_server /share/native/kvgpu-bench bare >"$values" || give_up "kvgpu-bench bare: $(tail -n 1 "$values")"
counts >"$values.before"
measure_loads
counts >"$values.after"
load_counts "$values.before" "$values.after" | awk -v n=$loads '{ print $1, $2 / n, $3 / n }' >"$values.load"
measure_memcpy memcpy_before
LIMIT=240 in_server /share/native/kvgpu-bench nouveau >"$values.nouveau" ||
	give_up "kvgpu-bench nouveau: $(tail -n 1 "$values.nouveau")"
cat "$values.nouveau" >>"$values"
measure_memcpy memcpy_after
ratio=$(awk '/^copy_/ { if (!min || $2 < min) min = $2 } /^memcpy_/ { if ($2 > max) max = $2 }
	END { printf "%.0f", max ? 100 * min / max : 0 }' "$values")
table
write_report
echo "written: $report"
check_targets
rc=$?
rm -f "$values".*
exit $rc
