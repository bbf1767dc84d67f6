# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: clients' processes that were taken over, and
# clients that keep what they had. A "library" is the code that took a process over.

# a "library" that never comes back, as in a process that was taken over: the server ends the process
run_staying()
{
	local program first

	gcc -shared -fPIC -x c - -o "$work/public/stays.so" <<-'C' || { result 1 "a library that stays builds"; return; }
	#include <unistd.h>
	__attribute__((constructor)) static void stay(void)
	{
	    for (;;)
	        pause();
	}
	C
	chmod a+rx "$work/public/stays.so"
	truncate -s 80M "$work/shared"
	service_config "listen = aperture:$work/shared"
	sed -i "s,^library = .*,library = $work/public/stays.so," "$work/remoted.conf"
	start_service
	KVGPU_REMOTE=unix:$work/socket "$work/faults" after_fork "$cubin" > /dev/null 2>&1 & program=$!
	try "a process that does not come back" until_true clients_are 1
	end_program
	try "is ended when its client has gone" until_true clients_are 0
	KVGPU_REMOTE=unix:$work/socket python3 - "$work/libcuda.so.1" "$work/sends" <<-'PYTHON' & program=$!
	# when it is told, sends the connection's own end along it, which so never closes
	import ctypes, os, socket, stat, sys, threading, time
	threading.Thread(target=ctypes.CDLL(sys.argv[1]).cuInit, args=(0,), daemon=True).start()
	while not (fds := [fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}') and stat.S_ISSOCK(os.fstat(fd).st_mode)]):
	    time.sleep(0.05)
	while not os.path.exists(sys.argv[2]):
	    time.sleep(0.05)
	try:
	    socket.send_fds(socket.socket(fileno=os.dup(fds[0])), [b'x'], [fds[0]])
	except PermissionError:
	    pass    # the server has it refused, where its kernel can
	os.remove(sys.argv[2])
	time.sleep(100)
	PYTHON
	try "one whose client sends its own end along" until_true clients_are 1
	touch "$work/sends"	# not before: a byte before the client's first message ends the connection
	try "it is sent" until_true is_gone "$work/sends"
	end_program
	try "is ended, too" until_true clients_are 0
	KVGPU_REMOTE=aperture:$work/shared "$work/faults" after_fork "$cubin" > /dev/null 2>&1 & program=$!
	try "one at a place" until_true clients_are 1
	first=$(ctl list --json --interval 0 | jq '.clients[0].id')
	end_program
	KVGPU_REMOTE=aperture:$work/shared "$work/faults" after_fork "$cubin" > /dev/null 2>&1 & program=$!
	try "is ended when the next client knocks, which gets its place" until_true another_is_served "$first"
	end_program
	said_by_server "its client has gone, and its process"
	result $? "which is said"
	stop_server
	rm "$work/shared"
}

# a "library" whose code has taken its process over, also the one that tries it at the start: it can neither end the service's log nor
# write to it as another process. Standard error is a socket, as systemd's is
run_log()
{
	gcc -shared -fPIC -x c - -o "$work/public/spoils.so" <<-'C' || { result 1 "a library that spoils the log builds"; return; }
	#include <fcntl.h>
	#include <sys/socket.h>
	#include <unistd.h>
	int cuCtxCreate_v2(void **context, unsigned flags, int device) { return 1; }
	int cuInit(unsigned flags)
	{
	    static const char line[] = "kvgpu-remoted[1]: forged\n";
	    struct sockaddr address;
	    socklen_t bytes;
	    int fd, i;

	    for (fd = 0; fd < 1024; fd++) {
	        bytes = sizeof(address);
	        /* not the client's connection, which has a name */
	        if (!getsockname(fd, &address, &bytes) && bytes > sizeof(address.sa_family))
	            continue;
	        fcntl(fd, F_SETFL, O_NONBLOCK);
	        for (i = 0; i < 100; i++)
	            if (write(fd, line, sizeof(line) - 1) < 0)
	                break;
	        shutdown(fd, SHUT_RDWR);
	    }
	    return 1;
	}
	__attribute__((constructor)) static void load(void) { cuInit(0); }
	C
	chmod a+rx "$work/public/spoils.so"
	service_config "programs = 1"
	sed -i "s,^library = .*,library = $work/public/spoils.so," "$work/remoted.conf"
	: > "$work/service.log"
	python3 - "$work/service.log" "$remote/kvgpu-remoted" --config "$work/remoted.conf" <<-'P' &
	import signal, socket, subprocess, sys
	here, there = socket.socketpair()
	server = subprocess.Popen(sys.argv[2:], stderr=there, stdout=there)
	there.close()
	signal.signal(signal.SIGTERM, lambda *_: server.kill())
	with open(sys.argv[1], "ab", buffering=0) as log:
	    while part := here.recv(65536):
	        log.write(part)
	    log.write(b"the log has ended\n")
	server.wait()
	P
	server=$!
	until_true ctl list --interval 0
	try "the library is tried" until_true said_by_server forged
	KVGPU_REMOTE=unix:$work/socket timeout 60 "$work/faults" after_fork "$cubin" > /dev/null 2>&1
	KVGPU_REMOTE=unix:$work/socket timeout 60 "$work/faults" after_fork "$cubin" > /dev/null 2>&1
	# the first process still has a log
	ctl drain > /dev/null 2>&1
	try "a process that was taken over does not end the log" until_true said_by_server "takes no new clients"
	! grep -q '^kvgpu-remoted\[[0-9]*\]: forged' "$work/service.log"
	result $? "nor does it write lines as another process" "$(grep -c forged "$work/service.log") forged"
	[ "$(grep -c forged "$work/service.log")" -le 100 ]
	result $? "and these have an end"
	stop_server
}

# a client that keeps the memory that it shared with its process. If its session ends, the pages are given back; if the process ends
# before, the program has them until it ends
run_kept()
{
	local program

	rm -f "$work/look"
	# with a place the first process has a handler for SIGBUS
	truncate -s 80M "$work/guarded"
	service_config "listen = aperture:$work/guarded"
	start_service
	python3 - "$work/socket" "$server" "$(grep -oP 'KVGPU_REMOTE_MAGIC_RELAY\s+\K0x[0-9a-f]+' remote/wire/frame.h)" \
		"$(grep -oP 'KVGPU_REMOTE_VERSION\s+\K0x[0-9a-f]+' "$remote/gen/protocol.h")" "$work/look" > "$work/said" <<-'PYTHON' & program=$!
	import mmap, os, signal, socket, struct, sys, time
	def session():
	    s = socket.socket(socket.AF_UNIX)
	    s.connect(sys.argv[1])
	    s.sendall(struct.pack("<QQ", int(sys.argv[3], 16), int(sys.argv[4], 16)))
	    _, fds, _, _ = socket.recv_fds(s, 4096, 1)
	    m = mmap.mmap(fds[0], 0)
	    m[:1 << 20] = b"x" * (1 << 20)
	    return s, fds[0], m
	kept = []
	for i in range(3):
	    s, fd, m = session()
	    kept.append((fd, m))
	    s.close()
	for i in range(600):
	    if not any(os.fstat(fd).st_blocks for fd, _ in kept):
	        break
	    time.sleep(0.1)
	print("held:", sum(os.fstat(fd).st_blocks for fd, _ in kept) >> 1, "KiB", flush=True)
	while (children := open(f"/proc/{sys.argv[2]}/task/{sys.argv[2]}/children").read().split()):
	    time.sleep(0.1)
	s, fd, m = session()
	for child in open(f"/proc/{sys.argv[2]}/task/{sys.argv[2]}/children").read().split():
	    os.kill(int(child), signal.SIGBUS)
	print("ended:", s.recv(1), flush=True)
	while not os.path.exists(sys.argv[5]):
	    time.sleep(0.05)
	print("kept:", m[:1 << 20] == b"x" * (1 << 20), flush=True)
	time.sleep(1000)
	PYTHON
	until_true grep -q held: "$work/said"
	grep -q 'held: 0 KiB' "$work/said"
	result $? "memory that a client keeps is given back when its sessions end" "$(grep held: "$work/said")"
	try "the place of a program whose process has ended is not given away" until_true clients_say '.clients | map(.state) == ["ending"]'
	touch "$work/look"
	until_true grep -q kept: "$work/said"
	grep -q "ended: b''" "$work/said" && grep -q 'kept: True' "$work/said"
	result $? "it keeps the memory" "$(tail -n 1 "$work/said")"
	end_program
	try "until it ends" until_true no_clients
	stop_server
}

is_gone() { [ ! -e "$1" ]; }
another_is_served() { [ "$(ctl list --json --interval 0 | jq "[.clients[] | select(.state == \"served\" and .id != $1)] | length")" = 1 ]; }
