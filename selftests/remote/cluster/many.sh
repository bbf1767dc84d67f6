#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# many.sh: kvgpu-run with 64 proxies, whose library is a stub (stub.c), without MPI and with each that is here. TAP. All devices have to be there,
# to work, and to leave nothing. What it costs is printed and decides nothing. "many.sh costs": the same of fewer proxies, too.
set -u
cd "$(dirname "$0")/../../.." || exit 2
make -s cluster > /dev/null && remote=$(make -s print-remote) || { echo "many.sh: kvgpu-run does not build" >&2; exit 2; }
work=$(mktemp -d /tmp/kvgpu-many-test.XXXXXX)
trap 'rm -rf "$work"' EXIT
# shellcheck source=selftests/remote/cluster/lib.sh
. selftests/remote/cluster/lib.sh
proxies=64 turns=3 calls=500 mode=${1-}

build_bare()
{
	cat > "$work/bare.c" <<-'C'
	#include <mpi.h>
	int main(int argc, char **argv)
	{
		MPI_Init(&argc, &argv);
		return MPI_Finalize();
	}
	C
	"mpicc.$mpi" -O2 "$work/bare.c" -o "$work/bare-$mpi"
}

bare()
{
	local -a own=()

	[ "$mpi" = openmpi ] && own+=(--oversubscribe --bind-to none --allow-run-as-root)
	[ "$mpi" = local ] || "${alone[@]}" "mpirun.$mpi" "${own[@]}" -n $((proxies + 1)) "$work/bare-$mpi"
}

nothing() { ( kvrun --gpus $proxies --start 200 true ); }

seconds()
{
	local from to

	from=$(date +%s%N)
	"$@" > "$work/said" 2>&1 < /dev/null || { echo failed; return; }
	to=$(date +%s%N)
	awk -v ns=$((to - from)) 'BEGIN { printf "%.1f", ns / 1e9 }'
}

start_up()
{
	local _ its own took='' whole=0

	for _ in $(seq $turns); do
		own=$(seconds bare)
		its=$(seconds nothing)
		took+="${took:+, }$its s beside $own s"
		[ -z "$its" ] || [ "$its" = failed ] && whole=1
	done
	result $whole "$proxies proxies start and end, a program that does nothing" "$took of mpirun with $((proxies + 1)) processes"
}

# has PID: threads, descriptors and memory of a process
has()
{
	awk -v fds="$(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l)" '
		{ has[$1] = $2 }
		END {
			printf "%d threads, %d descriptors, %d MiB of its own, %d MiB shared", has["Threads:"], fds, has["RssAnon:"] / 1024,
				has["RssShmem:"] / 1024
		}' "/proc/$1/status"
}

# busy PID: of the process's first thread: CPU time in us, and how often it has slept
busy() { awk 'FNR == NR { us = $1 / 1000; next } /^voluntary/ { printf "%d %d\n", us, $2 }' "/proc/$1/schedstat" "/proc/$1/status"; }

# begins N: the program on N devices, in the background, until it has written its file
begins()
{
	rm -f "$work/there"
	: > "$work/said"
	( kvrun --gpus "$1" --start 200 "$work/many" "$1" "$work/there" $calls ) > "$work/said" 2>&1 &
	job=$!
	stopped
}

stopped()
{
	local _

	for _ in $(seq 1200); do
		[ -e "$work/there" ] && return 0
		kill -0 "$job" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

the_program() { pgrep -P "$(pgrep -P "$job")" -x many; }

# a_call FROM TO CALLS: CPU time of the broker for each, in us
a_call() { awk -v from="$1" -v to="$2" -v calls="$3" 'BEGIN { split(from, a); split(to, b); printf "%.0f", (b[1] - a[1]) / calls }'; }

# costs N: what so many proxies cost a broker with nothing to do, and for each call, of one device and of all
costs()
{
	local broker from to

	broker=$(ranks_of broker)
	from=$(busy "$broker")
	sleep 3
	to=$(busy "$broker")
	awk -v from="$from" -v to="$to" 'BEGIN {
		split(from, a); split(to, b); printf "idle: %.0f us of CPU time a turn, %.0f turns/s; ", (b[1] - a[1]) / (b[2] - a[2] + 1), (b[2] - a[2]) / 3 }'
	from=$(busy "$broker")
	rm -f "$work/there"
	stopped
	to=$(busy "$broker")
	echo -n "$(grep '^a call' "$work/said"), $(a_call "$from" "$to" $calls) us of the CPU time of the broker; "
	rm -f "$work/there"
	stopped
	from=$(busy "$broker")
	echo "$(grep '^all at once' "$work/said"), $(a_call "$to" "$from" $((calls * $1))) us"
}

run_many()
{
	local n

	over="$mpi, $proxies proxies: "
	[ "$mpi" = local ] || build_bare || { result 1 "a program with MPI builds"; return; }
	start_up
	nothing_left "a program that does nothing"
	begins $proxies && [ "$(ranks_of proxy | wc -l)" = $proxies ]
	result $? "all devices have bytes of their own, each a proxy" "the broker has $(has "$(ranks_of broker)"); the program $(has "$(the_program)")"
	echo "# $(costs $proxies)"
	rm -f "$work/there"
	start=$SECONDS
	ended "and other ones afterwards"
	begins $proxies && kill -9 "$(the_program)"
	start=$SECONDS
	ended "the program is killed" 137
	[ "$mode" = costs ] || return 0
	for n in 1 8 16 32; do
		over="$mpi, $n proxies: "
		begins $n
		result $? "to compare" "the broker has $(has "$(ranks_of broker)"); $(costs "$n")"
		rm -f "$work/there"
		wait "$job"
	done
}

gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE -fPIC -shared selftests/remote/cluster/stub.c -o "$work/gpu.so" || exit 2
programs remote/cluster/many
find_mpis
plain=1
for mpi in local "${mpis[@]}"; do
	use "$mpi"
	run_many
done
echo "1..$number"
exit $failed
