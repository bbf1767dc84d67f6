#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# aperture.sh: in a guest without systemd and udev: does what the rules and the unit of kvgpu-aperture do there. Prints its memory type.
# Where the other guest was first, the memory is a device from the start, and no disk.
modprobe -a virtio_pmem nd_pmem device_dax dax_pmem || exit 1
/share/until.sh 60 sh -c 'test -b /dev/pmem0 || test -c /dev/dax0.0' || exit 1
if ! [ -c /dev/dax0.0 ]; then
	kvgpu-aperture is /dev/pmem0 && kvgpu-aperture up /dev/pmem0 && /share/until.sh 60 test -c /dev/dax0.0 || exit 1
fi
mkdir -p /dev/kvgpu && ln -sf ../dax0.0 /dev/kvgpu/aperture-dax0.0 || exit 1
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug || exit 1
kvgpu-aperture list
