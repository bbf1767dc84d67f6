# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tb says, and how it gives up. Progress goes to stderr: stdout carries only answers.

say() { printf 'tb: %s\n' "$*" >&2; }

die() {
	printf 'tb: error: %s\n' "$1" >&2
	shift
	local line
	for line in "$@"; do
		printf 'tb:        %s\n' "$line" >&2
	done
	exit "${DIE_STATUS:-1}"
}

usage_error() {
	printf 'tb: %s\n' "$1" >&2
	printf 'tb: "tb help" lists the commands and their options\n' >&2
	exit 2
}

# show_tail FILE: the end of a log, so that nobody has to look for it.
show_tail() {
	[ -s "$1" ] || return 0
	printf 'tb: last lines of %s:\n' "$1" >&2
	tail -n "${2:-15}" "$1" | tr -d '\r' | sed 's/^/    | /' >&2
}

# need_value OPTION COUNT: an option that wants a value must have one.
need_value() {
	[ "$2" -ge 2 ] || usage_error "$1 needs a value"
}
