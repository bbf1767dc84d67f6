#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long|arm|arm-long: programs on the remote libcuda.so.1, whose kvgpu-remoted has the GPU inside of its process. TAP.
# quick: the driver API's subtests by stored code, and faults, by each carrier; several servers, and the service (service.sh). long: also the CUDA programs by nvcc, the client under the thread sanitizer, and more of the service. arm: programs for
# arm64 by qemu-aarch64, on this machine's server, and unit tests; arm-long: more of these.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/result.sh
. selftests/result.sh
mode=${1:-quick}
cubin=$PWD/selftests/cuda/driver/kernels.cubin

made=$(make -s nvml-inprocess cudart-inprocess remote) || { echo "run.sh: the libraries do not build" >&2; exit 2; }
remote=${made##*$'\n'} inprocess=${made%$'\n'*}
inprocess=${inprocess##*$'\n'}
work=$(mktemp -d)
server=
trap 'stop_server; stop_more; rm -rf "$work"' EXIT
# where programs are: those for this machine lie beside its library
bin=$work
ln -s "$remote/libcuda.so.1" "$work/libcuda.so.1"
jobs=()
if [[ $mode != arm* ]]; then
	make -s -C selftests/cuda/driver OUT="$work" & jobs+=($!)
	for name in faults graph_memory inherits managed mapped several turns virtual; do
		gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE selftests/remote/$name.c -o "$work/$name" "$work/libcuda.so.1" \
			-Wl,-rpath,"\$ORIGIN" & jobs+=($!)
	done
fi
gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE -fPIC -shared selftests/remote/pinned.c -o "$work/libpinned.so" \
	"$inprocess/libcuda.so.1" -Wl,--no-as-needed -Wl,-rpath,"$inprocess" & jobs+=($!)
gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE -DSEEN -fPIC -shared selftests/remote/{pinned,seen}.c -o "$work/libseen.so" \
	"$inprocess/libcuda.so.1" -Wl,--no-as-needed -Wl,-rpath,"$inprocess" & jobs+=($!)
for name in "${jobs[@]}"; do wait "$name" || exit 2; done
over='' library=$inprocess/libcuda.so.1
ptxas=$(selftests/cuda/toolkit.sh 2> /dev/null) && ptxas=$ptxas/usr/bin/ptxas

# carrier unix|aperture|place: what programs use from now on; the first two go by the same socket
carrier()
{
	over="$1: "
	at=unix:$work/socket
	export KVGPU_REMOTE=$1:$work/socket
	[ "$1" = place ] || return 0
	truncate -s 80M "$work/place"
	export KVGPU_REMOTE=aperture:$work/place,bell=unix:$work/bell
	at=$KVGPU_REMOTE
}

# start_server [OPTION...]
start_server()
{
	: >> "$work/server.log"
	local before

	before=$(grep -c 'listens at' "$work/server.log")
	"$remote/kvgpu-remoted" --listen "$at" --library "$library" "$@" 2>> "$work/server.log" &
	server=$!
	for _ in $(seq 1200); do
		[ "$(grep -c 'listens at' "$work/server.log")" -gt "$before" ] && break
		sleep 0.05
	done
	things | sort > "$work/things"
}

# what the server and its clients' processes can leave: descriptors of the first process, and files
things() { find "/proc/$server/fd" -mindepth 1 \( -lname 'socket:*' -printf 'a socket\n' -o -printf 'a descriptor\n' \); find /tmp /dev/shm -maxdepth 1 -name 'kvgpu-jit-*'; }

is_nothing_left()
{
	things | sort | diff "$work/things" - > "$work/left"
	! grep -q '^[<>]' <(grep -vx '> a socket' "$work/left") && [ "$(grep -cx '> a socket' "$work/left")" -lt 16 ]
}

# nothing_left NAME: when the clients are gone, the server has what it had at its start; fewer than RIGHTS_KEPT sockets with something
# unread may wait for others (remote/channel/rights.h)
nothing_left()
{
	no_children
	until_true is_nothing_left # a process is reaped before the first one closes its descriptors
	result $? "$1 leave no file and no descriptor behind" "$(tail -n 3 "$work/left" | xargs)"
}

stop_server()
{
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}

# start_more NAME...: starts further servers; more: their processes
more=()
start_more()
{
	local name before

	for name; do
		before=$(grep -c 'listens at' "$work/server.log")
		"$remote/kvgpu-remoted" --listen "unix:$work/$name" --library "$library" 2>> "$work/server.log" &
		more+=($!)
		for _ in $(seq 1200); do
			[ "$(grep -c 'listens at' "$work/server.log")" -gt "$before" ] && break
			sleep 0.05
		done
	done
}

stop_more()
{
	local pid

	for pid in "${more[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	more=()
}

# step NAME COMMAND...: the last line is the comment
step()
{
	local name=$1 out rc

	shift
	out=$(timeout 100 "$@" 2>&1)
	rc=$?
	result $rc "$name" "exit code $rc: $(tail -n 1 <<< "$out")"
	[ $rc = 0 ] || sed 's/^/# /' <<< "$out" | tail -n 20
}

# subtests of kvgpu-cuda-driver, line by line
subtests()
{
	local line rc

	while read -r line; do
		case $line in
		ok*) result 0 "driver API: ${line#*- }" ;;
		'not ok'*) result 1 "driver API: ${line#*- }" ;;
		'# '*|1..*|'') ;;
		'libcuda (remote): '*' is not supported: '*) ;;
		*) result 1 "driver API: $line" ;;
		esac
	done < <(timeout 100 "$bin/kvgpu-cuda-driver" "$cubin" "$@" 2>&1; rc=$?; [ $rc -le 1 ] || echo "exit code $rc")
}

