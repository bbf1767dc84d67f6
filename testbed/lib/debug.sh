# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The debug kernel: the base kernel's source built with KASAN, lockdep and kmemleak, and with few
# drivers beyond those that the server needs (debug/config). Guests still run the stock kernel.

DEBUG_LABEL=debug
DEBUG_MAKE=(make -s ARCH=x86_64 LOCALVERSION=-kvgpu-debug)

debug_stage()
{
	printf 'debug-%s\n' "$(recipe_key "$TB_DIR"/debug/* "=$(kernel_stage "$(default_kernel)")" "=${DEBUG_MAKE[*]}")"
}

# A stage of its own: a change of image/init does not build the kernel again.
debug_boot_stage() { printf 'debugboot-%s\n' "$(recipe_key "$TB_DIR/lib/image.sh" "=$(debug_stage)" "=$(image_stage)")"; }
debug_boot_dir() { printf '%s/%s\n' "$STAGES" "$(debug_boot_stage)"; }

is_debug_kernel() { [ "$1" = "$DEBUG_LABEL" ]; }

# kernel_tree LABEL: prints the path, in the tools root, of the tree that modules for that kernel
# are built with
kernel_tree()
{
	if is_debug_kernel "$1"; then
		printf '%s/%s/build\n' "$STAGES" "$(debug_stage)"
	else
		printf '/lib/modules/%s/build\n' "$(kernel_release "$1")"
	fi
}

setup_debug_kernel()
{
	[ ! -d "$(debug_boot_dir)" ] || return 0
	# not set-up's lock, so that beds with other kernels need not wait
	exec 8> "$STAGES/debug.lock"
	flock 8
	need_space "debug kernel 4000 2000"
	build_stage "$(debug_stage)" "building the debug kernel (about 9 minutes of CPU time, once)" build_debug_kernel
	build_stage "$(debug_boot_stage)" "making the debug kernel's initramfs" build_debug_boot
	exec 8>&-
}

build_debug_kernel()
{
	local root patch
	root=$(tools_root)
	fetch_debug_source
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	# after the tmpfs: $STAGE_TMP can be below /tmp, where the tmpfs would hide it
	mkdir -p "$root$STAGE_TMP"
	mount --bind "$STAGE_TMP" "$root$STAGE_TMP"
	# A patch that does not apply is left out: the kernel may have that bug no more. If it has,
	# lockdep's report of it ends the tests.
	for patch in "$TB_DIR"/debug/*.patch; do
		patch -s --dry-run -f -d "$STAGE_TMP/build" -p1 < "$patch" > /dev/null || { echo "left out: ${patch##*/}" >&2; continue; }
		patch -s -d "$STAGE_TMP/build" -p1 < "$patch"
	done
	cp "$TB_DIR/debug/config" "$STAGE_TMP/wanted"
	in_debug_source "${DEBUG_MAKE[@]}" "KCONFIG_ALLCONFIG=$STAGE_TMP/wanted" allnoconfig
	check_debug_config
	in_debug_source nice -n 10 "${DEBUG_MAKE[@]}" "-j$(nproc)" bzImage modules
	in_debug_source "${DEBUG_MAKE[@]}" "INSTALL_MOD_PATH=$STAGE_TMP/modules" modules_install
	cp "$STAGE_TMP/build/arch/x86/boot/bzImage" "$STAGE_TMP/vmlinuz"
	cp "$STAGE_TMP/build/include/config/kernel.release" "$STAGE_TMP/release"
	prune_debug_tree
}

in_debug_source() { chroot "$(tools_root)" /usr/bin/env -C "$STAGE_TMP/build" "$@"; }

# fetch_debug_source: unpacks the source of the base kernel's version into build/
fetch_debug_source()
{
	local apt=$STAGE_TMP/apt label version series deb
	local -a suites
	label=$(default_kernel)
	read -ra suites < <(kernel_suites "$label")
	for deb in "$STAGES/$(kernel_stage "$label")"/linux-image-*.deb; do
		version=$(dpkg-deb --field "$deb" Version)
	done
	series=$(grep -oE '^[0-9]+\.[0-9]+' <<< "$version")
	private_apt "$apt" "${suites[@]}"
	export APT_CONFIG=$apt/apt.conf
	(cd "$apt" && { apt-get -q download "linux-source-$series=$version" || {
		printf 'the archive does not have the source of %s any more: taking its newest of %s\n' "$version" "$series"
		apt-get -q download "linux-source-$series"; }; })
	unset APT_CONFIG
	mkdir "$STAGE_TMP/build"
	dpkg-deb --fsys-tarfile "$apt"/linux-source-*.deb | tar -xO "./usr/src/linux-source-$series.tar.xz" |
		tar -xJ --strip-components 1 -C "$STAGE_TMP/build"
	rm -rf "$apt"
}

check_debug_config()
{
	local missing
	missing=$(grep '^CONFIG_' "$STAGE_TMP/wanted" | grep -vxFf "$STAGE_TMP/build/.config") || return 0
	die "the kernel does not have all of debug/config: $(xargs <<< "$missing")"
}

# prune_debug_tree: removes what building modules does not need
prune_debug_tree()
{
	local build=${STAGE_TMP:?}/build
	rm -rf "${build:?}"/{drivers,net,sound,fs,mm,crypto,block,samples,lib,virt,Documentation,vmlinux*,.tmp*,System.map} \
		"$STAGE_TMP"/modules/lib/modules/*/{build,source,kernel/samples}
	find "$build/arch" -mindepth 1 -maxdepth 1 -type d ! -name x86 -exec rm -rf {} +
	find "$build" -not -path "$build/scripts/*" -not -path "$build/tools/*" -type f \
		\( -name '*.[coSa]' -o -name '*.cmd' \) -delete
}

# build_debug_boot: copies the kernel, and packs busybox, image/init, image/agent and the kernel's
# modules into its initramfs.
build_debug_boot()
{
	local tree=$STAGE_TMP/tree from root release
	from=$STAGES/$(debug_stage)
	root=$STAGES/$(server_stage)/root
	release=$(cat "$from/release")
	mkdir -p "$tree/bin" "$tree/usr/lib/modules"
	ln -s usr/lib "$tree/lib"
	cp "$root/bin/busybox" "$tree/bin/busybox"
	install -m 755 "$TB_DIR/image/init" "$TB_DIR/image/agent" "$tree/"
	cp -r "$from/modules/lib/modules/$release" "$tree/usr/lib/modules/"
	depmod -b "$tree" "$release"
	(cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) > "$STAGE_TMP/initrd-$DEBUG_LABEL"
	cp "$from/vmlinuz" "$STAGE_TMP/kernel-$DEBUG_LABEL"
	rm -rf "$tree"
}

# slow_arguments: prints kernel arguments that raise systemd's time limits
slow_arguments() { printf 'systemd.default_timeout_start_sec=1800 systemd.default_device_timeout_sec=1800\n'; }

slow_limits()
{
	export KVGPU_TB_BOOT_SECONDS=${KVGPU_TB_BOOT_SECONDS:-1800}
	BIND_SECONDS=${KVGPU_TB_BIND_SECONDS:-600}
}
