#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# coverage.sh: called by `make coverage`, with O: where this tree is built. Builds into $O/coverage, runs, prints the table.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# the harness changes stacks with the help of ASan
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
out=${O:?}/coverage log=$O/coverage.log
build=(make -s -j"$(nproc)" O="$out" ASAN="$sanitizers --coverage")

# counts of an older tree are none of this one's
find "$out" -name '*.gcda' -delete 2>/dev/null
mkdir -p "$out"
# not the same programs under the thread sanitizer and with late.c of flakes/
mapfile -t programs < <("${build[@]}" print-unit-tests print-harness | grep -v -e /unit-tsan/ -e /unit-late/)
[ ${#programs[@]} -gt 0 ] || { echo "coverage.sh: make names no program" >&2; exit 2; }
if ! "${build[@]}" "${programs[@]}" "$("${build[@]}" print-harness-fuzz)" > "$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "coverage.sh: it does not build; all of it: $log" >&2
	exit 2
fi
failed=0
run()
{
	timeout --kill-after=10 900 env CMOCKA_MESSAGE_OUTPUT=TAP "$@" > "$log" 2>&1 && return
	grep '^not ok' "$log"
	echo "coverage.sh: ${1#"$out"/} fails: what it runs counts all the same"
	failed=$((failed + 1))
}
for p in "${programs[@]}"; do
	run "$p"
done
run "$("${build[@]}" print-harness-fuzz)" 20261123000 4 1000
# the paths of the compiled sources, from the tree's top
find "$out" -name '*.o' | sed 's,.*/asan/,,; s,.*/harness/pic/,,; s,o$,c,' | sort -u > "$out/compiled"
find "$out" -name '*.gcda' -print0 | xargs -0 -n 40 gcov --json-format --stdout 2> "$log" |
	PYTHONDONTWRITEBYTECODE=1 selftests/tooling/coverage/coverage.py selftests/tooling/coverage/rooms.list build/coverage.json "$out/compiled" || exit 1
[ $failed = 0 ]
