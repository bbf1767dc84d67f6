# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# nvcc of CUDA 11 makes code for sm_52 where nothing else is asked for, which this GPU can't run. This adds code for sm_35.
export NVCC_APPEND_FLAGS="${NVCC_APPEND_FLAGS:+$NVCC_APPEND_FLAGS }-gencode=arch=compute_35,code=sm_35 -Wno-deprecated-gpu-targets"
