#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# package.sh FOLDER VERSION: kvgpu-cuda_VERSION_amd64.deb in FOLDER, of the libraries and cuda-info that "make cuda" put there. In a guest:
#     apt install ./kvgpu-cuda_VERSION_amd64.deb
# It takes the place of NVIDIA's libcuda1 and of Debian's libcudart11.0, with which it can't be installed.
set -eu
out=$(realpath "$1") version=$2
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
lib=$tmp/usr/lib/x86_64-linux-gnu doc=$tmp/usr/share/doc/kvgpu-cuda man=$tmp/usr/share/man/man1

install -D -m 644 -t "$lib" "$out/libcuda.so.1" "$out/libcudart.so.11.0"
strip --strip-unneeded "$lib"/*
install -D -m 755 -t "$tmp/usr/bin" "$out/cuda-info"
strip "$tmp/usr/bin/cuda-info"
install -D -m 644 -t "$doc" cuda/README.md
install -D -m 644 LICENSES/MIT.txt "$doc/copyright"
install -D -m 644 -t "$man" cuda/info/cuda-info.1
gzip -9n "$man/cuda-info.1"

mkdir "$tmp/DEBIAN"
cat > "$tmp/DEBIAN/control" <<C
Package: kvgpu-cuda
Version: $version
Architecture: amd64
Maintainer: kvgpu <kvgpu@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$tmp" | cut -f1)
Depends: libc6 (>= 2.38), libdrm2, libdrm-nouveau2, liblz4-1
Provides: libcuda1, libcuda.so.1, libcudart11.0
Conflicts: libcuda1, libcudart11.0
Replaces: libcuda1, libcudart11.0
Section: libs
Priority: optional
Description: CUDA for GK110 GPUs and vGPUs on stock nouveau
 The CUDA 11.8 driver and runtime libraries (libcuda.so.1, libcudart.so.11.0) on top of libdrm_nouveau, and cuda-info. For
 programs that nvcc compiled with -arch=sm_35 -cudart shared.
C
echo 'activate-noawait ldconfig' > "$tmp/DEBIAN/triggers"
dpkg-deb --root-owner-group --build "$tmp" "$out/kvgpu-cuda_${version}_amd64.deb" > /dev/null
echo "$out/kvgpu-cuda_${version}_amd64.deb"
