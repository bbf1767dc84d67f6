#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# podman.sh LOWER IMAGE SPECIFICATIONS USER ARGUMENT...: "podman run ARGUMENT...", by a user of that number, in a world of its own: the
# files of LOWER, folders with colons between, of which one has podman of Debian 13, all files in the folder SPECIFICATIONS as
# /etc/cdi, and the container's files of IMAGE, a tar file, in /image. As root, on this machine or in a guest of the test bed.
# podman.sh fetch prints such a LOWER, with all that podman needs of Debian 13; the first time it fetches 60 MB.
set -eu
if [ "${1-}" = fetch ]; then
	packages=(podman crun conmon golang-github-containers-common golang-github-containers-image netavark uidmap base-files dash coreutils mount libc6
		libacl1 libassuan9 libatomic1 libattr1 libaudit1 libblkid1 libbsd0 libbz2-1.0 libcap-ng0 libcap2 libcrypt1 libeconf0 libffi8 libgcc-s1 libglib2.0-0t64
		libgpg-error0 libgpgme11t64 libmd0 libmount1 libpam0g libpcre2-8-0 libseccomp2 libselinux1 libsemanage2 libsepol2 libsqlite3-0 libssl3t64
		libsubid5 libsystemd0 libyajl2 zlib1g)
	exec "$(dirname "$0")/../fetch.sh" debian13-podman trixie "${packages[@]}"
fi
if [ "${1-}" != inside ]; then
	# processes that are left end with the first one
	exec unshare --mount --pid --fork --kill-child "$0" inside "$@"
fi
lower=$2 image=$3 specifications=$4 user=$5
shift 5
world=$(mktemp -d)
mount -t tmpfs world "$world"
mkdir "$world"/{upper,work,root}
mount -t overlay world -o "lowerdir=$lower,upperdir=$world/upper,workdir=$world/work" "$world/root"
cd "$world/root"
mkdir -p proc sys dev run var tmp image old home/one etc/cdi
mount -t proc proc proc
mount -t sysfs sys sys
mount -t cgroup2 cgroup sys/fs/cgroup
mount --rbind /dev dev
# its own: a container's files are an overlay, which wants another file system below
for folder in run var home/one; do
	mount -t tmpfs tmpfs "$folder"
done
mkdir -p var/lib var/tmp "run/user/$user"
# what specifications name is where it is outside
mount --bind /tmp tmp
# the container's root is this user
tar -xf "$image" -C image
chown -R "$user:$user" image
cp "$specifications"/* etc/cdi/
printf '%s\n' root:x:0:0::/root:/bin/sh one:x:1000:1000::/home/one:/bin/sh > etc/passwd
printf '%s\n' root:x:0: one:x:1000: > etc/group
echo one:100000:65536 | tee etc/subuid > etc/subgid
chown "$user" home/one "run/user/$user"
home=$([ "$user" = 0 ] && echo /root || echo /home/one)
# the root of the namespace: in a chroot a user without root gets no namespace of users
pivot_root . old
mount --make-shared /
umount -l /old
exec chroot --userspec="$user:$user" --groups= / /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME="$home" XDG_RUNTIME_DIR="/run/user/$user" \
	podman --cgroup-manager=cgroupfs --storage-driver=vfs --events-backend=none run --rm --network=host --cgroups=disabled "$@"
