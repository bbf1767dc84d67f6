#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Compares cuda/driver/api.h with the toolkit's cuda.h: values, sizes and offsets by a program that is compiled with each,
# prototypes by declaring ours after theirs. Prints TAP.
set -eu
cd "$(dirname "$0")/../.."
if ! root=$(selftests/cuda/toolkit.sh 2>/dev/null); then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

result() { if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; failed=1; fi; }

cc=(gcc -std=gnu11 -w -D__CUDA_API_VERSION_INTERNAL "-I$root/usr/include" -I.)
"${cc[@]}" -DHEADER='<cuda.h>' selftests/cuda/abi.c -o "$tmp/theirs"
"${cc[@]}" -DHEADER='<cuda/driver/api.h>' selftests/cuda/abi.c -o "$tmp/ours"
diff <("$tmp/theirs") <("$tmp/ours") | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ] && rc=0 || rc=1
result "$rc" 1 "values, sizes and offsets"
printf '#include <cuda.h>\n#include <cuda/driver/api.h>\n' > "$tmp/both.c"
"${cc[@]}" -c "$tmp/both.c" -o "$tmp/both.o" 2> "$tmp/errors" && rc=0 || rc=1
grep error "$tmp/errors" | sed 's/^/# /' || true
result "$rc" 2 "prototypes"
echo "1..2"
exit $failed
