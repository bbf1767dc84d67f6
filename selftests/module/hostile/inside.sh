#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root in the server, as /share/hostile/inside.sh: a guest of the hostile-guest tests, on a vGPU of its own. run.sh and volume.sh
# call it. inside_test.py calls "kill" here, with HOSTILE_RUN and HOSTILE_DEBUGFS set. One "attack" at a time: it has the FIFO attack.in.
#   inside.sh create UUID TYPE | remove UUID
#   inside.sh attack UUID NAMES SEED OPS    one guest does these tests, one after the other. Prints its lines, those of each test
#                                           after "TEST: NAME"; when it is done, what the kernel complains of, and "DONE: NAME".
#                                           0: all passed, 1: not, 2: it never came to its summary
#   inside.sh hold NAME CMD...              starts CMD (inside.sh victim UUID or neighbour UUID, kvgpu-canary ...), waits for its READY
#   inside.sh keep NAME CMD...              for "hold" only
#   inside.sh release NAME                  tells it to end, prints what it said; its status
#   inside.sh stop NAME                     only tells it
#   inside.sh rounds NAME...                how many rounds each of these neighbours has verified, as it told last
#   inside.sh meek UUID                     the guest on that vGPU has a CPU when no other task wants it
#   inside.sh kill UUID                     the guest on that vGPU, without a warning
set -u
HERE=/share/hostile
RUN=${HOSTILE_RUN:-/run/hostile}
DEBUGFS=${HOSTILE_DEBUGFS:-/sys/kernel/debug/kvgpu}
mkdir -p "$RUN"

give_up() { echo "inside.sh: $*" >&2; exit 2; }

vgpu() { echo "/sys/bus/mdev/devices/$1"; }

create()
{
	local parent
	parent=$(basename "$(dirname "$(dirname "$(ls -d /sys/class/mdev_bus/*/mdev_supported_types/"kvgpu-$2" | head -n 1)")")")
	mdevctl start --uuid "$1" --parent "$parent" --type "kvgpu-$2"
}

# guests stay off the server's CPU 0 (testbed/studies)
guest() # UUID ARGUMENTS
{
	taskset -c "1-$(($(nproc --all) - 1))" qemu-system-x86_64 -machine pc,accel=kvm -cpu host -m 256 -nodefaults \
		-display none -no-reboot -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 \
		-device "vfio-pci,sysfsdev=$(vgpu "$1"),display=off" -kernel $HERE/hostile.flat -append "$2"
}

trouble() { dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|leaked|cut off' | head -n 5 | sed 's/^/KERNEL: /'; }

# test_ended NAME: prints what the kernel complains of after the test, and that it is done
test_ended()
{
	trouble
	echo "DONE: $1"
	DONE+="$1 "
}

# Sets DONE to the names that the guest has done, SUMMARY and STATUS.
one_guest() # UUID NAMES SEED OPS
{
	local line
	local -a left
	read -ra left <<< "$2"
	DONE='' SUMMARY='' STATUS=''
	rm -f "$RUN"/attack.in
	mkfifo "$RUN"/attack.in
	exec 3<> "$RUN"/attack.in
	echo "TEST: ${left[0]}"
	while IFS= read -r -t $((150 + $4 / 200)) line; do
		line=${line%$'\r'}
		case $line in
		SUMMARY:*) SUMMARY=$line ;;
		STATUS:*) STATUS=${line#STATUS: } ;;
		DONE:*)
			# the end of the last test is told with the end of the guest
			[ ${#left[@]} -gt 1 ] || continue
			test_ended "${left[0]}"
			left=("${left[@]:1}")
			echo "TEST: ${left[0]}"
			echo >&3 ;;
		*) echo "$line" ;;
		esac
	done < <(guest "$1" "$2 $3 $4" <&3 2> "$RUN"/attack.err; echo "STATUS: $?")
	[ -n "$STATUS" ] || kill_guest "$1"
	[ -z "$SUMMARY" ] || test_ended "${left[0]}"
	exec 3>&-
}

