# SPDX-License-Identifier: GPL-2.0-only
# Part of the Makefile. Sets KVGPU_CACHE and O, the cache and the build folder, to absolute paths,
# and ends make if lib/place.sh finds that one of these, or the tree's folder, can't be used.

ifeq ($(strip $(KVGPU_CACHE)),)
override KVGPU_CACHE := $(or $(HOME),/root)/.cache/kvgpu
endif
export KVGPU_CACHE

place_quoted	= '$(subst ','\'',$(1))'
place_whole	= $(if $(filter /%,$(firstword $(1))),$(1),$(CURDIR)/$(1))

PLACE_FAULT	:= $(shell . testbed/lib/place.sh && fault=$$(place_faults "$$(pwd -P)" \
		     $(call place_quoted,$(call place_whole,$(KVGPU_CACHE))) \
		     $(if $(O),$(call place_quoted,$(call place_whole,$(O))))) && echo "$${fault:-fine}")
ifneq ($(PLACE_FAULT),fine)
$(error $(or $(PLACE_FAULT),testbed/lib/place.sh does not run))
endif

override KVGPU_CACHE := $(abspath $(KVGPU_CACHE))
# $(GENERATED): where generated files are. The default is $(O) by a link in the tree: what includes such
# files is compiled with a path that is the same in each clone, so that ccache finds what another clone
# has compiled. There is no link where O is given, or where the tree can't be written.
ifeq ($(strip $(O)),)
override O := $(KVGPU_CACHE)/build/$(shell echo -n '$(CURDIR)' | sha256sum | cut -c1-12)
GENERATED	:= $(shell { mkdir -p build '$(O)' && { [ "$$(readlink build/o)" = '$(O)' ] || ln -sfn '$(O)' build/o; } && echo build/o; } 2> /dev/null)
else
# for tb build-exec, which mounts it
export O
endif
override O := $(abspath $(O))
GENERATED	:= $(or $(GENERATED),$(O))
