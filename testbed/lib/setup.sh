# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb setup: makes the stages, that is, what is fetched or built once and kept in the cache. A
# function that is given to build_stage runs in a process with mounts of its own: variables that it
# sets do not come back.

# epoch: prints a text that changes when the user asks for newer packages ("tb setup --refresh").
epoch()
{
	if [ -n "${KVGPU_TB_EPOCH-}" ]; then
		printf '%s\n' "$KVGPU_TB_EPOCH"
	else
		cat "$STAGES/epoch" 2>/dev/null || printf 'first\n'
	fi
}

# refresh: makes the stages of setup() again with newer packages. The new epoch comes into force
# when all of them are there: until then, and if it fails, the old stages stay in use.
refresh()
{
	[ -n "$(find "$STAGES/epoch.new" -mmin -720 2> /dev/null)" ] || date -u +%Y%m%dT%H%M%SZ > "$STAGES/epoch.new"
	KVGPU_TB_EPOCH=$(cat "$STAGES/epoch.new")
	export KVGPU_TB_EPOCH
	setup
	mv "$STAGES/epoch.new" "$STAGES/epoch"
	unset KVGPU_TB_EPOCH
}

setup_is_done()
{
	kernels_are_there && [ -d "$STAGES/$(tools_stage)" ] &&
		[ -d "$STAGES/$(image_stage)" ]
}

cmd_setup()
{
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
	keep_private
	if [ -n "$refresh" ]; then refresh; else setup; fi
	[ -z "$debug" ] || setup_debug_kernel
	[ -z "$prune" ] || with_setup_lock prune_stages
	say "ready: $STAGES"
}

# setup: makes what is missing
setup()
{
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "the test bed needs Debian on amd64" "it is made of Debian packages, from this machine's apt archive"
	if [ -z "$(missing_host_packages)" ] && setup_is_done; then
		return 0
	fi
	with_setup_lock make_missing
}

# keep_private: root's alone are the images and snapshots, which have the key to servers and guests,
# and the folders that servers share, where a server's root may leave programs with set-user-ID
keep_private()
{
	mkdir -p "$STAGES" "$CACHE/beds"
	chmod 700 "$STAGES" "$CACHE/beds"
}

# with_setup_lock FUNCTION...: waits until no other set-up is at work, and runs FUNCTION. The lock is
# held by descriptor 8.
with_setup_lock()
{
	keep_private
	exec 8> "$STAGES/setup.lock"
	if ! flock -n 8; then
		say "another 'tb setup' is at work; waiting for it to end"
		flock 8
	fi
	discard_unfinished
	"$@"
	exec 8>&-
}

make_missing()
{
	count_steps
	install_host_packages
	need_space
	# the image alone needs no archive
	if stages_to_make | grep -v '^image ' > /dev/null; then find_archives; fi
	fetch_kernels
	build_stage "$(tools_stage)" "making the tools root (QEMU, compilers, kernel headers)" build_tools_root
	build_stage "$(server_stage)" "making the server's root" build_server_root
	build_stage "$(image_stage)" "making the server's image" build_image
}

# stages_to_make: prints a line for each missing stage: what it is, its label or -, the MiB of its
# result, and the MiB that making it needs besides. The numbers are measured ones and a tenth.
stages_to_make()
{
	local label stage
	for label in $(missing_kernels); do printf 'kernel %s 150 60\n' "$label"; done
	for stage in tools:1250:400 server:1700:500 image:1750:1700; do
		[ -d "$STAGES/$("${stage%%:*}_stage")" ] || printf '%s - %s\n' "${stage%%:*}" "$(tr ':' ' ' <<< "${stage#*:}")"
	done
}

count_steps()
{
	local missing
	missing=$(missing_host_packages)
	STEPS=$(($(stages_to_make | wc -l) + ${missing:+1} + 0))
}

discard_unfinished()
{
	local dir
	for dir in "$STAGES"/tmp.*; do
		# the debug kernel's build has another lock, and may be at work
		case $dir in *'*' | */tmp.debug*) ;; *) discard_tree "$dir" ;; esac
	done
}

# shellcheck disable=SC2120 # callers in other files give a list
# need_space [LIST]: ends tb if the cache's disk lacks room for LIST, lines of stages_to_make
need_space()
{
	local free need what
	what=${1-$(stages_to_make)}
	[ -n "$what" ] || return 0
	need=$(awk '{ if (kept + $3 + $4 > most) most = kept + $3 + $4; kept += $3 } END { print most }' <<< "$what")
	free=$(df --output=avail -m "$STAGES" | tail -n 1)
	free=${free// /}
	[ "$free" -ge "$need" ] || die "only $free MiB are free below $STAGES, and $need are needed there for: $(cut -d' ' -f1,2 <<< "$what" |
		sed 's/ -$//' | paste -sd ,)" \
		"free some space, or set KVGPU_CACHE to a directory on a larger disk"
}

# prune_stages: removes stages of other recipes than today's, and all snapshots, unless a bed runs
prune_stages()
{
	local dir kept
	if [ -n "$(running_beds)" ]; then
		say "not pruning: these beds run: $(running_beds | xargs)"
		return
	fi
	kept=$(kernels_key)
	for dir in "$STAGES"/*-????????????????; do
		! grep -qxF -- "${dir##*/}" <<< "$kept" || continue
		case ${dir##*/} in
		tmp.*) ;;	# the debug kernel's build, which has another lock
		"$(tools_stage)" | "$(server_stage)" | "$(image_stage)" | "$(machine_stage)" | \
			"$(debug_stage)" | "$(debug_boot_stage)") ;;
		*) discard_tree "$dir"; say "removed $dir" ;;
		esac
	done
}
