#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# numba.sh: kernels by numba on libcuda.so.1 with the GPU in the process, and on the remote one; and those of numba's own tests of
# the driver API that need few kernels. TAP. Skipped without the CUDA toolkit (toolkit.sh fetch), of which numba wants NVVM.
set -u
cd "$(dirname "$0")/../.." || exit 2
PATH=/usr/bin:$PATH # Debian's numba is for Debian's Python
tests=(context_stack cuda_memory host_alloc pinned profiler select_device streams events reset_device)
if ! root=$(selftests/cuda/toolkit.sh 2> /dev/null); then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
inprocess=$(make -s cuda-inprocess && make -s cudart-inprocess) && remote=$(make -s remote) || { echo "numba.sh: the libraries do not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'} remote=${remote##*$'\n'}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$work"' EXIT

# what numba looks for, in the places where it does
mkdir -p "$work/cuda/nvvm" "$work/cuda/lib64"
ln -s "$root/usr/lib/x86_64-linux-gnu" "$work/cuda/nvvm/lib64"
ln -s "$root/usr/lib/nvidia-cuda-toolkit/libdevice" "$work/cuda/nvvm/libdevice"
ln -s "$inprocess/libcudart.so.11.0" "$work/cuda/lib64/"
export CUDA_HOME=$work/cuda KVGPU_PTXAS=$root/usr/bin/ptxas PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1

n=0 failed=0
# on WHERE LIBRARY COMMAND...
on()
{
	local where=$1 rc

	n=$((n + 1))
	NUMBA_CUDA_DRIVER=$2/libcuda.so.1 LD_LIBRARY_PATH=$2:$inprocess timeout 100 "${@:3}" > "$work/said" 2>&1
	rc=$?
	if [ $rc = 0 ] && ! grep -q '^not ok' "$work/said"; then
		echo "ok $n - numba $where # $(tail -n 1 "$work/said")"
		return
	fi
	failed=1
	sed 's/^/# /' "$work/said" | tail -n 30
	echo "not ok $n - numba $where # exit code $rc"
}

on "in the process" "$inprocess" selftests/cuda/with_numba.py
on "in the process: its own tests" "$inprocess" python3 -m numba.runtests "${tests[@]/#/numba.cuda.tests.cudadrv.test_}"
"$remote/kvgpu-remoted" --listen "unix:$work/socket" --library "$inprocess/libcuda.so.1" 2> "$work/log" & server=$!
for _ in $(seq 1200); do
	grep -q 'listens at' "$work/log" && break
	sleep 0.05
done
KVGPU_REMOTE=unix:$work/socket on "over a socket" "$remote" selftests/cuda/with_numba.py
echo "1..$n"
exit $failed
