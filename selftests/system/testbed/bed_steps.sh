# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb_test.sh sets scratch, TB, A and B (names of beds). Single quotes: the server expands the text.
# shellcheck disable=SC2154,SC2016
# Tests of arguments, exit codes, streams, the shared folder, two beds at once, snapshots, kernels.

refused() # PATTERN ARG...: true if tb ARG... ends with status 2 and a message that matches
{
	local pattern=$1
	shift
	status_is 2 "$TB" "$@" && said "$pattern" && said 'tb help'
}

helps() # ARG...: true if tb ARG... prints the help
{
	status_is 0 "$TB" "$@" && grep -q '^  tb guest start GUEST ' "$scratch/out"
}

argument_steps()
{
	try "unknown command" refused "unknown command 'fly'" fly
	try "unknown option" refused "unknown option '--fast'" up --fast 1
	try "option without value" refused "--mem needs a value" up --mem
	try "bad size" refused "--mem wants a size" up --mem much
	try "bad CPU count" refused "--cpus wants a number" up --cpus 0
	try "more cards than there can be" refused "--cards wants a number from 1 to 8" up --cards 9
	try "cards without GPUs" refused "no-gpu leaves out" up --cards 2 --no-gpu
	try "bad kernel names the known ones" refused "base oldest newest" up --kernel 2.4
	try "bad driver names the known ones" refused "nouveau, kvgpu, vfio-pci, none" up --driver nvidia
	try "driver without GPU" refused "no-gpu" up --driver nouveau --no-gpu
	try "a model that is not there" no_model
	try "bad name" refused "bad bed name" up --name ../x
	try "bad log" refused "logs are" log printer
	try "build-exec without command" refused "which command" build-exec
	try "machine without directory" refused "which directory" machine
	try "a machine that is not there" refused "no machine in" up --machine "$scratch/absent"
	try "a machine with a driver" refused "goes with --driver none" up --machine "$scratch/absent" --driver nouveau
	try "a command's --help" helps up --help
	try "guest, --help" helps guest --help
	try "guest, help" helps guest help
	try "guest without command" refused "start, run, stop" guest
	try "guest, unknown command" refused "unknown command 'eat'" guest eat
	try "guest, bad words, also without a bed" guest_words
	try "run without a bed: 125, and what to do" run_without_bed
	try "status without a bed: 3" status_is 3 "$TB" status --name "$A"
	try "what a killed run of these tests left is cleaned up, and this run's names are its own" left_by_the_killed
	try "status of a bed that has only begun to start" status_at_begin
	try "down without a bed is no error" status_is 0 "$TB" down --name "$A"
}

no_model() { KVGPU_TB_MODEL=$scratch/absent status_is 1 "$TB" up --name "$A" --no-barmap && said 'the GPU model is not there'; }

guest_words()
{
	status_is 2 "$TB" guest --name "$A" start Big && said 'guest name' && status_is 2 "$TB" guest --name "$A" start g --typ 1g &&
		said "unknown option '--typ'" && status_is 2 "$TB" guest --name "$A" run g && said 'which command' &&
		status_is 125 "$TB" guest --name "$A" start g --type 1g && said 'tb up'
}

run_without_bed() { status_is 125 "$TB" run --name "$A" -- true && said 'tb up'; }

# The dead bed of an earlier run has this program's PID in its name. Beds of this run have other
# names, and sweep() removes the old one.
left_by_the_killed()
{
	local old=/run/kvgpu-tb/tbtest-$$-a
	mkdir -p "$old"
	status_is 4 "$TB" status --name "tbtest-$$-a" && status_is 3 "$TB" status --name "$A" || return 1
	if sweep; then
		[ ! -e "$old" ]
	else
		rm -rf "$old"	# another run of these tests goes on, so sweep() has removed nothing
	fi
}

# tb status of a bed that has a lock and an empty folder, but no other file yet
status_at_begin()
{
	mkdir -p "/run/kvgpu-tb/$A"
	status_is 1 flock "/run/kvgpu-tb/$A.lock" "$TB" status --name "$A" && [ ! -s "$scratch/err" ]
	local rc=$?
	rm -rf "/run/kvgpu-tb/$A" "/run/kvgpu-tb/$A.lock"
	return $rc
}

