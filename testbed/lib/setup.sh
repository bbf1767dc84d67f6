# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb setup: everything that is fetched or built once.

# epoch: changes when the user asks for newer packages; part of every recipe.
epoch() { cat "$STAGES/epoch" 2>/dev/null || printf 'first\n'; }

setup_is_done() {
	kernels_are_there && [ -d "$STAGES/$(tools_stage)" ] &&
		[ -d "$STAGES/$(image_stage)" ]
}

cmd_setup() {
	local refresh='' prune='' debug=''
	while [ $# -gt 0 ]; do
		case $1 in
		--refresh) refresh=yes ;;
		--prune) prune=yes ;;
		--debug-kernel) debug=yes ;;
		*) usage_error "setup: unknown argument '$1'" ;;
		esac
		shift
	done
	need_root setup
	mkdir -p "$STAGES"
	[ -z "$refresh" ] || date -u +%Y%m%dT%H%M%SZ > "$STAGES/epoch"
	setup
	[ -z "$debug" ] || setup_debug_kernel
	[ -z "$prune" ] || prune_stages
	say "ready: $STAGES"
}

# setup: idempotent; milliseconds when there is nothing to do.
setup() {
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "the test bed needs Debian on amd64" "it is made of Debian packages, from this machine's apt archive"
	if [ -z "$(missing_host_packages)" ] && setup_is_done; then
		return 0
	fi
	mkdir -p "$STAGES"
	exec 8> "$STAGES/setup.lock"
	if ! flock -n 8; then
		say "another 'tb setup' is at work; waiting for it to end"
		flock 8
	fi
	discard_unfinished
	install_host_packages
	need_space
	fetch_kernels
	build_stage "$(tools_stage)" "making the tools root (QEMU, compilers, kernel headers)" build_tools_root
	build_stage "$(server_stage)" "making the server's root" build_server_root
	build_stage "$(image_stage)" "making the server's image" build_image
	exec 8>&-
}

discard_unfinished() {
	local dir
	for dir in "$STAGES"/tmp.*; do
		# the debug kernel has a lock of its own
		case $dir in *'*' | */tmp.debug*) ;; *) discard_tree "$dir" ;; esac
	done
}

need_space() {
	local free
	free=$(df --output=avail -m "$STAGES" | tail -n 1)
	[ "$free" -ge 6000 ] || setup_is_done || die "only $free MiB are free below $STAGES; the test bed needs 6000" \
		"free some space, or set KVGPU_CACHE to a directory on a larger disk"
}

# prune_stages: removes what other recipes left, except while a bed runs (it may use them).
prune_stages() {
	local dir kept
	if [ -n "$(running_beds)" ]; then
		say "not pruning: these beds run: $(running_beds | xargs)"
		return
	fi
	kept=$(kernels_key)
	for dir in "$STAGES"/*-????????????????; do
		! grep -qxF -- "${dir##*/}" <<< "$kept" || continue
		case ${dir##*/} in
		"$(tools_stage)" | "$(server_stage)" | "$(image_stage)" | "$(machine_stage)" | \
			"$(debug_stage)" | "$(debug_boot_stage)") ;;
		*) discard_tree "$dir"; say "removed $dir" ;;
		esac
	done
}
