#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# toolkit.sh          prints the root of the unpacked CUDA toolkit; exit code 1 if it is not there
# toolkit.sh fetch    fetches and unpacks it first: nvcc, ptxas, nvdisasm and headers of CUDA 11.8, from non-free of Debian 12,
#                     about 900 MB over the net, through the mirror this machine already uses. Nothing is installed.
# Compile with "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc" -ccbin clang++-14 (or a g++ up to 11).
set -eu
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda
root=$cache/root
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcudart11.0 libcu++-dev libcub-dev libthrust-dev)

# apt with lists, cache and sources of its own
private_apt()
{
	local mirror

	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
	mkdir -p "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial" "$cache/debs"
	cat > "$cache/apt/sources.list" <<-S
		deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian} bookworm main contrib non-free
	S
	cat > "$cache/apt/apt.conf" <<-S
		Dir::Etc::sourcelist "$cache/apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$cache/apt/lists";
		Dir::Cache "$cache/apt/cache";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
	S
	export APT_CONFIG=$cache/apt/apt.conf
}

fetch()
{
	local deb

	private_apt
	apt-get -qq update
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
