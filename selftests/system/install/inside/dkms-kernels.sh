#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root in the root file system of a Debian 13 that does not run, with the tree in
# /root/kvgpu. DKMS builds and installs kvgpu for each kernel whose headers are there, and skips a
# kernel without mediated devices; make uninstall leaves nothing. Prints TAP.
set -u
results=0 failures=0
version=$(make -s -C /root/kvgpu print-version)

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

# files: prints files, and folders with kvgpu in their names, but for those that builds, DKMS and
# depmod leave
files() { find / -xdev \( -path /root -o -path /proc -o -path /dev -o -path /tmp -o -path /var/log -o -path /var/lib/dkms \) -prune \
	-o \( ! -type d -o -name '*kvgpu*' \) -print | grep -v '^/lib/modules/.*/modules\.\|^/usr/lib/modules/.*/modules\.' | sort; }

install_for() # RELEASE: DKMS builds, installs and signs a module for that kernel
{
	local ko began=$SECONDS
	dkms install -k "$1" "kvgpu/$version" >/tmp/log 2>&1
	result $? "DKMS installs for $1" "$((SECONDS - began)) s" || true
	grep -q 'error' /tmp/log && sed 's/^/# /' /tmp/log "/var/lib/dkms/kvgpu/$version/build/make.log" 2>/dev/null | tail -n 40
	ko=$(ls "/lib/modules/$1/updates/dkms/kvgpu.ko"* 2>/tmp/log)
	result "$([ "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" = "$1" ]; echo $?)" "it is a module of $1" "${ko:-$(cat /tmp/log)}"
	modinfo -F alias "$ko" | grep -qx 'pci:v000010DEd00001028sv\*sd\*bc\*sc\*i\*'
	result $? "the K20m's PCI id names it"
	modinfo -F depends "$ko" | grep -qw mdev
	result $? "mdev comes along"
	[ -n "$(modinfo -F sig_key "$ko")" ]
	result $? "DKMS has signed it"
}

skip_for() # RELEASE: DKMS skips that kernel, which has no mediated devices
{
	dkms autoinstall -k "$1" >/tmp/log 2>&1
	result $? "dkms autoinstall for $1 ends well" "$(tail -n 1 /tmp/log)"
	[ -z "$(find "/lib/modules/$1" -name 'kvgpu*')" ] && ! dkms status | grep -qF "$1"
	result $? "and has skipped kvgpu: that kernel has no mediated devices" "$(grep -m 1 -i 'skip\|exclusive' /tmp/log)"
}

files >/tmp/before
make -C /root/kvgpu install >/tmp/log 2>&1
result $? "make install" "$(tail -n 1 /tmp/log)"
modprobe --showconfig | grep '^softdep nouveau pre: kvgpu' >/dev/null && ! modprobe --showconfig | grep '^blacklist nouveau'
result $? "modprobe asks kvgpu before nouveau, and nouveau is not kept off"
udevadm verify --no-style /usr/lib/udev/rules.d/61-kvgpu-mdevctl.rules >/tmp/log 2>&1
result $? "udevadm verify finds nothing wrong in the rule" "$(head -n 1 /tmp/log)"
for config in /usr/src/linux-headers-*/.config; do
	release=${config#/usr/src/linux-headers-}
	release=${release%/.config}
	if grep -q '^CONFIG_VFIO_MDEV=' "$config"; then install_for "$release"; else skip_for "$release"; fi
done
make -C /root/kvgpu uninstall >/tmp/log 2>&1
result $? "make uninstall"
! dkms status | grep -q kvgpu && [ ! -e /var/lib/dkms/kvgpu ]
result $? "DKMS knows nothing of kvgpu"
files >/tmp/after
diff /tmp/before /tmp/after >/tmp/log
result $? "the files are those from before" "$(grep -m 1 '^[<>]' /tmp/log)"
printf '1..%d\n' $results
[ $failures -eq 0 ]
