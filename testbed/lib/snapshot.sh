# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Snapshots: the state of a server that has booted is saved, and later beds of the same kind start
# from it. Beds are of the same kind if image, kernel, QEMU and QEMU's arguments are the same; the
# GPU, the shared folders and the name, in which they differ, are added when the server runs
# (settle_server). "tb up --boot" boots in any case.

MOST_SNAPSHOTS=12

# snapshot_wanted: true if the bed may use a snapshot. QEMU can't save an emulated IOMMU; a
# machine's disk changes; the debug kernel has to look for leaks from its boot on.
snapshot_wanted()
{
	[ -z "$BOOTS" ] && [ -z "$MACHINE" ] && [ "$IOMMU" = none ] && ! is_debug_kernel "$KERNEL"
}

# snapshot_stage: prints the snapshot's name.
snapshot_stage()
{
	local -a QEMU
	local NAME=server GPU=''
	qemu_arguments
	printf 'snapshot-%s\n' "$(recipe_key "=form 2" "=${QEMU[*]}" "=$(image_stage)" "=$(tools_stage)" "$TB_DIR/inside/settle")"
}

snapshot_dir() { printf '%s/%s\n' "$STAGES" "$SNAPSHOT"; }

# mount_snapshot: mounts the folder from which QEMU reads the snapshot, or a new folder if there is
# none, and the file system for the server's memory.
mount_snapshot()
{
	RESUMES='' RESUMING='' SNAPSHOT_DIR=''
	[ -n "$SNAPSHOT" ] || return 0
	mkdir -p "$TOOLS/tb/snapshot"
	SNAPSHOT_DIR=$(snapshot_dir)
	if [ -e "$SNAPSHOT_DIR/vm.state" ]; then
		RESUMES=yes
		touch "$SNAPSHOT_DIR"
	else
		SNAPSHOT_DIR=$STAGES/new.$SNAPSHOT.$NAME
		rm -rf --one-file-system -- "$SNAPSHOT_DIR"
		mkdir -p "$SNAPSHOT_DIR"
	fi
	mount --bind "$SNAPSHOT_DIR" "$TOOLS/tb/snapshot"
	mkdir -p "$TOOLS/tb/memory"
	# huge pages make the emulated CPUs faster
	mount -t tmpfs -o "size=$MEM,mode=700,huge=always" memory "$TOOLS/tb/memory" 2> /dev/null ||
		mount -t tmpfs -o "size=$MEM,mode=700" memory "$TOOLS/tb/memory"
	[ -z "$RESUMES" ] || cp --sparse=always "$SNAPSHOT_DIR/memory" "$TOOLS/tb/memory/server" ||
		end_bed "the memory of a snapshot could not be copied" supervisor
}

snapshot_arguments()
{
	local card
	for ((card = 1; card <= CARDS; card++)); do
		QEMU+=(-device "pcie-root-port,id=$(of_card gpu-port $card),bus=pcie.0,chassis=$card,mem-reserve=32M,pref64-reserve=1G")
	done
	[ -z "${RESUMES-}" ] || QEMU+=(-incoming defer)
}

# resume_server: lets QEMU read the snapshot, and starts the server.
resume_server()
{
	RESUMING=yes
	set_phase "going on from a snapshot (kernel $KERNEL)"
	cat "$SNAPSHOT_DIR/server.log" >> "$(bed_log server)"
	monitor_command 'migrate_set_capability x-ignore-shared on' > /dev/null
	monitor_command 'migrate_incoming file:/tb/snapshot/vm.state' > /dev/null
	wait_until 60 monitor_says 'info status' '^VM status: paused.?$' || end_bed "QEMU did not read the snapshot within 60 s" qemu
	monitor_command cont > /dev/null
	RESUMING=''
}

# drop_bad_snapshot: for a bed that ends. If it ends while QEMU reads the snapshot, removes that
# snapshot and prints so.
drop_bad_snapshot()
{
	[ -n "${RESUMING-}" ] || return 0
	discard_tree "$SNAPSHOT_DIR"
	printf ', reading a snapshot, which is removed now: the next "tb up" boots'
}

