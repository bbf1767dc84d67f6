#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Cheap checks of the sources, each a rule of docs/house-style.md. Prints what is wrong and where; exit code 1 if any.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
complain() { printf '%s\n' "$*"; bad=1; }

mapfile -t files < <(selftests/tree-files.sh)
[ ${#files[@]} -ge 100 ] || complain "selftests/tree-files.sh finds ${#files[@]} files of this tree"

for f in "${files[@]}"; do
	[ -f "$f" ] || continue
	case $f in
	*.c|*.h|*.sh|*.py|*.mk|Makefile|testbed/tb)
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: \(GPL-2.0-only\|MIT\)' ||
			complain "$f: no SPDX line among its first three"
		lines=$(wc -l <"$f")
		[ "$lines" -le 800 ] || complain "$f: $lines lines, 800 is the limit: is there a second noun in it?"
		;;
	esac
	case $f in
	*/util*.[ch]|*/common.[ch]|*/misc.[ch]|*/helpers.[ch]|*/utils.*) complain "$f: a name that says nothing" ;;
	esac
	case $f in
	include/*.h|gpu-model/*.h)
		guard=$(sed -n 's/^#ifndef \(KVGPU_[A-Z0-9_]*_H\)$/\1/p' "$f" | head -n 1)
		if [ -z "$guard" ]; then
			complain "$f: no KVGPU_..._H include guard"
		elif ! grep -q "^#define $guard\$" "$f"; then
			complain "$f: guard $guard is tested but not defined"
		fi
		;;
	gpu-model/vbios/*) ;;
	gpu-model/*.c)
		grep -nE 'reg_(get|set|merge)\([a-z]+, *0x' "$f" | sed "s|^|$f:|; s|\$|  <- name the register in include/gk110|" |
			grep . && bad=1
		;;
	esac
done

# remote/ and its pages: 132 columns, but for tables
while read -r f; do
	expand -t 8 "$f" | awk -v f="$f" 'length($0) > 132 && !/^\|/ { printf "%s:%d: %d columns, 132 is the limit\n", f, NR, length($0) }'
done < <(printf '%s\n' "${files[@]}" | grep -E '^(remote/|docs/remote(-setup)?\.md$)' | grep -v '^remote/api\.def$') | grep . && bad=1

# the module is made of all source files of its rooms
rooms='hw mmio-trap gtt-shadow sched mdev'
# shellcheck disable=SC2086
diff <(grep -v '^#' Kbuild | grep -oE "\b(${rooms// /|})/([a-z]+/)?[a-z0-9_]+\.o\b" | LC_ALL=C sort) \
	<(find $rooms -name '*.c' | sed 's/c$/o/' | LC_ALL=C sort) |
	sed -n 's/^< \(.*\)/Kbuild: there is no source for \1/p; s/^> \(.*\)/Kbuild: \1 is missing/p' | grep . && bad=1

# who may include what of mdev/, and call whom
selftests/walls.py || bad=1

# headers stand alone
for f in include/gk110/*.h; do
	[ -f "$f" ] || continue
	gcc -std=gnu11 -Wall -Werror -Iinclude -Iinclude/user -fsyntax-only -x c "$f" 2>/dev/null ||
		complain "$f: does not compile alone"
done

# every room says what it is for
for d in gpu-model gpu-model/* include testbed docs selftests selftests/* hw mdev mdev/machine mmio-trap gtt-shadow sched firmware libvirt-xml tools remote remote/*; do
	[ -d "$d" ] || continue
	printf '%s\n' "${files[@]}" | grep -q "^$d/" || continue
	if [ ! -f "$d/README.md" ]; then
		complain "$d: no README.md that says what it is for"
	elif [ "$(wc -l <"$d/README.md")" -gt 60 ]; then
		complain "$d/README.md: longer than 60 lines"
	fi
done

# A script is looked at together with all that it sources, and again when one of these has changed
# shellcheck source=selftests/proved.sh
. selftests/proved.sh

sourced() # FILE...: they, and what they name as their sources, and so on
{
	local -A seen=()
	local -a queue=("$@")
	local f
	while [ ${#queue[@]} -gt 0 ]; do
		f=${queue[0]}
		queue=("${queue[@]:1}")
		[ -z "${seen[$f]-}" ] && [ -f "$f" ] || continue
		seen[$f]=1
		mapfile -t -O ${#queue[@]} queue < <(sed -n 's,.*shellcheck source=\([^ ]*\).*,\1,p' "$f")
	done
	printf '%s\n' "${!seen[@]}" | LC_ALL=C sort
}

check_script() # FILE
{
	local key
	key=$(sourced "$1" | xargs sha256sum | proof_key "$1" "$shellcheck_version")
	is_proved shellcheck "$key" && return
	# SC2319, of newer versions: that $? is a condition's is what "result" wants to know
	shellcheck -x -S warning -e SC2319 "$1" && set_proved shellcheck "$key"
}

if command -v shellcheck >/dev/null; then
	shellcheck_version=$(shellcheck --version | sed -n 's/^version: //p')
	mapfile -t scripts < <(printf '%s\n' "${files[@]}" | grep -E '\.sh$|^testbed/tb$|^\.ci/run$' | xargs -r grep -lE '^#!.*(ba)?sh|SPDX' )
	running=0
	for f in "${scripts[@]}"; do
		if [ $running -ge "$(nproc)" ]; then
			wait -n || bad=1
			running=$((running - 1))
		fi
		check_script "$f" &
		running=$((running + 1))
	done
	while [ $running -gt 0 ]; do
		wait -n || bad=1
		running=$((running - 1))
	done
else
	complain "shellcheck is not installed: testbed/tb setup installs it"
fi
exit $bad
