#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: boots a server with the modelled K20m whose stock nouveau drives the card, and beside
# it a server in which kvgpu.ko has the card and the nouveau of a stock Debian guest drives a vGPU.
# The same client copies, verifies and is measured in both, in turns. Then come: a second guest with
# a larger vGPU; CUDA programs in both guests; a guest without a GPU, whose programs run on the
# first guest's vGPU; one program that uses two GPUs through MPI; the report (README.md here).
#   DEMO_BYTES=256M                 how much is copied
#   DEMO_MODEL_ARGS="--ce-rate 1G"  further arguments for both GPU models: paced engines, for instance
set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/system/demo/steps.sh
. selftests/system/demo/steps.sh
TB=testbed/tb
report=build/demo/report.json
bytes=${DEMO_BYTES:-256M}
model_args=${DEMO_MODEL_ARGS-}
wrong=()		# what failed: titles of steps, or other names
export PYTHONDONTWRITEBYTECODE=1

will "set-up: packages, root file systems, kernels, GPU model, client (once; then seconds)" 60
will "a server with a Tesla K20m; its stock nouveau copies $bytes, every byte is verified" 65
will "a second server like it, in which kvgpu.ko owns the card" 35
will "g1, a stock Debian guest with a vGPU of 512 MiB: its own nouveau drives it" 50
will "the same copies in g1" 15
will "measured natively and in g1: submissions, waits, mappings, bandwidth, loads of nouveau" 110
will "g2, a guest with 1 GiB and three times the weight; both copy, kvgpu-top looks" 95
will "CUDA programs by the toolkit's nvcc in both guests at once" 60
will "lab, a guest without a GPU: its CUDA programs run on g1's vGPU, by memory that both share" 150
will "one program with the GPUs of two proxies (kvgpu-run): a product, and paced GPUs" 25
will "all of it is taken down" 10

card() { KVGPU_TB_NAME=demo-native $TB "$@" </dev/null; }	# the server with nouveau
vgpu() { KVGPU_TB_NAME=demo $TB "$@" </dev/null; }		# the server with kvgpu

