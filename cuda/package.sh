#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# package.sh FOLDER VERSION: kvgpu-cuda_VERSION_amd64.deb in FOLDER, of the libraries, cuda-info and kvgpu-persist that "make cuda"
# put there. In a guest, Debian 12 or newer:
#     apt install ./kvgpu-cuda_VERSION_amd64.deb
# It takes the place of NVIDIA's libcuda1, with which it can't be installed. Debian's libcudart11.0, which nvidia-cuda-toolkit wants,
# can be beside it, and is what programs get then: ours is in a folder where the loader looks last.
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")/.."
# shellcheck source=cuda/deb.sh
. cuda/deb.sh
deb_begin kvgpu-cuda "$2" cuda include

install -D -m 644 -t "$lib" "$out/libcuda.so.1" "$out/libnvidia-ml.so.1"
install -D -m 644 -t "$lib/kvgpu" "$out/libcudart.so.11.0"
strip --strip-unneeded "$lib"/*.so.1 "$lib/kvgpu"/*
deb_plain_name
mkdir -p "$tmp/etc/ld.so.conf.d"
echo /usr/lib/x86_64-linux-gnu/kvgpu > "$tmp/etc/ld.so.conf.d/zz-kvgpu-cuda.conf"
install -D -m 755 -t "$tmp/usr/bin" "$out/cuda-info" "$out/kvgpu-persist"
strip "$tmp/usr/bin"/*
install -D -m 644 -t "$tmp/usr/lib/systemd/system" cuda/persist/kvgpu-persist@.service
install -D -m 644 -t "$tmp/usr/lib/udev/rules.d" cuda/persist/60-kvgpu-persist.rules
install -D -m 644 -t "$doc" cuda/README.md cuda/differences.md
install -D -m 644 -t "$man/man1" cuda/info/cuda-info.1
install -D -m 644 -t "$man/man8" cuda/persist/kvgpu-persist.8
printf '%s kvgpu-cuda\n' 'libcuda 1' 'libcudart 11.0' 'libnvidia-ml 1' > "$tmp/DEBIAN/shlibs"
install -m 755 -t "$tmp/DEBIAN" cuda/persist/{postinst,prerm,postrm}
echo 'activate-noawait ldconfig' > "$tmp/DEBIAN/triggers"
# shellcheck disable=SC2034
overrides+=('# all of CUDA'"'"'s libraries in one' "kvgpu-cuda: package-name-doesnt-match-sonames *"
	'# the runtime, for who has not the one of libcudart11.0' "kvgpu-cuda: package-modifies-ld.so-search-path *")
deb_build "$out" libs <<C
Depends: libc6 (>= $(deb_glibc "$lib"/*.so* "$lib"/kvgpu/* "$tmp/usr/bin"/*)), libdrm2, libdrm-nouveau2
Provides: libcuda1, libcuda.so.1 (= 520), libcuda-11.8-1, libcudart11.0, libnvidia-ml1, libnvidia-ml.so.1 (= 520)
Conflicts: libcuda1, libnvidia-ml1, kvgpu-remote-client
Replaces: libcuda1, libnvidia-ml1, kvgpu-remote-client
Suggests: kvgpu-cuda-dev, nvidia-cuda-toolkit
Description: CUDA for GK110 GPUs and vGPUs on stock nouveau
 The CUDA 11.8 driver and runtime libraries (libcuda.so.1, libcudart.so.11.0)
 on top of libdrm_nouveau, NVML (libnvidia-ml.so.1), cuda-info, and a service that keeps the engines
 initialised between programs. For programs that nvcc of CUDA 11 compiled
 with -arch=sm_35.
C
