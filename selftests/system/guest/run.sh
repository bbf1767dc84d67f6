#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long [PART...]: guests with stock nouveau on vGPUs of kvgpu.ko. Prints TAP. README.md
# says what each part tests. KERNELS: on which kernels; BOARD: on which board of the model.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-guest}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/system/guest/guest.sh
. selftests/system/guest/guest.sh
# shellcheck source=selftests/system/guest/client_steps.sh
. selftests/system/guest/client_steps.sh
# shellcheck source=selftests/system/guest/opencl_steps.sh
. selftests/system/guest/opencl_steps.sh
# shellcheck source=selftests/system/guest/steady_steps.sh
. selftests/system/guest/steady_steps.sh
# shellcheck source=selftests/system/guest/life_steps.sh
. selftests/system/guest/life_steps.sh
# shellcheck source=selftests/system/guest/plug_steps.sh
. selftests/system/guest/plug_steps.sh
# shellcheck source=selftests/system/guest/several_steps.sh
. selftests/system/guest/several_steps.sh
# shellcheck source=selftests/system/guest/busy.sh
. selftests/system/guest/busy.sh
# shellcheck source=selftests/system/guest/crowd_steps.sh
. selftests/system/guest/crowd_steps.sh
# shellcheck source=selftests/system/guest/hang_steps.sh
. selftests/system/guest/hang_steps.sh
# shellcheck source=selftests/system/guest/cuda_steps.sh
. selftests/system/guest/cuda_steps.sh
# shellcheck source=selftests/system/guest/tenant_steps.sh
. selftests/system/guest/tenant_steps.sh
# shellcheck source=selftests/system/guest/cards_steps.sh
. selftests/system/guest/cards_steps.sh
# shellcheck source=selftests/system/guest/lives_steps.sh
. selftests/system/guest/lives_steps.sh
# shellcheck source=selftests/system/guest/symptoms_steps.sh
. selftests/system/guest/symptoms_steps.sh

parts=(instances client opencl steady reload several plug kill reboot cycles reset cuda libraries tenant crowd unload native hang cards lives symptoms)
paced_parts=(hang)		# these parts run in a server whose copy engines are paced
cards_parts=(cards)		# these in a server with two cards
lives_parts=(lives symptoms)	# these in one with two cards that nobody has POSTed, and an IOMMU; all other parts in a plain server
mode=${1-}
# shellcheck disable=SC2034 # cell.sh records results under this name
part_of_check=guest
[ $# -lt 2 ] || part_of_check=guest:$(IFS=,; echo "${*:2}")
case $mode in
quick)
	kernels=${KERNELS:-base} client_args="--quick" reloads=2 cycles=${CYCLES:-1}
	first=t1	# the name of a tiny guest: it is started once, and later parts use it, too
	[ $# -gt 1 ] || set -- quick client steady reload several reset kill plug unload native ;;
long) first=g1 kernels=${KERNELS:-base newest} client_args="" reloads=10 cycles=${CYCLES:-50} ;;
*) echo "usage: selftests/system/guest/run.sh quick|long [PART...], PART of: ${parts[*]}" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || parts=("${@:2}")
bed_must_be_free
trap 'bed_down' EXIT

# which_parts KIND: prints those of $parts that need a server of that kind: plain, paced,
# cards or lives
which_parts()
{
	local part kind
	for part in "${parts[@]}"; do
		kind=plain
		[[ " ${paced_parts[*]} " != *" $part "* ]] || kind=paced
		[[ " ${cards_parts[*]} " != *" $part "* ]] || kind=cards
		[[ " ${lives_parts[*]} " != *" $part "* ]] || kind=lives
		[ $kind != "$1" ] || echo "$part"
	done
}

# vgpu_cell KERNEL UP PART...: boots a server with that kernel by the function UP, runs the parts in
# it, and ends it
vgpu_cell()
{
	local part up=$2

	kernel=$(kernel_of "$1")
	cell_name="kvgpu on $kernel${BOARD:+, $BOARD}"
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
		all_answered
		note "guest starts: $($TB guest stats </dev/null | head -n 1)"
	fi
	bed_down
}

# paced_server_up: a server whose copy engines are paced, with the runlists of the real card. "mute"
# of kvgpu-tenants wants iomem=relaxed. With 3 CPUs each of two guests has a CPU of its own.
paced_server_up()
{
	local rate=${KVGPU_BENCH_RATE:-400M}
	build_programs module/tenants || return
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 4G --cpus 3 --append iomem=relaxed --model-args "--ce-rate $rate" \
		>"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes a card whose copy engines are paced"
		return 1
	fi
	result 0 "kvgpu.ko takes a card whose copy engines are paced to $rate"
	share_programs
	cp "$OUT/kvgpu-tenants" "$share/"
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
	mapfile -t cards < <(which_parts cards)
	mapfile -t lives < <(which_parts lives)
	vgpu_cell "$kernel" server_up "${plain[@]}"
	vgpu_cell "$kernel" paced_server_up "${paced[@]}"
	vgpu_cell "$kernel" cards_server_up "${cards[@]}"
	vgpu_cell "$kernel" lives_server_up "${lives[@]}"
	[ -n "${CYCLES-}" ] || cycles=5		# the other kernels run fewer cycles than the first
	export CROWD_SECONDS=${CROWD_SECONDS:-60}	# and shorter crowds
done
finish