at_exit()
{
	local rc=$?
	life_ends
	[ "$rc" = 0 ] || [ $at = 0 ] || printf '\ndemo: ended in step %d of %d: %s\n' $at ${#titles[@]} "${titles[at - 1]}" >&2
	card down >/dev/null 2>&1 || true
	vgpu down >/dev/null 2>&1 || true
}
trap at_exit EXIT
trap 'exit 130' INT TERM

programs() { cp "$out/kvgpu-client" selftests/system/guest/inside/*.sh "$1/"; }

# natively, in_guest: print the SNAPSHOT argument of marked.py for the server with nouveau and for
# g1
natively() { printf 'model:%s\n' "$(card status | awk '$1 == "stats" { print $2 }')"; }
in_guest() { printf 'KVGPU_TB_NAME=demo %s run -- /share/counters.sh g1\n' $TB; }
what_is()
{
	case $1 in
	steady) echo "10,000 submissions; waits" ;;
	map) echo "buffers mapped and unmapped" ;;
	copy) echo "bandwidth of copies" ;;
	load) echo "nouveau loaded and unloaded three times" ;;
	esac
}
# measure NAME natively|in_guest CMD...: runs CMD there by marked.py, which reads counters at its
# marks, and prints how long it took
measure()
{
	local name=$1 where=$2 began=$SECONDS
	shift 2
	case $where in
	natively) set -- env KVGPU_TB_NAME=demo-native $TB run -- "$@" ;;
	in_guest) set -- env KVGPU_TB_NAME=demo $TB guest run g1 -- "$@" ;;
	esac
	selftests/system/guest/marked.py "$out/$where-$name.json" "$($where)" -- "$@" >"$out/$where-$name.tap" 2>"$out/$where-$name.err" || {
		cat "$out/$where-$name.tap" "$out/$where-$name.err" | tail -n 20 | indent
		return 1
	}
	printf '%-32s %s: %d s\n' "$(what_is "${name%[0-9]}")" "${where/in_guest/in g1}" $((SECONDS - began)) | indent
}

# toolkit: fetches the CUDA toolkit if it is not there, and prints the progress
toolkit()
{
	local fetch i
	! selftests/cuda/toolkit.sh >"$out/toolkit.log" 2>&1 || return 0
	echo "once: fetching Debian 12's nvcc and the compiler beside it, 930 MB, 3.3 GB unpacked" | indent
	selftests/cuda/toolkit.sh fetch >"$out/toolkit.log" 2>&1 &
	fetch=$!
	for ((i = 1; ; i++)); do
		sleep 1
		kill -0 $fetch 2>/dev/null || break
		[ $((i % 20)) != 0 ] || du -sm "${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda" | awk '{ print $1 " MB are there" }' | indent
	done
	wait $fetch
}

# guest_up NAME TYPE: starts a stock guest with a vGPU, and writes name, type and UUID to
# $out/guests for the last screen
guest_up()
{
	vgpu guest start "$1" --full --mem 1G --type "$2" 2>&1 | indent
	printf '%s %s %s\n' "$1" "$2" "$(vgpu run -- /opt/testbed/guest-device uuid "$1")" >>"$out/guests"
	vgpu guest run "$1" -- sh -c 'lspci -nn | grep 10de:; dmesg | grep "nouveau 0000"; ls -l /dev/dri/renderD128' >"$out/$1.gpu"
	grep -v 'bios:\|DRM: [DM]CB\|TMDS' "$out/$1.gpu" | indent
}

# busy: lets both guests copy in the background for SECONDS
busy() # SECONDS
{
	local g
	for g in g1 g2; do
		KVGPU_TB_NAME=demo timeout $(($1 + 30)) $TB guest run $g -- sh -c "end=\$((\$(date +%s) + $1))
			while [ \$(date +%s) -lt \$end ]; do /share/kvgpu-client --quick bandwidth; done" </dev/null >"$out/busy.$g" 2>&1 &
	done
}

# cuda_in_both PROGRAM...: runs the CUDA programs in both guests at the same time; without the
# toolkit it prints that they are left out
cuda_in_both()
{
	local g
	if ! toolkit; then
		tail -n 3 "$out/toolkit.log" | indent
		echo "left out: the CUDA toolkit (Debian 12, non-free) could not be fetched" | indent
		return 0
	fi
	if ! selftests/cuda/stage.sh "$(vgpu share)" "$@" >"$out/cuda.log" 2>&1; then
		tail -n 5 "$out/cuda.log" | indent
		echo "the programs could not be compiled" | indent
		return 1
	fi
	for g in g1 g2; do
		(vgpu guest run $g -- /share/cuda/programs/run.sh /share/cuda/lib "$@" >"$out/cuda.$g.tap" 2>&1) &
	done
	wait
	vgpu guest run g1 -- env LD_LIBRARY_PATH=/share/cuda/lib /share/cuda/lib/cuda-info | indent || return 1
	for g in g1 g2; do
		sed "s/^/$g: /" "$out/cuda.$g.tap" | indent
		[ "$(grep -c '^ok' "$out/cuda.$g.tap")" = $# ] || return 1
	done
}

# install_in run|"guest run GUEST" NAME...: installs this project's packages NAME in the server or
# in a guest
install_in()
{
	local where=$1 name files=''
	shift
	for name; do files+=" /share/debs/${name}_${version}_amd64.deb"; done
	# shellcheck disable=SC2086 # words
	vgpu $where -- sh -c "DEBIAN_FRONTEND=noninteractive dpkg -i $files 2>&1" >>"$out/dpkg.log" || { tail -n 5 "$out/dpkg.log"; return 1; }
}

# plain: compiles vector_add as a user does, by nvcc without options but the GPU's kind, so with NVIDIA's runtime inside
plain()
{
	local folder
	selftests/cuda/toolkit.sh >/dev/null 2>&1 || return 0
	folder=$(vgpu share)/cuda/plain
	mkdir -p "$folder"
	selftests/cuda/nvcc.sh -arch=sm_35 selftests/cuda/programs/vector_add.cu -o "$folder/vector_add" >"$out/plain.log" 2>&1 ||
		{ tail -n 5 "$out/plain.log"; return 1; }
}

# lab_there: starts the guest lab and connects it with g1 by memory that both share, as
# docs/remote-setup.md says
lab_there()
{
	local version share lab
	version=$(make -s --no-print-directory print-version)
	share=$(vgpu share)
	make -s --no-print-directory cuda-package remote-package >"$out/packages.log" 2>&1 || { tail -n 5 "$out/packages.log"; return 1; }
	mkdir -p "$share/debs"
	cp build/kvgpu-{cuda,aperture,remote-server,remote-client}_"${version}"_amd64.deb "$share/debs/"
	rm -f "$out/dpkg.log"
	install_in run kvgpu-aperture
	vgpu run -- sh -c 'kvgpu-aperture make /dev/shm/kvgpu/lab 64M && kvgpu-aperture xml /dev/shm/kvgpu/lab >/dev/shm/kvgpu/lab.xml &&
		virsh -q attach-device g1 /dev/shm/kvgpu/lab.xml --live 2>&1'
	vgpu guest start lab --full --mem 512M --aperture /dev/shm/kvgpu/lab >"$out/lab.log" 2>&1 &
	lab=$!
	install_in "guest run g1" kvgpu-cuda kvgpu-aperture kvgpu-remote-server
	vgpu guest run g1 -- sh -c 'echo "listen = aperture:/dev/kvgpu/aperture-dax0.0" >>/etc/kvgpu/remoted.conf &&
		systemctl --quiet enable --now kvgpu-remoted 2>&1'
	plain || return 1
	wait $lab || { cat "$out/lab.log"; return 1; }
	install_in "guest run lab" kvgpu-aperture kvgpu-remote-client
	vgpu guest run lab -- sh -c 'udevadm settle && echo "NVIDIA devices in lab: $(lspci -n | grep -c " 10de:"), render nodes: $(
		ls /dev/dri 2>/dev/null | grep -c render)"; echo "memory that lab shares with g1: $(kvgpu-aperture list)"'
}

# cuda_in_lab PROGRAM...: runs in lab those that were compiled of the programs, which are files in a folder of /share/cuda
cuda_in_lab()
{
	local program said began rc nr=0
	vgpu guest run lab -- cuda-info || return 1
	: >"$out/cuda.lab.tap"
	for program; do
		[ -x "$(vgpu share)/cuda/$program" ] || continue
		began=$SECONDS rc=0
		said=$(vgpu guest run lab -- sh -c "cd /share/cuda && timeout 100 ./$program" 2>&1) || rc=$?
		printf '%s %d - %s # %d ms: %s\n' "$([ $rc = 0 ] && echo ok || echo "not ok")" $((nr += 1)) "${program#*/}" \
			$(((SECONDS - began) * 1000)) "$(tail -n 1 <<<"$said")" >>"$out/cuda.lab.tap"
	done
	[ $nr = 0 ] || echo "vector_add is by nvcc -arch=sm_35, which puts NVIDIA's own CUDA runtime into it, matmul_tiled by nvcc -cudart shared:"
	sed 's/^/lab: /' "$out/cuda.lab.tap"
	! grep -q '^not ok' "$out/cuda.lab.tap"
}

