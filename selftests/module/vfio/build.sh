# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced after cell.sh, by run.sh and ../debug/run.sh.

# build_vfio: makes $OUT/kvgpu-vfio
build_vfio() { build_programs module/vfio; }

# vfio_tests SECONDS SEED [TEST...]: inside.sh in the server that is up, and then the kernel's log (quiet_kernel of kernel-log.sh)
vfio_tests()
{
	local log=$OUT/vfio.log rc

	cp "$OUT/kvgpu-vfio" selftests/module/vfio/inside.sh "$($TB share)/"
	LIMIT=3000 in_server /share/inside.sh "$@" >"$log" 2>&1
	rc=$?
	relay "seed $2" $rc <"$log"
	quiet_kernel "a hostile VMM, seed $2"
}
