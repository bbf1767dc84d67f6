# SPDX-License-Identifier: GPL-2.0-only
# Remoting's client for arm64, by Debian's cross compiler: libcuda, NVML and libcudart, programs that run.sh
# runs, and unit tests of what client and server share. GnuTLS is loaded by dlopen(), so only its
# headers are needed, which are the same for all CPUs.
ARM64		:= $(O)/arm64
ARM64_CC	:= $(CCACHE) aarch64-linux-gnu-gcc
ARM64_CPPFLAGS	:= -Iselftests/remote/arm -I. -I$(REMOTE_GEN) -Iselftests/remote/unit/remote/server -D_GNU_SOURCE -idirafter /usr/include
ARM64_CFLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -pthread -ffunction-sections

ARM64_CLIENT_OBJ := $(REMOTE_CLIENT:%.c=$(ARM64)/obj/%.o) $(addprefix $(ARM64)/obj/gen/,stubs.o refused.o names.o)
ARM64_NVML_OBJ	:= $(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard cuda/nvml/*.c) cuda/info/process.c)
ARM64_RT_OBJ	:= $(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard cuda/kepler/runtime/*.c))
ARM64_TESTS	:= $(addprefix remote/ring/,ring_test stress_test interleave_test hostile_test) remote/wire/wire_test \
		   $(addprefix remote/channel/,attach_test channel_test shmem_test endpoint_test)

$(ARM64)/obj/remote/client/%.o $(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard cuda/api/*.c)): ARM64_CPPFLAGS += -DKVGPU_INSIDE
$(addprefix $(ARM64)/obj/gen/,stubs.o refused.o): ARM64_CPPFLAGS += -DKVGPU_INSIDE
$(ARM64_CLIENT_OBJ) $(ARM64_NVML_OBJ) $(ARM64_RT_OBJ): ARM64_CFLAGS += -fvisibility=hidden
# tests in which the hooks of $(RING_MODEL) replace accesses to shared memory
ARM64_HOOKED	:= $(addprefix remote/,ring/interleave_test ring/hostile_test channel/attach_test)
$(foreach t,$(ARM64_HOOKED),$(ARM64)/obj/$(call unit_at,$(t)).o $(patsubst %.c,$(ARM64)/obj/%.o,$(SRC_$(t)))): \
	ARM64_CPPFLAGS := -I$(RING_MODEL) $(ARM64_CPPFLAGS)
$(ARM64)/obj/selftests/remote/unit/remote/ring/%.o: ARM64_CPPFLAGS += -U_GNU_SOURCE
$(ARM64)/obj/gen/%.o: $(REMOTE_GEN)/%.c selftests/remote/arm64.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(ARM64_CC) $(ARM64_CPPFLAGS) $(ARM64_CFLAGS) -MMD -MP -c $< -o $@
$(ARM64)/obj/%.o: %.c selftests/remote/arm64.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(ARM64_CC) $(ARM64_CPPFLAGS) $(ARM64_CFLAGS) -MMD -MP -c $< -o $@

ARM64_LINK	= $(call Q,LD)$(ARM64_CC) $(ARM64_CFLAGS) $(filter %.o,$^)

ARM64_STUBS	:= $(addprefix $(ARM64)/older/,libpthread.so.0 libdl.so.2)
$(ARM64)/older/libdl.so.2: REMOTE_STUB += -DLIBDL
$(ARM64_STUBS): remote/older/moved.c remote/older/moved.map
	@mkdir -p $(@D)
	$(call Q,LD)$(ARM64_CC) $(call REMOTE_STUB,$(@F)) -o $@

ARM64_OLDER	= -shared -Wl,--gc-sections -Wl,-z,defs -Wl,-z,now $(ARM64_STUBS)
$(ARM64)/libcuda.so.1: $(ARM64_CLIENT_OBJ) $(ARM64_STUBS) $(REMOTE_GEN)/libcuda.map
	$(ARM64_LINK) $(ARM64_OLDER) -Wl,-soname,libcuda.so.1 -Wl,--version-script,$(REMOTE_GEN)/libcuda.map -o $@
	@$(REMOTE_FLOOR)
$(ARM64)/libnvidia-ml.so.1: $(ARM64_NVML_OBJ) $(ARM64_CLIENT_OBJ) $(ARM64_STUBS) cuda/nvml/nvml.map
	$(ARM64_LINK) $(ARM64_OLDER) -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script,cuda/nvml/nvml.map -o $@
	@$(REMOTE_FLOOR)
$(ARM64)/libcudart.so.11.0: $(ARM64_RT_OBJ) cuda/kepler/runtime/libcudart.map $(ARM64)/libcuda.so.1
	$(ARM64_LINK) -shared -Wl,-soname,libcudart.so.11.0 -Wl,-z,defs -Wl,-z,now -Wl,--version-script,cuda/kepler/runtime/libcudart.map \
		-Wl,-rpath,'$$ORIGIN' $(ARM64)/libcuda.so.1 -o $@

ARM64_PROGRAMS	:= $(addprefix $(ARM64)/,faults runtime cuda-info kvgpu-cuda-driver)
$(ARM64)/faults: $(ARM64)/obj/selftests/remote/faults.o
$(ARM64)/runtime: $(ARM64)/obj/selftests/remote/runtime.o
$(ARM64)/cuda-info: $(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard cuda/info/*.c))
$(ARM64)/obj/cuda/info/main.o: ARM64_CPPFLAGS += -DKVGPU_VERSION='"$(KVGPU_VERSION)"'
$(ARM64)/kvgpu-cuda-driver: $(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard selftests/cuda/driver/*.c) selftests/system/client/tap.c)
$(patsubst %.c,$(ARM64)/obj/%.o,$(wildcard selftests/cuda/driver/*.c)): ARM64_CPPFLAGS += -Iselftests/system/client
$(ARM64_PROGRAMS): $(ARM64)/libcuda.so.1 $(ARM64)/libcudart.so.11.0
	$(ARM64_LINK) $(ARM64)/libcudart.so.11.0 $(ARM64)/libcuda.so.1 -Wl,--as-needed -Wl,-rpath,'$$ORIGIN' -lm -o $@

define arm64_rule
$(ARM64)/unit/$(1): $(ARM64)/obj/$(call unit_at,$(1)).o $(patsubst %.c,$(ARM64)/obj/%.o,$(SRC_$(1)))
	@mkdir -p $$(@D)
	$$(ARM64_LINK) -ldl $(LIBS_$(1)) -o $$@
endef
$(foreach t,$(ARM64_TESTS),$(eval $(call arm64_rule,$(t))))

ARM64_UNIT	:= $(ARM64_TESTS:%=$(ARM64)/unit/%)
remote-arm: $(ARM64_PROGRAMS) $(ARM64)/libnvidia-ml.so.1 $(ARM64_UNIT) ## remoting's client for arm64 and its tests, by a cross compiler; prints where they are
	@echo '$(ARM64)'

-include $(shell test -d '$(ARM64)/obj' && find '$(ARM64)/obj' -name '*.d')
.PHONY: remote-arm
