# SPDX-License-Identifier: GPL-2.0-only
# Builds test programs with late.c, and runs `make check-flakes`.

comma		:= ,
LATE_WRAP	:= $(addprefix -Wl$(comma)--wrap=,pthread_mutex_lock pthread_mutex_unlock pthread_rwlock_rdlock \
		   pthread_rwlock_wrlock pthread_rwlock_unlock pthread_cond_wait pthread_cond_timedwait pthread_cond_signal \
		   pthread_cond_broadcast pthread_create clock_gettime nanosleep clock_nanosleep usleep poll read write sendmsg \
		   recvmsg)

# programs whose threads, clocks or sockets could make them fail by chance
LATE_TESTS	:= $(sort $(TSAN_TESTS) gpu-model/core/pacer_test gpu-model/root/poll_test gpu-model/gr/pmu_test \
		   gpu-model/gr/fecs_test gpu-model/gr/methods_test gpu-model/gr/launch_test \
		   gpu-model/gr/sm/textures_test gpu-model/gr/sm/surfaces_test gpu-model/ce/mmu_copy_test \
		   cuda/kepler/model_test cuda/kepler/device/buffers_test cuda/kepler/driver/pages_test $(CUDART_TESTS) \
		   remote/ring/ring_test remote/server/sched_client_test remote/cluster/relay/proxy_test \
		   $(addprefix remote/supervisor/,arbiter_test supervisor_test))

define late_rule
$(O)/unit-late/$(1): $(O)/asan/$(call unit_at,$(1)).o $(O)/asan/selftests/tooling/flakes/late.o $(patsubst %.c,$(O)/asan/%.o,$(SRC_$(1)))
	@mkdir -p $$(@D)
	$(CC) $(SAN_CFLAGS) $(ASAN) $$(LATE_WRAP) $$^ -o $$@ -lcmocka $(MODEL_LDLIBS) $(LIBS_$(1))
endef
$(foreach t,$(LATE_TESTS),$(eval $(call late_rule,$(t))))
LATE_BINS	:= $(LATE_TESTS:%=$(O)/unit-late/%)
# these programs with late.c also run in make check
LATE_CHECK	:= $(addprefix gpu-model/fifo/,pbdma_test recovery_test sched_test) gpu-model/vfio/server_test
UNIT_BINS	+= $(LATE_CHECK:%=$(O)/unit-late/%)

unit-late: $(LATE_BINS)
print-late-tests: ; @printf '%s\n' $(LATE_BINS)

check-flakes: unit-tests unit-late ## repeats what changed, to find tests that fail by chance (BUDGET=600: for so many seconds)
	@selftests/tooling/flakes/flakes.sh run
flakes-table: unit-tests unit-late
	@selftests/tooling/flakes/flakes.sh table

.PHONY: unit-late print-late-tests check-flakes flakes-table
