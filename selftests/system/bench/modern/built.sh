#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# built.sh FOLDER [ARCH]: what row "built" of run.py runs: vector_add for ARCH (sm_90) by nvcc 11.8, with the runtime of 11.8 inside, with
# the libcudart.so of 11.8, and with that of 12.4; both lie beside it then. Needs what selftests/cuda/toolkit.sh fetch brings.
set -eu
cd "$(dirname "$0")/../../../cuda"
mkdir -p "$1"
toolkit=$(./toolkit.sh)
later=$(./toolkit.sh later)
libraries=usr/lib/x86_64-linux-gnu
for form in static shared; do
	./nvcc.sh -O2 -arch="${2-sm_90}" -Wno-deprecated-gpu-targets -cudart $form programs/vector_add.cu -o "$1/vector_add-11.8-$form"
done
./nvcc.sh -O2 -arch="${2-sm_90}" -Wno-deprecated-gpu-targets -c programs/vector_add.cu -o "$1/vector_add.o"
"$toolkit/../host/g++" "$1/vector_add.o" -o "$1/vector_add-12.4-shared" "$later/$libraries/libcudart.so.12"
rm "$1/vector_add.o"
cp "$toolkit/$libraries/libcudart.so.11.0" "$later/$libraries/libcudart.so.12" "$1"
