# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh: makes what the table of docs/admin.md shows, in the server of part lives, and looks for the page's own lines where
# the page says that they are seen. "..." of the page stands for anything.

# TEST WORDS: the line of the page with these words is made by that test, which looks for them
SYMPTOMS_ELSEWHERE='selftests/system/guest/lives_steps.sh holds vGPU
selftests/system/guest/lives_steps.sh there are:
selftests/system/install/apt.sh is not the installed one
selftests/system/install/inside/apt.sh has no nouveau.ko
selftests/system/install/inside/admin.sh /etc/kvgpu/profile.conf
selftests/module/tools/card_test.py the IOMMU is off
selftests/module/tools/card_test.py is in IOMMU group
selftests/module/tools/card_test.py not installed for this kernel
selftests/module/tools/card_test.py is not enrolled
selftests/module/tools/profile_test.sh offers
selftests/module/monitoring/alerts_test.yml hung, and its work was ended
selftests/module/monitoring/alerts_test.yml is dead for its vGPUs
selftests/module/monitoring/alerts_test.yml less than its share
selftests/module/monitoring/alerts_test.yml degrees
selftests/module/monitoring/alerts_test.yml has no room for another vGPU
selftests/module/monitoring/alerts_test.yml have another build than its kvgpu-remoted
selftests/module/monitoring/alerts_test.yml No firmware for the GPUs under kernel'

symptoms_steps()
{
	mapfile -t card < <(in_server sh -c "lspci -Dn -d 10de: | cut -d' ' -f1")
	symptoms_named
	symptoms_unshared
	card_gets 1 share
	guest_up t1 512m@1 && guest_up t2 512m@1 || return
	symptoms_full
	symptoms_virsh
	symptoms_hang
	symptoms_plug
	symptoms_room
	no_trouble "symptoms"
}

# page_lines: prints the lines that the page's table quotes
page_lines() { sed -n '/^## What breaks/,/^## Upgrade/s/^| [^|]* | `\([^`]*\)` |.*/\1/p' docs/admin.md; }

# symptom_in WORDS FILE: one test: FILE has the one line of the page that has these words
symptom_in()
{
	local line
	line=$(page_lines | grep -F -- "$1")
	[ "$(grep -c . <<<"$line")" = 1 ] && grep -q -- "$(sed 's/[][\.*^$]/\\&/g; s/\\\.\\\.\\\./.*/g' <<<"$line")" "$2"
	result $? "as docs/admin.md has it: ${line:-no line with "$1"}" "$(tail -n 1 "$2")"
}

# symptom_of WORDS CMD...: one test: CMD in the server prints that line
symptom_of()
{
	in_server "${@:2}" >"$OUT/symptom.log" 2>&1
	symptom_in "$1" "$OUT/symptom.log"
}

