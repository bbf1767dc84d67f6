# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: kvgpu-card in a server with an IOMMU and two cards that nobody has POSTed, and that each reset un-POSTs. The
# tree is installed there as "make install" does. t1 is on the first card, t2 on the second.

LIVES_PROGRAM=vector_add

lives_server_up()
{
	local root
	if ! $TB up --driver none --kernel "$kernel" --cards 2 --iommu amd --mem 5G --cpus 3 --model-args --unposted \
		>"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "a server with an IOMMU and two cards boots"
		return 1
	fi
	result 0 "a server with an IOMMU and two cards boots"
	share_programs
	root=$share/lives
	rm -rf "$root"
	make -s "module-$kernel" top-server >"$OUT/make.log" 2>&1 && make -s install DESTDIR="$root" >>"$OUT/make.log" 2>&1 &&
		cp "$(make -s print-top-server)" "$root/usr/bin/kvgpu-top" &&
		install -D -m 644 "$(make -s print-kvgpu KERNEL="$kernel")" "$root/kvgpu.ko"
	result $? "make install" "$(tail -n 1 "$OUT/make.log")"
	selftests/cuda/stage.sh "$share" $LIVES_PROGRAM >"$OUT/cuda-stage.log" 2>&1 || note "no CUDA: $(tail -n 1 "$OUT/cuda-stage.log")"
	LIMIT=600 in_server sh -c 'd=/lib/modules/$(uname -r)/updates/dkms && mkdir -p $d && mv /share/lives/kvgpu.ko $d/ && cp -a /share/lives/. / &&
		depmod && kvgpu-firmware --quiet && udevadm control --reload && systemctl daemon-reload' \
		>"$OUT/install.log" 2>&1
	result $? "module, firmware, kvgpu-card and its unit are installed in it" "$(tail -n 1 "$OUT/install.log")"
}

lives_steps()
{
	mapfile -t card < <(in_server sh -c "lspci -Dn -d 10de: | cut -d' ' -f1")
	lives_listed
	lives_warm_up
	LIMIT=120 in_server /share/lives_state.sh >"$OUT/state.before"
	lives_ten
	LIMIT=120 in_server /share/lives_state.sh >"$OUT/state.after"
	state_kept 10
	result "$(grep -c '^gpu_files 0$' "$OUT/state.after" | grep -qx 1; echo $?)" "nobody has a file of a GPU open"
	lives_boot
	result "$(in_server sh -c '! dmesg | grep IO_PAGE_FAULT' >"$OUT/faults.log"; echo $?)" "the IOMMU saw no fault" "$(head -n 1 "$OUT/faults.log")"
	no_trouble "lives"
}

lives_listed()
{
	in_server kvgpu-card status --json >"$OUT/card.json"
	jq -e --arg a "${card[0]}" --arg b "${card[1]}" '.notes == [] and [.cards[].address] == [$a, $b] and all(.cards[]; .life == "none" and
		.iommu.group != null and .iommu.others == [])' "$OUT/card.json" >/dev/null
	result $? "status shows two cards without a driver, each alone in its IOMMU group" "$(head -c 300 "$OUT/card.json")"
	in_server kvgpu-card share 0000:7f:00.0 >"$OUT/card.log" 2>&1
	result "$([ $? = 2 ] && grep -q "there are: ${card[0]} (none), ${card[1]} (none)" "$OUT/card.log"; echo $?)" \
		"an address without a card lists those there are" "$(cat "$OUT/card.log")"
}

# card_gets N LIFE: one test: kvgpu-card gives the Nth card (from 1) that life, and only that card changes
card_gets()
{
	local at=${card[$1 - 1]} other=${card[2 - $1]} before began=$SECONDS driver
	case $2 in share) driver=kvgpu ;; whole) driver=vfio-pci ;; *) driver=nouveau ;; esac
	before=$(in_server readlink "/sys/bus/pci/devices/$other/driver")
	LIMIT=240 in_server kvgpu-card "$2" "$at" >"$OUT/card.log" 2>&1 &&
		[ "$(driver_of "$1")" = $driver ] &&
		[ "$(in_server readlink "/sys/bus/pci/devices/$other/driver")" = "$before" ]
	result $? "card $1: $2" "$((SECONDS - began)) s; $(tr "\n" " " <"$OUT/card.log")"
}

driver_of() { in_server sh -c "basename \$(readlink /sys/bus/pci/devices/${card[$1 - 1]}/driver)"; }

# whole_gone NAME N: the guest with the whole Nth card ends; one test: libvirt leaves the card with vfio-pci
whole_gone()
{
	guest_gone "$1"
	result "$([ "$(driver_of "$2")" = vfio-pci ]; echo $?)" "the guest has ended: card $2 is whole still"
}

