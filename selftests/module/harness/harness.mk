# SPDX-License-Identifier: GPL-2.0-only
# Builds the module as a user-space program with ASan and UBSan. kernel/ replaces the Linux kernel,
# chip/ is a malicious GPU: selftests/module/harness/README.md.

HARNESS		:= $(O)/harness
HARNESS_ROOMS	:= $(wildcard mdev/*.c mdev/machine/*.c) $(wildcard hw/*.c mmio-trap/*.c gtt-shadow/*.c sched/*.c)
HARNESS_SRC	:= $(wildcard selftests/module/harness/*.c selftests/module/harness/kernel/*.c selftests/module/harness/chip/*.c) selftests/module/unit/hw/fwbuild.c selftests/module/unit/hw/postrom.c
HARNESS_TOPICS	:= $(patsubst selftests/module/harness/topics/%.c,%,$(wildcard selftests/module/harness/topics/*.c))
# headers of Linux that the module includes and that include/user does not have: made here, they
# include kernel.h, and come before the system's headers of the same names
HARNESS_LINUX	:= anon_inodes atomic bitmap bitops completion cred debugfs delay device dma-mapping eventfd file firmware fs genalloc hashtable interrupt io \
		   iommu kobject kthread ktime mdev mm module moduleparam mutex pci pid random rcupdate refcount rtmutex \
		   sched sched/mm sched/signal sched/task seq_file sizes slab spinlock sysfs tracepoint uaccess vmalloc workqueue xarray
HARNESS_KERNEL_H := selftests/module/harness/kernel/kernel.h
# a folder for each list and place: a header of another list would come before include/user's
HARNESS_INCLUDE	:= $(GENERATED)/harness/include-$(shell echo '$(HARNESS_LINUX) $(HARNESS_KERNEL_H)' | sha256sum | cut -c1-8)
HARNESS_HEADERS	:= $(HARNESS_LINUX:%=$(HARNESS_INCLUDE)/linux/%.h) $(HARNESS_INCLUDE)/linux/vfio.h $(HARNESS_INCLUDE)/trace/define_trace.h
HARNESS_CPPFLAGS := -I. -I$(HARNESS_INCLUDE) -Iinclude -Iinclude/user
# KVGPU_HAVE_...: the features of the kernel that kernel/ imitates. As on the oldest kernel, mdev
# keeps a list of a vGPU's mappings itself (mdev/vmas.c) and answers VFIO_DEVICE_GET_REGION_INFO
# itself (mdev/region_ioctl.c).
HARNESS_CFLAGS	:= -D_GNU_SOURCE $(SAN_CFLAGS) -fPIC -fno-semantic-interposition -Wno-sign-compare -Wno-missing-field-initializers -Wno-empty-body -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-function -DKVGPU_PROBED -DKVGPU_HAVE_VFIO_FREE_DEVICE -DKVGPU_HAVE_VFIO_IOMMUFD -DKVGPU_HAVE_HUGE_FAULT_ORDER
HARNESS_OPT	:= -O2
# In the module a switch over an enum names each enumerator, also where it has a default.
$(patsubst %.c,$(HARNESS)/pic/%.o,$(HARNESS_ROOMS)): HARNESS_OPT += -Werror=switch -Werror=switch-enum
HARNESS_OBJ	:= $(patsubst %.c,$(HARNESS)/pic/%.o,$(HARNESS_ROOMS) $(HARNESS_SRC))
HARNESS_BINS	:= $(HARNESS_TOPICS:%=$(HARNESS)/%)
HARNESS_FUZZ	:= $(HARNESS)/actors_fuzz
# All but the tests is linked once, not into each program. Tests set variables of it, so they are
# position independent, too (no copy relocations).
HARNESS_LIB	:= $(HARNESS)/libharness.so

$(HARNESS_INCLUDE)/linux/vfio.h:
	@mkdir -p $(@D)
	@printf '#include_next <linux/vfio.h>\n#include "$(HARNESS_KERNEL_H)"\n' > $@
$(HARNESS_INCLUDE)/trace/define_trace.h:
	@mkdir -p $(@D)
	@: > $@
$(HARNESS_LINUX:%=$(HARNESS_INCLUDE)/linux/%.h):
	@mkdir -p $(@D)
	@echo '#include "$(HARNESS_KERNEL_H)"' > $@

# tests do little themselves, and without -O2 they compile in half the time
$(HARNESS)/pic/selftests/module/harness/tests/%.o $(HARNESS)/pic/selftests/module/harness/topics/%.o: HARNESS_OPT := -O0
$(HARNESS)/pic/%.o: %.c selftests/module/harness/harness.mk | $(HARNESS_HEADERS)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(HARNESS_CPPFLAGS) $(HARNESS_CFLAGS) $(HARNESS_OPT) $(ASAN) -fno-sanitize=alignment,nonnull-attribute -MMD -MP -c $< -o $@

$(HARNESS_LIB): $(HARNESS_OBJ)
	$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) -shared -Wl,-soname,libharness.so -Wl,-Bsymbolic $^ -o $@
$(HARNESS_BINS): $(HARNESS)/%: $(HARNESS)/pic/selftests/module/harness/topics/%.o $(HARNESS_LIB)
	$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) $^ -Wl,-rpath,'$$ORIGIN' -o $@
$(HARNESS_FUZZ): $(HARNESS)/pic/selftests/module/harness/tests/actors_fuzz.o $(HARNESS_LIB)
	$(call Q,LD)$(CC) $(SAN_CFLAGS) $(ASAN) $^ -Wl,-rpath,'$$ORIGIN' -o $@

harness: $(HARNESS_BINS) $(HARNESS_FUZZ) ## mdev without a VM: builds its tests
print-harness: ; @printf '%s\n' $(HARNESS_BINS)
print-harness-fuzz: ; @echo '$(HARNESS_FUZZ)'
# for selftests/module/layout and selftests/tooling/lint
harness-headers: $(HARNESS_HEADERS)
print-harness-headers: ; @echo '$(HARNESS_INCLUDE)'

-include $(shell test -d '$(HARNESS)' && find '$(HARNESS)/pic' -name '*.d' 2>/dev/null)

.PHONY: harness print-harness print-harness-fuzz harness-headers print-harness-headers
