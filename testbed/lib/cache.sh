# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Cached things ("stages") are directories named by a hash of their recipe. A stage is built in a
# temporary directory and renamed when it is complete: what has the final name is complete.

CACHE=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
STAGES=$CACHE/testbed

# recipe_key FILE|=TEXT...: one hash over the contents of files and over texts.
recipe_key()
{
	local item
	for item in "$@"; do
		case $item in
		=*) printf 'text %s\n' "${item#=}" ;;
		*) printf 'file %s\n' "${item##*/}"; cat "$item" ;;
		esac
	done | sha256sum | cut -c1-16
}

# tree_key DIR: hash over all files of a tree, with their modes.
tree_key()
{
	(cd "$1" && find . -type f -printf '%P %m\n' | LC_ALL=C sort |
		while read -r path mode; do
			printf '%s %s ' "$mode" "$path"
			sha256sum < "$path"
		done) | sha256sum | cut -c1-16
}

# build_stage NAME-KEY TEXT COMMAND...: runs COMMAND with $STAGE_TMP as the directory to fill, in its own
# mount and PID namespace so that a killed build leaves neither mounts nor processes.
build_stage()
{
	local stage=$1 text=$2
	shift 2
	[ ! -d "$STAGES/$stage" ] || return 0
	mkdir -p "$STAGES/log"
	STAGE_LOG=$STAGES/log/$stage.log
	STAGE_TMP=$STAGES/tmp.$stage
	discard_tree "$STAGE_TMP"
	mkdir -p "$STAGE_TMP"
	step_begins "$text" "$STAGE_TMP"
	if ! run_stage "$@" 6>&2 > "$STAGE_LOG" 2>&1; then
		step_fails "$STAGE_LOG"
	fi
	mv -T "$STAGE_TMP" "$STAGES/$stage"
	step_ends "$(du -sh "$STAGES/$stage" | cut -f1)"
}

run_stage()
{
	export STAGE_TMP STAGE_LOG STAGES CACHE
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$TB" internal-stage "$@" < /dev/null
}

# discard_tree DIR: removes a tree of ours, never crossing into something mounted below it.
discard_tree()
{
	case $1 in
	"$STAGES"/?*) rm -rf --one-file-system -- "$1" ;;
	*) die "refusing to remove $1: it is not below $STAGES" ;;
	esac
}

# enter_stage FUNCTION...: what tb does when run_stage starts it again, inside of new namespaces: runs the function, and names a
# command that fails in the log.
enter_stage()
{
	set -E
	trap 'command_failed "$?" "$BASH_COMMAND"' ERR
	"$@"
}

# called at each level of nested functions and subshells: names the command of the innermost level only
command_failed()
{
	trap - ERR
	printf 'failed: %s (exit status %s)\n' "$2" "$1" >&2
}
