# SPDX-License-Identifier: MIT
# Remoting: the client's libcuda.so.1, the server kvgpu-remoted, and their tools, for the machine
# that builds. $(REMOTE_GEN) has the sources that remote/api.py generates, and cuda/api/entries.py.
REMOTE_OUT	:= $(O)/remote
REMOTE_GEN	:= $(GENERATED)/remote/gen
REMOTE_CPPFLAGS	:= -I. -I$(REMOTE_GEN) -D_GNU_SOURCE -include include/user/older_libc.h
# link-time optimization: a queued launch calls functions of many files
REMOTE_LTO	:= -O2 -flto=auto
REMOTE_CFLAGS	= -std=gnu11 -g -Wall -Wextra -Wswitch-enum -Wno-unused-parameter -Werror -pthread $(REMOTE_LTO)
REMOTE_TEXTS	:= $(addprefix $(REMOTE_GEN)/,ops.h stubs.c refused.c protocol.h libcuda.map library.h cases.c names.c \
		   prototypes.h entries.inc refused.inc outside.inc nvml_calls.h nvml_calls.inc nvml_names.inc)

$(REMOTE_GEN)/.made: remote/api.py remote/frames.def cuda/api/entries.py cuda/api/api.def cuda/nvml/table.py cuda/nvml/nvml.def kvgpu.mk
	@mkdir -p $(@D)
	$(call Q,GEN)remote/api.py . '$(REMOTE_GEN)' && cuda/nvml/table.py '$(REMOTE_GEN)' && touch $@
$(REMOTE_TEXTS): $(REMOTE_GEN)/.made ;
# the headers that two builds compare
-include $(REMOTE_GEN)/made.d

