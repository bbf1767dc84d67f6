#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nvcc.sh ARGUMENTS...: nvcc of CUDA 11.8 with the g++ that toolkit.sh fetched beside it, whatever this machine has
root=$("$(dirname "$(readlink -f "$0")")/toolkit.sh") || exit
exec "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc" -ccbin "$root/../host/g++" "$@"
