#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# setuid.sh LIBRARY INPROCESS: what the environment of a set-user-ID program's caller may have the library do: LIBRARY is that of make
# cuda, INPROCESS the libcuda.so.1 of make cuda-inprocess. Prints TAP. Wants root, to make the program and to run it as nobody.
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP a set-user-ID program of root's is made by root"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
failed=0 n=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$tmp/said"; failed=1; fi
}

# as_nobody PROGRAM VARIABLE=VALUE...: what it says is in $tmp/said
as_nobody()
{
	timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups env "${@:2}" "$tmp/$1" > "$tmp/said" 2>&1 || true
}

cuda/api/entries.py "$tmp"
for kind in real inprocess; do
	install -D -m 755 "$1" "$tmp/lib-$kind/libcuda.so.1"
	gcc -std=gnu11 -Wall -Wextra -Werror "-I$tmp" -I. selftests/cuda/setuid.c "$tmp/lib-$kind/libcuda.so.1" -Wl,-rpath,"$tmp/lib-$kind" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs -o "$tmp/plain-$kind"
	install -m 4755 "$tmp/plain-$kind" "$tmp/setuid-$kind"
	shift
done
install -d -m 777 "$tmp/evil"
printf '#!/bin/bash -p\nid -u > %s/ran\nexit 1\n' "$tmp/evil" | tee "$tmp/evil/ptxas" > "$tmp/evil/nvlink"
chmod 755 "$tmp/evil"/*
evil=("PATH=$tmp/evil:/usr/bin:/bin" "KVGPU_PTXAS=$tmp/evil/ptxas")

as_nobody plain-inprocess "${evil[@]}"
[ -s "$tmp/evil/ran" ] && rc=0 || rc=1
result "$rc" "a plain program starts its caller's ptxas"
rm -f "$tmp/evil/ran"
as_nobody setuid-inprocess "${evil[@]}"
[ ! -e "$tmp/evil/ran" ] && grep -q '^load 221 .*set-user-ID' "$tmp/said" && rc=0 || rc=1
result "$rc" "a set-user-ID program does not, and says why"

# libdrm_nouveau writes to a file that the caller may name
as_nobody setuid-real "NOUVEAU_LIBDRM_OUT=$tmp/evil/written"
[ ! -e "$tmp/evil/written" ] && grep -q '^init 100' "$tmp/said" && grep -q NOUVEAU_LIBDRM_OUT "$tmp/said" && rc=0 || rc=1
result "$rc" "a set-user-ID program opens no GPU where libdrm would write to a file of its caller's"
as_nobody plain-real "NOUVEAU_LIBDRM_OUT=$tmp/evil/written"
! grep -q NOUVEAU_LIBDRM_OUT "$tmp/said" && rc=0 || rc=1
result "$rc" "a plain program may say where libdrm writes"
echo "1..$n"
exit $failed
