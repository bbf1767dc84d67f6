# SPDX-License-Identifier: GPL-2.0-only
# Unit tests (cmocka, ASan + UBSan; some again under TSan) and fuzz targets (libFuzzer).
# selftests/tests.mk lists the programs and, in SRC_NAME or FUZZSRC_NAME, the sources that each one
# links beside its own .c file. LIBS_NAME has further libraries.

SAN_CFLAGS	:= -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -pthread -fno-omit-frame-pointer
ASAN		:= -fsanitize=address,undefined -fno-sanitize-recover=undefined
TSAN		:= -fsanitize=thread
FUZZ_SAN	:= -fsanitize=fuzzer-no-link,address,undefined
TEST_CPPFLAGS	:= $(MODEL_CPPFLAGS) -I. -Iselftests/unit/gpu-model -I$(REMOTE_GEN)

include selftests/tests.mk
include selftests/harness/harness.mk
include selftests/cuda/inprocess/inprocess.mk
include selftests/remote/arm64.mk
include selftests/remote/flood/flood.mk

# what prints the release
$(addprefix $(O)/asan/,$(patsubst $(REMOTE_OUT)/obj/%,%,$(REMOTE_MAINS))): TEST_CPPFLAGS += -DKVGPU_VERSION='"$(KVGPU_VERSION)"'

$(O)/asan/%.o: %.c selftests/selftests.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(SAN_CFLAGS) $(ASAN) -MMD -MP -c $< -o $@

$(O)/tsan/%.o: %.c selftests/selftests.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(SAN_CFLAGS) $(TSAN) -MMD -MP -c $< -o $@

$(O)/fuzzobj/%.o: %.c selftests/selftests.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CLANG) $(TEST_CPPFLAGS) $(SAN_CFLAGS) $(FUZZ_SAN) -MMD -MP -c $< -o $@

# $(call unit_rule,NAME): links selftests/unit/NAME.c with the sources $(SRC_NAME), for ASan and for
# TSan
define unit_rule
$(O)/unit/$(1): $(O)/asan/selftests/unit/$(1).o $(patsubst %.c,$(O)/asan/%.o,$(SRC_$(1))) $(patsubst %.c,$(O)/harness/pic/%.o,$(KSRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) $$^ -o $$@ -lcmocka $(MODEL_LDLIBS) $(LIBS_$(1))
$(O)/unit-tsan/$(1): $(O)/tsan/selftests/unit/$(1).o $(patsubst %.c,$(O)/tsan/%.o,$(SRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CC) $(SAN_CFLAGS) $(TSAN) $$^ -o $$@ -lcmocka $(MODEL_LDLIBS) $(LIBS_$(1))
endef

define fuzz_rule
$(O)/fuzz/$(1): $(O)/fuzzobj/selftests/fuzz/$(1).o $(patsubst %.c,$(O)/fuzzobj/%.o,$(FUZZSRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CLANG) $(SAN_CFLAGS) -fsanitize=fuzzer,address,undefined $$^ -o $$@ $(MODEL_LDLIBS) $(LIBS_$(1))
endef

$(foreach t,$(UNIT_TESTS),$(eval $(call unit_rule,$(t))))
$(foreach t,$(FUZZ_TESTS),$(eval $(call fuzz_rule,$(t))))

UNIT_BINS	:= $(UNIT_TESTS:%=$(O)/unit/%) $(TSAN_TESTS:%=$(O)/unit-tsan/%)
FUZZ_BINS	:= $(FUZZ_TESTS:%=$(O)/fuzz/%)
include selftests/flakes/flakes.mk
include selftests/mutations/mutations.mk
include selftests/coverage/coverage.mk
unit-tests: $(UNIT_BINS) $(VBIOS) ## builds the unit tests
fuzz-tests: $(FUZZ_BINS) ## builds the fuzz targets
print-unit-tests: ; @printf '%s\n' $(UNIT_BINS)
print-fuzz-tests: ; @printf '%s\n' $(FUZZ_BINS)

lint: ## the rules of docs/house-style.md that have a star: layers, offsets, headers, columns, shell scripts
	@PYTHONDONTWRITEBYTECODE=1 selftests/lint/run.py
format: ## formats the C files that differ from the last commit (clang-format 14)
	@git diff --name-only --diff-filter=d HEAD -- '*.c' '*.h' | xargs -r $(firstword $(shell command -v clang-format-14) clang-format) -i
lint-all: ## lint, and the rules that take longer: checkpatch, what the pure rooms want of others
	@PYTHONDONTWRITEBYTECODE=1 selftests/lint/run.py --all

-include $(shell test -d '$(O)' && find '$(O)/asan' '$(O)/tsan' '$(O)/fuzzobj' -name '*.d' 2>/dev/null)

.PHONY: unit-tests fuzz-tests print-unit-tests print-fuzz-tests lint lint-all format
