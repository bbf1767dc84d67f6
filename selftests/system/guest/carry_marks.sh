#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# carry_marks.sh NAME TEST: runs kvgpu-client --marks TEST in the tiny guest NAME by inside/marks.sh:
# prints the client's output, waits for a line of input at each mark, and ends with its exit code.
set -u
cd "$(dirname "$0")/../../.." || exit 1
dir=$(testbed/tb share)/marks
read_lines=0 answers=0 code=''
rm -rf "$dir"
mkdir "$dir"
: >"$dir/said"
timeout --kill-after=10 190 testbed/tb guest run "$1" -- chroot /image dash /mnt/marks.sh /mnt/kvgpu-client "$2" </dev/null >&2 &
guest=$!
while [ -z "$code" ]; do
	over=''
	kill -0 $guest 2>/dev/null || over=yes
	# the lines that are new since last time; not a last line that has no line break yet
	mapfile -t lines < <(head -n "$(wc -l <"$dir/said")" "$dir/said" | tail -n "+$((read_lines + 1))")
	for line in "${lines[@]}"; do
		read_lines=$((read_lines + 1))
		case $line in
		"# exit code "*) code=${line##* }; continue ;;
		esac
		printf '%s\n' "$line"
		case $line in
		"# mark "*)
			IFS= read -r _ || exit 1
			answers=$((answers + 1))
			: >"$dir/answer.$answers" ;;
		esac
	done
	if [ -n "$over" ] && [ -z "$code" ] && [ ${#lines[@]} -eq 0 ]; then
		echo "Bail out! the guest says nothing more"
		exit 1
	fi
	sleep 0.1
done
wait $guest
exit "$code"
