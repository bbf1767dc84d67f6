#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long: kvgpu-run on this machine, each proxy with the GPU inside of its server processes. TAP. quick: without MPI, and some
# of it with Open MPI (or the one that is here); long: all of it with both, too, and more of copies between GPUs.
set -u
cd "$(dirname "$0")/../../.." || exit 2
mode=${1:-quick}

inprocess=$(make -s cuda-inprocess) && remote=$(make -s cluster) || { echo "run.sh: the libraries do not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'} remote=${remote##*$'\n'}
work=$(mktemp -d /tmp/kvgpu-cluster-test.XXXXXX)
trap 'rm -rf "$work"' EXIT
# shellcheck source=selftests/remote/cluster/lib.sh
. selftests/remote/cluster/lib.sh
# shellcheck source=selftests/remote/inherits.sh
. selftests/remote/inherits.sh
ln -s "$inprocess/libcuda.so.1" "$work/gpu.so"
programs remote/faults remote/inherits remote/several remote/cluster/hidden remote/cluster/pieces remote/cluster/peers remote/slurm/part

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
	( plain=1; kvrun --gpus 1 "$work/nowhere" ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 127 ] && grep -q "nowhere: No such file" "$work/said"
	result $? "a program that is not there" "exit code $rc"
	( plain=1; kvrun --library "$work/none.so" "$work/nowhere" ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 127 ] && grep -q "nowhere: No such file" "$work/said"
	result $? "a program that is not there, where no GPU is" "exit code $rc"
	( kvrun --gpus 1 --library "$work/none.so" true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q "none.so: cannot open" "$work/said" && ! grep -q "none.so: $work/none.so" "$work/said" &&
		grep -q "install kvgpu-cuda or .*by --library" "$work/said"
	result $? "a library that is not there" "exit code $rc"
	( plain=1; kvrun --library "$work/none.so" --list ) > "$work/said" 2>&1
	! grep -q UUID "$work/said"
	result $? "it has no list of GPUs, nor its head" "$(head -n 1 "$work/said")"
	( kvrun --gpus 1 env ) > "$work/said" 2>&1
	! grep -E '^(OMPI_|PMIX|PMI_|HYD|KVGPU_CLUSTER_SECRET)' "$work/said" | grep -v '^OMPI_ALLOW'
	result $? "the program has nothing of the job's environment"
	nothing_left "programs without CUDA"
}

# whatever kvgpu-run was started with is PROGRAM's, too
run_inherits()
{
	local how rc
	local -a run=(env "KVGPU_CLUSTER_TEST=$work" "XDG_RUNTIME_DIR=$work" "${alone[@]}" "$remote/kvgpu-run" "${options[@]}"
		--share --library "$work/gpu.so" --gpus 1)

	for how in "${inherited[@]/few descriptors, /}"; do
		[ "$mpi" = local ] || [[ $how = *children* ]] || continue
		inherits "$how" work "${run[@]}"
	done
	nothing_left "programs that inherit something odd"
	[ "$mpi" = local ] || return
	( started 'few descriptors' "${run[@]}" true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q 'may have 40 descriptors (ulimit -n)' "$work/said"
	result $? "too few descriptors are said at once" "exit code $rc: $(tail -n 1 "$work/said")"
}

# fewer GPUs than a host has by --hosts, or no place for the rest
run_fewer()
{
	local rc

	( plain=1; kvrun --hosts localhost:2 --gpus 2 true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q "$(hostname): this machine has 1 GPU, and --hosts says that it has more" "$work/said"
	result $? "a host with fewer GPUs than --hosts says is named" "exit code $rc: $(grep -m 1 'this machine has' "$work/said")"
	nothing_left "a host with fewer GPUs"
}

# which GPUs a program sees, of all and of those that another choice has left
run_visible()
{
	# shellcheck disable=SC2016
	( plain=1; export KVGPU_INPROCESS_GPUS=3 CUDA_VISIBLE_DEVICES=2,0
	  kvrun --gpus 2 sh -c '"$0" devices "$1/both" - && CUDA_VISIBLE_DEVICES=1 "$0" devices "$1/second" -' "$work/inherits" "$work" ) \
		> "$work/said" 2>&1
	read -r -a both < "$work/both"
	[ "${#both[@]}" = 4 ] && [ "${both[1]}" = 2 ] && [ "${both[2]}" \> "${both[3]}" ] &&
		[ "$(cat "$work/second")" = "0 1 ${both[3]}" ]
	result $? "CUDA_VISIBLE_DEVICES chooses GPUs, and inside of it devices" "${both[*]}; $(cat "$work/second")"
}

run_root()
{
	[ "$(id -u)" = 0 ] && [ "$mpi" = openmpi ] || return 0
	env -u OMPI_ALLOW_RUN_AS_ROOT "$remote/kvgpu-run" --mpi openmpi --trust-network --library "$work/gpu.so" true > "$work/said" 2>&1
	[ $? = 125 ] && grep -q -- "--allow-run-as-root" "$work/said"
	result $? "as root it says what to do" "$(head -c 80 "$work/said")"
}

# a program that uses MPI itself, of the same kind as the MPI job of kvgpu-run, beside that job
run_own_world()
{
	local -a own=() compile link
	local proxies

	read -ra compile < <(own_flags compile)
	read -ra link < <(own_flags link)
	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" "${compile[@]}" selftests/remote/cluster/own_world.c -o "$work/own_world" "$remote/libcuda.so.1" \
		"${link[@]}" || { result 1 "a program with MPI builds"; return; }
	[ "$mpi" = openmpi ] && own+=(--oversubscribe --allow-run-as-root)
	for proxies in "$mpi" local; do
		step "a program with MPI has its own world, proxies by $proxies" --mpi $proxies --gpus 2 "mpirun.$mpi" "${own[@]}" -n 3 \
			"$work/own_world"
		grep -q '^3 ranks, 2 devices, sum 6$' "$work/said"
		result $? "and all devices" "$(tail -n 1 "$work/said")"
	done
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
	if goes_on && [ -z "$("${alone[@]}" awk -F: 'NR > 2 && $1 !~ /^ *lo$/' /proc/net/dev)" ]; then
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
	# the job's processes, and what they have in their environment that is not named (remote/cluster/run/command.c), nor MPI's own
	cat > "$work/names" <<-'N'
	#!/bin/bash
	for p in /proc/[0-9]*; do
		case $(cat "$p/cmdline" 2>/dev/null | tr '\0' ' ') in
		*kvgpu-relay-* | *mpirun* | *orted* | *prted* | *hydra*) ;;
		*) continue ;;
		esac
		grep -qs "KVGPU_CLUSTER_TEST=$KVGPU_CLUSTER_TEST" "$p/environ" && ! grep -qs "kvgpu-run" "$p/comm" || continue
		echo "process $p"
		tr '\0' '\n' < "$p/environ" | grep -e KVGPU_A_SECRET -e '^KVGPU_CLUSTER_SECRET' -e '^TOKEN' | sed 's/^/found /'
		tr '\0' '\n' < "$p/environ" | grep -o '^[A-Za-z_][A-Za-z_0-9]*=' | grep -vE '^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR)=$|'\
	'^(LD_LIBRARY_PATH|SSH_AUTH_SOCK|KRB5CCNAME|PWD|OLDPWD|SHLVL|_)=$|'\
	'^(OMPI_|OPAL_|ORTE_|PMIX|PRTE_|PMI_|HYD|MPI|FI_|UCX_|SLURM_|CUDA_|NVIDIA_|KVGPU_|HWLOC_|HFI_|IPATH_|PSM|GFORTRAN_)' | sed 's/^/found /'
	done
	N
	chmod +x "$work/names"
	export TOKEN=a_token_of_the_user
	# by TCP, as between machines
	[ "$mpi" = openmpi ] && export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
	step "another machine: its GPUs are counted" --hosts localhost,127.0.0.2 --list
	[ "$(grep -c 'K20m.*4096' "$work/said")" = 2 ]
	result $? "and listed"
	step "another machine: a program has a device here and one there" --hosts 127.0.0.2:1,localhost:1 "$work/several" waits "$cubin"
	step "another machine: what of the user's environment goes there" --hosts 127.0.0.2:1,localhost:1 "$work/names"
	[ "$(grep -c '^process' "$work/said")" -ge 4 ] && ! grep -q '^found' "$work/said"
	result $? "is named" "$(grep -c '^process' "$work/said") processes; $(grep '^found' "$work/said" | tr '\n' ' ')"
	unset OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent HYDRA_LAUNCHER_EXEC OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include
	unset TOKEN
	nothing_left "another machine"
}

# a broker and a proxy of two jobs do not listen to each other; the broker's kvgpu-run is a socket here
run_secret()
{
	local relay=$remote/kvgpu-relay-$mpi listener both
	local -a two=() broker proxy

	broker=("$relay" broker --folder "$work/$mpi-secret" --patience 10 --number "$(printf %064d 1)")
	proxy=("$relay" proxy --library "$work/gpu.so" --patience 10 --number "$(printf %064d 2)")
	# Open MPI 5 ends by SIGSEGV if it is to start two programs
	two=("mpirun.$mpi" -n 2 sh -c "[ \"\${OMPI_COMM_WORLD_RANK-\$PMI_RANK}\" != 0 ] || exec ${broker[*]}; exec ${proxy[*]}")
	[ "$mpi" = openmpi ] && two=("mpirun.$mpi" --oversubscribe --allow-run-as-root "${two[@]:1}")
	[ "$mpi" = local ] && two=("$relay" ranks "${broker[@]}" --next "${proxy[@]}")
	mkdir "$work/$mpi-secret"
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("listening", flush=True)
time.sleep(600)' "$work/$mpi-secret/run" > "$work/said" & listener=$!
	await listening
	timeout 60 "${alone[@]}" "${two[@]}" > "$work/said" 2>&1 & both=$!
	await "does not know this job's secret"
	result $? "a broker and a proxy of two jobs do not listen to each other" "$(grep -m 1 secret "$work/said")"
	# kvgpu-run ends a job without MPI, and there is none here: without the proxy the broker would stay. An mpirun ends its job by
	# itself, and one that gets a signal meanwhile leaves its folder behind.
	[ "$mpi" != local ] || kill $both
	kill $listener
	wait $both $listener 2>/dev/null
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
		"! '$remote/kvgpu-run' ${options[*]} --library '$work/slow.so' --memory 64G --wait 1 true"
	grep -q 'waiting for GPUs' "$work/said" && grep -q 'too few GPUs' "$work/said"
	result $? "and says why" "$(tail -n 1 "$work/said")"
	( kvrun --gpus 1 "$remote/kvgpu-run" "${options[@]}" --library "$work/gpu.so" --load 0 true ) > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q 'too few GPUs' "$work/said"
	result $? "a GPU that no other run has: there is none" "exit code $rc"
	ln -sf "$remote/kvgpu-run" "$work/looks-$$"
	plain=1
	step "the list of GPUs, as another run sees it" --gpus 1 "$work/looks-$$" "${options[@]}" --library "$work/gpu.so" --list
	plain=
	grep -q "used by looks-$$: user $(id -un), job -, process [0-9]" "$work/said"
	result $? "says who uses the GPU" "$(grep "looks-$$" "$work/said")"
	nothing_left "runs that share a GPU"
	! grep -q "@kvgpu-run.*looks-$$" /proc/net/unix
	result $? "and none is listed any more"
}

# ------------------------------------------------------------------ who else gets in

# without an MPI on this machine: nothing but the parts for that, and no mpirun in the path
run_bare()
{
	local bare=$work/bare

	mkdir "$bare" && cp "$remote/kvgpu-run" "$remote/kvgpu-relay-local" "$remote/libcuda.so.1" "$bare"
	timeout 60 env "PATH=$bare" "$bare/kvgpu-run" --gpus 2 --share --library "$work/gpu.so" "$work/several" waits "$cubin" > "$work/said" 2>&1
	result $? "no MPI is needed for GPUs of this machine" "$(tail -n 1 "$work/said")"
	! ldd "$bare/kvgpu-relay-local" | grep -i 'mpi\|pmi\|libfabric\|ucx'
	result $? "and none is linked"
	rm -r "$bare"
}

# refused NAME ARGUMENT...: kvgpu-run says why mpirun is not started
refused()
{
	local name=$1 rc

	shift
	timeout 60 "$remote/kvgpu-run" --library "$work/gpu.so" "$@" > "$work/said" 2>&1
	rc=$?
	[ $rc = 125 ] && grep -q 'every local user of each machine and every peer of the network' "$work/said" && grep -q Slurm "$work/said" &&
		grep -q -- --trust-network "$work/said"
	result $? "$name" "exit code $rc: $(head -c 60 "$work/said")"
}

run_refused()
{
	refused "another machine without a word of trust is refused" --hosts localhost:1,elsewhere:1 true
	refused "to list another machine's GPUs, too" --hosts elsewhere --list
	refused "an MPI on this machine, too" --mpi mpich true
	timeout 60 "$remote/kvgpu-run" --library "$work/gpu.so" --mpi local --hosts elsewhere true > "$work/said" 2>&1
	[ $? = 125 ] && grep -q 'names another one' "$work/said"
	result $? "another machine without MPI is refused"
	mkdir -p "$work/a:b"
	cp "$remote/kvgpu-run" "$work/a:b/" && ln -sf "$remote"/{libcuda.so.1,kvgpu-relay-local} "$work/a:b/"
	timeout 60 "$work/a:b/kvgpu-run" --library "$work/gpu.so" true > "$work/said" 2>&1
	[ $? = 125 ] && grep -q 'a colon or a semicolon, by which LD_LIBRARY_PATH' "$work/said"
	result $? "a colon in the path of PROGRAM's library is refused" "$(head -c 80 "$work/said")"
	rm -r "$work/a:b"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nkill -9 $$\n' > "$work/dies" && chmod +x "$work/dies"
	timeout 60 "$remote/kvgpu-run" --mpi openmpi --trust-network --allow-run-as-root --mpirun "$work/dies" true > "$work/said" 2>&1
	[ $? = 125 ] && grep -q 'dies was killed by signal 9' "$work/said"
	result $? "a signal that ends mpirun is named" "$(head -n 1 "$work/said")"
}

# nobody, who has the names of all sockets and processes of a run, tries them
run_nobody()
{
	local -a names

	[ "$(id -u)" = 0 ] || { result 0 "a second local user" "SKIP it takes root to be another user"; return; }
	begin 2 faults stuck --patience 30
	mapfile -t names < <(ss -H -lnxp | awk '{ print $5 }' | grep -e "^$work" -e '^@kvgpu-run/')
	setpriv --reuid=nobody --regid=nogroup --clear-groups /usr/bin/python3 - "$(marked | tr '\n' ' ')" "${names[@]}" > "$work/tried" 2>&1 <<-'P'
	import os, socket, sys
	inside = []
	def tries(what, call, *args):
	    try:
	        call(*args)
	        inside.append(what)
	    except OSError:
	        pass
	for name in sys.argv[2:]:
	    kind = socket.SOCK_STREAM
	    tries("socket " + name, socket.socket(socket.AF_UNIX, kind).connect, "\0" + name[1:] if name[0] == "@" else name)
	for pid in sys.argv[1].split():
	    for part in ("environ", "mem", "maps", "fd", "root", "cwd"):
	        tries(f"/proc/{pid}/{part}", os.listdir if part in ("fd", "root", "cwd") else lambda p: open(p, "rb"), f"/proc/{pid}/{part}")
	    tries(f"a signal to {pid}", os.kill, int(pid), 0)
	print("tried", len(sys.argv) - 2, "sockets and", len(sys.argv[1].split()), "processes")
	print("\n".join(i for i in inside if not i.startswith("socket @kvgpu-run/")) or "out")
	P
	[ "$(tail -n 1 "$work/tried")" = out ] && grep -q '^tried [3-9] sockets and [1-9][0-9]* proc' "$work/tried"
	result $? "a second local user finds no door" "$(tr '\n' ' ' < "$work/tried")"
	kill -9 "$(pgrep -P "$(pgrep -P "$job")" -x faults)"
	ended "the program is killed afterwards" 137
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

# Open MPI leaves its shared memory then: here in a folder that is removed
parent_killed()
{
	export OMPI_MCA_btl_vader_backing_directory=$work OMPI_MCA_btl_sm_backing_directory=$work
	begin 2 faults server_killed && kill -9 "$(parent "$(ranks_of broker)")"
	ended "what has started the ranks is killed: each device gives an error"
	unset OMPI_MCA_btl_vader_backing_directory OMPI_MCA_btl_sm_backing_directory
}

# two runs beside each other, as each waits until its patience is over
silent_proxies()
{
	local first

	begin 2 several dies
	first=$job said=$work/said-amid
	# shellcheck disable=SC2046 # the second of the first run's, and the one of the other run
	begin 1 pieces dies && kill -STOP $(ranks_of proxy | sed -n 2,3p)
	ended "a proxy says nothing any more amid copies: its device gives an error"
	job=$first said=$work/said
	ended "a proxy says nothing any more: its device gives an error, the other one goes on"
}

run_faults()
{
	begin 2 faults server_killed && kill -9 "$(ranks_of broker)"
	ended "the broker is killed: each device gives an error"
	parent_killed
	begin 2 several dies && kill -9 "$(server 2)"
	ended "a server process is killed: its device gives an error, the other one goes on"
	proxy_killed "" 2 several dies 2 faults server_killed
	begin 2 several dies --jobs each && kill -9 "$(own_proxy 1)"
	ended "a job for each GPU, a proxy is killed: its device gives an error, the other one goes on"
	silent_proxies
	begin 1 pieces dies && kill -9 "$(server 1)"
	ended "a server process is killed amid copies: its device gives an error"
	begin 1 pieces dies && kill -9 "$(ranks_of proxy)"
	ended "a proxy is killed amid copies: its device gives an error"
	begin 1 pieces dies && kill -9 "$(ranks_of broker)"
	ended "the broker is killed amid copies: its device gives an error"
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
	local all=$((5 * 4 << 20)) up given

	over="$mpi, 2 proxies: "
	steps "copies between GPUs" peers "order boxes crossing halos" --gpus 2
	over="$mpi, 4 proxies: "
	steps "copies between GPUs" peers "order threads broadcast halos" --gpus 4
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
	steps "programs on several servers" several "belongs copies events waits threads" --gpus 2
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
	run_inherits
	run_fewer
	run_secret
	run_faults
	if [ "$mpi" = local ]; then
		run_visible
		run_bare
		run_refused
		run_nobody
	else
		run_own_world
		run_far
	fi
	no_doors
}

# with MPI, which is for several machines
run_some()
{
	over="$mpi: "
	run_root
	step "programs on several servers: waits" --gpus 2 "$work/several" waits "$cubin"
	step "copies between GPUs: halos" --gpus 2 "$work/peers" halos "$cubin"
	run_inherits
	run_fewer
	run_own_world
	run_secret
	run_far
	proxy_killed "" 2 several dies 2 faults server_killed
	parent_killed
	no_doors
}

use local
run_all
find_mpis
for mpi in "${mpis[@]}"; do
	use "$mpi"
	[ $mode = long ] && run_all || run_some
	[ $mode = long ] || break
done
echo "1..$number"
exit $failed
