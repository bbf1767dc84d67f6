# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh: tests the packages of debian/ and the repository of make packages.

# contents PACKAGES: prints "PACKAGE FILE" for each file and link in the .deb files of a folder
contents()
{
	local deb
	for deb in "$1"/kvgpu{,-dkms,-libvirt,-tools}_"$version"_*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n "/[^/]\$/s,^\.,$(dpkg-deb -f "$deb" Package) ,p"
	done | LC_ALL=C sort
}

# what kvgpu-tools' postinst asks systemd for, of which this is a stand-in
postinst_cell()
{
	mkdir -p "$work/bin"
	printf '#!/bin/sh\necho "${0##*/} $*" >>"%s"\n' "$work/asked" | tee "$work/bin/deb-systemd-invoke" >"$work/bin/kvgpu-firmware"
	chmod +x "$work/bin"/{deb-systemd-invoke,kvgpu-firmware}
	PATH=$work/bin:$PATH sh debian/kvgpu-tools.postinst configure "$version" && PATH=$work/bin:$PATH sh debian/kvgpu-tools.postinst triggered /lib/modules &&
		[ "$(grep -c 'deb-systemd-invoke try-restart kvgpu-prometheus.service' "$work/asked")" = 1 ]
	result $? "an upgrade restarts kvgpu-prometheus, a new kernel does not" "$(xargs <"$work/asked")"
}

packages_cell()
{
	local made
	cell_name=packages version=$(make -s print-version)
	postinst_cell
	made=$(dirname "$(dirname "$(make -s print-firmware)")")/packages
	make -s cuda-dev-package module-packages >"$work/log" 2>&1
	result $? "make module-packages" "$(tail -n 1 "$work/log")"
	[ -e "build/apt/kvgpu-cuda-dev_${version}_amd64.deb" ] && make -n packages >"$work/log" 2>&1 &&
		[ "$(grep -Eo '(cuda|cuda/dev|remote)/package\.sh( run| \$p)?' "$work/log" | sort -u | wc -l)" = 4 ] && grep -q debian/packages.sh "$work/log"
	result $? "make packages makes those of CUDA, remoting and kvgpu-run first; the repository has what is there" "$(tail -n 1 "$work/log")"
	diff <(contents build/apt | grep -v ' /usr/src/') selftests/system/install/packages.list >"$work/diff"
	result $? "what is in them is what packages.list says" "$(head -n 1 "$work/diff")"
	diff <(contents build/apt | sed -n "s,^kvgpu-dkms /usr/src/kvgpu-$version/,,p" | grep -vx dkms.conf) \
		<(make -s print-module-sources | xargs -n 1 | LC_ALL=C sort) >"$work/diff"
	result $? "DKMS gets all sources of the module and nothing else" "$(head -n 1 "$work/diff")"
	sed -n '/^ -----BEGIN/,$s/^ \.\?//p' build/apt/kvgpu.sources | gpg --dearmor >"$work/key.gpg" &&
		gpgv --quiet --keyring "$work/key.gpg" --output "$work/Release" build/apt/InRelease 2>"$work/log"
	result $? "the repository is signed with the key that kvgpu.sources has" "$(tail -n 1 "$work/log")"
	! grep -rl 'PRIVATE KEY' build/apt >"$work/log"
	result $? "the secret key is not in it" "$(cat "$work/log")"
	lintian --allow-root --fail-on error,warning "$made"/*.deb >"$work/log" 2>&1
	result $? "lintian finds no error and warns of nothing" "$(head -n 1 "$work/log")"
}

apt_roots_cell()
{
	local suite again=$work/again file
	packages_cell
	cell_name=apt
	mkdir -p "$work/apt"
	KVGPU_CACHE=$work/cache debian/packages.sh "$again" "$work/apt/apt" >"$work/log" 2>&1
	result $? "they are built again, with another cache" "$(tail -n 1 "$work/log")"
	for file in build/apt/*"$version"{_*.deb,.dsc,.tar.xz}; do
		[ ! -e "$again/${file##*/}" ] || cmp "$file" "$again/${file##*/}"
	done >"$work/log" 2>&1
	result "$([ ! -s "$work/log" ] && [ -e "$again/kvgpu_$version.dsc" ]; echo $?)" "and are the same" "$(head -n 1 "$work/log")"
	lintian --allow-root --fail-on error,warning "$again/kvgpu_$version.dsc" >"$work/log" 2>&1
	result $? "lintian finds no error in the source, and warns of nothing" "$(head -n 1 "$work/log")"
	[ "$(stat -c %a "$work/cache/apt/key.asc")" = 600 ] && ! cmp -s build/apt/kvgpu.sources "$work/apt/apt/kvgpu.sources"
	result $? "with a key of that cache, which others can't read"
	next_packages "$again" "$work/apt/next"
	result $? "newer ones"
	for suite in bookworm trixie; do
		cell_name="apt on $suite"
		package_in_root "$suite" apt.sh "$work/apt" linux-image-amd64
	done
}

