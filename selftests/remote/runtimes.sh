#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runtimes.sh: NVIDIA's own CUDA runtimes on our libcuda.so.1, with the GPU inside of the server's process. TAP.
# - The driver's version (version.c), and what runtimes of 12.4 and 13.0 ask of the private tables (tables.c), by servers whose
#   library says another version (later.c).
# - A __managed__ variable, for which the runtime of 13.0 asks before there is a context (early.c).
# - Where the toolkit was fetched (selftests/cuda/toolkit.sh fetch): programs by plain nvcc, which have the static runtime of 11.8
#   inside, and the same with NVIDIA's libcudart.so.11.0, over a socket and over an aperture; a program on two GPUs and on three of
#   kvgpu-run's (devices.cu), where a library says 12.4 with the runtime of 12.4, too; with that libcudart.so, for which our library
#   is too old, one line that says so.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/result.sh
. selftests/result.sh
# a packager may have left it out, and no runtime of NVIDIA's works without
if [ ! -e cuda/api/export/check.c ]; then
	echo "1..0 # SKIP cuda/api/export/check.c was left out"
	exit 0
fi
programs=(vector_add streams_overlap events symbols texture_objects texture_references surfaces managed_memory printf_assert
	graph_capture graph_nodes pitched_memory threads per_thread_stream callbacks error_api error_illegal_address device_queries
	dynamic_shared separate)

inprocess=$(make -s cuda-inprocess) && remote=$(make -s cluster) || { echo "runtimes.sh: the libraries do not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'} remote=${remote##*$'\n'}
work=$(mktemp -d)
server=
trap 'stop_server; rm -rf "$work"' EXIT
mkdir "$work/client"
ln -s "$remote/libcuda.so.1" "$work/client/"
skipped()
{
	result 0 "$1" "SKIP $2 (selftests/cuda/toolkit.sh fetch)"
}

# start_server LIBRARY
start_server()
{
	: > "$work/server.log"
	"$remote/kvgpu-remoted" --listen "unix:$work/socket" --library "$1" 2>> "$work/server.log" &
	server=$!
	for _ in $(seq 1200); do
		grep -q 'listens at' "$work/server.log" && break
		sleep 0.05
	done
}

stop_server()
{
	[ -n "$server" ] || return 0
	kill "$server" 2> /dev/null
	wait "$server" 2> /dev/null
	server=
}

compile() { gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE "$@"; }

# later VERSION: the library, libVERSION.so, that says to be of that version
later()
{
	compile -fPIC -shared "-DVERSION=$1" selftests/remote/later.c -o "$work/lib$1.so" -Wl,--no-as-needed "$inprocess/libcuda.so.1" \
		-Wl,-rpath,"$inprocess"
}

# the client's version is the server's, up to 13.0, before cuInit(), too
run_versions()
{
	local server_has want carrier

	compile selftests/remote/version.c -o "$work/version" "$work/client/libcuda.so.1" -Wl,-rpath,"$work/client" ||
		{ result 1 "the versions' program builds"; return; }
	for server_has in 11080 12040 13000 13020; do
		want=$((server_has < 13000 ? server_has : 13000))
		later $server_has || { result 1 "a library of version $server_has builds"; continue; }
		start_server "$work/lib$server_has.so"
		for carrier in unix aperture; do
			KVGPU_REMOTE=$carrier:$work/socket timeout 100 "$work/version" $want > "$work/said" 2>&1
			result $? "$carrier: a server of $server_has is $want, before and after cuInit(), and for children of fork()" \
				"$(tail -n 1 "$work/said")"
		done
		stop_server
	done
}

run_tables()
{
	local carrier

	later 13000 &&
		compile selftests/remote/tables.c cuda/api/export/check.c -o "$work/tables" "$work/client/libcuda.so.1" \
			-Wl,-rpath,"$work/client" || { result 1 "the tables' program builds"; return; }
	start_server "$work/lib13000.so"
	for carrier in unix aperture; do
		KVGPU_REMOTE=$carrier:$work/socket timeout 100 "$work/tables" selftests/cuda/driver/kernels.cubin > "$work/said" 2>&1
		result $? "$carrier: tables" "$(tail -n 1 "$work/said")"
	done
	stop_server
}

# a __managed__ variable as the runtime of 13.0 asks for it, before there is a context; a second device is refused, with one line
run_early()
{
	local carrier gpus
	local -a run

	later 13000 &&
		compile selftests/remote/early.c -o "$work/early" "$work/client/libcuda.so.1" || { result 1 "the early program builds"; return; }
	LD_LIBRARY_PATH=$inprocess timeout 100 "$work/early" selftests/cuda/driver/kernels.cubin > "$work/said" 2>&1
	result $? "GPU in the process: managed before a context" "$(tail -n 1 "$work/said")"
	start_server "$work/lib13000.so"
	for carrier in unix aperture; do
		KVGPU_REMOTE=$carrier:$work/socket LD_LIBRARY_PATH=$work/client timeout 100 "$work/early" selftests/cuda/driver/kernels.cubin \
			> "$work/said" 2>&1
		result $? "$carrier: managed before a context" "$(tail -n 1 "$work/said")"
	done
	stop_server
	for gpus in 1 2; do
		run=("$remote/kvgpu-run" --mpi local --gpus "$gpus" --share --library "$work/lib13000.so" env "LD_LIBRARY_PATH=$work/client")
		XDG_RUNTIME_DIR=$work timeout 200 "${run[@]}" "$work/early" selftests/cuda/driver/kernels.cubin > "$work/said" 2>&1 &&
			[ "$(grep -c 'in a second context' "$work/said")" = $((gpus - 1)) ]
		result $? "$gpus GPUs of kvgpu-run: managed before a context" "$(tail -n 1 "$work/said")"
	done
}

# results_of WHAT: a program's TAP, from standard input, as tests of this one's
results_of()
{
	local line

	while read -r line; do
		case $line in
		ok*) result 0 "$1: ${line#*- }" ;;
		'not ok'*) result 1 "$1: ${line#*- }" ;;
		1..*) ;;
		*) echo "# ${line#\# }" ;;
		esac
	done
}

