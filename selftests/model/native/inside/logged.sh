#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: clears the kernel's log, runs a program, and leaves in the file $1 what the kernel complained of meanwhile.
complaints=$1
shift
dmesg -C
"$@"
status=$?
/share/native/complaints.sh >"$complaints.new"
mv "$complaints.new" "$complaints"
exit $status
