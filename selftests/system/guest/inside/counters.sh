#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# counters.sh GUEST: runs in the server. Prints lines "name value" of kvgpu's and KVM's counters for
# that guest, and of the card's interrupts.
uuid=$(/opt/testbed/guest-device uuid "$1") || exit 1
pid=$(cat "/run/libvirt/qemu/$1.pid") || exit 1
for f in "/sys/bus/mdev/devices/$uuid/kvgpu"/*; do
	echo "kvgpu.${f##*/} $(cat "$f")"
done
echo "card.interrupts $(cat /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/chip_interrupts)"
for f in /sys/kernel/debug/kvm/"$pid"-*/*; do
	[ -f "$f" ] || continue
	case ${f##*/} in
	exits | *_exits | pf_* | insn_emulation | hypercalls | tlb_flush | remote_tlb_flush)
		echo "kvm.${f##*/} $(cat "$f")" ;;
	esac
done