# next_packages FROM TO: the packages in FROM as version +next
next_packages()
{
	local deb root=$work/deb
	mkdir -p "$2"
	for deb in "$1"/*.deb; do
		rm -rf "$root"
		dpkg-deb -R "$deb" "$root" || return
		[ ! -d "$root/usr/src" ] || mv "$root/usr/src/kvgpu-$version" "$root/usr/src/kvgpu-$version+next"
		# the module tells its version, too
		find "$root" -type f \( -path '*/DEBIAN/*' -o -path '*/usr/src/*/dkms.conf' -o -path '*/usr/src/*/mdev/driver.c' \) \
			-exec sed -i "s/${version//./\\.}/&+next/g" {} +
		rm "$root/DEBIAN/md5sums"
		dpkg-deb --build "$root" "$2" >/dev/null || return
	done
}

# ------------------------------------------------- a machine with a card, which gets its packages by apt

# machine_apt LIMIT NAME ARGUMENT...: apt in the machine, which has no network: of all sources our repository alone
machine_apt()
{
	in_machine "$1" "$2" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dir::Etc::sourcelist=sources.list.d/kvgpu.sources -o Dir::Etc::sourceparts=- "${@:3}"
}

# guest_starts: a guest with the vGPU, which runs a CUDA program again and again, and prints what it says on its console. It boots the bed's
# image, and sees the bed's folder, as the machine does. CPU 0 and hold-vm: testbed/README.md.
guest_starts()
{
	local image share
	share=$($TB share)
	selftests/cuda/stage.sh "$share" vector_add >"$work/log" 2>&1 || { result 0 "a guest computes" "SKIP $(tail -n 1 "$work/log")"; return 1; }
	image=$($TB image) && rm -rf "$share/guest" && mkdir -p "$share/guest" && cp selftests/system/install/inside/guest-loop.sh "$share/guest/" &&
		{ cp -l "$image"/{root.erofs,{kernel,initrd}-"$kernel"} "$share/guest/" 2>/dev/null || cp "$image"/{root.erofs,{kernel,initrd}-"$kernel"} "$share/guest/"; }
	cat >"$share/guest/domain.xml" <<-END
	<domain type='kvm'>
	  <name>tenant</name>
	  <memory unit='MiB'>512</memory>
	  <vcpu cpuset='1'>1</vcpu>
	  <os>
	    <type arch='x86_64' machine='q35'>hvm</type>
	    <kernel>/var/lib/libvirt/images/kernel-$kernel</kernel>
	    <initrd>/var/lib/libvirt/images/initrd-$kernel</initrd>
	    <cmdline>console=ttyS0 quiet mitigations=off net.ifnames=0 tb.hostname=tenant tb.role=guest systemd.run=/share/guest/guest-loop.sh</cmdline>
	  </os>
	  <features><acpi/><apic/></features>
	  <cpu mode='host-passthrough' migratable='off'/>
	  <clock offset='utc'><timer name='hpet' present='no'/></clock>
	  <devices>
	    <serial type='file'><source path='$console'/></serial>
	    <disk type='file'>
	      <driver name='qemu' type='raw'/>
	      <source file='/share/guest/root.erofs'><seclabel model='dac' relabel='no'/></source>
	      <target dev='vda' bus='virtio'/>
	      <readonly/>
	    </disk>
	    <filesystem type='mount' accessmode='squash' multidevs='remap'><source dir='/share'/><target dir='share'/></filesystem>
	    <hostdev mode='subsystem' type='mdev' managed='no' model='vfio-pci'><source><address uuid='$by_mdevctl'/></source></hostdev>
	  </devices>
	</domain>
	END
	in_machine 60 "the bed's folders" sh -c 'mkdir -p /share /opt/testbed && mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share /share &&
		mount -t 9p -o trans=virtio,version=9p2000.L inside /opt/testbed && /opt/testbed/hold-vm && cp /share/guest/kernel* /share/guest/initrd* /var/lib/libvirt/images/'
	in_machine 120 "virsh create domain.xml" virsh -q create /share/guest/domain.xml
}

# guest_computes TIMES NAME: one test: the guest has run the program TIMES times more within ten minutes, always right
guest_computes()
{
	local end=$((SECONDS + 600)) was now began=$SECONDS rc
	was=$(in_server grep -c '^ok' $console)
	until now=$(in_server grep -c '^ok' $console); [ "${now:-0}" -ge $((${was:-0} + $1)) ] || [ $SECONDS -ge $end ]; do sleep 5; done
	[ "${now:-0}" -ge $((${was:-0} + $1)) ] && ! in_server grep -q '^not ok' $console
	rc=$?
	result $rc "$2" "${now:-0} runs, $((SECONDS - began)) s"
	[ $rc -eq 0 ] || in_server tail -n 20 $console | sed 's/^/# /'
	return $rc
}

apt_machine_cell()
{
	local loaded was console=/var/log/libvirt/qemu/tenant-console.log guest=yes
	cell_name='apt, machine' kernel=$(kernel_of base) version=$(make -s print-version)
	[ -e "$work/apt/next" ] || { packages_cell; mkdir -p "$work/apt"; cp -r build/apt "$work/apt/apt"; next_packages build/apt "$work/apt/next"; }
	cell_name='apt, machine'
	$TB machine "$work/machine" >"$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; result 1 "a fresh Debian 13"; return; }
	boot "a fresh Debian 13 boots" || return
	# shellcheck disable=SC2016
	in_machine 60 "it has the headers of its own kernel alone" sh -c 'for m in /usr/lib/modules/*; do [ "${m##*/}" = "$(uname -r)" ] || rm -rf "$m/build"; done'
	files_there >"$work/before"
	tar -C "$work/apt" -cf - apt next | timeout 120 $TB run -- tar -xf - --no-same-owner -C /root
	# shellcheck disable=SC2016
	in_machine 60 "the repository" sh -c 'sed "s,^URIs:.*,URIs: file:/root/apt," /root/apt/kvgpu.sources >/etc/apt/sources.list.d/kvgpu.sources'
	machine_apt 120 "apt update" update
	machine_apt 1800 "apt install kvgpu" install kvgpu || return
	in_machine 10 "the firmware is there" kvgpu-firmware --check /lib/firmware/kvgpu/gk110.fw
	in_machine 180 "kvgpu-card share" kvgpu-card share $gpu
	driver_is kvgpu "kvgpu has the card"
	in_machine 60 "a vGPU" sh -c "mdevctl define --auto --uuid $by_mdevctl --parent $gpu --type kvgpu-512m && mdevctl start --uuid $by_mdevctl"
	guest_starts && guest_computes 1 "CUDA in the guest" || guest=
	was=$(in_server cat /sys/module/kvgpu/srcversion)
	# of those that are installed: kvgpu-cuda and kvgpu-remote-client exclude one another
	# shellcheck disable=SC2016
	in_machine 1800 "a newer version of all packages, while it runs" sh -c 'for d in /root/next/*.deb; do
		dpkg -s "$(dpkg-deb -f "$d" Package)" >/dev/null 2>&1 && set -- "$@" "$d"; done; DEBIAN_FRONTEND=noninteractive apt-get -q -y install "$@"'
	in_server kvgpu-card status >"$work/log" && grep -q 'is not the installed one' "$work/log"
	result $? "kvgpu-card status says that another module is loaded" "$(head -n 1 "$work/log")"
	loaded=$(in_server cat /sys/module/kvgpu/srcversion)
	result "$([ -n "$was" ] && [ "$loaded" = "$was" ]; echo $?)" "the module that is loaded stays" "$loaded"
	in_machine 60 "the vGPU is still there" test -e /sys/bus/mdev/devices/$by_mdevctl
	# the first of the two may have begun before the upgrade's end
	[ -z "$guest" ] || { guest_computes 2 "the guest that runs since before computes right"; in_machine 60 "it ends" virsh -q destroy tenant; }
	in_machine 60 "it is stopped and undefined" sh -c "mdevctl stop --uuid $by_mdevctl && mdevctl undefine --uuid $by_mdevctl"
	in_machine 60 "modprobe -r kvgpu" modprobe -r kvgpu
	machine_apt 900 "apt purge" purge kvgpu kvgpu-dkms kvgpu-libvirt kvgpu-tools
	in_machine 60 "the repository goes" sh -c 'rm -r /etc/apt/sources.list.d/kvgpu.sources'
	files_there | grep -v '^/var/lib/apt/lists' >"$work/after"
	diff <(grep -v '^/var/lib/apt/lists' "$work/before") "$work/after" >"$work/diff"
	result $? "the machine's files are those from before" "$(grep -c '^[<>]' "$work/diff") differ"
	grep '^[<>]' "$work/diff" | head -n 20 | sed 's/^/# /'
	reboot_into "it boots without kvgpu" || return
	driver_is nouveau "nouveau has the card again"
}
