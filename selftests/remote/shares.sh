# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: turns on the GPU that clients of a service share.

# Three programs with more work than the GPU of clock.c can do, until its clock is over: tls:ann, tls:bob, unix:. before.json is a list of
# when there are turns already, list.json one of the end. In between $mixed is how often a client submitted work beside another's, $had
# what each had of the GPU, us.
gpu_parts() # HABIT HABIT HABIT LINE...
{
	local pids=() i

	rm -f "$work/go" "$work/shares".* "$work/public/clock"
	truncate -s 4096 "$work/public/clock"
	chmod 666 "$work/public/clock"
	service_config "listen = tls:127.0.0.1:$tls_port" "${@:4}" "[client tls:ann]" "weight = 10" "[client tls:bob]" "weight = 20" \
		"[client unix:$(id -u)]" "weight = 40"
	sed -i "s,^library = .*,library = $work/public/libclock.so," "$work/remoted.conf"
	KVGPU_CLOCK=$work/public/clock start_service
	env "$tls" "$ann" "$work/shares" "$1" 1 "$cubin" "$work/go" > "$work/shares.1" 2>&1 & pids+=($!)
	env "$tls" "KVGPU_REMOTE_TLS=$work/tls/clients/bob" "$work/shares" "$2" 2 "$cubin" "$work/go" > "$work/shares.2" 2>&1 & pids+=($!)
	env "KVGPU_REMOTE=aperture:$work/socket" "$work/shares" "$3" 3 "$cubin" "$work/go" > "$work/shares.3" 2>&1 & pids+=($!)
	for i in 1 2 3; do
		until_true grep -q ready "$work/shares.$i"
	done
	until_true all_came
	[ "${4-}" = "turns = no" ] || until_true clients_say '.clients | length == 3 and all(.gpu_turns > 5)'
	ctl list --json --interval 0 > "$work/before.json"
	read -r i had <<< "$(gpu_counted)"
	touch "$work/go"
	printf '\1' | dd of="$work/public/clock" bs=1 seek=8 conv=notrunc status=none
	for _ in $(seq 5); do
		until_true gpu_clock_is_over && break
	done
	read -r mixed had <<< "$(gpu_counted)"
	mixed=$((mixed - i))
	until_true each_goes_on "${4-}"
	on=$?
	[ "${4-}" = "turns = no" ] || until_true clients_say '.clients | map(.gpu_share_permille) | sort == [142, 285, 571]'
	shown=$?
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	stop_server
}

all_came() { [ "$(od -An -j 4 -N 4 -t u4 "$work/public/clock" | tr -d ' ')" = 14 ]; }

# gpu_counted: what clock.c has counted: how often work was submitted beside another's; what each client had, us
gpu_counted()
{
	python3 -c 'import struct, sys
had = struct.unpack_from("<4Q", open(sys.argv[1], "rb").read(), 64)
print(had[3], *had[:3])' "$work/public/clock"
}

# gpu_clock_is_over: whether the time in which clock.c counts has ended
gpu_clock_is_over()
{
	python3 -c 'import struct, sys
now, free, begin, end = struct.unpack_from("<4Q", open(sys.argv[1], "rb").read(), 16)
sys.exit(not end or now < end)' "$work/public/clock"
}

# parts: what each had, in thousandths
parts() { awk '{ printf "of a thousand: %d %d %d", 1000 * $1 / ($1 + $2 + $3 + 1), 1000 * $2 / ($1 + $2 + $3 + 1), 1000 * $3 / ($1 + $2 + $3 + 1) }' <<< "$had"; }

# of_clients EXPRESSION [FILE]: its value for each client of list.json, in the order of $had
of_clients() { jq -r ".clients | sort_by(.who) | map($1) | join(\" \")" "$work/${2-list.json}"; }

# each_goes_on LINE: makes list.json, and looks whether each client had turns since before.json
each_goes_on()
{
	ctl list --json --interval 0 > "$work/list.json"
	[ "$1" = "turns = no" ] ||
		awk '{ exit !(NF == 6 && $4 > $1 && $5 > $2 && $6 > $3) }' <<< "$(of_clients .gpu_turns before.json) $(of_clients .gpu_turns)"
}

# Work of a client that has lost its turn goes on beside the next one's, and a call that had begun comes in between: four times at most.
# Where two of the programs got no CPU for so long that there were no turns any more, nothing is known.
is_apart() # NAME
{
	local lost

	lost=$(of_clients .gpu_turns_lost | awk '{ print $1 + $2 + $3 }')
	if [ "$(of_clients .gpu_alone_us before.json)" != "$(of_clients .gpu_alone_us)" ]; then
		result 0 "$1" "SKIP two of three programs had no work for half a second, and turns ended"
	else
		[ "$mixed" -le $((4 * lost)) ]
		result $? "$1" "$mixed times, $lost of $(of_clients .gpu_turns) turns lost; $(parts)"
	fi
}

# all but what is under way is charged: two batches, of a millisecond or of one piece of work each
is_charged() # NAME
{
	local charged

	charged=$(of_clients '.gpu_us + .gpu_alone_us' before.json; of_clients '.gpu_us + .gpu_alone_us')
	charged=$(xargs <<< "$charged" | awk '{ print $4 - $1, $5 - $2, $6 - $3 }')
	awk '{ exit !(NF == 6 && $4 > $1 - 20000 && $5 > $2 - 20000 && $6 > $3 - 20000) }' <<< "$had $charged"
	result $? "$1" "they had $had us, and are charged $charged"
}

run_shares()
{
	local mixed had on shown

	if ! gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE -fPIC -shared selftests/remote/clock.c -Wl,--no-as-needed -o "$work/public/libclock.so" \
		"$work/public/libcuda.so.1" -Wl,-rpath,"$work/public" ||
		! gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/shares.c -o "$work/shares" "$work/libcuda.so.1" \
		-Wl,-rpath,"\$ORIGIN"; then
		result 1 "shares of the GPU: the programs build"
		return
	fi
	chmod a+rX "$work/public" "$work/public/libclock.so"
	ctl certs client bob --folder "$work/tls" > /dev/null 2>&1
	gpu_parts many each fills
	is_apart "no client's work is on the GPU beside that of one that has a turn"
	is_charged "each is charged for all that it had"
	result $shown "the part of each is that of its weight, 1, 2, 4, which kvgpu-remotectl shows" "$(of_clients .gpu_share_permille)"
	jq -e '.clients | length == 3 and all(.gpu_us > 0 and .gpu_wait_us > 0)' "$work/list.json" > /dev/null
	result $((on || $?)) "and that each goes on having turns, and waits for them" "$(jq -c '.clients | map([.who, .gpu_us, .gpu_turns, .gpu_wait_us])' "$work/list.json")"
	gpu_parts hoard many fills
	is_apart "nor that of one that destroys streams with work in them"
	is_charged "which pays for that work"
	result $on "and each goes on having turns" "$(of_clients .gpu_turns)"
	gpu_parts many each fills "turns = no"
	[ "$mixed" -gt 0 ] && [ "$(of_clients .gpu_turns)" = "0 0 0" ]
	result $? "without turns clients' work is mixed" "$mixed times; $(parts)"
}
