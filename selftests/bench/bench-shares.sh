#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make bench-shares: what each of several busy vGPUs gets of a paced GPU, how long small work waits, what switching costs. Prints
# a table, writes build/bench/shares.json. Exit code 1 when a tenant's data is wrong; the table says how far the shares are off.
# Before and after, it tells how long the host of this machine takes its CPUs away (away.c, the program $AWAY). The paced GPU goes on
# meanwhile, so a table of a disturbed machine says little.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/native/cell.sh
. selftests/native/cell.sh
export KVGPU_TB_NAME=${KVGPU_BENCH_NAME:-shares}
kernel=${KVGPU_BENCH_KERNEL:-base} layout=${KVGPU_BENCH_LAYOUT:-card} rate=${KVGPU_BENCH_RATE:-400M}
cpus=${KVGPU_BENCH_CPUS:-2}
report=build/bench/shares.json
cell_name="$kernel $layout"
trap 'bed_down' EXIT
trap 'exit 130' INT TERM

give_up() { echo "bench-shares: $*" >&2; exit 1; }

mkdir -p "$(dirname "$report")"
[ -x "${AWAY-}" ] || give_up "AWAY is not the program away; make bench-shares sets it"
nice -n -20 "$AWAY" || give_up "it is not known how quiet this machine is"
build_programs tenants >&2 || give_up "kvgpu-tenants does not build"
$TB up --driver kvgpu --kernel "$kernel" --mem 2G --cpus "$cpus" --append iomem=relaxed --model-args "--layout $layout --ce-rate $rate" </dev/null ||
	give_up "no server"
share=$($TB share)
cp "$OUT/kvgpu-tenants" "$share/"
[ -z "${KVGPU_BENCH_SLICE_US:-}" ] ||
	in_server sh -c "echo $KVGPU_BENCH_SLICE_US >\$(echo /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/slice_us)" || give_up "no such slice"
echo "kernel $kernel, layout $layout, copy engines paced to $rate bytes/s, $cpus CPUs of the server, slice $(
	in_server sh -c 'cat /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/slice_us') us"
LIMIT=1200 in_server /share/kvgpu-tenants bench --json /share/shares.json "$@"
rc=$?
nice -n -20 "$AWAY"
if [ -s "$share/shares.json" ]; then
	cp "$share/shares.json" "$report"
	PYTHONDONTWRITEBYTECODE=1 selftests/bench/plot.py "$report" "${report%.json}.svg" "windows of 2 s, paced copy engines, kernel $kernel"
	echo "written: $report, ${report%.json}.svg"
fi
exit $rc
