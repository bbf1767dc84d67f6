#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# check.sh list: prints the parts, and what each of them tests.
# check.sh fast|quick|long [PRODUCT=NAMES | CHANGED=COMMITS] [STALE=1] [PART...]: runs make check-fast,
# make check or make check-long. With PRODUCT, parts that judge one of these products; with CHANGED,
# one of those that differ from a commit, or that a range touches, or that have files that are not
# committed (products.sh). With STALE, long parts and commands whose files changed since they passed.
# check.sh stale [PRODUCT...]: prints the names of these, of some products.
# check.sh passed NAME: notes that a long part or command has passed just now.
#
# It does the test bed's set-up, then runs the parts that parts.sh defines: first those that build,
# one at a time, then the others, two at a time, the longest first. A part that fails does not keep
# the others from running. The last line is 'N passed, N failed, N skipped'. build/check has each
# part's output, index.txt (what each part is), names.txt (names of tests) and times.json;
# build/check.before has those of the run before.
#
# Results are kept by commit, or by a hash of the files while the tree differs from its commit.
# check-long does not run a part again that passed in the same state of the tree: after an
# interruption, run it again and it goes on. AGAIN=1 runs everything, V=1 also shows the output of
# parts that pass. selftests/passed.tsv has with which files each long part and command passed last.
set -u
# what the caller's environment has of these would decide what tests do
unset CDPATH BASH_ENV TMPDIR LD_LIBRARY_PATH LD_PRELOAD CUDA_VISIBLE_DEVICES BOARD KERNEL SEED PARTS PRODUCT CHANGED STALE GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
for name in $(compgen -v); do
	case $name in KVGPU_TB_NAME | KVGPU_TB_BOOT | KVGPU_BED_GIVEN | KVGPU_REMOTE* | KVGPU_INPROCESS* | KVGPU_CLUSTER* | KVGPU_PTXAS | SLURM_* | HARNESS_*) unset "$name" ;; esac
done
umask 022
export LC_ALL=C.UTF-8 LANGUAGE='' SHELL=/bin/bash
cd "$(dirname "$0")/.." || exit 1
export KVGPU_CACHE=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=selftests/parts.sh
. selftests/parts.sh

usage()
{
	echo "usage: selftests/check.sh fast|quick|long [PRODUCT=NAMES | CHANGED=COMMITS] [STALE=1] [PART...], or list, or stale [PRODUCT...], or passed NAME;" \
		"parts: ${part_names[*]}" >&2
	exit 2
}

wrong() { echo "check.sh: $*" >&2; exit 2; }

# what_is NAME: prints what the part tests
what_is()
{
	local -a words
	eval "words=(${part_command[$1]})"
	case ${words[0]}:$1 in
	tap_*) printf '%s\n' "${words[1]}" ;;
	*:lint-long) echo "style: checkpatch, what the pure rooms call" ;;
	*:lint) echo "style of all files; documents from sources" ;;
	*:builds) echo "what later parts run, built" ;;
	*:unit) echo "unit tests of all rooms, with sanitizers" ;;
	*:fuzz*) echo "fuzz targets${words[2]:+ of ${words[2]}}, ${words[1]} s each" ;;
	*:demo | *:bench-shares) echo "the command, by make check-long STALE=1 alone" ;;
	*:firmware) echo "kvgpu-firmware on the nouveau.ko of each kernel" ;;
	*:tools) echo "kvgpu-top, cuda-info, the benchmarks' reports" ;;
	*:libraries) echo "symbols and binary interface of libcuda and libcudart" ;;
	*:kernels) echo "table of kernels, kernels that are not known" ;;
	*:boards) echo "stock nouveau on the boards of the model, CUDA in guests on each" ;;
	*:shown) echo "what documents, make and demo show" ;;
	*) printf '%s\n' "${words[*]}" ;;
	esac
}

mode=${1-}
case $mode in
list)
	printf '%-22s %-9s %8s  %-34s  %s\n' part of seconds judges what
	for name in "${part_names[@]}"; do
		of=''
		[[ ${part_modes[$name]} != *f* ]] || of+=fast,
		[[ ${part_modes[$name]} != *q* ]] || of+=check,
		[[ ${part_modes[$name]} != *l* ]] || of+=long,
		[[ ${part_modes[$name]} != *c* ]] || of+=stale,
		printf '%-22s %-10s %7s  %-34s  %s\n' "$name" "${of%,}" "${part_seconds[$name]}" "${part_products[$name]}" "$(what_is "$name")"
	done
	exit 0
	;;
