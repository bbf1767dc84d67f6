# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb build-exec, tb kernels and tb kernel-tree: for building programs and modules for the server.

# tb build-exec -- CMD: runs CMD in the tools root, with this checkout, the cache and the build
# folder (O of the environment, if it is set) mounted there at the same paths. CMD runs as root in
# the finished stage itself, which all beds and other build-execs use meanwhile, without a lock: it
# must write below these folders only, or in /tmp, which is its own. If this machine has ccache, CMD
# finds it in PATH and CC.
cmd_build_exec()
{
	[ "${1-}" != -- ] || shift
	[ $# -gt 0 ] || usage_error "build-exec: which command?"
	need_root build-exec
	setup
	local root where
	local -a places
	root=$(tools_root)
	mapfile -t places < <(build_places)
	where=$(pwd -P)
	case $where/ in "$TOP"/* | "$(readlink -m "$CACHE")"/*) ;; *) where=$TOP ;; esac
	# /dev, /proc and /tmp first: a later mount would hide places below them. ccache comes with its
	# libraries: those of the root may be of another version.
	# shellcheck disable=SC2016
	exec unshare --mount --pid --fork --kill-child bash -c '
		root=$1 where=$2 top=$3 cache=$4 count=$5
		shift 5
		mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/tmp" || exit 125
		for place in "${@:1:count}"; do
			mkdir -p "$root$place" && mount --bind "$place" "$root$place" || exit 125
		done
		shift "$count"
		settings=()
		if ccache=$(command -v ccache); then
			lib=/tmp/ccache/lib
			mkdir -p "$root$lib" && cp -L "$ccache" $(ldd "$ccache" | grep -o "/[^ ]*") "$root$lib" || exit 125
			printf "#!/bin/sh\nexec $lib/ld-linux-x86-64.so.2 --library-path $lib $lib/ccache \"\$@\"\n" > "$root$lib/../ccache"
			chmod 755 "$root$lib/../ccache"
			settings=("PATH=/tmp/ccache:$PATH" "CC=ccache gcc" "CCACHE_DIR=$cache/ccache" "CCACHE_BASEDIR=$top" CCACHE_NOHASHDIR=1)
		fi
		# CC, make and TMPDIR of the caller name what is not in this root
		exec chroot "$root" /usr/bin/env -u CC -u MAKEFLAGS -u TMPDIR -C "$where" "${settings[@]}" "$@"' \
		tb-build-exec "$root" "$where" "$TOP" "$CACHE" ${#places[@]} "${places[@]}" "$@"
}

# build_places: prints the folders that build-exec mounts: by their real paths, and by the given
# paths if these lead through a symbolic link.
build_places()
{
	local place
	for place in "$TOP" "$CACHE" "${O-}"; do
		case $place in /*) [ ! -d "$place" ] || { printf '%s\n' "$place"; readlink -f "$place"; } ;; esac
	done | LC_ALL=C sort -u
}

# tb kernel-tree [--key] KERNEL: prints the path, in the tools root, of the kernel tree that modules
# for KERNEL are built with. --key: the name of the tools stage before it, which changes with the
# kernels and the compiler. kvgpu.mk hashes both for the key of a built module.
cmd_kernel_tree()
{
	local label key=''
	[ "${1-}" != --key ] || { key=yes; shift; }
	[ $# -eq 1 ] || usage_error "kernel-tree: which kernel? $(kernel_names)"
	label=$(kernel_label "$1") || usage_error "kernel-tree: one of $(kernel_names), not '$1'"
	setup
	if is_debug_kernel "$label"; then
		need_root kernel-tree
		setup_debug_kernel >&2
	fi
	[ -z "$key" ] || printf '%s ' "$(tools_stage)"
	kernel_tree "$label"
}

# tb kernels: prints suite, release and role (base, oldest or newest) of each kernel of Debian. The
# tools root has their headers as /lib/modules/RELEASE/build.
cmd_kernels()
{
	[ $# -eq 0 ] || usage_error "kernels: takes no arguments"
	setup
	kernel_versions
}
