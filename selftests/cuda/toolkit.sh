#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# toolkit.sh          prints the root of the unpacked CUDA toolkit; exit code 1 if it or its compiler is not there
# toolkit.sh fetch    fetches and unpacks first what is missing of it: 930 MB over the net, through the mirror this machine already
#                     uses, 3.3 GB unpacked. Nothing is installed.
# toolkit.sh nvml     prints the root of what asks libnvidia-ml.so.1, which fetch brings, too; exit code 1 if it is not there
# toolkit.sh later    prints the root of a runtime library of CUDA 12.4, which fetch brings, too; exit code 1 if it is not there
# toolkit.sh fetch libraries    fetches the shared libraries of the toolkit, too: 565 MB more, 1.7 GB unpacked. No check does it.
# toolkit.sh libraries          prints their root; exit code 1 if they are not there
# In ${KVGPU_CACHE:-~/.cache/kvgpu}/cuda there are then, of Debian 12 but for later/:
#   root/  nvcc, ptxas, nvdisasm and headers of CUDA 11.8, of non-free
#   host/  the compiler and linker for the CPU's side: g++ 11 with its libstdc++ and glibc 2.36. CUDA 11.8 takes no newer g++,
#          and glibc's headers from 2.41 on declare functions that CUDA's headers declare otherwise; so the machine's own are not used.
#   nvml/  nvml.h of CUDA 11.8, nvidia-smi, nvtop and Python's bindings, of non-free and contrib
#   later/ libcudart.so.12 of CUDA 12.4, of Debian 13's non-free: a runtime that the drivers here are too old for
#   libraries/ libcublas.so.11, libcufft.so.10 and their kind
# Each appears by rename when it is complete, and can be moved with the cache. Compile with nvcc.sh.
set -eu
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/cuda
tb=$(dirname "$(readlink -f "$0")")/../../testbed/tb

declare -A packages=(
	[root]="nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcudart11.0 libcu++-dev libcub-dev libthrust-dev"
	[host]="g++-11 gcc-11 cpp-11 libgcc-11-dev libstdc++-11-dev libstdc++6 libgcc-s1 libc6 libc6-dev linux-libc-dev
		binutils binutils-common binutils-x86-64-linux-gnu libbinutils libctf0 libctf-nobfd0 libgprofng0 libjansson4
		libgmp10 libmpfr6 libmpc3 libisl23 libzstd1 zlib1g"
	[nvml]="libnvidia-ml-dev nvidia-smi nvtop python3-pynvml"
	[later]="libcudart12"
	[libraries]="libcublas11 libcublaslt11 libcufft10 libcurand10 libcusparse11 libcusolver11 libnppc11 libnppial11 libnppist11 libnpps11"
)
declare -A suite=([root]=bookworm [host]=bookworm [nvml]=bookworm [later]=trixie [libraries]=bookworm)
# packages of the list above that the compiler and the linker are linked with themselves: kept apart from libraries with which it links programs
declare -A own
for package in libbinutils libctf0 libctf-nobfd0 libgprofng0 libjansson4 libgmp10 libmpfr6 libmpc3 libisl23 libzstd1 zlib1g; do
	own[$package]=yes
done

complete() { [ "$(cat "$cache/$1/.packages" 2>/dev/null)" = "${packages[$1]}" ]; }

# nvcc looks for its profile beside itself; the package's is a link into /etc. stubs: for programs linked with -lcuda.
finish_root()
{
	local bin=$1/usr/lib/nvidia-cuda-toolkit/bin

	cat > "$bin/new.profile" <<-'S'
		TOP		= $(_HERE_)/../../../..
		NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice
		PATH		+= $(_HERE_):$(TOP)/usr/bin:
		INCLUDES	+= "-I$(TOP)/usr/include" $(_SPACE_)
		LIBRARIES	=+ $(_SPACE_) "-L$(TOP)/usr/lib/x86_64-linux-gnu/stubs" "-L$(TOP)/usr/lib/x86_64-linux-gnu"
	S
	mv -f "$bin/new.profile" "$bin/nvcc.profile"
}

