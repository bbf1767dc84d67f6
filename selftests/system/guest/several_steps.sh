# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: tests several vGPUs of different types on one card.

# tests available_instances; no guest is needed for that
instances_steps()
{
	local log=$OUT/instances.log rc

	server_idle
	in_server /share/instances.sh "$mode" >"$log" 2>&1
	rc=$?
	relay instances $rc <"$log"
}

several_steps()
{
	local rc

	if [ "$mode" = long ]; then
		server_idle
		together t1:4g
		together t1:2g t2:1g t3:512m
		together t1:512m t2:512m t3:512m t4:512m
	else
		together $first:512m t2:1g
	fi
	in_server python3 /share/sysfs.py >"$OUT/clouds.log" 2>&1
	rc=$?
	relay "files that clouds read" $rc <"$OUT/clouds.log"
	no_trouble "several guests at once"
}

# together GUEST:TYPE...: starts these guests, and runs the client in all of them at the same time
together()
{
	local each rc name

	for each; do guest_there "${each%:*}" "${each#*:}" || return; done
	for each; do
		name=${each%:*}
		{ run_client "$name" --quick copy >"$OUT/together-$name.log" 2>"$OUT/together-$name.err"; echo $? >"$OUT/together-$name.rc"; } &
	done
	wait
	for each; do
		name=${each%:*} rc=$(cat "$OUT/together-$name.rc")
		sed "s/^\(ok\|not ok\) \([0-9]*\) - /&$name of ${*}: /" "$OUT/together-$name.log" >"$OUT/together.log"
		relay "client in $name of $*" "$rc" <"$OUT/together.log"
		end_of_guest "$rc" "$OUT/together-$name.err"
	done
	# in quick mode later parts use these guests
	[ "$mode" = long ] || return 0
	for each; do
		case $each in t*) guest_gone "${each%:*}" ;; esac
	done
}
