# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: t1 hangs the GPU while t2 copies. docs/sharing.md says what kvgpu must do then.

HANG_TRACE=/sys/kernel/tracing/instances/hang
CHANNEL_KILLED='nouveau.*channel.* killed'

hang_steps()
{
	guest_there t1 512m && guest_there t2 512m || return
	hang_endless
	hang_used_again
	hang_suspended
	guest_gone t1
	guest_gone t2
	no_trouble "guests that hang the GPU"
}

# reset_steps: t1 hangs the graphics engine while another channel of it waits for that engine. Only
# the channel that hangs may be ended.
reset_steps()
{
	local type=512m

	# in quick mode part plug uses t2 later, and needs type 1g
	[ "$mode" = long ] || type=1g
	guest_there t1 512m && guest_there t2 $type || return
	busy_begins t2 busy
	check_client "in t1, with another channel waiting" t1 endless
	all_busy_end
	busy_relayed "beside a guest that hung the GPU" t2
	check_client "in t1 after the hang" t1 --quick copy compute
	result "$([ "$(counter t2 strikes)" = 0 ] && [ "$(counter t2 faults)" = 0 ]; echo $?)" "t2 has neither strikes nor faults"
	[ "$mode" = quick ] || { guest_gone t1; guest_gone t2; }
	no_trouble "an engine that others want is reset"
}

# -------------------------------------------------------------- part hang: a kernel that never ends

hang_endless()
{
	local strikes resets
	strikes=$(counter t1 strikes) resets=$(card_knob engine_resets)
	hang_trace_begins
	in_guest t1 dmesg -c >/dev/null
	busy_begins t2 busy
	result $? "a stream in t2 is at work"
	sleep 3
	check_client "in t1, beside a stream" t1 endless
	result "$([ "$(counter t1 strikes)" = $((strikes + 1)) ]; echo $?)" "t1 has a strike" "$strikes, then $(counter t1 strikes)"
	result "$([ "$(card_knob engine_resets)" -gt "$resets" ]; echo $?)" "an engine was reset" "$resets, then $(card_knob engine_resets)"
	hang_trace_says
	hang_told endless
	await_counter 60 t1 runnable '= 0'
	result $? "t1 has no work any more"
	all_go_on "after the hang t2 has the GPU" t2
	all_busy_end
	busy_relayed "beside a guest that hung the GPU" t2
	result "$([ "$(counter t2 strikes)" = 0 ] && [ "$(counter t2 faults)" = 0 ]; echo $?)" "t2 has neither strikes nor faults"
}

hang_trace_begins()
{
	in_server sh -c "mkdir -p $HANG_TRACE && : >$HANG_TRACE/trace &&
		for e in kvgpu_hang kvgpu_strike kvgpu_fault; do echo 1 >$HANG_TRACE/events/kvgpu/\$e/enable || exit 1; done"
}

# hang_trace_says: the trace has, in this order, a look of the watchdog at the hang, the recovery,
# and the vGPU's strike
hang_trace_says()
{
	local said
	in_server sh -c "grep -v '^#' $HANG_TRACE/trace" >"$OUT/hang.trace"
	said=$(sed -n 's/.*: kvgpu_\(hang\|strike\): \(.*\)/\1 \2;/p' "$OUT/hang.trace" | tr '\n' ' ')
	[[ $said == *look*recover*strike* ]]
	result $? "the trace tells of a look, a recovery and a strike" "$said"
}

# hang_told WHAT: the guest's nouveau reports a killed channel, and the guest's kernel logs no Oops,
# warning or the like
hang_told()
{
	local log=$OUT/hang-$1.dmesg killed bad
	await 60 in_guest t1 sh -c "dmesg | grep -q '$CHANNEL_KILLED'"
	in_guest t1 dmesg >"$log"
	killed=$(grep -c "$CHANNEL_KILLED" "$log")
	bad=$(grep -E 'divide error|Oops|BUG:|WARNING:|Call Trace|general protection|hung_task|blocked for more' "$log" | head -n 3)
	result "$([ "$killed" -gt 0 ]; echo $?)" "$1: nouveau in t1 reports a killed channel" \
		"$(grep -m 1 'nouveau.*killed' "$log" | sed 's/^[^]]*\] //')"
	result "$([ -z "$bad" ]; echo $?)" "$1: nothing of t1's kernel breaks" "$bad"
	[ -z "$bad" ] || tail -n 60 "$log" | sed 's/^/# t1: /'
}

hang_used_again()
{
	check_client "in t1 after the hang" t1 --quick copy compute
	hang_reload
	check_client "in t1 after its driver was loaded again" t1 --quick copy compute
}

hang_reload()
{
	LIMIT=120 in_guest t1 chroot /image sh -c 'modprobe -r nouveau && modprobe nouveau && test -e /dev/dri/renderD128'
	result $? "nouveau in t1 unloads and loads"
}

# --------------------------------------------- part hang: a copy engine that hangs again and again

# "kvgpu-tenants mute" keeps the card's copy engines from signalling that they wait for an
# acknowledge, so that a copy that asks for an acknowledge hangs them. t1 has used no graphics
# object since its driver was loaded: a lost channel must be reported on an engine that this driver
# can reset.
hang_suspended()
{
	local mute
	hang_reload
	in_guest t1 dmesg -c >/dev/null
	busy_begins t2 busy
	(LIMIT=630 in_server /share/kvgpu-tenants mute 600 >"$OUT/mute.log" 2>&1) &
	mute=$!
	LIMIT=600 check_client "in t1, again and again" t1 halt
	result "$([ "$(counter t1 suspended)" = 1 ]; echo $?)" "t1 is suspended after it hung a copy engine again and again" \
		"$(counter t1 strikes) strikes"
	symptom_of 'suspended after' dmesg
	in_server killall kvgpu-tenants
	wait $mute
	hang_told halt
	LIMIT=120 run_client t1 --quick copy >"$OUT/suspended.log" 2>/dev/null
	result "$([ $? -ne 0 ]; echo $?)" "nothing of a suspended guest runs" "$(grep -m 1 'Bail out' "$OUT/suspended.log")"
	hang_reload
	result "$([ "$(counter t1 suspended)" = 0 ]; echo $?)" "that lifts the suspension"
	check_client "in t1 after its suspension" t1 --quick copy compute
	all_busy_end
	busy_relayed "beside a guest that is suspended" t2
	result "$([ "$(counter t2 strikes)" = 0 ]; echo $?)" "t2 has no strike"
}
