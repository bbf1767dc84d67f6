# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: a server with two cards. t1 has a vGPU of each card, t2 of the second, t3 of the
# first. Faults of the second card must not disturb work on the first.

CARDS_PROGRAMS=(multi_gpu topology peer_copies vector_add)

cards_steps()
{
	mapfile -t card < <(in_server sh -c "lspci -Dn -d 10de: | cut -d' ' -f1")
	cards_listed
	guest_there t1 512m@1,512m@2 && guest_there t2 512m@2 && guest_there t3 512m@1 || return
	cards_shown
	cards_programs
	cards_hang
	cards_lost
	guest_gone t1
	guest_gone t3
	cards_reload
	cards_native
	no_trouble "two cards"
}

card_knob_of() { in_server cat "/sys/bus/pci/devices/${card[$1]}/kvgpu/$2"; }
vgpu_of() { testbed/inside/guest-device uuid "$1" "${2:-1}"; }
counter_of() { in_server cat "/sys/bus/mdev/devices/$(vgpu_of "$1" "$2")/kvgpu/$3"; }

cards_listed()
{
	local n uuid
	result "$([ ${#card[@]} = 2 ]; echo $?)" "the server has two cards" "${card[*]}"
	for n in 0 1; do
		uuid=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee0$n
		in_server sh -c "mdevctl types --parent ${card[n]} | grep -q kvgpu-4g &&
			mdevctl define --uuid $uuid --parent ${card[n]} --type kvgpu-4g && mdevctl start --uuid $uuid &&
			mdevctl list --defined | grep -q '$uuid ${card[n]} kvgpu-4g' &&
			[ \$(basename \$(dirname \$(readlink -f /sys/bus/mdev/devices/$uuid))) = ${card[n]} ]" >"$OUT/cards.log" 2>&1
		result $? "mdevctl defines and starts a vGPU on card $((n + 1))" "$(tail -n 1 "$OUT/cards.log")"
	done
	in_server sh -c "cat /sys/bus/pci/drivers/kvgpu/*:*/mdev_supported_types/kvgpu-4g/available_instances | xargs" >"$OUT/cards.log"
	result "$(grep -qx '0 0' "$OUT/cards.log"; echo $?)" "each card is full then" "$(cat "$OUT/cards.log")"
	for n in 0 1; do
		uuid=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee0$n
		in_server sh -c "mdevctl stop --uuid $uuid && mdevctl undefine --uuid $uuid"
		result $? "and is stopped and undefined on card $((n + 1))"
	done
}

# cards_shown: one test: kvgpu-top --json lists each vGPU below its card
cards_shown()
{
	local said=$OUT/cards-top.json
	in_server kvgpu-top --json --once >"$said"
	python3 - "$said" "${card[0]}" "$(vgpu_of t1 1) $(vgpu_of t3)" "${card[1]}" "$(vgpu_of t1 2) $(vgpu_of t2)" <<-'EOT'
	import json, sys
	gpus = {g["address"]: {v["uuid"] for v in g["vgpus"]} for g in json.load(open(sys.argv[1]))["gpus"]}
	want = {sys.argv[i]: set(sys.argv[i + 1].split()) for i in (2, 4)}
	sys.exit(gpus != want)
	EOT
	result $? "kvgpu-top shows each vGPU below its card" "$(head -c 300 "$said")"
}

cards_programs()
{
	if ! selftests/cuda/stage.sh "$share" "${CARDS_PROGRAMS[@]}" >"$OUT/cuda-stage.log" 2>&1; then
		result 0 "CUDA programs on two cards" "SKIP $(tail -n 1 "$OUT/cuda-stage.log")"
		return
	fi
	LIMIT=600 in_image t1 /mnt/cuda/programs/run.sh /mnt/cuda/lib "${CARDS_PROGRAMS[@]}" >"$OUT/cards-programs.log" 2>&1
	relay "CUDA in t1, on a vGPU of each card" $? <"$OUT/cards-programs.log"
	result "$(grep -c 'on 2 GPUs\|2 GPUs, 0 answers\|2 of 2 GPUs' "$OUT/cards-programs.log" | grep -qx 3; echo $?)" \
		"they saw two GPUs"
}

