# SPDX-License-Identifier: GPL-2.0-only
# make -f mdev/build.mk KVGPU_TREE=HEADERS KVGPU_LOG=FILE [KVGPU_SAY=FILE]: kvgpu.ko, by the kernel's build system, beside a copy of the sources
# (kvgpu.mk, DKMS). The log is where the caller writes what is said here: if the build fails, its last line tells why. KVGPU_SAY gets this line
# as well, if it is a terminal or a pipe.

KVGPU_COPY	:= $(patsubst %/mdev/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# the compiler's words are looked for, in English
export LC_ALL := C
export LC_CTYPE := C
export LC_MESSAGES := C
export LANG := C
unexport LANGUAGE

modules:
	+@$(MAKE) -C '$(KVGPU_TREE)' M='$(KVGPU_COPY)' modules || { sh '$(KVGPU_COPY)/mdev/explain.sh' '$(KVGPU_TREE)' '$(KVGPU_LOG)' '$(KVGPU_SAY)'; exit 1; }

.PHONY: modules
