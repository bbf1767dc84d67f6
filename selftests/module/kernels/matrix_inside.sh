#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# matrix_inside.sh WORK RELEASE: builds kvgpu.ko from WORK/sources with the headers in WORK/root.
# Runs in the tools root, in a mount namespace of its own. Fails if the build fails or prints a
# warning, or if the module is for another kernel.
set -u
work=$1 release=$2
log=$work/build.log
mount -t tmpfs tmpfs /usr/src && ln -s "$work"/root/usr/src/* /usr/src/ || exit 1
rm -rf "$work/m"
cp -r "$work/sources" "$work/m"
make -s -j"$(nproc)" -f "$work/m/mdev/build.mk" "KVGPU_TREE=/usr/src/linux-headers-$release" "KVGPU_LOG=$log" \
	KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES= >"$log" 2>&1
status=$?
grep -v '^make' "$log"
[ $status -eq 0 ] || exit 1
! grep -q 'warning:' "$log" || exit 1
made_for=$(modinfo -F vermagic "$work/m/kvgpu.ko" | cut -d' ' -f1)
[ "$made_for" = "$release" ] || { echo "kvgpu: it is a module of $made_for"; exit 1; }
