#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# marks.sh CLIENT TEST: runs CLIENT --marks TEST in a tiny guest, whose agent passes on no output
# before a command has ended. This writes the client's output to marks/said in the shared folder. At
# its Nth mark the client waits until the file marks/answer.N exists.
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
