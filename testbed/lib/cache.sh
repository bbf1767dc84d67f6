# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A stage is a result of set-up in the cache: a directory whose name has a hash of its recipe. It is
# built in a temporary directory and renamed when it is complete, so what has the final name is
# complete.

CACHE=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
STAGES=$CACHE/testbed

# recipe_key FILE|=TEXT...: prints one hash over files and texts
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

# tree_key DIR: prints a hash over a tree
tree_key()
{
	(cd "$1" && find . -type f -printf '%P %m\n' | LC_ALL=C sort |
		while read -r path mode; do
			printf '%s %s ' "$mode" "$path"
			sha256sum < "$path"
		done) | sha256sum | cut -c1-16
}

# build_stage NAME-KEY TEXT COMMAND...: unless the stage is there, runs COMMAND, a function of tb,
# to fill the directory $STAGE_TMP. Descriptor 6 is tb's stderr there, and all other output goes to
# $STAGE_LOG.
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

# discard_tree DIR: removes a folder below $STAGES, but nothing in file systems mounted in it
discard_tree()
{
	case $1 in
	"$STAGES"/?*) rm -rf --one-file-system -- "$1" ;;
	*) die "refusing to remove $1: it is not below $STAGES" ;;
	esac
}

# enter_stage FUNCTION...: tb internal-stage, by which tb starts itself again for a part of set-up.
enter_stage()
{
	set -E
	trap 'command_failed "$?" "$BASH_COMMAND"' ERR
	"$@"
}

# command_failed STATUS COMMAND: bash runs this trap at each level of nested functions; the first
# call prints
command_failed()
{
	trap - ERR
	printf 'failed: %s (exit status %s)\n' "$2" "$1" >&2
}
