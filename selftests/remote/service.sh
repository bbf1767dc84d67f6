# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh, whose variables and functions it uses. Tests kvgpu-remoted as a service: configuration, TLS, users, admin, limits,
# socket activation, with programs on the remote libcuda.so.1. Tells without root that users for clients' processes were not tried.

free_ports() # N
{
	python3 - "$1" <<-'P'
	import socket, sys
	all = [socket.socket() for _ in range(int(sys.argv[1]))]
	for s in all:
	    s.bind(("127.0.0.1", 0))
	print(*(s.getsockname()[1] for s in all))
	P
}

# try NAME FUNCTION...: as step, but runs a function of this script
try()
{
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	result $rc "$name" "$(tail -n 1 <<< "$out")"
	[ $rc = 0 ] || sed 's/^/# /' <<< "$out" | tail -n 20
}

# until_true COMMAND...: repeats the command until it succeeds, for a minute and longer
until_true()
{
	for _ in $(seq 1200); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}

ctl() { "$remote/kvgpu-remotectl" --socket "$work/admin" "$@"; }
newcomer_is_in() { grep -qx "$1" "/proc/$(ctl list --json --interval 0 | jq '.clients[] | select(.state == "new") | .pid')/cgroup"; }
clients_are() { [ "$(ctl list --json --interval 0 | jq .served)" = "$1" ]; }

# service_config LINE...: a configuration of the lines that all tests have, and of these
service_config()
{
	{
		printf '%s\n' "library = $work/public/libcuda.so.1" "admin-socket = $work/admin" "tls-folder = $work/tls" \
			"listen = unix:$work/socket" "$@"
	} > "$work/remoted.conf"
}

# with ${starts[@]} in the place of the server's name, where there is such
start_service()
{
	: > "$work/service.log"
	"${starts[@]:-$remote/kvgpu-remoted}" --config "$work/remoted.conf" 2>> "$work/service.log" &
	server=$!
	until_true ctl list --interval 0 || sed 's/^/# /' "$work/service.log"
}

said_by_server() { grep -qF -- "$1" "$work/service.log"; }

# holder [VARIABLE=VALUE...]: a program that holds memory until the server is gone; $program, and what it says in $work/said
holder()
{
	: > "$work/said"
	env "$@" "$work/faults" holds "$cubin" > "$work/said" 2>&1 &
	program=$!
	until_true grep -q ready "$work/said"
}

end_program()
{
	kill -9 "$program" 2>/dev/null
	wait "$program" 2>/dev/null
}

# refused TEXT [VARIABLE=VALUE...]: a program ends by itself, and says TEXT
refused() { refused_by after_fork "$@"; }

# refused_by PROGRAM TEXT [VARIABLE=VALUE...]: of faults.c's programs
refused_by()
{
	local what=$1 text=$2 rc

	shift 2
	timeout 60 env "$@" "$work/faults" "$what" "$cubin" > "$work/said" 2>&1
	rc=$?
	if [ $rc != 0 ] && [ $rc != 124 ] && grep -qF -- "$text" "$work/said"; then
		return 0
	fi
	echo "exit code $rc"
	cat "$work/said"
	return 1
}

prepare_service()
{
	chmod 711 "$work"
	mkdir -p "$work/public"
	cp "$inprocess/libcuda.so.1" "$work/public/"
	chmod -R a+rX "$work/public"
	read -r tls_port tcp_port <<< "$(free_ports 2)"
	tls=KVGPU_REMOTE=tls:localhost:$tls_port
	ann=KVGPU_REMOTE_TLS=$work/tls/clients/ann
	try "certificates for a server" ctl certs server localhost 127.0.0.1 --folder "$work/tls"
	try "and for a client" ctl certs client ann --folder "$work/tls"
}

# ------------------------------------------------------------------ addresses, and how a client finds its server

