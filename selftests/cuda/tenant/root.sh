#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# root.sh          prints where the image of a tenant's Debian 12 is; exit code 1 if it is not there
# root.sh fetch    makes it first, in the cache: 1.9 GB over the net by this machine's mirror, 10 GB while it is made, 3.8 GB then. No check does it.
# An erofs image with what ../../../cuda/README.md has a tenant install, but for this project's packages, which come as they are
# at the time: nvidia-cuda-toolkit with its compiler, CMake, Debian's numba and PyCUDA, nvidia-smi. Without the static libraries
# but the runtime.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../../.."
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda
wanted="nvidia-cuda-toolkit g++ cmake make python3-numba python3-pycuda"
image=$cache/tenant-$(sha256sum < selftests/cuda/tenant/root.sh | cut -c1-16).erofs

make_image()
{
	local work line option
	local -a options=()

	work=$(mktemp -d "$cache/tmp.tenant.XXXXXX")
	# shellcheck disable=SC2064 # the folder of this call
	trap "rm -rf --one-file-system -- '$work'" EXIT
	# shellcheck source=testbed/lib/messages.sh
	. testbed/lib/messages.sh
	# shellcheck source=testbed/lib/archive.sh
	. testbed/lib/archive.sh
	line=$(source_line bookworm:main,contrib,non-free)
	while read -r option; do
		options+=("--aptopt=$option")
	done < <(root_apt_options)
	# what they want of a driver is kvgpu-cuda's, of which only what the package says of itself is needed here
	mkdir -p "$work/driver/DEBIAN"
	{
		printf '%s\n' 'Package: kvgpu-cuda' 'Version: 0' 'Architecture: amd64' 'Maintainer: none' 'Depends: libdrm-nouveau2, liblz4-1'
		grep -E '^(Provides|Conflicts):' cuda/package.sh
		echo 'Description: none'
	} > "$work/driver/DEBIAN/control"
	dpkg-deb --root-owner-group --build "$work/driver" "$work/driver.deb"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child mmdebstrap --variant=minbase --mode=root --architectures=amd64 --format=directory "${options[@]}" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --aptopt='APT::Sandbox::User "root"' \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/lib/x86_64-linux-gnu/lib*_static*.a' --dpkgopt='path-include=/usr/lib/x86_64-linux-gnu/libcudart_static.a' \
		--keyring=/usr/share/keyrings/ \
		--customize-hook="cp '$work/driver.deb' \"\$1/tmp/\"" \
		--customize-hook="chroot \"\$1\" sh -ec 'export DEBIAN_FRONTEND=noninteractive; cd /tmp; apt-get -q -y install ./driver.deb $wanted
			apt-get -q download nvidia-smi; dpkg -x nvidia-smi_*.deb smi; cp smi/usr/lib/nvidia/current/nvidia-smi /usr/local/bin/
			rm -r smi *.deb'" \
		bookworm "$work/root" "$line"
	rm -rf "$work/root"/var/{cache/apt,lib/apt/lists}/*
	mkfs.erofs "$work/image" "$work/root" > /dev/null
	rm -f "$cache"/tenant-*.erofs	# of another recipe
	mv "$work/image" "$image"
}

case ${1-} in
fetch) [ -e "$image" ] || { mkdir -p "$cache"; make_image >&2; } ;;
'') [ -e "$image" ] || { echo "root.sh: no tenant's Debian 12 in $cache; selftests/cuda/tenant/root.sh fetch" >&2; exit 1; } ;;
*) echo "usage: root.sh [fetch]" >&2; exit 2 ;;
esac
echo "$image"
