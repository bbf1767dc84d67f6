#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# stage.sh FOLDER [PROGRAM...]: builds the CUDA libraries for stock nouveau and the programs (all with kvgpu-cuda-driver, or those), and
# puts them into FOLDER/cuda/lib and FOLDER/cuda/programs, a folder that servers and guests see. Exit code 77: there is no CUDA toolkit.
# stage.sh FOLDER libraries: in their place those of libraries/, and NVIDIA's libraries in FOLDER/cuda/nvidia. Exit code 77: they are not there.
set -eu
folder=${1:?folder}
shift
cd "$(dirname "$0")/../.."
selftests/cuda/toolkit.sh >/dev/null 2>&1 || { echo "stage.sh: no CUDA toolkit (selftests/cuda/toolkit.sh fetch)" >&2; exit 77; }
theirs=
if [ "$*" = libraries ]; then
	theirs=$(selftests/cuda/toolkit.sh libraries) || exit 77
fi
make -s cuda >/dev/null
if [ -n "$theirs" ]; then
	programs=$(selftests/cuda/libraries/here.sh build)
else
	programs=$(make -s -j2 cuda-programs "PROGRAMS=${*:-all}")
fi
rm -rf "$folder/cuda"
mkdir -p "$folder/cuda/lib" "$folder/cuda/programs"
libraries=$(dirname "$(make -s print-cuda)")
cp "$libraries"/lib*.so.* "$libraries"/{cuda-info,kvgpu-persist} "$folder/cuda/lib/"
shopt -s nullglob
files=("$programs"/*)
if [ -n "$theirs" ]; then
	theirs=$theirs/usr/lib/x86_64-linux-gnu
	# 1.7 GB, so links where the cache is on the same disk
	mkdir "$folder/cuda/nvidia"
	cp -l "$theirs"/lib*.so.* "$folder/cuda/nvidia/" 2>/dev/null || cp -P "$theirs"/lib*.so.* "$folder/cuda/nvidia/"
elif [ $# = 0 ]; then
	make -s -C selftests/cuda/driver "OUT=$libraries"
	cp "$libraries/kvgpu-cuda-driver" "$folder/cuda/programs/"
	cp selftests/cuda/driver/kernels.cubin "$folder/cuda/programs/kvgpu-cuda-driver.cubin"
else
	files=("$programs/run.sh" "$programs"/*.cubin "${@/#/$programs/}")
fi
cp "${files[@]}" "$folder/cuda/programs/"
