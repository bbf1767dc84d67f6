#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|short|long: a hostile VMM against kvgpu.ko, in a server of its own for each kernel. short: the test that needs an older
# kernel. Prints TAP. README.md says what is run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-vfio}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/module/debug/kernel-log.sh
. selftests/module/debug/kernel-log.sh
# shellcheck source=selftests/module/vfio/build.sh
. selftests/module/vfio/build.sh
storm=5 seeds=1 short=
case ${1-} in
quick) kernels="base" ;;
short) kernels="" short="oldest" ;;
long) kernels=${KERNELS:-base oldest newest} storm=60 seeds="1 2 3" ;;
*) echo "usage: selftests/module/vfio/run.sh quick|short|long" >&2; exit 2 ;;
esac
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=vfio mode=${1/short/quick}
bed_must_be_free
trap 'bed_down' EXIT

# vfio_cell KERNEL [TEST...]: all of it, or only these tests of kvgpu-vfio
vfio_cell()
{
	local seed

	kernel=$(kernel_of "$1")
	shift
	cell_name="vfio on $kernel"
	if ! kvgpu_up --kernel "$kernel" --mem 3G --append iomem=relaxed; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		return
	fi
	result 0 "kvgpu.ko takes the card"
	ran_on
	for seed in $seeds; do
		vfio_tests "$storm" "$seed" "$@"
	done
	LIMIT=60 in_server sh -c 'rmmod kvgpu && insmod /share/kvgpu.ko && rmmod kvgpu'
	result $? "the module unloads, loads and unloads"
	quiet_kernel "unload"
	bed_down
}

build_vfio || finish
for kernel in $kernels; do vfio_cell "$kernel"; done
# what our own code does where the core of an older kernel does not
for kernel in $short; do vfio_cell "$kernel" outlive; done
finish
