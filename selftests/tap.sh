# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced. Runs test programs that print TAP and keeps the score. A line "ok" counts as passed, "not
# ok" as failed; "ok" with SKIP and cmocka's "not ok N # SKIP" count as skipped. A known bug of
# somebody else's passes with both of its outcomes: "not ok" with XFAIL, it fails as known, and "ok"
# with GONE, it is mended. A program counts as one more failure if it runs into its time limit,
# prints no test line or fewer than it planned, or ends with an error although all its lines are ok.

tap_passed=0 tap_failed=0 tap_skipped=0 tap_failures=() tap_skips=() tap_known=() tap_names=()

# tap_run NAME LIMIT_S CMD...: runs a TAP program, ends it after LIMIT_S seconds, and adds its lines
# to the score
tap_run()
{
	local name=$1 limit=$2 log rc line planned=-1 seen=0 bad=0 start=$SECONDS why='' told=0 text
	shift 2
	log=$(mktemp)
	printf '== %s\n' "$name"
	timeout --kill-after=30 "$limit" "$@" >"$log" 2>&1
	rc=$?
	while IFS= read -r line; do
		case $line in
		"#"*)
			# a failure is listed with the comment before it and up to four comments
			# after it
			if [ "$told" -gt 0 ]; then
				tap_failures+=("    $line"); told=$((told - 1))
			else
				why=$line
			fi
			continue ;;
		esac
		told=0
		case $line in
		"ok "* | "ok" | "not ok"*)
			text=${line#*ok }
			text=${text#"${text%%[!0-9]*}"}
			text=${text# - }
			text=${text%% \# *}
			tap_names+=("$name: ${text# }") ;;
		esac
		case $line in
		"1..0"*"# SKIP"*) seen=1 tap_skipped=$((tap_skipped + 1)); tap_skips+=("$name: ${line#1..0 }") ;;
		1..*) planned=${line#1..}; planned=${planned%% *} ;;
		"not ok"*"# XFAIL "*) seen=$((seen + 1)); tap_passed=$((tap_passed + 1)); tap_known+=("as known: $name: ${line#not ok }") ;;
		"ok "*"# GONE "*) seen=$((seen + 1)); tap_passed=$((tap_passed + 1)); tap_known+=("gone:     $name: ${line#ok }") ;;
		# cmocka writes "not ok N # SKIP" for a test that was skipped
		"not ok "[0-9]" # SKIP "*|"not ok "[0-9][0-9]" # SKIP "*) seen=$((seen + 1)); tap_skipped=$((tap_skipped + 1)); tap_skips+=("$name: ${line#not ok }") ;;
		"not ok"*) seen=$((seen + 1)); bad=$((bad + 1)); tap_failed=$((tap_failed + 1))
			   tap_failures+=("$name: $line" ${why:+"    $why"}); told=4 ;;
		"ok"*"# SKIP"*|"ok"*"# skip"*) seen=$((seen + 1)); tap_skipped=$((tap_skipped + 1)); tap_skips+=("$name: ${line#ok }") ;;
		"ok "*) seen=$((seen + 1)); tap_passed=$((tap_passed + 1)) ;;
		esac
		why=
	done <"$log"
	if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		tap_fail "$name: not done after $limit s"
	elif [ "$seen" -eq 0 ]; then
		tap_fail "$name: no test ran (exit code $rc)"
	elif [ "$planned" -ge 0 ] && [ "$seen" -lt "$planned" ]; then
		tap_fail "$name: planned $planned, ran $seen (exit code $rc)"
	elif [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		tap_fail "$name: exit code $rc although every line is ok"
	fi
	if [ "$rc" -ne 0 ] || [ "$bad" -ne 0 ]; then
		tail -n 60 "$log" | sed 's/^/   | /'
	fi
	printf '   %d lines, %d failed, %d s\n' "$seen" "$bad" $((SECONDS - start))
	rm -f "$log"
}

# tap_step NAME LIMIT_S CMD...: runs a command that prints no TAP, as one test that its exit code
# decides
tap_step()
{
	local name=$1 limit=$2 log rc start=$SECONDS
	shift 2
	log=$(mktemp)
	printf '== %s\n' "$name"
	timeout --kill-after=30 "$limit" "$@" >"$log" 2>&1
	rc=$?
	tap_names+=("$name")
	if [ "$rc" -eq 0 ]; then
		tap_passed=$((tap_passed + 1))
	else
		tap_fail "$name: exit code $rc"
		tail -n 60 "$log" | sed 's/^/   | /'
	fi
	printf '   exit code %d, %d s\n' "$rc" $((SECONDS - start))
	rm -f "$log"
	return "$rc"
}

tap_fail()
{
	tap_failed=$((tap_failed + 1))
	tap_failures+=("$1")
	printf '   FAILED %s\n' "$1"
}

# tap_save FILE: writes the score so far to FILE, as shell declarations of these variables
tap_save() { declare -p tap_passed tap_failed tap_skipped tap_failures tap_skips tap_known tap_names >"$1.new" && mv "$1.new" "$1"; }

# tap_add FILE: adds the score that tap_save wrote to FILE to the score of this process
tap_add()
{
	local -a own=("$tap_passed" "$tap_failed" "$tap_skipped") failures=("${tap_failures[@]}") skips=("${tap_skips[@]}") known=("${tap_known[@]}") names=("${tap_names[@]}")

	eval "$(sed 's/^declare -[-a]* //' "$1")"
	tap_passed=$((tap_passed + own[0])) tap_failed=$((tap_failed + own[1])) tap_skipped=$((tap_skipped + own[2]))
	tap_failures=("${failures[@]}" "${tap_failures[@]}")
	tap_skips=("${skips[@]}" "${tap_skips[@]}")
	tap_known=("${known[@]}" "${tap_known[@]}")
	tap_names=("${names[@]}" "${tap_names[@]}")
}

# tap_report: prints what was skipped, what failed, and the score. Returns 0 only if at least one
# test passed and none failed.
tap_report()
{
	if [ "${#tap_skips[@]}" -gt 0 ]; then
		printf '\nskipped:\n'
		printf '  %s\n' "${tap_skips[@]}"
	fi
	if [ "${#tap_known[@]}" -gt 0 ]; then
		printf '\nknown bugs of others, which fail as known or are gone:\n'
		printf '  %s\n' "${tap_known[@]}"
	fi
	if [ "${#tap_failures[@]}" -gt 0 ]; then
		printf '\nfailures:\n'
		printf '  %s\n' "${tap_failures[@]:0:60}"
		[ "${#tap_failures[@]}" -le 60 ] || printf '  and %d lines more\n' $((${#tap_failures[@]} - 60))
	fi
	printf '%d passed, %d failed, %d skipped\n' "$tap_passed" "$tap_failed" "$tap_skipped"
	[ "$tap_failed" -eq 0 ] && [ "$tap_passed" -gt 0 ]
}
