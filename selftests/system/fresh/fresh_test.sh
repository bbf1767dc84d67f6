#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests the cells of run.sh: what a command sees in a cell, what is recorded and measured, and that
# nothing is left of a cell that was ended. The root file systems contain bash and a few programs of
# this machine. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
if ! git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	echo 'ok 1 - cells # SKIP this tree is no git checkout, and cells are made of a commit'
	echo 1..1
	exit 0
fi
work=$(mktemp -d)
export KVGPU_CACHE=$work/cache FRESH_ROOM=200 PATH=$work/bin:$PATH
mark=fresh-test-$$
number=0 failed=0 server=''
trap '[ -z "$server" ] || kill "$server"; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

result() # STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		failed=$((failed + 1))
		tail -n 5 "$work/out" | sed 's/^/# /'
		echo "not ok $number - $2"
	fi
}

check() # NAME CONDITION...
{
	local name=$1
	shift
	"$@"
	result $? "$name"
}

# make_machine: makes such a root, and a script in place of mmdebstrap that copies it; the script
# also writes the proxy's port to /etc/port
make_machine()
{
	local file
	mkdir -p "$work/bin" "$work/machine"/{etc,proc,sys,dev,run,tmp,root,usr,home}
	for file in bash sleep cat head env mkdir; do
		file=$(readlink -f "$(type -P $file)")
		# shellcheck disable=SC2046
		cp --parents "$file" $(ldd "$file" | grep -o '/[^ ]*') "$work/machine"
		[ -e "$work/machine/bin/${file##*/}" ] || cp -r --parents "/bin/${file##*/}" "$work/machine"
	done
	cat >"$work/bin/mmdebstrap" <<-S
		#!/bin/bash
		root=\${@: -2:1}
		cp -a "$work/machine" "\$root"
		printf '%s\n' "\$@" | sed -n 's/.*Acquire::http::Proxy.*:\([0-9]*\)".*/\1/p' >"\$root/etc/port"
	S
	chmod 755 "$work/bin/mmdebstrap"
}

cell() # CELL COMMAND: runs the cell with that command; returns the exit code of run.sh, whose output is in $work/out
{
	# shellcheck disable=SC2086
	selftests/system/fresh/run.sh --cell "$1" --commands "$2" >"$work/out" 2>&1
}

said() { grep -q -- "$1" "$work/out"; }
log() { cat "$work"/cache/fresh/records/*/"$1".log; }
record() { sed -n "s/^$2\t//p" "$work"/cache/fresh/records/*/"$1".tsv; }

# nothing_left: true if no process and no mount of a cell is left; the end of a namespace takes a
# moment
nothing_left()
{
	local tries
	for tries in {1..600}; do
		pgrep -af "$mark" >"$work/out" || break
		sleep 0.1
	done
	: "$tries"
	! pgrep -af "$mark" >"$work/out" && ! grep -F "$work" /proc/mounts >"$work/out"
}

sees_its_own_machine()
{
	# shellcheck disable=SC2016
	cell 12-root 'set -e; [ "$HOSTNAME" = fresh ]; [ "$PWD" = /root/kvgpu ]; [ -e Makefile ]; [ ! -e .git ]; [ "$HOME" = /root ]; [ -z "${KVGPU_CACHE-}" ]; n=-1; while read -r a; do n=$((n + 1)); done </proc/net/route; echo "routes: $n"; for p in /proc/[0-9]*; do echo "process $p"; done; while read -r a b c; do echo "mount $b"; done </proc/mounts; echo x >/dev/shm/x; echo x >/dev/null' || return
	log 12-root >"$work/out"
	grep -qx 'routes: 0' "$work/out" && [ "$(grep -c '^process' "$work/out")" -le 3 ] && [ "$(grep -c '^mount' "$work/out")" -gt 8 ] && ! grep -F "$work" "$work/out"
}

