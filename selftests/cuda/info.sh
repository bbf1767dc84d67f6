#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# info.sh FOLDER: cuda-info on the libcuda.so.1 in FOLDER (make cuda-inprocess prints one that needs no GPU). Prints TAP.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LD_LIBRARY_PATH=$1
failed=0 n=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

cuda/api/entries.py "$tmp"
gcc -std=gnu11 -Wall -Wextra -Werror "-I$tmp" -D_GNU_SOURCE -DKVGPU_VERSION='"1.2"' cuda/info/*.c -L"$1" -l:libcuda.so.1 -Wl,--unresolved-symbols=ignore-in-shared-libs \
	-o "$tmp/cuda-info"
"$tmp/cuda-info" > "$tmp/table" && rc=0 || rc=1
grep -q 'Tesla K20m' "$tmp/table" && grep -q '13 SM at.*memory clock 2600 MHz' "$tmp/table" && grep -q 'compute capability 3.5' "$tmp/table" || rc=1
result "$rc" "the table names the GPU"
awk 'length($0) != 80 { exit 1 }' "$tmp/table" && rc=0 || rc=1
result "$rc" "its lines have 80 characters"
"$tmp/cuda-info" --json | jq -e '.gpus[0] as $g | $g.compute_capability == "3.5" and $g.smx == 13 and $g.used_bytes >= 0 and
	$g.used_bytes < $g.memory_bytes and ($g.virtual | type) == "boolean" and (.processes | type) == "array"' > /dev/null && rc=0 || rc=1
result "$rc" "the object for programs holds the same"
KVGPU_INPROCESS_VRAM_MIB=1024 "$tmp/cuda-info" -L > "$tmp/list"
grep -q hypervisor /proc/cpuinfo && want='(vGPU)' || want='Tesla'
[ "$(wc -l < "$tmp/list")" = 1 ] && grep -qF "$want" "$tmp/list" && grep -q '1024 MiB' "$tmp/list" && rc=0 || rc=1
result "$rc" "one line for each, and a share is called one"
"$tmp/cuda-info" --nonsense > "$tmp/said" 2>&1 && rc=0 || rc=$?
[ "$rc" = 2 ] && [ "$(wc -l < "$tmp/said")" = 1 ] && grep -q -- '--json, .* not "--nonsense"' "$tmp/said" && rc=0 || rc=1
result "$rc" "an option that is none is refused, by its name"
[ "$("$tmp/cuda-info" --version)" = "cuda-info 1.2" ] && rc=0 || rc=1
result "$rc" "it tells its version"
# a remote server may say any name: no byte of it is more than text
cat > "$tmp/names.c" <<'C'
#include <stdio.h>
int cuDeviceGetName(char *name, int len, int dev) { snprintf(name, len, "K20m\"}],\"x\":\"\033]0;owned\007\033[2J\n\303\251\\"); return 0; }
int cuDeviceGetPCIBusId(char *id, int len, int dev) { snprintf(id, len, "0\"\033[41mX"); return 0; }
C
gcc -shared -fPIC -o "$tmp/names.so" "$tmp/names.c"
lies() { LD_PRELOAD=$tmp/names.so "$tmp/cuda-info" "$@"; }
lies > "$tmp/table" && lies -L > "$tmp/list" && lies --json > "$tmp/json" && rc=0 || rc=1
! LC_ALL=C grep -q '[^ -~]' "$tmp/table" "$tmp/list" "$tmp/json" || rc=1
jq -e '.gpus | length == 1 and (.[0].name | startswith("K20m\"}],\"x\":\"?]0;owned")) and .[0].bus == "0\"?[41mX"' "$tmp/json" > /dev/null || rc=1
result "$rc" "a name with control characters, escape sequences and quotes is text"
echo "1..$n"
exit $failed
