#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# stage.sh FOLDER [PROGRAM...]: builds the CUDA libraries for stock nouveau and the programs (all, or those), and puts them into FOLDER/cuda/lib and
# FOLDER/cuda/programs, a folder that servers and guests see. Exit code 77: there is no CUDA toolkit.
set -eu
folder=${1:?folder}
shift
cd "$(dirname "$0")/../.."
selftests/cuda/toolkit.sh >/dev/null 2>&1 || { echo "stage.sh: no CUDA toolkit (selftests/cuda/toolkit.sh fetch)" >&2; exit 77; }
make -s cuda >/dev/null
programs=$(make -s -j2 cuda-programs "PROGRAMS=${*:-all}")
rm -rf "$folder/cuda"
mkdir -p "$folder/cuda/lib" "$folder/cuda/programs"
libraries=$(dirname "$(make -s print-cuda)")
cp "$libraries"/lib*.so.* "$libraries"/{cuda-info,kvgpu-persist} "$folder/cuda/lib/"
shopt -s nullglob
files=("$programs"/*)
[ $# = 0 ] || files=("$programs/run.sh" "$programs"/*.cubin "${@/#/$programs/}")
cp "${files[@]}" "$folder/cuda/programs/"
