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
# shellcheck source=selftests/guest/steady_steps.sh
. selftests/guest/steady_steps.sh
# shellcheck source=selftests/guest/life_steps.sh
. selftests/guest/life_steps.sh
# shellcheck source=selftests/guest/plug_steps.sh
. selftests/guest/plug_steps.sh
# shellcheck source=selftests/guest/several_steps.sh
. selftests/guest/several_steps.sh

parts=(instances client steady reload several plug kill reboot cycles unload native)
mode=${1-}
case $mode in
quick)
	kernels=${KERNELS:-6.12} client_args="--quick" reloads=2 cycles=${CYCLES:-1}
	[ $# -gt 1 ] || set -- quick client steady reload several plug kill unload native ;;
long) kernels=${KERNELS:-6.12 7.2} client_args="" reloads=10 cycles=${CYCLES:-50} ;;
*) echo "usage: selftests/guest/run.sh quick|long [PART...], PART of: ${parts[*]}" >&2; exit 2 ;;
esac
[ $# -lt 2 ] || parts=("${@:2}")
trap 'bed_down' EXIT

vgpu_cell()
{
	local part

	kernel=$1 cell_name="kvgpu on $1"
	if server_up; then
		for part in "${parts[@]}"; do
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

build_programs || finish
for kernel in $kernels; do
	vgpu_cell "$kernel"
	[ -n "${CYCLES-}" ] || cycles=5		# all of them on the first kernel only
done
finish
