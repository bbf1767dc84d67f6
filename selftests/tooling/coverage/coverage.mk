# SPDX-License-Identifier: GPL-2.0-only

coverage: ## which lines the unit programs and the harness run, by room (table, and build/coverage.json)
	@mkdir -p build
	@O='$(O)' selftests/tooling/coverage/coverage.sh

.PHONY: coverage
