#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# volume.sh [PIECE PIECES]: runs actors_fuzz until 10^7 steps and 10^8 hostile operations have passed (README.md), or one of so many equal
# pieces of them. Prints TAP.
#
# Runs are of 10 seeds and 8000 steps each, JOBS side by side. Runs that passed are recorded for this build of the program. A call starts no
# run after VOLUME_SECONDS; the next call goes on from the record (AGAIN=1: drops the record). Seeds are made from the date, and printed
# (SEED=YYYYMMDD: from that date).
set -u
cd "$(dirname "$0")/../../.." || exit 1
piece=${1:-1} pieces=${2:-1}
[ "$piece" -ge 1 ] 2>/dev/null && [ "$pieces" -ge "$piece" ] 2>/dev/null || { echo "usage: selftests/module/harness/volume.sh [PIECE PIECES]" >&2; exit 2; }
STEPS=$((10000000 / pieces)) OPERATIONS=$((100000000 / pieces))
SEEDS=10 EACH=8000
JOBS=${JOBS:-$(nproc)} VOLUME_SECONDS=${VOLUME_SECONDS:-2200}
day=${SEED:-$(date +%Y%m%d)}
# shellcheck source=selftests/result.sh
. selftests/result.sh

make -s harness || exit 1
fuzz=$(make -s print-harness-fuzz)
record=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/volume/harness-$(sha256sum "$fuzz" | cut -c1-16)-$piece-of-$pieces.tsv
mkdir -p "${record%/*}"
[ -z "${AGAIN-}" ] || rm -f "$record"
touch "$record"
work=$(mktemp -d) || exit 1
trap 'rm -rf -- "$work"' EXIT

# sum COLUMN: date, first seed, seeds, steps, operations, of registers, of memory, doorbells, calls, loads of channels, seconds
sum() { awk -F '\t' -v c="$1" '{ s += $c } END { printf "%.0f\n", s }' "$record"; }

enough() { [ "$(sum 4)" -ge $STEPS ] && [ "$(sum 5)" -ge $OPERATIONS ]; }

# ended: notes a run that has passed in the record; prints the end of the log of one that has failed
ended() # SEED STATUS SECONDS
{
	local log=$work/$1 line
	if [ "$2" -ne 0 ]; then
		tail -n 80 "$log" | sed 's/^/# /'
		result 1 "actors_fuzz $1 $SEEDS $EACH" "exit code $2"
		return 1
	fi
	line=$(sed -n 's/^\([0-9]*\) steps.*; \([0-9]*\) loads of channels.*/\1 \2/p; s/^\([0-9]*\) hostile operations: \([0-9]*\) of registers, \([0-9]*\) of video memory, \([0-9]*\) doorbells, \([0-9]*\) calls.*/\1 \2 \3 \4 \5/p' "$log" | xargs)
	awk -v d="$(date -u +%F)" -v s="$1" -v n=$SEEDS -v t="$3" '{ print d "\t" s "\t" n "\t" $1 "\t" $3 "\t" $4 "\t" $5 "\t" $6 "\t" $7 "\t" $2 "\t" t }' <<<"$line" >>"$record"
	rm -f "$log"
}

next=$(awk -F '\t' -v d="$day" '$2 ~ "^" d { n++ } END { print n + 0 }' "$record")
deadline=$((SECONDS + VOLUME_SECONDS))
declare -A running=() began=()
broken=''
printf '# seeds from %d on\n' $(((day * 100 + piece) * 1000000 + next * SEEDS))
while :; do
	while [ -z "$broken" ] && [ ${#running[@]} -lt "$JOBS" ] && [ $SECONDS -lt $deadline ] && ! enough; do
		seed=$(((day * 100 + piece) * 1000000 + next * SEEDS))
		next=$((next + 1))
		timeout --kill-after=10 2000 "$fuzz" $seed $SEEDS $EACH >"$work/$seed" 2>&1 &
		running[$!]=$seed
		began[$!]=$SECONDS
	done
	[ ${#running[@]} -gt 0 ] || break
	wait -n -p pid "${!running[@]}"
	rc=$?
	ended "${running[$pid]}" $rc $((SECONDS - began[$pid])) || broken=yes
	unset "running[$pid]"
done
result "$([ -z "$broken" ]; echo $?)" "every oracle held after every step" "$(sum 3) seeds"
result "$([ "$(sum 4)" -ge $STEPS ]; echo $?)" "$STEPS steps at least" "$(sum 4); what is missing is done by the next run"
result "$([ "$(sum 5)" -ge $OPERATIONS ]; echo $?)" "$OPERATIONS hostile operations at least" "$(sum 5)"
printf '# %s of registers, %s of video memory, %s doorbells, %s calls of VMMs; %s loads of channels; %s s of CPU; %s\n' \
	"$(sum 6)" "$(sum 7)" "$(sum 8)" "$(sum 9)" "$(sum 10)" "$(sum 11)" "$record"
echo "1..$results"
[ $failures -eq 0 ]
