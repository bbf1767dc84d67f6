# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb's messages and errors. Progress goes to stderr; stdout has only what a command was asked for.

say() { printf 'tb: %s\n' "$*" >&2; }

die()
{
	printf 'tb: error: %s\n' "$1" >&2
	shift
	local line
	for line in "$@"; do
		printf 'tb:        %s\n' "$line" >&2
	done
	exit "${DIE_STATUS:-1}"
}

usage_error()
{
	printf 'tb: %s\n' "$1" >&2
	printf 'tb: "tb help" lists the commands and their options\n' >&2
	exit 2
}

# show_tail FILE [LINES]: prints the last lines (15) of a log
show_tail()
{
	[ -s "$1" ] || return 0
	printf 'tb: last lines of %s:\n' "$1" >&2
	tail -n "${2:-15}" "$1" | tr -d '\r' | sed 's/^/    | /' >&2
}

# need_value OPTION COUNT: ends tb if OPTION has no value; COUNT: arguments left
need_value()
{
	[ "$2" -ge 2 ] || usage_error "$1 needs a value"
}

# advice LOG: prints what the user can do about the failure in LOG
advice()
{
	local said
	said=$(tail -n 60 "$1" 2> /dev/null | tr -d '\0') || true
	case $said in
	*'No space left'* | *'enough free space'*)
		echo "the disk is full: free some space, or set KVGPU_CACHE to a directory on a larger disk" ;;
	*'resolving'* | *'Could not connect'* | *'Cannot initiate the connection'* | *'Connection failed'* | *'onnection timed out'* | \
		*'Unable to connect'* | *'unreachable'* | *'not done after'*)
		echo "the archive can't be reached or is too slow: see to the network, and to apt's proxy (apt-config dump | grep -i proxy)" ;;
	*NO_PUBKEY* | *'is not signed'* | *'Missing key'* | *'Signed-By'* | *'signatures couldn'*)
		echo "apt does not know the archive's key: see to Signed-By in apt's sources, and to the package debian-archive-keyring" ;;
	*'not valid yet'* | *'is expired'*)
		echo "see to this machine's clock; for an old snapshot of the archive apt wants Acquire::Check-Valid-Until \"false\"" ;;
	*'does not have a Release file'* | *'404 '*)
		echo "the archive that this machine's apt is configured for does not have that: a mirror in the middle of its update has it" \
			"later; a mirror that never has it needs a second source beside it in apt's sources" ;;
	esac
	echo "then run 'tb setup' again: what is complete stays"
}

# Steps of set-up: one line each.
STEP=0 STEPS=0

# step_begins TEXT [DIR]: begins a step's line.
step_begins()
{
	STEP=$((STEP + 1)) STEP_BEGAN=$SECONDS STEP_TEXT=$1 STEP_SIGN=''
	[ $STEP -gt "$STEPS" ] || STEP_TEXT="[$STEP/$STEPS] $1"
	printf 'tb: %s ...' "$STEP_TEXT" >&2
	if [ -t 2 ]; then
		sign_of_life "$STEP_TEXT" "${2-}" $$ < /dev/null > /dev/null &
		STEP_SIGN=$!
	fi
}

sign_of_life() # TEXT DIR PID: after 20 s prints the step's time and DIR's size every 2 s, until it is killed or tb (PID) has ended
{
	local began=$SECONDS size=''
	sleep "${KVGPU_TB_SIGN_SECONDS:-20}"
	while [ -d "/proc/$3" ]; do
		[ ! -d "$2" ] || size=$(du -sm "$2" 2> /dev/null | awk '{ print ", " $1 " MiB" }')
		printf '\r\033[Ktb: %s ... %d s%s' "$1" $((SECONDS - began)) "$size" >&2
		sleep 2
	done
}

stop_sign()
{
	[ -n "${STEP_SIGN-}" ] || return 0
	kill "$STEP_SIGN" 2> /dev/null || true
	wait "$STEP_SIGN" 2> /dev/null || true
	STEP_SIGN=''
	printf '\r\033[Ktb: %s ...' "$STEP_TEXT" >&2
}

# end_of_line: prints the step's line again after messages of tell()
end_of_line()
{
	stop_sign
	! grep -q '^tb: .*; round [0-9]' "${STAGE_LOG:-/dev/null}" 2> /dev/null || printf '\ntb: %s' "$STEP_TEXT" >&2
}

# step_ends [SIZE]: ends the line of a step that succeeded.
step_ends()
{
	end_of_line
	printf ': done in %d s%s\n' $((SECONDS - STEP_BEGAN)) "${1:+ ($1)}" >&2
}

# step_fails LOG: prints what failed and what to do, and ends tb.
step_fails()
{
	local log=$1 command
	local -a todo
	end_of_line
	printf ': failed after %d s\n' $((SECONDS - STEP_BEGAN)) >&2
	show_tail "$log" 25
	command=$(sed -n '/^--- round /{s/.*//; h}; /^failed: /{s/^failed: //; H}; ${x; p}' "$log" | grep -m 1 .) || true
	mapfile -t todo < <(advice "$log")
	die "$STEP_TEXT: failed" ${command:+"the command: $command"} "the whole log: $log" "${todo[@]}"
}
