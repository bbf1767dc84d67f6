#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make bench: the same programs natively, in a guest that has the whole card, on a vGPU alone, on a vGPU beside busy ones and
# in a guest that has another guest's vGPU by remoting, in turns, with counters beside them. Writes build/bench/report.json,
# counters.json, and plots; README.md here says what is in them.
#
#   ROWS=copy,launch          which groups of rows: load context channel buffer bar1 copy launch vgpu boot, and where the CUDA
#                             toolkit was fetched (selftests/cuda/toolkit.sh fetch) cuda matrix fft cold; clpeak (default: all)
#   SYSTEMS=native,vgpu       which systems: native passthrough vgpu busy remoted (default: all)
#   ROUNDS=3                  turns; a row's value is the median of all samples of all turns
#   MODE=paced                engines held to a rate that suits the emulated CPUs (default fast: as fast as the machine)
#   BASE=<commit>             instead: kvgpu.ko of that commit against that of this tree (build/bench/compare.json)
#   TYPE=2g GUEST_MEM=1536M   of the guests    QUICK=1  fewer samples    REPORTS=FOLDER  instead of build/bench
# bench_systems.sh reads what is set here
# shellcheck disable=SC2034
set -euo pipefail
cd "$(dirname "$0")/../../.."
TB=testbed/tb
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=selftests/system/bench/bench_systems.sh
. selftests/system/bench/bench_systems.sh

cuda_rows=(cuda matrix fft cold)
all_rows=(load context channel buffer bar1 copy launch vgpu boot clpeak "${cuda_rows[@]}")
read -ra rows <<<"${ROWS:+${ROWS//,/ }}"
read -ra systems <<<"${SYSTEMS:+${SYSTEMS//,/ }}"
[ ${#rows[@]} -gt 0 ] || rows=("${all_rows[@]}")
[ ${#systems[@]} -gt 0 ] || systems=(native passthrough vgpu busy remoted)
rounds=${ROUNDS:-3} mode=${MODE:-fast} type=${TYPE:-2g} guest_mem=${GUEST_MEM:-1536M} base=${BASE-} base_ko=''
reports=${REPORTS:-build/bench}
paced_args=${PACED_ARGS:---ce-rate 400M --gr-rate 20M}
client=(/share/kvgpu-client ${QUICK:+--quick})
chains=(env LD_LIBRARY_PATH=/share/bench-cuda /share/bench-cuda/cuda-chains)
began=$SECONDS

say() { printf '[%4d s] %s\n' $((SECONDS - began)) "$*" >&2; }
give_up() { echo "bench: $*" >&2; exit 1; }

for r in "${rows[@]}"; do
	[[ " ${all_rows[*]} " == *" $r "* ]] || { echo "bench: no rows '$r'; there are: ${all_rows[*]}" >&2; exit 2; }
done
for s in "${systems[@]}"; do
	case $s in
	native | passthrough | vgpu | busy | remoted) ;;
	*) echo "bench: no system '$s'; there are: native passthrough vgpu busy remoted" >&2; exit 2 ;;
	esac
done
case $mode in
fast) model_args='' ;;
paced) model_args=$paced_args ;;
*) echo "bench: MODE is fast or paced" >&2; exit 2 ;;
esac
[ -z "$base" ] || systems=(base vgpu)

is_cuda() { [[ " ${cuda_rows[*]} " == *" $1 "* ]]; }

# without the toolkit the CUDA rows are left out
with_cuda=''
for r in "${rows[@]}"; do
	! is_cuda "$r" || with_cuda=1
