# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: peers that the server does not know yet, many and
# often, beside programs. Judged by counts.
accepted() { ctl list --json --interval 0 | jq .accepted; }
refused_ones() { ctl list --json --interval 0 | jq .refused; }

# beside N attackers that replay a ClientHello programs come in, and the server starts as many processes as it may: those of two seconds
# at once, 16 for the attackers' source and 32 for all in each second. A program that was served counts half
beside_replay() # GROUP
{
	local before began times=() rc=0 attackers took n

	before=$(accepted) began=$(date +%s%N)
	selftests/remote/replay.py "$tls_port" "$1" 12 6 > "$work/replay" & attackers=$!
	for _ in $(seq 8); do
		took=$(date +%s%N)
		timeout 60 env "$tls" "$ann" "$work/faults" after_fork "$cubin" > "$work/said" 2>&1 || rc=1
		times+=($((($(date +%s%N) - took) / 1000000)))
	done
	wait "$attackers"
	n=$(($(accepted) - before)) took=$((($(date +%s%N) - began) / 1000000))
	result $rc "a program beside 12 peers that replay a ClientHello ($1), 8 times" "ms: ${times[*]}"
	[ "$n" -le $((64 + 32 * took / 1000 + 8)) ]
	result $? "and processes are started for so many of them as may be" "$n in $took ms, $(cat "$work/replay")"
}

# the last close() of what a peer sends here waits for minutes, and the server answers its admin
sends_a_descriptor()
{
	python3 - "$server" "$work/socket" "$remote/kvgpu-remotectl" --socket "$work/admin" list --interval 0 <<-'P'
	import os, signal, socket, struct, subprocess, sys
	server = int(sys.argv[1])
	listening = socket.create_server(("127.0.0.1", 0))
	one = socket.create_connection(listening.getsockname())
	other = listening.accept()[0]
	one.setblocking(False)
	try:
	    while one.send(bytes(65536)):
	        pass
	except BlockingIOError:
	    pass
	one.setblocking(True)
	one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 300))
	os.kill(server, signal.SIGSTOP)
	peer = socket.socket(socket.AF_UNIX)
	peer.connect(sys.argv[2])
	try:
	    socket.send_fds(peer, [b"this is no hello of a client"], [one.fileno()])
	except PermissionError:	# since Linux 6.16
	    peer.send(b"this is no hello of a client")
	    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
	one.close()
	os.kill(server, signal.SIGCONT)
	peer.settimeout(60)
	try:
	    peer.recv(1)
	except ConnectionResetError:
	    pass
	sys.exit(subprocess.call(["timeout", "60"] + sys.argv[3:], stdout=subprocess.DEVNULL))
	P
}

run_newcomers()
{
	local before

	service_config "listen = tls:127.0.0.1:$tls_port"
	start_service
	beside_replay x25519
	beside_replay ffdhe8192
	until_true no_clients
	before="$(accepted) $(refused_ones)"
	python3 - "$tls_port" "$work/socket" <<-'P'
	import socket, sys
	for i in range(100):
	    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
	    u = socket.socket(socket.AF_UNIX)
	    u.connect(sys.argv[2])
	    u.sendall(b"\x16\x03\x01\x02\x00" * 4)
	    for one in s, u:
	        one.settimeout(20)
	        try:
	            assert one.recv(100) == b""
	        except ConnectionResetError:
	            pass
	P
	[ $? = 0 ] && [ "$(accepted) $(refused_ones)" = "${before% *} $((${before#* } + 200))" ]
	result $? "peers that begin with other bytes get no process" "before $before, then $(accepted) $(refused_ones)"
	[ "$(grep -c 'it does not begin as' "$work/service.log")" -le 120 ]
	result $? "and the log stays small" "$(grep -c 'it does not begin as' "$work/service.log") lines"
	try "a descriptor that a peer sends holds nobody up" sends_a_descriptor
	stop_server
}
