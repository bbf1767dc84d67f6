#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# dev.sh: what the package kvgpu-cuda-dev has nvcc and CMake do. Programs that name no chip run on libcuda.so.1 with the GPU in the
# process. TAP. Skipped without the toolkit (toolkit.sh fetch).
set -u
cd "$(dirname "$0")/../.." || exit 2
if [ ! -e cuda/api/export/check.c ] || ! selftests/cuda/toolkit.sh > /dev/null 2>&1; then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch), or cuda/api/export/check.c was left out"
	exit 0
fi
inprocess=$(make -s cuda-inprocess) || { echo "dev.sh: the library does not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'}
top=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

# step NAME COMMAND...
step()
{
	local name=$1

	shift
	n=$((n + 1))
	if "$@" > "$work/said" 2>&1; then
		echo "ok $n - $name"
	else
		failed=1
		sed 's/^/# /' "$work/said" | tail -n 20
		echo "not ok $n - $name"
	fi
}

runs() { LD_LIBRARY_PATH=$inprocess timeout 100 "$1" && ! LD_LIBRARY_PATH=$inprocess timeout 100 "$1" 2>&1 | grep '^libcuda'; }

# compiled OPTIONS...: by nvcc, in a shell that has logged in
compiled()
{
	(
		# shellcheck source=cuda/dev/kvgpu-cuda-dev.sh
		. cuda/dev/kvgpu-cuda-dev.sh
		selftests/cuda/nvcc.sh "$@" selftests/cuda/programs/vector_add.cu -o "$work/program"
	) && runs "$work/program"
}

unpack()
{
	dpkg -x "$(cuda/dev/package.sh "$work" 1)" "$work/root" && cmp cuda/dev/sm_35.cmake "$work/root/usr/share/kvgpu-cuda/sm_35.cmake" &&
		cmp cuda/dev/kvgpu-cuda-dev.sh "$work/root/etc/profile.d/kvgpu-cuda-dev.sh"
}

# toolchain WANTED [OPTION]: the chips, with the flags, that CMake has of the file. CMake finds this nvcc only where it is installed.
toolchain()
{
	printf 'include(%s)\nmessage("${CMAKE_CUDA_ARCHITECTURES}${CMAKE_CUDA_FLAGS_INIT}")\n' "$top/cuda/dev/sm_35.cmake" > "$work/chips.cmake"
	cmake "${@:2}" -P "$work/chips.cmake" 2>&1 | tee /dev/stderr | grep -qx -- "$1 -Wno-deprecated-gpu-targets"
}

step "the package has the files" unpack
step "nvcc without -arch" compiled
step "nvcc -arch=sm_52" compiled -arch=sm_52
step "nvcc -gencode for another chip" compiled -gencode arch=compute_60,code=sm_60
if command -v cmake > /dev/null; then
	step "CMake makes code for sm_35" toolchain 35-real
	step "and for what a user names instead" toolchain '35-real;52' '-DCMAKE_CUDA_ARCHITECTURES=35-real;52'
fi
echo "1..$n"
exit $failed