fast) letters=f title="make check-fast" ;;
quick) letters=q title="make check" ;;
long) letters=ql title="make check-long" ;;
stale | passed) letters=lc ;;
part) ;;
*) usage ;;
esac
shift
DIR=build/check
LANES=${KVGPU_CHECK_LANES:-2}

# check.sh part NAME RESULT PRODUCTS: runs one part, for start_part; its score goes into the file RESULT.
# Its bed has the part's name: parts of one suite may run side by side.
if [ "$mode" = part ]; then
	narrow=$3
	[[ ${part_modes[$1]} != *s* ]] || export KVGPU_TB_NAME=$1
	eval "${part_command[$1]}"
	tap_save "$2"
	exit 0
fi

is_kept() { [[ ${part_modes[$1]} == *[lc]* ]]; }	# NAME: true if passed.tsv has the part

if [ "$mode" = passed ]; then
	[ $# = 1 ] && [ -n "${part_modes[$1]-}" ] && is_kept "$1" || usage
	hash_parts "$1"
	passes "$1" "$(date +%F)"
	exit
fi

only_stale='' given=''
[ "$mode" != stale ] || { set -- ${1+"PRODUCT=$*"}; only_stale=1; }
while [[ ${1-} == *=* ]]; do
	case $1 in
	PRODUCT=?*)
		narrow=${1#*=} narrow=${narrow// /,}
		for name in ${narrow//,/ }; do
			[[ " ${PRODUCT_NAMES[*]} " == *" $name "* ]] || wrong "there is no product '$name'; products: ${PRODUCT_NAMES[*]}"
		done ;;
	CHANGED=?*)
		[ "$narrow" = all ] || wrong "PRODUCT or CHANGED, not both"
		narrow=$(changed_products "${1#*=}") || wrong "$1: git knows no such commit; CHANGED=HEAD~5 is the last five" ;;
	STALE=?*)
		[ "$mode" = long ] || wrong "STALE is for check-long"
		only_stale=1 letters=lc ;;
	PRODUCT= | CHANGED= | STALE=) ;;
	*) usage ;;
	esac
	given+=" $1"
	shift
done

