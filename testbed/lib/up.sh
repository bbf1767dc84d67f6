# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb up and tb down.

cmd_up()
{
	local began=$SECONDS
	up_options "$@"
	need_root up
	setup
	mkdir -p "$RUN"
	exec 9> "$RUN/$NAME.lock"
	flock -w 2 9 || die "bed '$NAME' is already $(bed_state)" "end it with: tb down --name $NAME"
	clear_dead_bed
	IMAGE=$(image_dir) TOOLS=$(tools_root)
	BOOT=$IMAGE
	if is_debug_kernel "$KERNEL"; then
		setup_debug_kernel
		BOOT=$(debug_boot_dir)
		slow_limits
	fi
	find_parts
	raise_map_count
	[ -z "$MACHINE" ] || load_machine
	if snapshot_wanted; then
		SNAPSHOT=any	# for snapshot_stage: qemu_arguments must be those of a bed with a snapshot
		SNAPSHOT=$(snapshot_stage)
	fi
	make_bed
	launch_supervisor
	exec 9>&-
	trap 'say "interrupted"; stop_bed; exit 130' INT TERM
	await_boot
	bind_driver
	set_phase up
	trap - INT TERM
	say "bed '$NAME' is up after $((SECONDS - began)) s: kernel $KERNEL, driver $DRIVER$([ "$CARDS" = 1 ] || printf ', %s cards' "$CARDS")"
}

# clear_dead_bed: prints why the last bed of this name died, and removes its files
clear_dead_bed()
{
	[ -d "$(bed_run)" ] || return 0
	say "cleaning after the last run of bed '$NAME': $(death_text)"
	rm -rf --one-file-system -- "$(bed_run)"
}

make_bed()
{
	local log
	local -a logs=(server model qemu supervisor reset)
	mkdir -m 700 "$(bed_run)"
	mkdir -p "$(bed_home)/share" "$(bed_home)/log"
	for ((log = 2; log <= CARDS; log++)); do logs+=("$(of_card model $log)"); done
	for log in "${logs[@]}"; do
		log=$(bed_log $log)
		[ ! -e "$log" ] || mv "$log" "$log.1"
		: > "$log"
	done
	[ "$DRIVER" != kvgpu ] || share_kvgpu
	save_config
	set_phase starting
}

launch_supervisor()
{
	KVGPU_TB_MARK=$NAME.$(cat /proc/sys/kernel/random/uuid)
	export KVGPU_TB_MARK
	printf '%s\n' "$KVGPU_TB_MARK" > "$(bed_run)/mark"
	setsid "$TB" internal-launch "$NAME" < /dev/null > "$(bed_log supervisor)" 2>&1 &
	disown
	unset KVGPU_TB_MARK
}

# enter_launch: starts the supervisor, in a session of its own. The bed outlives the program that
# called tb, so it must not keep files of that program open: a reader could wait for the end of a
# pipe, or another program for a lock.
enter_launch()
{
	local fd
	for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		case $fd in 0 | 1 | 2 | 9 | 255) ;; *) exec {fd}>&- ;; esac
	done
	exec unshare --mount --pid --fork --kill-child "$TB" internal-supervisor "$1"
}

# await_boot: prints what the supervisor waits for, until the server answers or the bed has died
await_boot()
{
	local phase said=''
	while true; do
		phase=$(bed_phase)
		[ "$phase" != booted ] || return 0
		if [ "$phase" != "$said" ] && [ "$phase" != starting ]; then
			say "$phase"
			said=$phase
		fi
		bed_locked || fail_start
		sleep 0.2
	done
}

fail_start()
{
	[ -d "$(bed_run)" ] || die "bed '$NAME' was taken down while it started"
	show_death
	show_tail "$(bed_log supervisor)" 5
	die "bed '$NAME' did not come up" "logs: tb log server|model|qemu --name $NAME"
}

# find_parts: builds what the bed needs of this tree, and sets the paths MODEL, PLUGIN, KVGPU_KO,
# KVGPU_FIRMWARE and KVGPU_TOP.
find_parts()
{
	local -a targets=() printers=() variables=() paths
	local i
	MODEL=${KVGPU_TB_MODEL-} PLUGIN=${KVGPU_TB_PLUGIN-} KVGPU_KO=${KVGPU_TB_KVGPU-} KVGPU_FIRMWARE='' KVGPU_TOP=''
	[ -z "$GPU" ] || [ -n "$MODEL" ] || need_part MODEL model
	[ -z "$GPU" ] || [ -z "$BARMAP" ] || [ -n "$PLUGIN" ] || need_part PLUGIN plugin
	if [ "$DRIVER" = kvgpu ]; then
		[ -n "$KVGPU_KO" ] || need_part KVGPU_KO "module-$KERNEL" print-kvgpu
		need_part KVGPU_FIRMWARE firmware
		need_part KVGPU_TOP top-server
	fi
	if [ ${#targets[@]} -gt 0 ]; then
		make_targets "${targets[@]}"
		mapfile -t paths < <(make_print "${printers[@]}" "KERNEL=$KERNEL")
		[ ${#paths[@]} = ${#printers[@]} ] || exit 1
		for i in "${!paths[@]}"; do printf -v "${variables[i]}" %s "${paths[i]}"; done
	fi
	are_there
}

# need_part VARIABLE TARGET [PRINTER]: TARGET must be built; make PRINTER prints the path for
# VARIABLE
need_part()
{
	variables+=("$1") targets+=("$2") printers+=("${3:-print-$2}")
}

are_there()
{
	[ -z "$GPU" ] || [ -x "$MODEL" ] || die "the GPU model is not there: '$MODEL' (from 'make print-model')"
	[ -z "$GPU" ] || [ -z "$BARMAP" ] || [ -r "$PLUGIN" ] ||
		die "the QEMU plugin is not there: '$PLUGIN' (from 'make print-plugin')" \
			"'tb up --no-barmap' works without it, only slower"
	[ "$DRIVER" = kvgpu ] || return 0
	[ -r "$KVGPU_KO" ] || die "kvgpu.ko for kernel $KERNEL is not there: '$KVGPU_KO' (from 'make print-kvgpu')" \
		"without it: tb up --driver none"
	[ -x "$KVGPU_FIRMWARE" ] || die "kvgpu-firmware is not there: '$KVGPU_FIRMWARE' (from 'make print-firmware')"
	[ -x "$KVGPU_TOP" ] || die "kvgpu-top is not there: '$KVGPU_TOP' (from 'make print-top-server')"
}

# make_targets TARGET...: builds them.
make_targets()
{
	local log=$STAGES/log/make-$NAME.log lock
	local -a why
	lock=$STAGES/log/make-$(cksum <<< "$TOP" | cut -d' ' -f1).lock
	flock "$lock" make -C "$TOP" "$@" > "$log" 2>&1 9>&- || {
		show_tail "$log" 25
		# mdev/explain.sh has printed the cause in one line
		mapfile -t why < <(grep '^kvgpu: ' "$log" | tail -n 1)
		die "'make $*' failed in $TOP" "${why[@]}" "the whole log is $log" "a server without a GPU: tb up --no-gpu"
	}
}

make_print()
{
	make -s -C "$TOP" --no-print-directory "$@" ||
		die "this checkout's Makefile does not know all of: $*"
}

cmd_down()
{
	bed_options "$@"
	no_more_arguments down
	need_root down
	case $(bed_state) in
	down) say "bed '$NAME' is not up"; return 0 ;;
	dead) show_death ;;
	esac
	stop_bed || die "bed '$NAME' does not end; still there: $(bed_processes | xargs)"
	say "bed '$NAME' is down"
}
