#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Compares cuda/api/api.h with the toolkit's cuda.h, but for what is newer, and cuda/kepler/runtime/api.h with its cuda_runtime_api.h:
# values, sizes and offsets by a program that abi.py makes, compiled with each; prototypes by declaring ours after theirs. Prints TAP.
set -eu
cd "$(dirname "$0")/../.."
if ! root=$(selftests/cuda/toolkit.sh 2>/dev/null); then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cuda/api/entries.py "$tmp"
failed=0

result() { if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; failed=1; fi; }

cc=(gcc -std=gnu11 -w -D__CUDA_API_VERSION_INTERNAL "-I$root/usr/include" -I. "-I$tmp")

# numbers N WHAT THEIR-HEADER OUR-HEADER
numbers()
{
	selftests/cuda/abi.py "$4" "$3" "${cc[@]:2}" > "$tmp/numbers.c"
	"${cc[@]}" "-DHEADER=<$3>" "$tmp/numbers.c" -o "$tmp/theirs"
	"${cc[@]}" "-DHEADER=<$4>" "$tmp/numbers.c" -o "$tmp/ours"
	diff <("$tmp/theirs") <("$tmp/ours") | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ] && [ "$(grep -c FIELD "$tmp/numbers.c")" -gt 150 ] && rc=0 || rc=1
	result "$rc" "$1" "$2: values, sizes and offsets"
}

# prototypes N WHAT HEADER... [-DMACRO]
prototypes()
{
	local n=$1 what=$2 options=() header

	shift 2
	: > "$tmp/both.c"
	for header; do
		case $header in
		-*) options+=("$header") ;;
		*) echo "#include <$header>" >> "$tmp/both.c" ;;
		esac
	done
	"${cc[@]}" "${options[@]}" -c "$tmp/both.c" -o "$tmp/both.o" 2> "$tmp/errors" && rc=0 || rc=1
	grep error "$tmp/errors" | sed 's/^/# /' || true
	result "$rc" "$n" "$what: prototypes"
}

numbers 1 "driver" cuda.h cuda/api/types.h
prototypes 2 "driver" cuda.h cuda/api/api.h
numbers 3 "runtime" cuda_runtime_api.h cuda/kepler/runtime/types.h
prototypes 4 "runtime" cuda.h cuda_runtime_api.h cuda_profiler_api.h cuda/kepler/runtime/api.h
prototypes 5 "runtime, streams of threads" -DCUDA_API_PER_THREAD_DEFAULT_STREAM cuda.h cuda_runtime_api.h cuda/kepler/runtime/api.h
echo "1..5"
exit $failed
