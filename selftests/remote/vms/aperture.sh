#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# aperture.sh: run by ../tiny-vms.sh in /image of a tiny guest, which enter.sh has made.
# Such a guest has no systemd and no udev. In their place this makes the device /dev/dax0.0 of the
# shared memory, and its link in /dev/kvgpu. It sets no mode, owner or link by-path.
# "up" has the guest's kernel write its info block into the shared memory. So in the guest that is
# second the memory is a device from the start, instead of a disk, and "up" is left out.
# "list" prints the memory type, which it reads from debugfs.
modprobe -a virtio_pmem nd_pmem device_dax dax_pmem || exit 1
/share/until.sh 60 sh -c 'test -b /dev/pmem0 || test -c /dev/dax0.0' || exit 1
if ! [ -c /dev/dax0.0 ]; then
	kvgpu-aperture is /dev/pmem0 && kvgpu-aperture up /dev/pmem0 && /share/until.sh 60 test -c /dev/dax0.0 || exit 1
fi
mkdir -p /dev/kvgpu && ln -sf ../dax0.0 /dev/kvgpu/aperture-dax0.0 || exit 1
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug || exit 1
kvgpu-aperture list