# monitor_says COMMAND PATTERN: true if the answer of QEMU's monitor to COMMAND has a line that
# matches
monitor_says() { monitor_command "$1" 2> /dev/null | grep -E "$2" > /dev/null; }

# save_snapshot: saves the server that has booted.
save_snapshot()
{
	local free
	free=$(df --output=avail -m "$STAGES" | tail -n 1)
	if [ "${free// /}" -lt 2000 ]; then
		rm -rf --one-file-system -- "$SNAPSHOT_DIR"
		return 0
	fi
	set_phase "saving a snapshot of the server that has booted"
	# shellcheck disable=SC2016 # the server's shell expands it
	ssh -F "$(bed_run)/ssh_config" server 'timeout 60 systemctl is-system-running --wait > /dev/null; virsh -q list > /dev/null; sync' \
		< /dev/null 9>&- || true
	monitor_command stop > /dev/null
	monitor_command 'migrate_set_capability x-ignore-shared on' > /dev/null
	monitor_command 'migrate -d file:/tb/snapshot/vm.state' > /dev/null
	if wait_until 120 monitor_says 'info migrate' '^Status:[[:space:]]*(completed|failed)' && monitor_says 'info migrate' '^Status:[[:space:]]*completed' &&
		cp --sparse=always "$TOOLS/tb/memory/server" "$SNAPSHOT_DIR/memory"; then
		cp "$(bed_log server)" "$SNAPSHOT_DIR/server.log"
		# when two beds save at once, the first stays
		mv -T "$SNAPSHOT_DIR" "$(snapshot_dir)" 2> /dev/null || rm -rf --one-file-system -- "$SNAPSHOT_DIR"
	else
		rm -rf --one-file-system -- "$SNAPSHOT_DIR"
		printf 'no snapshot of the server could be saved: %s\n' "$(monitor_command 'info migrate' | grep -a '^Status\|^Error' | xargs)"
	fi
	monitor_command cont > /dev/null
	drop_old_snapshots
}

# drop_old_snapshots: removes unfinished snapshots of beds that ended while they saved, and keeps
# the snapshots that were used last.
drop_old_snapshots()
{
	local dir kept=0
	find "$STAGES" -maxdepth 1 -name 'new.snapshot-*' -mmin +60 -exec rm -rf --one-file-system {} +
	while read -r dir; do
		[ $((++kept)) -le $MOST_SNAPSHOTS ] || discard_tree "$dir"
	done < <(find "$STAGES" -maxdepth 1 -name 'snapshot-*' -printf '%T@ %p\n' | sort -nr | cut -d' ' -f2-)
}

# settle_server: plugs in the GPUs, and sets name, time and shared folders in the server
# (inside/settle)
settle_server()
{
	for_cards plug_card
	ssh -F "$(bed_run)/ssh_config" server sh -s -- "$NAME" "$(date +%s)" "${GPU:-no}" < "$TB_DIR/inside/settle" 9>&- ||
		end_bed "the server did not take its name, the time, the shared folder or the GPU" server qemu
}

plug_card() # CARD: plugs the card into the running server, by QMP
{
	local answer port gpu
	port=$(of_card gpu-port "$1") gpu=$(of_card gpu "$1")
	answer=$(printf '%s\n' '{"execute": "qmp_capabilities"}' '{"execute": "device_add", "arguments": {"driver": "vfio-user-pci",
		"bus": "'"$port"'", "id": "'"$gpu"'", "socket": {"path": "/tb/run/'"$gpu"'.sock", "type": "unix"}}}' |
		socat -t 20 - "UNIX-CONNECT:$(bed_run)/qmp.sock") || true
	[[ $answer != *'"error"'* && $answer == *'"return"'*'"return"'* ]] ||
		end_bed "QEMU does not take card $1: $(grep -o '"desc": "[^"]*"' <<< "$answer")" qemu "$(of_card model "$1")"
}