# client and server both contain channel, ring and wire
REMOTE_SHARED	:= $(wildcard remote/wire/*.c remote/channel/*.c remote/ring/*.c)
REMOTE_CLIENT	:= $(wildcard remote/client/*.c) $(REMOTE_SHARED) $(addprefix remote/conf/,conf.c client.c) \
		   $(wildcard cuda/api/*.c cuda/api/export/*.c) remote/older/functions.c
REMOTE_SERVER	:= $(wildcard remote/server/*.c remote/supervisor/*.c remote/turns/*.c remote/sleep/*.c) $(REMOTE_SHARED) \
		   $(addprefix remote/conf/,conf.c refused.c server.c)
REMOTE_CTL	:= $(wildcard remote/ctl/*.c) $(addprefix remote/conf/,conf.c client.c kept.c refused.c) \
		   remote/channel/address.c
REMOTE_PMEM	:= $(wildcard remote/pmem/*.c) remote/channel/label.c remote/conf/kept.c
REMOTE_CLIENT_OBJ := $(REMOTE_CLIENT:%.c=$(REMOTE_OUT)/obj/%.o) $(addprefix $(REMOTE_OUT)/obj/gen/,stubs.o refused.o names.o)
REMOTE_SERVER_OBJ := $(REMOTE_SERVER:%.c=$(REMOTE_OUT)/obj/%.o) $(addprefix $(REMOTE_OUT)/obj/gen/,cases.o names.o)
REMOTE_CTL_OBJ	:= $(REMOTE_CTL:%.c=$(REMOTE_OUT)/obj/%.o)
REMOTE_PMEM_OBJ	:= $(REMOTE_PMEM:%.c=$(REMOTE_OUT)/obj/%.o)

# what programs call is in cuda/api/outside.c alone
$(REMOTE_OUT)/obj/remote/client/%.o $(patsubst %.c,$(REMOTE_OUT)/obj/%.o,$(wildcard cuda/api/*.c)): REMOTE_CPPFLAGS += -DKVGPU_INSIDE
$(addprefix $(REMOTE_OUT)/obj/gen/,stubs.o refused.o): REMOTE_CPPFLAGS += -DKVGPU_INSIDE

# what prints the release, which kvgpu.mk has
REMOTE_MAINS	:= $(addprefix $(REMOTE_OUT)/obj/remote/,supervisor/main.o ctl/main.o pmem/main.o cluster/run/main.o)
$(REMOTE_MAINS): REMOTE_CPPFLAGS += -DKVGPU_VERSION='"$(KVGPU_VERSION)"'
$(REMOTE_MAINS): kvgpu.mk

$(REMOTE_OUT)/obj/gen/%.o: $(REMOTE_GEN)/%.c remote/remote.mk
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(REMOTE_CPPFLAGS) $(REMOTE_CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

$(REMOTE_OUT)/obj/%.o: %.c remote/remote.mk | $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(REMOTE_CPPFLAGS) $(REMOTE_CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

# The client's libraries are for glibc 2.28 and newer. $(call REMOTE_STUB,libdl.so.2) compiles what they
# are linked with in the place of glibc's library of that name. $(REMOTE_FLOOR) removes a library that wants more.
REMOTE_STUB	= -w -shared -nostdlib -fno-builtin -Wl,-soname,$(1) -Wl,--version-script,remote/older/moved.map remote/older/moved.c
REMOTE_STUBS	:= $(addprefix $(REMOTE_OUT)/older/,libpthread.so.0 libdl.so.2)
REMOTE_FLOOR	= remote/older/floor.sh '$@' || { rm '$@'; false; }
$(REMOTE_OUT)/older/libdl.so.2: REMOTE_STUB += -DLIBDL
$(REMOTE_STUBS): remote/older/moved.c remote/older/moved.map
	@mkdir -p $(@D)
	$(call Q,LD)$(CC) $(call REMOTE_STUB,$(@F)) -o $@

# -z nodelete: threads and signal handlers of the library go on running, so dlclose() must not unmap
# it
$(REMOTE_OUT)/libcuda.so.1: $(REMOTE_CLIENT_OBJ) $(REMOTE_STUBS) $(REMOTE_GEN)/libcuda.map remote/older/floor.sh
	$(call Q,LD)$(CC) $(REMOTE_LTO) -g -shared -pthread -Wl,-soname,libcuda.so.1 -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--version-script,$(REMOTE_GEN)/libcuda.map $(REMOTE_CLIENT_OBJ) $(REMOTE_STUBS) -o $@
	@$(REMOTE_FLOOR)
	@ln -sf libcuda.so.1 $(@D)/libcuda.so

# With a copy of libcuda.so.1's objects. Its calls need not be fast, so the code in the objects does:
# to optimize them a second time takes ten seconds. Without functions that are not called, as closefrom()
# is wanted by a server's.
REMOTE_NVML_OBJ	:= $(patsubst %.c,$(REMOTE_OUT)/obj/%.o,$(wildcard cuda/nvml/*.c) cuda/info/process.c)
$(REMOTE_NVML_OBJ) $(REMOTE_CLIENT_OBJ): REMOTE_LTO += -ffat-lto-objects -ffunction-sections
$(REMOTE_OUT)/libnvidia-ml.so.1: $(REMOTE_NVML_OBJ) $(REMOTE_CLIENT_OBJ) $(REMOTE_STUBS) cuda/nvml/nvml.map remote/older/floor.sh
	$(call Q,LD)$(CC) -fno-lto -g -shared -pthread -Wl,--gc-sections -Wl,-soname,libnvidia-ml.so.1 -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--version-script,cuda/nvml/nvml.map $(REMOTE_NVML_OBJ) $(REMOTE_CLIENT_OBJ) $(REMOTE_STUBS) -o $@
	@$(REMOTE_FLOOR)

$(REMOTE_OUT)/kvgpu-remoted: $(REMOTE_SERVER_OBJ)
	$(call Q,LD)$(CC) $(REMOTE_LTO) -g -pthread $(REMOTE_SERVER_OBJ) -ldl -o $@

$(REMOTE_OUT)/kvgpu-remotectl: $(REMOTE_CTL_OBJ)
	$(call Q,LD)$(CC) $(REMOTE_CTL_OBJ) -lgnutls -o $@

$(REMOTE_OUT)/kvgpu-aperture: $(REMOTE_PMEM_OBJ)
	$(call Q,LD)$(CC) $(REMOTE_PMEM_OBJ) -o $@

REMOTE_MADE	:= $(addprefix $(REMOTE_OUT)/,libcuda.so.1 libnvidia-ml.so.1 kvgpu-remoted kvgpu-remotectl kvgpu-aperture)
remote: $(REMOTE_MADE) ## remoting: libcuda.so.1 and libnvidia-ml.so.1 without a GPU, the server and its tools; prints where they are
	@echo '$(REMOTE_OUT)'

print-remote: ; @echo '$(REMOTE_OUT)'

-include $(REMOTE_CLIENT_OBJ:.o=.d) $(REMOTE_SERVER_OBJ:.o=.d) $(REMOTE_CTL_OBJ:.o=.d) $(REMOTE_PMEM_OBJ:.o=.d)
-include $(REMOTE_NVML_OBJ:.o=.d)

.PHONY: remote print-remote
include remote/cluster/cluster.mk
