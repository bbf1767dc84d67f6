#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long: kvgpu-run on this machine, each proxy with the GPU inside of its server processes. TAP. quick: Open MPI (or
# the one that is here); long: both, and more of copies between GPUs.
set -u
cd "$(dirname "$0")/../.." || exit 2
mode=${1:-quick}

inprocess=$(make -s cuda-inprocess) && make -s cluster > /dev/null && remote=$(make -s print-remote) ||
	{ echo "run.sh: the libraries do not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'}
work=$(mktemp -d /tmp/kvgpu-cluster-test.XXXXXX)
trap 'rm -rf "$work"' EXIT
# shellcheck source=selftests/cluster/lib.sh
. selftests/cluster/lib.sh
ln -s "$inprocess/libcuda.so.1" "$work/gpu.so"
programs remote/faults remote/several cluster/hidden cluster/pieces cluster/peers slurm/part

# ------------------------------------------------------------------ what goes through

run_through()
{
	local rc

	( kvrun --gpus 2 sh -c 'cat; echo to standard error >&2; exit 7' ) < <(echo to standard input) > "$work/out" 2> "$work/said"
	rc=$?
	[ $rc = 7 ] && [ "$(cat "$work/out")" = "to standard input" ] && grep -qx "to standard error" "$work/said"
	result $? "exit code, standard input, output and error" "exit code $rc"
	# shellcheck disable=SC2016
	( kvrun --gpus 1 bash -c 'kill -USR1 $$' ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 138 ]
	result $? "a program that a signal ends" "exit code $rc"
	# shellcheck disable=SC2016
	( kvrun --gpus 1 bash -c 'trap "echo caught; exit 3" TERM; echo ready; while :; do sleep 0.1; done' ) > "$work/said" 2>&1 &
	await ready && pkill -TERM -P "$!"
	wait $!
	rc=$?
	grep -q caught "$work/said"
	result $(($? || rc != 3 && rc != 124)) "a signal is passed on" "exit code $rc"
	( kvrun --gpus 1 "$work/nowhere" ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 127 ] && grep -q "nowhere: No such file" "$work/said"
	result $? "a program that is not there" "exit code $rc"
	( kvrun --gpus 1 --library "$work/none.so" true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q "none.so: cannot open" "$work/said"
	result $? "a library that is not there" "exit code $rc"
	( kvrun --gpus 1 env ) > "$work/said" 2>&1
	! grep -E '^(OMPI_|PMIX|PMI_|HYD|KVGPU_CLUSTER_SECRET)' "$work/said" | grep -v '^OMPI_ALLOW'
	result $? "the program has nothing of the job's environment"
	nothing_left "programs without CUDA"
}

run_root()
{
	[ "$(id -u)" = 0 ] && [ "$mpi" = openmpi ] || return 0
	env -u OMPI_ALLOW_RUN_AS_ROOT "$remote/kvgpu-run" --mpi openmpi --library "$work/gpu.so" true > "$work/said" 2>&1
	[ $? = 125 ] && grep -q -- "--allow-run-as-root" "$work/said"
	result $? "as root it says what to do" "$(head -c 80 "$work/said")"
}

# a program that uses MPI itself, of the same kind as the MPI job of kvgpu-run, beside that job
run_own_world()
{
	local -a own=() compile link

	read -ra compile < <(own_flags compile)
	read -ra link < <(own_flags link)
	gcc -std=gnu11 -O2 -Wall -I. "${compile[@]}" selftests/cluster/own_world.c -o "$work/own_world" "$remote/libcuda.so.1" \
		"${link[@]}" || { result 1 "a program with MPI builds"; return; }
	[ "$mpi" = openmpi ] && own+=(--oversubscribe "${root[@]}")
	step "a program with MPI has its own world" --gpus 2 "mpirun.$mpi" "${own[@]}" -n 3 "$work/own_world"
	grep -q '^3 ranks, 2 devices, sum 6$' "$work/said"
	result $? "and all devices" "$(tail -n 1 "$work/said")"
	nothing_left "a program with MPI"
}

own_flags()
{
	case $mpi-$1 in
	openmpi-*) mpicc.openmpi "-showme:$1" ;;
	mpich-compile) mpicc.mpich -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' '; echo ;;
	*) mpicc.mpich -show | tr ' ' '\n' | grep '^-[Ll]' | tr '\n' ' '; echo ;;
	esac
}