# an endless kernel hangs the second card while t3 copies on the first
cards_hang()
{
	local resets
	resets=$(card_knob_of 0 engine_resets)
	busy_begins t3 busy
	check_client "in t2, on the second card" t2 endless
	all_busy_end
	busy_relayed "on the first card meanwhile" t3
	check_client "in t2 after the hang" t2 --quick copy
	result "$([ "$(card_knob_of 1 engine_resets)" -gt 0 ]; echo $?)" "an engine of the second card was reset"
	result "$([ "$(card_knob_of 0 engine_resets)" = "$resets" ]; echo $?)" "none of the first card was"
	result "$([ "$(counter_of t3 1 strikes)" = 0 ] && [ "$(counter_of t1 2 strikes)" = 0 ]; echo $?)" "nobody else has a strike"
}

# The second card is lost from the bus: its memory decoding is switched off. The first card must go
# on. After decoding is on and kvgpu bound again, the second card works.
cards_lost()
{
	local at=${card[1]} before
	before=$(in_server setpci -s "$at" COMMAND)
	busy_begins t3 busy
	(LIMIT=60 run_client t2 --quick copy >/dev/null 2>&1 &)
	sleep 2
	in_server setpci -s "$at" COMMAND=0000
	LIMIT=90 run_client t2 --quick copy >"$OUT/cards-lost.log" 2>/dev/null
	result "$([ $? -ne 0 ]; echo $?)" "nothing runs on a card that does not answer" "$(grep -m 1 'Bail out\|^not ok' "$OUT/cards-lost.log")"
	await 60 in_server sh -c "dmesg | grep -q 'kvgpu $at: .*the card was cut off'"
	result $? "the second card is cut off"
	symptom_of 'the card was cut off' dmesg
	sleep 3
	result "$([ "$(counter t3 strikes)" = 0 ] && [ "$(counter t3 faults)" = 0 ]; echo $?)" "t3 has neither strikes nor faults"
	all_busy_end
	busy_relayed "on the first card, beside one that was lost" t3
	guest_gone t2
	guest_gone t1
	LIMIT=120 in_server sh -c "echo $at >/sys/bus/pci/drivers/kvgpu/unbind && setpci -s $at COMMAND=$before &&
		echo $at >/sys/bus/pci/drivers/kvgpu/bind" >"$OUT/cards-back.log" 2>&1
	result $? "the driver lets go of it, and takes it again when it answers" "$(tail -n 1 "$OUT/cards-back.log")"
	guest_there t2 512m@2 || return
	check_client "in t2, on the card that was lost" t2 --quick copy
	guest_gone t2
}

cards_reload()
{
	server_idle
	LIMIT=60 in_server rmmod kvgpu
	result $? "the module lets go of both cards"
	LIMIT=120 in_server sh -c 'insmod /share/kvgpu.ko && [ "$(mdevctl types | grep -c kvgpu-4g)" = 2 ]'
	result $? "and takes both again"
}

# the server's own nouveau drives both cards, and the same programs run on it
cards_native()
{
	LIMIT=120 in_server sh -c 'rmmod kvgpu && modprobe nouveau && udevadm settle && [ -e /dev/dri/renderD129 ]'
	result $? "nouveau takes both cards after the module"
	[ -d "$share/cuda/programs" ] || return 0
	LIMIT=600 in_server /share/cuda/programs/run.sh /share/cuda/lib "${CARDS_PROGRAMS[@]}" >"$OUT/cards-native.log" 2>&1
	relay "CUDA natively, on both cards" $? <"$OUT/cards-native.log"
	result "$(grep -c 'on 2 GPUs\|2 GPUs, 0 answers\|2 of 2 GPUs' "$OUT/cards-native.log" | grep -qx 3; echo $?)" "they saw two GPUs"
}
