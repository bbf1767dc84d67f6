# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A machine: an ordinary Debian 13 on a disk of its own, which it keeps from one boot to the next,
# for tests of what changes how a computer boots. The test bed adds the network's configuration,
# host name, hosts and fstab, enables network and ssh, and adds the headers of all kernels.

machine_stage()
{
	printf 'machine-%s\n' "$(recipe_key "$TB_DIR/packages/machine.list" "=$(declare -f build_machine_root)" "=$(kernels_key)")"
}

machine_root() { printf '%s/%s/root\n' "$STAGES" "$(machine_stage)"; }

# tb machine [--secure-boot] [--from ROOT] DIR: makes the folder DIR with a new machine in it, which
# "tb up --machine DIR" boots. --from: a root file system that was made from the usual one.
# tb machine --root: prints the path of the root file system that machines are copied from.
cmd_machine()
{
	local secure='' from=''
	need_root machine
	while true; do
		case ${1-} in
		--secure-boot) secure=yes; shift ;;
		--from) need_value "$1" $#; from=$2; shift 2 ;;
		*) break ;;
		esac
	done
	case ${1-} in
	--root) [ $# -eq 1 ] && [ -z "$secure$from" ] || usage_error "machine: --root takes no argument" ;;
	-* | '') usage_error "machine: which directory?" ;;
	*)
		[ $# -eq 1 ] || usage_error "machine: unknown argument '$2'"
		[ ! -e "$1" ] || die "$1 is there already" "remove it, or boot it: tb up --machine $1" ;;
	esac
	setup
	setup_machine
	case $1 in
	--root) machine_root ;;
	*) make_machine "$1" "${from:-$(machine_root)}" "$secure" ;;
	esac
}

setup_machine()
{
	[ ! -d "$STAGES/$(machine_stage)" ] || return 0
	need_space "machine root 2000 600"
	with_setup_lock build_stage "$(machine_stage)" "making the root of a machine" build_machine_root
}

