#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make.sh        compiles syscalls.cu (wants the toolkit: selftests/cuda/toolkit.sh fetch) and writes syscalls.inc
# make.sh check  compares syscalls.inc with what would be written; exit status 1 if it differs
set -eu
cd "$(dirname "$0")"
root=$(../../../selftests/cuda/toolkit.sh)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$root/usr/bin:$PATH
../../../selftests/cuda/nvcc.sh -arch=sm_35 -w -Wno-deprecated-gpu-targets -rdc=true -maxrregcount=32 -cubin syscalls.cu -o "$tmp/cubin"
cuobjdump -elf "$tmp/cubin" > "$tmp/elf"
if grep -qE '^\.section \.rel|^\.nv\.constant2' "$tmp/elf"; then
	echo "make.sh: syscalls.cu needs relocations or constants, which syscalls.c has no place for" >&2
	exit 1
fi

# attribute NAME FUNCTION: the number behind it
attribute() { sed -nE "s/^\s*Value:\s*function: kvgpu_$2\(.*$1: (0x[0-9a-f]+|[0-9]+)$/\1/p" "$tmp/elf" | head -n 1; }
# none where a function keeps no token
call_stack() { sed -n "/^\.nv\.info\.kvgpu_$1$/,/^$/p" "$tmp/elf" | grep -A 2 CRS_STACK | sed -nE 's/.*Value:\s*(0x[0-9a-f]+).*/\1/p'; }

{
	echo '/* SPDX-License-Identifier: MIT */'
	echo '/* Made by make.sh from syscalls.cu. CODE(name, registers, frame, call stack, words...) for each function. */'
	for f in vprintf __assertfail malloc free cnpGetDevice cnpGetDeviceCount cnpDeviceGetAttribute cnpSetLastError missing; do
		own=${f#__}
		crs=$(call_stack "$own")
		echo "CODE($f, $(attribute 'register count' "$own"), $(attribute 'frame size' "$own"), ${crs:-0x0},"
		sed -nE "/^\.text\.kvgpu_$own$/,/^$/s/^(0x[0-9a-f]+.*[0-9a-f])\s*$/\t\1,/p" "$tmp/elf" | sed 's/ 0x/, 0x/g; $ s/,$//'
		echo ')'
	done
} > "$tmp/inc"
if [ "${1:-}" = check ]; then
	cmp -s "$tmp/inc" syscalls.inc
	exit
fi
cp "$tmp/inc" syscalls.inc