bed_steps()
{
	try "two beds start at once" start_both
	try "a second up is refused" second_up
	try "status: 0, kernel and driver" status_tells
	try "exit status 0" status_is 0 "$TB" run --name "$A" -- true
	try "exit status 7" status_is 7 "$TB" run --name "$A" -- sh -c 'exit 7'
	try "exit status 255 of a command" status_is 255 "$TB" run --name "$A" -- sh -c 'exit 255'
	try "stdout and stderr are kept apart" streams
	try "arguments arrive as they are" arguments_arrive
	try "binary stdin and stdout" binary_through
	try "share: from outside" share_in
	try "share: from inside" share_out
	try "each bed has its own share and name" beds_differ
	try "a bed that goes on from a snapshot has its own name, folder and GPU, and the time" resumed
	try "the GPU is a 10de:1028 of class 0302" gpu_seen
	try "its three BARs have addresses, in a bed of 2 GiB" bars_placed
	try "no driver is bound" status_is 1 "$TB" run --name "$A" -- sh -c 'test -e /sys/bus/pci/devices/0000:01:00.0/driver'
	try "logs of server, model and QEMU" logs_there
	try "build-exec: a program built there runs in the server" build_and_run
	try "one bed goes down, the other stays" one_down
	try "a snapshot that can't be read is told and removed" bad_snapshot
}

# A starts from a snapshot if there is one; B boots. A has too little memory for any above 4 GiB, if
# QEMU placed it as usual.
start_both()
{
	local first=0 second=0
	"$TB" up --name "$A" --mem 2G > "$scratch/a" 2>&1 &
	local pid=$!
	"$TB" up --name "$B" --no-gpu --mem 3G --cpus 2 --boot || second=$?
	wait "$pid" || first=$?
	cat "$scratch/a"
	[ $first = 0 ] && [ $second = 0 ]
}

second_up() { status_is 1 "$TB" up --name "$A" && said 'already up'; }

base_kernel() { "$TB" kernels | awk -v field="$1" '$3 == "base" { print $field }'; } # 1: prints the suite, 2: the release

status_tells() { status_is 0 "$TB" status --name "$A" && grep -q "kernel $(base_kernel 1), driver none" "$scratch/out"; }

streams()
{
	status_is 3 "$TB" run --name "$A" -- sh -c 'echo one; echo two >&2; exit 3' &&
		[ "$(cat "$scratch/out")" = one ] && [ "$(cat "$scratch/err")" = two ]
}

arguments_arrive()
{
	local -a words=('a  b' "it's" '"quoted"' '$HOME' '*' '' $'new\nline' 'semi;colon' '\back')
	local got want
	got=$("$TB" run --name "$A" -- printf '<%s>' "${words[@]}" < /dev/null)
	want=$(printf '<%s>' "${words[@]}")
	[ "$got" = "$want" ] || { printf '%s\n%s\n' "$got" "$want"; return 1; }
}

binary_through()
{
	head -c 3000000 /dev/urandom > "$scratch/noise"
	"$TB" run --name "$A" -- cat < "$scratch/noise" > "$scratch/echo"
	cmp "$scratch/echo" "$scratch/noise"
}

share_in()
{
	local folder
	folder=$("$TB" share --name "$A") && head -c 700000 /dev/urandom > "$folder/in" &&
		"$TB" run --name "$A" -- cat /share/in < /dev/null | cmp - "$folder/in"
}

share_out()
{
	local folder
	folder=$("$TB" share --name "$A") &&
		"$TB" run --name "$A" -- sh -c 'seq 100000 > /share/out' < /dev/null &&
		seq 100000 | cmp - "$folder/out" && rm "$folder/out" "$folder/in"
}

beds_differ()
{
	[ "$("$TB" share --name "$A")" != "$("$TB" share --name "$B")" ] &&
		[ "$("$TB" run --name "$A" -- uname -n < /dev/null)" = "$A" ] &&
		[ "$(KVGPU_TB_NAME="$B" "$TB" run -- uname -n < /dev/null)" = "$B" ]
}

