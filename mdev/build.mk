# SPDX-License-Identifier: GPL-2.0-only
# make -f mdev/build.mk KVGPU_TREE=HEADERS KVGPU_LOG=FILE [KVGPU_SAY=FILE]: builds kvgpu.ko by the
# kernel's build system, in the folder that this file is in: a copy of the sources (made by DKMS), or
# links to them (made by kvgpu.mk).
# KVGPU_LOG is the file to which the caller writes this make's output. If the build fails,
# explain.sh finds the cause in it and prints it as the last line; KVGPU_SAY, if it is a terminal or
# a pipe, gets that line, too.

KVGPU_COPY	:= $(patsubst %/mdev/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# explain.sh looks for the compiler's messages in English
export LC_ALL := C
export LC_CTYPE := C
export LC_MESSAGES := C
export LANG := C
unexport LANGUAGE

modules:
	+@$(MAKE) -C '$(KVGPU_TREE)' M='$(KVGPU_COPY)' modules || { sh '$(KVGPU_COPY)/mdev/explain.sh' '$(KVGPU_TREE)' '$(KVGPU_LOG)' '$(KVGPU_SAY)'; exit 1; }

.PHONY: modules
