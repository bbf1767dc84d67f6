#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# samples.sh FOLDER [NAME...]: compiles those of NVIDIA's cuda-samples 11.8 (FOLDER is a copy) that use a library of the toolkit, by
# nvcc -arch=sm_35, and runs them on our libcuda.so.1 with the GPU in the process; all or the named ones. Prints TAP. What it
# compiled stays in the folder of the libraries, which it names at the end. Exit code 1: one is wrong, 2: something does not build.
# KVGPU_SAMPLES_TIMEOUT: seconds that one may take (300). Those that read images want FreeImage.
set -u
[ $# -ge 1 ] && [ -d "$1/Samples" ] || { echo "usage: samples.sh FOLDER [NAME...]" >&2; exit 2; }
samples=$(readlink -f "$1")
shift
cd "$(dirname "$0")/../../.." || exit 2
nvcc=$PWD/selftests/cuda/nvcc.sh
libraries=$(selftests/cuda/toolkit.sh libraries) || exit 2
shared=$libraries/usr/lib/x86_64-linux-gnu
ours=$(make -s cuda-inprocess) || exit 2
ours=${ours##*$'\n'}
built=$ours/samples
mkdir -p "$built"
n=0 failed=0


# library NAME: how it is linked; the toolkit's static one where the shared one was not fetched
library()
{
	local file

	file=$(cd "$shared" && echo "lib$1.so".[0-9]*)
	if [ -e "$shared/${file%% *}" ]; then
		echo "-l:${file%% *}"
	else
		printf '%s\n' "-l$1_static" -lculibos
	fi
}

# build NAME FOLDER: the program; false: says why not
build()
{
	local name=$1 at=$2 lib
	local -a sources libs=() flags=(-arch=sm_35 -O2 -std=c++14 -w -Wno-deprecated-gpu-targets)

	mapfile -t sources < <(find "$at" -maxdepth 2 -name '*.cu' -o -maxdepth 2 -name '*.cpp' -o -maxdepth 2 -name '*.c' | sort)
	for lib in $(grep -ohE -- '-l(cu(blas|fft|rand|sparse|solver)|npp[a-z]+)' "$at/Makefile" | sort -u); do
		mapfile -t -O ${#libs[@]} libs < <(library "${lib#-l}")
	done
	# callbacks of a transform are linked into the static library's kernels
	if [ "$name" = simpleCUFFT_callback ]; then
		flags+=(-rdc=true)
		libs=(-lcufft_static -lculibos)
	fi
	"$nvcc" "${flags[@]}" -I"$samples/Common" -I"$samples/Common/UtilNPP" -I"$at/inc" -I"$at" -o "$built/$name" "${sources[@]}" \
		-L"$shared" "${libs[@]}" -lpthread -Xcompiler -fopenmp -Xlinker "-rpath-link=$shared" > "$built/$name.log" 2>&1
}

result()
{
	n=$((n + 1))
	[ "$1" = "not ok" ] && failed=1
	echo "$1 $n - $2"
}

run()
{
	local name=$1 at=$2 rc start=$EPOCHSECONDS

	(cd "$at" && LD_LIBRARY_PATH=$ours:$shared KVGPU_INPROCESS_LIMIT_MS=600000 timeout "${KVGPU_SAMPLES_TIMEOUT:-300}" "$built/$name") > "$built/$name.out" 2>&1
	rc=$?
	case $rc in
	0) result ok "$name # $((EPOCHSECONDS - start)) s" ;;
	2) result ok "$name # SKIP it waived itself: $(tail -n 1 "$built/$name.out")" ;;
	*)
		result "not ok" "$name # exit code $rc after $((EPOCHSECONDS - start)) s"
		tail -n 5 "$built/$name.out" | sed 's/^/# /' ;;
	esac
}

while read -r makefile; do
	at=${makefile%/Makefile}
	name=${at##*/}
	[ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
	if grep -q -- '-lGL' "$makefile"; then
		result ok "$name # SKIP it draws by OpenGL"
	elif build "$name" "$at"; then
		run "$name" "$at"
	else
		result "not ok" "$name # does not build: $(grep -m 1 -E 'error|cannot find' "$built/$name.log")"
	fi
done < <(grep -lE -- '-l(cu(blas|fft|rand|sparse|solver)|npp)' "$samples"/Samples/*/*/Makefile)
echo "1..$n"
echo "# $built"
exit $failed
