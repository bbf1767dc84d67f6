# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: another build takes the place of a server's first
# process while programs run. Everything is by the installed file, $work/installed, under the privileges of systemd's unit.

RELOADS=20

# program I [VARIABLE=VALUE...] [-- ARGUMENT...]: number I of those that run
program()
{
	local i=$1 variables=()

	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	env "${variables[@]}" "$work/reloads" "$work/over" "$cubin" "${@:2}" > "$work/reload.$i" 2>&1 &
	reloading[i]=$!
}

eight_compute() { [ "$(cat "$work"/reload.[1-8] | grep -c ready)" = 8 ]; }

# hears, in systemd's place, what the server tells it: a word a line in $work/notified; $systemd is its process
hear_notifications()
{
	python3 - "$work/notify" > "$work/notified" <<-'P' &
	import socket, sys
	s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	s.bind(sys.argv[1])
	while True:
	    print(s.recv(1000).decode().split("\n")[0], flush=True)
	P
	systemd=$!
	until_true test -S "$work/notify"
}

# A server of its own, whose installed build says nothing, and has a child that keeps its standard error and the connection of
# kvgpu-remotectl: it is refused after 20 s, so end_hung_reload() looks at it later. $hung, $asks, and the child in $work/hung.child
begin_hung_reload()
{
	cp "$remote/kvgpu-remoted" "$work/hangs"
	"$work/hangs" --listen "unix:$work/hung" --library "$library" --admin "$work/hung-admin" 2> "$work/hung.log" &
	hung=$!
	until_true test -S "$work/hung-admin"
	printf '#!/bin/sh\nsleep 1000 &\necho $! > "%s"\nexec sleep 1000\n' "$work/hung.child" > "$work/hangs.new"
	chmod 755 "$work/hangs.new"
	mv "$work/hangs.new" "$work/hangs"
	"$remote/kvgpu-remotectl" --socket "$work/hung-admin" reload > "$work/hung.said" 2>&1 &
	asks=$!
}

end_hung_reload()
{
	wait "$asks"
	[ $? = 1 ] && grep -q 'hangs has not said within 20 s whether it goes on' "$work/hung.said" &&
		"$remote/kvgpu-remotectl" --socket "$work/hung-admin" list --interval 0 > /dev/null
	result $? "a build that says nothing is refused" "$(cat "$work/hung.said")"
	kill -9 "$hung" "$(cat "$work/hung.child")" 2> /dev/null
	wait "$hung" 2> /dev/null
}

# what a reload has to keep; kinds of descriptors of the first process
rows() { ctl list --json --interval 0 | jq -c '.pid, .since, (.clients[] | [.id, .who, .peer, .pid, .user, .since, .memory_bytes, .pinned_bytes])'; }
kinds() { find "/proc/$server/fd" -mindepth 1 -printf '%l\n' | sed 's/:\[.*//' | sort; }
# those of a client's process
held_by() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
# known_to PID TEXT...: those of the texts that are in the memory of that process
known_to()
{
	python3 - "$@" <<-'P'
	import sys
	found, words = set(), sys.argv[2:]
	with open(f"/proc/{sys.argv[1]}/mem", "rb") as memory:
	    for line in open(f"/proc/{sys.argv[1]}/maps"):
	        place, rights = line.split()[:2]
	        start, end = (int(n, 16) for n in place.split("-"))
	        try:
	            memory.seek(start)
	            text = memory.read(min(end - start, 64 << 20) if rights[:2] == "rw" else 0)
	        except (OSError, ValueError):
	            continue	# of a device, or behind the end of a file
	        found.update(w for w in words if w.encode() in text)
	print(*sorted(found))
	P
}
program_of() { ctl list --json --interval 0 | jq ".clients[$1].pid"; }

turns() { ctl list --json --interval 0 | jq -c '.clients | map(select(.id <= 8) | .gpu_turns)'; }
calls() { ctl list --json --interval 0 | jq -c '.clients | map(select(.id <= 8) | .calls)'; }
# all_more BEFORE OF: whether each of the numbers that OF prints has grown
all_more() { jq -en "[$1, $("$2")] | transpose | length >= 7 and all(.[1] > .[0])"; }

