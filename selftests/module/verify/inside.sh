#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server, as /share/verify/inside.sh. inside.sh install: module, firmware and command as
# on a machine after docs/install.md. inside.sh verify FOLDER ARGUMENT...: kvgpu-verify, for the
# card whose number among the server's GPUs is CARD (1), with its reports in /share/verify/FOLDER.
# inside.sh guest UUID: a guest of ../hostile that copies and compares for ever, with that vGPU.
set -eu -o pipefail
here=/share/verify

install_kvgpu()
{
	install -D -m 644 $here/kvgpu.ko "/lib/modules/$(uname -r)/extra/kvgpu.ko"
	depmod
	install $here/kvgpu-firmware /usr/local/sbin/
	kvgpu-firmware --quiet
	modprobe kvm_amd
	/opt/testbed/hold-vm
	cp -r $here/tool /usr/local/share/kvgpu-verify
	ln -sfn /usr/local/share/kvgpu-verify/kvgpu-verify /usr/local/sbin/kvgpu-verify
}

verify() # FOLDER ARGUMENT...
{
	local card
	card=$(lspci -Dn -d 10de: | awk -v n="${CARD:-1}" 'NR == n { print $1 }')
	kvgpu-verify --out "$here/$1" --programs $here/programs --guest "$here/inside.sh guest {uuid}" "${@:2}" "$card"
}

# A guest that meets the race of the emulated SVM (testbed/studies) ends, and is started again.
guest() # UUID
{
	local child
	trap 'kill $child; exit 0' TERM
	for _ in 1 2 3; do
		taskset -c "1-$(($(nproc --all) - 1))" qemu-system-x86_64 -machine pc,accel=kvm -cpu host -m 256 -nodefaults -display none \
			-no-reboot -serial null -device "vfio-pci,sysfsdev=/sys/bus/mdev/devices/$1,display=off" -kernel $here/hostile.flat \
			-append victim &
		child=$!
		wait $child || true
	done
}

case $1 in
install) install_kvgpu ;;
verify) verify "${@:2}" ;;
guest) guest "$2" ;;
esac
