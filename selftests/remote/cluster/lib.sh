# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run.sh, cut.sh and many.sh: runs of kvgpu-run as tests, and what they leave behind.
# Set before: $work (a folder, which the caller removes), $remote (what make cluster has built).
# Before a run: use MPI, and $work/gpu.so (the proxies' libcuda.so.1).
# Set after sourcing: limit_s (seconds, after which a run hangs), over (begins each test's name).
# Set by use: mpi (local, openmpi or mpich), options (of kvgpu-run), alone (a command in front of it).
# Set here: number, failed (the caller exits with it), before, cubin, said (what a run says; a second one beside it has another file).
# Files that exist when this is sourced are not counted as left behind.
# cut.sh replaces new_files(), which nothing_left() calls.
# programs() and find_mpis() may end the script that sources this.

: "${work:?}" "${remote:?}"
cubin=$PWD/selftests/cuda/driver/kernels.cubin
said=$work/said
KVGPU_CLUSTER_NET=$(readlink /proc/self/ns/net)
export KVGPU_CLUSTER_NET

# use MPI: runs with that MPI are in a network namespace of their own, where others do not reach what mpirun listens at. Who is not root
# is root in a user namespace there; below a chroot only root can make one. Open MPI 5 wants a network beside the loopback.
use()
{
	local user=1

	mpi=$1 options=(--mpi "$1") alone=()
	[ "$1" = local ] && return
	options+=(--trust-network --allow-run-as-root)
	[ "$(id -u)" != 0 ] || user=
	# shellcheck disable=SC2016 # the shell in the namespaces expands it
	alone=(unshare ${user:+-Ur} -n sh -c 'ip link set lo up
		ip link add name dummy0 type dummy 2>/dev/null && ip address add 10.78.0.1/24 dev dummy0 && ip link set dummy0 up
		exec "$@"' sh)
}

# programs NAME...: of selftests/, into $work
programs()
{
	local name

	for name in "$@"; do
		gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE "selftests/$name.c" -o "$work/${name##*/}" "$remote/libcuda.so.1" ||
			exit 2
	done
}

# find_mpis: those that this machine has, as $mpis
find_mpis()
{
	mpis=()
	for mpi in openmpi mpich; do
		[ -x "$remote/kvgpu-relay-$mpi" ] && mpis+=("$mpi")
	done
	return 0
}

# shellcheck disable=SC2034 # the exit code of what sources this
number=0 failed=0 over=
# result STATUS NAME [COMMENT]
result()
{
	number=$((number + 1))
	# shellcheck disable=SC2034
	if [ "$1" = 0 ]; then
		echo "ok $number - $over$2 # ${3-}"
	else
		echo "not ok $number - $over$2 # ${3-}"
		failed=1
		sed 's/^/# /' "$said" 2>/dev/null | tail -n 15
	fi
}

# kvrun ARGUMENT...: what it starts has the mark in its environment, by which it is found afterwards.
# Call it in a subshell: it ends by exec. Folders of kvgpu-run are made in $work. PROGRAM begins with a look at all sockets (doors.py).
kvrun()
{
	local -a own=()

	while [[ ${1-} == --* ]]; do
		own+=("$1")
		case $1 in
		--list | --counts | --share) ;;
		*) own+=("$2"); shift ;;
		esac
		shift
	done
	[ $# = 0 ] || [ -n "${plain-}" ] || set -- /usr/bin/python3 "$PWD/selftests/remote/cluster/doors.py" "$work" "$@"
	KVGPU_CLUSTER_TEST=$work XDG_RUNTIME_DIR=$work exec "${alone[@]}" timeout -k 5 "${limit_s-300}" "$remote/kvgpu-run" \
		"${options[@]}" --share --library "$work/gpu.so" "${own[@]}" "$@"
}

# no_doors: what the runs' looks have found
no_doors()
{
	local looks

	looks=$(grep -c '^looked at [1-9]' "$work/doors")
	[ "$looks" -gt 0 ] && ! grep -q '^door' "$work/doors"
	result $? "no other user and no other machine can reach a socket of these runs" \
		"${looks} runs, $(awk '/^looked/ { n += $3 } END { print n }' "$work/doors") sockets; $(grep -m 1 '^door' "$work/doors")"
	rm -f "$work/doors"
}

# marked: processes of a run, without zombies, which have no environment
marked() { grep -lsFxz "KVGPU_CLUSTER_TEST=$work" /proc/[0-9]*/environ | cut -d / -f 3; }

