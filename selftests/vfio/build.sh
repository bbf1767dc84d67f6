# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced after cell.sh.

# build_vfio: makes $OUT/kvgpu-vfio
build_vfio()
{
	OUT=$(dirname "$(make -s --no-print-directory print-model)")/../native
	mkdir -p "$OUT"
	OUT=$(readlink -f "$OUT")
	$TB build-exec -- make -s -C selftests/vfio "OUT=$OUT" >"$OUT/make.log" 2>&1 && return 0
	sed 's/^/# /' "$OUT/make.log"
	cell_name=build
	result 1 "selftests/vfio"
	return 1
}

# vfio_tests SECONDS SEED: inside.sh in the server that is up
vfio_tests()
{
	local log=$OUT/vfio.log rc

	cp "$OUT/kvgpu-vfio" selftests/vfio/inside.sh "$($TB share)/"
	LIMIT=3000 in_server /share/inside.sh "$1" "$2" >"$log" 2>&1
	rc=$?
	relay "seed $2" $rc <"$log"
	quiet_kernel "a hostile VMM, seed $2"
}
