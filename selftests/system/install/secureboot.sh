# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh: kvgpu on a machine whose firmware has Secure Boot on, which boots Debian's shim, GRUB and kernel from its disk.

# machine_with_packages: makes a machine on whose disk apt has installed kvgpu, before it boots for the first time. apt has no network: of
# all sources our repository alone.
machine_with_packages()
{
	local root made=$work/packed
	root=$($TB machine --root) && mkdir -p "$made/upper/root" "$made/work" "$made/new" && chmod 700 "$made/upper/root" &&
		cp -r build/apt "$made/upper/root/apt" || return
	# shellcheck disable=SC2016
	timeout --kill-after=10 1800 unshare --mount --pid --fork --kill-child bash -c '
		cd "$1" && mount -t overlay overlay -o "lowerdir=$2,upperdir=upper,workdir=work" new && mount -t tmpfs tmpfs new/tmp &&
			mount -t proc proc new/proc && mount --rbind /dev new/dev || exit 125
		in_root() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot new "$@" || exit; }
		# DKMS would build for each kernel whose headers are there
		for modules in new/usr/lib/modules/*; do [ "${modules##*/}" = "$5" ] || rm -rf "$modules/build"; done
		sed "s,^URIs:.*,URIs: file:/root/apt," new/root/apt/kvgpu.sources >new/etc/apt/sources.list.d/kvgpu.sources
		for what in update "install kvgpu"; do
			in_root apt-get -q -y -o Dir::Etc::sourcelist=sources.list.d/kvgpu.sources -o Dir::Etc::sourceparts=- $what
		done
		umount -l new/dev new/proc new/tmp && "$3" machine --secure-boot --from "$1/new" "$4"' \
		packed "$made" "$root" "$(readlink -f "$TB")" "$work/machine" "$(release_of "$kernel")" >"$work/log" 2>&1 </dev/null
}

# notes_are NAME PATTERN...: one test: kvgpu-card status has a note for each of these patterns, and no other
notes_are()
{
	local name=$1 pattern bad=0
	shift
	in_server kvgpu-card status >"$work/status"
	grep '^note: ' "$work/status" >"$work/notes"
	[ "$(wc -l <"$work/notes")" = $# ] || bad=1
	for pattern; do grep -q -- "$pattern" "$work/notes" || bad=1; done
	result $bad "$name" "$(head -c 300 "$work/notes")"
}

secureboot_cell()
{
	local key=/var/lib/dkms/mok.pub password=once-only typed
	cell_name='Secure Boot' kernel=$(kernel_of base) version=$(make -s print-version)
	make -s module-packages >"$work/log" 2>&1
	result $? "make module-packages" "$(tail -n 1 "$work/log")"
	machine_with_packages
	result $? "apt installs kvgpu on the disk of a fresh Debian 13" "$(tail -n 1 "$work/log")"
	[ -e "$work/machine" ] || { tail -n 20 "$work/log" | sed 's/^/# /'; return; }
	boot "it boots by its firmware, shim and GRUB" || return
	in_machine 60 "Secure Boot is on" sh -c "mokutil --sb-state | grep -x 'SecureBoot enabled'"
	in_machine 60 "and the kernel locked down" grep -F '[integrity]' /sys/kernel/security/lockdown
	driver_is nouveau "nouveau has the card"

	in_server modprobe kvgpu >"$work/log" 2>&1
	result "$([ $? -ne 0 ] && in_server test ! -e /sys/module/kvgpu; echo $?)" "this kernel refuses kvgpu.ko" "$(head -n 1 "$work/log")"
	in_server kvgpu-card share $gpu >"$work/log" 2>&1
	result "$([ $? = 1 ] && grep -q "mokutil --import $key" "$work/log"; echo $?)" "kvgpu-card share says why, and what to do" "$(head -n 1 "$work/log")"
	driver_is nouveau "nouveau still has the card"
	notes_are "kvgpu-card status says it in one line, with what to type" "^note: Secure Boot is on, and DKMS's key is not enrolled, .*reboot"
	typed=$(sed -n 's/.*Type: \(mokutil --import [^ ]*\) .*/\1/p' "$work/notes")
	in_machine 120 "what it says is typed: $typed" sh -c "printf '%s\n' $password $password | ${typed:-false}"
	notes_are "kvgpu-card status says that the key waits" "^note: Secure Boot is on, and DKMS's key waits to be enrolled"

	enroll $password
	boot "it boots again" || return
	in_machine 60 "the key is enrolled" sh -c "mokutil --test-key $key | grep 'is already enrolled'"
	in_machine 60 "Secure Boot is still on" sh -c "mokutil --sb-state | grep -x 'SecureBoot enabled'"
	in_machine 180 "kvgpu-card share" kvgpu-card share $gpu
	driver_is kvgpu "kvgpu has the card"
	notes_are "kvgpu-card status has no complaint"
	grep -q "^$gpu .* shared (kvgpu); at boot: shared" "$work/status"
	result $? "and says that the card is shared" "$(head -n 1 "$work/status")"
	in_server sh -c "dmesg | grep 'kvgpu.*module verification failed'" >"$work/log"
	result "$([ ! -s "$work/log" ]; echo $?)" "the kernel knows the module's key" "$(head -n 1 "$work/log")"
	locked_down
}

# enroll PASSWORD: reboots, and types in MokManager's menus what a person types there. It reboots, by which the bed ends.
enroll()
{
	local end=$((SECONDS + 120)) rc
	in_server systemctl reboot >/dev/null 2>&1
	while $TB status >/dev/null 2>&1 && [ $SECONDS -lt $end ]; do sleep 1; done
	selftests/system/install/mok.py "/run/kvgpu-tb/$KVGPU_TB_NAME/serial.sock" "$1" >"$work/log" 2>&1 &
	$TB up --machine "$work/machine" --mem 2G >"$work/up.log" 2>&1 </dev/null
	wait $!
	rc=$?
	grep -qx "tb: bed '$KVGPU_TB_NAME': the server powered off or rebooted" "$work/up.log" || rc=1
	result $rc "MokManager enrolls the key" "$(tail -n 1 "$work/log")"
	[ $rc = 0 ] || sed 's/^/# /' "$work/up.log"
}

# locked_down: what lockdown takes and leaves, as docs/install.md says
locked_down()
{
	in_machine 120 "a vGPU" mdevctl start --uuid $by_mdevctl --parent $gpu --type kvgpu-512m
	in_machine 60 "debugfs is readable" sh -c "cd /sys/kernel/debug/kvgpu/$gpu && cat registers sched $by_mdevctl/state && find . -type f -exec cat {} +"
	in_machine 60 "the vGPU ends" mdevctl stop --uuid $by_mdevctl
	in_machine 60 "BARs can't be mapped" sh -c "python3 -c 'import mmap; f = open(\"/sys/bus/pci/devices/$gpu/resource0\", \"r+b\"); mmap.mmap(f.fileno(), 4096)' 2>&1 |
		grep 'Operation not permitted'"
}