run_addresses()
{
	local stalling

	service_config "listen = tls:*:$tls_port" "listen = tcp:127.0.0.1:$tcp_port" "patience = 60"
	start_service
	step "a program by TLS" env "$tls" "$ann" "$work/faults" after_fork "$cubin"
	step "a program by TCP on this machine" env "KVGPU_REMOTE=tcp:127.0.0.1:$tcp_port" "$work/faults" after_fork "$cubin"
	step "functions of the host by TLS" env "$tls" "$ann" "$work/faults" host_functions "$cubin"
	step "threads that are cancelled in calls by TLS" env "$tls" "$ann" "$work/kvgpu-cuda-driver" "$cubin" cancel
	printf 'server = tls:localhost:%s\ntls-folder = %s\n' "$tls_port" "$work/tls/clients/ann" > "$work/remote.conf"
	step "by remote.conf" env -u KVGPU_REMOTE "KVGPU_REMOTE_CONF=$work/remote.conf" "$work/faults" after_fork "$cubin"
	printf '\nserver = gpu\n' > "$work/wrong.conf"
	try "a wrong one is named with its line" refused "$work/wrong.conf:2: server is" -u KVGPU_REMOTE "KVGPU_REMOTE_CONF=$work/wrong.conf"
	try "none at all" refused "no server is named" -u KVGPU_REMOTE "KVGPU_REMOTE_CONF=$work/nothing"
	try "plain TCP to another machine" refused "use tls:HOST:PORT" KVGPU_REMOTE=tcp:192.0.2.1:7411
	try "no certificates" refused "$work/nothing/ca.crt: no such file" "$tls" "KVGPU_REMOTE_TLS=$work/nothing"
	try "a name that the certificate has not" refused "not for 127.0.0.2" "KVGPU_REMOTE=tls:127.0.0.2:$tls_port" "$ann"
	"$remote/kvgpu-remotectl" certs client ann --folder "$work/theirs" > /dev/null
	try "another CA" refused "is not of the CA" "$tls" "KVGPU_REMOTE_TLS=$work/theirs/clients/ann"
	stalling
	step "a program while others stall" env "$tls" "$ann" "$work/faults" after_fork "$cubin"
	stop_server
	wait "$stalling"
	# a server of their own: its patience is that for a program, too
	service_config "listen = tls:*:$tls_port" "listen = tcp:127.0.0.1:$tcp_port" "patience = 1"
	start_service
	stalling
	wait "$stalling"
	grep -q ended "$work/stalled"
	result $? "who stalls is ended, and sees it"
	until_true no_clients
	until_true said_by_server 'has not said who it is'
	result $? "which is said" "$(grep -c 'has not said who it is' "$work/service.log") times"
	stop_server
}

# clients that stall, on each of the sockets, until the server has ended them all: $stalling is their process
stalling()
{
	python3 - "$tls_port" "$tcp_port" "$work/socket" > "$work/stalled" <<-'P' &
	import socket, sys
	all = [socket.create_connection(("127.0.0.1", int(port))) for port in sys.argv[1:3]]
	for s in all:
	    s.sendall(b"\x16\x03\x01")
	all.append(socket.socket(socket.AF_UNIX))
	all[-1].connect(sys.argv[3])
	print("stalled", flush=True)
	for s in all:
	    s.settimeout(100)
	    try:
	        while s.recv(100):
	            pass
	    except ConnectionResetError:
	        pass
	print("ended", flush=True)
	P
	stalling=$!
	until_true grep -q stalled "$work/stalled"
}

# a microVM's VMM connects its guest to the server's socket, by a name in its own folder and by its own user
run_microvm()
{
	local relay from=KVGPU_REMOTE=tcp:127.0.0.1:$tcp_port

	if [ "$(id -u)" != 0 ]; then
		result 0 "a microVM" "SKIP not run as root"
		return
	fi
	service_config "socket-group = users" "[client unix:12345]" "weight = 7"
	start_service
	mkdir "$work/jail"
	ln "$work/socket" "$work/jail/v.sock_$tcp_port"
	python3 - tcp "$tcp_port" "$work/jail" 12345 "$(stat -c %g "$work/socket")" < selftests/remote/relay.py > "$work/relay" & relay=$!
	until_true grep -q listens "$work/relay"
	step "a program in a microVM" env "$from" "$work/faults" host_functions "$cubin"
	holder "$from"
	try "it is known by its VMM's user" clients_say '.clients[0] | .who == "unix:12345" and .weight == 7'
	kill "$relay"
	wait "$relay" 2>/dev/null
	try "the VMM ends: its program gets its error" holder_gets_its_error
	try "and its process ends" until_true no_clients
	stop_server
	rm -r "$work/jail"
}

no_clients() { listed_are 0; }
# listed_are N: so many programs, with those whose end is not complete
listed_are() { [ "$(ctl list --json --interval 0 | jq '.clients | length')" = "$1" ]; }

# ------------------------------------------------------------------ what an admin sees and does

