#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Takes one fix back at a time, in a copy of the tree, and runs the test that the first line of its patch names: as make check does, and if it
# passes with HARNESS_ALL. It has to fail by an invariant and not by a crash; ten minutes mean a hang. Prints TAP. The copies lie below the
# build folder, and are removed.
#   reverts.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
here=selftests/harness
results=0 failures=0

result() # STATUS NAME
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2"
}

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(cd $here/reverts && printf '%s\n' *.patch | sed 's/\.patch$//')
make -s harness || exit 1
built=$(make -s print-harness | tail -n 1)
built=${built%/*}
work=$(mktemp -d "${built%/*}/reverts.XXXXXX") || exit 1
trap 'rm -rf --one-file-system -- "$work"' EXIT
trap 'exit 130' INT TERM

# copy: a copy of the tree and of what was built; make builds anew only what the patch changes
copy() # NAME
{
	mkdir -p "$work/$1" "$work/$1.O" && selftests/tree-files.sh | tar -cf - -T - | tar -xf - -C "$work/$1" &&
		mkdir "$work/$1.O/harness" && cp -a "$built/include" "$built/pic" "$work/$1.O/harness/" &&
		find "$work/$1.O/harness/pic" -name '*.d' -exec sed -i "s,$built/,$work/$1.O/harness/,g" {} + && patch -s -p1 -d "$work/$1" < "$here/reverts/$1.patch"
}

# find_it: builds and runs the test that the patch names; prints what it says
find_it() # NAME
{
	local test began said
	test=$(sed -n '1s/^Found-by: //p' "$here/reverts/$1.patch")
	make -s -C "$work/$1" O="$work/$1.O" "$work/$1.O/harness/$test" || return
	began=$SECONDS
	said=$(env -u HARNESS_ALL timeout 600 "$work/$1.O/harness/$test" 2>&1) &&
		said=$(HARNESS_ALL=1 timeout 600 "$work/$1.O/harness/$test" 2>&1) && return 1
	said=$(grep -E '^harness: .*S[1-6]: ' <<<"$said") || return
	echo "# $test after $((SECONDS - began)) s: $said"
}

for name in "${names[@]}"; do
	copy "$name" && find_it "$name"
	result $? "$name is found when its fix is taken back"
	rm -rf --one-file-system -- "${work:?}/$name" "$work/$name.O"
done
echo "1..$results"
[ $failures -eq 0 ]