# a name that no subtest has is no success
unknown_subtest()
{
	over=''
	"$bin/kvgpu-cuda-driver" "$cubin" device nothing > "$work/said" 2>&1
	[ $? = 2 ] && grep -q 'no subtest "nothing"' "$work/said" && grep -q '^subtests: device memory calls launch' "$work/said"
	result $? "driver API: a subtest that is not there is named, and those that are" "$(tail -n 1 "$work/said")"
}

children() { pgrep -P "$server"; }

# no process of a client is left after a while
no_children()
{
	for _ in $(seq 600); do
		children > /dev/null || return 0
		sleep 0.1
	done
	return 1
}

# until_ready PROGRAM MODE: started, and ready
until_ready()
{
	: > "$work/said"
	"$bin/$1" "$2" "$cubin" > "$work/said" 2>&1 &
	program=$!
	for _ in $(seq 600); do
		grep -q ready "$work/said" && return 0
		sleep 0.1
	done
	return 1
}

# client_killed MODE WHEN
client_killed()
{
	until_ready faults "$1" || { result 1 "a client killed $2"; return; }
	sleep 0.3
	kill -9 $program
	wait $program 2>/dev/null
	no_children
	result $? "a client killed $2: its server process ends"
}

# killed_under PROGRAM MODE WHAT
killed_under()
{
	local rc start=$SECONDS

	until_ready "$1" "$2" || { result 1 "a server killed: $3"; return; }
	children | xargs kill -9
	( sleep 20; kill -9 $program 2>/dev/null ) &
	wait $program 2>/dev/null
	rc=$?
	result $rc "a server killed: $3" "$((SECONDS - start)) s: $(tail -n 1 "$work/said")"
}

server_killed()
{
	killed_under faults server_killed "threads that wait get their error at once"
	[[ $mode == arm* ]] || killed_under managed killed "managed memory can still be touched"
}

