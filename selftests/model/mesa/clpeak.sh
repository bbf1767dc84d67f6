#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# clpeak.sh fetch FOLDER   puts Debian 13's clpeak into FOLDER; fetched over the net once, nothing is installed
# clpeak.sh run FOLDER [NAME...]   in the server or in a guest: runs it on the card, with kvgpu-cl-small.so of that folder, all
#                          parts or those named (single, integers, bandwidth, transfers, launches). Prints TAP.
#
# Unbounded, clpeak wants some 70 thousand million warp instructions of a card of 13 SMX for single precision alone. It sizes
# its work by compute units and by the largest buffer, so the preloaded library tells it of a device of one unit and of small
# buffers. Its figures are of the model, and say nothing of a K20m.
set -eu
what=${1-} folder=${2-}
[ -n "$folder" ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
shift 2

fetch()
{
	cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/clpeak
	if [ ! -x "$cache/root/usr/bin/clpeak" ]; then
		rm -rf "$cache/root" "$cache/new"
		mkdir -p "$cache/new"
		"$(dirname "$(readlink -f "$0")")/../../../testbed/tb" internal-stage in_rounds "fetching clpeak" \
			fetch_debs "$cache/debs" trixie clpeak >&2
		dpkg -x "$cache/debs"/clpeak_*.deb "$cache/new"
		mv "$cache/new" "$cache/root"
		rm -r "$cache/debs"
	fi
	cp "$cache/root/usr/bin/clpeak" "$folder/clpeak"
}

n=0 failed=0

# part NAME SECONDS BYTES PATTERN OPTION: one of clpeak's tests with buffers of that size at most; it must end in time and print
# figures, and none of its errors
part()
{
	case " $wanted " in *" ${1%% *} "*) ;; *) return 0 ;; esac
	n=$((n + 1)) rc=0
	out=$(LD_PRELOAD=$folder/kvgpu-cl-small.so KVGPU_CL_LARGEST=$3 timeout "$2" "$folder/clpeak" "$5" 2>&1) || rc=$?
	printf '%s\n' "$out" | sed 's/^/# /'
	if [ $rc -eq 0 ] && printf '%s\n' "$out" | grep -q "$4" && ! printf '%s\n' "$out" | grep -qi 'skipped\|error\|failed'; then
		echo "ok $n - clpeak: $1"
	else
		echo "not ok $n - clpeak: $1 # exit code $rc"
		failed=1
	fi
}

run()
{
	export RUSTICL_ENABLE="${RUSTICL_ENABLE:-nouveau}" MESA_SHADER_CACHE_DISABLE=true KVGPU_CL_UNITS=1
	# Mesa's older OpenCL has no device here, which clpeak takes for an error
	export OCL_ICD_VENDORS=rusticl.icd
	wanted=${*:-single integers bandwidth transfers launches}
	part "single precision" 300 65536 'float16 *: *[0-9.]*[1-9]' --compute-sp
	part "integers" 300 65536 'int16 *: *[0-9.]*[1-9]' --compute-integer
	# its smallest buffers are of 256 KiB, two of them
	part "bandwidth" 300 524288 'float16 *: *[0-9.]*[1-9]' --global-bandwidth
	part "transfers" 300 1048576 'enqueueReadBuffer *: *[0-9.]*[1-9]' --transfer-bandwidth
	# 20,000 launches
	part "launches" 300 65536 'latency : *[0-9.]*[1-9]' --kernel-latency
	echo "1..$n"
	return $failed
}

case $what in
fetch) fetch ;;
run) run "$@" ;;
*) echo "clpeak.sh: fetch or run, not '$what'" >&2; exit 2 ;;
esac
