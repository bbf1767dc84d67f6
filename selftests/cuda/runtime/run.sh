#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FOLDER  the programs of this folder that were built there, with the libcudart.so.11.0 that LD_LIBRARY_PATH finds
# run.sh         builds them (where the toolkit is) and libraries that need no GPU, and runs them here
# run.sh quick   the same, for those that make check runs
# Prints TAP.
set -u
n=0 failed=0

build_here()
{
	cd "$(dirname "$0")/../../.." || return
	libraries=$(make -s cuda-inprocess && make -s cudart-inprocess) || return
	libraries=${libraries##*$'\n'}
	folder=$libraries/runtime-programs
	make -s -C selftests/cuda/runtime "OUT=$folder" "$1" > "$libraries/runtime-programs.log" 2>&1 || {
		grep -E 'rror' "$libraries/runtime-programs.log" >&2
		return 1
	}
	export LD_LIBRARY_PATH=$libraries
}

what=all
[ "${1:-}" = quick ] && what=quick && shift
if [ $# = 0 ]; then
	if ! "$(dirname "$0")/../toolkit.sh" > /dev/null 2>&1; then
		echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
		exit 0
	fi
	KVGPU_PTXAS=$("$(dirname "$0")/../toolkit.sh")/usr/bin/ptxas
	export KVGPU_PTXAS
	build_here $what || { echo "run.sh: could not build the programs" >&2; exit 2; }
else
	folder=$1
fi
cd "$folder" || exit 2

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

# passes WHAT COMMAND...: exit code 0 and a line that begins with PASS
passes()
{
	local what=$1 rc

	shift
	timeout 120 "$@" > "$n.log" 2>&1
	rc=$?
	[ $rc = 0 ] && grep -q '^PASS' "$n.log" || { sed 's/^/# /' "$n.log"; echo "# exit code $rc"; rc=1; }
	rm -f "$n.log"
	result "$rc" "$what"
}

# says WHAT TEXT COMMAND...: one line that has the text
says()
{
	local what=$1 text=$2

	shift 2
	timeout 120 "$@" > "$n.log" 2>&1
	[ "$(grep -c -- "$text" "$n.log")" = 1 ] || sed 's/^/# /' "$n.log"
	[ "$(grep -c -- "$text" "$n.log")" = 1 ]
	result $? "$what"
	rm -f "$n.log"
}

# refuses WHAT TEXT COMMAND...: an exit code that is not 0, no signal, and the text
refuses()
{
	local what=$1 text=$2 rc

	shift 2
	timeout 120 "$@" > "$n.log" 2>&1
	rc=$?
	if [ $rc != 0 ] && [ $rc -lt 124 ] && grep -qi "$text" "$n.log"; then
		rc=0
	else
		sed 's/^/# /' "$n.log"
		echo "# exit code $rc"
		rc=1
	fi
	rm -f "$n.log"
	result "$rc" "$what"
}

for what_of in groups assert formats fork context reset limits; do
	passes "what programs of others found: $what_of" ./outside $what_of
done
if [ $what = quick ]; then
	# shellcheck disable=SC2016
	passes "PTX alone, with ptxas, without a word of libcuda's" sh -c './only_ptx_static > said 2>&1; rc=$?; cat said
		! grep -q libcuda said && exit $rc'
	passes "kernels that call the CUDA runtime" ./device_runtime_static
	says "which kernel is not launched, and why" 'kernel .*parent.* is not launched: it calls the CUDA runtime' ./device_runtime_static
	refuses "code for other chips and no -arch: the static runtime's error" "no kernel image" ./other_chip_static
	echo "1..$n"
	exit $failed
fi
for end in 0 1 2 3; do
	passes "objects at file scope, end $end" ./lifecycle $end
done
for p in errors two_files device_linked streams_of_threads threads driver_mix copies_3d references host_functions managed \
	 pointers pointers_debug kinds; do
	passes "$p" "./$p"
done
passes "loads_library" ./loads_library ./library.so
for end in 0 1 2 3; do
	passes "with NVIDIA's static runtime, end $end" ./static $end
done
passes "NVIDIA's cuBLAS and cuFFT" ./libraries
passes "cuBLAS's first interface, inside of a program with our runtime" ./blas_v1
refuses "PTX alone gets a message" "sm_35" env KVGPU_PTXAS="$PWD/absent/ptxas" ./only_ptx
for p in device_runtime device_runtime_static; do
	passes "kernels that call the CUDA runtime: $p" "./$p"
	says "$p says which kernel is not launched, and why" 'kernel .*parent.* is not launched: it calls the CUDA runtime' "./$p"
done
refuses "code for other chips gets a message" "no kernel image" ./other_chip
refuses "code for other chips and no -arch: the static runtime's error" "no kernel image" ./other_chip_static
says "code for other chips and no -arch: what to type" "^libcuda: .*compile with nvcc -arch=sm_35$" ./other_chip_static
echo "1..$n"
exit $failed
