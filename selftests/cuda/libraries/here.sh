#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# here.sh [NAME...]: programs with NVIDIA's cuBLAS, cuFFT, cuRAND, cuSPARSE, cuSOLVER, NPP and NVRTC on our libcuda.so.1, with the GPU in
# the process. Prints TAP. Exit code 2: something does not build.
# here.sh build: builds the programs alone; prints where they are
set -u
cd "$(dirname "$0")/../../.." || exit 2
build()
{
	local programs

	programs=$(dirname "$(make -s print-cuda)")/../cuda-library-programs
	mkdir -p "$programs"
	flock "$programs" make -s -j2 -C selftests/cuda/libraries "OUT=$(readlink -f "$programs")" > "$programs.log" 2>&1 || {
		grep -E 'rror' "$programs.log" >&2
		return 2
	}
	echo "$programs"
}

if [ "${1-}" = build ]; then
	build
	exit
fi
# a packager may have left it out, and no runtime of NVIDIA's works without
if [ ! -e cuda/api/export/check.c ]; then
	echo "1..0 # SKIP cuda/api/export/check.c was left out"
	exit 0
fi
if ! root=$(selftests/cuda/toolkit.sh 2> /dev/null) || ! libraries=$(selftests/cuda/toolkit.sh libraries 2> /dev/null); then
	echo "1..0 # SKIP no CUDA toolkit, or not its shared libraries (selftests/cuda/toolkit.sh fetch libraries)"
	exit 0
fi
ours=$(make -s cuda-inprocess) || { echo "here.sh: the libraries do not build" >&2; exit 2; }
ours=${ours##*$'\n'}
programs=$(build) || exit 2
export KVGPU_PTXAS=$root/usr/bin/ptxas
exec "$programs/run.sh" "$ours:$libraries/usr/lib/x86_64-linux-gnu" "$@"