gpu_seen()
{
	status_is 0 "$TB" run --name "$A" -- lspci -Dn -s 01:00.0 && grep -q '0302: 10de:1028' "$scratch/out"
}

# lspci says "Memory at <unassigned>" or nothing of a BAR for which the kernel found no place.
bars_placed()
{
	status_is 0 "$TB" run --name "$A" -- lspci -v -s 01:00.0 &&
		[ "$(grep -cE 'Memory at [0-9a-f]{8,} \(' "$scratch/out")" = 3 ]
}

logs_there()
{
	local log
	"$TB" log server --name "$A" | grep -qF "Linux version $(base_kernel 2)" || return 1
	for log in model qemu supervisor; do
		"$TB" log "$log" --name "$A" > /dev/null || return 1
	done
}

build_and_run()
{
	local folder
	folder=$("$TB" share --name "$A")
	cat > "$folder/hello.c" <<-'EOF'
	#include <nouveau.h>
	#include <stdio.h>
	int main(void) { puts(nouveau_drm_new ? "hello" : ""); return 5; }
	EOF
	"$TB" build-exec -- gcc -I/usr/include/libdrm -I/usr/include/libdrm/nouveau -o "$folder/hello" \
		"$folder/hello.c" -ldrm_nouveau || return 1
	status_is 5 "$TB" run --name "$A" -- /share/hello && [ "$(cat "$scratch/out")" = hello ] &&
		rm "$folder/hello" "$folder/hello.c"
}

one_down()
{
	status_is 0 "$TB" down --name "$A" && status_is 3 "$TB" status --name "$A" &&
		status_is 0 "$TB" status --name "$B" && status_is 0 "$TB" run --name "$B" -- true
}

snapshot=

# went_on: true if bed A was started from a snapshot.
went_on() { grep -q -- ' -incoming ' "/run/kvgpu-tb/$A/qemu.command"; }

# If bed A has booted, it has saved a snapshot: then start it again, from that
resumed()
{
	local said late
	if ! went_on; then
		status_is 0 "$TB" down --name "$A" && status_is 0 "$TB" up --name "$A" --mem 2G || return 1
	fi
	went_on || { cat "$scratch/err"; return 1; }
	gpu_seen && share_in && share_out && logs_there || return 1
	said=$("$TB" run --name "$A" -- sh -c 'uname -n; date +%s' < /dev/null | xargs)
	late=$(($(date +%s) - ${said#* }))
	echo "it says: $said, $late s ago"
	snapshot=$(sed -n 's/^SNAPSHOT=//p' "/run/kvgpu-tb/$A/config")
	[ "${said% *}" = "$A" ] && [ $late -ge -1 ] && [ $late -lt 30 ]
}

# vm.state is cut off; the good snapshot is put back at the end
bad_snapshot()
{
	local rc=0 dir=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/testbed/$snapshot
	[ -n "$snapshot" ] && cp -a --reflink=auto "$dir" "$scratch/snapshot" && truncate -s 100K "$dir/vm.state" || return 1
	status_is 1 "$TB" up --name "$A" --mem 2G && said 'a snapshot, which is removed now' && [ ! -e "$dir" ] &&
		status_is 4 "$TB" status --name "$A" && status_is 0 "$TB" down --name "$A" || rc=1
	[ -e "$dir" ] || cp -a "$scratch/snapshot" "$dir"
	rm -rf "$scratch/snapshot"
	return $rc
}

kernel_steps()
{
	local label release
	while read -r label release _; do
		try "kernel $label boots" kernel_boots "$label" "$release"
		try "kernel $label has KVM for guests" status_is 0 "$TB" guest --name "$A" start k --kernel "$label"
		"$TB" down --name "$A" > /dev/null 2>&1
	done < <("$TB" kernels)
}

kernel_boots()
{
	status_is 0 "$TB" up --name "$A" --no-gpu --kernel "$1" &&
		[ "$("$TB" run --name "$A" -- uname -r < /dev/null)" = "$2" ]
}