run_admin()
{
	local user line

	service_config "listen = tls:127.0.0.1:$tls_port" "clients = 1" "newcomers = 3" "[client tls:ann]" "memory = 16M" "weight = 7" \
		"[client tls:bob]" "allow = no"
	start_service
	holder "$tls" "$ann"
	result $? "a program holds memory" "$(tail -n 1 "$work/said")"
	line=$(ctl list --json --interval 0 | jq '.clients[0].calls')
	try "it makes calls, which are counted" until_true clients_say ".clients[0].calls > $line"
	ctl list --json --interval 0.2 > "$work/list.json"
	jq -e -s '.[0] | .state == "serving" and .served == 1 and (.clients[0] | .who == "tls:ann" and .peer == "tcp:127.0.0.1" and .state == "served" and
		.memory_bytes >= 3145728 and .memory_bytes < 16777216 and .calls > 1 and (.calls_per_s | type) == "number" and .received_bytes > 1000 and
		.sent_bytes > 100 and .weight == 7 and .since > 1700000000)' "$work/list.json" > /dev/null
	result $? "it is listed as JSON" "$(head -c 900 "$work/list.json")"
	ctl list --interval 0 | grep -q '^1 .*served .*tls:ann .*tcp:127.0.0.1'
	result $? "and in a table"
	ctl metrics > "$work/metrics" && selftests/module/tools/prometheus-check.py < "$work/metrics" > "$work/wrong" &&
		grep -q '^kvgpu_remote_client_memory_bytes{who="tls:ann",slot="0"} [1-9]' "$work/metrics"
	result $? "and for Prometheus" "$(head -n 1 "$work/wrong")"
	line=$(jq -r '.clients[0] | "\(.pid) \(.user)"' "$work/list.json")
	if [ "$(id -u)" = 0 ]; then
		user=$(sed -n 's/^Uid:\t\([0-9]*\)\t\1\t\1\t\1$/\1/p' "/proc/${line% *}/status")
		[ "$user" = "${line#* }" ] && [ "$user" -ge 1879048192 ] && grep -q '^CapPrm:.0*$' "/proc/${line% *}/status" &&
			grep -q '^NoNewPrivs:.1$' "/proc/${line% *}/status" && grep -q '^Seccomp:.2$' "/proc/${line% *}/status"
		result $? "its process has a user of its own, no privileges, and a filter" "user $user"
	else
		result 0 "its process has a user of its own" "SKIP not run as root"
	fi
	if [ "$(id -u)" = 0 ]; then
		chmod 666 "$work/socket" "$work/admin"
		try "a client's process is nobody's client" is_hung_up_on "$work/socket" 1879048195
		try "and no admin" is_hung_up_on "$work/admin" 1879048192
		said_by_server "tried to become a client" && said_by_server "tried to become an admin"
		result $? "which is said"
		chmod 600 "$work/socket" "$work/admin"
	else
		result 0 "a client's process is nobody's client" "SKIP not run as root"
	fi
	try "there is no place for another one" refused "as many clients as it takes" "KVGPU_REMOTE=unix:$work/socket"
	ctl certs client bob --folder "$work/tls" > /dev/null
	try "one that is not let in" refused "does not let this client in" "$tls" "KVGPU_REMOTE_TLS=$work/tls/clients/bob"
	try "its certificate again" refused_by_ctl "is not overwritten" certs client bob --folder "$work/tls"
	try "it is ended" ctl end "$(jq .clients[0].id "$work/list.json")"
	wait "$program"
	result $? "and gets its error" "$(tail -n 1 "$work/said")"
	try "one that is not there" refused_by_ctl "no client with that number" end 999
	until_true no_clients
	holder "KVGPU_REMOTE=unix:$work/socket"
	try "a drain begins" ctl drain
	try "no new client comes" refused "no server listens there" "KVGPU_REMOTE=unix:$work/socket"
	clients_are 1 && kill -0 "$program" && kill -0 "$server"
	result $? "who was there stays"
	end_program
	wait "$server"
	result $? "and when it goes, the server ends"
	server=
	said_by_server "the last client has gone"
	result $? "and says so"
	try "no server for kvgpu-remotectl" refused_by_ctl "no kvgpu-remoted is there" list
}

# says TEXT ARGUMENT...: what kvgpu-remotectl prints when it succeeds
says() { [ "$(ctl "${@:2}" 2>&1)" = "$1" ]; }

# a key that was lost is shut out beside others, by the certificate's name and by the key's fingerprint
run_refused()
{
	local other calls print eve=KVGPU_REMOTE_TLS=$work/tls/clients/eve

	ctl certs client eve --folder "$work/tls" > /dev/null
	print=$(ctl certs show "$work/tls/clients/eve/client.crt")
	print=${print% eve}
	service_config "listen = tls:127.0.0.1:$tls_port"
	start_service
	holder "$tls" "$ann"
	other=$program
	holder "$tls" "$eve"
	try "a name is refused" says "refused the name eve; 1 client ended" refuse eve --folder "$work/tls"
	try "its program gets its error" holder_gets_its_error
	try "its next one finds no GPU" refused "does not let this client in" "$tls" "$eve"
	said_by_server "tls:eve: refused: $work/tls/refused:1"
	result $? "which the log says"
	try "the same again" says "is refused already: the name eve; 0 clients ended" refuse tls:eve --folder "$work/tls"
	try "it is accepted" says "accepted the name eve" accept eve --folder "$work/tls"
	holder "$tls" "$eve"
	try "and listed with its fingerprint" clients_say ".clients[1].fingerprint == \"$print\""
	try "which is refused" says "refused the key $print; 1 client ended" refuse "${print^^}" --folder "$work/tls"
	try "its program gets its error" holder_gets_its_error
	try "its next one finds no GPU" refused "does not let this client in" "$tls" "$eve"
	calls=$(ctl list --json --interval 0 | jq '.clients[0].calls')
	try "the other client's program goes on" until_true clients_say ".clients[0] | .who == \"tls:ann\" and .calls > $calls"
	echo "e v e" >> "$work/tls/refused"
	try "a file with a wrong line refuses all" refused "does not let this client in" "$tls" "$ann"
	said_by_server "$work/tls/refused:2: neither a name nor a fingerprint"
	result $? "which the log says"
	try "and is not changed" refused_by_ctl "refused:2: neither" accept "$print" --folder "$work/tls"
	rm "$work/tls/refused"
	kill -9 "$other"
	wait "$other" 2>/dev/null
	stop_server
	try "without a server a name is refused" says "refused the name eve; no server is at $work/admin" refuse eve --folder "$work/tls"
	rm "$work/tls/refused"
}

