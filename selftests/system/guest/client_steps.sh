# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: the programs of selftests/model/native in a guest

client_steps()
{
	local shared
	shared=$(shared_in $first)
	guest_there $first 512m || return
	stock_driver
	guest_log load nouveau
	in_image $first dmesg -C
	# shellcheck disable=SC2086
	LIMIT=3600 guest_program client "$shared/kvgpu-client" $client_args all
	guest_log client-fault
	in_image $first dmesg -C
	guest_program mesa sh "$shared/mesa.sh" "$shared"
	guest_log mesa
	nothing_unlisted
	no_trouble "client and Mesa in a guest"
}

# guest_log PHASE [WORD]: one test: the guest's kernel log has no complaint (in lines with WORD) but
# those that dmesg-allow.list of selftests/model/native allows in that phase
guest_log()
{
	local bad
	bad=$(in_image $first sh "$(shared_in $first)/complaints.sh" | grep -e "${2-}" |
		selftests/model/native/dmesg-filter.sh "$1" selftests/model/native/dmesg-allow.list)
	[ -z "$bad" ] || printf '%s\n' "$bad" | head -n 40 | sed 's/^/# guest: /'
	result "$([ -z "$bad" ]; echo $?)" "the guest's kernel says nothing that it would not say natively: $1" "$(grep -c . <<<"$bad") lines"
}

stock_driver()
{
	local in_guest_sum in_package_sum ko=kernel/drivers/gpu/drm/nouveau/nouveau.ko
	in_guest_sum=$(in_image $first sh -c "sha256sum /lib/modules/\$(uname -r)/$ko*" | cut -d' ' -f1)
	in_package_sum=$(in_server sh -c "sha256sum /lib/modules/$(in_guest $first uname -r)/$ko*" | cut -d' ' -f1)
	result "$([ -n "$in_guest_sum" ] && [ "$in_guest_sum" = "$in_package_sum" ]; echo $?)" \
		"nouveau in the guest is the distribution's file"
}

guest_program()
{
	local name=$1 log=$OUT/guest-program.log rc
	shift
	in_image $first "$@" >"$log" 2>/dev/null
	rc=$?
	relay "$name" $rc <"$log"
}

nothing_unlisted()
{
	local n
	n=$(counter $first registers_unlisted)
	result "$([ "$n" = 0 ]; echo $?)" "no register access outside of the tables" "$n"
	n=$(counter $first doorbells_trapped)
	result "$([ "$n" = 0 ]; echo $?)" "no doorbell was trapped" "$n"
}

reload_steps()
{
	local i
	guest_there $first 512m || return
	for ((i = 1; i <= reloads; i++)); do
		in_image $first sh -c 'modprobe -r nouveau && modprobe nouveau && test -e /dev/dri/renderD128' || break
	done
	result "$([ $i -gt $reloads ]; echo $?)" "nouveau in the guest unloads and loads $reloads times"
	check_client "after $reloads reloads" $first --quick copy
}
