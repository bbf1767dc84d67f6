# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Snapshots: a server that has booted once is saved, and later beds of the same kind go on from there. Of the same kind are beds
# with the same image, kernel, QEMU and command line; what differs between them (the GPU, the shared folder, the name) is added
# when the server runs. "tb up --boot" boots in any case.
#
# A snapshot is vm.state, which QEMU writes, and the server's memory as a file with holes. QEMU would read and write all of the
# memory, also what the server never touched, and this machine would have to hold it.

MOST_SNAPSHOTS=12

# snapshot_wanted: beds that can go on from a snapshot. An emulated IOMMU can't be saved; a machine's disk changes; the debug
# kernel looks for leaks since its own boot.
snapshot_wanted()
{
	[ -z "$BOOTS" ] && [ -z "$MACHINE" ] && [ "$IOMMU" = none ] && ! is_debug_kernel "$KERNEL"
}

# snapshot_stage: the command line has all that the server's state depends on, but for the files that it names
snapshot_stage()
{
	local -a QEMU
	local NAME=server GPU=''
	qemu_arguments
	printf 'snapshot-%s\n' "$(recipe_key "=form 2" "=${QEMU[*]}" "=$(image_stage)" "=$(tools_stage)" "$TB_DIR/inside/settle")"
}

snapshot_dir() { printf '%s/%s\n' "$STAGES" "$SNAPSHOT"; }

# mount_snapshot: where QEMU reads it, or writes a new one. Sets RESUMES if there is one now; another bed may save one meanwhile.
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
	# huge pages, where this kernel has them for tmpfs: QEMU's emulated CPUs need a sixth less time
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

# resume_server: the log begins with the boot that was saved
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

# drop_bad_snapshot: removes a snapshot with which a bed died before its server ran, and prints a message about it.
drop_bad_snapshot()
{
	[ -n "${RESUMING-}" ] || return 0
	discard_tree "$SNAPSHOT_DIR"
	printf ', reading a snapshot, which is removed now: the next "tb up" boots'
}

# monitor_says COMMAND PATTERN
monitor_says() { monitor_command "$1" 2> /dev/null | grep -qE "$2"; }

# save_snapshot: without the space for it, or when something goes wrong, the server goes on all the same
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
		# when two beds save at once, the snapshot that is complete first stays
		mv -T "$SNAPSHOT_DIR" "$(snapshot_dir)" 2> /dev/null || rm -rf --one-file-system -- "$SNAPSHOT_DIR"
	else
		rm -rf --one-file-system -- "$SNAPSHOT_DIR"
		printf 'no snapshot of the server could be saved: %s\n' "$(monitor_command 'info migrate' | grep -a '^Status\|^Error' | xargs)"
	fi
	monitor_command cont > /dev/null
	drop_old_snapshots
}

# drop_old_snapshots: removes snapshots of beds that ended while they saved, and those that were not used for the longest time.
# Other checkouts share the cache, and may have another image; "tb setup --prune" drops all, while no bed runs.
drop_old_snapshots()
{
	local dir kept=0
	find "$STAGES" -maxdepth 1 -name 'new.snapshot-*' -mmin +60 -exec rm -rf --one-file-system {} +
	while read -r dir; do
		[ $((++kept)) -le $MOST_SNAPSHOTS ] || discard_tree "$dir"
	done < <(find "$STAGES" -maxdepth 1 -name 'snapshot-*' -printf '%T@ %p\n' | sort -nr | cut -d' ' -f2-)
}

# settle_server: sets what differs from bed to bed; also in the bed that has booted and saved the snapshot.
settle_server()
{
	for_cards plug_card
	ssh -F "$(bed_run)/ssh_config" server sh -s -- "$NAME" "$(date +%s)" "${GPU:-no}" < "$TB_DIR/inside/settle" 9>&- ||
		end_bed "the server did not take its name, the time, the shared folder or the GPU" server qemu
}

plug_card() # CARD
{
	local answer port gpu
	port=$(of_card gpu-port "$1") gpu=$(of_card gpu "$1")
	answer=$(printf '%s\n' '{"execute": "qmp_capabilities"}' '{"execute": "device_add", "arguments": {"driver": "vfio-user-pci",
		"bus": "'"$port"'", "id": "'"$gpu"'", "socket": {"path": "/tb/run/'"$gpu"'.sock", "type": "unix"}}}' |
		socat -t 20 - "UNIX-CONNECT:$(bed_run)/qmp.sock") || true
	[[ $answer != *'"error"'* && $answer == *'"return"'*'"return"'* ]] ||
		end_bed "QEMU does not take card $1: $(grep -o '"desc": "[^"]*"' <<< "$answer")" qemu "$(of_card model "$1")"
}
