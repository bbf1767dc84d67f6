# SPDX-License-Identifier: MIT
# kvgpu-run and its relays: one for GPUs of this machine, and one for each MPI (Open MPI, MPICH) whose
# compiler is installed on this machine.
CLUSTER_MPIS	:= $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(m)))
CLUSTER_RUN_OBJ	:= $(patsubst %.c,$(REMOTE_OUT)/obj/%.o,$(wildcard remote/cluster/run/*.c))
# CLUSTER_PLAIN needs no mpi.h, and is compiled once, as is remote/server; the relay's other files
# once for each MPI.
CLUSTER_PLAIN	:= $(addprefix remote/cluster/relay/,forker.c count.c registry.c ranks.c daemon.c say.c)
CLUSTER_MPI	:= $(filter-out $(CLUSTER_PLAIN),$(wildcard remote/cluster/relay/*.c))
CLUSTER_SERVER	:= $(wildcard remote/server/*.c) $(REMOTE_SHARED) $(addprefix remote/supervisor/,filter.c confine.c compiled.c) $(CLUSTER_PLAIN) \
		   $(addprefix remote/cluster/run/,folder.c children.c)
CLUSTER_SERVER_OBJ := $(CLUSTER_SERVER:%.c=$(REMOTE_OUT)/obj/%.o) $(addprefix $(REMOTE_OUT)/obj/gen/,cases.o names.o)

$(REMOTE_OUT)/kvgpu-run: $(CLUSTER_RUN_OBJ)
	$(call Q,LD)$(CC) $(REMOTE_LTO) -g $(CLUSTER_RUN_OBJ) -o $@

CLUSTER_FLAGS_openmpi	= $(shell mpicc.openmpi -showme:compile)
CLUSTER_LIBS_openmpi	= $(shell mpicc.openmpi -showme:link)
# mpicc.mpich -show also prints flags with which Debian compiles; they are left out
CLUSTER_FLAGS_mpich	= $(filter -I%,$(shell mpicc.mpich -show))
CLUSTER_LIBS_mpich	= $(filter -L% -l%,$(shell mpicc.mpich -show))

# the first has its own mpi.h, and what that declares
CLUSTER_FLAGS_local	:= -Iremote/cluster/local
CLUSTER_LIBS_local	:=
CLUSTER_OF_local	:= $(wildcard remote/cluster/local/*.c)
CLUSTER_RELAYS	:= local $(CLUSTER_MPIS)

define cluster_mpi
CLUSTER_OBJ_$(1) := $$(patsubst %.c,$$(REMOTE_OUT)/obj-$(1)/%.o,$$(CLUSTER_MPI) $$(CLUSTER_OF_$(1)))
$$(REMOTE_OUT)/obj-$(1)/%.o: %.c remote/cluster/cluster.mk | $$(REMOTE_GEN)/.made
	@mkdir -p $$(@D)
	$$(call Q,CC)$$(CC) $$(REMOTE_CPPFLAGS) $$(CLUSTER_FLAGS_$(1)) $$(REMOTE_CFLAGS) -MMD -MP -c $$< -o $$@
$$(REMOTE_OUT)/kvgpu-relay-$(1): $$(CLUSTER_OBJ_$(1)) $$(CLUSTER_SERVER_OBJ)
	$$(call Q,LD)$$(CC) $$(REMOTE_LTO) -g -pthread $$^ $$(CLUSTER_LIBS_$(1)) -ldl -o $$@
-include $$(CLUSTER_OBJ_$(1):.o=.d)
endef
$(foreach m,$(CLUSTER_RELAYS),$(eval $(call cluster_mpi,$(m))))

cluster: remote $(REMOTE_OUT)/kvgpu-run $(addprefix $(REMOTE_OUT)/kvgpu-relay-,$(CLUSTER_RELAYS)) ## kvgpu-run; prints where
.PHONY: cluster
-include $(CLUSTER_RUN_OBJ:.o=.d) $(addprefix $(REMOTE_OUT)/obj/remote/cluster/relay/,forker.d count.d daemon.d registry.d ranks.d say.d)
