# SPDX-License-Identifier: MIT
# cmake --toolchain /usr/share/kvgpu-cuda/sm_35.cmake: code for GK110, by nvcc of CUDA 11
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
	set(CMAKE_CUDA_ARCHITECTURES 35-real)
endif()
string(APPEND CMAKE_CUDA_FLAGS_INIT " -Wno-deprecated-gpu-targets")
