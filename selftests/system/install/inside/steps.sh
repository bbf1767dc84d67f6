# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by the scripts that run in a fresh root: functions for TAP and apt, and lists of the files
# and packages that are there.
results=0 failures=0

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

# step NAME COMMAND...: one test: COMMAND succeeds; prints the end of its output if not
step()
{
	local name=$1 rc
	shift
	"$@" >/tmp/log 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 15 /tmp/log | sed 's/^/# /'
	result $rc "$name"
}

apt() { apt-get -q -y --no-install-recommends "$@"; }
files() { find / -xdev \( -path /root -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/log -o -path /var/cache \
	-o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune -o -print | sort; }
packages() { dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n'; }

# refuses TEXT COMMAND...: true if COMMAND ends with exit code 1 and its output has TEXT
refuses() { local said rc; said=$("${@:2}" 2>&1); rc=$?; echo "exit code $rc: $said"; [ $rc = 1 ] && grep -qF "$1" <<<"$said"; }
