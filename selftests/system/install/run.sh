#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long [PART...]: tests installing kvgpu, starting vGPUs at boot, and uninstalling.
# Prints TAP. README.md says what is run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export LC_ALL=C.UTF-8 KVGPU_TB_NAME=${KVGPU_TB_NAME:-inst}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/system/install/package.sh
. selftests/system/install/package.sh
# shellcheck source=selftests/system/install/apt.sh
. selftests/system/install/apt.sh
# shellcheck source=selftests/system/install/secureboot.sh
. selftests/system/install/secureboot.sh
# seconds: a machine boots longer than the test bed's server
export KVGPU_TB_BOOT_SECONDS=1200
case ${1-} in
quick) parts=(directory packages) ;;
long) parts=(directory package kernels apt machine secureboot); [ $# -eq 1 ] || parts=("${@:2}") ;;
*) echo "usage: selftests/system/install/run.sh quick|long [directory] [packages] [package] [kernels] [apt, or one of apt_roots and apt_machine] [machine] [secureboot]" >&2; exit 2 ;;
esac
# only the parts with a machine have a bed; runs of the other parts may go on beside them
end=:
case " ${parts[*]} " in
*machine\ * | *" apt "* | *" secureboot "*) bed_must_be_free; end=bed_down ;;
esac
work=$(mktemp -d "${KVGPU_CACHE:-$HOME/.cache/kvgpu}/install.XXXXXX") || exit 1
trap '$end; rm -rf --one-file-system -- "$work"' EXIT
trap 'exit 130' INT TERM

