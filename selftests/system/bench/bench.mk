# SPDX-License-Identifier: GPL-2.0-only
# make bench, and benchmarks of single rooms and of remoting. bench-rooms compiles the pure rooms of the module as
# for the kernel: without vector registers, and with a memcmp() as the kernel has it
# (rooms/words.c).

bench: setup model plugin ## a vGPU against the card: native, pass-through, alone, beside others (build/bench/report.json; ROWS= BASE=)
	selftests/system/bench/bench.sh

AWAY	:= $(O)/bench_away
GAPS	:= $(O)/bench_gaps
LINK	:= $(O)/bench_link

$(AWAY) $(GAPS) $(LINK): $(O)/bench_%: selftests/system/bench/%.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra $< -o $@ -lpthread

bench-shares: setup model plugin $(AWAY) $(GAPS) ## shares, latency and cost of switching of many vGPUs on a paced GPU (table, and build/bench/shares.json)
	AWAY='$(AWAY)' GAPS='$(GAPS)' selftests/system/bench/bench-shares.sh $(SETUPS)
	@$(if $(SETUPS)$(LOOKS),,selftests/check.sh passed bench-shares)

ROOMS_DIR	:= selftests/system/bench/rooms
ROOMS_BENCH	:= $(O)/rooms_bench
ROOMS_PURE_OBJ	:= $(patsubst %.c,$(O)/rooms/%.o,$(wildcard mmio-trap/*.c gtt-shadow/*.c sched/*.c))
ROOMS_OWN_OBJ	:= $(patsubst %.c,$(O)/rooms/%.o,$(wildcard $(ROOMS_DIR)/*.c) selftests/module/unit/mmio-trap/guest.c)
ROOMS_CFLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -I. -Iinclude -Iinclude/user -I$(ROOMS_DIR)

$(ROOMS_PURE_OBJ): ROOMS_CFLAGS += -mgeneral-regs-only -fno-builtin-memcmp -Dmemcmp=kernel_memcmp
$(O)/rooms/%.o: %.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(ROOMS_CFLAGS) -MMD -MP -c $< -o $@

$(ROOMS_BENCH): $(ROOMS_PURE_OBJ) $(ROOMS_OWN_OBJ)
	$(call Q,LD)$(CC) $^ -o $@ -lcmocka

bench-rooms: $(ROOMS_BENCH) ## what the pure rooms cost: register accesses, shadow updates, decisions (table, and build/bench/rooms.json)
	@$(ROOMS_DIR)/rooms.sh '$(ROOMS_BENCH)' build/bench/rooms.json

bench-launch: cudart-inprocess ## a CUDA launch until its end is known, on the model in the process (table, and build/bench/launch.json)
	@$(MAKE) -s cuda-programs PROGRAMS=launch_latency > /dev/null
	@mkdir -p build/bench
	@LD_LIBRARY_PATH='$(O)/cuda-inprocess' '$(O)/cuda-programs/launch_latency' > build/bench/launch.txt; rc=$$?; \
	cat build/bench/launch.txt; grep '^{' build/bench/launch.txt > build/bench/launch.json; exit $$rc

REMOTE_RING	:= $(O)/bench_remote_ring

$(REMOTE_RING): selftests/system/bench/remote_ring.c selftests/remote/unit/remote/ring/carrier.c $(wildcard remote/ring/*.c remote/ring/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -I. $(filter %.c,$^) -o $@

bench-remote-ring: $(REMOTE_RING) ## rings between two processes: calls, queued frames, sleeps (table, and build/bench/remote-ring.json)
	@mkdir -p build/bench
	@$(REMOTE_RING) build/bench/remote-ring.json

REMOTE_CALLS	:= $(O)/remote_calls

$(REMOTE_CALLS): selftests/system/bench/remote_calls.c $(REMOTE_OUT)/libcuda.so.1
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter $(REMOTE_CPPFLAGS) $^ -o $@

REMOTE_MANY	:= $(O)/remote_many

$(REMOTE_MANY): selftests/system/bench/remote_many.c $(REMOTE_OUT)/libcuda.so.1
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter $(REMOTE_CPPFLAGS) $^ -o $@

# a plain stream, to compare with; it finds GnuTLS by itself
REMOTE_STREAMS	:= $(O)/remote_streams

$(REMOTE_STREAMS): selftests/system/bench/remote_streams.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE $< -ldl -o $@

NO_GPU		:= $(O)/no-gpu/libcuda.so.1

$(NO_GPU): selftests/system/bench/no_gpu.c $(REMOTE_GEN)/.made
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -I. -I$(REMOTE_GEN) -fPIC -shared $< -o $@

REMOTE_LIBRARY	= $(or $(LIBRARY),$(O)/cuda-inprocess/libcuda.so.1)

# LIBRARY=: as for bench-remote-calls. Results of an earlier run are removed first, because the
# report takes rows from each file.
bench-remote: $(REMOTE_RING) $(REMOTE_CALLS) $(REMOTE_STREAMS) $(REMOTE_MANY) $(REMOTE_MADE) cuda-inprocess ## remoting, with aims, beside what was recorded elsewhere (table, and build/bench/remote.json; LIBRARY= QUICK=1)
	@mkdir -p build/bench && rm -f build/bench/remote-*.json
	@$(REMOTE_RING) $(if $(QUICK),--quick) build/bench/remote-ring.json
	@selftests/system/bench/remote_calls.sh $(REMOTE_CALLS) $(REMOTE_OUT) $(REMOTE_LIBRARY) selftests/cuda/driver/kernels.cubin \
		build/bench $(if $(QUICK),--quick)
	@selftests/system/bench/remote_many.sh $(REMOTE_MANY) $(REMOTE_OUT) $(REMOTE_LIBRARY) build/bench $(if $(QUICK),--quick)
	@selftests/system/bench/remote_report.py build/bench $(if $(QUICK),--quick)

# QUICK=--quick: a short run, to see whether it works. LIBRARY=: another libcuda.so.1 for the server
bench-remote-calls: $(REMOTE_CALLS) $(REMOTE_STREAMS) $(REMOTE_MADE) cuda-inprocess ## what calls cost a program, native and remote by each carrier (LIBRARY= QUICK=)
	@selftests/system/bench/remote_calls.sh $(REMOTE_CALLS) $(REMOTE_OUT) $(REMOTE_LIBRARY) \
		selftests/cuda/driver/kernels.cubin build/bench $(QUICK)

bench-remote-transport: $(REMOTE_CALLS) $(REMOTE_STREAMS) $(REMOTE_MADE) $(NO_GPU) ## calls and copies with a library whose work takes no time: what carriers carry (QUICK=--quick)
	@selftests/system/bench/remote_calls.sh $(REMOTE_CALLS) $(REMOTE_OUT) $(NO_GPU) \
		selftests/cuda/driver/kernels.cubin build/bench/transport $(QUICK)

-include $(ROOMS_PURE_OBJ:.o=.d) $(ROOMS_OWN_OBJ:.o=.d)
CLUSTER_BENCH	:= $(O)/cluster-bench
CLUSTER_BENCH_MPI ?= $(firstword $(CLUSTER_MPIS))

# CLUSTER_BENCH_LINKS: ways of MPI's messages that are measured. --quick: small sizes, if the GPU is
# the model in the process
CLUSTER_BENCH_LINKS ?= shm tcp paced
CLUSTER_BENCH_RUN = selftests/system/bench/cluster/run.py --folder $(REMOTE_OUT) --programs $(CLUSTER_BENCH) --library $(REMOTE_LIBRARY) \
	--cudart $(O)/cuda-inprocess/libcudart.so.11.0 --out build/bench --mpi $(CLUSTER_BENCH_MPI) $(if $(LIBRARY),,--quick)

# CLUSTER_BENCH_MPI=mpich: use MPICH in place of Open MPI. CARDS=: how many GPUs LIBRARY has
bench-cluster: cluster cudart-inprocess ## kvgpu-run beside MPI itself and beside local GPUs (rows in build/bench/remote.json; LIBRARY= CARDS=)
	@mkdir -p build/bench $(CLUSTER_BENCH) && rm -f build/bench/remote-*.json
	@$(CC) -std=gnu11 -O2 -Wall -I. -I$(REMOTE_GEN) selftests/system/bench/cluster_copies.c $(REMOTE_OUT)/libcuda.so.1 -o $(CLUSTER_BENCH)/cluster_copies
	@mpicc.$(CLUSTER_BENCH_MPI) -O2 -Wall selftests/system/bench/cluster_mpi.c -o $(CLUSTER_BENCH)/cluster_mpi
	@selftests/system/bench/cluster.sh $(REMOTE_OUT) $(CLUSTER_BENCH) $(REMOTE_LIBRARY) build/bench $(CLUSTER_BENCH_MPI)
	@if selftests/cuda/toolkit.sh > /dev/null; then \
		$(MAKE) -s -C selftests/system/bench/cluster OUT=$(CLUSTER_BENCH) MPI=$(CLUSTER_BENCH_MPI) && \
		for link in $(CLUSTER_BENCH_LINKS); do \
			$(CLUSTER_BENCH_RUN) --link $$link mpi matrix paced fft || exit; \
		done && $(CLUSTER_BENCH_RUN) gpus --cards $(or $(CARDS),1); \
	else echo "left out: the paper's tables and several GPUs, for want of nvcc (selftests/cuda/toolkit.sh fetch)"; fi
	@selftests/system/bench/remote_report.py build/bench > /dev/null

# ROWS=: of run.py, all without. PYTHON=: the one with PyTorch and so on. LIBRARY=: NVIDIA's libcuda.so.1
bench-modern: $(REMOTE_MADE) ## programs with NVIDIA's own runtimes, PyTorch, JAX, CuPy, native and remote (build/bench/remote-modern.json; ROWS= PYTHON= LIBRARY=)
	@selftests/system/bench/modern/run.py $(ROWS) --remote $(REMOTE_OUT) $(if $(PYTHON),--python $(PYTHON)) $(if $(LIBRARY),--library $(LIBRARY))

# LINKS: carriers through $(LINK), as run.py's --carriers: RTT, Gbit/s, and rows if not all
LINK_ROWS := mlp gpt cnn resnet18 generate jax-float jax-queued call
LINKS	?= tls+0us@25,tls+100us@25,tls+500us@25,tcp+100us@25:mlp,tls+2ms@25:mlp:generate,tls+100us@10:gpt:resnet18
SECONDS	?= 290

bench-link: $(REMOTE_MADE) $(LINK) ## PyTorch and JAX over a network: ms and turns a step by its delay (table, and build/bench/remote-modern.json; ROWS= LINKS= SECONDS= PYTHON= LIBRARY=)
	@selftests/system/bench/modern/run.py $(or $(ROWS),$(LINK_ROWS)) --carriers $(LINKS) --link $(LINK) --passes 3 --seconds $(SECONDS) \
		--remote $(REMOTE_OUT) $(if $(PYTHON),--python $(PYTHON)) $(if $(LIBRARY),--library $(LIBRARY))

print-link: ; @echo '$(LINK)'

bench-allocation: ## jobs on GPUs of the whole cluster against GPUs of their machines; a program on 1,024: simulated
	@selftests/system/bench/cluster/allocation.py

.PHONY: bench bench-allocation bench-cluster bench-launch bench-link bench-modern bench-remote bench-remote-calls bench-remote-ring bench-remote-transport bench-rooms print-link