# A second machine in the place of which this one stands: mpirun has a daemon there, started with an environment of its own
run_far()
{
	# A machine whose only network is the loopback reaches no other one
	if goes_on && [ -z "$(awk -F: 'NR > 2 && $1 !~ /^ *lo$/' /proc/net/dev)" ]; then
		result 0 "another machine" "SKIP Open MPI 5 does not start where there is no network but the loopback"
		return
	fi
	cat > "$work/agent" <<-'A'
	#!/bin/sh
	# [OPTION...] HOST COMMAND...
	while [ "${1#-}" != "$1" ]; do shift; done
	shift
	set -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$(dirname "$0") "KVGPU_CLUSTER_TEST=$KVGPU_CLUSTER_TEST" sh -c "$*"
	# Open MPI 5 does not start where two machines have the same name
	[ "$(id -u)" = 0 ] && [ "$OMPI_MCA_btl" ] && exec unshare --uts sh -c 'hostname far; exec "$@"' far "$@"
	exec "$@"
	A
	chmod +x "$work/agent"
	export OMPI_MCA_plm_rsh_agent=$work/agent PRTE_MCA_plm_ssh_agent=$work/agent HYDRA_LAUNCHER_EXEC=$work/agent
	# by TCP, as between machines
	[ "$mpi" = openmpi ] && export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
	step "another machine: its GPUs are counted" --hosts localhost,127.0.0.2 --list
	[ "$(grep -c 'K20m.*4096' "$work/said")" = 2 ]
	result $? "and listed"
	step "another machine: a program has a device here and one there" --hosts 127.0.0.2:1,localhost:1 "$work/several" waits "$cubin"
	unset OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent HYDRA_LAUNCHER_EXEC OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include
	nothing_left "another machine"
}

# a broker and a proxy of two jobs do not listen to each other; the broker's kvgpu-run is a socket here
run_secret()
{
	local relay=$remote/kvgpu-relay-$mpi listener
	local -a own=()

	[ "$mpi" = openmpi ] && own+=(--oversubscribe "${root[@]}")
	mkdir "$work/$mpi-secret"
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("listening", flush=True)
time.sleep(600)' "$work/$mpi-secret/run" > "$work/said" & listener=$!
	await listening
	# shellcheck disable=SC2016 # the ranks' shells expand it
	timeout 60 "mpirun.$mpi" "${own[@]}" -n 2 sh -c 'export KVGPU_CLUSTER_SECRET
		case ${OMPI_COMM_WORLD_RANK-$PMI_RANK} in
		0) KVGPU_CLUSTER_SECRET=$(printf %064d 1); exec "$0" broker --folder "$1" --patience 10 ;;
		*) KVGPU_CLUSTER_SECRET=$(printf %064d 2); exec "$0" proxy --library "$2" --patience 10 ;;
		esac' "$relay" "$work/$mpi-secret" "$work/gpu.so" > "$work/said" 2>&1
	grep -q "does not know this job's secret" "$work/said"
	result $? "a broker and a proxy of two jobs do not listen to each other" "$(grep -m 1 secret "$work/said")"
	kill $listener
	wait $listener 2>/dev/null
}