gpu=0000:01:00.0
by_mdevctl=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee01
by_libvirt=6d1f1f4e-0c55-4f0b-9d3c-7a5f2a3b1c01	# the UUID in libvirt-xml/node-device.xml
node_device=mdev_${by_libvirt//-/_}_${gpu//[:.]/_}

# --------------------------------------------------------- part directory: make install DESTDIR=...

directory_cell()
{
	local root=$work/root source version
	cell_name='DESTDIR'
	make -s install DESTDIR="$root" >"$work/log" 2>&1
	result $? "make install" "$(tail -n 1 "$work/log")"
	version=$(make -s print-version)
	source=$root/usr/src/kvgpu-$version
	(cd "$root" && find . -type f ! -path "./usr/src/*" | sort) >"$work/files"
	diff "$work/files" selftests/system/install/files.list >"$work/diff"
	result $? "the files outside of DKMS's are those of files.list" "$(head -n 1 "$work/diff")"
	diff <(cd "$source" && find . -type f ! -name dkms.conf | sort) \
		<({ printf './%s\n' Kbuild mdev/build.mk mdev/explain.sh mdev/probe.awk mdev/probes.list; find hw mdev mmio-trap gtt-shadow sched include/kvgpu include/gk110 -name '*.[ch]' |
			sed 's,^,./,'; } | sort) >"$work/diff"
	result $? "DKMS gets all sources of the module and nothing else" "$(head -n 1 "$work/diff")"
	(
		# shellcheck disable=SC2034
		kernel_source_dir=KERNEL dkms_tree=TREE
		# shellcheck source=/dev/null
		. "$source/dkms.conf"
		[ "$PACKAGE_NAME/$PACKAGE_VERSION" = "kvgpu/$version" ] &&
			[[ ${MAKE[0]} = "make -f TREE/kvgpu/$version/build/mdev/build.mk KVGPU_TREE=KERNEL "* ]]
	)
	result $? "dkms.conf names this version"
	"$root/usr/sbin/kvgpu-firmware" --help >/dev/null
	result $? "the installed kvgpu-firmware runs"
	"$root/usr/bin/kvgpu-top" --prometheus >"$work/log" && selftests/module/tools/prometheus-check.py <"$work/log"
	result $? "the installed kvgpu-top runs"
	[ "$("$root/usr/sbin/kvgpu-verify" --version)" = "kvgpu-verify $version" ]
	result $? "the installed kvgpu-verify runs"
	"$root/usr/sbin/kvgpu-card" status --json | jq -e '.cards | type == "array"' >/dev/null
	result $? "the installed kvgpu-card runs"
	dangling "$root" >"$work/log"
	result $? "no link of an installed page leads nowhere" "$(head -n 1 "$work/log")"
	packaged_pages_cell
	hook_cell "$root/usr/share/doc/kvgpu/hooks/qemu"
	make -s uninstall DESTDIR="$root" >"$work/log" 2>&1
	result $? "make uninstall" "$(tail -n 1 "$work/log")"
	find "$root" ! -type d >"$work/left"
	result "$([ ! -s "$work/left" ]; echo $?)" "no file is left" "$(head -n 1 "$work/left")"
}

# dangling FOLDER: prints links of pages below FOLDER to files that are not there; fails if there is one
dangling()
{
	find "$1" -name '*.md' | python3 -c '
import os, re, sys
bad = [f"{page}: {link}" for page in map(str.strip, sys.stdin) for link in re.findall(r"\]\(([^)#]+)", open(page).read())
       if "://" not in link and not os.path.exists(os.path.join(os.path.dirname(page), link))]
sys.exit("\n".join(bad) if bad else 0)' 2>&1
}

# the pages that cuda/ and remote/ put into a package, as cuda/deb.sh leaves them there
packaged_pages_cell()
{
	local tmp=$work/page-package doc=$work/page-package/doc man=/nowhere package=page version=1 maintainer=me SOURCE_DATE_EPOCH=0 overrides=()
	# shellcheck source=cuda/deb.sh
	(. cuda/deb.sh && mkdir -p "$doc" && grep -ho '\(docs\|cuda\)/[a-z-]*\.md' remote/package.sh cuda/package.sh | sort -u | xargs cp -t "$doc" && deb_documents) &&
		dangling "$doc" >"$work/log"
	result $? "nor one of a page in a package of cuda/ or remote/" "$(head -n 1 "$work/log")"
	grep -qE '\]\(remote[a-z-]*\.md#' "$doc/remote-setup.md"
	result $? "a link to a page beside it stays"
}

# hook_cell HOOK: the example for libvirt starts and stops what it should, with an mdevctl that keeps its vGPUs in files: "by hand" is
# defined and not there, "auto" is defined to start at boot, "other" is unknown
hook_cell()
{
	local uuid by_hand=$by_mdevctl auto=$by_libvirt
	mkdir -p "$work/bin" "$work/there"
	cat >"$work/bin/mdevctl" <<-END
	#!/bin/sh
	for uuid; do :; done
	case "\$1 \$2 \$uuid" in
	"list --defined $by_hand") echo "$by_hand 0000:01:00.0 kvgpu-1g manual" ;;
	"list --defined $auto") echo "$auto 0000:01:00.0 kvgpu-1g auto (active)" ;;
	"list --uuid"*) [ ! -e "$work/there/\$uuid" ] || echo "\$uuid" ;;
	"start --uuid"*) [ ! -e "$work/refuses" ] && echo >"$work/there/\$uuid" ;;
	"stop --uuid"*) rm "$work/there/\$uuid" ;;
	esac
	END
	chmod +x "$work/bin/mdevctl"
	: >"$work/there/$auto"
	for uuid in $by_hand $auto 11111111-1111-1111-1111-111111111111; do
		printf "  <hostdev><source>\n    <address uuid='%s'/>\n  </source></hostdev>\n" $uuid
	done >"$work/domain.xml"
	hook() { KVGPU_RUN=$work/run PATH=$work/bin:$PATH "$@" <"$work/domain.xml" >"$work/log" 2>&1; }
	: >"$work/refuses"
	! hook "$1" guest prepare begin - && rm "$work/refuses"
	result $? "the hook fails where a vGPU can't start" "$(head -n 1 "$work/log")"
	hook "$1" guest prepare begin - && hook "$1" guest prepare begin - && hook "$1" guest start begin - &&
		[ "$(ls "$work/there")" = "$(printf '%s\n' $by_hand $auto | sort)" ]
	result $? "it starts the vGPU that mdevctl knows, once" "$(head -n 1 "$work/log")"
	hook "$1" other prepare begin - && hook "$1" other release end - && [ -e "$work/there/$by_hand" ]
	result $? "a guest that could not start, because another one has the vGPU, leaves it there" "$(head -n 1 "$work/log")"
	hook "$1" guest release end - && [ "$(ls "$work/there")" = $auto ]
	result $? "and stops it, but not one that starts at boot" "$(head -n 1 "$work/log")"
}

# ----------------------------------------------- part machine: a Debian 13 with a disk (tb machine)

boot()
{
	$TB up --machine "$work/machine" --mem 2G >"$work/up.log" 2>&1 </dev/null
	local rc=$?
	[ $rc -eq 0 ] || sed 's/^/# /' "$work/up.log"
	LIMIT=60 in_server sh -c 'systemctl is-system-running --wait; udevadm settle' >/dev/null 2>&1
	result $rc "$1"
	return $rc
}

# in_machine LIMIT NAME CMD...: one test: CMD succeeds in the machine within LIMIT seconds
in_machine()
{
	local LIMIT=$1 name=$2 rc began=$SECONDS
	shift 2
	in_server "$@" >"$work/log" 2>&1
	rc=$?
	[ $rc -eq 0 ] || tail -n 30 "$work/log" | sed 's/^/# /'
	result $rc "$name" "$((SECONDS - began)) s"
	return $rc
}

