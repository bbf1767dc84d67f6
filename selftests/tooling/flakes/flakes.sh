#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# flakes.sh run|table: repeats test programs to find those that fail by chance (`make
# check-flakes`), or prints the table of results alone. README.md says what the variables mean and
# what is recorded. One run of a program is a round.
set -u
cd "$(dirname "$0")/../../.." || exit 1
state=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/flakes
cores=$(nproc)
quiet=${QUIET:-60} busy=${BUSY:-20} threads=${THREADS:-500} late=${LATE:-60} suite=${SUITE:-0} vm=${VM:-0}
budget=${BUDGET:-0}
only=${ONLY:-}
limit_s=1200			# ends a round that hangs
steps=20			# each kind of round in turn runs one of so many parts of its number
begun=$SECONDS
declare -A dir_of passed failed threaded
declare -a programs

die() { echo "flakes.sh: $*" >&2; exit 2; }

# ---------------------------------------------------------- the programs, and their recorded rounds

# suites: prints such lines for the tests of parts of make check that boot no machine
suites()
(
	# shellcheck source=selftests/parts.sh
	. selftests/parts.sh
	made() { make -s -j2 "$@" >&2; }
	tap_run()
	{
		local w
		for w in "${@:3}"; do [[ $w != selftests/* ]] || break; done
		echo "suite $part/${w##*/} ${*:3}"
	}
	for part in remote cluster tools shown archive fresh-cells; do
		eval "${part_command[$part]}"
	done | grep '^suite '
)

# list: prints a line "KIND NAME COMMAND..." for each kind of round of each program
list()
{
	local path name

	while read -r path; do
		name=${path#"$O"/}
		echo "quiet $name $path"
		echo "busy $name $path"
		case $name in
		unit-tsan/*) echo "threads $name $path" ;;
		unit/*) grep -qxF -- "${name#unit/}" <<<"$with_threads" && echo "threads $name $path" ;;
		esac
	done < <(make -s print-unit-tests | grep -v /unit-late/)
	while read -r path; do
		echo "late ${path#"$O"/} $path"
	done < <(make -s print-late-tests)
	[ "$suite" -eq 0 ] || suites
	[ "$vm" -gt 0 ] || return 0
	for name in module/vfio module/tenants module/hostile model/native system/guest; do
		echo "vm ${name#*/} selftests/$name/run.sh quick"
	done
	echo "vm testbed selftests/system/testbed/tb_test.sh quick"
}

# tree_hash: prints a hash of the commit and of what differs from it in tracked files, for the
# suites
tree_hash()
{
	{ git rev-parse HEAD; git diff HEAD; } 2>/dev/null | sha256sum
}

# program_hash PROGRAM: prints a hash of the program without debug information and build ID, because
# these depend on the folder in which it was built
program_hash()
{
	local bare
	bare=$(mktemp) && objcopy -g -R .note.gnu.build-id "$1" "$bare" && sha256sum < "$bare" && rm -f "$bare"
}

find_state()
{
	local name=$1 path=$2 hash

	case $path in
	/*) hash=$(program_hash "$path") || die "$path is not built" ;;
	*) hash=$tree ;;
	esac
	dir_of[$name]=$state/${name//\//_}/${hash:0:16}
	mkdir -p "${dir_of[$name]}"
}

count()
{
	local kind=$1 name=$2 rounds=${dir_of[$2]}/rounds

	[ -f "$rounds" ] || touch "$rounds"
	passed["$kind $name"]=$(grep -c "^$kind passed " "$rounds")
	failed["$kind $name"]=$(grep -c "^$kind failed " "$rounds")
}

# so_far_of KIND NAME: sets so_far to the number of recorded rounds
so_far_of()
{
	local key="$1 $2"

	so_far=$((${passed[$key]} + ${failed[$key]}))
}

# ------------------------------------------------------------------ running one round

# round KIND NAME NUMBER COMMAND...: runs and records one round. Rounds that run at the same time
# append to one record; a line is short enough to be written at once.
round()
{
	local kind=$1 name=$2 nr=$3 dir=${dir_of[$2]} log t=$SECONDS rc limit=$limit_s
	shift 3

	[ "$kind" = vm ] && limit=3600
	log=$dir/$kind-$nr.log
	CMOCKA_MESSAGE_OUTPUT=TAP KVGPU_LATE=$nr timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null
	rc=$?
	# look for "not ok", too, whatever the status is, but not for what tap.sh counts as skipped
	if [ $rc = 0 ] && ! grep '^not ok' "$log" | grep -qv '# XFAIL\|^not ok [0-9]* # SKIP '; then
		rm -f "$log"
		echo "$kind passed $nr $((SECONDS - t)) s" >> "$dir/rounds"
	else
		echo "$kind failed $nr $((SECONDS - t)) s, exit $rc" >> "$dir/rounds"
		echo "failed: $name, $kind round $nr, exit $rc: $log"
	fi
}

# jobs_of KIND NAME: how many rounds of the program run at a time
jobs_of()
{
	case $1 in
	quiet) is_threaded "$2" && echo 1 || echo "$cores" ;;	# a program with threads runs alone, others one a core
	busy) echo $((4 * cores)) ;;
	threads | late) echo $((2 * cores)) ;;
	*) echo 1 ;;
	esac
}

is_threaded() { [ -n "${threaded[$1]-}" ]; }

# of_lane KIND NAME beside|alone: of quiet rounds: true if the program's run beside those of other
# programs, or alone. Of other kinds, which have one lane: always true.
of_lane()
{
	[ "$1" != quiet ] || { is_threaded "$2" && [ "$3" = alone ]; } || { ! is_threaded "$2" && [ "$3" = beside ]; }
}

out_of_time() { [ "$budget" -gt 0 ] && [ $((SECONDS - begun)) -ge "$budget" ]; }

# --------------------------------------------------------------- running all rounds, and the tables

# kind_rounds KIND STEP: runs rounds of that kind until each program has STEP twentieths of its
# number
kind_rounds()
{
	local kind=$1 step=$2 lane line name cmd nr jobs so_far upto ran=''

	for lane in alone beside; do
		[ "$kind" = quiet ] || [ $lane = beside ] || continue
		for line in "${programs[@]}"; do
			[ "${line%% *}" = "$kind" ] || continue
			read -r _ name cmd <<<"$line"
			upto=$((($(target "$kind" "$name") * step + steps - 1) / steps))
			so_far_of "$kind" "$name"
			nr=$so_far
			if [ "$nr" -ge "$upto" ] || ! of_lane "$kind" "$name" $lane; then continue; fi
			jobs=$(jobs_of "$kind" "$name")
			while out_of_time && break 3; [ "$((nr += 1))" -le "$upto" ]; do
				while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
					wait -n
				done
				# shellcheck disable=SC2086 # a command and its arguments
				round "$kind" "$name" "$nr" $cmd &
				ran=yes
			done
		done
		wait
	done
	wait
	[ -n "$ran" ] || return 0
	for line in "${programs[@]}"; do
		read -r _ name _ <<<"$line"
		[ "${line%% *}" = "$kind" ] && count "$kind" "$name"
	done
}

# target KIND NAME: prints how many rounds the program needs. Of the kind "threads", only programs
# of the GPU model need the full number.
target()
{
	case $1 in
	quiet) echo "$quiet" ;; busy) echo "$busy" ;; late) echo "$late" ;; suite) echo "$suite" ;; vm) echo "$vm" ;;
	threads) case $2 in */gpu-model/*) echo "$threads" ;; *) echo $((threads < 60 ? threads : 60)) ;; esac ;;
	esac
}

table()
{
	local line kind name total=0 bad=0 missing=0 n not want

	printf '%-44s %10s %10s %10s %10s %10s %10s\n' "rounds, passed of wanted" quiet busy threads late suite vm
	while read -r name; do
		printf '%-44s' "$name"
		for kind in quiet busy threads late suite vm; do
			n=${passed["$kind $name"]-}
			if [ -z "$n" ]; then
				printf ' %10s' -
				continue
			fi
			not=${failed["$kind $name"]}
			want=$(target $kind "$name")
			printf ' %10s' "$n/$want$([ "$not" = 0 ] || echo "!$not")"
			total=$((total + n + not))
			bad=$((bad + not))
			[ $((n + not)) -lt "$want" ] && missing=$((missing + want - n - not))
		done
		echo
	done < <(for line in "${programs[@]}"; do read -r _ name _ <<<"$line"; echo "$name"; done | sort -u)
	for kind in quiet busy threads late suite vm; do
		n=0 not=0
		for line in "${programs[@]}"; do
			read -r _ name _ <<<"$line"
			[ "${line%% *}" = $kind ] || continue
			n=$((n + ${passed["$kind $name"]})) not=$((not + ${failed["$kind $name"]}))
		done
		echo "$kind: $n passed, $not failed"
	done
	[ $bad = 0 ] || echo "! what failed; the logs lie under $state"
	echo "$total rounds of these programs, $bad failed, $missing still to run"
	[ $bad = 0 ]
}

# parts_table: prints how often each part of make check, check-fast and check-long ran and failed
parts_table()
{
	local runs=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/check/runs.tsv

	[ -s "$runs" ] || return 0
	printf '\n%-28s %8s %8s %8s   %s\n' "parts of checks" runs failed commits since
	sort -s -t "$(printf '\t')" -k4,4 "$runs" | awk -F '\t' '
		function row() { if (n) printf "%-28s %8d %8d %8d   %s\n", part, n, bad, kinds, since }
		$4 != part { row(); n = bad = kinds = 0; split("", seen); part = $4; since = $1 }
		{ n++; bad += $7 > 0; if (!($2 in seen)) { seen[$2]; kinds++ } }
		END { row() }'
}

[ "${1-}" = run ] || [ "${1-}" = table ] || die "usage: flakes.sh run|table"
mkdir -p "$state"
O=$(make -s print-unit-tests | sed -n '1s,/unit/.*,,p')
with_threads=$(make -s print-late-tests | sed "s,^$O/unit-late/,,")
tree=$(tree_hash)
while read -r line; do
	[[ $line == *"$only"* ]] && programs+=("$line")
done < <(list)
[ ${#programs[@]} -gt 0 ] || die "no program is called '$only'"
for line in "${programs[@]}"; do
	read -r kind name path _ <<<"$line"
	find_state "$name" "$path"
	count "$kind" "$name"
	[ "$kind" != threads ] || threaded[$name]=yes
done
if [ "$1" = run ]; then
	exec 9> "$state/lock"
	flock -n 9 || die "another run is at work"
	trap 'exit 130' INT TERM
	for ((step = 1; step <= steps; step++)); do
		for kind in late threads quiet busy suite vm; do
			kind_rounds $kind $step
		done
		out_of_time && break
	done
fi
table && rc=0 || rc=1
parts_table
exit "$rc"
