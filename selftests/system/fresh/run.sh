#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make check-fresh: README's two commands on fresh Debians. README.md here says what is run.
#   run.sh                  runs all cells, but for those that passed at this commit
#   run.sh --cell NAME...   runs these cells (--cell before each), also if they passed
#   run.sh --list           prints the cells, and their results at this commit
#   run.sh --table          writes the tables from the recorded results
# For work on this folder: --commands 'CMD' runs CMD (one command a line) in place of README's
# commands; such results are recorded apart and not held against README's needs. --keep leaves the root file
# system of a cell that failed.
set -eu -o pipefail
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
FRESH_DIR=$(dirname "$(readlink -f "$0")")
cd "$FRESH_DIR/../../.."
TOP=$PWD
CACHE=${KVGPU_CACHE:-$HOME/.cache/kvgpu}
STORE=$CACHE/fresh

# cells: prints a line for each cell: name, Debian, which commands of README, how the tree gets
# there, its folder. Debian 13 has /tmp in memory, Debian 12 on the disk.
cells()
{
	local suite number
	local long=/home/user/a.long-path+with~signs/and-a-name-that-does-not-end-before-it-has-more-than-a-hundred-characters-in-it/kv-gpu_0.4+git~1
	while read -r number suite; do
		printf '%s-root %s all archive /root/kvgpu\n' "$number" "$suite"
		printf '%s-tmp %s first clone /tmp/kvgpu\n' "$number" "$suite"
		printf '%s-long %s first clone %s\n' "$number" "$suite" "$long"
	done <<-'S'
	13 trixie
	12 bookworm
	S
}

# shellcheck source=testbed/lib/messages.sh
. testbed/lib/messages.sh
# shellcheck source=testbed/lib/archive.sh
. testbed/lib/archive.sh
# shellcheck source=selftests/system/fresh/source.sh
. selftests/system/fresh/source.sh
# shellcheck source=selftests/system/fresh/cell.sh
. selftests/system/fresh/cell.sh
# shellcheck source=selftests/system/fresh/memory.sh
. selftests/system/fresh/memory.sh
say() { printf 'fresh: %s\n' "$*"; }

# install_own_packages: installs on this machine what run.sh itself needs
install_own_packages()
{
	local want
	local -a missing=()
	for want in mmdebstrap python3 git mount debian-archive-keyring; do
		dpkg-query -W -f '${db:Status-Status}' "$want" 2>/dev/null | grep -x installed > /dev/null || missing+=("$want")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing on this machine: ${missing[*]}"
	apt-get -q update >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null </dev/null
}

need_machine()
{
	[ "$(id -u)" = 0 ] || die "check-fresh has to run as root" "it makes root file systems and namespaces"
	install_own_packages
	git rev-parse -q --verify HEAD >/dev/null 2>&1 || die "$TOP is no git checkout" "cells are made of a commit and recorded by it"
	unshare --net --mount --pid --ipc --uts --fork --kill-child true ||
		die "no new namespaces here" "in a container it has to be a privileged one"
	find_archives	# on this machine, because a cell has no network of its own
	mkdir -p "$STORE/packages"
}

need_room()
{
	local free
	free=$(($(df --output=avail -m "$STORE" | tail -n 1)))
	[ "$free" -ge "$1" ] || die "only $free MiB are free below $STORE; a cell needs $1" \
		"free some space, or set KVGPU_CACHE to a directory on a larger disk"
}

parse()
{
	wanted=() mode=all stand_in='' keep=''
	while [ $# -gt 0 ]; do
		case $1 in
		--list | --table) mode=${1#--} ;;
		--keep) keep=yes ;;
		--cell) need_value "$1" $#; mode=some wanted+=("$2"); shift ;;
		--commands) need_value "$1" $#; stand_in=$2; shift ;;
		*) die "unknown argument '$1'" "$(sed -n 's/^#   run.sh/run.sh/p' "$0" | paste -sd '|')" ;;
		esac
		shift
	done
	local name
	for name in "${wanted[@]}"; do
		cells | grep "^$name " > /dev/null || die "no cell '$name'; there are: $(cells | cut -d' ' -f1 | xargs)"
	done
}

list()
{
	local name suite which how place
	while read -r name suite which how place; do
		printf '%-9s %-9s %-6s %-8s %-9s %s\n' "$name" "$suite" "$which" "$how" "$(state_of "$name")" "$place"
	done < <(cells)
}

# state_of CELL: prints passed or failed, or - if the cell was not run at this commit
state_of() { sed -n 's/^result\t//p' "$RECORDS/$1.tsv" 2>/dev/null | grep . || echo -; }

# stop: ends this run after a signal or an error. It kills the cell's process outside of the
# namespaces, whose end is SIGKILL to the first one inside, and so ends the namespaces.
stop()
{
	trap - EXIT
	trap '' INT TERM
	if [ -n "${cell_pid-}" ]; then
		kill -KILL "$cell_pid" 2>/dev/null || true
		wait "$cell_pid" 2>/dev/null || true
	fi
	clean_up
	exit "${1:-1}"
}

tables()
{
	local -a options=(--records "$RECORDS" --out build/fresh)
	mkdir -p build/fresh
	[ -n "$stand_in" ] || options+=(--needs)
	cells | cut -d' ' -f1 | xargs selftests/system/fresh/table.py "${options[@]}"
}

main()
{
	local name suite which how place failed=0 rc
	parse "$@"
	COMMIT=$(git rev-parse HEAD 2>/dev/null || echo none)
	RECORDS=$STORE/records/$COMMIT${stand_in:+-stand-in}
	case $mode in
	list) list; return ;;
	table) tables; return ;;
	esac
	need_machine
	exec 8>"$STORE/lock"
	flock -n 8 || die "another check-fresh is at work below $STORE"
	mkdir -p "$RECORDS"
	[ -z "$(git status --porcelain)" ] || say "note: the tree has changes that are not committed; the cells get commit ${COMMIT:0:12}"
	trap 'stop' EXIT
	trap 'stop 130' INT TERM
	clean_up
	while read -r name suite which how place <&3; do
		case $mode in
		some) printf '%s\n' "${wanted[@]}" | grep -x "$name" > /dev/null || continue ;;
		all) [ "$(state_of "$name")" != passed ] || { say "$name: passed already at ${COMMIT:0:12}"; continue; } ;;
		esac
		need_room "${FRESH_ROOM:-16000}"
		run_cell "$name" "$suite" "$which" "$how" "$place" && rc=0 || rc=$?
		[ $rc -eq 0 ] || failed=$((failed + 1))
	done 3< <(cells)
	tables || failed=$((failed + 1))
	trap - EXIT INT TERM
	clean_up
	[ $failed -eq 0 ]
}

case ${1-} in
internal-cell) shift; inside_cell "$@" ;;
*) main "$@" ;;
esac