# is_hung_up_on: whether a client that connects as that user is disconnected, before it has said anything
is_hung_up_on() # SOCKET USER
{
	python3 - "$@" <<-'P'
	import os, socket, sys
	os.setgroups([])
	os.setresuid(*[int(sys.argv[2])] * 3)
	s = socket.socket(socket.AF_UNIX)
	s.settimeout(100)
	s.connect(sys.argv[1])
	sys.exit(s.recv(1) != b"")
	P
}

refused_by_ctl() # TEXT ARGUMENT...
{
	local text=$1 out rc

	shift
	out=$(ctl "$@" 2>&1)
	rc=$?
	echo "exit code $rc: $out"
	[ $rc = 1 ] && grep -qF -- "$text" <<< "$out"
}

# ------------------------------------------------------------------ what can be wrong before the first client comes

# does_not_start TEXT LINE...
does_not_start()
{
	local text=$1 rc

	service_config "${@:2}"
	timeout 20 "$remote/kvgpu-remoted" --config "$work/remoted.conf" > "$work/out" 2>&1
	rc=$?
	cat "$work/out"
	[ $rc -gt 0 ] && [ $rc -lt 124 ] && grep -qF -- "$text" "$work/out"
}

run_configuration()
{
	local line

	try "a mistake in remoted.conf" does_not_start "$work/remoted.conf:5: there is no key \"memroy\"" "memroy = 1G"
	mv "$work/tls/server.crt" "$work/tls/away"
	try "a folder that is not there" does_not_start "there is no such folder" "listen = unix:$work/nowhere/socket"
	try "a certificate that is not there" does_not_start "$work/tls/server.crt: no such file" "listen = tls:127.0.0.1:$tls_port"
	result "$(! grep -q 'listens at' "$work/out"; echo $?)" "it does not say before that it listens"
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$work/rsa.key" -out "$work/tls/server.crt" 2> /dev/null
	try "a certificate of another kind" does_not_start "tls: $work/tls/server.crt: its key is RSA of 2048 bits; wanted is ECDSA P-256" \
		"listen = tls:127.0.0.1:$tls_port"
	mv "$work/tls/away" "$work/tls/server.crt"
	mkdir -p "$work/public/client"
	cp "$remote/libcuda.so.1" "$work/public/client/"
	for line in "$work/nothing.so:can't load its libcuda.so.1" \
		"$work/public/client/libcuda.so.1:kvgpu-remoted wants a libcuda.so.1 with a GPU"; do
		service_config
		sed -i "s,^library = .*,library = ${line%%:*}," "$work/remoted.conf"
		start_service
		try "its library is ${line##*/}" refused "${line#*:}" "KVGPU_REMOTE=unix:$work/socket"
		try "and the same over an aperture" refused "${line#*:}" "KVGPU_REMOTE=aperture:$work/socket"
		[ -e "${line%%:*}" ] || try "the log names it once" until_true said_by_server "library = ${line%%:*}: cannot open"
		stop_server
	done
}

# ------------------------------------------------------------------ apertures: over a socket, in files with a bell and without

clients_say()
{
	[ "$(ctl list --json --interval 0 | jq --arg me "unix:$(id -u)" --arg at "aperture:$work/shared" "$1")" = true ]
}

# the program that holds memory ends by itself, with the error of a server that is gone
holder_gets_its_error()
{
	until_true grep -q "ended with result 802" "$work/said"
	set -- $?
	end_program
	cat "$work/said"
	return "$1"
}