done
if [ -n "$with_cuda" ] && ! selftests/cuda/toolkit.sh >/dev/null 2>&1; then
	echo "bench: no CUDA toolkit (selftests/cuda/toolkit.sh fetch): rows left out: ${cuda_rows[*]}" >&2
	with_cuda=''
	for r in "${!rows[@]}"; do
		! is_cuda "${rows[r]}" || unset "rows[r]"
	done
	rows=("${rows[@]}")
	[ ${#rows[@]} -gt 0 ] || exit 1
fi

# ------------------------------------------------------------------ what is run

build()
{
	local dir

	out=$(dirname "$(make -s --no-print-directory print-model)")/../bench
	mkdir -p "$out" "$reports"
	out=$(readlink -f "$out")
	work=$out/run
	rm -rf "$work"
	mkdir "$work"
	for dir in system/client module/tenants; do
		$TB build-exec -- make -s -C selftests/$dir "OUT=$out" >"$work/make.log" 2>&1 || {
			cat "$work/make.log" >&2
			give_up "selftests/$dir does not build"
		}
	done
	if [ -n "$with_cuda" ]; then build_cuda; fi
	if [[ " ${rows[*]} " == *" clpeak "* ]]; then build_clpeak; fi
}

# what the row clpeak needs; without it the row is left out
build_clpeak()
{
	local r

	rm -rf "$out/clpeak"
	mkdir "$out/clpeak"
	cp selftests/model/mesa/clpeak.sh "$out/clpeak/"
	if ! selftests/model/mesa/clpeak.sh fetch "$out/clpeak" >"$work/clpeak.log" 2>&1; then
		echo "bench: clpeak can't be fetched ($work/clpeak.log): its rows are left out" >&2
		for r in "${!rows[@]}"; do
			[ "${rows[r]}" != clpeak ] || unset "rows[r]"
		done
		return
	fi
	$TB build-exec -- make -s -C selftests/model/mesa "OUT=$out/clpeak" "$out/clpeak/kvgpu-cl-small.so" >"$work/make.log" 2>&1 ||
		{ cat "$work/make.log" >&2; give_up "selftests/model/mesa does not build"; }
}

# what the CUDA rows need where nouveau is, in one folder
build_cuda()
{
	local chains

	make -s cuda >"$work/make.log" 2>&1 || { cat "$work/make.log" >&2; give_up "the CUDA libraries do not build"; }
	chains=$(make -s cuda-chains) || give_up "selftests/cuda/chains does not build"
	rm -rf "$out/bench-cuda"
	mkdir "$out/bench-cuda"
	cp "$(dirname "$(make -s print-cuda)")"/{lib*.so.*,kvgpu-persist} "$chains/cuda-chains" "$out/bench-cuda/"
}

# the module's sources of that commit
build_base()
{
	local tree links=$out/base

	[ "$(git rev-parse --show-toplevel)" = "$PWD" ] || give_up "BASE is a commit of a git clone, and this tree is none (or git is missing)"
	base=$(git rev-parse --short "$base^{commit}") || give_up "BASE is not a commit"
	rm -rf "$links"
	mkdir "$links"
	git archive "$base" Kbuild hw mdev mmio-trap gtt-shadow sched include/kvgpu include/gk110 | tar -xf - -C "$links"
	tree=$($TB kernel-tree base)
	$TB build-exec -- make -s -C "$tree" M="$links" modules >"$work/base.log" 2>&1 || {
		tail -n 30 "$work/base.log" >&2
		give_up "$base does not build"
	}
	base_ko=$links/kvgpu.ko
}

# keep SYSTEM ROUND: takes samples from standard input
keep() { sed -n "s/^{/{\"system\": \"$1\", \"round\": $2, /p" >>"$work/samples"; }

# run SYSTEM ROUND NAME CMD...: a program where that system's nouveau is; ours with counters in the first round
run()
{
	local s=$1 round=$2 log=$work/$1.$3 snapshot
	local -a where marks=()
	shift 3

	where "$s"
	if is_ours "$s" && [ "$round" = 1 ]; then
		snapshot="KVGPU_TB_NAME=$(bed_of "$s") $TB run -- /share/counted.sh g1"
		marks=(selftests/system/guest/marked.py "$log.json" "$snapshot" --)
	fi
	"${marks[@]}" "${where[@]}" "$@" ${marks:+--marks} >"$log" 2>"$log.err" </dev/null || {
		tail -n 20 "$log" "$log.err" >&2
		give_up "$s: '$*' failed"
	}
	keep "$s" "$round" <"$log"
}

# a load of the driver, and the first context on it; loads.sh waits for input at its marks
run_load()
{
	local -a where

	where "$1"
	if is_ours "$1" && [ "$2" = 1 ]; then
		selftests/system/guest/marked.py "$work/$1.load.json" "KVGPU_TB_NAME=$(bed_of "$1") $TB run -- /share/counted.sh g1" -- \
			"${where[@]}" /share/loads.sh 1 >"$work/$1.load"
	else
		printf '\n\n' | "${where[@]}" /share/loads.sh 1 >"$work/$1.load"
	fi || give_up "$1: nouveau does not load"
	sed -n 's/^# measure load ms=\(.*\)/{"row": "load", "unit": "ms", "better": "lower", "value": \1, "ops": 1}/p' "$work/$1.load" |
		keep "$1" "$2"
	run "$1" "$2" first-context "${client[@]}" bench first-context
}

# in programs of their own, compiled by nvcc (selftests/cuda/chains)
run_cuda()
{
	persist_begin "$1"
	LIMIT=${LIMIT:-3600} run "$1" "$2" "$3" "${chains[@]}" ${QUICK:+--quick} "$3"
	persist_end "$1"
}

# run_cold: such programs while kvgpu-persist does not hold the engines
run_cold()
{
	run "$1" "$2" cold "${chains[@]}" ${QUICK:+--quick} --as=cold cuda-madd
}

# run_clpeak: Debian's, bounded by clpeak.sh, which prints its figures as comments. The widest vectors count. Its 20,000 launches
# take many minutes in pass-through, and are left out: the rows cuda and launch have launches.
run_clpeak()
{
	local -a where

	where "$1"
	LIMIT=1600 "${where[@]}" /share/clpeak/clpeak.sh run /share/clpeak single integers bandwidth transfers \
		>"$work/$1.clpeak" </dev/null ||
		{ cat "$work/$1.clpeak" >&2; give_up "$1: clpeak failed"; }
	selftests/system/bench/clpeak.awk "$work/$1.clpeak" | keep "$1" "$2"
}

run_vgpu()
{
	in_server "$1" /share/vgpus.sh >"$work/$1.vgpu" || give_up "$1: vGPUs can't be made"
	keep "$1" "$2" <"$work/$1.vgpu"
}

# the first sample is from the start of the system
run_boot()
{
	if [ "$2" -gt 1 ]; then
		bed "$1" guest stop g1 >/dev/null 2>&1
		guest_up "$1" >"$work/$1.boot"
	fi
	keep "$1" "$2" <"$work/$1.boot"
}

# whether a group of rows exists on a system
applies() # SYSTEM ROWS
{
	case $1-$2 in
	native-vgpu | native-boot | passthrough-vgpu | busy-vgpu | busy-boot | busy-load | busy-clpeak) return 1 ;;
	remoted-*) is_cuda "$2" ;;
	esac
}