# programs that come and go meanwhile, to .arrived: how many there were, and those that had an error
arrive()
{
	local n=0 wrong=0

	while [ ! -e "$work/enough" ]; do
		"$@" "$work/faults" after_fork "$cubin" > "$work/arrived.said.$BASHPID" 2>&1 || wrong=$((wrong + 1))
		n=$((n + 1))
		sleep 0.1
	done
	echo "$n $wrong" >> "$work/arrived"
}

run_through_reloads()
{
	local i before wrong=0 stuck=0 arriving=() seed=${KVGPU_RELOAD_SEED:-$RANDOM}

	RANDOM=$seed
	arrive env "KVGPU_REMOTE=unix:$work/socket" & arriving+=($!)
	arrive env "$tls" "$ann" & arriving+=($!)
	for ((i = 0; i < RELOADS; i++)); do
		sleep "0.$(printf %03d $((RANDOM % 300)))"
		before=$(turns)
		ctl reload || wrong=$((wrong + 1))
		until_true all_more "$before" turns || stuck=$((stuck + 1))
	done
	touch "$work/enough"
	wait "${arriving[@]}"
	result $wrong "$RELOADS reloads at random moments" "seed $seed"
	result $stuck "after each, all programs go on having turns" "$(turns)"
	awk '{ n += $1; wrong += $2 } END { exit !(NR == 2 && n > 2 && !wrong) }' "$work/arrived"
	result $? "programs that come and go see nothing of it" "$(xargs < "$work/arrived")"
	until_true listed_are 8
}

# installs WHAT: a file that is executed in the server's place; the old one stays until it is not used
installs()
{
	cp "$1" "$work/installed.new"
	chmod 755 "$work/installed.new"
	mv "$work/installed.new" "$work/installed"
}

# is_refused TEXT: a reload is, and says so; programs go on
is_refused()
{
	local before

	refused_by_ctl "$1" reload && said_by_server "reload: " || return 1
	before=$(calls)
	until_true all_more "$before" calls
}

# can_not_adopt TEXT FILE: a state that is none
can_not_adopt()
{
	"$remote/kvgpu-remoted" --config "$work/remoted.conf" --can-adopt 9 9< "$2" > "$work/out" 2>&1
	[ $? = 1 ] && grep -qF -- "$1" "$work/out" || { cat "$work/out"; return 1; }
}