run_apertures()
{
	local with_bell=aperture:$work/shared,bell=unix:$work/bell pid

	truncate -s 80M "$work/shared" "$work/silent" "$work/quiet"
	service_config "listen = tcp:127.0.0.1:$tcp_port" "listen = $with_bell" "listen = aperture:$work/silent" "listen = aperture:$work/quiet" \
		"host-memory = 8G" "[client aperture:$work/shared]" "weight = 7"
	start_service
	step "functions of the host over an aperture" env "KVGPU_REMOTE=aperture:$work/socket" "$work/faults" host_functions "$cubin"
	until_true no_clients
	holder "KVGPU_REMOTE=aperture:$work/socket"
	try "its program is known by its user" clients_say '.clients[0] | .who == $me and .calls > 1 and .received_bytes > 100'
	pid=$(ctl list --json --interval 0 | jq '.clients[0].pid')
	grep -q '^Max data size  *8589934592  *8589934592 ' "/proc/$pid/limits" || ! grep -q 'no limit of CPU time' "$work/service.log"
	result $? "without a cgroup its process has a limit of memory" "$(grep data "/proc/$pid/limits")"
	grep -q '^Seccomp:.2$' "/proc/$pid/status" && ! grep -q "$work/s" "/proc/$pid/maps"
	result $? "its process has a filter, and nothing of other apertures"
	step "a program in a file" env "KVGPU_REMOTE=$with_bell" "$work/faults" host_functions "$cubin"
	end_program
	until_true no_clients
	holder "KVGPU_REMOTE=$with_bell"
	try "the one in a file is known by its path" clients_say '.clients[0] | .who == $at and .peer == $at and .weight == 7'
	pid=$(ctl list --json --interval 0 | jq '.clients[0].pid')
	grep -q '^Seccomp:.2$' "/proc/$pid/status" && [ "$(find "/proc/$pid/fd" -lname "$work/s[hi]*" -printf "%l\n")" = "$work/shared" ]
	result $? "its process has a filter, and one file"
	try "it is ended" ctl end "$(ctl list --json --interval 0 | jq '.clients[0].id')"
	try "and gets its error" holder_gets_its_error
	step "the next one" env "KVGPU_REMOTE=$with_bell" "$work/faults" after_fork "$cubin"
	try "by TCP there is no aperture" no_aperture_by_tcp
	until_true no_clients
	truncate -s 0 "$work/silent"
	try "a file is cut short while nobody uses it" until_true said_by_server "aperture:$work/silent: the aperture's memory is gone"
	holder "KVGPU_REMOTE=$with_bell"
	truncate -s 0 "$work/shared"
	try "one is cut short under its program, which gets its error" holder_gets_its_error
	try "that place is not served any more" until_true said_by_server "aperture:$work/shared: the aperture's memory is gone"
	step "the others are" env "KVGPU_REMOTE=aperture:$work/socket" "$work/faults" after_fork "$cubin"
	# the last one: without a bell its process finds out after 20 s that it has gone
	step "a program in a file without a bell" env "KVGPU_REMOTE=aperture:$work/quiet" "$work/faults" after_fork "$cubin"
	stop_server
	rm "$work/shared" "$work/silent" "$work/quiet"
	service_config "allow = no"
	start_service
	try "an aperture's program that is not let in" refused "does not let this client in" "KVGPU_REMOTE=aperture:$work/socket"
	stop_server
	truncate -s 80M "$work/shared"
	try "a file for nobody" does_not_start "the configuration does not allow its client" "allow = no" "listen = $with_bell"
	rm "$work/shared"
	run_plugged
}

# make_ends STATUS ARGUMENT...: kvgpu-aperture make ends so
make_ends()
{
	"$remote/kvgpu-aperture" make "${@:2}"
	[ $? = "$1" ]
}

# an aperture that comes while the server runs, as memory that is plugged into a VM
run_plugged()
{
	local folder=/dev/shm/kvgpu-remote-test-$$ pids=() i
	local later=$folder/lab-1

	mkdir -m 700 "$folder"
	service_config "listen = aperture:$later"
	: > "$later.new"
	start_service
	try "a device that is not there yet is awaited" said_by_server "aperture:$later is not there yet"
	try "what has nearly its name is told" said_by_server "there is $later.new"
	rm "$later.new"
	try "its program is told so" refused 'no such file or device: "ls /dev/kvgpu"' "KVGPU_REMOTE=aperture:$later"
	try "an aperture of a size that can't be is a wrong command line" make_ends 2 "$later.new" 15M
	try "and so is more programs than there is room for" make_ends 2 "$later.new" 128M 99
	"$remote/kvgpu-aperture" make "$later.new" 128M 3
	try "a file that was made so before stays" make_ends 0 "$later.new" 128M 3
	try "and is not made another one" make_ends 1 "$later.new" 128M 2
	mv "$later.new" "$later"
	try "it is served when it comes" until_true said_by_server "listens at aperture:$later, for 3 programs at once"
	for i in 1 2 3; do
		KVGPU_REMOTE=aperture:$later "$work/faults" host_functions "$cubin" > "$work/said-$i" 2>&1 & pids+=($!)
	done
	for i in 1 2 3; do
		wait "${pids[i - 1]}"
		result $? "programs beside each other, $i of 3" "$(tail -n 1 "$work/said-$i")"
	done
	stop_server
	rm -r "$folder"
}

# where standard error is the journal's socket, as systemd.exec(5) tells by JOURNAL_STREAM
run_journal()
{
	JOURNAL_STREAM=1:1 "$remote/kvgpu-remoted" --listen nowhere 2> "$work/out"
	grep -q '^kvgpu-remoted\[[0-9]*\]: --listen: ' "$work/out"
	result $? "lines in a file begin with name and process" "$(tail -n 1 "$work/out")"
	JOURNAL_STREAM=$(stat -c %d:%i "$work/out") "$remote/kvgpu-remoted" --listen nowhere 2> "$work/out"
	grep -q '^--listen: ' "$work/out"
	result $? "lines in the journal do not" "$(tail -n 1 "$work/out")"
}

