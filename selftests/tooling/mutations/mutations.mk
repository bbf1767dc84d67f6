# SPDX-License-Identifier: GPL-2.0-only
# make mutate RANGE=HEAD~5.. [MOST=60] [ONLY='sched/ mdev/machine/pin.c'] [V=1]

mutate: ## makes faults in the functions that commits changed (RANGE=HEAD~5..), and tells which no test without a VM notices
	@PYTHONDONTWRITEBYTECODE=1 selftests/tooling/mutations/mutate.py --build '$(O)/mutate' $(if $(MOST),--most '$(MOST)') $(if $(V),--verbose) -- '$(RANGE)' $(ONLY)
.PHONY: mutate

# make print-judges: for mutate.py, a line with kind, name, program and sources of each unit test,
# fuzz target and program of the harness
print-judges:
	$(foreach t,$(UNIT_TESTS),$(info unit $(t) $(O)/unit/$(t) $(call unit_at,$(t)).c $(SRC_$(t)) $(KSRC_$(t))))
	$(foreach t,$(FUZZ_TESTS),$(info fuzz $(t) $(O)/fuzz/$(t) $(call fuzz_at,$(t)).c $(FUZZSRC_$(t))))
	$(foreach t,$(HARNESS_TOPICS:%=topics/%) tests/$(notdir $(HARNESS_FUZZ)),\
		$(info harness $(notdir $(t)) $(HARNESS)/$(notdir $(t)) selftests/module/harness/$(t).c $(HARNESS_ROOMS) $(HARNESS_SRC)))
	@:
.PHONY: print-judges