run_rows() # SYSTEM ROUND ROWS
{
	case $3 in
	load | vgpu | boot | clpeak | cold) "run_$3" "$1" "$2" ;;
	cuda | matrix | fft) run_cuda "$1" "$2" "$3" ;;
	*) run "$1" "$2" "$3" "${client[@]}" bench "$3" ;;
	esac
}

# ------------------------------------------------------------------

build
[ -z "$base" ] || build_base
trap systems_down EXIT
trap 'exit 130' INT TERM
for s in "${systems[@]}"; do
	[ "$s" != busy ] || [[ " ${systems[*]} " == *" vgpu "* ]] || system_up vgpu
	system_up "$s"
done
: >"$work/samples"
left_out=()
for ((round = 1; round <= rounds; round++)); do
	for r in "${rows[@]}"; do
		for s in "${systems[@]}"; do
			applies "$s" "$r" || continue
			say "round $round of $rounds: $r, $s"
			[ "$s" != busy ] || neighbours_begin
			(run_rows "$s" "$round" "$r") || left_out+=("$r on $s in round $round")
			[ "$s" != busy ] || neighbours_end
		done
	done
done
selftests/system/bench/report.py "$work" "$reports" --mode "$mode" --model-args "$model_args" --type "kvgpu-$type" --rounds "$rounds" \
	--seconds $((SECONDS - began)) ${base:+--base "$base"}
[ ${#left_out[@]} = 0 ] || give_up "failed, and left out:$(printf ' %s;' "${left_out[@]}")"
