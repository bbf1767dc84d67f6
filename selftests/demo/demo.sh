#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: a server with the modelled K20m in which the distribution's nouveau drives the card natively, and beside it one in
# which kvgpu.ko owns the card and a stock Debian guest's own nouveau drives a vGPU of it. The same client verifies every byte
# in both and is measured in both, in turns. Then a second guest with a bigger vGPU beside the first, and what kvgpu-top shows of
# their shares. Takes everything down again and writes a report (docs/measurements.md).
#   DEMO_BYTES=256M                 how much is copied
#   DEMO_MODEL_ARGS="--ce-rate 1G"  further arguments for both GPU models: paced engines, for instance
set -euo pipefail
cd "$(dirname "$0")/../.."
TB=testbed/tb
report=build/demo/report.json
bytes=${DEMO_BYTES:-256M}
model_args=${DEMO_MODEL_ARGS-}
began=$SECONDS
export PYTHONDONTWRITEBYTECODE=1

step() { printf '\n[%3d s] %s\n' $((SECONDS - began)) "$*"; }
indent() { sed 's/^/    /'; }
card() { KVGPU_TB_NAME=demo-native $TB "$@" </dev/null; }	# the server with nouveau
vgpu() { KVGPU_TB_NAME=demo $TB "$@" </dev/null; }		# the one with kvgpu
trap 'card down >/dev/null 2>&1 || true; vgpu down >/dev/null 2>&1 || true' EXIT
trap 'exit 130' INT TERM