# another run inside of the first one sees it, and stays away if it is told so
run_shared()
{
	local rc

	step "a part of the GPU's memory, for all processes of the program" --gpus 1 --memory 512M "$work/part" 512
	# With a library that takes longer than --wait says. --disable-new-dtags: LD_LIBRARY_PATH, by which a program finds the client, does
	# not go first.
	echo '#include <unistd.h>
		__attribute__((constructor)) static void begin(void) { sleep(2); }' |
		gcc -shared -fPIC -o "$work/slow.so" -xc - -xnone -Wl,--no-as-needed,--disable-new-dtags,-rpath,"$inprocess" \
			"$inprocess/libcuda.so.1"
	step "more memory than the GPU has is refused, after waiting" --gpus 1 --memory 1M sh -c \
		"! '$remote/kvgpu-run' --mpi $mpi ${root[*]} --library '$work/slow.so' --memory 64G --wait 1 true"
	grep -q 'waiting for GPUs' "$work/said" && grep -q 'too few GPUs' "$work/said"
	result $? "and says why" "$(tail -n 1 "$work/said")"
	( kvrun --gpus 1 "$remote/kvgpu-run" --mpi "$mpi" "${root[@]}" --library "$work/gpu.so" --load 0 true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q 'too few GPUs' "$work/said"
	result $? "a GPU that no other run has: there is none" "exit code $rc"
	ln -sf "$remote/kvgpu-run" "$work/looks-$$"
	step "the list of GPUs, as another run sees it" --gpus 1 "$work/looks-$$" --mpi "$mpi" "${root[@]}" \
		--library "$work/gpu.so" --list
	grep -q "used by looks-$$: user $(id -un), job -, process [0-9]" "$work/said"
	result $? "says who uses the GPU" "$(grep "looks-$$" "$work/said")"
	nothing_left "runs that share a GPU"
	! grep -q "@kvgpu-run.*looks-$$" /proc/net/unix
	result $? "and none is listed any more"
}

# ------------------------------------------------------------------ faults

# proxy_killed AMID N PROGRAM WHAT N PROGRAM WHAT: the second proxy is killed; the second program is for an MPI whose job ends then
proxy_killed()
{
	local amid=$1 error="each device gives an error"

	if goes_on; then
		error="its device gives an error, the others go on"
	else
		shift 3
	fi
	begin "$2" "$3" "$4" && kill -9 "$(ranks_of proxy | sed -n 2p)"
	ended "a proxy is killed$amid: $error"
}

run_faults()
{
	begin 2 faults server_killed && kill -9 "$(ranks_of broker)"
	ended "the broker is killed: each device gives an error"
	begin 2 faults server_killed && kill -9 "$(parent "$(ranks_of broker)")"
	ended "mpirun is killed: each device gives an error"
	begin 2 several dies && kill -9 "$(server 2)"
	ended "a server process is killed: its device gives an error, the other one goes on"
	proxy_killed "" 2 several dies 2 faults server_killed
	begin 2 several dies --jobs each && kill -9 "$(own_proxy 1)"
	ended "a job for each GPU, a proxy is killed: its device gives an error, the other one goes on"
	begin 2 several dies && kill -STOP "$(ranks_of proxy | sed -n 2p)"
	ended "a proxy says nothing any more: its device gives an error, the other one goes on"
	begin 1 pieces dies && kill -9 "$(server 1)"
	ended "a server process is killed amid copies: its device gives an error"
	begin 1 pieces dies && kill -9 "$(ranks_of proxy)"
	ended "a proxy is killed amid copies: its device gives an error"
	begin 1 pieces dies && kill -9 "$(ranks_of broker)"
	ended "the broker is killed amid copies: its device gives an error"
	begin 1 pieces dies && kill -STOP "$(ranks_of proxy)"
	ended "a proxy says nothing any more amid copies: its device gives an error"
	begin 2 faults stuck && pkill -9 -P "$job"
	ended "kvgpu-run is killed, and its program with it" 137
	begin 2 faults stuck && kill -9 "$(pgrep -P "$(pgrep -P "$job")" -x faults)"
	ended "the program is killed while its server process is inside of the library" 137
}

run_peer_faults()
{
	begin 3 peers dies && kill -9 "$(server 2)"
	ended "a server process is killed amid copies between GPUs: its device gives an error, the others go on"
	proxy_killed " amid copies between GPUs" 3 peers dies 2 peers all_die
	begin 2 peers on && kill -9 "$(pgrep -P "$(pgrep -P "$job")" -x peers)"
	ended "the program is killed amid copies between GPUs" 137
	[ $mode = long ] || return
	begin 3 peers dies && kill -STOP "$(ranks_of proxy | sed -n 2p)"
	ended "a proxy says nothing any more amid copies between GPUs: its device gives an error, the others go on"
	begin 3 peers dies --jobs each && kill -9 "$(own_proxy 1)"
	ended "a job for each GPU, a proxy is killed amid copies between GPUs: its device gives an error, the others go on"
}

# counted PATTERN FIELD: the sum of that word of all texts like that, of --counts
counted() { grep -oE "$1" "$work/said" | awk -v field="$2" '{ sum += $field } END { print sum + 0 }'; }

# Copies between GPUs. One buffer of the program to 4 GPUs leaves its machine four times one by one, and once by a tree: the counts
# tell.
run_peers()
{
	local all=$((5 * 4 << 20)) name up given

	over="$mpi, 2 proxies: "
	for name in order boxes crossing halos; do
		step "copies between GPUs: $name" --gpus 2 "$work/peers" $name "$cubin"
	done
	over="$mpi, 4 proxies: "
	for name in order threads broadcast halos; do
		step "copies between GPUs: $name" --gpus 4 "$work/peers" $name "$cubin"
	done
	step "one buffer to all, one by one" --gpus 4 --counts "$work/peers" loop "$cubin"
	up=$(counted 'to proxy [0-9]+: [0-9]+ bytes' 4) given=$(counted '[0-9]+ of [0-9]+ bytes to them' 3)
	[ "$up" -gt $((4 * all)) ] && [ "$given" = 0 ]
	result $? "leaves the program's machine once for each" "$up bytes, $given between proxies"
	step "one buffer to all, by a tree" --gpus 4 --counts "$work/peers" send "$cubin"
	up=$(counted 'to proxy [0-9]+: [0-9]+ bytes' 4) given=$(counted '[0-9]+ of [0-9]+ bytes to them' 3)
	[ "$up" -gt "$all" ] && [ "$up" -lt $((all + all / 10)) ] && [ "$given" = $((3 * all)) ]
	result $? "leaves the program's machine once" "$up bytes, $given between proxies"
	over="$mpi: "
	nothing_left "copies between GPUs"
	run_peer_faults
	[ $mode = long ] || return
	step "copies between GPUs, two small buffers" --gpus 3 --staging 64K --slots 2 "$work/peers" threads "$cubin"
	step "copies between GPUs, a job for each" --gpus 2 --jobs each --counts "$work/peers" broadcast "$cubin"
	[ "$(counted '[0-9]+ of [0-9]+ bytes to them' 3)" = 0 ]
	result $? "go by the program's machine"
}

# own_proxy FIRST: the proxy in the job whose broker has that address
own_proxy()
{
	local p broker

	for p in $(ranks_of broker); do
		tr '\0' ' ' < "/proc/$p/cmdline" | grep -q -- "--first $1" && broker=$p
	done
	for p in $(ranks_of proxy); do
		[ "$(parent "$p")" = "$(parent "$broker")" ] && echo "$p"
	done
}

run_all()
{
	over="$mpi: "
	step "the list of GPUs" --list
	grep -q 'K20m.*4096' "$work/said"
	result $? "says names and memory" "$(tail -n 1 "$work/said")"
	run_root
	run_through
	over="$mpi, 2 proxies: "
	for name in belongs copies events waits threads; do
		step "programs on several servers: $name" --gpus 2 "$work/several" $name "$cubin"
	done
	nothing_left "programs on several servers"
	over="$mpi, 4 proxies: "
	step "programs on several servers: threads" --gpus 4 "$work/several" threads "$cubin"
	step "small messages and two of them under way: waits" --gpus 4 --staging 64K --slots 2 "$work/several" waits "$cubin"
	over="$mpi: "
	step "pinned memory, which no GPU sees: a kernel that writes there is an error" --gpus 1 "$work/hidden" "$cubin"
	[ "$(grep -c 'a kernel was given 0x' "$work/said")" = 6 ]
	result $? "and why is said" "$(tail -n 1 "$work/said")"
	for size in 64K 1M 2M; do
		step "copies, buffers of $size: all bytes come as they were sent" --gpus 1 --staging $size "$work/pieces" whole
	done
	step "copies, two buffers, nothing inside of messages" --gpus 1 --staging 64K --slots 2 --eager 0 "$work/pieces" whole
	step "copies, all small ones inside of messages, a small arena" --gpus 1 --eager 64K --arena 64M "$work/pieces" whole
	step "copies, none pipelined" --gpus 1 --pipeline off --arena 64M "$work/pieces" whole
	run_peers
	run_shared
	run_own_world
	run_secret
	run_far
	run_faults
}

find_mpis
[ $mode = long ] || mpis=("${mpis[@]:0:1}")
for mpi in "${mpis[@]}"; do
	run_all
done
echo "1..$number"
exit $failed
