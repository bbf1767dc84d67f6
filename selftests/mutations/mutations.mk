# SPDX-License-Identifier: GPL-2.0-only
# make mutations ONLY='mdev/machine/pin.c hw/': only mutations whose names begin with one of these
# words

mutations: ## whether the tests notice one-line mutations of the module (table, and build/mutations.json); goes on where it stopped
	@mkdir -p build
	@PYTHONDONTWRITEBYTECODE=1 selftests/mutations/run.py --build '$(O)/mutations' $(ONLY)
.PHONY: mutations

# make print-judges: for run.py, a line with kind, name, program and sources of each unit test, fuzz
# target and program of the harness
judge_unit	= echo 'unit $(1) $(O)/unit/$(1) selftests/unit/$(1).c $(SRC_$(1))'
judge_fuzz	= echo 'fuzz $(1) $(O)/fuzz/$(1) selftests/fuzz/$(1).c $(FUZZSRC_$(1))'
judge_harness	= echo 'harness $(1) $(HARNESS)/$(1) selftests/harness/tests/$(1).c $(HARNESS_ROOMS) $(HARNESS_SRC)'
define judge_line
@$(1)

endef
print-judges:
	$(foreach t,$(UNIT_TESTS),$(call judge_line,$(call judge_unit,$(t))))
	$(foreach t,$(FUZZ_TESTS),$(call judge_line,$(call judge_fuzz,$(t))))
	$(foreach t,$(HARNESS_TESTS) $(notdir $(HARNESS_FUZZ)),$(call judge_line,$(call judge_harness,$(t))))
.PHONY: print-judges