programs() { cp "$out/kvgpu-client" selftests/guest/inside/*.sh "$1/"; }

# measure NAME natively|in_guest CMD...: runs it with snapshots of counters at its marks
natively() { printf 'model:%s\n' "$(card status | awk '$1 == "stats" { print $2 }')"; }
in_guest() { printf 'KVGPU_TB_NAME=demo %s run -- /share/counters.sh g1\n' $TB; }
measure()
{
	local name=$1 where=$2
	shift 2
	case $where in
	natively) set -- env KVGPU_TB_NAME=demo-native $TB run -- "$@" ;;
	in_guest) set -- env KVGPU_TB_NAME=demo $TB guest run g1 -- "$@" ;;
	esac
	selftests/guest/marked.py "$out/$where-$name.json" "$($where)" -- "$@" >"$out/$where-$name.tap" 2>"$out/$where-$name.err" || {
		sed 's/^/    /' "$out/$where-$name.tap" "$out/$where-$name.err" | tail -n 20
		return 1
	}
}

# the CUDA toolkit, fetched if it is not there: tells how far it is, because that takes minutes
toolkit()
{
	local fetch i
	! selftests/cuda/toolkit.sh >"$out/toolkit.log" 2>&1 || return 0
	echo "    once: fetching Debian 12's nvcc and the compiler beside it, 930 MB, 3.3 GB unpacked"
	selftests/cuda/toolkit.sh fetch >"$out/toolkit.log" 2>&1 &
	fetch=$!
	for ((i = 1; ; i++)); do
		sleep 1
		kill -0 $fetch 2>/dev/null || break
		[ $((i % 20)) != 0 ] || du -sm "${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda" | awk '{ print "    " $1 " MB are there" }'
	done
	wait $fetch
}

# until nouveau of a guest has made its device
await_gpu()
{
	for _ in $(seq 60); do
		KVGPU_TB_NAME=demo timeout 30 $TB guest run "$1" -- test -e /dev/dri/renderD128 </dev/null 2>/dev/null && return 0
		sleep 2
	done
	return 1
}

# both guests copy, again and again, until the given time has passed
busy() # SECONDS
{
	local g
	for g in g1 g2; do
		KVGPU_TB_NAME=demo timeout $(($1 + 30)) $TB guest run $g -- sh -c "end=\$((\$(date +%s) + $1))
			while [ \$(date +%s) -lt \$end ]; do /share/kvgpu-client --quick bandwidth; done" </dev/null >"$out/busy.$g" 2>&1 &
	done
}

step "building the client (stock libdrm_nouveau)"
out=$(dirname "$(make -s --no-print-directory print-model)")/../demo
mkdir -p "$out" build/demo
out=$(readlink -f "$out")
rm -f "$out"/*.json "$out"/*.tap
$TB build-exec -- make -s -C selftests/client "OUT=$out"
make -s --no-print-directory top "TOP=$out/kvgpu-top" JANSSON=-l:libjansson.a	# the server has no libjansson

step "booting a Debian 13 server with a Tesla K20m in it (QEMU under TCG, the GPU model over vfio-user)"
card up --driver none --mem 3G --model-args "$model_args"
programs "$(card share)"
card run -- lspci -nn -s 01:00.0

step "loading the distribution's own nouveau"
card run -- modprobe nouveau
card run -- bash -c 'dmesg | grep "nouveau 0000"; ls -l /dev/dri/renderD128' | indent

step "copying $bytes in random sizes and alignments through the copy engines; every byte is verified"
card run -- /share/kvgpu-client --bytes "$bytes" copy | tee "$out/copy.tap" | indent

step "a second server like it, but kvgpu.ko owns the card (firmware taken from the server's own nouveau.ko)"
vgpu up --driver kvgpu --mem 4G --cpus 3 --model-args "$model_args"
programs "$(vgpu share)"
vgpu run -- sh -c 'dmesg | grep "kvgpu 0000"' | indent

step "what an admin sees: mdevctl types"
vgpu run -- mdevctl types | grep -E 'kvgpu-|Available|Description' | indent

step "a stock Debian guest with a vGPU of 512 MiB: mdevctl makes it, libvirt starts the guest, KVM runs it (a minute)"
guest_began=$SECONDS
vgpu guest start g1 --full --mem 1G --type 512m
await_gpu g1
vgpu guest run g1 -- sh -c 'lspci -nn | grep 10de:; dmesg | grep "nouveau 0000"; ls -l /dev/dri/renderD128' | indent
printf '    guest ready after %s s\n' $((SECONDS - guest_began))

step "the same client in the guest; every byte is verified"
vgpu run -- /share/counters.sh g1 >"$out/before"
vgpu guest run g1 -- /share/kvgpu-client --bytes "$bytes" copy 2>"$out/guest.err" | tee "$out/guest.tap" | indent
vgpu run -- /share/counters.sh g1 >"$out/after"

step "measuring: 10,000 submissions watched in memory, sleeping waits, mapping, loads of nouveau; natively, then in the guest"
for where in natively in_guest; do
	measure steady $where /share/kvgpu-client --marks steady wakeups
	measure map $where /share/kvgpu-client --marks mapcost
done
step "measuring: bandwidth, in turns"
for i in 1 2 3; do
	for where in natively in_guest; do measure "copy$i" $where /share/kvgpu-client --quick bandwidth; done
done
for where in natively in_guest; do measure load $where /share/loads.sh 3; done

card down

step "a second guest beside it, with a vGPU of 1 GiB and three times the weight (a minute)"
vgpu guest start g2 --full --mem 1G --type 1g
await_gpu g2
cp "$out/kvgpu-top" "$(vgpu share)/"
vgpu run -- sh -c 'echo 300 >"/sys/bus/mdev/devices/$(/opt/testbed/guest-device uuid g2)/kvgpu/weight"'
for g in g1 g2; do
	(vgpu guest run $g -- /share/kvgpu-client --quick copy >"$out/two.$g.tap" 2>&1) &
done
wait
for g in g1 g2; do
	printf '    %s: %s\n' $g "$(grep -c '^ok' "$out/two.$g.tap") checks passed, $(grep -c '^not ok' "$out/two.$g.tap") failed, every byte verified"
done

step "both copy as fast as their CPUs allow for 20 s; kvgpu-top looks at 10 s of it (weights count where the GPU is short)"
busy 20
sleep 5
vgpu run -- /share/kvgpu-top --once --interval 10 | indent
vgpu run -- /share/kvgpu-top --json --once --interval 2 >"$out/shares.json"
wait

step "CUDA in both guests at once: programs by the toolkit's nvcc, our libcuda and libcudart on the guests' stock nouveau"
cuda=(vector_add matmul_tiled fft)
status=0
if ! toolkit; then
	tail -n 3 "$out/toolkit.log" | indent
	echo "    left out: the CUDA toolkit (Debian 12, non-free) could not be fetched"
elif ! selftests/cuda/stage.sh "$(vgpu share)" "${cuda[@]}" >"$out/cuda.log" 2>&1; then
	tail -n 5 "$out/cuda.log" | indent
	echo "    the programs could not be compiled"
	status=1
else
	for g in g1 g2; do
		(vgpu guest run $g -- /share/cuda/programs/run.sh /share/cuda/lib "${cuda[@]}" >"$out/cuda.$g.tap" 2>&1) &
	done
	wait
	vgpu guest run g1 -- env LD_LIBRARY_PATH=/share/cuda/lib /share/cuda/lib/cuda-info | indent || status=1
	for g in g1 g2; do
		sed "s/^/    $g: /" "$out/cuda.$g.tap"
		[ "$(grep -c '^ok' "$out/cuda.$g.tap")" = ${#cuda[@]} ] || status=1
	done
fi

step "what it took"
selftests/demo/report.py "$out" "$report" "$bytes" $((SECONDS - began)) "$model_args" | indent || status=1

step "taking it down"
vgpu guest stop g2
vgpu guest stop g1
vgpu down
if [ $status -ne 0 ]; then
	echo "demo: not all checks passed" >&2
	exit 1
fi
printf '\ndone in %d s; the report is %s\n' $((SECONDS - began)) "$report"
