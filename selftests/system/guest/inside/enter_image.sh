#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in a tiny guest with a vGPU: mounts the server's image on /image and the shared folder on
# /image/mnt, and loads the image's nouveau. The image is read-only, but for its /tmp.
modprobe -a virtio_blk erofs 9p 9pnet_virtio
mkdir -p /image
n=0
until [ -b /dev/vda ]; do
	n=$((n + 1))
	[ $n -lt 200 ] || { echo "no /dev/vda"; exit 1; }
	sleep 0.1
done
mount -t erofs -o ro /dev/vda /image &&
	for d in dev proc sys; do mount -o bind /$d /image/$d || exit 1; done &&
	mount -t tmpfs tmpfs /image/tmp &&
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share /image/mnt &&
	chroot /image modprobe nouveau && [ -e /dev/dri/renderD128 ]
