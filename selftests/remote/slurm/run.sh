#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh: kvgpu-run in jobs of Debian's Slurm, on three nodes that are namespaces of this machine. TAP. As root. Its files are in one
# folder.
set -u
cd "$(dirname "$0")/../../.." || exit 2
here=$PWD/selftests/remote/slurm

if [ "${1-}" != inside ]; then
	[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP namespaces of machines want root"; exit 0; }
	inprocess=$(make -s cuda-inprocess) && make -s cluster > /dev/null && remote=$(make -s print-remote) && slurm=$("$here/fetch.sh") ||
		{ echo "run.sh: the libraries do not build, or Slurm can't be fetched" >&2; exit 2; }
	inprocess=${inprocess##*$'\n'} slurm=${slurm##*$'\n'}
	work=$(mktemp -d /tmp/kvgpu-slurm-test.XXXXXX)
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work"
	export inprocess remote slurm work
	unshare --mount --uts --net --ipc --pid --fork --kill-child "$0" inside
	exit
fi

mount -t proc proc /proc
# shellcheck source=selftests/remote/slurm/world.sh
. "$here/world.sh"
bin=$work/bin
cubin=$bin/kernels.cubin

# jobs run as a user who can't read what root has built
install_programs()
{
	local name

	mkdir "$bin" && cp "$remote"/kvgpu-run "$remote"/kvgpu-relay-* "$remote/libcuda.so.1" "$bin" &&
		cp "$inprocess/libcuda.so.1" "$bin/gpu.so" && cp selftests/cuda/driver/kernels.cubin "$bin" || return
	for name in remote/faults remote/several remote/slurm/part; do
		gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE "selftests/$name.c" -o "$bin/${name##*/}" "$bin/libcuda.so.1" || return
	done
	mkdir -m 1777 "$work/out"
}

number=0 failed=0 over='' out=''
# result STATUS NAME [COMMENT]
result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $over$2 # ${3-}"
	else
		echo "not ok $number - $over$2 # ${3-}"
		failed=1
		tail -n 20 "$out" 2>/dev/null | cut -c 1-200 | sed 's/^/# /'
	fi
}

# a job sees those of the library's GPUs that Slurm names in CUDA_VISIBLE_DEVICES
user=(setpriv --reuid=nobody --regid=nogroup --clear-groups env -i PATH=/usr/bin:/bin HOME=/tmp KVGPU_INPROCESS_GPUS=2)
run="$bin/kvgpu-run --library $bin/gpu.so"

# submit OPTION... -- COMMAND: $job; its output goes to $out
submit()
{
	local -a options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	jobs=$((${jobs-0} + 1))
	out=$work/out/$jobs
	job=$("${user[@]}" sbatch --parsable --chdir=/tmp --mem=500 --output="$out" "${options[@]}" --wrap="$2")
}

# state: of the job, when it has ended; after 300 s it hangs
state()
{
	local _ is

	for _ in $(seq 1500); do
		is=$(scontrol -o show job "$job" | grep -o 'JobState=[A-Z_]*')
		is=${is#*=}
		case $is in PENDING | CONFIGURING | RUNNING | COMPLETING | '') sleep 0.2 ;; *) break ;; esac
	done
	echo "$is$(scontrol -o show job "$job" | grep -o ' ExitCode=[0-9:]*')"
}

# await TEXT: the job has said it
await()
{
	local _

	for _ in $(seq 3000); do
		grep -qs "$1" "$out" && return 0
		sleep 0.1
	done
	result 1 "a program says '$1'" "$(tail -n 3 "$out" 2>&1)"
	return 1
}

