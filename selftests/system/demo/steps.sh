# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by demo.sh and shown_test.sh. Prints the steps: first the plan, with the times of the last run that passed here, or
# guesses; then each step as it begins and ends.

times=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/demo/times	# "STEP SECONDS" lines of the last run that went well, then "date DATE"
titles=() guesses=() taken=()
at=0 step_began=0 life=''

# will TEXT GUESS: adds a step to the plan; GUESS: seconds, if nothing has to be fetched or built
will() { titles+=("$1"); guesses+=("$2"); }

# expected: prints how many seconds the step took in that run, or the guess
expected() # STEP
{
	if known_times; then
		awk -v n="$1" '$1 == n { print $2 }' "$times"
	else
		echo "${guesses[$1 - 1]}"
	fi
}

known_times() { [ "$(awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/' "$times" 2>/dev/null | wc -l)" = ${#titles[@]} ]; }

plan()
{
	local n sum=0
	for n in "${!titles[@]}"; do sum=$((sum + $(expected $((n + 1))))); done
	if known_times; then
		printf '%s: %d steps. The last time on this machine it took %d s (%s):\n' "$1" ${#titles[@]} $sum "$(sed -n 's/^date //p' "$times")"
	else
		printf '%s: %d steps. It never ran on this machine; an estimate for two cores is %d s, without what is fetched and built at first:\n' "$1" ${#titles[@]} $sum
	fi
	for n in "${!titles[@]}"; do
		printf '%3d  %-88s %4d s\n' $((n + 1)) "${titles[n]}" "$(expected $((n + 1)))"
	done
}

# step: ends the step that runs, and begins the next one of the plan
step()
{
	step_done
	at=$((at + 1)) step_began=$SECONDS
	printf '\n%d/%d  %s\n' $at ${#titles[@]} "${titles[at - 1]}"
	life_begins
}

step_done()
{
	[ $at -gt 0 ] || return 0
	life_ends
	taken[at]=$((SECONDS - step_began))
	printf '     %d/%d took %d s\n' $at ${#titles[@]} "${taken[at]}"
}

# life_begins: on a terminal, counts the seconds of a step in its last line, after $life_after seconds
life_after=20
life_begins()
{
	[ -t 1 ] || return 0
	local usual
	usual=$(expected $at)
	(
		trap - EXIT INT TERM
		seconds=$life_after
		sleep "$life_after"
		while kill -0 $$ 2>/dev/null; do
			printf '\r     %d/%d ... %d s (%s)\033[K' $at ${#titles[@]} $seconds "$(known_times && echo "last time $usual" || echo "about $usual")"
			sleep 1
			seconds=$((seconds + 1))
		done
	) &
	life=$!
	disown $life		# so that "wait" in demo.sh does not wait for it
}

life_ends()
{
	[ -n "$life" ] || return 0
	kill "$life" 2>/dev/null || true
	life=
	printf '\r\033[K'
}

# indent: indents a program's output below its step; on a terminal it overwrites the line of
# life_begins
indent() { if [ -t 1 ]; then sed -u $'s/^/\r\033[K     /'; else sed -u 's/^/     /'; fi; }

keep_times()
{
	local n
	mkdir -p "${times%/*}"
	{
		for n in "${!taken[@]}"; do printf '%d %d\n' "$n" "${taken[n]}"; done
		printf 'date %s\n' "$(date +%F)"
	} >"$times.new"
	mv "$times.new" "$times"
}
