#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [PART...]: kvgpu.ko in a server whose kernel has KASAN, lockdep and kmemleak. Prints TAP.
# the parts are called by their names
# shellcheck disable=SC2317
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-debug}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/system/guest/guest.sh
. selftests/system/guest/guest.sh
# shellcheck source=selftests/module/debug/kernel-log.sh
. selftests/module/debug/kernel-log.sh
# shellcheck source=selftests/module/vfio/build.sh
. selftests/module/vfio/build.sh
kernel=debug cell_name=debug
parts=(vfio failnth tenants guest kill reboot unload leaks)
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=debug mode=long
# shellcheck disable=SC2034
[ $# -eq 0 ] || { parts=("$@"); part_of_check=debug:$(IFS=,; echo "$*"); }
bed_must_be_free
trap 'bed_down' EXIT

server_up()
{
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 4G --append iomem=relaxed >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		return 1
	fi
	result 0 "kvgpu.ko takes the card"
	ran_on
	share_programs
	quiet_kernel "load"
}

part_vfio() { vfio_tests 60 1; }

# calls of a VMM's whose allocations fail
part_failnth()
{
	failed_on_purpose=yes
	vfio_tests 5 1 failnth
}

part_tenants()
{
	cp "$OUT/kvgpu-tenants" "$share/"
	LIMIT=3600 in_server /share/kvgpu-tenants test >"$OUT/tenants.log" 2>&1
	relay tenants $? <"$OUT/tenants.log"
	quiet_kernel "many vGPUs"
}

start_guest()
{
	if ! $TB guest start g1 --full --mem 768M --type 512m --reboots >"$OUT/guest.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/guest.log"
		result 1 "a stock guest starts"
		return 1
	fi
	LIMIT=60 await 600 in_guest g1 test -e /dev/dri/renderD128
	result $? "a stock guest starts, its nouveau makes renderD128"
}

part_guest()
{
	local t

	start_guest || return
	for t in copy tiled sync sleep channels groups cycles fault classes inline compute switch exec stress; do
		LIMIT=900 check_client "$t" g1 --quick "$t"
	done
	LIMIT=300 in_guest g1 sh -c 'modprobe -r nouveau && modprobe nouveau && test -e /dev/dri/renderD128'
	result $? "nouveau in the guest unloads and loads"
	quiet_kernel "a guest that works"
}

# the GPU works on pages of the guest
busy()
{
	(LIMIT=300 run_client g1 --bytes 64G copy >/dev/null 2>&1 &)
	holds_pages 200 g1
	result $? "copies run in the guest" "$(counter g1 pinned_pages) pages pinned"
}

part_kill()
{
	busy
	# shellcheck disable=SC2016
	in_server sh -c 'kill -9 $(cat /run/libvirt/qemu/g1.pid)'
	holds_none 120 g1
	result $? "QEMU killed in the middle of copies: no page stays pinned" "$(counter g1 pinned_pages)"
	$TB guest stop g1 >/dev/null 2>&1 </dev/null
	quiet_kernel "a killed guest"
}

part_reboot()
{
	local id

	start_guest || return
	id=$(in_guest g1 cat /proc/sys/kernel/random/boot_id)
	busy
	LIMIT=30 in_guest g1 reboot -f >/dev/null 2>&1
	LIMIT=60 await 1200 another_boot "$id"
	result $? "a guest that reboots in the middle of copies comes back with its vGPU"
	LIMIT=900 check_client "after the reboot" g1 --quick copy
	$TB guest stop g1 >/dev/null 2>&1 </dev/null
	quiet_kernel "a reboot"
}

another_boot()
{
	local id

	id=$(in_guest g1 cat /proc/sys/kernel/random/boot_id) && [ "$id" != "$1" ] && in_guest g1 test -e /dev/dri/renderD128
}

part_unload()
{
	# shellcheck disable=SC2016
	LIMIT=120 in_server sh -c 'for u in /sys/bus/mdev/devices/*; do [ ! -e "$u" ] || mdevctl stop --uuid "$(basename "$u")"; done
		rmmod kvgpu && insmod /share/kvgpu.ko && rmmod kvgpu'
	result $? "the module unloads, loads and unloads"
	quiet_kernel "unload"
}

part_leaks() { no_leaks; }

{ build_programs && build_programs module/tenants && build_vfio; } || finish
if server_up; then
	for part in "${parts[@]}"; do
		"part_$part"
		$TB status >/dev/null 2>&1 || { result 1 "the server survives part $part" "$($TB status 2>&1 | head -n 1)"; break; }
	done
fi
bed_down
finish