plan "make demo"

step
$TB setup 2>&1 | indent
make -s --no-print-directory "-j$(nproc)" model plugin top-server firmware 2>&1 | indent
out=$(dirname "$(make -s --no-print-directory print-model)")/../demo
mkdir -p "$out" build/demo
out=$(readlink -f "$out")
rm -f "$out"/*.json "$out"/*.tap "$out"/*.gpu "$out/guests" "$out/cluster.txt"
$TB build-exec -- make -s -C selftests/system/client "OUT=$out" 2>&1 | indent

step
card up --driver none --mem 3G --model-args "$model_args" 2>&1 | indent
programs "$(card share)"
card run -- lspci -nn -s 01:00.0 | indent
card run -- modprobe nouveau
card run -- bash -c 'dmesg | grep "nouveau 0000"; ls -l /dev/dri/renderD128' >"$out/native.gpu"
grep -v 'bios:\|DRM: [DM]CB\|TMDS' "$out/native.gpu" | indent
echo "(a Tesla has no display: so \"No compatible format\" and no crtc, also in the guests below)" | indent
card run -- /share/kvgpu-client --bytes "$bytes" copy | tee "$out/copy.tap" | indent

step
vgpu up --driver kvgpu --mem 4G --cpus 3 --model-args "$model_args" 2>&1 | indent
programs "$(vgpu share)"
vgpu run -- sh -c 'dmesg | grep "kvgpu 0000"' | indent
vgpu run -- mdevctl types | grep -E 'kvgpu-|Available|Description' | indent

step
guest_up g1 512m

step
vgpu run -- /share/counters.sh g1 >"$out/before"
vgpu guest run g1 -- /share/kvgpu-client --bytes "$bytes" copy 2>"$out/guest.err" | tee "$out/guest.tap" | indent
vgpu run -- /share/counters.sh g1 >"$out/after"

step
for where in natively in_guest; do
	measure steady $where /share/kvgpu-client --marks steady wakeups
	measure map $where /share/kvgpu-client --marks mapcost
done
for i in 1 2 3; do
	for where in natively in_guest; do measure "copy$i" $where /share/kvgpu-client --quick bandwidth; done
done
for where in natively in_guest; do measure load $where /share/loads.sh 3; done
card down 2>&1 | indent

step
guest_up g2 1g
vgpu run -- sh -c 'echo 300 >"/sys/bus/mdev/devices/$(/opt/testbed/guest-device uuid g2)/kvgpu/weight"'
for g in g1 g2; do
	(vgpu guest run $g -- /share/kvgpu-client --quick copy >"$out/two.$g.tap" 2>&1) &
done
wait
for g in g1 g2; do
	echo "$g: $(grep -c '^ok' "$out/two.$g.tap") checks passed, $(grep -c '^not ok' "$out/two.$g.tap") failed, every byte verified" | indent
done
echo "both copy as fast as their CPUs allow for 20 s; 10 s of it (the last screen has its own look at them; weights count where the GPU is short):" | indent
busy 20
sleep 5
vgpu run -- kvgpu-top --json --once --interval 10 >"$out/shares.json" &	# the 10 s of the next line, for the last screen
vgpu run -- kvgpu-top --once --interval 10 | indent
printf '%s\n' "GPU%: its part of the GPU's time; COPY%: of the time of a copy engine beside; ENT%: what its weight (WGHT) entitles it to when the GPU is short; CAP%: its limit" \
	"SLC/s: its turns a second, of those while another vGPU could run; PRE, MAX us: how long taking it off the GPU takes, mean and longest" \
	"EXIT/s: accesses a second that left the guest; PIN MB: its memory that the GPU may reach; STRK: hangs it caused" \
	"STATE, PIN MB: at the end of the interval, which may be between two runs of the client" \
	"GPU% added up may be some 10 % above busy: while the GPU changes from one vGPU to another, both may be charged" | indent
wait

step
cuda_in_both vector_add matmul_tiled fft || wrong+=("${titles[at - 1]}")

step
vgpu guest stop g2 2>&1 | indent
lab_there | indent
cuda_in_lab plain/vector_add programs/matmul_tiled | indent || wrong+=("${titles[at - 1]}")

step
selftests/system/demo/cluster.sh 2>&1 | tee "$out/cluster.txt" | indent || wrong+=("${titles[at - 1]}")

step
selftests/system/demo/report.py "$out" "$report" "$bytes" $SECONDS "$model_args" >build/demo/table.txt || wrong+=("the measurements")
for g in lab g1; do vgpu guest stop $g 2>&1 | indent; done
vgpu down 2>&1 | indent
step_done

printf '\n'
selftests/system/demo/screen.py "$out" "$report" $SECONDS || wrong+=("the last screen's checks")
if [ ${#wrong[@]} -ne 0 ]; then
	printf 'demo: FAILED: %s\n' "${wrong[@]}" >&2
	exit 1
fi
keep_times