# is_part PID ROLE: that process is of the relay's, in that part of it
is_part()
{
	local -a words

	mapfile -t -d '' words 2>/dev/null < "/proc/$1/cmdline" || return 1
	[ "${words[0]-}" = "$remote/kvgpu-relay-$mpi" ] && [ "${words[1]-}" = "$2" ]
}

# ranks_of broker|proxy: by their PIDs; what a proxy has made is no rank
ranks_of()
{
	local p

	for p in $(marked | sort -n); do
		is_part "$p" "$1" && ! is_part "$(parent "$p")" "$1" && echo "$p"
	done
}
parent() { awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }
children() { pgrep -P "$1"; }
# server N: the server process of the N-th proxy
server() { children "$(children "$(ranks_of proxy | sed -n "$1p")")" | head -n 1; }

# whether this MPI's job goes on when one of its ranks is killed: Open MPI from 5.0 on, and without MPI
goes_on()
{
	[ "$mpi" = local ] && return
	[ "$mpi" = openmpi ] && [ "$(mpirun.openmpi --version | sed -n '1s/.*) \([0-9]*\).*/\1/p')" -ge 5 ]
}

# used FILE: a process has mapped that file, or runs the mpirun of that folder. It is of another run: this run's are known by their mark.
used()
{
	local job

	for job in "$1"/pid.*; do
		[ -d "/proc/${job##*.}" ] && return 0
	done
	grep -qsF " $1" /proc/[0-9]*/maps
}

# new_files: files that were not there before, and that no process uses
memory_and_files() { ls -d /dev/shm/* /tmp/ompi.* 2>/dev/null | sort; }
before=$(memory_and_files)
new_files()
{
	local file

	comm -13 <(echo "$before") <(memory_and_files) | while read -r file; do
		used "$file" || echo "$file"
	done
}

# nothing_left NAME: no process, no folder, no memory, after a while
nothing_left()
{
	local left='' _

	for _ in $(seq 1200); do
		left=$(marked; ls -d "$work"/kvgpu-run.* 2>/dev/null; new_files)
		[ -z "$left" ] && break
		sleep 0.05
	done
	[ -z "$left" ]
	result $? "$1: nothing is left behind" "$(head -c 200 <<< "$left" | tr '\n' ' ')"
}

# steps NAME PROGRAM MODES OPTION...: a run of kvgpu-run in which the program runs in each mode, as one test each
steps()
{
	local name=$1 program=$2 modes=$3 one

	shift 3
	# shellcheck disable=SC2016 # the shell in the run expands it
	( kvrun "$@" sh -c 'for mode in $3; do "$1" "$mode" "$2"; echo "mode $mode: exit code $?"; done' sh "$work/$program" "$cubin" \
		"$modes" ) > "$said" 2>&1
	for one in $modes; do
		grep -qx "mode $one: exit code 0" "$said"
		result $? "$name: $one" "$(grep -B 1 "^mode $one: " "$said" | tr '\n' ' ')"
	done
}

# step NAME ARGUMENT...: a run of kvgpu-run as one test; its last line is the comment
step()
{
	local name=$1 rc

	shift
	( kvrun "$@" ) > "$said" 2>&1
	rc=$?
	result $rc "$name" "exit code $rc: $(tail -n 1 "$said")"
}

# await TEXT: waits for a while until the run has said it
await()
{
	local _

	for _ in $(seq 1200); do
		grep -q "$1" "$said" && return 0
		sleep 0.05
	done
	return 1
}

# begin PROXIES PROGRAM MODE [OPTION...]: in the background, until the program is ready; $job is timeout's process
begin()
{
	local proxies=$1 program=$2 what=$3

	shift 3
	start=$SECONDS
	: > "$said"
	( kvrun --gpus "$proxies" --patience 10 "$@" "$work/$program" "$what" "$cubin" ) > "$said" 2>&1 &
	job=$!
	await '^ready' || return 1
	start=$SECONDS
}

# ended NAME [EXIT CODE]: by itself, so not by timeout's signal
ended()
{
	local rc

	wait "$job"
	rc=$?
	[ $rc = "${2-0}" ]
	result $? "$1" "$((SECONDS - start)) s, exit code $rc: $(grep -v '^\[\|^--\|^$\|^=' "$said" | tail -n 1)"
	nothing_left "$1"
}
