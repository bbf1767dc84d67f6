# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run.sh, whose functions and variables it uses. volume [KIND...]: one guest attacks, in numbers, beside seven that verify
# their data all the time.
#
# A batch is one guest with a seed of its own: it counts what it did. Batches are done until the minimum of their kind is reached, or
# VOLUME_SECONDS are over; what was done and ended well is kept for the same module and the same guest, so that the next run goes
# on (AGAIN=1: it begins anew). Nothing of a run counts in which anything was wrong.

NEIGHBOURS=7
VOLUME_SECONDS=${VOLUME_SECONDS:-1500}
declare -A volume_min=([registers]=1000000 [runlists]=100000 [blocks]=100000 [invalidates]=100000 [bells]=50000000)
declare -A volume_tests=([registers]=registers [runlists]=runlists [blocks]=blocks [invalidates]=invalidates [bells]="doorbells rings")
declare -A volume_ops=([registers]=20000 [runlists]=40000 [blocks]=60000 [invalidates]=40000 [bells]=50000)
# by kind of attack: the names of a guest's counts that belong to it
declare -A volume_counts=([registers]=registers [runlists]=runlists [blocks]=blocks [invalidates]=invalidates [bells]="doorbells ring-entries")

neighbour_id() { printf '6b766770-0000-4000-8000-0000000001%02d\n' "$1"; }

# kept KIND COUNT: the sum of that count in all runs with this module and this guest
kept() { awk -v k="$1" -v c="$2" '$3 == k && $4 == c { s += $5 } END { printf "%d\n", s }' "$volume_record" "$OUT/volume.new" 2>/dev/null; }

# reached KIND: prints how many operations of the kind there were
reached()
{
	local c sum=0
	for c in ${volume_counts[$1]}; do sum=$((sum + $(kept "$1" "$c"))); done
	echo $sum
}

# missing KIND...: those of which there are not enough yet; fails if there is none
missing()
{
	local kind some=1
	for kind; do
		[ "$(reached "$kind")" -lt "${volume_min[$kind]}" ] || continue
		echo "$kind"
		some=0
	done
	return $some
}

neighbours_up()
{
	local i
	for ((i = 1; i <= NEIGHBOURS; i++)); do
		inside create "$(neighbour_id "$i")" 512m &&
			inside hold "n$i" /share/hostile/inside.sh neighbour "$(neighbour_id "$i")" && inside meek "$(neighbour_id "$i")"
		result $? "neighbour $i verifies copies on a vGPU of its own"
	done
}

# rounds_of: how many rounds each neighbour has done, as it has told last
rounds_of()
{
	local i
	local -a names=()
	for ((i = 1; i <= NEIGHBOURS; i++)); do names+=("n$i"); done
	inside rounds "${names[@]}"
}

