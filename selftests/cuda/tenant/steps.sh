#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# steps.sh: runs in a tenant's Debian 12 (root.sh), in a folder with this project's packages, the programs, screen.sh, the README.md of
# cuda/, and that of cuda/nvml/ as nvml: types the lines with which that begins, and then some. Prints TAP. Where it was run in that
# folder already, it compiles the first program alone.
set -u
cd "$(dirname "$0")" || exit 1
n=0 failed=0

# result STATUS NAME [COMMENT]
result()
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2${3:+ # $3}" && return
	failed=1
	echo "not ok $n - $2${3:+ # $3}"
}

# step NAME PATTERN COMMAND: a shell that has logged in runs it, with exit code 0 and a line that the pattern describes, if there is one
step()
{
	local began=$SECONDS rc

	sh -lc "$3" > said 2>&1 < /dev/null
	rc=$?
	[ $rc != 0 ] || [ -z "$2" ] || grep -qE -- "$2" said || rc=1
	[ $rc = 0 ] || tail -n 15 said | sed 's/^/# /'
	result $rc "$1" "$((SECONDS - began)) s: $(tail -n 1 said)"
}

# typed LINE PATTERN [PROGRAM]: a line of the page
typed()
{
	local line=$1

	grep -qF -- "    $line" README.md || { result 1 "$line" "cuda/README.md has no such line"; return; }
	line=${line/PROGRAM/${3-}}
	step "$line" "$2" "${line/apt install/apt-get -q -y install}"
}

smi()
{
	step "nvidia-smi" 'Tesla K20m' 'mkfifo end && { python3 with_nvml.py hold 64 < end > pid & } && exec 3> end && rm end &&
		until [ -s pid ]; do sleep 0.1; done && nvidia-smi && rm pid'
	cp said screen
	# a tiny guest has no /dev/fd, which <() wants
	./screen.sh nvml > wanted
	./screen.sh < screen | diff wanted - > said
	result $? "it shows the GPU's part of the screen in cuda/nvml/README.md"
	sed 's/^/# /' screen
}

export DEBIAN_FRONTEND=noninteractive
typed "apt install ./kvgpu-cuda_*.deb && cuda-info" 'Tesla K20m'
typed "apt install nvidia-cuda-toolkit ./kvgpu-cuda-dev_*.deb" kvgpu-cuda-dev
smi
typed "nvcc ./PROGRAM.cu && ./a.out" '^PASS' vector_add
for program in gemm fft; do
	[ -e $program ] || { typed "nvcc ./PROGRAM.cu -lcublas -lcufft" '' $program && mv a.out $program; }
	step "$program" '^PASS' ./$program
done
[ -e built ] || typed "cmake --toolchain /usr/share/kvgpu-cuda/sm_35.cmake -B built && cmake --build built" 'Built target'
step "the project's program" '^PASS' built/project_fft
step "Debian's numba" '^ok 3' ./with_numba.py
step "libcuda.so, which scikit-cuda loads" '^PASS' "python3 -c 'import ctypes; ctypes.CDLL(\"libcuda.so\"); print(\"PASS\")'"
step "Debian's PyCUDA" '^PASS' ./with_pycuda.py
echo "1..$n"
exit $failed
