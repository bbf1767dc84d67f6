#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# enter.sh ROOT PLACE COMMAND: runs COMMAND in the folder PLACE of the root file system ROOT, with
# the environment of root's login. Runs as process 1 of a PID namespace, in a mount and UTS
# namespace of its own. Ends with COMMAND's exit code, or with 99 if that is 0 but processes of
# COMMAND are still there 5 s later.
set -eu
printf 'fresh\n' >/proc/sys/kernel/hostname
mount -t proc proc "$1/proc"
# shellcheck disable=SC2016
exec env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM=linux \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" /bin/bash -c '
	cd "$1" || exit 125
	/bin/bash -c "$2"
	rc=$?
	for tries in {1..50}; do
		left=
		for process in /proc/[0-9]*; do
			[ "$process" != /proc/1 ] && read -r stat <"$process/stat" || continue
			case $stat in *") Z "*) ;; *) left+=" ${stat%%)*})" ;; esac
		done 2>/dev/null
		[ -n "$left" ] || exit $rc
		sleep 0.1
	done
	echo "fresh: the command left processes behind:$left"
	[ $rc -ne 0 ] || rc=99
	exit $rc' fresh "$2" "$3"
