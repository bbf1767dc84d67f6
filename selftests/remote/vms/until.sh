#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# until.sh SECONDS COMMAND...: until it succeeds, but for about so many seconds
n=$(($1 * 5))
shift
until "$@" >/dev/null 2>&1; do
	n=$((n - 1))
	[ $n -gt 0 ] || { echo "in vain: $*"; exit 1; }
	sleep 0.2
done