# run_memory [alone]: alone: one program at a time
run_memory()
{
	step "host memory in graphs" "$work/graph_memory" graphs "$cubin"
	step "pinned memory that a graph's copy writes" "$work/graph_memory" copied "$cubin"
	step "pinned memory that a graph's function writes" "$work/graph_memory" called "$cubin"
	step "user objects" "$work/graph_memory" user "$cubin"
	step "managed memory" "$work/managed" managed "$cubin"
	step "memory that is mapped, and of pools; what programs share" "$work/virtual" "$@"
}

# A server compiles no PTX, the client does where it has ptxas: here a stand-in, which writes the stored code for the text that it
# knows. The fat binary has that text packed, and code for another chip.
run_ptx()
{
	printf '.version 6.0\n.target sm_35\n.address_size 64\n' > "$work/text.ptx"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do in=$1; shift; done\ncmp "$in" "%s" && cp "%s" "$2"\n' "$work/text.ptx" "$cubin" > "$work/ptxas"
	chmod +x "$work/ptxas"
	python3 - "$work/text.ptx" > "$work/fat.fatbin" << 'E'
import struct, sys
text = open(sys.argv[1], "rb").read() + bytes(1)
packed = bytes((15 << 4, len(text) - 15)) + text  # a block of LZ4: one sequence, of literals
def entry(kind, arch, flags, data, unpacked):
    return struct.pack("<HHIQIIHHIQQQQ", kind, 0x101, 64, len(data), len(data), 0, 0, 0, arch, 0, flags, 0, unpacked) + data
both = entry(2, 52, 0, bytes(64), 0) + entry(1, 35, 0x2000, packed, len(text))
sys.stdout.buffer.write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(both)) + both)
E
	KVGPU_PTXAS=$work/ptxas step "PTX is compiled by the client" "$bin/kvgpu-cuda-driver" "$work/text.ptx" launch
	KVGPU_PTXAS=$work/ptxas step "PTX in a fat binary is compiled by the client" "$bin/kvgpu-cuda-driver" "$work/fat.fatbin" launch
	KVGPU_PTXAS=$work/absent/ptxas subtests jit
	if [ -n "$ptxas" ]; then KVGPU_PTXAS=$ptxas subtests jit; fi
}

# the library's threads go on after dlclose(), so its code has to stay
closed_library()
{
	step "a program that closes the library keeps it" python3 -c 'import ctypes, _ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
assert library.cuInit(0) == 0
_ctypes.dlclose(library._handle)
ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOLOAD | os.RTLD_NOW)
print("it is still there")' "$work/libcuda.so.1"
}

# the quota is for all programs of this user: what the last one had is the next one's
run_next()
{
	local i how wrong=0

	start_server --memory 300M
	for i in {1..20}; do
		how=$([ $((i % 2)) = 0 ] && echo ends || echo killed)
		{ timeout 100 "$bin/faults" takes_all $how > "$work/said" 2>&1; } 2> /dev/null
		[ $? = "$([ $how = ends ] && echo 0 || echo 137)" ] && grep -qx '314572800 of 314572800 bytes unused' "$work/said" ||
			wrong=$((wrong + 1))
	done
	result $wrong "of 20 programs in a row, half of them killed, each has all of the quota" "$wrong had less"
	stop_server
}

# how often a program waits for an answer, by the client's log
count_turns()
{
	rm -f "$work/turns.log"
	KVGPU_REMOTE_TRACE=$work/turns.log,0 step "a program waits as seldom as it may" "$bin/turns" "$cubin" "$work/turns.log"
}

run_faults()
{
	count_turns
	closed_library
	step "a thread that waits holds up no other" "$bin/faults" beside "$cubin"
	step "a stream that had nothing to do is waited for when it has" "$bin/faults" settled "$cubin"
	step "functions of the host, and a copy behind each" "$bin/faults" host_functions "$cubin"
	step "a copy of a few bytes tells of an exception before it" "$bin/faults" exceptions selftests/model/unit/gpu-model/gr/sm/kernels.cubin
	step "fork after cuInit()" "$bin/faults" after_fork "$cubin"
	step "PTX is refused, each time" "$bin/faults" ptx "$cubin"
	until_ready faults child_lives && wait $program && no_children
	result $? "a child that lives on keeps no server process"
	client_killed copies "in the middle of a copy"
	client_killed stuck "while its server process is inside of the library"
	server_killed
	step "the server still serves" "$bin/faults" after_fork "$cubin"
	nothing_left "programs and their faults"
	stop_server
	start_server --memory $((32 << 20))
	step "a quota of memory" "$bin/faults" quota "$cubin"
	stop_server
	run_next
}

