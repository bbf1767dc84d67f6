# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: exits and traps that a vGPU costs a guest. Counters are judged, not times.

# marked NAME SNAPSHOT CMD...: runs CMD by marked.py, whose counts go to $OUT/NAME.json, and adds
# CMD's results to this suite's
marked()
{
	local name=$1 snapshot=$2 rc
	shift 2
	PYTHONDONTWRITEBYTECODE=1 timeout --kill-after=10 200 selftests/system/guest/marked.py "$OUT/$name.json" "$snapshot" -- "$@" >"$OUT/$name.tap" 2>"$OUT/$name.err"
	rc=$?
	sed 's/^/# /' "$OUT/$name.err" | head -n 5
	relay "client $name" $rc <"$OUT/$name.tap"
	return $rc
}

# counted_client TEST: runs kvgpu-client's TEST in the guest by marked(), with kvgpu's and KVM's
# counters
counted_client()
{
	local -a client=("$TB" guest run "$first" -- /share/kvgpu-client --marks "$1")
	case $first in t*) client=(selftests/system/guest/carry_marks.sh "$first" "$1") ;; esac
	marked "$1" "$TB run -- /share/counters.sh $first" "${client[@]}"
}

# counted TEXT ARGUMENT...: one test: counted.py ARGUMENT... succeeds; its output is shown
counted()
{
	local text=$1 said
	shift
	said=$(PYTHONDONTWRITEBYTECODE=1 selftests/system/guest/counted.py "$@" 2>&1)
	result $? "$text" "$(printf '%s' "$said" | tr '\n' ' ')"
}

# steady_steps: submissions of work cause no register access and no page fault. Another process in
# the guest may cause a page fault meanwhile, which KVM counts: only for that there are three tries,
# and each that fails is told. All three are spoilt by chance in one run of 1,000 where a single try
# is in one of ten.
steady_steps()
{
	local try

	guest_there $first 512m || return
	for try in 1 2 3; do
		counted_client steady || break
		selftests/system/guest/counted.py quiet "$OUT/steady.json" >"$OUT/quiet.log" && break
		note "steady state, try $try: $(cat "$OUT/quiet.log")"
		! grep -q "'kvgpu\.\|'card\.\|'kvm\.mmio" "$OUT/quiet.log" || break
	done
	counted "submissions watched in memory: no MMIO exit, no trap, no page fault" quiet "$OUT/steady.json"
	counted_client wakeups
	counted "a wait that sleeps costs register accesses by interrupt and nothing else" wakeups "$OUT/wakeups.json"
}

# native_steps: the server's own nouveau takes the card, and the same test measures what an
# interrupt costs natively
native_steps()
{
	local guest=$OUT/wakeups.json
	[ -s "$guest" ] || return
	server_idle
	mv "$guest" "$OUT/guest-wakeups.json"
	LIMIT=200 in_server sh -c 'rmmod kvgpu && modprobe nouveau && test -e /dev/dri/renderD128'
	result $? "after kvgpu the server's own nouveau takes the card"
	marked wakeups "model:$($TB status | awk '$1 == "stats" { print $2 }')" $TB run -- /share/kvgpu-client --marks wakeups
	counted "an interrupt costs a guest no more exits than nouveau makes accesses natively" \
		wakeups "$OUT/guest-wakeups.json" "$OUT/wakeups.json"
	LIMIT=200 in_server sh -c 'rmmod nouveau && insmod /share/kvgpu.ko'
	result $? "and gives it back"
	no_trouble "nouveau in kvgpu's place"
}
