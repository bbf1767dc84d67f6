#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# toolkit.sh          prints the root of the unpacked CUDA toolkit; exit code 1 if it is not there
# toolkit.sh fetch    fetches and unpacks it first: nvcc, ptxas, nvdisasm and headers of CUDA 11.8, from non-free of Debian 12,
#                     about 900 MB over the net, through the mirror this machine already uses. Nothing is installed.
# Compile with "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc" -ccbin clang++-14 (or a g++ up to 11).
set -eu
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda
root=$cache/root
# shellcheck source=testbed/lib/messages.sh
. "$(dirname "$(readlink -f "$0")")/../../testbed/lib/messages.sh"
# shellcheck source=testbed/lib/archive.sh
. "$(dirname "$(readlink -f "$0")")/../../testbed/lib/archive.sh"
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcudart11.0 libcu++-dev libcub-dev libthrust-dev)

fetch()
{
	local deb

	mkdir -p "$cache/debs"
	private_apt "$cache/apt" bookworm:main,contrib,non-free >&2
	export APT_CONFIG=$cache/apt/apt.conf
	(cd "$cache/debs" && apt-get -qq download "${packages[@]}")
	for deb in "$cache"/debs/*.deb; do
		dpkg -x "$deb" "$root"
		rm "$deb"
	done
	# nvcc looks for its profile beside itself; the package's is a link into /etc
	rm -f "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile"
	cat > "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile" <<-S
		NVVMIR_LIBRARY_DIR = $root/usr/lib/nvidia-cuda-toolkit/libdevice
		PATH		+= $root/usr/lib/nvidia-cuda-toolkit/bin:$root/usr/bin:
		INCLUDES	+= "-I$root/usr/include" \$(_SPACE_)
		LIBRARIES	=+ \$(_SPACE_) -L$root/usr/lib/x86_64-linux-gnu
	S
}

case ${1:-} in
fetch) [ -f "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile" ] && [ -x "$root/usr/bin/nvdisasm" ] || fetch ;;
'') ;;
*) echo "usage: toolkit.sh [fetch]" >&2; exit 2 ;;
esac
if [ ! -x "$root/usr/bin/nvdisasm" ]; then
	echo "toolkit.sh: no CUDA toolkit in $root; selftests/cuda/toolkit.sh fetch" >&2
	exit 1
fi
echo "$root"
