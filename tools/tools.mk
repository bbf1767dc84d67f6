# SPDX-License-Identifier: GPL-2.0-only
# kvgpu-top, which shows GPUs and vGPUs to the admin, and kvgpu-verify, which tries a card

TOP		:= $(O)/tools/kvgpu-top
TOP_SRC		:= tools/http.c tools/json.c tools/main.c tools/mix.c tools/plan.c tools/prometheus.c tools/rates.c tools/sample.c tools/table.c tools/terminal.c
TOP_HDR		:= include/user/command_line.h tools/http.h tools/output.h tools/plan.h tools/rates.h tools/sample.h tools/terminal.h
TOP_CFLAGS	:= -Iinclude/user -D_GNU_SOURCE -include include/user/older_libc.h -std=gnu11 -O2 -g -Wall -Wextra -Wswitch-enum -Werror

# kvgpu.mk sets KVGPU_VERSION
$(TOP): $(TOP_SRC) $(TOP_HDR) tools/tools.mk kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TOP_CFLAGS) -DKVGPU_VERSION='"$(KVGPU_VERSION)"' $(TOP_SRC) -o $@ -ljansson -lm

# for servers of the test bed, which have no libjansson: it is linked in
$(O)/tools/server/kvgpu-top: $(TOP_SRC) $(TOP_HDR) tools/tools.mk kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TOP_CFLAGS) -DKVGPU_VERSION='"$(KVGPU_VERSION)"' $(TOP_SRC) -o $@ -l:libjansson.a -lm

$(O)/asan/kvgpu-top: $(TOP_SRC) $(TOP_HDR) tools/tools.mk kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TOP_CFLAGS) $(ASAN) -DKVGPU_VERSION='"$(KVGPU_VERSION)"' $(TOP_SRC) -o $@ -ljansson -lm

top: $(TOP) ## kvgpu-top, which shows GPUs and vGPUs
top-server: $(O)/tools/server/kvgpu-top
top-asan: $(O)/asan/kvgpu-top
print-top: ; @echo '$(TOP)'
print-top-server: ; @echo '$(O)/tools/server/kvgpu-top'
print-top-asan: ; @echo '$(O)/asan/kvgpu-top'

verify-programs: ## what kvgpu-verify --programs build/verify uses on this machine (wants libdrm-dev)
	@for d in module/vfio module/tenants system/client; do $(MAKE) -s -C selftests/$$d OUT='$(CURDIR)/build/verify' || exit 1; done

verify: setup model plugin ## kvgpu-verify, unattended, in servers with an un-POSTed card and with eight defective ones
	selftests/module/verify/run.sh
	@selftests/check.sh passed verify

.PHONY: verify verify-programs top top-server top-asan print-top print-top-server print-top-asan
