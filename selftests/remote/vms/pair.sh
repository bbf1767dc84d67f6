# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# OUT, TB, kernel, result() are cell.sh's, in_guest() is guest.sh's, in_gpu and in_lab are of what sources this
# shellcheck disable=SC2154,SC2034
# Sourced by ../vms.sh and ../tiny-vms.sh: two guests of a server, gpu and lab-1, that share memory: packages, the server, steps, KVM's
# count of exits, a program that waits for an end.

CALLS=${CALLS:-100000} CALLS_S=${CALLS_S:-60}	# number of calls, or the seconds after which fewer calls suffice

# step NAME COMMAND...: what it says is shown when it fails, its last line else
step()
{
	local name=$1 log=$OUT/step.log rc

	shift
	"$@" >"$log" 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 15 "$log" | sed 's/^/# /'
	result $rc "$name" "$(tail -n 1 "$log")"
}

packages()
{
	share=$($TB share)
	version=$(make -s print-version)
	mkdir -p "$share/debs"
	make -s cuda-package remote-package remote >"$OUT/packages.log" 2>&1 || { sed 's/^/# /' "$OUT/packages.log"; return 1; }
	cp build/kvgpu-{cuda,remote-client,remote-server,aperture}_"${version}"_amd64.deb "$share/debs/"
	cp selftests/remote/vms/*.sh "$share/"
	remote=$(make -s print-remote)
	cp "$remote/libcuda.so.1" "$OUT/" || return 1
	gcc -std=gnu11 -O2 -Wall -Wextra -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/exits.c -o "$share/exits" "$OUT/libcuda.so.1" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs || return 1
	for program in faults managed; do
		gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -pthread -D_GNU_SOURCE "selftests/remote/$program.c" -o "$share/$program" \
			"$OUT/libcuda.so.1" -Wl,--unresolved-symbols=ignore-in-shared-libs || return 1
	done
	make -s -C selftests/cuda/driver "OUT=$OUT" && cp "$OUT/kvgpu-cuda-driver" selftests/cuda/driver/kernels.cubin "$share/"
}

packages_built()
{
	packages
	result $? "the packages and programs are built" "$(tail -n 1 "$OUT/packages.log")"
}

# server_of OPTION...: the server, whose two CPUs but the first are one for each guest
server_of()
{
	local log=$OUT/up.log

	kernel=$(kernel_of base)
	if ! $TB up --kernel "$kernel" --mem 5G --cpus 3 "$@" >"$log" 2>&1 </dev/null; then
		sed 's/^/# /' "$log"
		result 1 "the server is up"
		return 1
	fi
	result 0 "the server is up"
	ran_on
}

# exits of both VMs in so many calls, and in as much time of spinning without one
exits()
{
	local spin=$1 calls=$2 log=$OUT/exits.log

	in_server /share/exits.sh begin
	in_lab env "$spin" timeout 250 /share/exits "$calls" $CALLS_S >"$log" 2>&1 || { sed 's/^/# /' "$log"; result 1 "$calls calls"; return; }
	in_server /share/exits.sh end >"$OUT/exits.table"
	made=$(awk '/ calls in / { print $1 }' "$log")
	sed 's/^/# /' "$log" "$OUT/exits.table"
	read -r with without least < <(awk 'BEGIN { least = -1 } $2 == "all" { n[$1] = $3 } $1 == "best" { least = $3 }
		END { print n["calls"] + 0, n["spinning"] + 0, least }' "$OUT/exits.table")
}

NO_EXITS="a thousand calls without an exit of either VM for them"

# calls with both sides spinning, which the server's side has been told before
no_exits()
{
	local with=-1 without=-1 least=-1 made=0

	exits KVGPU_REMOTE_SPIN_US=20000000 $CALLS
	# Exits by timers are not counted: there are as many as a batch is long. Neither side sleeps while it spins (KVGPU_SPIN_ALWAYS), whoever
	# wants its CPU. A call that has to leave its VM does so each time.
	[ "$least" -ge 0 ] && [ "$least" -lt 100 ]
	result $? "$NO_EXITS" "$least exits but for timers in the best batch of 1,000; in all $with in $made, $without in as long without calls"
}

# the last line of /tmp/waits is the program's exit code
waits() { in_lab sh -c '/share/faults server_killed /share/kernels.cubin >/tmp/waits 2>&1; echo "exit code $?" >>/tmp/waits'; }

# timed PARTS...: runs the parts and prints how long each takes; the first that fails is the last
timed()
{
	local part began

	for part; do
		began=$SECONDS
		"$part" || return
		note "$part: $((SECONDS - began)) s"
	done
}