# left_on NODE: what jobs left on a node: processes but for slurmd's and sleep, memory, files,
# sockets, folders of jobs
left_on()
{
	# shellcheck disable=SC2016
	in_node "$1" bash -c 'for p in /proc/[0-9]*; do
			p=${p#/proc/}
			[ "$p" = 1 ] || [ "$p" = $$ ] || [ ! -e "/proc/$p/exe" ] && continue
			case $(readlink "/proc/$p/exe") in */slurmd* | */sleep | "") ;; *) tr "\0" " " < "/proc/$p/cmdline" ;; esac
		done
		ls -d /dev/shm/* /run/user/*/* 2>/dev/null
		find /tmp -mindepth 1 -maxdepth 1 ! -path "${1%/*}*" ! -path "$1"
		grep -o "@kvgpu.*" /proc/net/unix
		ls -d "$1/spool/$2"/job* "$1/spool/$2"/pmix.* 2>/dev/null' - "$work" "$1"
}

clean()
{
	local node left='' _

	for _ in $(seq 3000); do
		left=
		for node in "${node_names[@]}"; do
			left+=$(left_on "$node" | sed "s/^/$node: /")
		done
		[ -z "$left" ] && break
		sleep 0.1
	done
	[ -z "$left" ]
	result $? "$1: nothing is left on any node" "$(tr '\n' ' ' <<< "$left" | cut -c 1-300)"
}

ends()
{
	local is

	is=$(state)
	[[ $is = $2* ]]
	result $? "$1" "$is: $(grep -v '^srun\|^slurmstepd' "$out" | tail -n 1 | cut -c 1-100)"
}

# ------------------------------------------------------------------ jobs

jobs_normal()
{
	submit -N2 --gres=gpu:2 -- "$run --mpi $mpi $bin/several waits $cubin"
	ends "a program on four GPUs of two nodes" "COMPLETED ExitCode=0:0"
	submit -N3 --gres=gpu:1 -- "$run --mpi $mpi sh -c 'env; exit 7'"
	ends "its exit code is the job's" "FAILED ExitCode=7:0"
	[ "$(grep -c 'unix:[^ ]*/[012]' "$out")" = 1 ] && grep -q 'KVGPU_REMOTE=unix:.*/0 unix:.*/1 unix:.*/2$' "$out" &&
		! grep -q 'KVGPU_CLUSTER\|SLURM_HOSTFILE\|^PMI' "$out"
	result $? "a device of each of three nodes, and nothing of the step's environment"
	clean "jobs that end"
	submit -N2 --gres=gpu:1 -- "$run --mpi $mpi --jobs each $bin/several events $cubin"
	ends "a step for each GPU" "COMPLETED ExitCode=0:0"
	submit -N2 --gres=gpu:1 -- "$run --mpi $mpi --list"
	ends "the list of GPUs" "COMPLETED ExitCode=0:0"
	[ "$(grep -c '^node[12].*K20m' "$out")" = 2 ] && [ "$(wc -l < "$out")" = 3 ]
	result $? "says those of the allocation"
	submit -N2 --gres=gpu:1 -- "$run --mpi $mpi --hosts node9 true"
	ends "a host that is not in the allocation" "FAILED ExitCode=125:0"
	clean "more jobs that end"
}