# symptoms_named: one test: each line of the page is made by a part of this suite, or by a test of SYMPTOMS_ELSEWHERE
symptoms_named()
{
	local line test words made bad=''
	made=$(sed -n "s/.*symptom_\(in\|of\) '\([^']*\)'.*/\2/p" selftests/system/guest/*_steps.sh)
	while IFS= read -r line; do
		while IFS= read -r words; do [[ $line != *"$words"* ]] || continue 2; done <<<"$made"
		while read -r test words; do
			[[ $line != *"$words"* ]] || ! grep -qF -- "$words" "$test" || continue 2
		done <<<"$SYMPTOMS_ELSEWHERE"
		bad+="$line; "
	done < <(page_lines)
	result "$([ -z "$bad" ] && [ "$(page_lines | wc -l)" -gt 30 ]; echo $?)" "each line of docs/admin.md has a test" "$bad"
}

# the host has the card, and then the firmware is away
symptoms_unshared()
{
	card_gets 1 host
	symptom_of 'no GPU is held' kvgpu-top --once
	symptom_of 'Unable to find parent' mdevctl start --uuid "$uuid" --parent "${card[0]}" --type kvgpu-512m
	in_server mv /lib/firmware/kvgpu/gk110.fw /root/
	symptom_of 'does not take the card' kvgpu-card share "${card[0]}"
	symptom_of 'no firmware file' dmesg
	symptom_of 'bring-up failed' dmesg
	in_server mv /root/gk110.fw /lib/firmware/kvgpu/
}

symptoms_full()
{
	local second=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee02
	in_server mdevctl start --uuid "$uuid" --parent "${card[0]}" --type kvgpu-2g
	result $? "a 2g fits beside two 512m"
	symptom_of 'No available instances' mdevctl start --uuid $second --parent "${card[0]}" --type kvgpu-2g
	symptom_of 'no room on the card' sh -c "echo $second >/sys/class/mdev_bus/${card[0]}/mdev_supported_types/kvgpu-2g/create; dmesg"
	in_server mdevctl stop --uuid "$uuid"
	symptom_of 'no: room for' kvgpu-top --plan 512m=99
}

# domain.xml without what the server lacks; the domain does not start
symptoms_virsh()
{
	symptom_of 'not found' sh -c "sed '/<disk/,/<\/disk>/d; /<interface/,/<\/interface>/d' /share/libvirt-xml/domain.xml >/tmp/domain.xml
		virsh create /tmp/domain.xml"
	symptom_of 'in use by driver' sh -c "sed -i s/$uuid/$(uuid_of t1)/ /tmp/domain.xml; virsh create /tmp/domain.xml"
	symptom_of 'Module kvgpu' modprobe -r kvgpu
}

symptoms_hang()
{
	in_guest t1 dmesg -c >/dev/null
	busy_begins t2 busy
	check_client "in t1, beside a stream" t1 endless
	all_busy_end
	busy_relayed "beside a guest that hung the GPU" t2
	await 60 in_guest t1 sh -c "dmesg | grep -q '$CHANNEL_KILLED'"
	in_guest t1 dmesg >"$OUT/symptom.log"
	symptom_in 'killed!' "$OUT/symptom.log"
}

# t1's port has room for the 512m that it was started with. The vGPU of hostdev.xml stays, for symptoms_room().
symptoms_plug()
{
	plug_guest=t1
	unplugged "mdevctl stop" stop t1 "$(uuid_of t1)"
	symptom_of 'is to be removed' dmesg
	in_server sh -c "mdevctl start --uuid $uuid --parent ${card[0]} --type kvgpu-2g && virsh -q attach-device t1 $xml/hostdev.xml --live"
	result $? "a 2g is plugged into t1"
	await 200 in_guest t1 sh -c "dmesg | grep -q 'one-time init failed'"
	in_guest t1 dmesg >"$OUT/symptom.log"
	symptom_in 'one-time init' "$OUT/symptom.log"
	guest_gone t1
	guest_gone t2
}

# symptoms_room: numa.xml, without what the server lacks and without a vGPU, has room for one: the firmware, which is all that runs in
# it, gives a port the 256 MiB
symptoms_room()
{
	in_server sh -c "echo 300 >/proc/sys/vm/nr_hugepages
		sed '/<disk/,/<\/disk>/d; /<interface/,/<\/interface>/d; /<hostdev/,/<\/hostdev>/d; s/<memory unit=.GiB.>4/<memory unit=\"MiB\">512/
			s/ cpuset=.0-7.//' $xml/numa.xml >/tmp/numa.xml && virsh -q create /tmp/numa.xml" >"$OUT/symptom.log" 2>&1
	result $? "numa.xml starts without a vGPU, in huge pages" "$(head -n 1 "$OUT/symptom.log")"
	await 120 port_has_room
	result $? "a root port of it has 256 MiB" "$(grep -m 1 prefetchable "$OUT/room.log")"
	in_server virsh -q attach-device kvgpu-numa "$xml/hostdev.xml" --live >"$OUT/symptom.log" 2>&1
	result $? "and virsh plugs a vGPU into it" "$(head -n 1 "$OUT/symptom.log")"
	in_server sh -c "virsh -q destroy kvgpu-numa; mdevctl stop --uuid $uuid; echo 0 >/proc/sys/vm/nr_hugepages"
}

port_has_room()
{
	local first last
	in_server virsh qemu-monitor-command --hmp kvgpu-numa 'info pci' >"$OUT/room.log"
	while read -r first last; do
		[ $((last - first + 1)) -lt $((256 << 20)) ] || return 0
	done < <(tr -d '\r' <"$OUT/room.log" | sed -n 's/.*prefetchable memory range \[\(0x[0-9a-f]*\), \(0x[0-9a-f]*\)\].*/\1 \2/p')
	return 1
}
