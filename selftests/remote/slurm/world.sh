# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run.sh and by ../cluster/cut.sh (without Slurm), in the first process of a pid namespace with a network, a mount and an IPC
# namespace of its own: a cluster of Debian's Slurm. This machine is its head, with munged and slurmctld; each node is a set of such
# namespaces in it, with its own /tmp, /run and /dev/shm, and a slurmd. All of it ends with the first process.
#
# $work: a folder for all files, which nodes see, too; $slurm: what fetch.sh has unpacked. A node's GPUs are files.
# cut.sh replaces node_main(), and calls neither world_etc() nor world_up().

: "${work:?}"
head_ip=10.77.0.1
node_names=()
declare -A node_pid	# of the node's first process

# world_etc NODE GPUS SHARDS ...: the files of /etc
world_etc()
{
	local etc=$work/etc i=1 gpus shards node

	mkdir -p "$etc/slurm" "$etc/munge" "$work/log" "$work/spool" "$work/state"
	dd if=/dev/urandom of="$etc/munge/munge.key" bs=1024 count=1 status=none
	chmod 400 "$etc/munge/munge.key"
	printf '127.0.0.1 localhost\n%s head\n' "$head_ip" > "$etc/hosts"
	cat > "$etc/slurm/slurm.conf" <<-C
		ClusterName=kvgpu
		SlurmctldHost=head($head_ip)
		SlurmUser=root
		AuthType=auth/munge
		StateSaveLocation=$work/state
		SlurmdSpoolDir=$work/spool/%n
		SlurmctldLogFile=$work/log/slurmctld
		SlurmdLogFile=$work/log/%n
		SlurmctldPidFile=/run/slurmctld.pid
		SlurmdPidFile=/run/slurmd.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		GresTypes=gpu,shard
		ReturnToService=2
		SlurmdTimeout=5
		KillWait=2
		MinJobAge=600
		JobAcctGatherType=jobacct_gather/linux
		JobAcctGatherFrequency=1
		JobAcctGatherParams=OverMemoryKill
		SlurmdParameters=config_overrides
		SchedulerParameters=sched_interval=1,batch_sched_delay=0
	C
	: > "$etc/slurm/gres.conf"
	while [ $# -gt 0 ]; do
		node=$1 gpus=$2 shards=$3
		shift 3
		i=$((i + 1))
		node_names+=("$node")
		printf '10.77.0.%d %s\n' $i "$node" >> "$etc/hosts"
		echo "NodeName=$node NodeAddr=10.77.0.$i CPUs=16 RealMemory=8000 Gres=gpu:k20m:$gpus,shard:$shards State=UNKNOWN" >> "$etc/slurm/slurm.conf"
		{
			echo "NodeName=$node Name=gpu Type=k20m File=$work/dev/renderD[128-$((127 + gpus))]"
			echo "NodeName=$node Name=shard Count=$shards"
		} >> "$etc/slurm/gres.conf"
	done
	echo "PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP" >> "$etc/slurm/slurm.conf"
}

# slurmd wants character devices
world_devices()
{
	local i=128 name

	mkdir -p "$work/dev"
	for name in null zero full random; do
		touch "$work/dev/renderD$i"
		mount --bind "/dev/$name" "$work/dev/renderD$i"
		i=$((i + 1))
	done
}

# a /tmp of the node's own, with $work in it
new_tmp()
{
	mount --rbind "$work" /mnt
	mount -t tmpfs -o mode=1777 tmp /tmp
	mkdir -p "$work"
	mount --move /mnt "$work"
}

# in the node: what any first process does. The tree may lie in the /tmp that is no longer seen: python3 of pyenv wants a folder that is
# there.
node_begins()
{
	cd / || exit
	hostname "$1"
	mount -t proc proc /proc
	new_tmp
	mount -t tmpfs -o mode=1777 shm /dev/shm
}

# in the node: its address is that of its name in /etc/hosts
node_network()
{
	local _

	for _ in $(seq 1200); do
		ip link show eth0 > /dev/null 2>&1 && break
		sleep 0.05
	done
	ip link set lo up
	ip address add "$(awk -v n="$1" '$2 == n { print $1 }' /etc/hosts)/24" dev eth0
	ip link set eth0 up
}

# in the node: its init takes processes whose parents are gone
node_stays()
{
	while :; do
		wait -n || sleep 0.2
	done
}

# in the node: its first process
node_main()
{
	local node=$1

	node_begins "$node"
	mkdir "/run/$node"
	mount -t tmpfs -o mode=755 run "/run/$node"
	mkdir "/run/$node/munge"
	mount --rbind /run/munge "/run/$node/munge"
	mount --move "/run/$node" /run
	node_network "$node"
	slurmd -D &
	node_stays
}

node_up()
{
	local node=$1 steps

	# made before: so the process in the background has one child, the node's first process
	steps="$(declare -p work); $(declare -f new_tmp node_begins node_network node_stays node_main); node_main $node"
	unshare --mount --uts --net --ipc --pid --fork --kill-child bash -c "$steps" > "$work/log/$node.init" 2>&1 < /dev/null &
	node_pid[$node]=
	while [ -z "${node_pid[$node]}" ]; do
		node_pid[$node]=$(pgrep -P "$!" -x bash)
	done
	# a node that comes back has the same address
	ip link add "v-$node" type veth peer name eth0 address "02:00:00:00:00:$(md5sum <<< "$node" | cut -c 1-2)" \
		netns "${node_pid[$node]}"
	ip link set "v-$node" master bridge0 up
}

node_off() { kill -9 "${node_pid[$1]}"; ip link delete "v-$1" 2>/dev/null; }
in_node() { nsenter -a -t "${node_pid[$1]}" -- "${@:2}"; }

head_network()
{
	hostname head
	ip link set lo up
	ip link add name bridge0 type bridge
	ip address add "$head_ip/24" dev bridge0
	ip link set bridge0 up
}

world_up()
{
	local node

	mount -t overlay slurm -o "lowerdir=${slurm:?}/usr:/usr" /usr
	mount -t overlay etc -o "lowerdir=$work/etc:/etc" /etc
	world_devices
	mount -t tmpfs -o mode=755 run /run
	mkdir -m 755 /run/munge
	head_network
	munged --force --log-file="$work/log/munged" --pid-file=/run/munge/munged.pid --seed-file="$work/state/munged.seed" \
		--socket=/run/munge/munge.socket.2 || return
	slurmctld || return
	for node in "${node_names[@]}"; do
		node_up "$node"
	done
}

# nodes_are STATE: all nodes are, at some time; after 300 s they never will be
nodes_are()
{
	local _

	for _ in $(seq 1500); do
		sinfo -h -N -o '%T' 2>/dev/null | sort -u | grep -qx "$1" && [ "$(sinfo -h -N -o '%T' | sort -u | wc -l)" = 1 ] && return 0
		sleep 0.2
	done
	return 1
}
