#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# enter.sh PACKAGE...: runs in a tiny guest, before it has the shared folder: puts the server's image in /image, writable, with the shared
# folder in its /share, and what these packages of it install. Packages are unpacked, not configured: there is no systemd and no udev.
modprobe -a virtio_blk erofs overlay 9p 9pnet_virtio || exit 1
mkdir -p /lower /rw /image
n=0
until [ -b /dev/vda ]; do
	n=$((n + 1))
	[ $n -lt 200 ] || { echo "no /dev/vda"; exit 1; }
	sleep 0.1
done
mount -t erofs -o ro /dev/vda /lower && mount -t tmpfs -o mode=755 rw /rw && mkdir /rw/upper /rw/work &&
	mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work overlay /image || exit 1
for d in dev proc sys; do mount -o bind /$d /image/$d || exit 1; done
mkdir -p /image/share /image/run/kvgpu-remoted &&
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share /image/share || exit 1
for package; do
	chroot /image dpkg-deb -x "/share/debs/$package" / || exit 1
done
chroot /image ldconfig
