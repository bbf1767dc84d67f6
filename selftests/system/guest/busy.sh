# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: guests that keep the GPU at work, and whether each gets some of it.

BUSY_AT_MOST_S=3600	# all_busy_end() ends them; one that runs as long as this hangs

# sample_shares FILE SAMPLES SECONDS GUEST...: writes the output of inside/shares.sh to FILE
sample_shares()
{
	local file=$1
	shift
	LIMIT=$(($1 * $2 + 60)) in_server /share/shares.sh "$@" >"$file" 2>"$file.err"
}

# shares_said TEXT ARGUMENT...: one test: shares.py ARGUMENT... succeeds; its output is shown
shares_said()
{
	local text=$1 said
	shift
	said=$(PYTHONDONTWRITEBYTECODE=1 selftests/system/guest/shares.py "$@" 2>&1)
	result $? "$text" "$(printf '%s' "$said" | tr '\n' ' ')"
}

# all_go_on TEXT GUEST...: one test: each of the guests gets more of the GPU than it has had by now
all_go_on()
{
	local text=$1 name bad=''
	shift
	for name; do
		await_gpu_time 90 "$name" "$(gpu_time "$name")" || bad+=" $name"
	done
	result "$([ -z "$bad" ]; echo $?)" "$text" "${bad:+nothing more for$bad}"
}

card_knob() { in_server sh -c "cat /sys/bus/pci/drivers/kvgpu/*:*/kvgpu/$1"; }

# busy_begins GUEST SUBTEST: starts kvgpu-client's SUBTEST in the guest, to be ended by
# all_busy_end(); waits until the GPU has worked 20 ms for the guest, false after 90 s
busy_begins()
{
	local had stop=/share/stop
	[[ $1 != t* ]] || stop=/mnt/stop
	rm -f "$share/stop"
	{
		LIMIT=$((BUSY_AT_MOST_S + 60)) run_client "$1" --seconds $BUSY_AT_MOST_S --until $stop "$2" \
			>"$OUT/share-$1.log" 2>/dev/null
		echo $? >"$OUT/share-$1.rc"
	} &
	had=$(gpu_time "$1")
	await_gpu_time 90 "$1" $((had + 20000000))
}

all_busy_end()
{
	: >"$share/stop"
	wait
	rm -f "$share/stop"
}

# busy_relayed TEXT GUEST: adds the results of the guest's SUBTEST, after all_busy_end(), to this
# suite's
busy_relayed()
{
	sed "s/^\(ok\|not ok\) \([0-9]*\) - /&$1: $2: /; /^# progress/d" "$OUT/share-$2.log" >"$OUT/share.log"
	relay "$1: client in $2" "$(cat "$OUT/share-$2.rc")" <"$OUT/share.log"
}
