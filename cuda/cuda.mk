# SPDX-License-Identifier: GPL-2.0-only
# This project's CUDA libraries, and Debian packages of them and of remoting. They are built in the
# test bed's root with Debian 13 (testbed/tb build-exec), but for the package of kvgpu-run and the
# libraries that need no GPU, which are built on this machine.
CUDA_OUT	:= $(O)/cuda
# its path from cuda/, which is the same in each clone
CUDA_OUT_HERE	:= $(patsubst build/o/%,../build/o/%,$(GENERATED)/cuda)
# what build-exec makes in a folder that is not mounted in its root is not there afterwards
arrived		= test -e '$(1)' || { echo "make: tb build-exec was to make $(1), and did not: is that folder mounted in its root?" >&2; exit 1; }

cuda: ## libcuda.so.1 and libcudart.so.11.0 for stock nouveau (for Debian 12 and 13)
	@mkdir -p '$(CUDA_OUT)'
	$(call Q,MAKE)$(TB) build-exec -- make -s -j2 -C cuda 'OUT=$(CUDA_OUT_HERE)'
	@$(call arrived,$(CUDA_OUT)/libcuda.so.1)

CUDA_DEB	:= build/kvgpu-cuda_$(KVGPU_VERSION)_amd64.deb

cuda-package: cuda ## a Debian package of both libraries and cuda-info for guests, in build/ (apt install FILE); prints where it is
	@mkdir -p build
	@flock '$(CUDA_OUT)' sh -c 'mv "$$(cuda/package.sh "$$1" "$$2")" "$$3"' sh '$(CUDA_OUT)' '$(KVGPU_VERSION)' '$(CUDA_DEB)'
	@echo '$(CUDA_DEB)'
	$(if $(findstring s,$(flags)),,@echo 'to install it: copy it to a guest (Debian 12 or 13), and there: apt install ./$(notdir $(CUDA_DEB))')

CUDA_DEV_DEB	:= build/kvgpu-cuda-dev_$(KVGPU_VERSION)_amd64.deb

cuda-dev-package: ## a Debian package that has nvcc and CMake make code for sm_35, in build/; prints where it is
	@mkdir -p build
	@cuda/dev/package.sh build '$(KVGPU_VERSION)' > /dev/null
	@echo '$(CUDA_DEV_DEB)'

# The programs and libraries of remote.mk for packages are built in that root, too, so that they run
# on Debian 12 and 13.
REMOTE_DEB_OUT	:= $(O)/remote-package
REMOTE_BUILT	= $(TB) build-exec -- make -s -j2 remote 'O=$(REMOTE_DEB_OUT)' 'GENERATED=$(GENERATED)/remote-package' > /dev/null
REMOTE_DEBS	:= $(foreach p,kvgpu-remote-client kvgpu-remote-server kvgpu-aperture,build/$(p)_$(KVGPU_VERSION)_amd64.deb)

remote-package: cuda ## Debian packages of remoting in build/: kvgpu-remote-client, kvgpu-remote-server, kvgpu-aperture; prints where they are
	@mkdir -p build '$(REMOTE_DEB_OUT)'
	$(call Q,MAKE)$(REMOTE_BUILT)
	@$(call arrived,$(REMOTE_DEB_OUT)/remote/libcuda.so.1)
	@for p in client server aperture; do \
		mv "$$(remote/package.sh $$p '$(REMOTE_DEB_OUT)' '$(CUDA_OUT)' '$(REMOTE_DEB_OUT)/remote' '$(KVGPU_VERSION)')" build/ || exit 1; done
	@printf '%s\n' $(REMOTE_DEBS)

# what pip installs without root
wheel: ## remoting's client as a Python wheel for x86-64 and glibc 2.28 or newer, in build/; prints where it is
	@mkdir -p build '$(REMOTE_DEB_OUT)'
	$(call Q,MAKE)$(REMOTE_BUILT)
	@$(call arrived,$(REMOTE_DEB_OUT)/remote/libcuda.so.1)
	@remote/wheel/make.py build '$(REMOTE_DEB_OUT)/remote' '$(KVGPU_VERSION)'

# The package of kvgpu-run is built on this machine, for the MPIs that are installed: Debian 12 and
# 13 have different versions of them, and each version needs a build of its own.
CLUSTER_DEB	:= build/kvgpu-run_$(KVGPU_VERSION)_amd64.deb
cluster-package: cluster ## a Debian package of kvgpu-run in build/, for this Debian and the MPIs that are here; prints where it is
	@mkdir -p build
	@mv "$$(remote/package.sh run '$(REMOTE_OUT)' '$(REMOTE_OUT)' '$(REMOTE_OUT)' '$(KVGPU_VERSION)')" '$(CLUSTER_DEB)'
	@echo '$(CLUSTER_DEB)'

print-remote-package: ; @echo '$(REMOTE_DEB_OUT)/remote'
print-inprocess: ; @echo '$(abspath $(INPROCESS_OUT))/libcuda.so.1'
print-cuda: ; @echo '$(CUDA_OUT)/libcuda.so.1'
print-cudart: ; @echo '$(CUDA_OUT)/libcudart.so.11.0'

cudart-inprocess: cuda-inprocess ## libcudart.so.11.0 beside the libcuda.so.1 that needs no GPU
	@$(MAKE) -s -C cuda 'OUT=$(abspath $(INPROCESS_OUT))' runtime

CUDA_PROGRAMS	:= $(O)/cuda-programs
PROGRAMS	?= all

cuda-programs: ## the CUDA programs of the tests (or PROGRAMS="fft bfs"), by nvcc (selftests/cuda/toolkit.sh fetch); prints where they are
	@mkdir -p '$(CUDA_PROGRAMS)'
	@$(MAKE) -s -C selftests/cuda/programs 'OUT=$(abspath $(CUDA_PROGRAMS))' $(PROGRAMS) > '$(CUDA_PROGRAMS)/make.log' 2>&1 || \
		{ tail -n 20 '$(CUDA_PROGRAMS)/make.log' >&2; exit 1; }
	@echo '$(CUDA_PROGRAMS)'

CUDA_CHAINS	:= $(O)/cuda-chains

cuda-chains: ## the CUDA programs of make bench, by nvcc; prints where they are
	@mkdir -p '$(CUDA_CHAINS)'
	@$(MAKE) -s -C selftests/cuda/chains 'OUT=$(abspath $(CUDA_CHAINS))' > '$(CUDA_CHAINS)/make.log' 2>&1 || \
		{ tail -n 20 '$(CUDA_CHAINS)/make.log' >&2; exit 1; }
	@echo '$(CUDA_CHAINS)'

.PHONY: cluster-package cuda cuda-chains cuda-dev-package cuda-package remote-package wheel cuda-programs print-cuda print-cudart print-inprocess print-remote-package cudart-inprocess
