# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The image: the server's root file system with the settings of image/files, as one read-only erofs
# file. Beside it are kernel-LABEL and initrd-LABEL of each kernel, and the ssh key.

image_stage()
{
	printf 'image-%s\n' "$(recipe_key "$TB_DIR/lib/image.sh" "=$(tree_key "$TB_DIR/image")" "=$(server_stage)")"
}

image_dir() { printf '%s/%s\n' "$STAGES" "$(image_stage)"; }
tools_root() { printf '%s/%s/root\n' "$STAGES" "$(tools_stage)"; }

build_image()
{
	local root=$STAGE_TMP/root label release
	cp -a --reflink=auto "$STAGES/$(server_stage)/root" "$root"
	install_settings "$root"
	make_keys "$root"
	while read -r label release _; do
		make_initramfs "$root" "$label" "$release"
		make_kernel "$root" "$(kernel_image "$root" "$release")" "$STAGE_TMP/kernel-$label"
		cp "$STAGE_TMP/"{kernel,initrd}-"$label" "$root/boot/"
	done < <(kernel_versions)
	kernel_versions > "$root/boot/versions"
	mkfs.erofs --quiet "$STAGE_TMP/root.erofs" "$root" ||
		mkfs.erofs "$STAGE_TMP/root.erofs" "$root"
	discard_tree "$root"
}

install_settings()
{
	local root=$1 unit
	cp -r "$TB_DIR/image/files/." "$root/"
	chmod 700 "$root/root/.ssh"
	while read -r unit; do
		ln -sf /dev/null "$root/etc/systemd/system/$unit"
	done < <(list_words "$TB_DIR/image/masked-units")
	# a fixed machine ID; .updated files newer than /usr, so that systemd runs no update units
	# at boot
	printf '6b76677075000000000000000000beef\n' > "$root/etc/machine-id"
	touch "$root/etc/.updated" "$root/var/.updated"
	mkdir -p "$root/share" "$root/opt/testbed"
	rm -rf "$root/var/cache/apt" "$root/var/lib/apt/lists" "$root/var/log/"*.log
	# Debian's udev rule that starts mdevs calls /usr/sbin/mdevctl
	[ -e "$root/usr/sbin/mdevctl" ] || ln -s ../bin/mdevctl "$root/usr/sbin/mdevctl"
}

# make_keys ROOT: tb logs into the server, and the server into its guests, with the same key pair.
make_keys()
{
	local root=$1
	ssh-keygen -q -t ed25519 -N '' -C testbed -f "$STAGE_TMP/key"
	install -m 600 "$STAGE_TMP/key" "$root/root/.ssh/id_ed25519"
	install -m 600 "$STAGE_TMP/key.pub" "$root/root/.ssh/authorized_keys"
	rm -f "$root"/etc/ssh/ssh_host_*
	ssh-keygen -q -t ed25519 -N '' -C host -f "$root/etc/ssh/ssh_host_ed25519_key"
}

# make_kernel ROOT VMLINUZ TO: writes the decompressed kernel of VMLINUZ to TO. QEMU starts a
# decompressed kernel by its PVH entry point. If the kernel has none, or its compression is not
# known here, TO is a copy of VMLINUZ.
make_kernel()
{
	local root=$1 from=$2 to=$3 sectors start length
	local -a unpack
	# fields of Linux's boot protocol: setup_sects (byte 497), payload_offset and payload_length
	# (584).
	read -r sectors < <(od -An -j 497 -N 1 -t u1 "$from")
	read -r start length < <(od -An -j 584 -N 8 -t u4 "$from")
	start=$(((sectors + 1) * 512 + start))
	case $(od -An -j $start -N 4 -t x1 "$from" | tr -d ' ') in
	fd377a58) unpack=(xz -dc) ;;
	28b52ffd) unpack=(zstd -dc) ;;
	1f8b*) unpack=(gzip -dc) length=$((length + 4)) ;;
	*) unpack=(false) ;;
	esac
	if ! dd if="$from" iflag=skip_bytes,count_bytes skip=$start count=$((length - 4)) bs=1M status=none |
		chroot "$root" "${unpack[@]}" > "$to" || ! has_pvh_entry "$to"; then
		echo "kernel $from: not unpacked"
		cp "$from" "$to"
	fi
}

# has_pvh_entry ELF-FILE: true if it has Xen's ELF note 18 (XEN_ELFNOTE_PHYS32_ENTRY)
has_pvh_entry() { LC_ALL=C grep -qaP '\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0' "$1"; }

make_initramfs()
{
	local root=$1 label=$2 release=$3 tree=$STAGE_TMP/initramfs module file
	rm -rf "$tree"
	mkdir -p "$tree/bin" "$tree/usr/lib/modules/$release"
	ln -s usr/lib "$tree/lib"
	cp "$root/bin/busybox" "$tree/bin/busybox"
	install -m 755 "$TB_DIR/image/init" "$tree/init"
	install -m 755 "$TB_DIR/image/agent" "$tree/agent"
	while read -r module; do
		while read -r file; do
			add_module "$root" "$tree" "$file"
		done < <(module_files "$root" "$release" "$module")
	done < <(list_words "$TB_DIR/image/initramfs-modules")
	cp "$root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$tree/lib/modules/$release/"
	depmod -b "$tree" "$release"
	(cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) > "$STAGE_TMP/initrd-$label"
	rm -rf "$tree"
}

# module_files ROOT RELEASE MODULE: prints the files of the module and of those it needs
module_files()
{
	chroot "$1" modprobe --show-depends -S "$2" "$3" | awk '$1 == "insmod" { print $2 }'
}

# add_module ROOT TREE FILE: copies a module, decompressed, which takes long under emulation
add_module()
{
	local target=$2/${3#/}
	target=${target%.xz}
	mkdir -p "${target%/*}"
	case $3 in
	*.xz) xz -dc "$1$3" > "$target" ;;
	*) cp "$1$3" "$target" ;;
	esac
}