run_nonsense()
{
	local version

	start_server
	version=$(grep -oP 'KVGPU_REMOTE_VERSION\s+\K0x[0-9a-f]+' "$remote/gen/protocol.h")
	for seed in 1 2 3; do
		step "clients that say nonsense, $seed" selftests/remote/garbage.py "$work/socket" "$version" $seed
	done
	no_children
	result $? "their processes end, too"
	! grep -q 'killed by signal [0-8]\|killed by signal 1' "$work/server.log"
	result $? "and by themselves" "$(grep -c 'killed by signal' "$work/server.log") were killed, as arranged"
	step "the server still serves" "$bin/faults" after_fork "$cubin"
	nothing_left "clients that say nonsense"
	stop_server
}

# programs that inherit something odd, by the carrier; and one whose server does
run_inherits()
{
	local how

	for how in "${inherited[@]}"; do
		inherits "$how" work
	done
	inherits '' signals
	inherits '' forked
}

# which devices a program sees; the library with the GPUs is the judge
run_visible()
{
	local list

	over=''
	export KVGPU_INPROCESS_GPUS=2
	start_server
	for list in 0 1 1,0 '' -1 GPU-none; do
		CUDA_VISIBLE_DEVICES=$list "$work/inherits" devices "$work/seen" -
		CUDA_VISIBLE_DEVICES=$list LD_LIBRARY_PATH=$inprocess "$work/inherits" devices "$work/there" -
		cmp -s "$work/seen" "$work/there"
		result $? "CUDA_VISIBLE_DEVICES=$list" "$(cat "$work/seen")"
	done
	stop_server
	unset KVGPU_INPROCESS_GPUS
}

run_odd_server()
{
	local how='no stdin, no stdout, no stderr, a limit of files, children, signals, umask'

	( started 'few descriptors' timeout 20 "$remote/kvgpu-remoted" --listen "$at" ) > "$work/said" 2>&1
	grep -q 'may have 40 descriptors (ulimit -n)' "$work/said"
	result $? "a server with few descriptors says so" "$(tail -n 1 "$work/said")"
	# without CAP_SYS_RESOURCE, by which it would raise the limit
	( started size setpriv --bounding-set -sys_resource "$remote/kvgpu-remoted" --listen "$at" --library "$library" 2> "$work/limited.log" ) &
	server=$!
	until_true grep -q 'listens at' "$work/limited.log"
	KVGPU_REMOTE=aperture:$work/socket "$work/inherits" devices "$work/right" - > "$work/said" 2>&1
	until_true grep -q 'no file of the arena.s size, in memory or elsewhere (ulimit -f)' "$work/limited.log"
	result $? "a server whose files are limited says so" "$(tail -n 1 "$work/limited.log")"
	! grep -q 'killed by' "$work/limited.log"
	result $? "and ends none by a signal"
	stop_server
	over='a server with all of it: '
	rm -f "$work/socket"
	( started "$how" "$remote/kvgpu-remoted" --listen "$at" --library "$library" ) &
	server=$!
	until_true test -S "$work/socket"
	for name in unix aperture; do
		KVGPU_REMOTE=$name:$work/socket inherits '' work
	done
	( ulimit -n 4; KVGPU_REMOTE=aperture:$work/socket exec "$work/inherits" devices "$work/right" - ) 2> "$work/said"
	grep -q 'no more descriptors (ulimit -n)' "$work/said"
	result $? "a program without a descriptor for its aperture is told so" "$(tail -n 1 "$work/said")"
	stop_server
	over='in the process: '
	inherited=("${inherited[@]%, a limit of files}")	# the model keeps its memory in a file
	LD_LIBRARY_PATH=$inprocess run_inherits
}

