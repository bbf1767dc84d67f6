#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Stock guests on vGPUs of kvgpu.ko: run.sh quick|long [PART...]. Prints TAP. README.md says what is run.
set -u
cd "$(dirname "$0")/../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-guest}
# shellcheck source=selftests/native/cell.sh
. selftests/native/cell.sh
# shellcheck source=selftests/guest/guest.sh
. selftests/guest/guest.sh
# shellcheck source=selftests/guest/client_steps.sh
. selftests/guest/client_steps.sh
# shellcheck source=selftests/guest/opencl_steps.sh
. selftests/guest/opencl_steps.sh
# shellcheck source=selftests/guest/steady_steps.sh
. selftests/guest/steady_steps.sh
# shellcheck source=selftests/guest/life_steps.sh
. selftests/guest/life_steps.sh
# shellcheck source=selftests/guest/plug_steps.sh
. selftests/guest/plug_steps.sh
# shellcheck source=selftests/guest/several_steps.sh
. selftests/guest/several_steps.sh
# shellcheck source=selftests/guest/shares_steps.sh
. selftests/guest/shares_steps.sh
# shellcheck source=selftests/guest/crowd_steps.sh
. selftests/guest/crowd_steps.sh
# shellcheck source=selftests/guest/hang_steps.sh
. selftests/guest/hang_steps.sh
# shellcheck source=selftests/guest/cuda_steps.sh
. selftests/guest/cuda_steps.sh
# shellcheck source=selftests/guest/cards_steps.sh
. selftests/guest/cards_steps.sh

parts=(instances client opencl steady reload several plug kill reboot cycles reset cuda crowd unload native hang shares compute cards)
paced_parts=(hang shares)	# parts in a server of their own, whose copy engines are the bottleneck
compute_parts=(compute)		# parts in another server, whose graphics engine is the bottleneck
cards_parts=(cards)		# in one with two cards
mode=${1-}
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=guest
[ $# -lt 2 ] || part_of_check=guest:$(IFS=,; echo "${*:2}")
case $mode in
quick)
	kernels=${KERNELS:-base} client_args="--quick" reloads=2 cycles=${CYCLES:-1}
	first=t1	# tiny guests, with which later parts go on: each is started once
	[ $# -gt 1 ] || set -- quick client steady reload several reset kill plug unload native ;;
long) first=g1 kernels=${KERNELS:-base newest} client_args="" reloads=10 cycles=${CYCLES:-50} ;;
*) echo "usage: selftests/guest/run.sh quick|long [PART...], PART of: ${parts[*]}" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || parts=("${@:2}")
bed_must_be_free
trap 'bed_down' EXIT

# those of $parts that need a server of the KIND plain, paced, compute or cards
which_parts()
{
	local part kind
	for part in "${parts[@]}"; do
		kind=plain
		[[ " ${paced_parts[*]} " != *" $part "* ]] || kind=paced
		[[ " ${compute_parts[*]} " != *" $part "* ]] || kind=compute
		[[ " ${cards_parts[*]} " != *" $part "* ]] || kind=cards
		[ $kind != "$1" ] || echo "$part"
	done
}

# vgpu_cell KERNEL UP PART...: UP brings the server up
vgpu_cell()
{
	local part up=$2

	kernel=$(kernel_of "$1")
	cell_name="kvgpu on $kernel"
	shift 2
	[ $# -gt 0 ] || return
	if $up; then
		ran_on
		for part; do
			$TB status >/dev/null 2>&1 || { result 1 "the server lives before part $part" "$($TB status 2>&1 | head -n 1)"; break; }
			began=$SECONDS
			"${part}_steps"
			note "part $part: $((SECONDS - began)) s"
		done
		no_trouble "all of it"
		note "guest starts: $($TB guest stats </dev/null | head -n 1)"
	fi
	bed_down
}

# copy engines as slow as $rate bytes/s, on runlists as on the card; registers of the card are open to programs. Two CPUs for
# guests (they use all but CPU 0): a guest that waits for a CPU would be taken for a guest that waits for the GPU
paced_server_up()
{
	local rate=${KVGPU_BENCH_RATE:-400M}
	build_programs tenants || return
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 4G --cpus 3 --append iomem=relaxed --model-args "--layout card --ce-rate $rate" \
		>"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes a card whose copy engines are paced"
		return 1
	fi
	result 0 "kvgpu.ko takes a card whose copy engines are paced to $rate"
	share_programs
	cp "$OUT/kvgpu-tenants" "$share/"
}

# its SMs execute 10 million warp instructions a second
compute_server_up()
{
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 4G --model-args "--gr-rate 10M" >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes a card whose graphics engine is paced"
		return 1
	fi
	result 0 "kvgpu.ko takes a card whose graphics engine is paced"
	share_programs
}

cards_server_up()
{
	if ! $TB up --driver kvgpu --kernel "$kernel" --cards 2 --mem 5G --cpus 3 >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes two cards"
		return 1
	fi
	result 0 "kvgpu.ko takes two cards"
	share_programs
}

build_programs || finish
for kernel in $kernels; do
	mapfile -t plain < <(which_parts plain)
	mapfile -t paced < <(which_parts paced)
	mapfile -t compute < <(which_parts compute)
	mapfile -t cards < <(which_parts cards)
	vgpu_cell "$kernel" server_up "${plain[@]}"
	vgpu_cell "$kernel" paced_server_up "${paced[@]}"
	vgpu_cell "$kernel" compute_server_up "${compute[@]}"
	vgpu_cell "$kernel" cards_server_up "${cards[@]}"
	[ -n "${CYCLES-}" ] || cycles=5		# all of them on the first kernel only
	export CROWD_SECONDS=${CROWD_SECONDS:-60}	# shorter, too, except on the first kernel
done
finish
