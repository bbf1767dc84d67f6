#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# build.sh quick|long: builds kvgpu.ko for each kernel of the test bed with W=1 and sparse; any
# warning is a failure, but for kernel_excuse. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=selftests/kernels.sh
. selftests/kernels.sh
case ${1-} in
quick | long) mode=$1 ;;
*) echo "usage: selftests/module/kernels/build.sh quick|long" >&2; exit 2 ;;
esac
TB=${TB:-testbed/tb}
results=0 failures=0
log=$(mktemp) kernels=$(mktemp)
trap 'rm -f "$log" "$kernels"' EXIT

result() # ok|'not ok' NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$1" $results "$2" "${3:+ # $3}"
}

build()
{
	local suite=$1 release=$2 name="kvgpu.ko builds for the $3 kernel ($1 $2) without a warning of W=1 and sparse" began=$SECONDS reason
	if make -s --no-print-directory "check-module-$suite" >"$log" 2>&1 </dev/null; then
		result ok "$name" "$((SECONDS - began)) s"
		kernel_record module "$mode" "$suite" "$release" passed
		return
	fi
	tail -n 40 "$log" | sed 's/^/# /'
	if reason=$(kernel_excuse "$mode" module "$suite" "$release" "kvgpu.ko is not built"); then
		result ok "$name" "SKIP $reason: $(grep '^kvgpu: \|warning:' "$log" | tail -n 1)"
		kernel_record module "$mode" "$suite" "$release" skipped
	else
		result 'not ok' "$name" "$(grep '^kvgpu: ' "$log" | tail -n 1)"
		kernel_record module "$mode" "$suite" "$release" failed
	fi
}

$TB kernels >"$kernels" </dev/null || { cat "$kernels"; result 'not ok' "the kernels of the test bed"; }
while read -r suite release role; do
	build "$suite" "$release" "$role"
done <"$kernels"
printf '1..%d\n' $results
[ $failures -eq 0 ] && [ $results -gt 0 ]
