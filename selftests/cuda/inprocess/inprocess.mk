# SPDX-License-Identifier: GPL-2.0-only
# A libcuda.so.1 whose GPU is the shader machine of gpu-model inside the process, for tests on the
# machine that builds it; see README.md.
INPROCESS_OUT	:= $(O)/cuda-inprocess
INPROCESS_SRC	:= $(filter-out %/backend.c,$(wildcard cuda/kepler/driver/*.c)) $(wildcard cuda/api/*.c cuda/api/export/*.c cuda/kepler/image/*.c) \
		   $(addprefix cuda/kepler/,device/qmd.c device/texture.c device/cause.c syscalls/syscalls.c) \
		   $(wildcard gpu-model/gr/sm/*.c gpu-model/mmu/*.c) \
		   $(addprefix gpu-model/,gr/qmd.c gr/topology.c root/board.c core/pacer.c core/clock.c) $(wildcard selftests/cuda/inprocess/*.c)
INPROCESS_OBJ	:= $(INPROCESS_SRC:%.c=$(INPROCESS_OUT)/obj/%.o)

$(INPROCESS_OUT)/libcuda.so.1: $(INPROCESS_OBJ)
	$(call Q,LD)$(CC) -shared -Wl,-soname,libcuda.so.1 -Wl,-z,defs $^ $(MODEL_LDLIBS) -o $@
	@ln -sf libcuda.so.1 $(@D)/libcuda.so

$(patsubst %.c,$(INPROCESS_OUT)/obj/%.o,$(wildcard cuda/api/*.c cuda/kepler/driver/*.c)): TEST_CPPFLAGS += -DKVGPU_INSIDE
# card.c calls it, and has one of its name
$(INPROCESS_OUT)/obj/cuda/kepler/driver/usage.o: TEST_CPPFLAGS += -Dkvgpu_device_usage=driver_device_usage
$(INPROCESS_OUT)/obj/%.o: %.c selftests/cuda/inprocess/inprocess.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(MODEL_CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

# with a copy of libcuda.so.1's objects
INPROCESS_NVML_OBJ := $(patsubst %.c,$(INPROCESS_OUT)/obj/%.o,$(wildcard cuda/nvml/*.c) cuda/info/process.c)
$(INPROCESS_OUT)/libnvidia-ml.so.1: $(INPROCESS_NVML_OBJ) $(INPROCESS_OBJ) cuda/nvml/nvml.map
	$(call Q,LD)$(CC) -shared -Wl,-soname,libnvidia-ml.so.1 -Wl,-z,defs -Wl,--version-script,cuda/nvml/nvml.map \
		$(INPROCESS_NVML_OBJ) $(INPROCESS_OBJ) $(MODEL_LDLIBS) -o $@

nvml-inprocess: cuda-inprocess $(INPROCESS_OUT)/libnvidia-ml.so.1 ## libnvidia-ml.so.1 beside the libcuda.so.1 that needs no GPU

cuda-inprocess: $(INPROCESS_OUT)/libcuda.so.1 ## libcuda.so.1 that needs no GPU (for tests on this machine); prints where it is
	@echo '$(INPROCESS_OUT)'

# no unit test: sanitizers have the addresses that CPU and GPU share
$(INPROCESS_OUT)/moved: $(INPROCESS_OUT)/obj/selftests/cuda/moved.o $(INPROCESS_OUT)/libcuda.so.1 $(INPROCESS_OUT)/libnvidia-ml.so.1
	$(call Q,LD)$(CC) $< -o $@ -lcmocka -lm -L$(@D) -lcuda -l:libnvidia-ml.so.1 -Wl,-rpath,'$$ORIGIN'

cuda-moved: $(INPROCESS_OUT)/moved ## what checkpoints keep, a test on the libcuda.so.1 that needs no GPU; prints where it is
	@echo '$<'

-include $(INPROCESS_OUT)/obj/selftests/cuda/moved.d $(INPROCESS_OBJ:.o=.d) $(INPROCESS_NVML_OBJ:.o=.d)

.PHONY: cuda-inprocess cuda-moved nvml-inprocess