# lives_refused N LIFE TEXT: one test: kvgpu-card refuses that, and says TEXT
lives_refused()
{
	in_server kvgpu-card "$2" "${card[$1 - 1]}" >"$OUT/card.log" 2>&1
	result "$([ $? = 1 ] && grep -q "$3" "$OUT/card.log"; echo $?)" "card $1: $2 is refused: $3" "$(tail -n 1 "$OUT/card.log")"
}

# guest_computes NAME TEXT: copies, kernels and, where the toolkit is, a CUDA program in the guest
guest_computes()
{
	check_client "in $1, $2" "$1" --quick copy compute
	[ -d "$share/cuda/programs" ] || return 0
	LIMIT=600 in_image "$1" /mnt/cuda/programs/run.sh /mnt/cuda/lib $LIVES_PROGRAM >"$OUT/lives-cuda.log" 2>&1
	relay "CUDA in $1, $2" $? <"$OUT/lives-cuda.log"
}

host_computes()
{
	LIMIT=300 in_server /share/kvgpu-client --quick copy compute >"$OUT/client-host.log" 2>/dev/null
	relay "client on the host's card" $? <"$OUT/client-host.log"
}

# lives_warm_up: each life once, so that modules are loaded and caches filled. Ends with card 1 shared, card 2 whole.
lives_warm_up()
{
	card_gets 1 share
	in_server dmesg | grep -q "kvgpu ${card[0]}: .*boot scripts"
	result $? "kvgpu has POSTed card 1"
	card_gets 2 share
	guest_up t1 512m@1 && guest_computes t1 "with a vGPU"
	lives_refused 1 whole "guest t1 (process [0-9]*) holds vGPU $(vgpu_of t1)"
	card_gets 2 host
	host_computes
	lives_held
	card_gets 2 whole
	guest_up t2 card@2 && guest_computes t2 "with the whole card"
	lives_refused 2 share "guest t2 (process [0-9]*) holds the card"
	whole_gone t2 2
	guest_gone t1
}

# lives_held: a program that has the host's card open keeps it
lives_held()
{
	in_server sh -c 'systemd-run -q --unit holder --collect sh -c "exec sleep 300 </dev/dri/renderD128"; sleep 1'
	lives_refused 2 share 'process sleep (process [0-9]*) holds the card'
	in_server systemctl stop holder
}

# the ten changes have each step from one life to another
lives_ten()
{
	card_gets 2 share
	guest_up t2 512m@2 && guest_computes t2 "after whole, with a vGPU"
	guest_gone t2
	card_gets 1 whole
	guest_up t1 card@1 && guest_computes t1 "after shared, with the whole card"
	whole_gone t1 1
	card_gets 1 host
	host_computes
	card_gets 2 host
	card_gets 2 whole
	guest_up t2 card@2 && guest_computes t2 "after the host, with the whole card"
	card_gets 1 share
	guest_up t1 512m@1 && guest_computes t1 "after the host, with a vGPU"
	guest_gone t2
	busy_begins t1 busy
	card_gets 2 share
	card_gets 2 host
	card_gets 2 share
	card_gets 2 whole
	all_busy_end
	busy_relayed "on card 1, while card 2 changes" t1
	guest_up t2 card@2 && guest_computes t2 "after all"
	whole_gone t2 2
	guest_gone t1
}

# lives_boot: what the unit does with cards that have no driver, as after a boot, and a vGPU that starts by itself
lives_boot()
{
	local uuid=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee01
	in_server mdevctl define --auto --uuid $uuid --parent "${card[0]}" --type kvgpu-512m
	result $? "a vGPU that starts by itself is defined"
	LIMIT=60 in_server sh -c "for at in ${card[*]}; do echo \$at >/sys/bus/pci/devices/\$at/driver/unbind; echo >/sys/bus/pci/devices/\$at/driver_override
		done; rmmod kvgpu" >"$OUT/boot.log" 2>&1
	result $? "both cards lose their drivers" "$(tail -n 1 "$OUT/boot.log")"
	LIMIT=300 in_server systemctl start kvgpu-card >"$OUT/boot.log" 2>&1
	result $? "the unit starts" "$(in_server journalctl -q -o cat -u kvgpu-card | tail -n 3 | tr "\n" " ")"
	in_server kvgpu-card status --json >"$OUT/card.json"
	jq -e '[.cards[] | [.life, .at_boot]] == [["shared", "shared"], ["whole", "whole"]]' "$OUT/card.json" >/dev/null
	result $? "both have the lives that were chosen" "$(head -c 300 "$OUT/card.json")"
	in_server test -e /sys/bus/mdev/devices/$uuid
	result $? "and the vGPU is there when the unit has ended"
	in_server sh -c "mdevctl stop --uuid $uuid && mdevctl undefine --uuid $uuid"
	result $? "it is stopped and undefined"
}
