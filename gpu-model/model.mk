# SPDX-License-Identifier: GPL-2.0-only
# The GPU model: gk110-model (the vfio-user server), its VBIOS image, and the helper that QEMU loads.

MODEL_DIRS	:= core root mmu fifo ce gr gr/sm vfio
MODEL_SRC	:= $(sort $(foreach d,$(MODEL_DIRS),$(wildcard gpu-model/$(d)/*.c)))
MODEL_OBJ	:= $(MODEL_SRC:%.c=$(O)/%.o)
MODEL		:= $(O)/gpu-model/gk110-model
VBIOS		:= $(patsubst %,$(O)/gpu-model/%.rom,k20m k20c k20x k40m k40c flat)
PLUGIN		:= $(O)/gpu-model/gk110-barmap.so
PLUGIN_SRC	:= $(sort $(wildcard gpu-model/plugin/*.c))

MODEL_CPPFLAGS	:= -Iinclude -Iinclude/user -Igpu-model
MODEL_CFLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Wswitch-enum -Wno-unused-parameter -Werror -pthread
MODEL_LDLIBS	:= -pthread -lm

$(O)/gpu-model/%.o: gpu-model/%.c gpu-model/model.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(MODEL_CPPFLAGS) $(MODEL_CFLAGS) -MMD -MP -c $< -o $@

$(MODEL): $(O)/gpu-model/main.o $(MODEL_OBJ)
	$(call Q,LD)$(CC) $(MODEL_CFLAGS) $^ -o $@ $(MODEL_LDLIBS)

$(O)/gpu-model/mkvbios: $(wildcard gpu-model/vbios/*.c gpu-model/vbios/*.h include/gk110/*.h) gpu-model/model.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(MODEL_CPPFLAGS) $(MODEL_CFLAGS) $(filter %.c,$^) -o $@

$(VBIOS): $(O)/gpu-model/%.rom: $(O)/gpu-model/mkvbios
	$(call Q,ROM)$< $* $@

$(PLUGIN): $(PLUGIN_SRC) $(wildcard gpu-model/plugin/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(MODEL_CPPFLAGS) $(MODEL_CFLAGS) -fPIC -shared $(PLUGIN_SRC) -o $@ $(MODEL_LDLIBS)

model: $(MODEL) $(VBIOS) ## the GPU model and the VBIOS of each board
plugin: $(PLUGIN) ## the helper that re-points mapped BAR pages inside QEMU
print-model: ; @echo '$(MODEL)'
print-plugin: ; @echo '$(PLUGIN)'

-include $(MODEL_OBJ:.o=.d) $(O)/gpu-model/main.d

.PHONY: model plugin print-model print-plugin
