#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server: prints the kernel's log at level warning or above, and lines that sound like
# trouble below it.
{
	dmesg --notime --level=emerg,alert,crit,err,warn
	dmesg --notime | grep -Ei 'error|warn|timeout|timed out|fail|fault|unable|cannot|invalid|unknown|BUG|Oops|Call Trace|stall|hung|unhandled|corrupt|killed'
} | awk '!seen[$0]++'