# a client that asks for an aperture over TCP, which can't carry its memory, is disconnected
no_aperture_by_tcp()
{
	python3 - "$tcp_port" "$(grep -oP 'KVGPU_REMOTE_MAGIC_SHMEM\s+\K0x[0-9a-f]+' remote/wire/frame.h)" \
		"$(grep -oP 'KVGPU_REMOTE_VERSION\s+\K0x[0-9a-f]+' "$remote/gen/protocol.h")" <<-'P'
	import socket, struct, sys
	s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	s.sendall(struct.pack("<QQ", int(sys.argv[2], 16), int(sys.argv[3], 16)))
	got = s.recv(100)
	print(got)
	sys.exit(got != b"")
	P
}

# a process with a listening socket as descriptor 3, as systemd starts it
activated()
{
	exec python3 - "$work/activated" "$remote/kvgpu-remoted" "$@" <<-'P'
	import os, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.bind(sys.argv[1])
	s.listen()
	s = os.dup(s.fileno())
	os.dup2(s, 3)
	os.environ["LISTEN_FDS"], os.environ["LISTEN_PID"] = "1", str(os.getpid())
	os.execv(sys.argv[2], sys.argv[2:])
	P
}

run_activation()
{
	service_config "listen = unix:$work/activated"
	: > "$work/service.log"
	activated --config "$work/remoted.conf" 2>> "$work/service.log" &
	server=$!
	until_true ctl list --interval 0
	step "a program by systemd's socket" env "KVGPU_REMOTE=unix:$work/activated" "$work/faults" after_fork "$cubin"
	step "and by one of the configuration" env "KVGPU_REMOTE=unix:$work/socket" "$work/faults" after_fork "$cubin"
	stop_server
	[ -S "$work/activated" ] && [ ! -e "$work/socket" ] && [ ! -e "$work/admin" ]
	result $? "at the end systemd's socket stays, the others are gone"
}

# kept_are COUNT...: what the folders of compiled code tell, one for each client: two calls of cuInit() for each program
kept_are() { diff <(cat "$work"/compiled/*/0/b/* | sort -n) <(printf '%s\n' "$@"); }

# what the GPU's library compiles is there for the client's next process, of whatever user, and for no other client
run_compiled()
{
	mkdir -m 700 "$work/compiled"
	service_config "listen = tls:127.0.0.1:$tls_port" "compiled-folder = $work/compiled"
	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE -fPIC -shared selftests/remote/keeps.c -o "$work/public/libkeeps.so" \
		-Wl,--no-as-needed "$work/public/libcuda.so.1" -Wl,-rpath,"\$ORIGIN" || { result 1 "a library that keeps code builds"; return; }
	sed -i 's/libcuda.so.1/libkeeps.so/' "$work/remoted.conf"
	start_service
	holder "KVGPU_REMOTE=unix:$work/socket" # the next one has another user
	step "a program beside it" env "KVGPU_REMOTE=unix:$work/socket" "$work/faults" after_fork "$cubin"
	ctl reload
	step "a third one, after a reload" env "KVGPU_REMOTE=unix:$work/socket" "$work/faults" after_fork "$cubin"
	step "and one of another client" env "$tls" "$ann" "$work/faults" after_fork "$cubin"
	try "each client has its compiled code, over a reload as well" kept_are 2 6
	end_program
	stop_server
	until_true rmdir "$work/compiled"
	result $? "which goes with the server"
}

run_service()
{
	prepare_service
	run_addresses
	run_microvm
	run_apertures
	run_admin
	run_refused
	run_together
	run_shares
	run_newcomers
	run_configuration
	run_journal
	run_staying
	run_log
	run_kept
	run_compiled
	run_activation
	run_reloads
	run_sleep
	run_trace
}

# ------------------------------------------------------------------ the long part

# flood N ADDRESS...: at each so many that come again as soon as they are ended. ADDRESS: a path; a port, by 127.0.0.1; a port with +
# behind, by 127.0.0.9, which says a part of a handshake
flood()
{
	python3 - "$@" > "$work/flood" <<-'P' &
	import os, resource, selectors, socket, sys
	n, all = int(sys.argv[1]), selectors.DefaultSelector()
	resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
	def come(to):
	    s = socket.socket(socket.AF_UNIX if to[0] == "/" else socket.AF_INET)
	    try:
	        if to[-1] == "+":
	            s.bind(("127.0.0.9", 0))
	        s.connect(to if to[0] == "/" else ("127.0.0.1", int(to.rstrip("+"))))
	        if to[-1] == "+":
	            s.sendall(b"\x16\x03\x01")
	    except OSError:
	        s.close()
	        return False
	    all.register(s, selectors.EVENT_READ, to)
	    return True
	for to in sys.argv[2:]:
	    for i in range(n):
	        while not come(to):
	            pass
	print("all", flush=True)
	while os.getppid() != 1:
	    for key, _ in all.select(1):
	        all.unregister(key.fileobj)
	        key.fileobj.close()
	        while not come(key.data):
	            pass
	P
	flood=$!
	until_true grep -q all "$work/flood"
}

# come_in NAME [VARIABLE=VALUE...] PROGRAM: the program gets in. Beside a flood of its own source it has some seconds to say its name,
# which a busy machine may take: then it comes again, as one that is refused would. How often it came is printed.
come_in()
{
	local out rc came=0 began=$SECONDS

	until
		came=$((came + 1))
		out=$(timeout 100 env "${@:2}" after_fork "$cubin" 2>&1)
		rc=$?
		[ $rc = 0 ] || ! grep -qE 'while hands were shaken|server closed the connection' <<< "$out" || [ $((SECONDS - began)) -gt 100 ]
	do :; done
	result $rc "$1" "came $came times, exit code $rc: $(tail -n 1 <<< "$out")"
	[ $rc = 0 ] || sed 's/^/# /' <<< "$out" | tail -n 20
}

# newcomers that say nothing, or a part of what they should, and come again: programs get in
run_flood()
{
	local flood began=$SECONDS most

	service_config "newcomers = 16" "listen = tls:127.0.0.1:$tls_port"
	start_service
	flood 600 "$work/socket" "$tls_port" "$tls_port+"
	come_in "a program of the user of 600 that stall" "KVGPU_REMOTE=unix:$work/socket" "$work/faults"
	come_in "by TLS from the address of 600" "$tls" "$ann" "$work/faults"
	if [ "$(id -u)" = 0 ]; then
		mkdir -p "$work/public/client"
		cp "$remote/libcuda.so.1" "$work/faults" "$cubin" "$work/public/client/"
		chmod -R a+rX "$work/public"
		chmod 666 "$work/socket"
		cubin=$work/public/client/${cubin##*/} come_in "one of another user" "KVGPU_REMOTE=unix:$work/socket" setpriv --reuid 12345 --regid 12345 --clear-groups \
			"$work/public/client/faults"
	else
		result 0 "a program of another user" "SKIP not run as root"
	fi
	[ "$(ctl list --json --interval 0 | jq .new)" -le 16 ]
	result $? "of whom there are never more than the configuration says"
	# log_test has the budget on a clock of its own: 30 lines a minute of the machine's for each source; here are three
	most=$((90 * ((SECONDS - began) / 60 + 2)))
	[ "$(grep -c 'ended$' "$work/service.log")" -le $most ]
	result $? "and the log stays small" "$(wc -l < "$work/service.log") lines, of those of one kind $most at most"
	kill "$flood"
	wait "$flood" 2>/dev/null
	stop_server
}

