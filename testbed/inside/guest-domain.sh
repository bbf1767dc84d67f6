# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The libvirt domain of a guest. Full guests boot the server's own read-only image. Tiny guests run
# from the initramfs alone; those with a vGPU or an aperture also get the image and the shared
# folder as devices, for drivers and programs.
#
# Runs in the guest's keeper, at each start of the guest. Variables are those of PARAMETERS in
# guest-messages.sh, and NAME, DIR and HERE.

mebibytes() { case $1 in *G) echo $((${1%G} * 1024)) ;; *M) echo "${1%M}" ;; esac; }

# guest_arguments: prints the guest's kernel command line.
guest_arguments()
{
	local unit words="console=ttyS0 quiet panic=-1 mitigations=off net.ifnames=0 tb.hostname=$NAME"
	case $KIND in
	tiny) words+=" tb.role=tiny" ;;
	full)
		words+=" tb.role=guest systemd.show_status=false"
		for unit in libvirtd.service libvirtd.socket libvirtd-ro.socket libvirtd-admin.socket \
			virtlogd.service virtlogd.socket systemd-machined.service ssh.service \
			serial-getty@ttyS0.service; do
			words+=" systemd.mask=$unit"
		done ;;
	esac
	[ -z "$BUSY" ] || words+=" $(busy_arguments)"
	printf '%s %s\n' "$words" "$GUEST_APPEND"
}

# busy_arguments: prints kernel arguments for a guest that works most of the time (--busy). A
# tickless kernel programs its timer again at each tick, which is one more exit; a periodic timer of
# the local APIC is programmed once.
busy_arguments() { printf 'nohz=off highres=off lapic=notscdeadline tsc=reliable\n'; }

# domain_xml: prints the domain. False: the last line of $DIR/device.log says why.
domain_xml()
{
	local device
	[ -z "$APERTURE" ] || [ -f "$APERTURE" ] ||
		{ say "--aperture $APERTURE: the server has no such file" 2> "$DIR/device.log"; return 1; }
	device=$(device_of_type 2> "$DIR/device.log") || return
	cat <<-EOF
	<domain type='kvm'>
	  <name>$NAME</name>
	  $(room_for_memory)
	  <memory unit='MiB'>$(mebibytes "$MEM")</memory>
	  <vcpu>$CPUS</vcpu>
	  <os>
	    <type arch='x86_64' machine='q35'>hvm</type>
	    <kernel>/boot/kernel-$KERNEL</kernel>
	    <initrd>/boot/initrd-$KERNEL</initrd>
	    <cmdline>$(guest_arguments)</cmdline>
	  </os>
	  <features><acpi/><apic/></features>
	  <clock offset='utc'><timer name='hpet' present='no'/></clock>
	  <cpu mode='host-passthrough' migratable='off'>$(numa)</cpu>
	  <on_poweroff>destroy</on_poweroff>
	  <on_reboot>$ON_REBOOT</on_reboot>
	  <on_crash>destroy</on_crash>
	  <devices>
	    <emulator>/usr/bin/qemu-system-x86_64</emulator>
	    <controller type='usb' model='none'/>
	    <memballoon model='none'/>
	    <video><model type='none'/></video>
	    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
	    <serial type='file'><source path='$DIR/console.log' append='on'/></serial>
	$(memory_of_file)
	$(devices_"$KIND")
	$device
	  </devices>
	</domain>
	EOF
}

# takes_memory: true if the guest may get memory beside its own: libvirt wants slots and a NUMA node
# for that.
takes_memory() { [ "$KIND" = full ] || [ -n "$APERTURE" ]; }
room_for_memory() { ! takes_memory || echo "<maxMemory slots='4' unit='GiB'>16</maxMemory>"; }
numa()
{
	! takes_memory ||
		echo "<numa><cell id='0' cpus='0-$((CPUS - 1))' memory='$(mebibytes "$MEM")' unit='MiB'/></numa>"
}

# memory_of_file: prints the device for the file of --aperture.
memory_of_file()
{
	[ -n "$APERTURE" ] || return 0
	cat <<-EOF
	    <memory model='virtio-pmem' access='shared'>
	      <source><path>$APERTURE</path></source>
	      <target><size unit='MiB'>$(($(stat -c %s "$APERTURE") >> 20))</size></target>
	    </memory>
	EOF
}

devices_tiny()
{
	[ -z "$TYPE$APERTURE" ] || devices_with_image
	cat <<-EOF
	    <channel type='unix'>
	      <source mode='bind' path='$DIR/agent.sock'/>
	      <target type='virtio' name='testbed.agent'/>
	    </channel>
	EOF
}

# devices_with_image: puts the agent's virtio-serial controller on PCI bus 1, before all other
# virtio devices. Linux numbers ports in the order of their devices, and image/init expects the
# agent's to be vport0p1.
devices_with_image()
{
	cat <<-EOF
	    <controller type='virtio-serial' index='0'>
	      <address type='pci' domain='0' bus='1' slot='0' function='0'/>
	    </controller>
	EOF
	devices_files
}

devices_full()
{
	devices_files
	echo "    <vsock model='virtio'><cid auto='yes'/></vsock>"
}

devices_files()
{
	cat <<-EOF
	    <disk type='block'>
	      <driver name='qemu' type='raw'/>
	      <source dev='/dev/vda'/>
	      <target dev='vda' bus='virtio'/>
	      <readonly/>
	    </disk>
	    <filesystem type='mount' accessmode='passthrough' multidevs='remap'>
	      <source dir='/share'/>
	      <target dir='share'/>
	    </filesystem>
	EOF
}

# device_of_type: makes the devices of --type and prints their <hostdev> elements. They stay until
# the guest starts again, or "guest-device remove".
device_of_type()
{
	[ -n "$TYPE" ] || return 0
	[ -x "$HERE/guest-device" ] || { say "--type $TYPE: this bed cannot make such a device"; return 1; }
	"$HERE/guest-device" create "$TYPE" "$NAME"
}
