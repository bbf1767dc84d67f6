# SPDX-License-Identifier: GPL-2.0-only
# kvgpu-firmware, which reads the graphics engine's firmware for kvgpu.ko out of the distribution's
# nouveau.ko

FIRMWARE	:= $(O)/firmware/kvgpu-firmware
FIRMWARE_SRC	:= $(sort $(wildcard firmware/*.c))
# kvgpu.mk sets KVGPU_VERSION
FIRMWARE_CFLAGS	= -DKVGPU_VERSION='"$(KVGPU_VERSION)"' -D_GNU_SOURCE -include include/user/older_libc.h -std=gnu11 -O2 -g -Wall -Wextra -Wswitch-enum -Wno-unused-parameter -Werror
FIRMWARE_LDLIBS	:= -lelf -llzma -lz

$(FIRMWARE): $(FIRMWARE_SRC) $(wildcard firmware/*.h include/kvgpu/*.h) include/user/command_line.h firmware/firmware.mk kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -Iinclude -Iinclude/user $(FIRMWARE_CFLAGS) $(FIRMWARE_SRC) -o $@ $(FIRMWARE_LDLIBS)

$(O)/asan/kvgpu-firmware: $(FIRMWARE_SRC) $(wildcard firmware/*.h include/kvgpu/*.h) include/user/command_line.h firmware/firmware.mk kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -Iinclude -Iinclude/user $(FIRMWARE_CFLAGS) $(ASAN) $(FIRMWARE_SRC) -o $@ $(FIRMWARE_LDLIBS)

firmware: $(FIRMWARE) ## the tool that reads the host's GR firmware out of nouveau.ko
firmware-asan: $(O)/asan/kvgpu-firmware
print-firmware: ; @echo '$(FIRMWARE)'
print-firmware-asan: ; @echo '$(O)/asan/kvgpu-firmware'

.PHONY: firmware firmware-asan print-firmware print-firmware-asan