jobs_crash()
{
	submit -N2 --gres=gpu:1 -- "exec $run --mpi $mpi sh -c 'kill -SEGV \$\$'"
	ends "a program that crashes" "FAILED ExitCode=0:11"
	clean "a program that crashes"
	submit -N2 --gres=gpu:1 -- "$run --mpi $mpi --patience 3 $bin/faults server_killed $cubin"
	await '^ready'
	scancel "$job"
	ends "scancel" CANCELLED
	clean "scancel"
	submit -N2 --gres=gpu:1 -- "$run --mpi $mpi --patience 3 $bin/faults server_killed $cubin"
	await '^ready'
	scancel --signal=KILL --full "$job"
	ends "scancel with SIGKILL to all" CANCELLED
	clean "scancel with SIGKILL to all"
	submit -N2 --gres=gpu:1 --mem=300 -- "$run --mpi $mpi python3 -c 'import time
a = bytearray(b\"x\" * (1 << 30))
time.sleep(600)'"
	# Slurm with accounting in cgroups has a state of its own for this
	ends "a program that takes more memory than the job has" '@(FAILED|OUT_OF_MEMORY)'
	grep -q 'exceeded memory limit\|[Oo]ut.[Oo]f.[Mm]emory' <<<"$(cat "$out") $(state)"
	result $? "and Slurm says so"
	clean "a program that takes more memory than the job has"
}

# a node's slurmd is killed and comes back; then a node's power is cut
jobs_nodes()
{
	submit -w node1,node2 -N2 --gres=gpu:1 -- "$run --mpi $mpi sh -c 'echo ready; until [ -e $work/out/back-$mpi ]; do sleep 0.2; done; exec $bin/several waits $cubin'"
	await '^ready'
	in_node node2 bash -c 'kill -9 $(pgrep -x slurmd); while pgrep -x slurmd; do sleep 0.1; done; slurmd'
	touch "$work/out/back-$mpi"
	ends "slurmd of a node is killed and started again: the job goes on" "COMPLETED ExitCode=0:0"
	nodes_are idle
	clean "slurmd is killed"
	submit -w node1,node2 -N2 --gres=gpu:1 --no-kill=off --no-requeue -- "$run --mpi $mpi --patience 3 $bin/faults server_killed $cubin"
	await '^ready'
	node_off node2
	# the program may have ended before Slurm misses the node
	ends "a node's power is cut" '@(NODE_FAIL|COMPLETED ExitCode=0:0)'
	# what slurmstepd could not remove from the node's disk
	rm -rf "$work"/spool/node2/pmix.*
	node_up node2
	nodes_are idle
	result $? "the node is back"
	clean "a node's power is cut"
}

# two jobs have parts of the one GPU of node3, which has 4 shards and 4 GiB
jobs_shards()
{
	local first second other

	# the model's memory is the host's
	submit -w node3 --gres=shard:1 --mem=2500 -- "$run --mpi $mpi sh -c '$bin/part 1024; rc=\$?; echo ready; until [ -e $work/out/$mpi ]; do sleep 0.2; done; exit \$rc'"
	first=$job other=$out
	await '^ready'
	submit -w node3 --gres=shard:3 --mem=4500 -- "$run --mpi $mpi $bin/part 3072; $run --mpi $mpi --list"
	second=$job
	ends "three of four shards of a GPU are three quarters of its memory" "COMPLETED ExitCode=0:0"
	grep -q '^right$' "$out" && grep -q "used by sh: user nobody, job $first," "$out"
	result $? "the list says which job has the GPU, too" "$(grep used "$out")"
	touch "$work/out/$mpi"
	job=$first out=$other
	ends "one shard is a quarter" "COMPLETED ExitCode=0:0"
	grep -q '^right$' "$out"
	result $? "and no more"
	[ "$first" != "$second" ]
	clean "jobs that share a GPU"
}

jobs_time()
{
	# exec: proctrack/linuxproc loses what outlives the script
	submit -N2 --gres=gpu:1 --time=1 -- "exec $run --mpi $mpi sh -c 'trap \"\" TERM; while :; do sleep 1; done'"
	ends "the time is over, and the program ignores SIGTERM" TIMEOUT
	clean "the time is over"
}

# ------------------------------------------------------------------

install_programs || { echo "run.sh: the programs do not build" >&2; exit 2; }
world_etc node1 2 8 node2 2 8 node3 1 4
world_up && nodes_are idle
result $? "slurmctld and three nodes are up" "$(sinfo -h -N -o '%N %T' | tr '\n' ' ')"
[ $failed = 0 ] || { tail -n 20 "$work"/log/*; echo "1..$number"; exit 1; }
for mpi in openmpi mpich; do
	[ -x "$bin/kvgpu-relay-$mpi" ] || continue
	over="$mpi: " last=$mpi
	for step in ${STEPS:-normal crash nodes shards}; do
		"jobs_$step"
	done
done
[ -n "${STEPS-}" ] || [ -z "${last-}" ] || mpi=$last jobs_time
echo "1..$number"
exit $failed
