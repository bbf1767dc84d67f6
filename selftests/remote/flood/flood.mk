# SPDX-License-Identifier: GPL-2.0-only
# The flood of kvgpu-remoted, in $(FLOOD): the server with ASan and UBSan, its library with ASan, the
# client that attacks without, the program beside it with the libcuda.so.1 of remote/. Beside ASan a
# shared libubsan does not heed log_path, and a client's process has no standard error to be read.
FLOOD		:= $(O)/flood
FLOOD_GPU_SRC	:= $(addprefix selftests/remote/flood/,gpu.c queue.c memory.c exports.c) \
		   $(addprefix selftests/remote/unit/remote/server/,library.c graphs.c)
FLOOD_ATTACK_SRC := $(addprefix selftests/remote/flood/,attack.c link.c breaks.c) selftests/remote/unit/remote/server/flood.c \
		   selftests/remote/unit/remote/ring/carrier.c $(wildcard remote/ring/*.c) remote/wire/cursor.c
FLOOD_GPU_CFLAGS := $(SAN_CFLAGS) -fsanitize=address -fPIC
FLOOD_CPPFLAGS	:= -I. -I$(REMOTE_GEN) -Iselftests/remote/unit/remote/server -D_GNU_SOURCE

$(FLOOD)/gpu/%.o: %.c | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(FLOOD_CPPFLAGS) $(FLOOD_GPU_CFLAGS) -MMD -MP -c $< -o $@
$(FLOOD)/gpu/fake.o: $(REMOTE_GEN)/fake.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(FLOOD_CPPFLAGS) $(FLOOD_GPU_CFLAGS) -MMD -MP -c $< -o $@
$(FLOOD)/libcuda.so.1: $(FLOOD_GPU_SRC:%.c=$(FLOOD)/gpu/%.o) $(FLOOD)/gpu/fake.o
	$(call Q,LD)$(CC) $(FLOOD_GPU_CFLAGS) -shared -Wl,-soname,libcuda.so.1 $^ -o $@

$(FLOOD)/server/%.o: $(REMOTE_GEN)/%.c | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(FLOOD_CPPFLAGS) $(SAN_CFLAGS) $(ASAN) -MMD -MP -c $< -o $@
$(FLOOD)/kvgpu-remoted: $(REMOTE_SERVER:%.c=$(O)/asan/%.o) $(FLOOD)/server/cases.o $(FLOOD)/server/names.o
	$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) -static-libubsan $^ -ldl -o $@

$(FLOOD)/client/%.o: %.c | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(FLOOD_CPPFLAGS) $(SAN_CFLAGS) -O2 -MMD -MP -c $< -o $@
$(FLOOD)/client/fake_shapes.o: $(REMOTE_GEN)/fake_shapes.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(FLOOD_CPPFLAGS) $(SAN_CFLAGS) -O2 -MMD -MP -c $< -o $@
$(FLOOD)/attack: $(FLOOD_ATTACK_SRC:%.c=$(FLOOD)/client/%.o) $(FLOOD)/client/fake_shapes.o
	$(call Q,LD)$(CC) $(SAN_CFLAGS) $^ -o $@

$(FLOOD)/honest: selftests/remote/flood/honest.c $(REMOTE_OUT)/libcuda.so.1
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -I. -I$(REMOTE_GEN) -D_GNU_SOURCE $(SAN_CFLAGS) -O2 $^ -o $@ -Wl,-rpath,'$(REMOTE_OUT)'

remote-flood: $(addprefix $(FLOOD)/,libcuda.so.1 kvgpu-remoted attack honest) $(REMOTE_OUT)/kvgpu-remotectl ## what selftests/remote/flood.sh runs; prints where it is
	@echo '$(FLOOD)'

-include $(shell test -d '$(FLOOD)' && find '$(FLOOD)' -name '*.d' -type f 2>/dev/null)
.PHONY: remote-flood
