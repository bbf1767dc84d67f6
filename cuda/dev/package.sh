#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# package.sh FOLDER VERSION: kvgpu-cuda-dev_VERSION_amd64.deb in FOLDER: Debian's nvcc makes code for this GPU where a program asks
# for none. Prints where it is.
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")/../.."
# shellcheck source=cuda/deb.sh
. cuda/deb.sh
deb_begin kvgpu-cuda-dev "$2" cuda

install -D -m 644 -t "$tmp/etc/profile.d" cuda/dev/kvgpu-cuda-dev.sh
install -D -m 644 -t "$tmp/usr/share/kvgpu-cuda" cuda/dev/sm_35.cmake
deb_build "$out" devel <<C
Depends: kvgpu-cuda
Suggests: nvidia-cuda-toolkit, cmake
Description: nvcc's default for GK110 GPUs and vGPUs
 Has nvcc of CUDA 11 make code for sm_35, by NVCC_APPEND_FLAGS in the shells
 that log in from then on, and by a toolchain file for CMake:
 cmake --toolchain /usr/share/kvgpu-cuda/sm_35.cmake
C