# run_programs WHAT FOLDER LIBRARIES: all by both carriers
run_programs()
{
	local carrier

	for carrier in unix aperture; do
		results_of "$carrier, $1" < <(KVGPU_REMOTE=$carrier:$work/socket "$2/run.sh" "$3" "${programs[@]}" 2>&1)
	done
}

# run_devices GPUS RUNTIME LIBRARY COMMAND...: a program on several GPUs, each of a server of its own, which kvgpu-run starts. COMMAND links
# the program.
run_devices()
{
	local what="$1 GPUs of kvgpu-run, $2 runtime"
	local -a run=("$remote/kvgpu-run" --mpi local --gpus "$1" --share --library "$3")

	"${@:4}" "$work/devices.o" -o "$work/devices" || { result 1 "$what: the program links"; return; }
	XDG_RUNTIME_DIR=$work timeout 200 "${run[@]}" env "LD_LIBRARY_PATH=$work/client:$work/shared" "$work/devices" > "$work/said" 2>&1
	result $? "$what: all parts" "$(grep -c '^ok' "$work/said") right"
	results_of "$what" < "$work/said"
}

run_several()
{
	local gpu=$inprocess/libcuda.so.1 toolkit later
	local -a nvcc=(selftests/cuda/nvcc.sh -arch=sm_35 -Wno-deprecated-gpu-targets -O2)

	toolkit=$(selftests/cuda/toolkit.sh 2> /dev/null) || { skipped "programs on several GPUs" "no CUDA toolkit"; return; }
	"${nvcc[@]}" -c selftests/remote/devices.cu -o "$work/devices.o" || { result 1 "the program for several GPUs builds"; return; }
	run_devices 2 static "$gpu" "${nvcc[@]}" -cudart static
	run_devices 3 shared "$gpu" "${nvcc[@]}" -cudart shared
	later=$(selftests/cuda/toolkit.sh later 2> /dev/null) || { skipped "several GPUs with the runtime of 12.4" "it is not there"; return; }
	later=$later/usr/lib/x86_64-linux-gnu/libcudart.so.12
	later 12040 || { result 1 "a library of version 12040 builds"; return; }
	ln -s "$later" "$work/shared/"
	run_devices 2 "12.4's" "$work/lib12040.so" "$toolkit/../host/g++" -Wl,--no-as-needed "$later"
}

run_11()
{
	local toolkit built

	toolkit=$(selftests/cuda/toolkit.sh 2> /dev/null) || { skipped "programs with NVIDIA's runtime of 11.8" "no CUDA toolkit"; return; }
	built=$(make -s -j2 cuda-programs "PROGRAMS=${programs[*]}") &&
		make -s -j2 -C selftests/cuda/programs OUT="$built-static" OBJECTS="$built/.objects" CUDART=static "${programs[@]}" \
			> "$work/make.log" 2>&1 || { grep -v warning "$work/make.log" | sed 's/^/# /'; result 1 "the programs build"; return; }
	mkdir "$work/shared"
	ln -s "$toolkit/usr/lib/x86_64-linux-gnu/libcudart.so.11.0" "$work/shared/"
	start_server "$inprocess/libcuda.so.1"
	run_programs "static runtime" "$built-static" "$work/client"
	run_programs "NVIDIA's libcudart.so.11.0" "$built" "$work/client:$work/shared"
	stop_server
}

# a runtime that is too new for our library, which says so: with the GPU in the process, and by a server
run_12()
{
	local later where

	later=$(selftests/cuda/toolkit.sh later 2> /dev/null) || { skipped "a runtime of CUDA 12.4" "it is not there"; return; }
	later=$later/usr/lib/x86_64-linux-gnu
	compile selftests/remote/insufficient.c "$later/libcudart.so.12" -o "$work/insufficient" ||
		{ result 1 "the program for 12.4 builds"; return; }
	start_server "$inprocess/libcuda.so.1"
	for where in "$inprocess" "$work/client"; do
		KVGPU_REMOTE=unix:$work/socket LD_LIBRARY_PATH=$where:$later timeout 100 "$work/insufficient" > "$work/said" 2>&1
		[ $? = 35 ] && [ "$(grep -c '^libcuda' "$work/said")" = 1 ] && grep -q 'of CUDA 12, and the driver here of CUDA 11.8' "$work/said"
		result $? "12.4's runtime: error 35, and one line that says why" "$(tail -n 1 "$work/said")"
	done
	stop_server
}

run_versions
run_tables
run_early
run_11
run_several
run_12
echo "1..$results"
exit $((failures > 0))
