# SPDX-License-Identifier: GPL-2.0-only
# Unit tests (cmocka, ASan + UBSan; some again under TSan) and fuzz targets (libFuzzer).
# Each product's tests.mk lists its programs: UNIT_TESTS and FUZZ_TESTS name files under the product's
# unit/ and fuzz/ without their ending. SRC_NAME and FUZZSRC_NAME are the sources that such a program
# is linked with beside its own .c file, KSRC_NAME those that are built for the kernel of
# selftests/module/harness, LIBS_NAME further arguments of the linker. TSAN_TESTS run a second time
# under the thread sanitizer.

SAN_CFLAGS	:= -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -pthread -fno-omit-frame-pointer
ASAN		:= -fsanitize=address,undefined -fno-sanitize-recover=undefined
TSAN		:= -fsanitize=thread
FUZZ_SAN	:= -fsanitize=fuzzer-no-link,address,undefined
TEST_CPPFLAGS	:= $(MODEL_CPPFLAGS) -I. -Iselftests/model/unit/gpu-model -I$(REMOTE_GEN)

# $(call unit_at,NAME), $(call fuzz_at,NAME): the source of the program NAME, without its ending. Its
# first folder is that of a room, which says the product.
PRODUCT_OF_gpu-model	:= model
PRODUCT_OF_cuda	:= cuda
PRODUCT_OF_remote	:= remote
product_of	= $(or $(PRODUCT_OF_$(firstword $(subst /, ,$(1)))),module)
unit_at		= selftests/$(call product_of,$(1))/unit/$(1)
fuzz_at		= selftests/$(call product_of,$(1))/fuzz/$(1)

include $(foreach p,model module cuda remote,selftests/$(p)/tests.mk)
include selftests/module/harness/harness.mk
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

# $(call unit_rule,NAME): links unit_at NAME with the sources $(SRC_NAME), for ASan and for
# TSan
define unit_rule
$(O)/unit/$(1): $(O)/asan/$(call unit_at,$(1)).o $(patsubst %.c,$(O)/asan/%.o,$(SRC_$(1))) $(patsubst %.c,$(O)/harness/pic/%.o,$(KSRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) $$^ -o $$@ -lcmocka $(MODEL_LDLIBS) $(LIBS_$(1))
$(O)/unit-tsan/$(1): $(O)/tsan/$(call unit_at,$(1)).o $(patsubst %.c,$(O)/tsan/%.o,$(SRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CC) $(SAN_CFLAGS) $(TSAN) $$^ -o $$@ -lcmocka $(MODEL_LDLIBS) $(LIBS_$(1))
endef

define fuzz_rule
$(O)/fuzz/$(1): $(O)/fuzzobj/$(call fuzz_at,$(1)).o $(patsubst %.c,$(O)/fuzzobj/%.o,$(FUZZSRC_$(1)))
	@mkdir -p $$(@D)
	$$(call Q,LD)$(CLANG) $(SAN_CFLAGS) -fsanitize=fuzzer,address,undefined $$^ -o $$@ $(MODEL_LDLIBS) $(LIBS_$(1))
endef

$(foreach t,$(UNIT_TESTS),$(eval $(call unit_rule,$(t))))
$(foreach t,$(FUZZ_TESTS),$(eval $(call fuzz_rule,$(t))))

UNIT_BINS	:= $(UNIT_TESTS:%=$(O)/unit/%) $(TSAN_TESTS:%=$(O)/unit-tsan/%)
FUZZ_BINS	:= $(FUZZ_TESTS:%=$(O)/fuzz/%)
include selftests/tooling/flakes/flakes.mk
include selftests/tooling/mutations/mutations.mk
include selftests/tooling/coverage/coverage.mk
unit-tests: $(UNIT_BINS) $(VBIOS) ## builds the unit tests
fuzz-tests: $(FUZZ_BINS) ## builds the fuzz targets
print-unit-tests: ; @printf '%s\n' $(UNIT_BINS)
print-fuzz-tests: ; @printf '%s\n' $(FUZZ_BINS)

lint: ## the rules of docs/house-style.md that have a star: layers, offsets, headers, columns, shell scripts
	@PYTHONDONTWRITEBYTECODE=1 selftests/tooling/lint/run.py
format: ## formats the C files that differ from the last commit (clang-format 14)
	@git diff --name-only --diff-filter=d HEAD -- '*.c' '*.h' | xargs -r $(firstword $(shell command -v clang-format-14) clang-format) -i
meanings: ## notes that code of remoting by hand has changed, and means what remote/meanings.tsv says (CONTRIBUTING.md)
	@PYTHONDONTWRITEBYTECODE=1 selftests/tooling/lint/meanings.py
lint-long: ## the rules that take longer: checkpatch, what the pure rooms want of others
	@PYTHONDONTWRITEBYTECODE=1 selftests/tooling/lint/run.py --long

-include $(shell test -d '$(O)' && find '$(O)/asan' '$(O)/tsan' '$(O)/fuzzobj' -name '*.d' 2>/dev/null)

.PHONY: unit-tests fuzz-tests print-unit-tests print-fuzz-tests lint lint-long meanings format
