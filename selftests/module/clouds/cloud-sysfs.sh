# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests of this folder: what clouds and libvirt read of a card and its vGPUs, beside what selftests/module/tools/fake-sysfs.sh has.
# shellcheck source=selftests/module/tools/fake-sysfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/fake-sysfs.sh"

# cloud_sysfs ROOT: one card without vGPUs
cloud_sysfs()
{
	local device=$1/devices/pci0000:00/$GPU
	mkdir -p "$1"/{bus/pci/devices,class/mdev_bus,class/iommu/dmar0,kernel/iommu_groups/7}
	fake_gpu "$1" $GPU
	fake_types "$1" $GPU
	ln -s "../../../devices/pci0000:00/$GPU" "$1/bus/pci/devices/$GPU"
	ln -s "../../devices/pci0000:00/$GPU" "$1/class/mdev_bus/$GPU"
	ln -s ../../../kernel/iommu_groups/7 "$device/iommu_group"
	ln -s ../../../bus/pci/drivers/kvgpu "$device/driver"
	printf 'DRIVER=kvgpu\nPCI_CLASS=30200\nPCI_ID=10DE:1028\nPCI_SUBSYS_ID=10DE:1015\n' >"$device/uevent"
	while read -r file value; do echo "$value" >"$device/$file"; done <<-'EOT'
		vendor 0x10de
		device 0x1028
		class 0x030200
		subsystem_vendor 0x10de
		subsystem_device 0x1015
		numa_node -1
		irq 30
	EOT
}

# cloud_vgpu ROOT ADDRESS UUID TYPE
cloud_vgpu()
{
	local device=$1/devices/pci0000:00/$2
	fake_vgpu "$1" "$2" "$3" "$4" 1
	mkdir -p "$1/kernel/iommu_groups/12"
	ln -s ../../../../kernel/iommu_groups/12 "$device/$3/iommu_group"
	: >"$device/$3/remove"
}
