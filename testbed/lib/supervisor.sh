# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The supervisor: process 1 of a bed's PID namespace. It starts the GPU models, QEMU, and an ssh
# connection. When a model or QEMU ends, it writes down why and ends the bed; when the ssh
# connection ends, it makes a new one.

BOOT_SECONDS=${KVGPU_TB_BOOT_SECONDS:-240}

enter_supervisor()
{
	NAME=$1
	load_config
	cd /
	# /proc is not mounted again yet: it has the PID outside of the namespace
	local outside_pid
	read -r outside_pid _ < /proc/self/stat
	printf '%s\n' "$outside_pid" > "$(bed_run)/pid"
	trap end_bed TERM
	trap 'end_bed "its supervisor failed" supervisor' EXIT
	mount -t proc proc /proc
	model_pids=() qemu_pid='' ssh_pid=''
	mount_for_qemu
	for_cards start_model
	start_qemu
	[ -z "$RESUMES" ] || resume_server
	wait_for_server
	if [ -n "$SNAPSHOT" ]; then
		[ -n "$RESUMES" ] || save_snapshot
		settle_server
	fi
	start_ssh
	set_phase booted
	watch_parts
}

mount_for_qemu()
{
	local part
	mkdir -p "$TOOLS"/tb/{run,bed,image,boot,inside,machine}
	for part in dev proc; do
		mount --rbind "/$part" "$TOOLS/$part"
	done
	mount --bind "$(bed_run)" "$TOOLS/tb/run"
	mount --bind "$(bed_home)" "$TOOLS/tb/bed"
	mount --bind "$IMAGE" "$TOOLS/tb/image"
	mount --bind "$BOOT" "$TOOLS/tb/boot"
	mount --bind "$TB_DIR/inside" "$TOOLS/tb/inside"
	[ -z "$MACHINE" ] || mount --bind "$MACHINE" "$TOOLS/tb/machine"
	mount_snapshot
}

start_model() # CARD: starts the card's GPU model, and waits until it listens
{
	local -a extra sockets
	local run model
	run=$(bed_run) model=$(of_card model "$1")
	set_phase 'waiting for the GPU model to listen'
	read -ra extra <<< "$MODEL_ARGS"
	sockets=(--socket "$run/$(of_card gpu "$1").sock" --stats-socket "$run/$(of_card stats "$1").sock")
	if [ -n "$BARMAP" ]; then
		sockets+=(--plugin-socket "$run/$(of_card plugin "$1").sock")
		[ -e "$run/plugin.so" ] || cp "$PLUGIN" "$run/plugin.so"
	fi
	"$MODEL" "${sockets[@]}" "${extra[@]}" > "$run/$model.out" 2> "$(bed_log "$model")" 9>&- &
	model_pids[$1]=$!
	wait_until 15 grep -qs ready "$run/$model.out" ||
		end_bed "the GPU model$(which_card "$1") did not get ready within 15 s" "$model"
}

# which_card CARD: prints " of card N" if the bed has more than one
which_card() { [ "$CARDS" = 1 ] || printf ' of card %s' "$1"; }

start_qemu()
{
	local -a QEMU
	set_phase 'waiting for QEMU to start'
	qemu_arguments
	printf '%q ' chroot "$TOOLS" qemu-system-x86_64 "${QEMU[@]}" > "$(bed_run)/qemu.command"
	chroot "$TOOLS" qemu-system-x86_64 "${QEMU[@]}" > "$(bed_log qemu)" 2>&1 9>&- &
	qemu_pid=$!
	wait_until 30 find_ssh_port || end_bed "QEMU did not answer on its monitor within 30 s" qemu model
}

# find_ssh_port: sets PORT: the port of this machine that QEMU chose to forward to the server's ssh.
find_ssh_port()
{
	[ -S "$(bed_run)/monitor.sock" ] || return 1
	PORT=$(monitor_command 'info usernet' 2>/dev/null | awk '/HOST_FORWARD/ { print $4; exit }')
	[ -n "$PORT" ]
}

wait_for_server()
{
	write_ssh_config
	set_phase "waiting for the server's ssh (kernel $KERNEL, at most $BOOT_SECONDS s)"
	wait_until "$BOOT_SECONDS" ssh_greets ||
		end_bed "the server's ssh did not answer within $BOOT_SECONDS s" server
}

