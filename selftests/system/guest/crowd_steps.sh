# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: many guests run the verifying copy client at the same time, while vGPUs are
# made and removed beside them.

# memory of each guest
CROWD_MEM=320M
# crowd_life() is begun if more seconds than this are left
CROWD_LIFE_S=60

crowd_steps()
{
	local many
	crowd_seconds=${CROWD_SECONDS:-600}
	server_idle
	server_state >"$OUT/crowd.before"
	if [ "$mode" = long ]; then
		for many in ${CROWD_OF:-2 4 7 8}; do
			case $many in
			2) crowd lives t1:512m t2:1g ;;
			4) crowd lives t1:512m t2:1g t3:512m t4:1g ;;
			7) crowd lives t1:512m t2:512m t3:512m t4:512m t5:512m t6:512m t7:512m ;;
			8) crowd refusals t1:512m t2:512m t3:512m t4:512m t5:512m t6:512m t7:512m t8:512m ;;
			*) result 1 "a crowd of $many" "there are 2, 4, 7 and 8" ;;
			esac
		done
	else
		crowd_seconds=${CROWD_SECONDS:-20}
		crowd refusals t1:512m t2:1g
	fi
	server_idle
	server_state >"$OUT/crowd.after"
	crowd_left
	no_trouble "crowds"
}

# crowd lives|refusals GUEST:TYPE...: these guests copy for crowd_seconds. Meanwhile vGPUs are made
# and removed; with "lives" one more guest also boots and is killed, again and again.
crowd()
{
	local beside=$1 each name end none=''
	local -A had=()
	shift
	crowd_names=()
	crowd_of "$@" || return
	for each; do
		name=${each%:*}
		crowd_names+=("$name")
		had[$name]=$(gpu_time "$name")
		{
			LIMIT=$((crowd_seconds * 3 / 2 + 400)) run_client "$name" --quick --seconds "$crowd_seconds" --seed $RANDOM \
				copy >"$OUT/crowd-$name.log" 2>/dev/null
			echo $? >"$OUT/crowd-$name.rc"
		} &
	done
	sample_shares "$OUT/crowd.samples" $((crowd_seconds / 10 + 1)) 10 "${crowd_names[@]}" &
	end=$((SECONDS + crowd_seconds))
	while [ $SECONDS -lt $end ]; do
		vgpus_come_and_go "$beside" $((end - SECONDS))
		if [ "$beside" = lives ] && [ $((end - SECONDS)) -gt $CROWD_LIFE_S ]; then
			crowd_life || break
		fi
	done
	wait
	for each; do
		name=${each%:*}
		sed "s/^\(ok\|not ok\) \([0-9]*\) - /&$name of ${*}: /" "$OUT/crowd-$name.log" >"$OUT/crowd.log"
		relay "client in $name of $*" "$(cat "$OUT/crowd-$name.rc")" <"$OUT/crowd.log"
	done
	for name in "${crowd_names[@]}"; do
		[ "$(gpu_time "$name")" -gt "${had[$name]}" ] || none+=" $name"
	done
	result "$([ -z "$none" ]; echo $?)" "each of $* had the GPU" "$none"
	shares_said "none of $* was without the GPU for over a minute" "$OUT/crowd.samples" "${crowd_names[@]}"
	no_trouble "$# guests, ${crowd_seconds} s"
}

# crowd_of GUEST:TYPE...: starts and stops guests so that exactly these are up
crowd_of()
{
	local each name
	for name in $($TB guest list </dev/null | cut -d' ' -f1); do
		case " $* " in
		*" $name:$(type_of "$name") "*) ;;
		*) guest_gone "$name" ;;
		esac
	done
	for each; do guest_there "${each%:*}" "${each#*:}" --mem $CROWD_MEM || return; done
}

type_of() { in_server sh -c "basename \$(readlink /sys/bus/mdev/devices/$(uuid_of "$1")/mdev_type)" 2>/dev/null | sed 's/.*kvgpu-//'; }

# vgpus_come_and_go lives|refusals SECONDS: one test: inside/comings.sh for SECONDS, or for less
vgpus_come_and_go()
{
	local said most=60
	[ "$1" = refusals ] || most=15
	said=$(LIMIT=200 in_server /share/comings.sh $(($2 < most ? $2 : most)) 2>&1)
	result $? "beside ${#crowd_names[@]} guests vGPUs are made and removed, one more than fits is refused" "$said"
}

# crowd_life: one more guest boots, copies and is killed
crowd_life()
{
	local rc
	guest_up t9 512m --mem $CROWD_MEM && crowd_killed t9
	rc=$?
	guest_gone t9
	return $rc
}

# crowd_killed NAME: as killed_in_copies(), with more time for the copies to begin
crowd_killed()
{
	local before after
	(LIMIT=400 run_client "$1" --quick --seconds 400 copy >/dev/null 2>&1 &)
	holds_pages 200 "$1"
	before=$(counter "$1" pinned_pages)
	in_server sh -c "kill -9 \$(cat /run/libvirt/qemu/$1.pid)"
	holds_none 60 "$1"
	after=$(counter "$1" pinned_pages)
	result "$([ "$before" -gt 1000 ] && [ "$after" = 0 ]; echo $?)" \
		"QEMU of $1 killed beside ${#crowd_names[@]} busy guests: no page stays pinned" "$before before, $after after"
}

# crowd_left: these numbers of the server's state are what they were before the crowds
crowd_left()
{
	local name before after
	while read -r name before after; do
		case $name in
		pages_pinned | module_users | mdev_devices | iommu_groups | available_*)
			result "$([ "$after" = "$before" ]; echo $?)" "crowds leave $name" "$before, then $after" ;;
		esac
	done < <(join <(sort "$OUT/crowd.before") <(sort "$OUT/crowd.after"))
}