# nvcc knows which compiler it has by its name: g++
finish_host()
{
	local link target

	find "$1" -type l -lname '/*' -printf '%P\n' | while read -r link; do
		target=$(readlink "$1/$link")
		ln -sfnr "$1$target" "$1/$link"
	done
	cat > "$1/g++" <<-'S'
		#!/bin/sh
		here=$(dirname "$(readlink -f "$0")")
		unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX
		export LD_LIBRARY_PATH="$here/own/usr/lib/x86_64-linux-gnu:$here/own/lib/x86_64-linux-gnu"
		exec "$here/usr/bin/x86_64-linux-gnu-g++-11" "--sysroot=$here" "-B$here/usr/bin" "$@"
	S
	chmod 755 "$1/g++"
}

finish_nvml() { :; }

finish_later() { :; }

finish_libraries() { :; }

fetch_part()
{
	local part=$1 tmp=$cache/tmp.$1 debs=$cache/debs/$1 deb into
	local -a names

	read -r -d '' -a names <<<"${packages[$part]}" || true
	room_for "$part"
	# whole files that an interrupted fetch has left are used again
	"$tb" internal-stage in_rounds "fetching the CUDA toolkit ($part)" fetch_debs "$debs" "${suite[$part]}:main,contrib,non-free" "${names[@]}"
	rm -rf "$tmp"
	mkdir "$tmp"
	for deb in "$debs"/*.deb; do
		into=${deb##*/}
		into=$tmp${own[${into%%_*}]:+/own}
		dpkg -x "$deb" "$into"
	done
	"finish_$part" "$tmp"
	echo "${packages[$part]}" > "$tmp/.packages"
	rm -rf "${cache:?}/$part"
	mv -T "$tmp" "$cache/$part"
	rm -r "$debs"
}

# room_for PART: MiB of the packages and of what is in them, which are there at once; told before they are fetched
room_for()
{
	local -A need=([root]=4500 [host]=450 [nvml]=2 [later]=2 [libraries]=2300)
	local free

	free=$(df --output=avail -m "$cache" | tail -n 1)
	[ "$free" -ge "${need[$1]}" ] || {
		echo "toolkit.sh: only ${free// /} MiB are free below $cache, and ${need[$1]} are needed there" >&2
		exit 1
	}
}

# fetch PART...: those that are missing
fetch()
{
	local part

	mkdir -p "$cache/debs"
	exec 9> "$cache/lock"
	flock 9
	trap 'rm -rf "$cache"/tmp.*' EXIT
	# an earlier toolkit.sh unpacked root/ in place, with the profile last
	if [ ! -e "$cache/root/.packages" ] && grep -qs '^LIBRARIES' "$cache/root/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile"; then
		finish_root "$cache/root"
		echo "${packages[root]}" > "$cache/root/.packages"
	fi
	for part in "$@"; do
		complete "$part" || fetch_part "$part" >&2
	done
	exec 9>&-
}

case $* in
fetch | 'fetch libraries')
	parts=(root host nvml later ${2:+"$2"})
	for part in "${parts[@]}"; do
		complete "$part" || { fetch "${parts[@]}"; break; }
	done ;;
nvml)
	complete nvml || { echo "toolkit.sh: no nvidia-smi in $cache; selftests/cuda/toolkit.sh fetch" >&2; exit 1; }
	echo "$cache/nvml"
	exit ;;
libraries)
	complete libraries || { echo "toolkit.sh: no shared libraries of the toolkit in $cache; selftests/cuda/toolkit.sh fetch libraries" >&2; exit 1; }
	echo "$cache/libraries"
	exit ;;
later)
	complete later || { echo "toolkit.sh: no runtime of CUDA 12.4 in $cache; selftests/cuda/toolkit.sh fetch" >&2; exit 1; }
	echo "$cache/later"
	exit ;;
'') ;;
*) echo "usage: toolkit.sh [fetch [libraries]|nvml|later|libraries]" >&2; exit 2 ;;
esac
if ! complete root || ! complete host; then
	echo "toolkit.sh: no whole CUDA toolkit in $cache; selftests/cuda/toolkit.sh fetch" >&2
	exit 1
fi
echo "$cache/root"
