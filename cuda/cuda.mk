# SPDX-License-Identifier: GPL-2.0-only
# CUDA's libraries, built where the programs for servers and guests are (Debian 13).
CUDA_OUT	:= $(O)/cuda

cuda: ## libcuda.so.1 for stock nouveau (for Debian 13)
	@mkdir -p '$(CUDA_OUT)'
	$(TB) build-exec -- make -s -C cuda 'OUT=$(CUDA_OUT)'

print-cuda: ; @echo '$(CUDA_OUT)/libcuda.so.1'

.PHONY: cuda print-cuda
