#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# plug.sh detach GUEST XML | stop GUEST UUID: runs in the server. Unplugs a vGPU from a running
# guest, by virsh or by mdevctl, and prints after how many ms the guest's domain had it no more.
# Fails if the domain has it still after two minutes, or if pages stay pinned.
began=$(date +%s%N)
ms() { echo $((($(date +%s%N) - began) / 1000000)); }
guest=$2
case $1 in
detach)
	uuid=$(sed -n "s/.*<address uuid='\([^']*\)'.*/\1/p" "$3")
	timeout 120 virsh -q detach-device "$guest" "$3" --live >/dev/null || exit 1 ;;
stop)
	uuid=$3
	timeout 120 mdevctl stop --uuid "$uuid" || { echo "mdevctl stop does not end"; exit 1; } ;;
esac
while virsh dumpxml "$guest" | grep -q "$uuid"; do
	[ "$(ms)" -lt 120000 ] || { echo "the domain still has it"; exit 1; }
	sleep 0.1
done
took=$(ms)
pinned=$(cat "/sys/bus/mdev/devices/$uuid/kvgpu/pinned_pages" 2>/dev/null || echo 0)
echo "$took ms, $pinned pages pinned"
[ "$pinned" = 0 ]
