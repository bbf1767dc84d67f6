#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# marks.sh CLIENT TEST: runs in a tiny guest, whose agent carries no streams while a command runs. What the client says goes to
# marks/said in the shared folder; at a mark it goes on when there is marks/answer.N for the N-th of them. Then nothing of this
# runs until the client says more: between two marks only the client is at work.
dir=${0%/*}/marks
fifo=/dev/kvgpu-marks
rm -f $fifo
mkfifo $fifo
exec 3<>$fifo
{ "$1" --marks "$2" <&3; echo "# exit code $?"; } | {
	n=0
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$dir/said"
		case $line in "# mark "*) ;; *) continue ;; esac
		n=$((n + 1))
		until [ -e "$dir/answer.$n" ]; do sleep 0.2; done
		echo >&3
	done
}
rm -f $fifo
