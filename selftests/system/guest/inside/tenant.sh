#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in a tiny guest after enter_image.sh: mounts the shared folder's tenant.erofs, a Debian 12, on the image's /media, and on /tenant
# so that it can be written, with the shared folder in its /mnt. An image, since 9p brings a library that is mapped page by page.
chroot /image modprobe -a loop overlay erofs
mkdir -p /rw /tenant
mount -t erofs -o ro,loop /image/mnt/tenant.erofs /image/media &&
	mount -t tmpfs -o mode=755 rw /rw && mkdir /rw/upper /rw/work &&
	mount -t overlay -o lowerdir=/image/media,upperdir=/rw/upper,workdir=/rw/work overlay /tenant || exit 1
for d in dev proc sys; do mount -o bind /$d /tenant/$d || exit 1; done
mount -o bind /image/mnt /tenant/mnt