run_refused_reloads()
{
	local at

	cp "$work/remoted.conf" "$work/right.conf"
	sed -i '1i memroy = 1G' "$work/remoted.conf"
	try "with a mistake in remoted.conf it is refused" is_refused "remoted.conf:1: there is no key \"memroy\""
	{ echo "clients = 5"; cat "$work/right.conf"; } > "$work/remoted.conf"
	try "and with a key that only a restart changes" is_refused "clients was another one when the server was started"
	{ echo "listen = unix:$work/nowhere/socket"; cat "$work/right.conf"; } > "$work/remoted.conf"
	try "and with an address that can't be had" is_refused "there is no such folder"
	{ echo "admin-group = no-such-group"; cat "$work/right.conf"; } > "$work/remoted.conf"
	try "and with a group that can't be had" is_refused "a socket can't be given to the group no-such-group: there is no such group"
	cp "$work/right.conf" "$work/remoted.conf"
	# a build whose states are of another version, and one from before there were any
	cat > "$work/other" <<-B
	#!/bin/bash
	at=\${!#}
	cp /proc/self/fd/\$at "$work/state"
	sed 's/^\(kvgpu-remoted.0.version=\)/\19/' "$work/state" > "$work/state.2"
	exec "$remote/kvgpu-remoted" "\${@:1:\$#-1}" 19 19< "$work/state.2"
	B
	installs "$work/other"
	try "a state of another version is refused" is_refused "this build takes over a server's state of version "
	printf '#!/bin/sh\necho "there is no option $3" >&2\nexit 2\n' > "$work/other"
	installs "$work/other"
	try "by a build from before there were any" is_refused "there is no option --can-adopt"
	rm "$work/installed"
	try "where no build is installed" is_refused "$work/installed: No such file"
	for at in 0 $(($(stat -c %s "$work/state") - 1)); do
		head -c "$at" "$work/state" > "$work/state.cut"
		try "a state of which $at bytes are there" can_not_adopt "the state to take over: all of it" "$work/state.cut"
	done
	try "a file that is no state" can_not_adopt "the state to take over: all of it: it is not whole" /etc/passwd
	try "a state without its descriptors" can_not_adopt "the state to take over: server: " "$work/state"
}

# lets_others_serve FILE: no server has the lock of that aperture (remote/channel/endpoint.c)
lets_others_serve()
{
	python3 - "$1" <<-'P'
	import fcntl, struct, sys
	with open(sys.argv[1], "r+b") as f:
	    fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
	P
}

# groups_are MODE GROUP: of the sockets for clients and for admins
groups_are() { [ "$(stat -c '%a %G' "$work/socket" "$work/admin" | uniq)" = "$*" ]; }

# what of a configuration reaches programs that run
run_new_keys()
{
	local calls group

	group=$([ "$(id -u)" = 0 ] && echo nogroup || id -gn)
	printf '%s\n' "memory = 48M" "listen = unix:$work/other-socket" "socket-group = $group" "admin-group = $group" > "$work/remoted.conf"
	sed -e '/^memory/d' -e 's/^weight = 20/weight = 30/' "$work/right.conf" >> "$work/remoted.conf"
	# a build in whose time, between its trial and its start, somebody takes the new address
	cat > "$work/other" <<-B
	#!/bin/bash
	[[ \$* != *--can-adopt* ]] || exec "$remote/kvgpu-remoted" "\$@"
	mkdir "$work/other-socket"
	cp "$remote/kvgpu-remoted" "$work/installed.new"
	mv "$work/installed.new" "$work/installed"
	exec "$work/installed" "\$@"
	B
	installs "$work/other"
	calls=$(calls)
	try "an address that is taken while the server reloads is named" refused_by_ctl "goes on with all clients, but unix:$work/other-socket is not" reload
	try "and all go on" until_true all_more "$calls" calls
	try "who may connect is of other groups" groups_are 660 "$group"
	rmdir "$work/other-socket"
	try "a reload with other keys" ctl reload
	try "another weight holds for who is there" clients_say '[.clients[] | select(.who == "tls:bob") | .weight] == [30]'
	step "an address that is new" env "KVGPU_REMOTE=unix:$work/other-socket" "$work/faults" after_fork "$cubin"
	until_true listed_are 8
	sed -i -e '/other-socket/d' -e '/-group/d' -e '/listen = aperture/d' -e 's/^weight = 30/allow = no/' "$work/remoted.conf"
	try "and with less" ctl reload
	try "the address is gone" test ! -e "$work/other-socket"
	try "and so are the groups" groups_are 600 "$(id -gn)"
	said_by_server "listens no more at aperture:$work/shared,bell=unix:$work/bell"
	result $? "and the aperture, but for its program"
	try "who is not allowed any more is ended" until_true listed_are 7
	calls=$(calls)
	try "the others go on" until_true all_more "$calls" calls
}

# a stop that comes together with a reload, which the loop sees in one round
is_stopped_while_it_reloads()
{
	python3 - "$server" "$work/admin" <<-'P' || return 1
	import os, signal, socket, sys, time
	server, s = int(sys.argv[1]), socket.socket(socket.AF_UNIX)
	def held(): return len(os.listdir(f"/proc/{server}/fd"))
	def is_stopped(): return open(f"/proc/{server}/stat").read().rsplit(")", 1)[1].split()[0] == "T"
	def wait_for(what):
	    for i in range(6000):
	        if what():
	            return
	        time.sleep(.01)
	before = held()
	s.connect(sys.argv[2])
	wait_for(lambda: held() > before)
	os.kill(server, signal.SIGSTOP)
	wait_for(is_stopped)
	s.send(b"reload\n")
	os.kill(server, signal.SIGTERM)
	os.kill(server, signal.SIGCONT)
	answer = s.recv(1000)
	print(answer)
	sys.exit(b"the server ends" not in answer)
	P
	until_true eval '! kill -0 "$server"'
}

run_reloads()
{
	local systemd hung asks prints reloading=() starts=() i rc wrong=0 shares=KVGPU_REMOTE=unix:$work/socket

	if ! gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/reloads.c -o "$work/reloads" "$work/libcuda.so.1" -Wl,-rpath,"\$ORIGIN"; then
		result 1 "reloads: the program builds"
		return
	fi
	rm -f "$work"/{over,enough,event,arrived*,notify}
	begin_hung_reload
	ctl certs client bob --folder "$work/tls" > /dev/null 2>&1
	truncate -s 80M "$work/shared"
	installs "$remote/kvgpu-remoted"
	service_config "memory = 64M" "listen = tls:127.0.0.1:$tls_port" "listen = aperture:$work/shared,bell=unix:$work/bell" "[client tls:bob]" "weight = 20"
	starts=("$work/installed")
	[ "$(id -u)" != 0 ] || starts=(setpriv --no-new-privs "--bounding-set=-all,+setuid,+setgid,+kill,+chown" "$work/installed")
	hear_notifications
	NOTIFY_SOCKET=$work/notify start_service
	program 3 "$shares" # the first row's, which a newcomer by the same address is compared with
	until_true grep -q ready "$work/reload.3"
	program 1 "$shares" -- gives "$work/event"
	program 2 "$shares" -- takes "$work/event"
	program 4 "KVGPU_REMOTE=aperture:$work/socket"
	program 5 "KVGPU_REMOTE=aperture:$work/socket"
	program 6 "KVGPU_REMOTE=aperture:$work/shared,bell=unix:$work/bell"
	until_true listed_are 6
	# the last rows' are names that no rule of the configuration has, and fingerprints: a reload must not leave them to a newcomer
	program 7 "$tls" "$ann"
	program 8 "$tls" "KVGPU_REMOTE_TLS=$work/tls/clients/bob"
	until_true eight_compute
	until_true clients_say '.clients | length == 8 and all(.state == "served" and .gpu_turns > 0)'
	result $? "eight programs run, of four clients" "$(cat "$work"/reload.? | xargs)"
	rows > "$work/rows"
	kinds > "$work/kinds"
	run_through_reloads
	rows | diff "$work/rows" - > "$work/out"
	result $? "all rows are as before" "$(xargs < "$work/out" | head -c 400)"
	kinds | diff "$work/kinds" - > "$work/out"
	result $? "and so are the first process's descriptors" "$(xargs < "$work/out")"
	[ "$(sort "$work/notified" | uniq -c | xargs)" = "$((RELOADS + 1)) READY=1 $RELOADS RELOADING=1" ]
	result $? "systemd is told of each" "$(sort "$work/notified" | uniq -c | xargs)"
	try "one more, where no program comes" ctl reload # by which the last row is a client's by TLS
	holder "$shares"
	# a process that has just come still has what it looks at its start
	until_true eval '[ "$(held_by "$(program_of 0)")" = "$(held_by "$(program_of 8)")" ]'
	result $? "a new client's process has no other descriptors than one from before" "$(held_by "$(program_of 0)"), $(held_by "$(program_of 8)")"
	if [ "$(id -u)" = 0 ]; then
		mapfile -t prints < <(ctl list --json --interval 0 | jq -r '.clients[].fingerprint // empty' | sort -u)
		known_to "$(program_of 8)" "unix:$(id -u)" tls:ann "${prints[@]:?}" > "$work/out"
		[ "$(cat "$work/out")" = "unix:$(id -u)" ]
		result $? "and knows no other client" "$(cat "$work/out")"
	else
		result 0 "and knows no other client" "SKIP not run as root"
	fi
	end_program
	until_true listed_are 8
	run_refused_reloads
	rows | diff "$work/rows" - > "$work/out"
	result $? "rows are as before all of that" "$(xargs < "$work/out" | head -c 400)"
	installs "$remote/kvgpu-remoted"
	run_new_keys
	[ "$(readlink "/proc/$server/exe")" = "$work/installed" ]
	result $? "what runs is what is installed" "$(readlink "/proc/$server/exe")"
	touch "$work/over"
	for i in 1 2 3 4 5 6 7; do
		wait "${reloading[i]}" && grep -q 'rounds, 50331648 bytes' "$work/reload.$i" || wrong=$((wrong + 1))
	done
	result $wrong "each program had right bytes until its end, and other memory by then" "$(cat "$work"/reload.[1-7] | grep -v ready | xargs)"
	wait "${reloading[8]}"
	rc=$?
	until_true lets_others_serve "$work/shared"
	result $? "the aperture is free for another server"
	[ $rc = 2 ] && grep -q 'SYSTEM_NOT_READY' "$work/reload.8"
	result $? "but the one that was ended, which has its error" "$(tail -n 1 "$work/reload.8")"
	end_hung_reload
	try "a stop while it reloads is one" is_stopped_while_it_reloads
	stop_server
	kill "$systemd"
	rm "$work/shared" "$work/notify"
}
