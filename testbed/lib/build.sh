# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb build-exec and tb kernels: building programs and modules for the server.

# build-exec: CMD in the tools root, with this checkout, the cache and the build folder (O of the environment, if it
# is set) at their own paths. The mounts live in a namespace that ends with CMD.
cmd_build_exec() {
	[ "${1-}" != -- ] || shift
	[ $# -gt 0 ] || usage_error "build-exec: which command?"
	need_root build-exec
	setup
	local root where=$PWD build=$CACHE
	root=$(tools_root)
	case $where/ in "$TOP"/* | "$CACHE"/*) ;; *) where=$TOP ;; esac
	case ${O-}/ in / | "$TOP"/* | "$CACHE"/*) ;; /*) [ ! -d "$O" ] || build=$(readlink -f "$O") ;; esac
	mkdir -p "$root$TOP" "$root$CACHE" "$root$build"
	# shellcheck disable=SC2016
	exec unshare --mount --pid --fork --kill-child bash -c '
		root=$1 where=$2 top=$3 cache=$4 build=$5
		shift 5
		mount --rbind /dev "$root/dev" && mount --bind "$top" "$root$top" &&
			mount --bind "$cache" "$root$cache" && mount -t proc proc "$root/proc" &&
			mount -t tmpfs tmpfs "$root/tmp" || exit 125
		[ "$build" = "$cache" ] || { mkdir -p "$root$build" && mount --bind "$build" "$root$build"; } || exit 125
		exec chroot "$root" /usr/bin/env -C "$where" "$@"' \
		tb-build-exec "$root" "$where" "$TOP" "$CACHE" "$build" "$@"
}

# tb kernel-tree [--key] KERNEL: where modules for that kernel are built, as a path in the tools root; a text that
# stands for this kernel and for what it is built with.
cmd_kernel_tree() {
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

# tb kernels: suite, release and role of each kernel; headers are in the tools root as /lib/modules/RELEASE/build.
cmd_kernels() {
	[ $# -eq 0 ] || usage_error "kernels: takes no arguments"
	setup
	kernel_versions
}