# as_the_page_says LIMIT COMMAND: one test: docs/install.md has this command line, and it succeeds in
# the machine's copy of the tree
as_the_page_says()
{
	if ! sed -n 's/^    //p' docs/install.md | sed 's/ *#.*//' | grep -qxF -- "$2"; then
		result 1 "docs/install.md has the line '$2'"
		return 1
	fi
	in_machine "$1" "$2" sh -c "cd /root/kvgpu && $2"
}

reboot_into()
{
	local end=$((SECONDS + 120))
	in_server systemctl reboot >/dev/null 2>&1
	while $TB status >/dev/null 2>&1 && [ $SECONDS -lt $end ]; do sleep 1; done
	boot "$1"
}

driver_is()
{
	local driver
	driver=$(in_server sh -c "basename \$(readlink -f /sys/bus/pci/devices/$gpu/driver)")
	result "$([ "$driver" = "$1" ]; echo $?)" "$2" "driver $driver"
}

# files_there: prints files on the machine's disk, and folders with kvgpu in their names, without
# those that boots and installations of packages change by themselves
files_there()
{
	in_server sh -c "find / -xdev \( -path /root -o -path /var/log -o -path /var/cache -o -path /tmp -o -path /var/tmp \
		-o -path /var/lib/systemd -o -path /var/lib/libvirt -o -path /share -o -path '/var/lib/dkms/mok.*' \
		-o -path '/etc/mdevctl.d' -o -path '/boot/initrd.img-*' -o -path /etc/libvirt/qemu -o -path /var/lib/dpkg \
		-o -path '/var/lib/initramfs-tools' -o -path '/etc/.pwd.lock' \) -prune -o \( ! -type d -o -name '*kvgpu*' \) -print | sort"
}

packages_of_the_page()
{
	local packages missing
	# lines "apt install ./..." are left out: they install packages of this project
	packages=$(sed -n 's/ *#.*//; s/^ *apt install \([^.]\)/\1/p' docs/install.md)
	missing=$(for p in $packages; do in_server dpkg-query -W "$p" >/dev/null 2>&1 || echo "$p"; done)
	result "$([ -n "$packages" ] && [ -z "$missing" ]; echo $?)" "the packages of docs/install.md are what this machine has" "${missing:-$packages}"
}

pack_tree() { selftests/tree-files.sh -print0 | tar --null --ignore-failed-read -cf "$work/tree.tar" -T - 2>/dev/null; }

copy_tree()
{
	timeout 120 $TB run -- sh -c 'mkdir -p /root/kvgpu && tar -xf - --no-same-owner -C /root/kvgpu' <"$work/tree.tar"
	result $? "a copy of the tree"
}

install_steps()
{
	packages_of_the_page
	copy_tree
	files_there >"$work/before"
	as_the_page_says 300 "make install" &&
		as_the_page_says 1500 "dkms install kvgpu/$version" &&
		as_the_page_says 60 kvgpu-firmware &&
		as_the_page_says 180 "kvgpu-card share $gpu"
}

after_install()
{
	local types vgpus
	driver_is kvgpu "kvgpu has the card at once"
	types=$(in_server mdevctl types | grep -c '^ *kvgpu-')
	result "$([ "$types" = 4 ]; echo $?)" "mdevctl types shows four types" "$types"
	as_the_page_says 60 "mdevctl define --auto --uuid $by_mdevctl --parent $gpu --type kvgpu-512m"
	as_the_page_says 60 "mdevctl start --uuid $by_mdevctl"
	in_machine 120 "virsh nodedev-define node-device.xml" virsh nodedev-define /usr/share/doc/kvgpu/node-device.xml
	in_machine 60 "virsh nodedev-autostart" virsh nodedev-autostart $node_device
	in_machine 60 "virsh nodedev-start" virsh nodedev-start $node_device
	vgpus=$(await_vgpus)
	result "$([ "$vgpus" = "$by_mdevctl $by_libvirt" ]; echo $?)" "both vGPUs are there" "$vgpus"
	in_machine 300 "update-initramfs -u, as an upgrade of the kernel does" update-initramfs -u
	in_machine 180 "profile, metrics, report" /root/kvgpu/selftests/system/install/inside/admin.sh $gpu $by_mdevctl
}

# await_vgpus: waits, a minute at most, until both vGPUs are there; prints those that are
await_vgpus()
{
	local end=$((SECONDS + 60)) now=''
	while now=$(in_server ls /sys/bus/mdev/devices | sort | xargs) && [ "$now" != "$by_mdevctl $by_libvirt" ]; do
		[ $SECONDS -lt $end ] || break
		sleep 1
	done
	echo "$now"
}