build_machine_root()
{
	local root=$STAGE_TMP/root
	ROOT_HOOKS=()
	debootstrap_into "$root" "$(list_words "$TB_DIR/packages/machine.list" | joined)" \
		trixie trixie-security trixie-updates
	# DKMS can build for a kernel that does not run
	unpack_kernels "$root" headers
	printf '[Match]\nType=ether\n[Network]\nDHCP=ipv4\n' > "$root/etc/systemd/network/80-ether.network"
	printf 'machine\n' > "$root/etc/hostname"
	printf '127.0.0.1 localhost machine\n' > "$root/etc/hosts"
	printf 'LABEL=machine / ext4 defaults 0 1\n' > "$root/etc/fstab"
	rm -f "$root"/var/cache/apt/archives/*.deb
	chroot "$root" systemctl enable systemd-networkd ssh
}

make_machine() # DIR ROOT [SECURE]
{
	local tmp=$1.new
	rm -rf --one-file-system -- "$tmp"
	mkdir -p "$tmp"
	truncate -s 8G "$tmp/disk.img"
	if [ -n "$3" ]; then
		make_boot_partition "$tmp" "$2"
		make_root_partition "$tmp/disk.img" "$2" ",offset=$ROOT_OFFSET" 8000M
	else
		make_root_partition "$tmp/disk.img" "$2"
	fi
	mv -T "$tmp" "$1"
}

make_root_partition() # IMAGE ROOT [OPTIONS SIZE]
{
	mkfs.ext4 -q -F -L machine -E "lazy_itable_init=1,lazy_journal_init=1${3-}" -d "$2" "$1" ${4+"$4"}
}

# In the image of a machine with Secure Boot the boot partition begins at 1 MiB, and behind it the
# root's at 64 MiB. All is written into the image, so nothing is mounted.
BOOT_OFFSET=1M
ROOT_OFFSET=$((64 << 20))

# make_boot_partition DIR ROOT: partitions, and Debian's shim, GRUB and MokManager where firmware
# looks for them on a disk that it does not know. Beside the image: the firmware, and its variables
# with Microsoft's keys, so that Secure Boot is on.
make_boot_partition()
{
	local dir=$1 root=$2 disk=$1/disk.img to
	printf 'label: gpt\nstart=1MiB, size=63MiB, type=uefi\nstart=64MiB, size=8000MiB, type=linux\n' | sfdisk -q "$disk"
	mkfs.vfat -F 16 --offset 2048 "$disk" $((63 << 10)) > "$dir/log" 2>&1 || die "mkfs.vfat fails: $(cat "$dir/log")"
	to=$disk@@$BOOT_OFFSET
	mmd -i "$to" ::/EFI ::/EFI/BOOT ::/EFI/debian
	mcopy -i "$to" "$root/usr/lib/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
	mcopy -i "$to" "$root/usr/lib/shim/mmx64.efi.signed" ::/EFI/BOOT/mmx64.efi
	mcopy -i "$to" "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::/EFI/BOOT/grubx64.efi
	cp "$root/usr/share/OVMF/OVMF_CODE_4M.secboot.fd" "$dir/firmware.fd"
	cp "$root/usr/share/OVMF/OVMF_VARS_4M.ms.fd" "$dir/variables.fd"
	rm "$dir/log"
}

# load_machine: has the machine boot the kernel that this bed wants: copies it and its initramfs from
# the disk for QEMU, or names it to the boot loader
load_machine()
{
	local release file
	release=$(kernel_release "$KERNEL")
	if [ -e "$MACHINE/firmware.fd" ]; then
		printf 'search --no-floppy --label machine --set root\nlinux /boot/vmlinuz-%s %s\ninitrd /boot/initrd.img-%s\nboot\n' \
			"$release" "$(machine_kernel_arguments)" "$release" | mcopy -o -i "$MACHINE/disk.img@@$BOOT_OFFSET" - ::/EFI/debian/grub.cfg
		return
	fi
	for file in vmlinuz initrd.img; do
		rm -f "$MACHINE/$file"
		debugfs -R "dump /boot/$file-$release $MACHINE/$file" "$MACHINE/disk.img" 2> /dev/null
		[ -s "$MACHINE/$file" ] || die "no /boot/$file-$release on $MACHINE/disk.img"
	done
}

machine_kernel_arguments()
{
	printf '%s\n' "root=LABEL=machine ro console=ttyS0 panic=-1 mitigations=off tsc=reliable random.trust_cpu=on nowatchdog no_timer_check $APPEND"
}

# machine_arguments: adds QEMU's arguments for a machine. tb's ssh key is a systemd credential: it
# changes with the image.
machine_arguments()
{
	local key
	key=$(printf 'd /root/.ssh 700\nf+~ /root/.ssh/authorized_keys 600 root root - %s\n' "$(base64 -w 0 "$IMAGE/key.pub")" | base64 -w 0)
	if [ -e "$MACHINE/firmware.fd" ]; then
		# With S3 this firmware can't protect its variables. By the keyboard controller it reboots.
		QEMU+=(
			-machine i8042=on
			-global driver=cfi.pflash01,property=secure,value=on -global ICH9-LPC.disable_s3=1
			-drive if=pflash,unit=0,format=raw,readonly=on,file=/tb/machine/firmware.fd
			-drive if=pflash,unit=1,format=raw,file=/tb/machine/variables.fd
		)
	else
		QEMU+=(-kernel /tb/machine/vmlinuz -initrd /tb/machine/initrd.img -append "$(machine_kernel_arguments)")
	fi
	QEMU+=(
		-drive file=/tb/machine/disk.img,format=raw,if=none,id=image,cache=unsafe
		-device virtio-blk-pci,drive=image,bootindex=1
		-smbios "type=11,value=io.systemd.credential.binary:tmpfiles.extra=$key"
	)
}
