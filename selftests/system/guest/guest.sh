# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# selftests/model/native/cell.sh defines OUT, TB, kernel, result(), relay() and in_server()
# shellcheck disable=SC2154
# Sourced: functions for the server, its guests and their vGPUs. Guests with names g* are stock
# Debian, those with names t* are tiny.

in_guest() { timeout --kill-after=10 "${LIMIT:-300}" $TB guest run "$@" </dev/null; }
# in_image NAME CMD...: runs CMD with Debian's programs. In a tiny guest this is a chroot into the
# image; dash starts CMD there, because busybox may run an applet of its own instead of a program.
in_image()
{
	local name=$1
	shift
	case $name in
	t*) in_guest "$name" chroot /image dash -c 'exec "$@"' dash "$@" ;;
	*) in_guest "$name" "$@" ;;
	esac
}

# shared_in NAME: prints the path of the shared folder for a command of in_image
shared_in() { case $1 in t*) echo /mnt ;; *) echo /share ;; esac; }

uuid_of() { testbed/inside/guest-device uuid "$1"; } # the UUID is made from the guest's name, so this needs no server
counter() { in_server cat "/sys/bus/mdev/devices/$(uuid_of "$1")/kvgpu/$2" 2>/dev/null || echo -1; }

# await SECONDS CMD...: repeats CMD until it succeeds; false after SECONDS
await()
{
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 1
	done
}

# until_true SECONDS TEST: prints shell code that waits for TEST, for about SECONDS at most
until_true() { printf 'n=0; until %s; do n=$((n + 1)); [ $n -lt %d ] || exit 1; sleep 0.3; done' "$2" $(($1 * 3)); }

# trouble: prints complaints in the server's kernel log, or that it can't be read
trouble() { in_server sh -c "dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|leaked' | head -n 5" || echo "it can't be asked"; }

no_trouble()
{
	local found
	found=$(trouble)
	result "$([ -z "$found" ]; echo $?)" "the server's kernel has nothing to complain of: $1" "$found"
}

server_up()
{
	if ! $TB up --driver kvgpu --kernel "$kernel" --mem 5G --model-args "--board ${BOARD:-k20m}" >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		return 1
	fi
	result 0 "kvgpu.ko takes the card"
	share_programs
}

share_programs()
{
	share=$($TB share)
	mkdir -p "$share/libvirt-xml"
	cp "$OUT/kvgpu-client" "$OUT"/kvgpu-vk-compute "$OUT"/kvgpu-cl-kernels selftests/model/mesa/mesa.sh selftests/system/guest/inside/*.sh \
		selftests/model/native/inside/complaints.sh selftests/module/clouds/sysfs.py selftests/module/clouds/reads.tsv "$share/"
	cp libvirt-xml/*.xml "$share/libvirt-xml/"
}

# guest_up NAME TYPE [OPTION...]: starts a guest with a vGPU of that type, and loads its nouveau
guest_up()
{
	local name=$1 type=$2 what rc

	shift 2
	case $name in
	t*) what="a tiny guest"; set -- --mem 512M "$@" ;;
	*) what="a stock guest"; set -- --full --mem 1G "$@" ;;
	esac
	# --busy is cheaper for guests that have work most of the time
	[ "$mode" != quick ] || set -- --busy "$@"
	what="$what $name with a vGPU of type $type"
	if ! $TB guest start "$name" --type "$type" "$@" >"$OUT/guest.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/guest.log"
		result 1 "$what starts"
		return 1
	fi
	LIMIT=400 nouveau_loaded "$name" >"$OUT/guest.log" 2>&1
	rc=$?
	[ $rc = 0 ] || sed 's/^/# /' "$OUT/guest.log"
	result $rc "$what starts, its nouveau makes renderD128"
}

nouveau_loaded()
{
	case $1 in
	t*) in_guest "$1" sh -c "$(cat selftests/system/guest/inside/enter_image.sh)" ;;
	# tb has waited for this driver
	*) in_guest "$1" sh -c 'dmesg | grep nouveau && test -e /dev/dri/renderD128' ;;
	esac
}

# guest_there NAME TYPE [OPTION...]: starts the guest by guest_up if it is not up yet
guest_there()
{
	$TB guest list </dev/null | grep -q "^$1 *up " || guest_up "$@"
}

guest_gone()
{
	$TB guest stop "$1" >/dev/null 2>&1 </dev/null
	in_server /opt/testbed/guest-device remove "$1"
}

# run_client NAME ARGUMENT...: runs kvgpu-client in that guest
run_client()
{
	local name=$1
	shift
	in_image "$name" "$(shared_in "$name")/kvgpu-client" "$@"
}

# end_of_guest RC FILE: RC is a command's in a guest. If it says that the guest has ended, prints FILE,
# where tb has told how: its console's last lines, with the backtrace of a panic.
end_of_guest() { [ "$1" -ne 125 ] || tail -n 70 "$2" | sed 's/^/# /'; }

# check_client TEXT NAME ARGUMENT...: runs kvgpu-client in the guest, and adds its results to this
# suite's
check_client()
{
	local text=$1 log=$OUT/client-$2.log rc
	shift
	run_client "$@" >"$log" 2>"$log.err"
	rc=$?
	relay "client $text" $rc <"$log"
	end_of_guest $rc "$log.err"
}

# copies_begin NAME: starts copies in the guest, and waits until the GPU has pages of it pinned
copies_begin()
{
	(LIMIT=${COPIES_LIMIT:-300} run_client "$1" --bytes 64G copy >/dev/null 2>&1 &)
	holds_pages 150 "$1"
}

# gpu_time NAME: ns for which the guest was charged, of both engines that vGPUs share
gpu_time() { echo $(($(counter "$1" gpu_time_ns) + $(counter "$1" copy_time_ns))); }

# await_gpu_time SECONDS NAME NS: waits until that is more than NS
await_gpu_time()
{
	local files
	files=/sys/bus/mdev/devices/$(uuid_of "$2")/kvgpu
	in_server sh -c "$(until_true "$1" "test \$((\$(cat $files/gpu_time_ns) + \$(cat $files/copy_time_ns))) -gt $3")" 2>/dev/null
}

# await_counter SECONDS NAME COUNTER TEST: waits until test(1) with the guest's counter and TEST is
# true, for instance "-gt 5"
await_counter()
{
	in_server sh -c "$(until_true "$1" "test \"\$(cat /sys/bus/mdev/devices/$(uuid_of "$2")/kvgpu/$3)\" $4")" 2>/dev/null
}

# holds_pages SECONDS NAME, holds_none SECONDS NAME: wait until the GPU has over 1000 pages of the
# guest pinned, or none
holds_pages() { await_counter "$1" "$2" pinned_pages '-gt 1000'; }
holds_none() { await_counter "$1" "$2" pinned_pages '= 0'; }