# several_step LIST MODE WHAT: a program whose servers these are
several_step()
{
	KVGPU_REMOTE=$1 step "$3" "$bin/several" "$2" "$cubin"
}

run_several()
{
	local list rc

	: >> "$work/server.log"
	start_more one two three
	for list in "unix:$work/one unix:$work/two" "aperture:$work/one unix:$work/two aperture:$work/three"; do
		over="$(wc -w <<< "$list") servers: "
		several_step "$list" belongs "handles and addresses tell their device, wherever they are used"
		several_step "$list" copies "copies between devices, both ways, of all sizes"
		several_step "$list" events "events of another device, again and again"
		several_step "$list" waits "a stream that waits for another device holds up no thread"
		several_step "$list" threads "threads on all of them"
		KVGPU_REMOTE=$list step "fork after cuInit()" "$bin/faults" after_fork "$cubin"
		KVGPU_REMOTE=$list until_ready several dies
		pgrep -P "${more[1]}" | xargs kill -9
		wait $program
		rc=$?
		result $rc "a server killed: its device is gone, the others go on" "$(tail -n 1 "$work/said")"
	done
	KVGPU_REMOTE="unix:$work/one unix:$work/nowhere" "$bin/several" belongs "$cubin" > "$work/said" 2>&1
	rc=$?
	[ $rc = 2 ] && grep -q "nowhere" "$work/said"
	result $? "a server that is not there is named, and no device is there" "$(tail -n 1 "$work/said")"
	over='a library that registers the arena, several servers: '
	stop_more
	library=$work/libpinned.so
	start_more one two
	# this library copies by functions of the host, which an asynchronous copy between servers would hold up
	several_step "aperture:$work/one aperture:$work/two" waited "copies between devices that are waited for"
	several_step "unix:$work/one aperture:$work/two" loads "modules and memory while a stream waits for another device's bytes"
	stop_more
	library=$inprocess/libcuda.so.1
	over='several servers: '
	start_more one two
	ln -sf "$inprocess/libcudart.so.11.0" "$work/" &&
		gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/runtime.c "$work/libcudart.so.11.0" "$work/libcuda.so.1" \
			-o "$work/runtime" -Wl,-rpath,"\$ORIGIN" || { result 1 "a program on the runtime library builds"; return; }
	KVGPU_REMOTE="unix:$work/one aperture:$work/two" step "a program on the runtime library divides its work" \
		env "LD_LIBRARY_PATH=$work" "$work/runtime" "$cubin"
	stop_more
}

# a library that registers the arena: copies go on after calls have returned
run_pinned()
{
	carrier aperture
	over="registered: " library=$work/libpinned.so
	start_server
	subtests device memory calls launch library stream graph array texture
	run_memory
	step "functions of the host, and a copy behind each" "$bin/faults" host_functions "$cubin"
	step "copies go on by themselves, in order" "$bin/faults" pinned "$cubin"
	count_turns
	client_killed copies "in the middle of a copy"
	stop_server
	carrier unix
	over="registered, over a socket: "
	start_server --arena 32M
	subtests memory stream graph
	run_memory
	step "no copy takes another one's bytes" "$bin/faults" late "$cubin"
	client_killed copies "in the middle of a copy"
	stop_server
	library=$inprocess/libcuda.so.1
}

