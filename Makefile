# SPDX-License-Identifier: GPL-2.0-only
#
# `make help` lists the targets. Programs are built outside of the tree, in $(O). $(KVGPU_CACHE)
# keeps what is fetched. Reports and Debian packages are written to build/.

SHELL		:= /bin/bash
include testbed/place.mk
TB		:= testbed/tb

# Compilers run through ccache if it is installed (set-up installs it). A fresh clone then compiles
# only what no clone on this machine has compiled yet: CCACHE_BASEDIR and CCACHE_NOHASHDIR keep the
# clone's path out of ccache's hash.
export CCACHE_DIR	?= $(KVGPU_CACHE)/ccache
export CCACHE_BASEDIR	:= $(CURDIR)
export CCACHE_NOHASHDIR	:= 1
CCACHE		:= $(shell command -v ccache)
ifneq ($(origin CC),command line)
CC		:= $(CCACHE) gcc
endif
CLANG		:= $(CCACHE) clang

# $(call Q,CC) begins a recipe's line. make then prints one short line in place of the command. With
# V=1 it prints the command itself, with -s neither.
flags		:= $(firstword -$(MAKEFLAGS))
Q		= $(if $(filter 1,$(V)),,@$(if $(findstring s,$(flags)),,printf '  %-5s %s\n' '$(1)' '$(@:$(O)/%=%)'; ))

.DEFAULT_GOAL	:= help

include gpu-model/model.mk
include remote/remote.mk
include selftests/selftests.mk
include firmware/firmware.mk
include tools/tools.mk
include kvgpu.mk
include cuda/cuda.mk
include selftests/system/bench/bench.mk

# check, check-fast, check-long and demo refuse variables on make's command line that they do not
# know. Without this, a slip such as "make check PART=unit" (for PARTS) would run all parts.
CHECK_VARIABLES	:= AGAIN CC CHANGED FUZZ_SECONDS KVGPU_CACHE KVGPU_CHECK_LANES O PARTS PRODUCT STALE V
ifneq ($(filter check check-fast check-long demo,$(MAKECMDGOALS)),)
wrong		:= $(filter-out -% $(CHECK_VARIABLES),$(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $(v))),$(v))))
$(if $(wrong),$(error make $(MAKECMDGOALS) knows no variable $(wrong); it knows: $(CHECK_VARIABLES)))
endif
# what make's command line has of these; the environment's are not meant for this
NARROW		= $(foreach v,PRODUCT CHANGED STALE,$(if $(filter command,$(origin $(v))),'$(v)=$($(v))'))

help: ## what there is to make
	@echo "kvgpu: share one NVIDIA GK110 among KVM guests"; echo
	@grep -hE '^[a-z-]+:.*## ' $(filter %Makefile %.mk,$(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | sort -u | expand -t 20 | awk ' \
		function group(name) { \
			return name ~ /^(demo|check|help)$$/ ? 1 : name ~ /^(check-|lint|mutate|module-check)/ ? 2 : \
			       name ~ /^bench/ ? 3 : name ~ /install$$|^packages$$/ ? 4 : name ~ /^(supported|docs|pictures)$$/ ? 5 : 6 } \
		{ lines[group($$1)] = lines[group($$1)] "  " $$0 "\n" } \
		END { split("To begin with|More tests|Measurements|On a machine with a card|Documents made of sources and results|What is built, and cleaning up", title, "|"); \
			for (i = 1; i <= 6; i++) printf "%s\n%s\n", title[i] ":", lines[i] }'

setup: ## packages, root file systems, kernels and QEMU of the test bed (called by the others; a second run takes seconds)
	$(TB) setup

demo: ## the main job end to end, shown: a server with a K20m, stock nouveau, guests on vGPUs, verified copies, CUDA
	@selftests/system/demo/demo.sh
	@selftests/check.sh passed demo

check: ## the tests, but for the long ones (PARTS="unit guest" PRODUCT=remote CHANGED=HEAD~5: what judges these); ends with 'N passed, N failed'
	@selftests/check.sh quick $(NARROW) $(PARTS)

check-fast: ## the inner loop: what changed is built and looked at, all unit tests, 2 s a fuzz target (PARTS= PRODUCT= CHANGED=)
	@selftests/check.sh fast $(NARROW) $(PARTS)

check-long: ## check, and everything slow (PARTS= PRODUCT= CHANGED=); goes on where it stopped; STALE=1: what of it changed since it passed
	@selftests/check.sh long $(NARROW) $(PARTS)

supported: ## takes the kernels that check and check-long passed on into docs/kernels.tsv and the table of docs/supported.md
	@selftests/module/kernels/supported.sh merge

check-fresh: ## README's two commands on fresh Debians 12 and 13 (hours; resumes), and what they take; selftests/system/fresh/run.sh --list
	@selftests/system/fresh/run.sh

bench-model: setup model plugin ## latency, bandwidth and switch times of the model (table, and build/bench/model.json)
	selftests/system/bench/bench-model.sh

clean: ## removes what was built from this tree (not what was fetched)
	rm -rf '$(O)' build

.PHONY: help setup demo check check-fast check-long check-fresh supported bench-model bench-shares clean
