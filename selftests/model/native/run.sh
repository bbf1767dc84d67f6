#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Stock nouveau on the model, natively in the server, and the attacks that an unmediated card
# permits. Prints TAP. README.md says what is run where.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh

usage()
{
	cat <<'HELP'
usage: selftests/model/native/run.sh quick|long|boards
       selftests/model/native/run.sh KERNEL BOARD PART...
Kernels as "tb kernels" lists them, or their roles; boards as gk110-model --help does, with other
options of its behind them ("k20x --seed 3"); parts:
  bare      attacks and engine tests without a driver
  load      nouveau loads, without complaint
  client    kvgpu-client, all subtests (client:NAME,... for some); quick rounds unless LONG=1
  self-test the client's own checks notice damage
  mesa      NVK and rusticl: copies
  opencl    OpenCL kernels by rusticl: memory, queues, images
  vulkan    compute shaders by NVK: commands, textures
  clpeak    the OpenCL benchmark, bounded (fetched over the net once)
  cuda      the programs of selftests/cuda (where the CUDA toolkit is)
  libraries those with NVIDIA's libraries (where these are)
  attacks   attacks beside nouveau
  engines   the model says that each copy engine was at work
  reload    unload and load again (RELOADS=N, default 20)
HELP
}

quick()
{
	RELOADS=3 cell base k20m bare load client self-test mesa attacks engines reload
	RELOADS=3 cell newest k20m bare load client:copy,sync,sleep,fault,switch,exec attacks reload
}

long()
{
	local kernel

	# quick goes on from snapshots, where the card is plugged in after the boot
	export KVGPU_TB_BOOT=yes
	LONG=1
	for kernel in base newest oldest; do
		cell $kernel k20m bare load client self-test mesa cuda attacks engines reload
	done
	cell base k20m load opencl vulkan clpeak
	cell base flat bare load client:copy,sync,sleep,fault,switch,exec attacks
}

# boards: three boards, of each five cards that differ in what is fused off and in which order
boards()
{
	local kernel name seed

	for kernel in base newest; do
		for name in k20m k20x k40m; do
			for seed in 1 2 3 4 5; do
				cell $kernel "$name --seed $seed" load client:copy,sleep,compute,exec
			done
		done
	done
}

# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=native
[[ ${1-} == -* || -z ${1-} ]] || bed_must_be_free
case ${1-} in
quick) mode=quick; build_programs && quick ;;
long) mode=long; build_programs && long ;;
boards) mode=long part_of_check=native:boards; build_programs && boards ;;
-h | --help) usage; exit 0 ;;
'') usage >&2; exit 2 ;;
*)
	[ $# -ge 3 ] || { usage >&2; exit 2; }
	mode=${LONG:+long} part_of_check=native:$2
	build_programs && cell "$@" ;;
esac
finish