# a library whose GPU sees registered memory; without remoting it is the oracle
run_seen()
{
	over='in the process: '
	LD_LIBRARY_PATH=$inprocess subtests cancel
	step "mapped memory" env "LD_PRELOAD=$work/libseen.so" "LD_LIBRARY_PATH=$inprocess" "$work/mapped" work "$cubin"
	step "pages of files are registered and mapped" env "LD_PRELOAD=$work/libseen.so" "LD_LIBRARY_PATH=$inprocess" "$work/mapped" lent "$cubin"
	library=$work/libseen.so
	for name in unix aperture; do
		carrier $name
		start_server
		step "mapped memory" "$work/mapped" mapped "$cubin"
		step "managed memory" "$work/managed" managed "$cubin"
		step "a copy waits for work that writes mapped memory" "$work/mapped" waited "$cubin"
		step "private pages are not mapped, nor any over a socket" "$work/mapped" refused "$cubin"
		[ $name = unix ] || step "pages of files are registered and mapped" "$work/mapped" lent "$cubin"
		stop_server
	done
	library=$inprocess/libcuda.so.1
	carrier unix
	start_server
	step "no mapped memory where the GPU does not see it" "$work/mapped" plain "$cubin"
	stop_server
}

# a file that both map: one program at a time
run_place()
{
	carrier place
	start_server
	subtests device memory calls launch library stream graph faults
	run_memory alone
	until_ready faults stuck
	step "a second program is told so" bash -c "'$bin/faults' after_fork '$cubin' 2>&1 | grep 'other programs use'"
	kill -9 $program
	wait $program 2>/dev/null
	no_children
	result $? "a client killed while its server process is inside of the library: its server process ends"
	step "the next program" "$bin/faults" host_functions "$cubin"
	server_killed
	step "a thread that waits holds up no other" "$bin/faults" beside "$cubin"
	until_ready faults copies
	truncate -s 0 "$work/place"
	wait $program
	result $(($? != 2)) "the file is cut short: the program gets an error" "$(tail -n 1 "$work/said")"
	no_children
	until_true grep -q "the aperture's memory is gone" "$work/server.log"
	result $? "and the server's process says what happened"
	stop_server
}

run_info()
{
	gcc -std=gnu11 -O2 -Wall "-I$remote/gen" -D_GNU_SOURCE -DKVGPU_VERSION='"0"' cuda/info/*.c "$work/libcuda.so.1" -o "$work/cuda-info" -Wl,-rpath,"\$ORIGIN" ||
		{ result 1 "cuda-info builds"; return; }
	carrier unix
	start_server
	step "cuda-info" "$work/cuda-info"
	! "$work/cuda-info" | grep -i 'nouveau\|GK110'
	result $? "it says nothing of a driver that is not here"
	stop_server
	"$work/cuda-info" > "$work/said" 2>&1
	[ $? = 1 ] && grep -q 'no server listens there' "$work/said" && grep -q 'cuda-info: .*: the line above says why' "$work/said" &&
		! grep -i 'nouveau\|GK110' "$work/said"
	result $? "without a server it leaves the reason to the library" "$(tail -n 1 "$work/said")"
}

# the client's threads under the thread sanitizer, linked into the program
run_tsan()
{
	for name in faults graph_memory managed; do
		gcc -std=gnu11 -O1 -g -fsanitize=thread -w -D_GNU_SOURCE -I. "-I$remote/gen" -pthread selftests/remote/$name.c \
			remote/client/*.c remote/wire/*.c remote/channel/*.c remote/ring/*.c remote/conf/{conf,client}.c \
			cuda/api/*.c cuda/api/export/*.c \
			"$remote"/gen/{stubs,refused,names}.c -o "$work/$name-tsan" || { result 1 "the client under TSan builds"; return; }
	done
	for name in beside host_functions after_fork; do
		TSAN_OPTIONS=report_thread_leaks=0 step "under TSan: $name" "$work/faults-tsan" "$name" "$cubin"
	done
	for name in graphs user; do
		TSAN_OPTIONS=report_thread_leaks=0 step "under TSan: $name" "$work/graph_memory-tsan" "$name" "$cubin"
	done
	# a fault in managed memory is the program's own touch of it, at a place where calls are allowed
	TSAN_OPTIONS="report_thread_leaks=0 report_signal_unsafe=0" step "under TSan: managed" "$work/managed-tsan" managed "$cubin"
}

# all programs; what the remote library refuses is known here, with the reason
run_programs()
{
	local line name total=0 passed=0
	local -A known=(
		[launch_latency]="mapped memory"
		[error_endless]="mapped memory" [mapped_memory]="mapped memory" [registered_memory]="mapped memory"
	)

	if ! selftests/cuda/toolkit.sh > /dev/null 2>&1; then
		result 0 'programs by nvcc' 'SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)'
		return
	fi
	programs=$(make -s cuda-programs) || { result 1 "the programs build"; return; }
	ln -sf "$inprocess/libcudart.so.11.0" "$work/"
	while read -r line; do
		name=$(sed -E 's/^(not )?ok [0-9]+ - ([^ ]*( [a-z]+)?) #.*/\2/' <<< "$line")
		case $line in
		ok*' SKIP '*) continue ;;
		ok*)
			total=$((total + 1)) passed=$((passed + 1))
			[ -z "${known[$name]-}" ]
			result $? "program $name" "${line#*# }" ;;
		'not ok'*)
			total=$((total + 1))
			[ -n "${known[$name]-}" ]
			result $? "program $name" "not remoted: ${known[$name]-${line#*# }}" ;;
		esac
	done < <("$programs/run.sh" "$work" 2>&1)
	echo "# $passed of $total programs pass"
	if ! make -s -C selftests/cuda/runtime "OUT=$work/runtime-programs" > "$work/runtime.log" 2>&1; then
		sed 's/^/# /' "$work/runtime.log" | grep -v warning | tail -n 20
		result 1 "the runtime's programs build"
		return
	fi
	while read -r line; do
		case $line in
		ok*) result 0 "runtime: ${line#*- }" ;;
		'not ok'*) result 1 "runtime: ${line#*- }" ;;
		esac
	done < <(LD_LIBRARY_PATH=$work selftests/cuda/runtime/run.sh "$work/runtime-programs" 2>&1)
}

