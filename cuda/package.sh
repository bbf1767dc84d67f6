#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# package.sh FOLDER VERSION: kvgpu-cuda_VERSION_amd64.deb in FOLDER, of the libraries, cuda-info and kvgpu-persist that "make cuda" put
# there. In a guest, Debian 12 or newer:
#     apt install ./kvgpu-cuda_VERSION_amd64.deb
# It takes the place of NVIDIA's libcuda1 and of Debian's libcudart11.0, with which it can't be installed. DEBFULLNAME and DEBEMAIL
# name the maintainer, as they do for Debian's own tools.
set -eu
out=$(realpath "$1") version=$2
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
umask 022
lib=$tmp/usr/lib/x86_64-linux-gnu doc=$tmp/usr/share/doc/kvgpu-cuda man=$tmp/usr/share/man
maintainer="${DEBFULLNAME:-kvgpu} <${DEBEMAIL:-kvgpu@localhost}>"
# the same package of the same sources; a tarball of them has the commit's time on its files
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
	{ [ -e .git ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); } ||
		SOURCE_DATE_EPOCH=$(find cuda include -type f -printf '%Ts\n' | sort -n | tail -n 1)
fi
export SOURCE_DATE_EPOCH

install -D -m 644 -t "$lib" "$out/libcuda.so.1" "$out/libcudart.so.11.0"
strip --strip-unneeded "$lib"/*
install -D -m 755 -t "$tmp/usr/bin" "$out/cuda-info" "$out/kvgpu-persist"
strip "$tmp/usr/bin"/*
install -D -m 644 -t "$tmp/usr/lib/systemd/system" cuda/persist/kvgpu-persist@.service
install -D -m 644 -t "$tmp/usr/lib/udev/rules.d" cuda/persist/60-kvgpu-persist.rules
install -D -m 644 -t "$doc" cuda/README.md
install -D -m 644 -t "$man/man1" cuda/info/cuda-info.1
install -D -m 644 -t "$man/man8" cuda/persist/kvgpu-persist.8
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
	printf 'Files: *\nCopyright: 2026 the kvgpu authors\nLicense: Expat\n'
	sed '1,/^Copyright/d; s/^$/./; s/^/ /' LICENSES/MIT.txt | sed '1d'
} > "$doc/copyright"
printf 'kvgpu-cuda (%s) unstable; urgency=medium\n\n  * The state of this day.\n\n -- %s  %s\n' "$version" "$maintainer" \
	"$(date -R -u -d "@$SOURCE_DATE_EPOCH")" > "$doc/changelog"
gzip -9n "$man/man1/cuda-info.1" "$man/man8/kvgpu-persist.8" "$doc/changelog"
mkdir -p "$tmp/usr/share/lintian/overrides"
cat > "$tmp/usr/share/lintian/overrides/kvgpu-cuda" <<O
# made on the spot, for the machine's own guests: nobody to write to
kvgpu-cuda: bogus-mail-host *
kvgpu-cuda: bogus-mail-host-in-debian-changelog *
# both of CUDA's libraries in one
kvgpu-cuda: package-name-doesnt-match-sonames *
O

# the oldest glibc that has all they call
glibc=$(objdump -T "$lib"/* "$tmp/usr/bin"/* | grep -oP 'GLIBC_\K[0-9.]+' | sort -V | tail -n 1)
mkdir "$tmp/DEBIAN"
cat > "$tmp/DEBIAN/control" <<C
Package: kvgpu-cuda
Version: $version
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$tmp" | cut -f1)
Depends: libc6 (>= $glibc), libdrm2, libdrm-nouveau2, liblz4-1
Provides: libcuda1, libcuda.so.1, libcudart11.0
Conflicts: libcuda1, libcudart11.0
Replaces: libcuda1, libcudart11.0
Section: libs
Priority: optional
Description: CUDA for GK110 GPUs and vGPUs on stock nouveau
 The CUDA 11.8 driver and runtime libraries (libcuda.so.1, libcudart.so.11.0)
 on top of libdrm_nouveau, cuda-info, and a service that keeps the engines
 initialised between programs. For programs that nvcc compiled with
 -arch=sm_35 -cudart shared.
C
printf 'libcuda 1 kvgpu-cuda\nlibcudart 11.0 kvgpu-cuda\n' > "$tmp/DEBIAN/shlibs"
install -m 755 -t "$tmp/DEBIAN" cuda/persist/{postinst,prerm}
echo 'activate-noawait ldconfig' > "$tmp/DEBIAN/triggers"
(cd "$tmp" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$tmp/DEBIAN/md5sums"
dpkg-deb --root-owner-group --build "$tmp" "$out/kvgpu-cuda_${version}_amd64.deb" > /dev/null
echo "$out/kvgpu-cuda_${version}_amd64.deb"
