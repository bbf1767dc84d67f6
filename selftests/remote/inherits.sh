# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run.sh and cluster/run.sh: programs, and servers of theirs, that are started with descriptors closed, signals ignored or
# blocked, small limits, odd folders. inherits.c is the program.
# Set before: $work, with the program inherits in it, and $cubin; result(), as lib.sh of cluster has it.
# Set here: inherited (ways to start a program).

: "${work:?}"

# started HOW COMMAND...: in the place of this shell, so in a subshell
started()
{
	local how=$1

	shift
	case $how in
	*'no stdin'*) exec <&- ;;&
	*'no stdout'*) exec >&- ;;&
	*'no stderr'*) exec 2>&- ;;&
	*files*) ulimit -S -f 1000 ;;&
	*size*) ulimit -f 1000 ;;&
	*descriptors*) ulimit -n 40 ;;&
	*stack*) ulimit -s 200 ;;&
	*umask*) umask 0777 ;;&
	*folders*) unset HOME XDG_RUNTIME_DIR; export TMPDIR="$work/no where" ;;&
	*children*) set -- env --ignore-signal=CHLD "$@" ;;&
	*signals*) set -- env --block-signal=CHLD,TERM,INT,HUP,USR1,ALRM,PIPE "$@" ;;
	esac
	exec "$@"
}

: "${cubin=}"
# inherits HOW MODE COMMAND...: the program in that mode, at the end of COMMAND, says that all was right
inherits()
{
	local how=$1 mode=$2 rc

	shift 2
	rm -f "$work/right"
	# timeout gives SIGCHLD its default, so it comes first
	# shellcheck disable=SC2016
	timeout -k 5 100 bash -c 'work=$1; shift; . selftests/remote/inherits.sh; started "$@"' bash "$work" "$how" "$@" \
		"$work/inherits" "$mode" "$work/right" "$cubin" < /dev/zero > "$work/said" 2>&1
	rc=$?
	[ $rc = 0 ] && [ "$(cat "$work/right" 2>/dev/null)" = right ]
	result $? "a program${how:+ with }$how: $mode" "exit code $rc: $(cat "$work/right" 2>/dev/null || tail -n 1 "$work/said")"
}

# what each way to a GPU has to bear: each descriptor alone, since a single new one takes the lowest number
# shellcheck disable=SC2034
inherited=('no stdin' 'no stdout' 'no stderr' 'no stdin, no stdout, no stderr, SIGCHLD of children ignored, signals blocked'
	'few descriptors, a small stack, umask, odd folders, a limit of files')
