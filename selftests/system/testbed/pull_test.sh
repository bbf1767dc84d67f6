#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# pull_test.sh: tests a tree that is built at old commits and then gets this one, as "git pull" does
# after months: what is built in it must be what a fresh build makes, byte by byte. The oldest commit
# is the first one whose build folder and cache are where they are now; one more is 400 commits
# back, because the oldest has no harness and no remoting. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export LC_ALL=C.UTF-8
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=selftests/result.sh
. selftests/result.sh

skip() { echo "1..0 # SKIP $*"; exit 0; }

[ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ] || skip "there is no whole history here"
old=$(git log --format=%H --diff-filter=A -- testbed/place.mk | tail -n 1)
[ -n "$old" ] || skip "the history does not have the first commit with testbed/place.mk"
tree=$scratch/tree o=$scratch/o

# built TARGET...: builds in the tree, and shows the end of what fails
built() { make -s -k -j2 -C "$tree" O="$o" "$@" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" | sed 's/^/# /'; return 1; }; }

# made: the programs and libraries of the build folder with their hashes
made()
{
	(cd "$o" && find . -type f \( -perm -u+x -o -name '*.so*' -o -name '*.rom' -o -name '*.a' \) -print0 | sort -z | xargs -0 sha256sum)
}

# at COMMIT TARGET...: one test: the tree gets the commit, and these are built
at()
{
	git -C "$tree" checkout -q "$1" && built "${@:2}"
	result $? "built $(git rev-list --count "$1..HEAD") commits back: ${*:2}"
}

targets=(model plugin firmware firmware-asan top top-asan fuzz-tests harness cuda-inprocess remote)
git clone -q --shared --no-checkout . "$tree"
at "$old" model plugin firmware firmware-asan top top-asan fuzz-tests
at "$(git rev-list --first-parent --skip=400 -n 1 HEAD)" harness cuda-inprocess remote
at "$(git rev-parse HEAD)" "${targets[@]}"
made >"$scratch/pulled"
make -s -C "$tree" O="$o" help >"$scratch/log" 2>&1 && grep -q '^  check-long ' "$scratch/log"
result $? "make help there" "$(tail -n 1 "$scratch/log")"
mv "$o" "$o.pulled"
built "${targets[@]}"
result $? "and built afresh"
made >"$scratch/fresh"
# programs that left the tree stay where they were built
comm -23 <(sort "$scratch/fresh") <(sort "$scratch/pulled") >"$scratch/differ"
[ -s "$scratch/fresh" ] && [ ! -s "$scratch/differ" ]
result $? "$(wc -l <"$scratch/fresh") programs are what a fresh build makes" "$(cut -c67- "$scratch/differ" | xargs | cut -c1-500)"
echo "1..$results"
[ $failures -eq 0 ]