# ssh_greets: true if the server's ssh daemon sends its banner
ssh_greets()
{
	local banner=''
	exec 7<> "/dev/tcp/127.0.0.1/$PORT" || return 1
	read -r -t 2 banner <&7 || true
	exec 7>&-
	[[ $banner == SSH-2* ]]
} 2>/dev/null

write_ssh_config()
{
	cat > "$(bed_run)/ssh_config" <<-EOF
	Host server
	HostName 127.0.0.1
	Port $PORT
	User root
	IdentityFile $IMAGE/key
	IdentitiesOnly yes
	BatchMode yes
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	LogLevel ERROR
	ConnectTimeout 20
	ServerAliveInterval 20
	ServerAliveCountMax 9
	ControlPath $(bed_run)/ssh.sock
	EOF
}

start_ssh()
{
	rm -f "$(bed_run)/ssh.sock"
	ssh -F "$(bed_run)/ssh_config" -M -N server 9>&- &
	ssh_pid=$!
	wait_until 30 test -S "$(bed_run)/ssh.sock" || end_bed "no ssh connection to the server" server
}

# wait_until SECONDS COMMAND...: repeats COMMAND until it succeeds; false when the time is over.
# Ends the bed if QEMU or a model ends meanwhile. For the supervisor alone.
wait_until()
{
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		check_parts
		[ $SECONDS -lt $limit ] || return 1
		sleep 0.1
	done
}

has_ended() { [ -n "$1" ] && ! kill -0 "$1" 2>/dev/null; }

all_ended() # PID...: true if none of these processes runs any more
{
	local pid
	for pid; do has_ended "$pid" || return 1; done
}

check_parts()
{
	local pid
	for pid in "${model_pids[@]}" $qemu_pid; do
		if has_ended "$pid"; then part_ended; fi
	done
}

watch_parts()
{
	local ended=''
	while true; do
		wait -n -p ended || true
		check_parts
		if [ "$ended" = "$ssh_pid" ]; then
			sleep 0.5
			check_parts
			start_ssh
		fi
	done
}

# part_ended: ends the bed after QEMU or a model has ended, and finds out which is the cause. QEMU
# may end because a model did, so wait a moment for all to end.
part_ended()
{
	local tries card status qemu_status=0
	for tries in {1..20}; do
		! all_ended "${model_pids[@]}" $qemu_pid || break
		sleep 0.1
	done
	: "$tries"
	for card in "${!model_pids[@]}"; do
		has_ended "${model_pids[card]}" || continue
		status=0
		wait "${model_pids[card]}" || status=$?
		if [ "$status" != 0 ] || ! has_ended "$qemu_pid"; then
			end_bed "the GPU model$(which_card "$card") ended: $(status_text "$status")" "$(of_card model "$card")"
		fi
	done
	wait "$qemu_pid" || qemu_status=$?
	[ "$qemu_status" != 0 ] || end_bed "$(power_off_text)" server
	end_bed "QEMU ended: $(status_text "$qemu_status")" qemu model
}

# power_off_text: prints why QEMU ended with status 0
power_off_text()
{
	local panic
	if panic=$(grep -aom 1 'Kernel panic.*' "$(bed_log server)"); then
		printf "the server's kernel panicked: %s" "${panic%$'\r'}"
	elif grep -qs 'Triple fault' "$(bed_log reset)"; then
		printf "the server's CPU met a triple fault (its registers are in %s)" "$(bed_log reset)"
	else
		printf 'the server powered off or rebooted'
	fi
}

status_text()
{
	if [ "$1" -gt 128 ]; then
		printf 'killed by signal %d (%s)' $(($1 - 128)) "$(kill -l "$1")"
	else
		printf 'exit status %d' "$1"
	fi
}

# end_bed [REASON LOG...]: ends all parts and the supervisor, which alone may call it. Writes REASON,
# and names of logs that tell more, for show_death.
end_bed()
{
	trap '' TERM
	trap - EXIT
	if [ $# -gt 0 ]; then
		set -- "$1$(drop_bad_snapshot)" "${@:2}"
		printf '%s\n' "$1" > "$(bed_run)/death"
		[ $# -eq 1 ] || printf '%s\n' "${@:2}" > "$(bed_run)/death.logs"
		printf '%s\n' "$1"
	fi
	local pid tries
	for pid in $qemu_pid $ssh_pid "${model_pids[@]}"; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	for tries in {1..25}; do
		[ -n "$(jobs -rp)" ] || break
		sleep 0.1
	done
	: "$tries"
	exit 0
}
