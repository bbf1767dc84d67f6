# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Runs commands in a guest: in full guests by ssh over vsock, in tiny guests through the agent's
# virtio port. talk_full and talk_tiny return the command's exit status, or 255 if the guest does
# not answer.

guest_cid() { virsh -q dumpxml "$NAME" | sed -n "s/.*<cid .*address='\([0-9]*\)'.*/\1/p"; }

talk_full()
{
	ssh -o ControlMaster=auto -o ControlPersist=900 -o ControlPath="$DIR/ssh.sock" -o ConnectTimeout=30 \
		"vsock/$(cat "$DIR/cid")" -- "$(printf '%q ' "$@")"
}

# greets_full: true if the ssh daemon of a full guest sends its banner
greets_full()
{
	local banner=''
	[ -s "$DIR/cid" ] || guest_cid > "$DIR/cid"
	banner=$(socat -T 3 -u "VSOCK-CONNECT:$(cat "$DIR/cid"):22" - 2>/dev/null | head -c 4) || true
	[ "$banner" = SSH- ]
}

# quoted WORD...: prints the words in single quotes, which the agent's shell understands
quoted()
{
	local word
	for word in "$@"; do printf "'%s' " "${word//\'/\'\\\'\'}"; done
}

# agent_line REQUEST SECONDS: sends a request to the agent, and prints its answer; false if none
# comes in time. The line break before the request ends an earlier request that was cut off in the
# middle.
agent_line()
{
	local reply='' status=1 id=$BASHPID.$SRANDOM end=$((SECONDS + $2))
	coproc AGENT { exec socat - "UNIX-CONNECT:$DIR/agent.sock" 2>/dev/null; }
	local pid=$AGENT_PID from=${AGENT[0]} to=${AGENT[1]}
	printf '\n%s %s .\n' "$id" "$1" >&"$to" || true
	while [ $SECONDS -lt $end ] && IFS= read -r -t $((end - SECONDS)) reply <&"$from"; do
		[ "${reply%% *}" != "$id" ] || { status=0; break; }
	done
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	printf '%s\n' "${reply#* }"
	return $status
}

greets_tiny() { [ -S "$DIR/agent.sock" ] && [ "$(agent_line '?' 5)" = ready ]; }

talk_tiny() (
	exec 6> "$DIR/agent.lock"
	flock 6
	reply=$(agent_line "$(quoted "$@" | base64 -w 0)" 86400 6>&-) || return 255
	read -r status out err <<< "$reply"
	[ "$out" = - ] || base64 -d <<< "$out"
	[ "$err" = - ] || base64 -d <<< "$err" >&2
	return "$status"
)
