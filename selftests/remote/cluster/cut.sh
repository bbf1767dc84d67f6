#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# cut.sh: kvgpu-run with proxies on other machines, which are namespaces of this one, and a network between them that is cut in the
# middle of work. Each MPI that is here. TAP. As root.
set -u
cd "$(dirname "$0")/../../.." || exit 2

if [ "${1-}" != inside ]; then
	[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP namespaces of machines want root"; exit 0; }
	inprocess=$(make -s cuda-inprocess) && make -s cluster > /dev/null && remote=$(make -s print-remote) ||
		{ echo "cut.sh: the libraries do not build" >&2; exit 2; }
	work=$(mktemp -d /tmp/kvgpu-cut-test.XXXXXX)
	trap 'rm -rf "$work"' EXIT
	# the other machines have a /tmp of their own, but for $work
	mkdir "$work/bin" "$work/log" && cp "$remote"/kvgpu-run "$remote"/kvgpu-relay-* "$remote/libcuda.so.1" "$work/bin" &&
		ln -s "$remote/gen" "$work/bin/gen" &&
		cp "${inprocess##*$'\n'}/libcuda.so.1" "$work/gpu.so" && cp selftests/remote/cluster/far.py "$work" || exit 2
	export remote=$work/bin work
	unshare --mount --uts --net --ipc --pid --fork --kill-child "$0" inside
	exit
fi

mount -t proc proc /proc
# the head is at a bridge, which UCX leaves out from Debian 13 on
export UCX_TCP_BRIDGE_ENABLE=y
# shellcheck source=selftests/remote/slurm/world.sh
. selftests/remote/slurm/world.sh
# shellcheck source=selftests/remote/cluster/lib.sh
. selftests/remote/cluster/lib.sh

# In the place of world.sh's: without slurmd. UCX of MPICH looks in /sys for interfaces.
node_main()
{
	node_begins "$1"
	mount -t sysfs sys /sys
	mount -t tmpfs -o mode=755 run /run
	node_network "$1"
	python3 "$work/far.py" serve "$1" &
	node_stays
}

# A frame for the bridge "nowhere", which is down, is dropped: a port without a bridge would still be heard.
machines_up()
{
	printf '127.0.0.1 localhost\n%s head\n10.77.0.2 far\n10.77.0.3 near\n' "$head_ip" > "$work/hosts"
	mount --bind "$work/hosts" /etc/hosts
	mount -t sysfs sys /sys
	mount -t tmpfs -o mode=755 run /run
	head_network
	ip link add name nowhere type bridge
	node_names=(far near)
	node_up far
	node_up near
	reached far && reached near
}

# reached NODE [TRIES]
reached()
{
	local _

	for _ in $(seq "${2-600}"); do
		timeout 1 bash -c ": < /dev/tcp/$1/1022" 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}

lost() { ip link set v-far master nowhere; }
unplugged() { ip link set v-far down; }
# the two machines do not reach each other, and one has said so; the head reaches both
parted()
{
	bridge link set dev v-far isolated on && bridge link set dev v-near isolated on && await 'gives no pieces any more'
	touch "$KVGPU_PEERS_STOP"
}

mend()
{
	ip link set v-far master bridge0 up
	bridge link set dev v-far isolated off
	bridge link set dev v-near isolated off
	reached far || { echo "Bail out! the network does not come back"; exit 1; }
}

# In the place of lib.sh's: what nodes have in /tmp, /run and /dev/shm, which were empty. A file of a proxy's MPICH itself, from Debian 13
# on, stays where that is killed.
new_files()
{
	local node

	for node in "${node_names[@]}"; do
		# shellcheck disable=SC2016 # the node's shell expands it
		in_node "$node" sh -c 'ls -d /dev/shm/* /tmp/* /run/* | grep -vx "$0\|/tmp/hydra_hwloc_xmlfile_.*"' "$work" 2>/dev/null | sed "s/^/$node:/"
	done
}

# proxies_in PID: in the pid namespace of that process; the first is a rank
proxies_in() { pgrep --ns "$1" --nslist pid -f "^[^ ]*/kvgpu-relay-$mpi proxy"; }

# amid HOW NAME EXIT-CODE PROXIES HOSTS PROGRAM MODE [OPTION...]: the network is cut when the program is ready
amid()
{
	local how=$1 name=$2 code=$3 proxies=$4 hosts=$5 program=$6 what=$7 there

	shift 7
	begin "$proxies" "$program" "$what" --hosts "$hosts" "$@"
	there=$(proxies_in "${node_pid[far]}" | wc -l)
	"$how"
	start=$SECONDS
	[ "$there" -ge 1 ] && { [ "$how" = parted ] || ! reached far 1; }
	result $? "$name: there is work on a machine that is not reached any more" "$there processes"
	[ "$how" = killed ] && kill -9 "$(pgrep -P "$(pgrep -P "$job")" -x "$program")"
	ended "$name" "$code"
	mend
}
killed() { lost; }

stopped_ones()
{
	local p

	for p in $(marked); do
		grep -qs '^State:.T' "/proc/$p/status" && echo "$p"
	done
}

# The network is cut while MPI starts: the proxy here stops itself before that, so that no rank gets through.
amid_start()
{
	local name="a network is cut while MPI starts" _ here='' there='' remote=$work/stops

	: > "$work/said"
	( kvrun --gpus 2 --hosts localhost:1,far:1 --start 20 true ) > "$work/said" 2>&1 &
	job=$!
	for _ in $(seq 1200); do
		here=$(stopped_ones)
		there=$(proxies_in "${node_pid[far]}")
		[ -n "$here" ] && [ -n "$there" ] && break
		sleep 0.05
	done
	lost
	start=$SECONDS
	[ -n "$here" ] && [ -n "$there" ] && ! reached far 1
	result $? "$name: there is a proxy on a machine that is not reached any more"
	ended "$name" 125
	mend
}

run_cut()
{
	local local_and_far=localhost:1,far:1 three=localhost:1,far:1,near:1

	over="$mpi: "
	amid lost "a network is cut: its device gives an error, the other ones go on" 0 3 $three several dies
	amid lost "a network is cut, two proxies behind it" 0 2 far:2 faults server_killed
	amid lost "a network is cut amid copies" 0 1 far:1 pieces dies
	amid lost "a network is cut amid copies between GPUs: the others go on" 0 3 $three peers dies
	amid unplugged "a cable is unplugged: its device gives an error, the other one goes on" 0 2 $local_and_far several dies
	amid lost "a job for each GPU, a network is cut" 0 2 $local_and_far several dies --jobs each
	amid killed "a network is cut, and the program killed" 137 2 $local_and_far several dies
	amid_start
	amid parted "two machines with GPUs lose each other: copies take another way, all bytes right" 0 3 $three peers apart
	grep -q 'gives no pieces any more' "$work/said"
	result $? "and it is said" "$(grep -m 1 'gives no pieces' "$work/said")"
}

# kvgpu-run and relays of which the proxy on this machine stops itself as soon as it is started
relays_that_stop()
{
	mkdir "$work/stops" && cp "$remote/kvgpu-run" "$remote/libcuda.so.1" "$work/stops" || return
	for mpi in "${mpis[@]}"; do
		printf '#!/bin/sh\n[ "$1-$(hostname)" = proxy-head ] && kill -STOP $$\nexec %s "$@"\n' "$remote/kvgpu-relay-$mpi" \
			> "$work/stops/kvgpu-relay-$mpi" && chmod +x "$work/stops/kvgpu-relay-$mpi" || return
	done
}

programs remote/faults remote/several remote/cluster/pieces remote/cluster/peers
find_mpis
[ ${#mpis[@]} != 0 ] || { echo "Bail out! there is no MPI here: openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev"; exit 1; }
relays_that_stop || exit 2
machines_up || { echo "Bail out! the namespaces do not reach each other"; exit 1; }
export OMPI_MCA_plm_rsh_agent=$work/far.py PRTE_MCA_plm_ssh_agent=$work/far.py HYDRA_LAUNCHER_EXEC=$work/far.py
export KVGPU_PEERS_STOP=$work/stop
plain=1
# a folder that nodes have, too: MPICH goes there
cd "$work" || exit
for mpi in "${mpis[@]}"; do
	use "$mpi"
	# all of this is in namespaces already
	alone=()
	rm -f "$KVGPU_PEERS_STOP"
	run_cut
done
echo "1..$number"
exit $failed
