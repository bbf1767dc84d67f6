# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: guests reboot or are killed in the middle of copies, vGPUs are made and removed
# many times, the module is unloaded.

kill_steps()
{
	guest_there $first 512m || return
	in_server rmmod kvgpu 2>/dev/null
	result "$([ $? -ne 0 ]; echo $?)" "the module does not unload while a guest has a vGPU"
	killed_in_copies $first
	guest_gone $first
}

killed_in_copies()
{
	local before after
	copies_begin "$1"
	before=$(counter "$1" pinned_pages)
	in_server sh -c "kill -9 \$(cat /run/libvirt/qemu/$1.pid)"
	holds_none 60 "$1"
	after=$(counter "$1" pinned_pages)
	result "$([ "$before" -gt 1000 ] && [ "$after" = 0 ]; echo $?)" \
		"QEMU of $1 killed in the middle of copies: no page stays pinned" "$before before, $after after"
}

# ------------------------------------------------------------------ part reboot

reboot_steps()
{
	guest_there g2 1g --reboots || return
	check_client "before reboots" g2 --quick copy
	reboots_by "reboot -f in the guest, in the middle of copies" in_guest g2 reboot -f
	[ "$mode" = long ] || { guest_gone g2; return; }
	reboots_by "an orderly reboot in the guest" in_guest g2 systemctl reboot
	reboots_by "virsh reset" in_server virsh reset g2
	reboots_by "virsh reboot" in_server virsh reboot g2
	guest_gone g2
}

# reboots_by TEXT CMD...: CMD reboots g2 in the middle of copies. The guest has rebooted when its
# boot ID has changed.
reboots_by()
{
	local how=$1 id pinned
	shift
	id=$(in_guest g2 cat /proc/sys/kernel/random/boot_id)
	copies_begin g2
	pinned=$(counter g2 pinned_pages)
	LIMIT=20 "$@" >/dev/null 2>&1
	LIMIT=60 in_server /share/await_unpinned.sh "$(uuid_of g2)" 50 >"$OUT/unpinned.log" && [ "$pinned" -gt 100 ]
	result $? "$how: no page is pinned in between" "$pinned before, $(cat "$OUT/unpinned.log")"
	LIMIT=20 await 600 another_life g2 "$id"
	result $? "$how: the guest comes back and its nouveau makes renderD128"
	check_client "after $how" g2 --quick copy
}

another_life()
{
	local id
	id=$(in_guest "$1" cat /proc/sys/kernel/random/boot_id) && [ "$id" != "$2" ] &&
		in_guest "$1" test -e /dev/dri/renderD128
}

# ------------------------------------------------------------------ part cycles

# A first cycle fills the server's caches; after it, and after $cycles more, the server's state is
# taken and compared.
cycles_steps()
{
	local i

	server_idle
	one_cycle 512m || return
	server_state >"$OUT/state.before"
	for ((i = 1; i <= cycles; i++)); do
		case $((i % 4)) in
		0) one_cycle 4g ;; 1) one_cycle 512m ;; 2) one_cycle 1g ;; 3) one_cycle 2g ;;
		esac || break
	done
	server_state >"$OUT/state.after"
	state_kept $((i - 1))
	no_trouble "$((i - 1)) cycles"
}

one_cycle()
{
	guest_up t1 "$1" && killed_in_copies t1
	local rc=$?
	guest_gone t1
	return $rc
}

server_idle()
{
	local name
	for name in $($TB guest list </dev/null | cut -d' ' -f1); do guest_gone "$name"; done
}

server_state() { LIMIT=120 in_server /share/server_state.sh; }

# state_kept CYCLES: compares server_state before and after. Memory may grow a little, because the
# kernel keeps dead cgroups and the like for some time.
state_kept()
{
	local name before after

	while read -r name before after; do
		case $name in
		*_kib)
			result "$([ $((after - before)) -lt 4096 ]; echo $?)" "$1 cycles leave $name" "$before, then $after" ;;
		open_files)
			result "$([ $((after - before)) -lt 64 ]; echo $?)" "$1 cycles leave $name" "$before, then $after" ;;
		*)
			result "$([ "$after" = "$before" ]; echo $?)" "$1 cycles leave $name" "$before, then $after" ;;
		esac
	done < <(join <(sort "$OUT/state.before") <(sort "$OUT/state.after"))
	result "$([ "$(grep -c . "$OUT/state.before")" -ge 11 ]; echo $?)" "the server's state was read"
}

# ------------------------------------------------------------------ part unload

unload_steps()
{
	server_idle
	LIMIT=30 in_server sh -c 'for u in /sys/bus/mdev/devices/*; do [ ! -e "$u" ] || mdevctl stop --uuid "$(basename "$u")"; done
		rmmod kvgpu'
	result $? "vGPUs are removed and the module unloads"
	no_trouble "unload"
	LIMIT=60 in_server sh -c 'insmod /share/kvgpu.ko && mdevctl types | grep -q kvgpu-4g'
	result $? "and loads again"
}
