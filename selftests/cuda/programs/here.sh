#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# here.sh [NAME...]: builds the programs and libraries that need no GPU, and runs them on this machine. Prints TAP. Exit code
# 2: something does not build.
set -u
cd "$(dirname "$0")/../../.." || exit 2
if ! selftests/cuda/toolkit.sh >/dev/null 2>&1; then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
libraries=$(make -s cudart-inprocess && make -s cuda-inprocess) || { echo "here.sh: the libraries do not build" >&2; exit 2; }
libraries=${libraries##*$'\n'}	# both print the folder of both libraries
programs=$(make -s -j2 cuda-programs) || exit 2
exec "$programs/run.sh" "$libraries" "$@"