# fetches CELL BYTES: a command fetches the only file of an archive on this machine through the
# proxy, which must have fetched BYTES for it; a connection that does not go through the proxy must
# fail
fetches()
{
	local port
	mkdir -p "$work/archive/pool"
	head -c 3000000 /dev/urandom >"$work/archive/pool/a.deb"
	python3 -u -m http.server --bind 127.0.0.1 --directory "$work/archive" 0 >"$work/server" 2>&1 &
	server=$!
	for _ in {1..600}; do
		port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' "$work/server")
		[ -z "$port" ] || break
		sleep 0.1
	done
	# "set -e" does not end a script at a "!" that fails, so "exit 9" does
	cell "$1" "set -e; ! exec 4<>/dev/tcp/127.0.0.1/$port || exit 9; exec 3<>/dev/tcp/127.0.0.1/\$(cat /etc/port); echo 'GET http://127.0.0.1:$port/pool/a.deb HTTP/1.0' >&3; echo >&3; cat <&3 >/tmp/a" &&
		[ "$(record "$1" step | cut -f4,5)" = "3000000	$2" ]
	set -- $?
	kill "$server"
	server=''
	return "$1"
}

# interrupt SIGNAL: ends run.sh by the signal while a cell's command runs; nothing may be left
interrupt()
{
	local pid rc
	# a shell's background job ignores SIGINT
	env --default-signal=INT selftests/system/fresh/run.sh --cell 13-tmp --commands ": $mark; (sleep 1000.$$ & sleep 1001.$$)" >"$work/out" 2>&1 &
	pid=$!
	for _ in {1..600}; do
		pgrep -xf "sleep 1001.$$" >/dev/null && break
		sleep 0.1
	done
	pgrep -xf "sleep 1001.$$" >/dev/null || return
	kill "-$1" $pid
	wait $pid
	rc=$?
	echo "# exit code $rc" >>"$work/out"
	nothing_left && ! pgrep -xf "sleep 100[01].$$" && case $1 in KILL) [ $rc -eq 137 ] ;; *) [ $rc -eq 130 ] ;; esac
}

passes() { cell 12-root true && [ "$(record 12-root result)" = passed ]; }
fails() { ! cell 12-root 'exit 7' && said "FAILED.*'exit 7' failed" && [ "$(record 12-root result)" = failed ] && said 'exit code 7'; }
leaves_processes() { ! cell 12-root "sleep 1002.$$ & true" && log 12-root | grep -q 'left processes behind: .*(sleep)' && ! pgrep -xf "sleep 1002.$$"; }
takes_too_long() { ! FRESH_LIMIT=8 cell 12-root "sleep 1003.$$" && said 'not done after 8 s' && ! pgrep -xf "sleep 1003.$$"; }
# Over 2^31 bytes, because some versions of awk print no larger integers. The command holds them until
# the watcher has seen them, a minute at most.
holds_memory()
{
	local in=$work/cache/fresh/cells/12-root end pid
	cell 12-root 'head -c 2300000000 /dev/zero >/dev/shm/x; >/root/full; until [ -e /root/seen ]; do sleep 0.1; done' &
	pid=$!
	while kill -0 $pid 2>/dev/null && [ ! -e "$in/root/root/full" ]; do sleep 0.1; done
	end=$((SECONDS + 60))
	until [ $SECONDS -ge $end ] || [ "$(cat "$in/memory" 2>/dev/null || echo 0)" -gt 2300000000 ]; do sleep 0.1; done
	: >"$in/root/root/seen"
	wait $pid && record 12-root step | cut -f6 >"$work/out" &&
		[ "$(cat "$work/out")" -gt 2300000000 ] && [ "$(cat "$work/out")" -lt 2400000000 ]
}

make_machine
check "a cell passes and is recorded" passes
check "a command sees a machine of its own" sees_its_own_machine
check "a command that fails is told" fails
check "processes that are left are a failure" leaves_processes
check "a cell that takes too long is a failure" takes_too_long
check "memory is measured" holds_memory
check "the proxy is the only way out; what is fetched is counted" fetches 13-root 3000000
check "interrupted: nothing is left" interrupt INT
check "killed: nothing is left" interrupt KILL
check "what a killed run left on the disk is removed by the next" passes
check "no cell is left on the disk" test ! -e "$work/cache/fresh/cells"
echo "1..$number"
[ $failed -eq 0 ]