run_many()
{
	local i pids=() failed_ones=0

	service_config "listen = tls:127.0.0.1:$tls_port" "clients = 64" "programs = 64"
	start_service
	for i in $(seq 24); do
		env "$tls" "$ann" "$work/faults" host_functions "$cubin" > "$work/many.$i" 2>&1 &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		wait "${pids[$i]}" || failed_ones=$((failed_ones + 1))
	done
	result $failed_ones "24 programs at once by TLS" "$failed_ones failed"
	until_true no_clients
	result $? "and none of their processes is left"
	stop_server
}

# programs of one client share a quota; another client has its own
run_together()
{
	local first last

	service_config "listen = tls:127.0.0.1:$tls_port" "clients = 8" "[client tls:ann]" "memory = 20M" "programs = 2"
	start_service
	holder "$tls" "$ann"
	first=$program
	try "a second program of a client has what the first has left" refused_by holds OUT_OF_MEMORY "$tls" "$ann"
	until_true listed_are 1
	holder "KVGPU_REMOTE=unix:$work/socket"
	last=$program
	result $? "another client has its own quota"
	env "$tls" "$ann" "$work/faults" settled "$cubin" > "$work/said" 2>&1
	result $? "programs that need less run" "$(tail -n 1 "$work/said")"
	until_true listed_are 2
	kill -9 "$first"
	wait "$first" 2>/dev/null
	try "the first one's process ends with it" until_true listed_are 1
	holder "$tls" "$ann"
	result $? "and the next program has what it had" "$(tail -n 1 "$work/said")"
	kill -9 "$program" "$last"
	wait "$program" "$last" 2>/dev/null
	stop_server
	service_config "listen = tls:127.0.0.1:$tls_port" "clients = 8" "[client tls:ann]" "programs = 1"
	start_service
	holder "$tls" "$ann"
	try "a client has only so many programs" refused "as many clients as it takes" "$tls" "$ann"
	said_by_server "as many programs here as it may"
	result $? "which the log says"
	end_program
	stop_server
}