# a guest that dies without a word may have met the emulated SVM's race: it is started up to twice more with what is left
attack() # UUID NAMES SEED OPS
{
	local try name names=$2 undone
	for try in 1 2 3; do
		one_guest "$1" "$names" "$3" "$4"
		[ -z "$SUMMARY" ] || break
		undone=
		for name in $names; do
			[[ " $DONE" == *" $name "* ]] || undone+="$name "
		done
		names=${undone% }
		echo "INFO: start $try ended with status $STATUS and no summary, before: $names: $(tail -n 1 "$RUN"/attack.err)"
	done
	[ -n "$SUMMARY" ] || return 2
	echo "$SUMMARY"
	[ "$STATUS" = 1 ]
}

# keep NAME CMD...: CMD with an input that stays open, its output and status in files
keep()
{
	local name=$1
	shift
	exec 3<> "$RUN/$name.in"
	"$@" <&3 > "$RUN/$name.log" 2>&1
	echo $? > "$RUN/$name.status"
}

hold() # NAME CMD...
{
	local name=$1
	rm -f "$RUN/$name".*
	mkfifo "$RUN/$name.in"
	setsid "$0" keep "$@" < /dev/null > /dev/null 2>&1 &
	for _ in {1..1500}; do
		grep -q '^READY' "$RUN/$name.log" 2>/dev/null && return 0
		[ ! -e "$RUN/$name.status" ] || break
		sleep 0.2
	done
	cat "$RUN/$name.log"
	return 1
}

stop() # NAME
{
	[ -p "$RUN/$1.in" ] || give_up "nobody holds $1"
	[ -e "$RUN/$1.status" ] || echo stop > "$RUN/$1.in"
}

rounds() # NAME...
{
	local name
	for name; do
		printf '%d ' "$(sed -n 's/^ROUNDS: \([0-9]*\).*/\1/p' "$RUN/$name.log" | tail -n 1)"
	done
}

release() # NAME
{
	stop "$1"
	for _ in {1..1500}; do
		[ ! -e "$RUN/$1.status" ] || break
		sleep 0.2
	done
	cat "$RUN/$1.log"
	return "$(cat "$RUN/$1.status" 2>/dev/null || echo 2)"
}

victim() { guest "$1" victim; }

# The server has two CPUs, so all guests share CPU 1 (guest()). With niceness 10 a neighbour gets about a tenth of it beside an attacker,
# so that the attacks are not slow. Autogroup stays off.
neighbour()
{
	echo 0 > /proc/sys/kernel/sched_autogroup_enabled
	renice -n 10 -p $BASHPID > /dev/null
	victim "$1"
}

meek() # UUID
{
	local task
	for task in /proc/"$(pgrep -f "qemu-system.*sysfsdev=$(vgpu "$1")")"/task/*; do
		renice -n 19 -p "${task##*/}" > /dev/null || return
	done
}

# Returns when the guest's process has ended and its vGPU is not open. A process that is killed loses its command line before it
# closes its files.
kill_guest() # UUID
{
	local pid
	pid=$(pgrep -f "qemu-system.*sysfsdev=$(vgpu "$1")") && kill -9 "$pid" || return
	for _ in {1..300}; do
		[ ! -e "/proc/$pid" ] && grep -q ' open 0$' "$DEBUGFS"/*/"$1"/state && return 0
		sleep 0.1
	done
	return 1
}

case ${1-} in
create) [ $# -eq 3 ] || give_up "create UUID TYPE"; create "$2" "$3" ;;
remove) mdevctl stop --uuid "$2" ;;
attack) [ $# -eq 5 ] || give_up "attack UUID NAMES SEED OPS"; attack "$2" "$3" "$4" "$5" ;;
victim | neighbour) "$1" "$2" ;;
keep | hold | release | stop | rounds | meek) "$@" ;;
kill) kill_guest "$2" ;;
*) give_up "unknown command '${1-}'" ;;
esac
