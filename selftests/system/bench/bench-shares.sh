#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make bench-shares: what each of several busy vGPUs gets of a paced GPU, how long small work waits, what switching costs. Prints
# a table, writes build/bench/shares.json. Exit code 1 when a tenant's data is wrong; the table says how far the shares are off.
# LOOKS=60 looks at each setup for so many seconds: 30 windows of 2 s.
# The server has two CPUs, one on a machine of two (KVGPU_BENCH_CPUS); the rest is for the model.
# Before and after, it tells how long the host of this machine takes its CPUs away (away.c, the program $AWAY). The paced GPU goes on
# meanwhile. So the program $GAPS (gaps.c) notes each such gap, and disturbed.py prints a second table: of the windows that no gap
# disturbed, and of the others. build/bench/shares.gaps and shares.clocks are what it was made of.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
export KVGPU_TB_NAME=${KVGPU_BENCH_NAME:-shares} PYTHONDONTWRITEBYTECODE=1
kernel=${KVGPU_BENCH_KERNEL:-base} board=${KVGPU_BENCH_BOARD:-k20m} rate=${KVGPU_BENCH_RATE:-400M}
cpus=${KVGPU_BENCH_CPUS:-$(($(nproc) > 2 ? 2 : 1))} looks=${LOOKS:-12}
report=build/bench/shares.json clocks=build/bench/shares.clocks gaps=build/bench/shares.gaps
cell_name="$kernel $board"
watcher='' awake=()
trap 'watch_end; sleep_again; bed_down' EXIT
trap 'exit 130' INT TERM

give_up() { echo "bench-shares: $*" >&2; exit 1; }

watch_end()
{
	[ -n "$watcher" ] || return 0
	kill "$watcher"
	wait "$watcher"
	watcher=''
}

# keep_awake: a loop of the lowest priority on each CPU. In a virtual machine a CPU without work is given back to the host, which takes long
# to give it again, and the paced GPU goes on meanwhile.
keep_awake()
{
	local cpu
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		chrt -i 0 taskset -c "$cpu" sh -c 'while :; do :; done' &
		awake+=($!)
	done
}

sleep_again() { [ ${#awake[@]} -eq 0 ] || kill "${awake[@]}"; awake=(); }

read_clocks() { selftests/system/bench/disturbed.py clock "$clocks" timeout 60 $TB run -- /share/kvgpu-tenants clock; }

# hardware_first: puts the model's threads, and those of QEMU that carry registers and interrupts, before the server's CPUs. A GPU does not
# wait until a CPU is free. They have a real-time priority: a thread of another one waits for up to 3 ms until the running thread's slice is
# over, whatever its niceness, since Linux 6.6. Where that is not allowed, they have the best niceness. A server of one CPU stands still while it reads a register: the model's thread that answers, and the thread of
# QEMU that takes the answer, run on its CPU then. So no CPU has to wake another one, which takes as long as the rest of a read. The
# other threads, among them the model's engines, have the other CPUs.
hardware_first()
{
	local model qemu pid task name cpu
	local -a first=()
	model=$(pgrep -f -- "^[^ ]*gk110-model .*/$KVGPU_TB_NAME/" | head -n 1)
	qemu=$(pgrep -f -- "^[^ ]*qemu-system-x86_64 -name $KVGPU_TB_NAME " | head -n 1)
	for pid in $model $qemu; do
		for task in /proc/"$pid"/task/*; do
			read -r name <"$task/comm" || continue
			[[ $name == *TCG* ]] || first+=("${task##*/}")
			[ "$cpus" -eq 1 ] && [ "$(nproc)" -gt 1 ] || continue
			cpu=1-$(($(nproc) - 1))
			[[ $name != *TCG* && $name != *vfio-user* && ${task##*/} != "$model" ]] || cpu=0
			# where it is not allowed reads take longer
			taskset -p -c "$cpu" "${task##*/}" >/dev/null || true
		done
	done
	# two of the model, two of QEMU at least
	[ ${#first[@]} -ge 4 ] && renice -n -20 -p "${first[@]}" >/dev/null || return
	for task in "${first[@]}"; do
		chrt -f -p 1 "$task" || true
	done
}

mkdir -p "$(dirname "$report")"
[ -x "${AWAY-}" ] && [ -x "${GAPS-}" ] || give_up "AWAY and GAPS are not the programs away and gaps; make bench-shares sets them"
[[ $looks =~ ^[1-9][0-9]{0,2}$ ]] || give_up "LOOKS is no number of looks"
rm -f "$clocks" "$gaps"
keep_awake
nice -n -20 "$AWAY" || give_up "it is not known how quiet this machine is"
build_programs module/tenants >&2 || give_up "kvgpu-tenants does not build"
$TB up --driver kvgpu --kernel "$kernel" --mem 2G --cpus "$cpus" --append iomem=relaxed --model-args "--board $board --ce-rate $rate" </dev/null ||
	give_up "no server"
hardware_first || give_up "the model's threads can't be put before the server's CPUs"
share=$($TB share)
rm -f "$share/shares.json"
cp "$OUT/kvgpu-tenants" "$share/"
[ -z "${KVGPU_BENCH_SLICE_US:-}" ] ||
	in_server sh -c "echo $KVGPU_BENCH_SLICE_US >\$(echo /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/slice_us)" || give_up "no such slice"
slice=$(in_server sh -c 'cat /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/slice_us')
echo "kernel $kernel, board $board, copy engines paced to $rate bytes/s, $cpus CPUs of the server, slice $slice us"
"$GAPS" "$gaps" &
watcher=$!
read_clocks || give_up "the server's clock can't be read"
# 22 setups; each takes some seconds to begin and to end
LIMIT=$((1300 + 22 * looks)) in_server /share/kvgpu-tenants bench --looks "$looks" --json /share/shares.json "$@"
rc=$?
read_clocks
watch_end
nice -n -20 "$AWAY"
if [ -s "$share/shares.json" ]; then
	cp "$share/shares.json" "$report"
	selftests/system/bench/disturbed.py table "$report" "$clocks" "$gaps" --slice-us "$slice"
	drawn=
	selftests/system/bench/plot.py shares "$report" "${report%.json}.svg" \
		"GPU model, paced copy engines, $board, $(date -I)" && drawn=", ${report%.json}.svg"
	echo "written: $report$drawn"
fi
exit $rc
