# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests of tools. Makes files and links below a directory like those of kvgpu in sysfs.

# shellcheck disable=SC2034
GPU=0000:01:00.0
GPU_FILES='slice_us watchdog_ms busy_ns switches engine_resets temperature_mc core_clock_khz mem_clock_khz chip_interrupts lost
	room_vram_mib room_bar1_mib room_bar3_mib copy_busy_ns'
VGPU_FILES='gpu_time_ns entitlement_ppm weight cap runnable suspended strikes slices preempts preempt_ns_total preempt_ns_max
	exits_bar0_read exits_bar0_write exits_bar1_bar3 exits_config doorbells_trapped page_faults zaps registers_unlisted
	registers_denied shadow_syncs shadow_tables_read shadow_bytes_read shadow_entries_written shadow_entries_rejected tlb_flushes
	pinned_pages interrupts faults handler_ns shadow_entries_compared copy_time_ns'

# fake_gpu ROOT ADDRESS: bound to kvgpu, each of GPU_FILES with a number of its own
fake_gpu()
{
	local device=$1/devices/pci0000:00/$2 n=100 f
	mkdir -p "$1/bus/pci/drivers/kvgpu" "$1/bus/mdev/devices" "$device/kvgpu"
	touch "$1/bus/pci/drivers/kvgpu/"{bind,unbind,new_id,uevent}
	ln -s "../../../../devices/pci0000:00/$2" "$1/bus/pci/drivers/kvgpu/$2"
	echo 'best-effort' >"$device/kvgpu/policy"
	for f in $GPU_FILES; do n=$((n + 1)); echo $n >"$device/kvgpu/$f"; done
}

# fake_types ROOT ADDRESS: the card of the test bed as the module shows it without vGPUs; its room, and its types
fake_types()
{
	local device=$1/devices/pci0000:00/$2 name pretty vram bar1 bar3 room
	echo 4608 >"$device/kvgpu/room_vram_mib"
	echo 156 >"$device/kvgpu/room_bar1_mib"
	echo 32 >"$device/kvgpu/room_bar3_mib"
	echo 0 >"$device/kvgpu/lost"
	while read -r name pretty vram bar1 bar3 room; do
		local type=$device/mdev_supported_types/kvgpu-$name
		mkdir -p "$type/devices"
		echo "$pretty" >"$type/name"
		echo vfio-pci >"$type/device_api"
		echo "$room" >"$type/available_instances"
		echo "num_heads=0, framebuffer=${vram}M, bar1=${bar1}M, bar3=${bar3}M, max_instance=$room" >"$type/description"
		: >"$type/create"
	done <<-'EOT'
		512m GK110-512M 512 16 4 8
		1g GK110-1G 1024 32 4 4
		2g GK110-2G 2048 64 8 2
		4g GK110-4G 4096 128 16 1
	EOT
}

# fake_vgpu ROOT ADDRESS UUID TYPE FIRST: its files hold FIRST, FIRST + 1, ...
fake_vgpu()
{
	local device=$1/devices/pci0000:00/$2 n=$5 f
	mkdir -p "$1/bus/mdev/devices" "$device/mdev_supported_types/kvgpu-$4" "$device/$3/kvgpu"
	ln -s "../mdev_supported_types/kvgpu-$4" "$device/$3/mdev_type"
	ln -s "../../../devices/pci0000:00/$2/$3" "$1/bus/mdev/devices/$3"
	for f in $VGPU_FILES; do echo $n >"$device/$3/kvgpu/$f"; n=$((n + 1)); done
}

# fake_foreign ROOT UUID: a mediated device of another driver
fake_foreign()
{
	mkdir -p "$1/bus/mdev/devices" "$1/devices/pci0000:00/0000:00:02.0/$2"
	ln -s "../../../devices/pci0000:00/0000:00:02.0/$2" "$1/bus/mdev/devices/$2"
}
