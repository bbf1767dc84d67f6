#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A stock guest on a vGPU of kvgpu.ko: loads, drives, reloads, is killed. Prints TAP. README.md says what is run.
set -u
cd "$(dirname "$0")/../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-guest}
# shellcheck source=selftests/native/cell.sh
. selftests/native/cell.sh
case ${1-} in
quick) kernels="6.12" client_args="--quick" reloads=2 ;;
long) kernels="6.12 7.2" client_args="" reloads=10 ;;
*) echo "usage: selftests/guest/run.sh quick|long" >&2; exit 2 ;;
esac
trap 'bed_down' EXIT

in_guest() { timeout --kill-after=10 "${LIMIT:-300}" $TB guest run g1 -- "$@" </dev/null; }
counter() { in_server cat "$(vgpu)/kvgpu/$1" 2>/dev/null || echo -1; }
vgpu() { in_server sh -c 'ls -d /sys/bus/mdev/devices/* | head -n 1'; }

# until CMD succeeds, at most LIMIT seconds
await()
{
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 2
	done
}

trouble() { in_server sh -c "dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|leaked' | head -n 5"; }

no_trouble()
{
	local found
	found=$(trouble)
	result "$([ -z "$found" ]; echo $?)" "the server's kernel has nothing to complain of: $1" "$found"
}

server_up()
{
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 5G >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		return 1
	fi
	result 0 "kvgpu.ko takes the card"
	cp "$OUT/kvgpu-client" "$OUT/kvgpu-vk" "$OUT/kvgpu-cl" selftests/mesa/mesa.sh "$($TB share)/"
}

guest_up()
{
	if ! $TB guest start g1 --full --mem 1G --type 512m >"$OUT/guest.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/guest.log"
		result 1 "a stock guest starts with a vGPU of 512 MiB"
		return 1
	fi
	result 0 "a stock guest starts with a vGPU of 512 MiB"
	LIMIT=30 await 150 in_guest test -e /dev/dri/renderD128
	result $? "its nouveau makes renderD128"
}

stock_driver()
{
	local in_guest_sum in_package_sum ko=kernel/drivers/gpu/drm/nouveau/nouveau.ko
	in_guest_sum=$(in_guest sh -c "sha256sum /lib/modules/\$(uname -r)/$ko*" | cut -d' ' -f1)
	in_package_sum=$(in_server sh -c "sha256sum /lib/modules/$(in_guest uname -r)/$ko*" | cut -d' ' -f1)
	result "$([ -n "$in_guest_sum" ] && [ "$in_guest_sum" = "$in_package_sum" ]; echo $?)" \
		"nouveau in the guest is the distribution's file"
}

guest_program()
{
	local name=$1 log=$OUT/guest-program.log rc
	shift
	in_guest "$@" >"$log" 2>/dev/null
	rc=$?
	relay "$name" $rc <"$log"
}

nothing_unlisted()
{
	local n
	n=$(counter registers_unlisted)
	result "$([ "$n" = 0 ]; echo $?)" "no register access outside of the tables" "$n"
	n=$(counter doorbells_trapped)
	result "$([ "$n" = 0 ]; echo $?)" "no doorbell was trapped" "$n"
}

reload()
{
	local i
	for ((i = 1; i <= reloads; i++)); do
		in_guest sh -c 'modprobe -r nouveau && modprobe nouveau && test -e /dev/dri/renderD128' || break
	done
	result "$([ $i -gt $reloads ]; echo $?)" "nouveau in the guest unloads and loads $reloads times"
}

killed()
{
	local before after
	in_server rmmod kvgpu 2>/dev/null
	result "$([ $? -ne 0 ]; echo $?)" "the module does not unload while a guest has a vGPU"
	(LIMIT=120 in_guest /share/kvgpu-client --bytes 64G copy >/dev/null 2>&1 &)
	await 40 sh -c "[ \"\$($TB run -- cat $(vgpu)/kvgpu/pinned_pages </dev/null)\" -gt 1000 ]"
	before=$(counter pinned_pages)
	in_server pkill -9 qemu-system
	LIMIT=30 await 20 sh -c "[ \"\$($TB run -- cat $(vgpu)/kvgpu/pinned_pages </dev/null)\" = 0 ]"
	after=$(counter pinned_pages)
	result "$([ "$before" -gt 1000 ] && [ "$after" = 0 ]; echo $?)" "QEMU killed in the middle of copies: no page stays pinned" \
		"$before before, $after after"
	$TB guest stop g1 >/dev/null 2>&1 </dev/null
}

unload()
{
	LIMIT=30 in_server sh -c 'for u in /sys/bus/mdev/devices/*; do [ ! -e "$u" ] || mdevctl stop --uuid "$(basename "$u")"; done
		rmmod kvgpu'
	result $? "vGPUs are removed and the module unloads"
	no_trouble "unload"
	LIMIT=60 in_server sh -c 'insmod /share/kvgpu.ko && mdevctl types | grep -q kvgpu-4g'
	result $? "and loads again"
}

vgpu_cell()
{
	kernel=$1 cell_name="kvgpu on $1"
	if server_up && guest_up; then
		stock_driver
		guest_program client /share/kvgpu-client $client_args all
		guest_program mesa sh /share/mesa.sh /share
		nothing_unlisted
		no_trouble "client and Mesa in a guest"
		reload
		killed
		guest_up && guest_program "client, after the kill" /share/kvgpu-client --quick copy
		$TB guest stop g1 >/dev/null 2>&1 </dev/null
		unload
		no_trouble "all of it"
		note "guest starts: $($TB guest stats </dev/null | head -n 1)"
	fi
	bed_down
}

build_programs || finish
for kernel in $kernels; do vgpu_cell "$kernel"; done
finish
