# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb status, tb log and tb console

# Exit status of tb status: 0 up, 1 starting, 3 down, 4 dead.
cmd_status()
{
	local state
	bed_options "$@"
	no_more_arguments status
	state=$(bed_state)
	printf '%s: %s\n' "$NAME" "$(state_text "$state")"
	case $state in up | starting) print_details ;; esac
	print_other_beds "$NAME"
	case $state in up) ;; starting) return 1 ;; down) return 3 ;; dead) return 4 ;; esac
}

print_other_beds() # NAME: prints a line for each bed but NAME
{
	local NAME
	while read -r NAME; do
		[ "$NAME" = "$1" ] || printf '%s: %s\n' "$NAME" "$(state_text "$(bed_state)")"
	done < <(known_beds)
}

state_text()
{
	case $1 in
	up) bed_phase ;;
	starting) printf 'starting: %s' "$(bed_phase)" ;;
	dead) printf "dead: %s ('tb down --name %s' or 'tb up' cleans up)" "$(death_text)" "$NAME" ;;
	*) printf '%s' "$1" ;;
	esac
}

print_details()
{
	[ -e "$(bed_run)/config" ] || return 0	# the bed has only begun to start
	load_config
	cat <<-EOF
	  kernel $KERNEL, driver $DRIVER, memory $MEM, CPUs $CPUS, GPU ${GPU:-no}$([ "$CARDS" = 1 ] || printf ' (%s cards)' "$CARDS"), mapped BARs ${BARMAP:-no}, IOMMU $IOMMU
	  ssh    ssh -F $(bed_run)/ssh_config server
	  share  $(bed_home)/share
	  stats  $(for_cards stats_socket | xargs)
	  monitor $(bed_run)/monitor.sock, QMP $(bed_run)/qmp.sock
	EOF
	local pid
	for pid in $(bed_processes); do
		printf '  process %s %s\n' "$pid" "$(cat "/proc/$pid/comm" 2>/dev/null || true)"
	done
}

stats_socket() { printf '%s/%s.sock\n' "$(bed_run)" "$(of_card stats "$1")"; }

cmd_log()
{
	local follow='' what=''
	local -a words=()
	while [ $# -gt 0 ]; do
		case $1 in
		-f) follow=-f ;;
		--name | --name=*) words+=("$1"); [ "$1" != --name ] || { need_value "$1" $#; words+=("$2"); shift; } ;;
		server | model | model-[2-$MOST_CARDS] | qemu | supervisor) what=$1 ;;
		*) usage_error "log: unknown argument '$1'; the logs are server, model, model-2 of a second card, qemu and supervisor" ;;
		esac
		shift
	done
	bed_options "${words[@]}"
	what=$(bed_log "${what:-server}")
	[ -e "$what" ] || die "there is no $what: bed '$NAME' was never started here"
	if [ -n "$follow" ]; then exec tail -n 40 -f "$what"; fi
	cat "$what"
}

cmd_console()
{
	bed_options "$@"
	no_more_arguments console
	need_up
	say "console of '$NAME'; leave with Ctrl-]"
	socat "STDIO,raw,echo=0,escape=0x1d" "UNIX-CONNECT:$(bed_run)/serial.sock"
}