chosen=() kept=()
for name in "${@:-${part_names[@]}}"; do
	[ -n "${part_modes[$name]-}" ] || { echo "check.sh: there is no part '$name'" >&2; usage; }
	[ $# -gt 0 ] || [[ ${part_modes[$name]} == *[$letters]* ]] || continue
	! meets "${part_products[$name]}" "$narrow" || chosen+=("$name")
done
given+=${*:+ $*}
for name in "${chosen[@]}"; do ! is_kept "$name" || kept+=("$name"); done
[ ${#kept[@]} = 0 ] || hash_parts "${kept[@]}"
if [ -n "$only_stale" ]; then
	mapfile -t stale_parts < <(stale "${kept[@]}")
	chosen=("${stale_parts[@]#* }")
fi
if [ "$mode" = stale ]; then
	for line in "${stale_parts[@]}"; do printf '%-22s %-10s  %s\n' "${line#* }" "${line% *}" "$(what_is "${line#* }")"; done
	echo "${#stale_parts[@]} of ${#kept[@]} have not passed with the files that they judge now; make check-long STALE=1 runs them"
	exit 0
fi
if [ ${#chosen[@]} = 0 ]; then
	[[ -n $only_stale || $given == *CHANGED=* ]] || wrong "none of the parts judges that:$given"
	echo "check.sh: no part to run:$given"
	tap_report
	exit 0
fi

# ------------------------------------------------------------------ results and times of earlier runs

# tree_state: prints a name for the contents of the tree: the commit if nothing differs from it,
# else the commit (if there is one) and a hash of all files but those below build/ and .git/, and
# passed.tsv
tree_state()
{
	local commit
	if commit=$(git rev-parse --short=12 HEAD 2>/dev/null) && [ -z "$(git status --porcelain -- . ":!$PASSED" 2>/dev/null)" ]; then
		echo "$commit"
	else
		printf '%s%s\n' "${commit:+$commit-}" "$(find . -type f ! -path './.git/*' ! -path './build/*' ! -path "./$PASSED" -print0 | LC_ALL=C sort -z |
			xargs -0 sha256sum | sha256sum | cut -c1-12)"
	fi
}

state=$(tree_state)
RECORD=$KVGPU_CACHE/check/$state
TIMES=$KVGPU_CACHE/check/seconds	# lines "NAME SECONDS": how long the part, or all of a check ("all-MODE"), took in its last run here

expected() # NAME: prints how many seconds the part will take: of $TIMES, or else of parts.sh
{
	{ awk -v n="$1" '$1 == n { s = $2 } END { if (s != "") print s }' "$TIMES" 2>/dev/null; echo "${part_seconds[$1]}"; } | head -n 1
}

remember() # NAME SECONDS: writes to $TIMES how long the part took
{
	mkdir -p "${TIMES%/*}"
	{ awk -v n="$1" '$1 != n' "$TIMES" 2>/dev/null; echo "$1 $2"; } >"$TIMES.new" && mv "$TIMES.new" "$TIMES"
}

# NAME: true if the part takes only some of what it has, for the products that are checked
is_cut() { [ "$narrow" != all ] && [[ ${part_modes[$1]} == *p* ]]; }

# NAME: true if check-long need not run the part: it has passed in this state of the tree, and AGAIN
# is not set
recorded()
{
	[ "$mode" = long ] && [ -z "${AGAIN-}" ] && [ -e "$RECORD/$1.passed" ] && ! is_cut "$1"
}

keep_record() # NAME SECONDS: records that the part passed in this state of the tree
{
	! is_cut "$1" || return
	mkdir -p "$RECORD"
	cp "$DIR/$1.result" "$RECORD/$1.passed"
	echo "$2" >"$RECORD/$1.seconds"
	# remove results of states of the tree for which none was added for a month
	find "$KVGPU_CACHE/check" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} +
	! is_kept "$1" || passes "$1" "$(date +%F)"
}

# log_run: adds a line for a run of a part to $KVGPU_CACHE/check/runs.tsv, for `make flakes-table`
log_run() # NAME PASSED FAILED
{
	mkdir -p "$KVGPU_CACHE/check"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$state" "$mode" "$1" "${took[$1]}" "$2" "$3" >>"$KVGPU_CACHE/check/runs.tsv"
}

# ------------------------------------------------------------------ printing, and the line of tick()

printed_len=0
wipe() { [ $printed_len = 0 ] || printf '\r%*s\r' $printed_len ''; printed_len=0; }
say() { wipe; printf '%s\n' "$*"; }

# tick: on a terminal, shows which parts run and for how long, in one line that say() wipes
tick()
{
	local name text='' columns
	[ -t 1 ] || return 0
	columns=$(tput cols 2>/dev/null || echo 80)
	for name in "${!running[@]}"; do text+=" ${running[$name]} $((SECONDS - began_at[${running[$name]}])) s;"; done
	text="running:$text $((SECONDS - began)) s in all"
	wipe
	printf '%s' "${text:0:columns-1}"
	printed_len=${#text}
	[ $printed_len -lt "$columns" ] || printed_len=$((columns - 1))
}

minutes() { printf '%d:%02d min' $(($1 / 60)) $(($1 % 60)); }

# ------------------------------------------------------------------ running the parts

declare -A running=() began_at=() took=()	# running: PID -> part; began_at, took: part -> seconds
done_count=0 began=$SECONDS interrupted=''

# start_part: runs the part in the background, in a session of its own. It keeps the locks, 8 and 9:
# where this program is killed, the next one waits for what is left of it.
start_part() # NAME
{
	began_at[$1]=$SECONDS
	rm -f "$DIR/$1.result"
	setsid "$0" part "$1" "$DIR/$1.result" "$narrow" >"$DIR/$1.log" 2>&1 </dev/null &
	running[$!]=$1
}

count_of() { sed -n "s/^declare -[-a]* $2=\"\\([0-9]*\\)\"\$/\\1/p" "$1"; }

end_part() # NAME: prints the part's score, and records its time and result
{
	local name=$1 passed failed skipped
	took[$name]=$((SECONDS - began_at[$name]))
	if [ ! -e "$DIR/$name.result" ]; then
		(tap_fail "part $name ended without a result: see $DIR/$name.log"; tap_save "$DIR/$name.result") >>"$DIR/$name.log"
	fi
	passed=$(count_of "$DIR/$name.result" tap_passed) failed=$(count_of "$DIR/$name.result" tap_failed)
	skipped=$(count_of "$DIR/$name.result" tap_skipped)
	show_part "$name" "$passed" "$failed" "$skipped" "${took[$name]} s"
	if [ "$failed" -ne 0 ]; then
		grep -vE '^(== |   [0-9]+ lines, 0 failed|   exit code 0,)' "$DIR/$name.log" | tail -n 150
	elif [ -n "${V-}" ]; then
		cat "$DIR/$name.log"
	fi
	if [ -z "$interrupted" ]; then
		is_cut "$name" || [ "$failed" -ne 0 ] || remember "$name" "${took[$name]}"
		log_run "$name" "$passed" "$failed"
	fi
	[ "$failed" -ne 0 ] || [ "$passed" -eq 0 ] || keep_record "$name" "${took[$name]}"
}

show_part() # NAME PASSED FAILED SKIPPED TEXT: prints the part's line, and adds it to the table
{
	done_count=$((done_count + 1))
	say "$(printf '[%*d/%d] %-22s %5d passed%s%s  %s' ${#total} $done_count "$total" "$1" "$2" \
		"$([ "$3" -eq 0 ] || echo ", $3 FAILED")" "$([ "$4" -eq 0 ] || echo ", $4 skipped")" "$5")"
	printf '%s %s %s %s %s\n' "$1" "${took[$1]}" "$2" "$3" "$4" >>"$DIR/table"
}

reuse_part() # NAME: takes the recorded result in place of a run
{
	cp "$RECORD/$1.passed" "$DIR/$1.result"
	took[$1]=$(cat "$RECORD/$1.seconds")
	! is_kept "$1" || passes "$1" "$(date +%F -r "$RECORD/$1.passed")"
	show_part "$1" "$(count_of "$DIR/$1.result" tap_passed)" 0 "$(count_of "$DIR/$1.result" tap_skipped)" "${took[$1]} s, before"
}

has_server() { [[ ${part_modes[$1]} == *s* ]]; }

# next_part NAME...: prints the part to start next: the first; but while a part with a server runs,
# the first one without a server, if there is any, because two servers slow each other down
next_part()
{
	local name busy=''
	for name in "${running[@]}"; do ! has_server "$name" || busy=yes; done
	for name; do
		if [ -z "$busy" ] || ! has_server "$name"; then
			echo "$name"
			return
		fi
	done
	echo "$1"
}

# run_parts LANES NAME...: runs these parts, LANES at a time, in the order that next_part gives
run_parts()
{
	local lanes=$1 pid ticker name i
	local -a queue
	shift
	queue=("$@")
	while [ ${#queue[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
		while [ ${#queue[@]} -gt 0 ] && [ ${#running[@]} -lt "$lanes" ]; do
			name=$(next_part "${queue[@]}")
			if recorded "$name"; then reuse_part "$name"; else start_part "$name"; fi
			for i in "${!queue[@]}"; do [ "${queue[i]}" != "$name" ] || unset "queue[$i]"; done
		done
		[ ${#running[@]} -gt 0 ] || continue
		sleep 5 8>&- 9>&- &	# may outlive this program, so it must not hold the locks, 8 and 9
		ticker=$!
		pid=''
		wait -n -p pid "${!running[@]}" $ticker
		[ -z "$interrupted" ] || return
		if [ -n "${running[$pid]-}" ]; then
			end_part "${running[$pid]}"
			unset "running[$pid]"
			kill $ticker 2>/dev/null
		else
			tick
		fi
	done
}

# interrupt: ends the parts that run: SIGTERM to the session of each (start_part), on which suites
# end their beds, and SIGKILL to what is left of it after about 25 s
interrupt()
{
	local pid tries
	trap '' INT TERM HUP
	interrupted=yes
	say "interrupted: ending ${running[*]-nothing}"
	for pid in "${!running[@]}"; do pkill -TERM -s "$pid"; done
	for tries in {1..30}; do
		pgrep -s "$(IFS=,; echo "${!running[*]}")" >/dev/null || break
		sleep 1
		[ "$tries" -ne 25 ] || for pid in "${!running[@]}"; do pkill -KILL -s "$pid"; done
	done
	for pid in "${!running[@]}"; do
		[ -e "$DIR/${running[$pid]}.result" ] || (tap_fail "part ${running[$pid]}: interrupted"; tap_save "$DIR/${running[$pid]}.result") >/dev/null
		end_part "${running[$pid]}" >/dev/null
	done
	finish
	exit 130
}

# finish: adds up the scores of all parts, writes index.txt, names.txt and times.json, and prints
# the table and the last line
finish()
{
	local name total_s=$((SECONDS - began))
	for name in "${chosen[@]}"; do
		[ ! -e "$DIR/$name.result" ] || tap_add "$DIR/$name.result"
	done
	printf '%s\n' "${tap_names[@]}" >"$DIR/names.txt"
	for name in "${chosen[@]}"; do
		[ -n "${took[$name]-}" ] || echo "$name - - - -" >>"$DIR/table"
		printf '%-22s %-8s %s\n' "$name" "$(if [ -z "${took[$name]-}" ]; then echo "not run"; elif [ "$(count_of "$DIR/$name.result" tap_failed)" -eq 0 ]; then echo passed; else echo FAILED; fi)" "$(what_is "$name")"
	done >"$DIR/index.txt"
	say ""
	printf '%-24s %8s %8s %8s %8s\n' part seconds passed failed skipped
	sort -k2,2nr "$DIR/table" | while read -r name s p f k; do
		printf '%-24s %8s %8s %8s %8s\n' "$name" "$s" "$p" "$f" "$k"
	done
	{
		printf '{"mode": "%s", "state": "%s", "total_s": %d, "parts": [' "$mode" "$state" $total_s
		sort -k2,2nr "$DIR/table" | awk '$2 != "-" { printf "%s\n {\"name\": \"%s\", \"s\": %d, \"passed\": %d, \"failed\": %d, \"skipped\": %d}",
			(NR > 1 ? "," : ""), $1, $2, $3, $4, $5 }'
		printf '\n]}\n'
	} >"$DIR/times.json"
	[ -n "$interrupted" ] || [ -n "$given" ] || remember "all-$mode" $total_s
	printf '%s: %s; each part has a log in %s/, index.txt there tells what they are\n' "$title" "$(minutes $total_s)" "$DIR"
	tap_report
}

# only_one: ends this run if it has parts that start servers while another such run with the same
# cache goes on. Takes the lock, descriptor 9.
only_one()
{
	local name lock=$KVGPU_CACHE/check/running servers=''
	for name in "${chosen[@]}"; do
		case ${part_modes[$name]} in *s*) servers=yes ;; esac
	done
	[ -n "$servers" ] || return 0
	mkdir -p "${lock%/*}"
	exec 9>>"$lock"
	if ! flock -n 9; then
		echo "check.sh: $(cat "$lock"). Two at once would use the same beds: wait until it ends, or end it." >&2
		exit 1
	fi
	echo "a check runs here already (process $$, in $PWD, since $(date +%H:%M))" >"$lock"
}

# only_here: ends this run if another one goes on in this tree. Takes the lock, descriptor 8.
only_here()
{
	mkdir -p build
	exec 8>>build/check.running
	if ! flock -n 8; then
		echo "check.sh: $(tail -n 1 build/check.running) runs in this tree already: wait until it ends, or end it." >&2
		exit 1
	fi
	echo "$title (process $$, since $(date +%H:%M))" >build/check.running
}

only_one
only_here
total=${#chosen[@]}
rm -rf "$DIR.before"
[ ! -d "$DIR" ] || mv "$DIR" "$DIR.before"
mkdir -p "$DIR"
[ ! -e "$DIR.before/kernels.tsv" ] || cp "$DIR.before/kernels.tsv" "$DIR"	# collects the results of all runs until "make supported" takes them
: >"$DIR/table"
say "$title$given: $total parts, $LANES at a time, those that take longest first; each writes to $DIR/PART.log, its tests to PART.result; at the end $DIR/names.txt has the name of every test$(last=$(awk -v n="all-$mode" '$1 == n { print $2 }' "$TIMES" 2>/dev/null); [ -n "$given" ] || [ -z "$last" ] || echo "; the last run on this machine took $(minutes "$last")")"
if ! testbed/tb setup 8>&- 9>&-; then
	tap_fail "testbed/tb setup"
	tap_report
	exit 1
fi
trap interrupt INT TERM HUP

mapfile -t builds < <(for name in "${chosen[@]}"; do case ${part_modes[$name]} in *b*) echo "$name" ;; esac; done)
mapfile -t others < <(for name in "${chosen[@]}"; do case ${part_modes[$name]} in *b*) ;; *) echo "$(expected "$name") $name" ;; esac; done |
	if [ -n "$only_stale" ]; then cat; else sort -nr; fi | cut -d' ' -f2)
run_parts 1 "${builds[@]}"
run_parts "$LANES" "${others[@]}"
finish
