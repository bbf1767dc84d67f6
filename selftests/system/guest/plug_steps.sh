# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: vGPUs are plugged into and out of running guests, with the files of
# libvirt-xml/.

uuid=6d1f1f4e-0c55-4f0b-9d3c-7a5f2a3b1c01
node=mdev_6d1f1f4e_0c55_4f0b_9d3c_7a5f2a3b1c01_0000_01_00_0
xml=/share/libvirt-xml

# The guest starts with a vGPU of type 1g, the type that is plugged later: a device with larger BARs
# would not fit into the address space that Linux gives the PCIe port at boot.
plug_steps()
{
	case $mode in
	quick) plugs_of t2 ;;	# several_steps() may have left t2 up
	*) plugs_of g5; plugs_of t5 ;;
	esac
	no_trouble "plugging and unplugging"
}

plugs_of()
{
	plug_guest=$1
	guest_there "$1" 1g || return
	own_vgpu_goes
	node_device
	plugged "virsh attach-device"
	unplugged "virsh detach-device" detach $plug_guest $xml/hostdev.xml
	plugged "virsh attach-device again"
	unplugged "mdevctl stop" stop $plug_guest $uuid
	in_server test ! -e /sys/bus/mdev/devices/$uuid
	result $? "mdevctl stop: the vGPU is gone when it returns"
	in_server virsh -q nodedev-start $node
	result $? "virsh nodedev-start starts it again"
	in_server sh -c "mdevctl stop --uuid $uuid && virsh -q nodedev-undefine $node" >/dev/null
	result $? "it is stopped and undefined"
	whole_domain
	guest_gone "$1"
}

# own_vgpu_goes: unplugs the vGPU with which the guest was started
own_vgpu_goes()
{
	local own
	own=$(uuid_of $plug_guest)
	in_server sh -c "sed s/$uuid/$own/ $xml/hostdev.xml >/tmp/own.xml"
	unplugged "the vGPU that the guest was started with" detach $plug_guest /tmp/own.xml
	in_server /opt/testbed/guest-device remove $plug_guest
}

node_device()
{
	in_server virsh -q nodedev-define $xml/node-device.xml >/dev/null
	result $? "virsh nodedev-define takes node-device.xml as it is"
	in_server sh -c "virsh -q nodedev-autostart $node && mdevctl list -d | grep $uuid | grep -q auto" >/dev/null
	result $? "virsh nodedev-autostart: mdevctl lists it as automatic"
	in_server sh -c "virsh -q nodedev-start $node && test -e /sys/bus/mdev/devices/$uuid" >/dev/null
	result $? "virsh nodedev-start makes the vGPU"
}

plugged()
{
	local began=$SECONDS
	in_server virsh -q attach-device $plug_guest $xml/hostdev.xml --live >/dev/null
	result $? "$1 takes hostdev.xml as it is"
	in_guest $plug_guest sh -c "$(until_true 200 'test -e /dev/dri/renderD128')"
	result $? "$1: the running guest's nouveau makes renderD128" "$((SECONDS - began)) s"
	check_client "after $1" $plug_guest --quick copy
}

# unplugged TEXT ARGUMENT...: unplugs a vGPU by plug.sh ARGUMENT...
unplugged()
{
	local what=$1 took
	shift
	took=$(in_server /share/plug.sh "$@" 2>&1)
	result $? "$what: gone from the running guest, no page stays pinned" "$took"
	LIMIT=60 in_guest $plug_guest sh -c '! grep -l 0x10de /sys/bus/pci/devices/*/vendor'
	result $? "$what: the guest sees no GPU any more"
}

# domain.xml names a disk that only an admin's server has, so the domain is defined but not started
whole_domain()
{
	in_server sh -c "virsh -q define --validate $xml/domain.xml && virsh dumpxml kvgpu-guest | grep -q $uuid && virsh -q undefine kvgpu-guest" >/dev/null
	result $? "virsh define takes domain.xml as it is"
}
