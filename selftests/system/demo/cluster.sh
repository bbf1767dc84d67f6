#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# cluster.sh: the step of the demo in which one program uses two GPUs, without a VM. kvgpu-run
# starts two proxies, each with a GPU model in its server process. matrix_plain, a plain CUDA
# program, divides a matrix product over its devices. First it computes, and two GPUs must give the
# same sum as one. Then its kernels only take a given time, as on paced GPUs.
set -euo pipefail
cd "$(dirname "$0")/../../.."
if ! selftests/cuda/toolkit.sh >/dev/null 2>&1; then
	echo "left out: it wants the CUDA toolkit"
	exit 0
fi
remote=$(make -s cluster 2>/dev/null | tail -n 1)
inprocess=$(make -s cudart-inprocess 2>/dev/null | tail -n 1)
programs=$(dirname "$remote")/cluster-bench
make -s -C selftests/system/bench/cluster "OUT=$programs" MPI_FLAGS= MPI_LIBS= "$programs/matrix_plain" >/dev/null
export LD_LIBRARY_PATH=$inprocess	# for libcudart

# over GPUS ARGUMENT...: runs kvgpu-run with so many GPUs and these further arguments
over() { "$remote/kvgpu-run" --share --library "$inprocess/libcuda.so.1" --client "$remote" --gpus "$@"; }
# word NAME LINE: prints the value that follows the word NAME in LINE
word() { sed -E "s/.*\<$1 ([^ ]+).*/\1/" <<<"$2"; }

echo "two proxies with a GPU model in each. They name their GPU alike, so kvgpu-run takes it for one GPU of"
echo "this machine, which --share lets both use; kvgpu-run --list:"
over 2 --list | sed 's/^/  /'
one=$(over 1 "$programs/matrix_plain" 128 1)
two=$(over 2 --counts "$programs/matrix_plain" 128 1 2>&1)
calls=$(sed -n 's/^kvgpu-run: [^:]*: to proxy [0-9]*: \([0-9]* messages\),.*/\1/p' <<<"$two" | paste -sd +)
echo "  calls of the program went to both proxies: ${calls/+/ and }"
two=$(grep '^matrix_plain' <<<"$two")
echo "a product of 128 by 128, its checksum: by one GPU $(word sum "$one"), by two, half of the rows each, $(word sum "$two")"
[ "$(word sum "$one")" = "$(word sum "$two")" ]
one=$(over 1 "$programs/matrix_plain" 128 1 1500000)
two=$(over 2 "$programs/matrix_plain" 128 1 1500000)
awk -v one="$(word ms "$one")" -v two="$(word ms "$two")" 'BEGIN {
	printf "paced GPUs, whose kernels only take time (1.5 s in all): %.2f s by one, %.2f s by two, %.2f times as fast: what the way to GPUs costs\n", one / 1000, two / 1000, one / two
}'
