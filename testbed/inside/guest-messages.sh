# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Messages of the program "guest", its record of events, and state and parameters of one guest.

say() { printf 'guest: %s\n' "$*" >&2; }
give_up() { say "error: $*"; exit "${STATUS:-1}"; }
usage() { say "$1"; exit 2; }

# event GUEST EVENT TEXT: adds an event to /run/testbed/events and to the kernel's log
event()
{
	printf '%s %s\n' "$(date +%s)" "$*" >> "$EVENTS"
	printf '<5>testbed: guest %s\n' "$*" > /dev/kmsg
}

count_events() # EVENT: prints how often the guest had that event
{
	awk -v guest="$NAME" -v event="$1" '$2 == guest && $3 == event { n++ } END { print n + 0 }' "$EVENTS" 2>/dev/null ||
		echo 0
}

# guest_state: prints none, starting, up or gone
guest_state() { cat "$DIR/state" 2>/dev/null || echo none; }

PARAMETERS=(KIND MEM CPUS KERNEL TYPE APERTURE GUEST_APPEND BUSY ON_REBOOT)

save_parameters()
{
	local key
	for key in "${PARAMETERS[@]}"; do printf '%s=%q\n' "$key" "${!key}"; done > "$DIR/parameters"
}

load_parameters()
{
	# shellcheck source=/dev/null
	. "$DIR/parameters"
}

tell_console() # LINES
{
	[ -s "$DIR/console.log" ] || return 0
	say "last lines of the guest's console:"
	tail -n "$1" "$DIR/console.log" | tr -d '\r' | sed 's/^/    | /' >&2
}