# all_went_on BEFORE NOW: each of the numbers is higher now
all_went_on()
{
	local i
	local -a a b
	read -ra a <<<"$1"
	read -ra b <<<"$2"
	[ ${#a[@]} -eq $NEIGHBOURS ] && [ ${#b[@]} -eq $NEIGHBOURS ] || return 1
	for ((i = 0; i < NEIGHBOURS; i++)); do [ "${b[i]}" -gt "${a[i]}" ] || return 1; done
}

neighbours_go_on() # BEFORE: sets rounds_now
{
	for _ in {1..60}; do
		rounds_now=$(rounds_of)
		! all_went_on "$1" "$rounds_now" || return 0
		sleep 2
	done
	return 1
}

volume_batch() # KIND
{
	local kind=$1 seed before=$rounds_now bad=$failures began=$SECONDS c n
	seed=$((volume_seed * 10000 + $(cat "$volume_record" "$OUT/volume.new" 2>/dev/null | awk '{ print $2 }' | sort -u | wc -l) + 1))
	counted=()
	ops=${volume_ops[$kind]}
	attack "${volume_tests[$kind]}" "$seed"
	neighbours_go_on "$before"
	result $? "$kind, seed $seed: each neighbour has gone on" "rounds before $before, after $rounds_now"
	n=$(counter "$attacker_id" pinned_pages)
	result "$([ "$n" = 0 ]; echo $?)" "$kind, seed $seed: no page stays pinned" "$n"
	[ "$failures" -eq "$bad" ] || return 1
	for c in "${!counted[@]}"; do
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$seed" "$kind" "$c" "${counted[$c]}" $((SECONDS - began)) >>"$OUT/volume.new"
	done
}

# neighbours_down: what each has verified goes into the record, too
neighbours_down()
{
	local i out n
	for ((i = 1; i <= NEIGHBOURS; i++)); do inside stop "n$i"; done
	for ((i = 1; i <= NEIGHBOURS; i++)); do
		out=$(inside release "n$i")
		guest_lines "neighbour $i" $? <<<"$out"
		n=$(sed -n 's/.*no copy was lost in \([0-9]*\) rounds.*/\1/p' <<<"$out")
		result "$([ "${n:-0}" -gt 0 ]; echo $?)" "neighbour $i has verified copies" "${n:-0} of 8 KiB, to video memory and back"
		printf '%s\t%s\t%s\tn%s\t%s\t%s\n' "$(date -u +%F)" - neighbours "$i" "${n:-0}" "$SECONDS" >>"$OUT/volume.new"
		inside remove "$(neighbour_id "$i")"
	done
}

volume_table()
{
	local kind c i n=0 all=''
	note "done with this module and this guest, in $(awk '$3 == "neighbours" && $4 == "n1"' "$volume_record" | wc -l) runs:"
	for kind in registers runlists blocks invalidates bells; do
		for c in ${volume_counts[$kind]} $([ $kind != bells ] || echo ring-entries-fetched); do
			note "  $kind: $(kept $kind "$c") $c in $(awk -v k=$kind -v c="$c" '$3 == k && $4 == c' "$volume_record" | wc -l) batches"
		done
	done
	for ((i = 1; i <= NEIGHBOURS; i++)); do
		n=$(kept neighbours "n$i")
		all+=" $n"
	done
	note "  verified meanwhile by the neighbours, copies of 8 KiB to video memory and back:$all"
}

volume()
{
	local kind deadline=$((SECONDS + VOLUME_SECONDS)) bad n
	rounds_now='' volume_seed=${SEED:-$(date +%Y%m%d)}
	volume_record=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/volume/hostile-$(cat "$($TB share)/kvgpu.ko" "$OUT/hostile.flat" | sha256sum | cut -c1-16).tsv
	mkdir -p "${volume_record%/*}"
	[ -z "${AGAIN-}" ] || rm -f "$volume_record"
	rm -f "$OUT/volume.new"
	touch "$OUT/volume.new" "$volume_record"
	note "seeds from ${volume_seed}0001 on; $volume_record"
	neighbours_up
	inside create "$attacker_id" 512m
	result $? "the eighth is the attacker's"
	neighbours_go_on "0 0 0 0 0 0 0"
	result $? "all neighbours have verified something before" "$rounds_now"
	[ "$failures" -eq 0 ] || return
	# one batch of each kind that lacks operations, again and again
	while [ $SECONDS -lt $deadline ] && missing "$@" >/dev/null; do
		for kind in $(missing "$@"); do
			[ $SECONDS -lt $deadline ] || break
			volume_batch "$kind" || break 2
		done
	done
	inside remove "$attacker_id"
	neighbours_down
	bad=$failures
	wind_up
	if [ "$bad" -eq 0 ] && [ "$failures" -eq 0 ]; then cat "$OUT/volume.new" >>"$volume_record"; fi
	: >"$OUT/volume.new"
	for kind; do
		n=$(reached "$kind")
		result "$([ "$n" -ge "${volume_min[$kind]}" ]; echo $?)" "$kind: ${volume_min[$kind]} at least" "$n; what is missing is done by the next run"
	done
	volume_table
}