# shellcheck source=selftests/remote/builds.sh
. selftests/remote/builds.sh
# shellcheck source=selftests/remote/inherits.sh
. selftests/remote/inherits.sh
# shellcheck source=selftests/remote/service.sh
. selftests/remote/service.sh
# shellcheck source=selftests/remote/shares.sh
. selftests/remote/shares.sh
# shellcheck source=selftests/remote/reload.sh
. selftests/remote/reload.sh
# shellcheck source=selftests/remote/sleep.sh
. selftests/remote/sleep.sh
# shellcheck source=selftests/remote/trace.sh
. selftests/remote/trace.sh
# shellcheck source=selftests/remote/pins.sh
. selftests/remote/pins.sh
# shellcheck source=selftests/remote/taken.sh
. selftests/remote/taken.sh
# shellcheck source=selftests/remote/newcomers.sh
. selftests/remote/newcomers.sh
# shellcheck source=selftests/remote/arm.sh
. selftests/remote/arm.sh

if [[ $mode = arm* ]]; then
	run_arm
	echo "1..$results"
	exit $((failures > 0))
fi
for name in unix aperture; do
	carrier $name
	start_server
	subtests device memory calls launch library stream graph array texture surface syscall cancel faults
	run_memory
	step "managed memory that is written here and there" "$work/managed" scattered "$cubin"
	step "core files have the program's part of shared memory" "$work/managed" dumped "$cubin"
	run_ptx
	run_inherits
	run_faults
done
unknown_subtest
carrier unix
run_odd_server
run_visible
run_nonsense
run_pinned
run_seen
run_place
run_pins
run_several
run_info
run_builds
carrier unix
over=''
run_service
if [ "$mode" = long ]; then
	for name in unix aperture; do
		carrier $name
		start_server
		run_programs
		run_tsan
		stop_server
	done
	carrier unix
	over=''
	run_service_long
fi
echo "1..$results"
exit $((failures > 0))
