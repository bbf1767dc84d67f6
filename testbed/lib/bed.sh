# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A bed: one server and its GPU models. The supervisor holds the lock $RUN/NAME.lock as long as it
# lives: that lock, not the existence of a file, tells whether a bed is up. tb up takes the lock and
# passes it on as descriptor 9, which the supervisor closes for QEMU, the models and ssh. tb up and
# the supervisor write the phase.
#
#   $RUN/NAME/          sockets and state: config, phase, pid, death, ssh_config
#   $CACHE/beds/NAME/   share/ (the server's /share) and log/

RUN=/run/kvgpu-tb

bed_run() { printf '%s/%s\n' "$RUN" "$NAME"; }
bed_home() { printf '%s/beds/%s\n' "$CACHE" "$NAME"; }
bed_log() { printf '%s/beds/%s/log/%s.log\n' "$CACHE" "$NAME" "$1"; }

# of_card WORD CARD: prints WORD for card 1, else WORD-CARD
of_card() { if [ "$2" = 1 ]; then printf '%s\n' "$1"; else printf '%s-%s\n' "$1" "$2"; fi; }

# for_cards COMMAND...: runs COMMAND for each card, with its number as last argument
for_cards()
{
	local card
	[ -n "$GPU" ] || return 0
	for ((card = 1; card <= CARDS; card++)); do "$@" "$card"; done
}

check_name()
{
	[[ $NAME =~ ^[a-z0-9][a-z0-9-]{0,31}$ ]] ||
		usage_error "bad bed name '$NAME': use up to 32 of a-z, 0-9 and -"
}

# bed_locked: true if a supervisor, or a tb that starts the bed, holds the bed's lock
bed_locked()
{
	[ -e "$RUN/$NAME.lock" ] && ! flock -n -s "$RUN/$NAME.lock" true
}

# bed_state: prints up, starting, down, or dead (it has crashed and its files are still there)
bed_state()
{
	if bed_locked; then
		case $(bed_phase) in up*) echo up ;; *) echo starting ;; esac
	elif [ -d "$(bed_run)" ]; then
		echo dead
	else
		echo down
	fi
}

bed_phase() { cat "$(bed_run)/phase" 2>/dev/null || echo 'not started'; }

set_phase()
{
	printf '%s\n' "$1" > "$(bed_run)/phase.new"
	mv "$(bed_run)/phase.new" "$(bed_run)/phase"
}

# The parameters of a bed, saved for the supervisor and later commands.
BED_PARAMETERS=(KERNEL DRIVER MEM CPUS GPU CARDS BARMAP IOMMU MODEL MODEL_ARGS PLUGIN IMAGE BOOT TOOLS APPEND MACHINE SNAPSHOT)

save_config()
{
	local key
	for key in "${BED_PARAMETERS[@]}"; do
		printf '%s=%q\n' "$key" "${!key}"
	done > "$(bed_run)/config"
}

load_config()
{
	# shellcheck source=/dev/null
	[ ! -e "$(bed_run)/config" ] || . "$(bed_run)/config"
}

running_beds()
{
	local lock NAME
	for lock in "$RUN"/*.lock; do
		[ -e "$lock" ] || continue
		NAME=${lock##*/}
		NAME=${NAME%.lock}
		! bed_locked || printf '%s\n' "$NAME"
	done
}

known_beds()
{
	local path
	for path in "$RUN"/*/; do
		[ -d "$path" ] || continue
		path=${path%/}
		printf '%s\n' "${path##*/}"
	done
}

# bed_processes: prints the PIDs of the bed's processes, told by KVGPU_TB_MARK in their environment
bed_processes()
{
	local mark
	mark=$(cat "$(bed_run)/mark" 2>/dev/null) || return 0
	grep -lzsxF "KVGPU_TB_MARK=$mark" /proc/[0-9]*/environ | cut -d/ -f3 || true
}

# stop_bed: ends the supervisor; 0 if no process of the bed is left
stop_bed()
{
	local pid tries
	pid=$(cat "$(bed_run)/pid" 2>/dev/null) || pid=''
	# the file's PID may belong to another process by now
	if bed_locked && [ -n "$pid" ] && bed_processes | grep -xF "$pid" > /dev/null; then
		kill -TERM "$pid" 2>/dev/null || true
		for tries in {1..60}; do
			bed_locked || break
			[ "$tries" != 40 ] || kill -KILL "$pid" 2>/dev/null || true
			sleep 0.1
		done
	fi
	for tries in {1..50}; do
		[ -n "$(bed_processes)" ] || bed_locked || break
		# shellcheck disable=SC2046
		[ "$tries" != 20 ] || kill -KILL $(bed_processes) 2>/dev/null || true
		sleep 0.1
	done
	if bed_locked || [ -n "$(bed_processes)" ]; then
		return 1
	fi
	rm -rf --one-file-system -- "$(bed_run)"
}

# death_text: prints why a bed ended without "tb down"
death_text()
{
	cat "$(bed_run)/death" 2>/dev/null || echo "its supervisor was killed"
}

show_death()
{
	local log
	printf "tb: bed '%s': %s\n" "$NAME" "$(death_text)" >&2
	[ -e "$(bed_run)/death.logs" ] || return 0
	while read -r log; do
		show_tail "$(bed_log "$log")"
	done < "$(bed_run)/death.logs"
}
