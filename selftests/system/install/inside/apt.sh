#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root in a fresh minimal Debian with a kernel, without a card, in a folder with apt/ (the
# repository of make packages) and next/ (newer packages). Tests installing kvgpu from the
# repository, kernels that come, an upgrade, and purging. Prints TAP.
set -u
cd "$(dirname "$0")" || exit 1
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
# shellcheck source=selftests/system/install/inside/steps.sh
. ./steps.sh
firmware=/lib/firmware/kvgpu/gk110.fw
release=$(basename "$(dirname "$(ls -d /lib/modules/*/kernel | sort -V | tail -n 1)")")
names=(kvgpu kvgpu-dkms kvgpu-libvirt kvgpu-tools)

# states: prints each file and folder with its kind, mode, owner and content, but for what apt, dkms,
# depmod and initramfs-tools write anew at each use
states()
{
	find / -xdev \( -path /root -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /var/log -o -path /var/cache \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/var/lib/dkms/mok.*' -o -path '/boot/initrd.img-*' -o -path /var/lib/initramfs-tools \
		-o -path '/usr/lib/modules/*/modules.*' \) -prune -o -printf '%M %u:%g %p %l\n' -type f -exec md5sum {} + | sort
}

# saying TEXT COMMAND...: COMMAND succeeds, and its output has TEXT
saying() { "${@:2}" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }; cat /tmp/said; grep -qF "$1" /tmp/said; }
# module_of VERSION: DKMS has installed that version alone, for the kernel
module_of() { [ "$(dkms status | sed 's/[:,] */ /g')" = "kvgpu/$1 $release x86_64 installed" ] || { dkms status; return 1; }; }
as_packed() { [ -z "$(dpkg --verify "${names[@]}")" ]; }
firmware_is_there() { kvgpu-firmware --check $firmware; }

# kernel RELEASE: makes a package of a kernel RELEASE, with the nouveau.ko of this one unless it is for clouds
kernel()
{
	local root=/tmp/kernel
	rm -rf $root
	mkdir -p "$root/DEBIAN" "$root/usr/lib/modules/$1/kernel/drivers/gpu/drm/nouveau"
	printf 'Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: none\nDescription: none\n' "linux-image-$1" >$root/DEBIAN/control
	case $1 in
	*-cloud-*) echo none >"$root/usr/lib/modules/$1/kernel/none.ko" ;;
	*) cp "/lib/modules/$release/kernel/drivers/gpu/drm/nouveau/nouveau.ko"* "$root/usr/lib/modules/$1/kernel/drivers/gpu/drm/nouveau/" ;;
	esac
	dpkg-deb --build $root "$1.deb" >/dev/null
}

# netbase makes one where there is none, and leaves it
[ -e /etc/hosts ] || echo "127.0.0.1 localhost" >/etc/hosts
packages >/tmp/packages
states >/tmp/before
version=$(dpkg-deb -f apt/kvgpu-dkms_*.deb Version)
sed "s,^URIs:.*,URIs: file:$PWD/apt," apt/kvgpu.sources >/etc/apt/sources.list.d/kvgpu.sources
step "apt update reads the repository, and finds its signature good" apt -o APT::Update::Error-Mode=any update
step "apt install kvgpu, with this kernel's headers" apt install kvgpu kvgpu-libvirt linux-headers-amd64
step "DKMS has a module for this kernel" module_of "$version"
step "modinfo finds it" modinfo -k "$release" kvgpu
step "the firmware was taken from this kernel's nouveau.ko" firmware_is_there
step "the initramfs has the rule about nouveau" bash -c "lsinitramfs /boot/initrd.img-$release | grep -x etc/modprobe.d/kvgpu.conf"
step "all files are as they were packed" as_packed
step "kvgpu-top runs" kvgpu-top --prometheus
step "the manual pages" gzip -t /usr/share/man/man1/kvgpu-top.1.gz /usr/share/man/man8/kvgpu-{firmware,verify}.8.gz
step "bash completes an option" bash -c '. /usr/share/bash-completion/completions/kvgpu-firmware; _kvgpu kvgpu-firmware --inst; [ "${COMPREPLY[*]}" = --installed ]'

kernel 99.1.0-amd64
kernel 99.2.0-cloud-amd64
rm $firmware
step "a newer kernel comes" apt install ./99.1.0-amd64.deb
step "and the firmware is taken" firmware_is_there
rm $firmware
step "one without nouveau.ko comes, and that is said" saying "kvgpu-firmware: kernel 99.2.0-cloud-amd64 has no nouveau.ko" apt install ./99.2.0-cloud-amd64.deb
step "the firmware is taken from the one before" firmware_is_there
step "both go again" apt purge linux-image-99.1.0-amd64 linux-image-99.2.0-cloud-amd64

step "newer packages in their place" apt install ./next/*.deb
step "DKMS has their module, and the older one is gone" module_of "$version+next"
step "the firmware is still there" firmware_is_there
# autoremove keeps the headers of the newest kernel, though they came automatically
step "apt purges all" apt purge "${names[@]}" linux-headers-amd64 "linux-headers-$release"
rm /etc/apt/sources.list.d/kvgpu.sources
# apt suggests dpkg-dev, and autoremove keeps what is suggested, however it came
step "and what came with it" apt -o APT::AutoRemove::SuggestsImportant=false autoremove --purge
packages >/tmp/packages.after
step "the packages are those from before" diff /tmp/packages /tmp/packages.after
states >/tmp/after
step "and so is each file" diff /tmp/before /tmp/after
printf '1..%d\n' $results
[ $failures -eq 0 ]
