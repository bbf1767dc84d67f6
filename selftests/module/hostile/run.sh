#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Hostile guests on vGPUs beside a guest whose copies and memory they must not touch. Prints TAP. Quick: one guest, which resets its
# vGPU between attacks; long: a guest, and a vGPU that nobody else has open, for each; volume: operations in numbers beside seven
# others. README.md says what each does.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-hostile}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
mode=${1-}
case $mode in
quick)
	ops=1000 types="512m"
	all="window tables bars physical remap registers runlists blocks invalidates rings methods faults context" ;;
long)
	ops=${HOSTILE_OPS:-40000} types=${HOSTILE_TYPES:-512m 1g} seeds=${HOSTILE_SEEDS:-1 2 3}
	all="window window-host tables directories instances bars physical userd remap registers switches runlists doorbells \
		random-tables blocks invalidates rings acquire endless methods faults context" ;;
volume) ops=0 types=512m all="registers runlists blocks invalidates bells" ;;
*) echo "usage: selftests/module/hostile/run.sh quick|long [TEST...], or volume [KIND...]" >&2; exit 2 ;;
esac
part_of_check=hostile run=$1 kernel=$(kernel_of base)
mode=$run
[ "$run" != volume ] || mode=''	# cell.sh: nothing is noted of kernels
shift
[ $# -eq 0 ] || part_of_check=hostile:$(IFS=,; echo "$*")
tests=${*:-$all}
seed=${SEED:-$(date +%Y%m%d)}	# the seed of a quick run: another one each day
victim_id=6b766770-0000-4000-8000-000000000001
attacker_id=6b766770-0000-4000-8000-000000000002
forged_reg=0x002328 forged_value=0x10005042	# PFIFO_ENG_TIMESLICE(6), greed.c
# shellcheck disable=SC2034 # cell.sh prints it
cell_name="hostile guest"
bed_must_be_free
trap 'bed_down' EXIT
operations=0	# number of random operations after which all was well
declare -A counted=()	# the same operations, by the names that the guest gives them

inside() { LIMIT=${LIMIT:-600} in_server /share/hostile/inside.sh "$@"; }
counter() { in_server cat "/sys/bus/mdev/devices/$1/kvgpu/$2" 2>/dev/null || echo -1; }

trouble() { in_server sh -c "dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|leaked|cut off' | head -n 5"; }

no_trouble()
{
	local found
	found=$(trouble)
	result "$([ -z "$found" ]; echo $?)" "$1: the server's kernel has nothing to complain of" "$found"
}

# the lines of a guest as results of ours
guest_lines() # NAME STATUS < LINES
{
	local line summary=''
	while IFS= read -r line; do
		guest_line "$1" "${line%$'\r'}"
		[[ $line != 'SUMMARY: '* ]] || summary=$line
	done
	[ -n "$summary" ] || result 1 "$1: comes to its end" "status $2"
}

guest_line() # NAME LINE
{
	local kind n
	case $2 in
	'PASS: '*)
		result 0 "$1: ${2#PASS: }"
		[[ ! $2 =~ after\ ([0-9]+)\ random ]] || operations=$((operations + BASH_REMATCH[1])) ;;
	'FAIL: '*) result 1 "$1: ${2#FAIL: }" ;;
	'COUNT: '*)
		read -r _ kind n <<<"$2"
		counted[$kind]=$((${counted[$kind]:-0} + n)) ;;
	'SUMMARY: '* | 'ROUNDS: '*) ;;
	?*) note "$2" ;;
	esac
}

# one guest, which does all of the tests
attack() # NAMES SEED
{
	local line name='' troubles='' done='' count began=$SECONDS log=$OUT/attack.log
	count=$(wc -w <<<"$1")
	while IFS= read -r line; do
		case $line in
		'TEST: '*) name=${line#TEST: } troubles='' began=$SECONDS ;;
		'KERNEL: '*) troubles+="${line#KERNEL: } " ;;
		'DONE: '*)
			result "$([ -z "$troubles" ]; echo $?)" "$name: the server's kernel has nothing to complain of" \
				"${troubles:-$((SECONDS - began)) s}"
			done+="$name " ;;
		*) guest_line "$name" "$line" ;;
		esac
	done < <(LIMIT=$((count * (600 + ops / 100))) inside attack "$attacker_id" "$1" "$2" "$ops" 2>"$log")
	for name in $1; do
		[[ " $done" == *" $name "* ]] || result 1 "$name: comes to its end" "$(tail -n 1 "$log")"
	done
}

server_up()
{
	if ! kvgpu_up --mem "${SERVER_MEM:-5G}"; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		finish
	fi
	ran_on
	mkdir -p "$($TB share)/hostile"
	cp "$OUT/hostile.flat" "$OUT/kvgpu-canary" selftests/module/hostile/inside.sh "$($TB share)/hostile/"
	in_server modprobe -a kvm_amd
	in_server /opt/testbed/hold-vm && return
	result 1 "KVM in the server opens a VM"
	finish
}

# stale: a tenant leaves marks in three quarters of the vGPU's part of the card, and is killed. Then an attacker gets the same part. At
# the end a tenant leaves such marks again, and the vGPU is made anew.
stale()
{
	inside create "$attacker_id" "$1" && inside hold litter /share/hostile/inside.sh victim "$attacker_id" &&
		inside kill "$attacker_id"
	result $? "stale: a guest fills a part of $1 and is killed"
	attack stale 1
	inside hold litter /share/hostile/inside.sh victim "$attacker_id" && inside kill "$attacker_id"
	inside remove "$attacker_id"
	inside create "$attacker_id" "$1"
}

# the end of every mode, with no guest left
wind_up()
{
	inside release canary | sed 's/^/# /'
	result "${PIPESTATUS[0]}" "the server's marked memory is as it was"
	LIMIT=60 in_server rmmod kvgpu
	result $? "the module unloads afterwards"
	no_trouble "all of it, seed ${seeds:-$seed}"
}

build_programs module/hostile || finish
server_up
inside hold canary /share/hostile/kvgpu-canary hold 256
result $? "256 MiB of the server's memory are marked"
if [ "$run" = volume ]; then
	# shellcheck source=selftests/module/hostile/volume.sh
	. selftests/module/hostile/volume.sh
	# shellcheck disable=SC2086
	volume $tests
	finish
fi
inside create $victim_id 512m && inside hold victim /share/hostile/inside.sh neighbour $victim_id
result $? "a guest that must not notice has work on a vGPU of its own"
for type in $types; do
	stale "$type"
	if [ "$run" = quick ]; then
		attack "stale $tests" "$seed"
	else
		attack stale 2
		for seed in $seeds; do
			for t in $tests; do attack "$t" "$seed"; done
		done
	fi
	# the guest read it, so that debugfs shows the card's beside the guest's
	n=$(in_server sh -c "grep ^$forged_reg /sys/kernel/debug/kvgpu/*/$attacker_id/hardware")
	case " $tests " in
	*' context '*) result "$([[ $n == *' chip 0x'* && $n != *"chip $forged_value"* ]]; echo $?)" \
		"forged contexts did not write the card's register" "$n" ;;
	esac
	n=$(counter $attacker_id pinned_pages)
	result "$([ "$n" = 0 ]; echo $?)" "no page of the hostile guests stays pinned" "$n"
	inside remove $attacker_id
done
out=$(inside release victim)
guest_lines "the other guest" $? <<<"$out"
inside remove $victim_id
wind_up
note "$operations random operations"
for k in "${!counted[@]}"; do note "$k: ${counted[$k]}"; done
finish
