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

# tb machine DIR: makes the folder DIR with a new machine in it, which "tb up --machine DIR" boots.
# tb machine --root: prints the path of the root file system that machines are copied from.
cmd_machine()
{
	need_root machine
	case ${1-} in
	--root) [ $# -eq 1 ] || usage_error "machine: --root takes no argument" ;;
	-* | '') usage_error "machine: which directory?" ;;
	*)
		[ $# -eq 1 ] || usage_error "machine: unknown argument '$2'"
		[ ! -e "$1" ] || die "$1 is there already" "remove it, or boot it: tb up --machine $1" ;;
	esac
	setup
	setup_machine
	case $1 in
	--root) machine_root ;;
	*) make_machine "$1" ;;
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
	printf '/dev/vda / ext4 defaults 0 1\n' > "$root/etc/fstab"
	rm -f "$root"/var/cache/apt/archives/*.deb
	chroot "$root" systemctl enable systemd-networkd ssh
}

make_machine()
{
	local tmp=$1.new
	rm -rf --one-file-system -- "$tmp"
	mkdir -p "$tmp"
	truncate -s 8G "$tmp/disk.img"
	mkfs.ext4 -q -F -L machine -E lazy_itable_init=1,lazy_journal_init=1 -d "$(machine_root)" "$tmp/disk.img"
	mv -T "$tmp" "$1"
}

# load_machine: copies kernel and initramfs from the machine's disk for QEMU
load_machine()
{
	local release file
	release=$(kernel_release "$KERNEL")
	for file in vmlinuz initrd.img; do
		rm -f "$MACHINE/$file"
		debugfs -R "dump /boot/$file-$release $MACHINE/$file" "$MACHINE/disk.img" 2> /dev/null
		[ -s "$MACHINE/$file" ] || die "no /boot/$file-$release on $MACHINE/disk.img"
	done
}

# machine_arguments: adds QEMU's arguments for a machine. tb's ssh key is a systemd credential: it
# changes with the image.
machine_arguments()
{
	local key
	key=$(printf 'd /root/.ssh 700\nf+~ /root/.ssh/authorized_keys 600 root root - %s\n' "$(base64 -w 0 "$IMAGE/key.pub")" | base64 -w 0)
	QEMU+=(
		-kernel /tb/machine/vmlinuz -initrd /tb/machine/initrd.img
		-append "root=/dev/vda ro console=ttyS0 panic=-1 mitigations=off tsc=reliable random.trust_cpu=on nowatchdog no_timer_check $APPEND"
		-drive file=/tb/machine/disk.img,format=raw,if=none,id=image,cache=unsafe
		-device virtio-blk-pci,drive=image
		-smbios "type=11,value=io.systemd.credential.binary:tmpfiles.extra=$key"
	)
}