uninstall_steps()
{
	in_machine 60 "vGPUs are stopped and undefined" sh -c "mdevctl stop --uuid $by_mdevctl && mdevctl undefine --uuid $by_mdevctl &&
		virsh nodedev-destroy $node_device && virsh nodedev-undefine $node_device"
	in_machine 60 "modprobe -r kvgpu" modprobe -r kvgpu
	in_machine 300 "make uninstall" make -C /root/kvgpu uninstall
	in_machine 300 "update-initramfs -u -k all" update-initramfs -u -k all
	files_there >"$work/after"
	diff "$work/before" "$work/after" >"$work/diff"
	result $? "the machine's files are those from before" "$(grep -c '^[<>]' "$work/diff") differ"
	grep '^[<>]' "$work/diff" | head -n 20 | sed 's/^/# /'
}

machine_cell()
{
	local vgpus
	cell_name=machine kernel=$(kernel_of base)
	version=$(make -s print-version)
	$TB machine "$work/machine" >"$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; result 1 "a fresh Debian 13"; return; }
	boot "a fresh Debian 13 boots" || return
	driver_is nouveau "its nouveau has the card"
	install_steps || return
	after_install
	reboot_into "it boots again" || return
	driver_is kvgpu "kvgpu has the card after the boot"
	vgpus=$(await_vgpus)
	result "$([ "$vgpus" = "$by_mdevctl $by_libvirt" ]; echo $?)" "both vGPUs are there, nobody did anything" "$vgpus"
	as_the_page_says 60 kvgpu-top
	cp "$work/log" "$work/top"
	grep -q "^GPU $gpu " "$work/top" && grep -q "^$by_mdevctl kvgpu-512m " "$work/top" && grep -q "^$by_libvirt kvgpu-1g " "$work/top"
	result $? "kvgpu-top shows the card and both vGPUs" "$(head -n 1 "$work/top")"
	in_server kvgpu-top --json --once >"$work/log"
	jq -e ".gpus[0].vgpus | map(.share) == [0, 0] and all(.pinned_pages == 0)" "$work/log" >/dev/null
	result $? "and as JSON that both are idle" "$(head -c 200 "$work/log")"
	in_server kvgpu-top --prometheus >"$work/log"
	selftests/module/tools/prometheus-check.py <"$work/log" >"$work/wrong" && grep -q '^kvgpu_gpus 1$' "$work/log"
	result $? "and for Prometheus" "$(head -n 1 "$work/wrong")"
	in_server sh -c 'journalctl -b -p warning -o cat -t kernel -t systemd-udevd | grep -i "kvgpu\|mdev" |
		grep -v "loading out-of-tree module taints kernel\|module verification failed"' >"$work/log"
	result "$([ ! -s "$work/log" ]; echo $?)" "kernel and udev warn of nothing" "$(head -n 1 "$work/log")"
	uninstall_steps
	reboot_into "it boots without kvgpu" || return
	driver_is nouveau "nouveau has the card again"
}

# ---------------------------------- part kernels: DKMS for all kernels, in a root that does not run

kernels_cell()
{
	local root rc
	cell_name=DKMS
	root=$($TB machine --root) || { result 1 "the root of a machine"; return; }
	mkdir -p "$work/kernels/upper/root/kvgpu" "$work/kernels/work" "$work/kernels/new"
	chmod 700 "$work/kernels/upper/root"
	tar -xf "$work/tree.tar" --no-same-owner -C "$work/kernels/upper/root/kvgpu"
	# shellcheck disable=SC2016
	timeout --kill-after=10 1800 unshare --mount --pid --fork --kill-child bash -c '
		cd "$1" && mount -t overlay overlay -o "lowerdir=$2,upperdir=upper,workdir=work" new &&
			mount -t proc proc new/proc && mount --rbind /dev new/dev && mount -t tmpfs tmpfs new/tmp || exit 125
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			chroot new /root/kvgpu/selftests/system/install/inside/dkms-kernels.sh' \
		kernels "$work/kernels" "$root" >"$work/log" 2>&1 </dev/null
	rc=$?
	relay "DKMS" $rc <"$work/log"
	dkms_records <"$work/log"
}

# dkms_records < TAP: records for docs/supported.md, for each kernel of the test bed that DKMS was
# tried with, whether it made a module
dkms_records()
{
	local suite release lines
	lines=$(cat)
	while read -r suite release _; do
		grep -qF "DKMS installs for $release" <<<"$lines" || continue
		if grep -F -e "DKMS installs for $release" -e "a module of $release" <<<"$lines" | grep -q '^not ok'; then
			kernel_record DKMS long "$suite" "$release" failed
		else
			kernel_record DKMS long "$suite" "$release" passed
		fi
	done < <($TB kernels)
}

pack_tree
for part in "${parts[@]}"; do
	case $part in
	directory | packages | package | kernels | apt_roots | apt_machine | machine | secureboot) "${part}_cell" ;;
	apt) apt_roots_cell; apt_machine_cell ;;
	*) cell_name=$part; result 1 "there is no part '$part'" ;;
	esac
done
finish
