# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: how much pinned memory programs have, and what
# bounds it (pins.c).

# pins_server OPTION...: at a socket that every user may use
pins_server()
{
	start_server --admin "$work/admin" "$@"
	chmod 666 "$work/socket"
	until_true ctl list --interval 0
	things | sort > "$work/things" # it opens some behind the line that start_server waits for
}

# refused_pins WHY COMMAND...: a program that asks for more than there is says so once, and works with what it has
refused_pins()
{
	local why=$1

	shift
	"$@" < /dev/null > "$work/said" 2>&1 && grep -q "^ready [1-9]" "$work/said" && [ "$(grep -c 'no more pinned memory' "$work/said")" = 1 ] &&
		grep -q "no more pinned memory, where [0-9]* MiB are asked for: $why" "$work/said"
	result $? "what bounds pinned memory is said once: $why" "$(head -n 1 "$work/said")"
}

are_ready() { [ "$(cat "$work"/pins-public/said-* | grep -c ^ready)" = "$1" ]; }

# one program of each of forty users takes all that it may, and keeps it; an honest one beside them
forty_programs()
{
	local i sum programs=() public=$work/pins-public

	mkdir -p "$public"
	cp "$remote/libcuda.so.1" "$work/pins" "$public/"
	chmod -R a+rX "$public" "$work"
	mkfifo "$work/hold"
	exec {hold}<> "$work/hold"
	for i in $(seq 40); do
		setpriv --reuid $((12000 + i)) --regid $((12000 + i)) --clear-groups "$public/pins" most 64 < "$work/hold" > "$public/said-$i" 2>&1 &
		programs+=($!)
		[ $((i % 8)) != 0 ] || until_true are_ready "$i"
	done
	until_true are_ready 40
	result $? "forty clients each pin all they may" "$(sort "$public"/said-* | uniq -c | head -n 1)"
	[ "$(grep -l 'key pinned' "$public"/said-* | wc -l)" = 40 ]
	result $? "and are told what bounds it"
	sum=$(ctl metrics | awk '/^kvgpu_remote_client_pinned_bytes/ { n += $2 } END { print n }')
	[ "$sum" = $((40 * (24 << 20))) ]
	result $? "which the server counts" "$sum bytes"
	ctl list --interval 0 | grep -q 'PIN MiB' &&
		ctl list --interval 0 --json | jq -e 'all(.clients[]; .pinned_bytes == 25165824)' > /dev/null
	result $? "and kvgpu-remotectl list shows"
	step "an honest client works beside them" "$work/pins" work 12
	step "twice" "$work/pins" work 12
	kill -0 "$server"
	result $? "the first process lives"
	kill "${programs[@]}"
	wait "${programs[@]}" 2>/dev/null
	exec {hold}>&-
	nothing_left "forty clients with pinned memory"
}

# a server whose machine says that it has less left than is to be left
little_memory()
{
	printf 'MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 1010000 kB\n' > "$work/meminfo"
	rm -f "$work/socket"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$0" /proc/meminfo && exec "$@"' "$work/meminfo" "$remote/kvgpu-remoted" --listen "$at" --library "$library" \
		2>> "$work/server.log" &
	server=$!
	until_true test -S "$work/socket"
	refused_pins "the server's machine has too little memory left" "$work/pins" most 1024
}

run_pins()
{
	local name port

	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/pins.c -o "$work/pins" "$work/libcuda.so.1" -Wl,-rpath,"\$ORIGIN" ||
		{ result 1 "pins builds"; return; }
	for name in unix aperture; do
		carrier $name
		start_server
		step "1 GiB of pinned memory in pieces, copied both ways" "$work/pins" work 1024
		stop_server
	done
	library=$work/libseen.so over='aperture, registered: '
	start_server
	step "512 MiB of pinned memory in pieces, copied both ways" "$work/pins" work 512
	stop_server
	library=$inprocess/libcuda.so.1
	carrier aperture
	pins_server --pinned 64M --arena 16M
	refused_pins "the server's remoted.conf bounds .*(key pinned)" "$work/pins" most 1024
	stop_server
	start_server
	refused_pins "this process has no more memory or addresses (ulimit -v)" bash -c "ulimit -v 1000000 && exec $work/pins most 1024"
	stop_server
	carrier place
	start_server
	refused_pins "the file or device of the aperture bounds it" "$work/pins" most 1024
	stop_server
	read -r port _ <<< "$(free_ports 2)"
	"$remote/kvgpu-remotectl" certs server localhost --folder "$work/pins-tls" > /dev/null && "$remote/kvgpu-remotectl" certs client ann --folder "$work/pins-tls" > /dev/null
	over='TLS: ' at=tls:127.0.0.1:$port
	start_server --tls-folder "$work/pins-tls"
	KVGPU_REMOTE=tls:localhost:$port KVGPU_REMOTE_TLS=$work/pins-tls/clients/ann step "512 MiB of pinned memory in pieces, copied both ways" "$work/pins" work 512
	stop_server
	carrier aperture
	if [ "$(id -u)" = 0 ]; then
		pins_server --pinned 24M --arena 8M
		forty_programs
		stop_server
		little_memory
		stop_server
	else
		result 0 "forty clients, and a machine with little memory" "SKIP not run as root"
	fi
}