# what a client's process has of another
run_apart()
{
	local first second

	service_config "clients = 8"
	start_service
	holder "KVGPU_REMOTE=unix:$work/socket"
	first=$program
	holder "KVGPU_REMOTE=unix:$work/socket"
	second=$(ctl list --json --interval 0 | jq '.clients[1].pid')
	first=$(ctl list --json --interval 0 | jq '.clients[0].pid')" $first"
	[ "$(grep -c '/dev/zero' "/proc/${first% *}/maps")" = "$(grep -c '/dev/zero' "/proc/$second/maps")" ]
	result $? "a client's process shares no page with another's" "$(grep -c '/dev/zero' "/proc/$second/maps")"
	[ "$(find "/proc/$second/fd" -lname 'socket:*' | wc -l)" = 1 ]
	result $? "and has no socket but its client's" "$(find "/proc/$second/fd" -lname 'socket:*' | wc -l)"
	stop_server
	wait "$program" "${first#* }"
	result $? "the server's end is the end of both"
}

# a server whose cgroup was delegated to it, as systemd does by Delegate=
delegated()
{
	exec unshare --mount bash -c '
		mount -t cgroup2 none /sys/fs/cgroup && mkdir "/sys/fs/cgroup/$1" &&
			python3 -c "import os, sys; os.setxattr(sys.argv[1], \"trusted.delegate\", b\"1\")" "/sys/fs/cgroup/$1" &&
			echo $$ > "/sys/fs/cgroup/$1/cgroup.procs" || exit 125
		cat "/sys/fs/cgroup/$1/cgroup.controllers" > "$2.controllers"
		"${@:3}" & server=$!
		trap "kill $server" TERM
		until ! kill -0 $server 2>/dev/null; do wait $server; done
		echo $$ > /sys/fs/cgroup/cgroup.procs
		find "/sys/fs/cgroup/$1" -mindepth 1 -type d > "$2.left"
		find "/sys/fs/cgroup/$1" -depth -type d -exec rmdir {} +' delegated "$@"
}

there_or_gone() { ctl list --interval 0 || ! kill -0 "$server"; }

run_cgroups()
{
	local group=kvgpu-test-$$ pid holds

	service_config "listen = tls:127.0.0.1:$tls_port" "host-memory = 3G" "tasks = 100" "[client unix:$(id -u)]" "weight = 77"
	rm -f "$work/cgroup".*
	: > "$work/service.log"
	delegated "$group" "$work/cgroup" "$remote/kvgpu-remoted" --config "$work/remoted.conf" 2>> "$work/service.log" &
	server=$!
	until_true there_or_gone
	if ! ctl list --interval 0 > /dev/null 2>&1; then
		result 0 "cgroups" "SKIP they can't be had here: $(tail -n 1 "$work/service.log")"
		server=
		return
	fi
	python3 - "$tls_port" <<-'P' & pid=$!
	import socket, sys, time
	s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	s.sendall(b"\x16\x03\x01\x02\x00")
	time.sleep(100)
	P
	try "a newcomer's process has that of newcomers" until_true newcomer_is_in "0::/$group/newcomers"
	kill "$pid"
	wait "$pid" 2>/dev/null
	until_true no_clients
	holder "KVGPU_REMOTE=unix:$work/socket"
	pid=$(ctl list --json --interval 0 | jq '.clients[0].pid')
	grep -qx "0::/$group/client-0/program-0" "/proc/$pid/cgroup"
	result $? "a client's process has a cgroup of its own" "$(grep '^0::' "/proc/$pid/cgroup")"
	if grep -q 'cpu.*memory.*pids' "$work/cgroup.controllers"; then
		nsenter -t "$(ctl list --json --interval 0 | jq .pid)" -m sh -c "cd /sys/fs/cgroup/$group/client-0 && cat cpu.weight memory.max program-0/pids.max" |
			xargs > "$work/limits"
		[ "$(cat "$work/limits")" = "77 3221225472 100" ]
		result $? "with its weight and limits" "$(cat "$work/limits")"
	else
		result 0 "with its weight and limits" "SKIP the controllers are not in version 2 here"
	fi
	try "a reload" ctl reload
	holds=$program
	holder "KVGPU_REMOTE=unix:$work/socket"
	pid=$(ctl list --json --interval 0 | jq '.clients[1].pid')
	grep -qx "0::/$group/client-0/program-1" "/proc/$pid/cgroup"
	result $? "another program of that client is beside it" "$(grep '^0::' "/proc/$pid/cgroup")"
	kill -9 "$holds"
	wait "$holds" 2>/dev/null
	end_program
	until_true no_clients
	stop_server
	[ "$(sort "$work/cgroup.left" | xargs)" = "/sys/fs/cgroup/$group/first /sys/fs/cgroup/$group/newcomers" ]
	result $? "which ends with it" "$(xargs < "$work/cgroup.left")"
}

run_service_long()
{
	run_apart
	run_cgroups
	run_flood
	run_many
	service_config "listen = tls:127.0.0.1:$tls_port"
	start_service
	export "${tls?}" "${ann?}"
	subtests device memory launch stream array texture surface
	run_tsan
	unset KVGPU_REMOTE_TLS
	export KVGPU_REMOTE=unix:$work/socket
	stop_server
}
