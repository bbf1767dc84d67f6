#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# here.sh [FOLDER]: what a tenant types (steps.sh) in the Debian 12 of root.sh, with the GPU in the process. Prints TAP. Exit code 2:
# something does not build. What is in the tenant's home then is left in FOLDER, for a guest.
set -u
cd "$(dirname "$0")/../../.." || exit 2

stage()
{
	mkdir -p "$1" && make -s cuda-package cuda-dev-package > /dev/null &&
		cp build/kvgpu-cuda{,-dev}_"$(make -s print-version)"_amd64.deb cuda/README.md selftests/cuda/tenant/* selftests/cuda/screen.sh \
			selftests/cuda/programs/{vector_add.cu,check.h} selftests/cuda/with_{numba,nvml}.py "$1/" &&
		cp cuda/nvml/README.md "$1/nvml"
}

# inside FOLDER IMAGE [LEFT]: in mounts of its own
inside()
{
	local d rc to=$1/root

	mkdir "$1/lower" "$1/rw" "$to"
	mount -t erofs -o ro,loop "$2" "$1/lower" && mount -t tmpfs -o mode=755 rw "$1/rw" && mkdir "$1/rw/upper" "$1/rw/work" &&
		mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/rw/upper,workdir=$1/rw/work" overlay "$to" || return 2
	for d in dev proc sys; do mount --rbind /$d "$to/$d" || return 2; done
	cp "$1"/staged/* "$to/root/" && mkdir "$to/gpu" && cp "$1"/gpu/* "$to/gpu/" || return 2
	# numba loads this name first, which the package has, too
	ln -s libcuda.so.1 "$to/gpu/libcuda.so" || return 2
	chroot "$to" env -i HOME=/root LD_LIBRARY_PATH=/gpu /root/steps.sh
	rc=$?
	[ -z "${3-}" ] || cp -a "$to/root/." "$3/" || rc=2
	return $rc
}

if [ "${1-}" = inside ]; then
	inside "${@:2}"
	exit
fi
left=${1-}
[ -z "$left" ] || { mkdir -p "$left" && left=$(readlink -f "$left"); } || exit 2
if ! image=$(selftests/cuda/tenant/root.sh 2> /dev/null); then
	echo "1..0 # SKIP no Debian 12 with the toolkit (selftests/cuda/tenant/root.sh fetch)"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/gpu"
if ! gpu=$(make -s cuda-inprocess && make -s nvml-inprocess) || ! cp "${gpu##*$'\n'}"/lib*.so.1 "$work/gpu/" || ! stage "$work/staged"; then
	echo "here.sh: the libraries or packages do not build" >&2
	exit 2
fi
unshare --mount "$0" inside "$work" "$image" "$left"
