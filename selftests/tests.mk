# SPDX-License-Identifier: GPL-2.0-only
# The test programs. UNIT_TESTS and FUZZ_TESTS name files under selftests/unit and selftests/fuzz
# without their ending. SRC_NAME and FUZZSRC_NAME are the sources that such a program is linked
# with, KSRC_NAME those that are built for the kernel of selftests/harness, LIBS_NAME further
# arguments of the linker. TSAN_TESTS run a second time under the thread sanitizer.

# a clock that the test sets; it replaces gpu-model/core/clock.c
TEST_CLOCK	:= selftests/unit/gpu-model/clock.c

# --- gpu-model/core
UNIT_TESTS += gpu-model/core/mmio_test gpu-model/core/config_test
SRC_gpu-model/core/mmio_test	:= gpu-model/core/mmio.c $(addprefix gpu-model/root/,absent.c board.c cold.c defect.c) gpu-model/core/note.c $(TEST_CLOCK)
SRC_gpu-model/core/config_test	:= gpu-model/core/config.c gpu-model/root/board.c gpu-model/root/defect.c gpu-model/core/note.c $(TEST_CLOCK)

# the whole device, which the bus of the test drives
UNIT_TESTS += gpu-model/core/stop_test
UNIT_TESTS += gpu-model/root/cold_test
SRC_gpu-model/root/cold_test	= $(SRC_gpu-model/core/stop_test) $(addprefix hw/,post.c postio.c postops.c postpins.c)
TSAN_TESTS += gpu-model/core/stop_test
SRC_gpu-model/core/stop_test	:= $(filter-out gpu-model/vfio/%,$(MODEL_SRC)) \
				   $(filter-out %/mkvbios.c,$(wildcard gpu-model/vbios/*.c))

# --- gpu-model/root and gpu-model/vbios
ROOT_SRC	:= $(wildcard gpu-model/root/*.c) selftests/unit/gpu-model/root/card.c $(TEST_CLOCK)
VBIOS_SRC	:= $(filter-out %/mkvbios.c,$(wildcard gpu-model/vbios/*.c))
UNIT_TESTS += $(addprefix gpu-model/root/,board_test pmc_test ptimer_test ptop_test poll_test prom_test) gpu-model/vbios/vbios_test
TSAN_TESTS += gpu-model/root/pmc_test gpu-model/root/ptimer_test
SRC_gpu-model/root/board_test	:= gpu-model/root/board.c gpu-model/core/note.c $(VBIOS_SRC)
SRC_gpu-model/root/pmc_test	:= $(ROOT_SRC)
SRC_gpu-model/root/ptimer_test	:= $(ROOT_SRC)
SRC_gpu-model/root/ptop_test	:= $(ROOT_SRC)
SRC_gpu-model/root/poll_test	:= $(ROOT_SRC)
SRC_gpu-model/root/prom_test	:= $(ROOT_SRC) $(VBIOS_SRC)
SRC_gpu-model/vbios/vbios_test	:= $(VBIOS_SRC)
FUZZ_TESTS += gpu-model/root/rom_image_fuzz
FUZZSRC_gpu-model/root/rom_image_fuzz	:= gpu-model/root/rom_image.c $(VBIOS_SRC)

# --- gpu-model/ce, and gpu-model/core/pacer.c
UNIT_TESTS += gpu-model/core/pacer_test
SRC_gpu-model/core/pacer_test	:= gpu-model/core/pacer.c $(TEST_CLOCK)
LIBS_gpu-model/core/pacer_test	:= -Xlinker --wrap=clock_nanosleep
CE_SRC	:= $(addprefix gpu-model/ce/,copy.c launch.c move.c remap.c semaphore.c surface.c unit.c)
CE_CARD	:= selftests/unit/gpu-model/ce/card.c selftests/unit/gpu-model/ce/oracle.c
CE_TESTS := $(addprefix gpu-model/ce/,launch_test move_test remap_test semaphore_test surface_test unit_test)
UNIT_TESTS += $(CE_TESTS)
$(foreach t,$(CE_TESTS),$(eval SRC_$(t) := $(CE_SRC) $(CE_CARD)))
# the copy engines on gpu-model/mmu in place of a stand-in
UNIT_TESTS += gpu-model/ce/mmu_copy_test
SRC_gpu-model/ce/mmu_copy_test	:= $(CE_SRC) gpu-model/core/pacer.c $(TEST_CLOCK) $(wildcard gpu-model/mmu/*.c)
FUZZ_TESTS += gpu-model/ce/method_fuzz
FUZZSRC_gpu-model/ce/method_fuzz := $(CE_SRC) selftests/unit/gpu-model/ce/card.c

# --- gpu-model/mmu
MMU_SRC		:= $(wildcard gpu-model/mmu/*.c)
UNIT_TESTS += $(addprefix gpu-model/mmu/,walk_test tlb_test translate_test fault_test bar_test memory_test)
TSAN_TESTS += gpu-model/mmu/tlb_test gpu-model/mmu/fault_test
SRC_gpu-model/mmu/walk_test	:= gpu-model/mmu/walk.c gpu-model/mmu/kind.c
SRC_gpu-model/mmu/tlb_test	:= $(MMU_SRC)
SRC_gpu-model/mmu/translate_test	:= $(MMU_SRC)
SRC_gpu-model/mmu/fault_test	:= $(MMU_SRC)
SRC_gpu-model/mmu/bar_test	:= $(MMU_SRC)
SRC_gpu-model/mmu/memory_test	:= $(MMU_SRC)
FUZZ_TESTS += gpu-model/mmu/translate_fuzz
FUZZSRC_gpu-model/mmu/translate_fuzz	:= $(MMU_SRC)

# --- gpu-model/gr: falcons, PMU, FECS, methods, launches
SM_SRC		:= $(wildcard gpu-model/gr/sm/*.c)
GR_SRC		:= $(wildcard gpu-model/gr/*.c) $(SM_SRC) gpu-model/root/board.c selftests/unit/gpu-model/gr/fake.c
UNIT_TESTS += $(addprefix gpu-model/gr/,falcon_test qmd_test pmu_test fecs_test methods_test launch_test threads_test)
TSAN_TESTS += gpu-model/gr/threads_test
SRC_gpu-model/gr/falcon_test	:= gpu-model/gr/falcon.c
SRC_gpu-model/gr/qmd_test	:= gpu-model/gr/qmd.c
SRC_gpu-model/gr/pmu_test	:= $(GR_SRC)
SRC_gpu-model/gr/fecs_test	:= $(GR_SRC)
SRC_gpu-model/gr/methods_test	:= $(GR_SRC)
SRC_gpu-model/gr/launch_test	:= $(GR_SRC)
SRC_gpu-model/gr/threads_test	:= $(GR_SRC)
FUZZ_TESTS += $(addprefix gpu-model/gr/,qmd_fuzz methods_fuzz context_fuzz)
FUZZSRC_gpu-model/gr/qmd_fuzz		:= gpu-model/gr/qmd.c
FUZZSRC_gpu-model/gr/methods_fuzz	:= $(GR_SRC)
FUZZSRC_gpu-model/gr/context_fuzz	:= $(GR_SRC)

# --- gpu-model/gr/sm, the shader machine: first tests of its decoder, then of all of it
SM_PRINT	:= selftests/unit/gpu-model/gr/sm/print
SM_DECODE_SRC	:= $(addprefix gpu-model/gr/sm/,decode.c derive.c) \
		   $(addprefix gpu-model/gr/sm/encoding_,alu.c control.c memory.c other.c texture.c video.c) \
		   $(addprefix $(SM_PRINT),.c _forms.c _words.c _operands.c)
UNIT_TESTS += gpu-model/gr/sm/decode_test
SRC_gpu-model/gr/sm/decode_test	:= $(SM_DECODE_SRC)
FUZZ_TESTS += gpu-model/gr/sm/decode_fuzz
FUZZSRC_gpu-model/gr/sm/decode_fuzz := $(SM_DECODE_SRC)
SM_DISASM	:= $(O)/cuda-disasm
$(SM_DISASM)/compare: $(addprefix selftests/cuda/disasm/,compare.c oracle.c oracle.h) $(SM_DECODE_SRC) $(SM_PRINT).h $(wildcard gpu-model/gr/sm/*.h gpu-model/gr/sm/*.inc)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(MODEL_CFLAGS) $(filter %.c,$^) -o $@ $(MODEL_LDLIBS)
$(SM_DISASM)/ptxgen: selftests/cuda/disasm/ptxgen.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(MODEL_CFLAGS) $< -o $@
sm-disasm: $(SM_DISASM)/compare $(SM_DISASM)/ptxgen ## what selftests/cuda/disasm/run.sh runs; prints where it is
	@echo '$(SM_DISASM)'
.PHONY: sm-disasm
UNIT_TESTS += gpu-model/gr/sm/isa_test
SRC_gpu-model/gr/sm/isa_test	:=
$(O)/asan/selftests/unit/gpu-model/gr/sm/isa_test.o: $(addprefix gpu-model/gr/sm/,isa_avx2.c isa_avx512.c)
SM_RIG_SRC	:= $(SM_SRC) $(MMU_SRC) $(addprefix gpu-model/,gr/qmd.c gr/topology.c root/board.c core/pacer.c core/clock.c) \
		   $(addprefix selftests/unit/gpu-model/gr/sm/,rig.c oracle.c)
UNIT_TESTS += $(addprefix gpu-model/gr/sm/,kernels_test ops_test textures_test surfaces_test)
SRC_gpu-model/gr/sm/textures_test	:= $(SM_RIG_SRC)
SRC_gpu-model/gr/sm/surfaces_test	:= $(SM_RIG_SRC)
$(O)/asan/selftests/unit/gpu-model/gr/sm/surfaces_test.o: selftests/unit/gpu-model/gr/sm/surfaces.cubin
$(O)/asan/selftests/unit/gpu-model/gr/sm/textures_test.o: selftests/unit/gpu-model/gr/sm/textures.cubin
SRC_gpu-model/gr/sm/kernels_test	:= $(filter-out %/core/clock.c,$(SM_RIG_SRC)) $(TEST_CLOCK)
# this test makes allocations and threads fail
LIBS_gpu-model/gr/sm/kernels_test	:= $(addprefix -Xlinker --wrap=,aligned_alloc calloc pthread_create)
SRC_gpu-model/gr/sm/ops_test	:= $(SM_RIG_SRC) $(SM_PRINT)_forms.c
$(O)/asan/selftests/unit/gpu-model/gr/sm/kernels_test.o $(O)/sm_bench: selftests/unit/gpu-model/gr/sm/kernels.cubin
FUZZ_TESTS += gpu-model/gr/sm/program_fuzz
FUZZSRC_gpu-model/gr/sm/program_fuzz	:= $(filter-out %/pacer.c %/clock.c %/oracle.c,$(SM_RIG_SRC))

SM_BENCH_OBJ	:= $(patsubst %.c,$(O)/%.o,$(filter gpu-model/%,$(filter-out %_test.c,$(SM_RIG_SRC))))
$(O)/sm_bench: selftests/bench/sm_bench.c selftests/unit/gpu-model/gr/sm/rig.c $(SM_BENCH_OBJ)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(MODEL_CFLAGS) $(filter %.c %.o,$^) -o $@ $(MODEL_LDLIBS)
bench-sm: $(O)/sm_bench ## speed of the GPU model's shader machine by itself
	@$(O)/sm_bench
.PHONY: bench-sm

# --- gpu-model/main.c: its command line
UNIT_TESTS += gpu-model/main_test
SRC_gpu-model/main_test		:= gpu-model/root/board.c gpu-model/core/note.c
# the whole model, driven by a client
UNIT_TESTS += gpu-model/start_test
SRC_gpu-model/start_test	:= $(MODEL_SRC) $(VBIOS_SRC)

# --- gpu-model/vfio, and gpu-model/plugin, the helper inside QEMU
VFIO_SRC	:= $(filter-out %/server.c,$(wildcard gpu-model/vfio/*.c)) gpu-model/core/clock.c \
		   gpu-model/root/board.c selftests/unit/gpu-model/vfio/fake_device.c
UNIT_TESTS += $(addprefix gpu-model/vfio/,messages_test dma_test irq_test pci_test server_test barmap_test)
TSAN_TESTS += gpu-model/vfio/server_test gpu-model/vfio/barmap_test
SRC_gpu-model/vfio/messages_test := $(VFIO_SRC)
SRC_gpu-model/vfio/dma_test	:= $(VFIO_SRC)
SRC_gpu-model/vfio/irq_test	:= $(VFIO_SRC)
SRC_gpu-model/vfio/pci_test	:= $(VFIO_SRC)
SRC_gpu-model/vfio/server_test	:= $(VFIO_SRC) gpu-model/vfio/server.c
LIBS_gpu-model/vfio/server_test	:= -Xlinker --wrap=poll
SRC_gpu-model/vfio/barmap_test	:= $(VFIO_SRC) gpu-model/plugin/helper.c gpu-model/plugin/uffd_window.c
FUZZ_TESTS += gpu-model/vfio/messages_fuzz
FUZZSRC_gpu-model/vfio/messages_fuzz := $(VFIO_SRC)

# --- gpu-model/fifo
FIFO_SRC	:= $(wildcard gpu-model/fifo/*.c) selftests/unit/gpu-model/fifo/chip.c $(TEST_CLOCK)
UNIT_TESTS += $(addprefix gpu-model/fifo/,decode_test runlist_test pbdma_test sched_test semaphore_test recovery_test)
TSAN_TESTS += $(addprefix gpu-model/fifo/,pbdma_test sched_test semaphore_test recovery_test)
SRC_gpu-model/fifo/decode_test	:= gpu-model/fifo/decode.c
SRC_gpu-model/fifo/runlist_test	:= gpu-model/fifo/runlist.c
SRC_gpu-model/fifo/pbdma_test	:= $(FIFO_SRC)
SRC_gpu-model/fifo/sched_test	:= $(FIFO_SRC)
SRC_gpu-model/fifo/semaphore_test := $(FIFO_SRC)
SRC_gpu-model/fifo/recovery_test := $(FIFO_SRC)
FUZZ_TESTS += gpu-model/fifo/decode_fuzz gpu-model/fifo/runlist_fuzz
FUZZSRC_gpu-model/fifo/decode_fuzz	:= gpu-model/fifo/decode.c
FUZZSRC_gpu-model/fifo/runlist_fuzz	:= gpu-model/fifo/runlist.c

# --- mmio-trap
TRAP_SRC	:= $(wildcard mmio-trap/*.c)
TRAP_TESTS	:= $(addprefix mmio-trap/,table_test trace_test poll_test intr_test command_test boot_test file_test)
UNIT_TESTS += $(TRAP_TESTS)
$(foreach t,$(TRAP_TESTS),$(eval SRC_$(t) := $(TRAP_SRC) selftests/unit/mmio-trap/guest.c))
FUZZ_TESTS += mmio-trap/access_fuzz
FUZZSRC_mmio-trap/access_fuzz	:= $(TRAP_SRC)
# it names each command, whose form it checks
$(O)/fuzzobj/selftests/fuzz/mmio-trap/access_fuzz.o: SAN_CFLAGS += -Werror=switch-enum

$(O)/regdoc: selftests/docs/regdoc.c $(TRAP_SRC) $(wildcard mmio-trap/*.h include/kvgpu/*.h include/gk110/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O1 -Wall -Wextra -Wno-unused-parameter -I. -Iinclude -Iinclude/user $(filter %.c,$^) -o $@
docs: $(O)/regdoc ## writes build/docs/registers.md from the tables of mmio-trap, build/docs/cuda-api.md from cuda/api/api.def
	@mkdir -p build/docs
	$(call Q,DOC)$(O)/regdoc > build/docs/registers.md && remote/api.py . doc > build/docs/cuda-api.md
$(O)/rooms.svg: FORCE
	@mkdir -p $(@D)
	@selftests/docs/rooms.py . > $@
rooms-doc: $(O)/rooms.svg ## draws docs/rooms.svg: the table of docs/design.md, and what the rooms' sources include
	$(call Q,DOC)cp $< docs/rooms.svg
check-rooms-doc: $(O)/rooms.svg
	@diff -u docs/rooms.svg $< || { echo "docs/rooms.svg is stale: make rooms-doc"; exit 1; }
FORCE:
.PHONY: docs rooms-doc check-rooms-doc FORCE

# --- hw: the firmware file, boot scripts, and initialization of the graphics engine on a fake chip
HW_GR_SRC	:= $(addprefix hw/,fwfile.c gr.c grctx.c grlist.c grshape.c grtrap.c fecs.c golden.c)
HW_KERNEL	:= selftests/unit/hw/no_chip.c $(addprefix selftests/harness/,task.c lock.c kernel/memory.c kernel/containers.c)
HW_POST_SRC	:= $(addprefix hw/,post.c postio.c postops.c postpins.c) selftests/unit/hw/postrom.c
UNIT_TESTS += hw/firmware_test hw/gr_sequence_test hw/post_test
SRC_hw/firmware_test	:= hw/fwfile.c selftests/unit/hw/fwbuild.c
KSRC_hw/gr_sequence_test := $(HW_GR_SRC) $(addprefix selftests/unit/hw/,chip.c fwbuild.c) $(HW_KERNEL)
SRC_hw/post_test	:= $(HW_POST_SRC)
FUZZ_TESTS += hw/firmware_fuzz hw/post_fuzz
FUZZSRC_hw/post_fuzz	:= $(HW_POST_SRC)
FUZZSRC_hw/firmware_fuzz := hw/fwfile.c selftests/unit/hw/fwbuild.c
$(addprefix $(O)/,asan/selftests/unit/hw/%.o fuzzobj/selftests/unit/hw/%.o fuzzobj/selftests/fuzz/hw/%.o): TEST_CPPFLAGS += -Iselftests/unit/hw

# all of the room on gpu-model
UNIT_TESTS += hw/bringup_test
SRC_hw/bringup_test	= selftests/unit/hw/card_model.c $(SRC_gpu-model/core/stop_test)
KSRC_hw/bringup_test	:= $(wildcard hw/*.c) $(addprefix selftests/unit/hw/,card_kernel.c fwbuild.c) $(HW_KERNEL)
HW_TESTS	:= $(addprefix $(O)/asan/selftests/unit/hw/,bringup_test.o gr_sequence_test.o)
$(O)/harness/pic/selftests/unit/hw/%.o $(HW_TESTS): HARNESS_CPPFLAGS += -Iselftests/unit/hw
$(HW_TESTS): TEST_CPPFLAGS = $(HARNESS_CPPFLAGS) $(HARNESS_CFLAGS)
$(HW_TESTS): | harness-headers

# --- gtt-shadow
SHADOW_SRC	:= $(wildcard gtt-shadow/*.c)
SHADOW_GUEST	:= $(addprefix selftests/unit/gtt-shadow/,guest.c chip.c oracle.c) gpu-model/mmu/kind.c
SHADOW_TESTS	:= $(addprefix gtt-shadow/,walk_test sync_test space_test subst_test pin_test window_test)
UNIT_TESTS += $(SHADOW_TESTS) $(addprefix gtt-shadow/,pte_test inst_test runlist_test patch_test)
$(foreach t,$(SHADOW_TESTS),$(eval SRC_$(t) := $(SHADOW_SRC) $(SHADOW_GUEST)))
SRC_gtt-shadow/pte_test		:= gtt-shadow/pte.c gpu-model/mmu/kind.c
SRC_gtt-shadow/inst_test	:= gtt-shadow/inst.c
SRC_gtt-shadow/runlist_test	:= gtt-shadow/runlist.c
SRC_gtt-shadow/patch_test	:= gtt-shadow/patch.c
FUZZ_TESTS += $(addprefix gtt-shadow/,shadow_fuzz inst_fuzz runlist_fuzz patch_fuzz)
FUZZSRC_gtt-shadow/inst_fuzz	:= gtt-shadow/inst.c
FUZZSRC_gtt-shadow/runlist_fuzz	:= gtt-shadow/runlist.c
FUZZSRC_gtt-shadow/patch_fuzz	:= gtt-shadow/patch.c
FUZZSRC_gtt-shadow/shadow_fuzz	:= $(SHADOW_SRC) $(SHADOW_GUEST)
# The oracle and the fake guest (selftests/unit/gtt-shadow) take much of shadow_fuzz's time, so they
# are built without sanitizers here
$(O)/fuzzobj/selftests/unit/gtt-shadow/%.o: FUZZ_SAN := -O3

# --- sched: on a simulated GPU and driver (selftests/sim)
SCHED_SRC	:= $(wildcard sched/*.c)
SCHED_TESTS	:= $(addprefix sched/,share_test cap_test wake_test fluid_test turn_test knob_test park_test owed_test capped_test kept_test)
UNIT_TESTS += $(SCHED_TESTS) sched/hang_test sched/gap_test
$(foreach t,$(SCHED_TESTS),$(eval SRC_$(t) := $(SCHED_SRC) selftests/sim/gpu.c))
# simulations of hours of GPU time
$(addprefix $(O)/asan/,sched/%.o selftests/sim/%.o): SAN_CFLAGS += -O2
SRC_sched/hang_test	:= sched/hang.c
SRC_sched/gap_test	:= sched/gap.c
LIBS_sched/gap_test	:= -lm
FUZZ_TESTS += sched/sched_fuzz
FUZZSRC_sched/sched_fuzz	:= $(SCHED_SRC)

# --- tools
UNIT_TESTS += include/user/command_line_test
SRC_include/user/command_line_test	:=
UNIT_TESTS += tools/rates_test
SRC_tools/rates_test	:= tools/rates.c
UNIT_TESTS += tools/http_test
SRC_tools/http_test	:= tools/http.c
$(addprefix $(O)/asan/,tools/http.o selftests/unit/tools/http_test.o): TEST_CPPFLAGS += -D_GNU_SOURCE
# plan.c beside the module's own type.c, which is built for the kernel of selftests/harness
UNIT_TESTS += tools/plan_test
SRC_tools/plan_test	:= tools/plan.c
KSRC_tools/plan_test	:= mdev/type.c $(addprefix selftests/harness/,kernel/containers.c)
$(O)/asan/selftests/unit/tools/plan_test.o: TEST_CPPFLAGS = $(HARNESS_CPPFLAGS) $(HARNESS_CFLAGS)
$(O)/asan/selftests/unit/tools/plan_test.o: | harness-headers

$(O)/kvgpu-schedsim: selftests/sim/main.c selftests/sim/gpu.c $(SCHED_SRC) $(wildcard sched/*.h selftests/sim/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -I. -Iinclude -Iinclude/user $(filter %.c,$^) -o $@
bench-sched: $(O)/kvgpu-schedsim ## simulation of the scheduling policy: shares, latencies, cost (tables, and build/bench/sched.json)
	@mkdir -p build/bench
	@$(O)/kvgpu-schedsim build/bench/sched.json
.PHONY: bench-sched

# --- cuda
IMAGE_SRC	:= $(wildcard cuda/kepler/image/*.c cuda/kepler/syscalls/*.c) cuda/api/fatbin.c cuda/api/lz4.c
API_SRC		:= $(wildcard cuda/api/*.c)
EXPORT_SRC	:= $(wildcard cuda/api/export/*.c)
UNIT_TESTS += cuda/kepler/image/image_test cuda/api/lz4_test cuda/kepler/device/qmd_test cuda/kepler/device/texture_test cuda/kepler/device/cause_test cuda/kepler/device/board_test cuda/kepler/driver/driver_test cuda/kepler/driver/resource_test cuda/kepler/driver/hostfunc_test cuda/kepler/driver/contexts_test cuda/kepler/driver/devices_test cuda/kepler/driver/forked_test cuda/kepler/driver/graph_test cuda/kepler/driver/library_test
TSAN_TESTS += cuda/kepler/driver/driver_test cuda/kepler/driver/resource_test cuda/kepler/driver/hostfunc_test cuda/kepler/driver/contexts_test cuda/kepler/driver/devices_test cuda/kepler/driver/graph_test cuda/kepler/driver/library_test
# subtests of selftests/cuda/driver, with the shader machine of gpu-model as the GPU
UNIT_TESTS += cuda/kepler/model_test
SRC_cuda/kepler/model_test	:= $(filter-out %/backend.c,$(wildcard cuda/kepler/driver/*.c)) $(API_SRC) $(EXPORT_SRC) $(IMAGE_SRC) cuda/kepler/device/qmd.c cuda/kepler/device/texture.c $(SM_RIG_SRC) \
			   $(addprefix selftests/cuda/driver/,context.c memory.c calls.c array.c launch.c stream.c graph.c syscall.c) selftests/client/tap.c
$(addprefix $(O)/asan/selftests/,unit/cuda/%.o cuda/driver/%.o): TEST_CPPFLAGS += -Iselftests/client -Iselftests
SRC_cuda/kepler/device/qmd_test	:= cuda/kepler/device/qmd.c gpu-model/gr/qmd.c
SRC_cuda/kepler/device/texture_test	:= cuda/kepler/device/texture.c
SRC_cuda/kepler/device/cause_test	:= cuda/kepler/device/cause.c
SRC_cuda/kepler/device/board_test	:= cuda/kepler/device/board.c
# buffers_test: its own functions and header replace libdrm_nouveau; log_test has the header only
UNIT_TESTS += cuda/kepler/device/buffers_test cuda/kepler/device/log_test
TSAN_TESTS += cuda/kepler/device/log_test
SRC_cuda/kepler/device/log_test	:= cuda/kepler/device/log.c cuda/kepler/device/cause.c
SRC_cuda/kepler/device/buffers_test	:= $(addprefix cuda/kepler/device/,memory.c places.c queue.c launch.c copy.c qmd.c)
$(addprefix $(O)/asan/,$(addprefix cuda/kepler/device/,memory.o queue.o launch.o copy.o) selftests/unit/cuda/kepler/device/buffers_test.o): \
	TEST_CPPFLAGS += -Iselftests/unit/cuda/kepler/device/drm
$(foreach d,asan tsan,$(O)/$(d)/cuda/kepler/device/log.o $(O)/$(d)/selftests/unit/cuda/kepler/device/log_test.o): \
	TEST_CPPFLAGS += -Iselftests/unit/cuda/kepler/device/drm
SRC_cuda/kepler/driver/driver_test	:= $(filter-out %/backend.c,$(wildcard cuda/kepler/driver/*.c)) $(API_SRC) $(EXPORT_SRC) cuda/kepler/device/texture.c $(IMAGE_SRC) selftests/unit/cuda/kepler/driver/fake.c
SRC_cuda/kepler/driver/resource_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/hostfunc_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/contexts_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/devices_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/forked_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/graph_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/library_test	:= $(SRC_cuda/kepler/driver/driver_test)
# this test makes allocations fail
LIBS_cuda/kepler/driver/graph_test	:= $(addprefix -Xlinker --wrap=,malloc calloc realloc)
UNIT_TESTS += cuda/kepler/driver/pages_test cuda/api/procaddress_test
SRC_cuda/api/procaddress_test	:= cuda/api/procaddress.c selftests/unit/cuda/api/procaddress_names.c
SRC_cuda/kepler/driver/pages_test	:= $(addprefix cuda/kepler/driver/,pages.c maps.c)
LIBS_cuda/kepler/driver/pages_test	:= -Xlinker --wrap=fopen
SRC_cuda/kepler/image/image_test	:= $(IMAGE_SRC)
SRC_cuda/api/lz4_test	:= cuda/api/lz4.c
FUZZ_TESTS += cuda/kepler/image/image_fuzz
FUZZSRC_cuda/kepler/image/image_fuzz	:= $(IMAGE_SRC)

# --- cuda/api/export
UNIT_TESTS += cuda/api/export/tables_test cuda/api/export/without_check_test
TSAN_TESTS += cuda/api/export/tables_test
SRC_cuda/api/export/tables_test	:= $(EXPORT_SRC) cuda/api/forked.c
SRC_cuda/api/export/without_check_test := $(filter-out %/check.c,$(SRC_cuda/api/export/tables_test))

# --- cuda/nvml
UNIT_TESTS += cuda/nvml/nvml_test
SRC_cuda/nvml/nvml_test	:= $(wildcard cuda/nvml/*.c) cuda/info/process.c

# --- cuda/kepler/runtime, on cuda/kepler/driver with the fake device of driver_test
$(addprefix $(O)/,asan/cuda/%.o tsan/cuda/%.o): TEST_CPPFLAGS += -D_GNU_SOURCE
CUDART_TESTS	:= $(addprefix cuda/kepler/runtime/,runtime_test memory_test array_test thread_test)
UNIT_TESTS += $(CUDART_TESTS)
TSAN_TESTS += cuda/kepler/runtime/thread_test
$(foreach t,$(CUDART_TESTS),$(eval SRC_$(t) := $(SRC_cuda/kepler/driver/driver_test) $(wildcard cuda/kepler/runtime/*.c) selftests/unit/cuda/kepler/runtime/program.c))
# program.c wraps calls of cuda/kepler/driver
$(foreach t,$(CUDART_TESTS),$(eval LIBS_$(t) := $(LIBS_$(t)) $(addprefix -Xlinker --wrap=,cuModuleLoadDataEx cuDevicePrimaryCtxSetFlags_v2 cuDriverGetVersion)))

# liblz4 packs what cuda/api unpacks
$(foreach t,kepler/image/image api/lz4,$(eval LIBS_cuda/$(t)_test := -llz4))

# --- remote/ring. In interleave_test, hostile_test and ring_fuzz a model of memory carries out the
# accesses of the ring's code: machine.c in many orders, memory.c with changes between them.
RING_SRC	:= $(wildcard remote/ring/*.c) selftests/unit/remote/ring/carrier.c
RING_MODEL	:= selftests/unit/remote/ring/model
UNIT_TESTS += $(addprefix remote/ring/,ring_test stress_test interleave_test hostile_test)
TSAN_TESTS += remote/ring/stress_test
SRC_remote/ring/ring_test	:= $(RING_SRC)
SRC_remote/ring/stress_test	:= $(RING_SRC)
SRC_remote/ring/interleave_test	:= $(RING_MODEL)/room.c $(RING_MODEL)/machine.c
SRC_remote/ring/hostile_test	:= $(RING_MODEL)/room.c $(RING_MODEL)/memory.c
FUZZ_TESTS += remote/ring/ring_fuzz
FUZZSRC_remote/ring/ring_fuzz	:= $(SRC_remote/ring/hostile_test)
$(addprefix $(O)/,$(foreach d,asan fuzzobj,$(d)/$(RING_MODEL)/%.o) $(addprefix asan/selftests/unit/remote/ring/,interleave_test.o hostile_test.o) 	fuzzobj/selftests/fuzz/remote/ring/ring_fuzz.o): TEST_CPPFLAGS := -I$(RING_MODEL) $(TEST_CPPFLAGS)

# --- remote. selftests/unit/remote/server/made.c includes sources that remote/api.py and fake.py make.
REMOTE_WIRE_SRC	:= $(wildcard remote/wire/*.c)
REMOTE_FAKE_SRC	:= $(filter-out remote/server/library.c,$(wildcard remote/server/*.c)) $(REMOTE_WIRE_SRC) \
		   $(wildcard remote/channel/*.c remote/ring/*.c) $(addprefix selftests/unit/remote/server/,made.c port.c library.c graphs.c)
UNIT_TESTS += remote/wire/wire_test remote/wire/fit_test remote/server/frames_test remote/server/memory_test remote/server/nodes_test remote/server/copies_test remote/server/words_test remote/server/order_test remote/server/images_test remote/server/flood_test remote/server/text_test $(addprefix remote/channel/,completion_test channel_test attach_test memory_test shmem_test endpoint_test guard_test rights_test)
TSAN_TESTS += remote/channel/channel_test
SRC_remote/wire/wire_test	:= $(REMOTE_WIRE_SRC) selftests/unit/remote/server/shapes.c
SRC_remote/wire/fit_test	:= remote/wire/image.c cuda/api/fatbin.c cuda/api/lz4.c
FUZZ_TESTS += remote/wire/image_fuzz
FUZZSRC_remote/wire/image_fuzz	:= remote/wire/image.c
REMOTE_CHANNEL_SRC := $(wildcard remote/channel/*.c remote/ring/*.c) remote/wire/cursor.c
SRC_remote/channel/completion_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/channel_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/memory_test	:= $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/shmem_test := $(REMOTE_CHANNEL_SRC)
SRC_remote/channel/endpoint_test	:= $(REMOTE_CHANNEL_SRC)
LIBS_remote/channel/endpoint_test	:= $(addprefix -Xlinker --wrap=,clock_gettime pthread_cond_timedwait)
SRC_remote/channel/rights_test	:= $(REMOTE_CHANNEL_SRC)
LIBS_remote/channel/rights_test	:= $(addprefix -Xlinker --wrap=,fork setsockopt getsockopt)
SRC_remote/channel/guard_test	:= $(addprefix remote/channel/,guard.c signals.c)
SRC_remote/channel/attach_test	:= selftests/unit/remote/channel/attach_room.c
$(addprefix $(O)/asan/selftests/unit/remote/channel/,attach_test.o attach_room.o): TEST_CPPFLAGS := -I$(RING_MODEL) $(TEST_CPPFLAGS)
UNIT_TESTS += $(addprefix remote/channel/,address_test tls_test) remote/conf/conf_test $(addprefix remote/starter/,bucket_test filter_test admin_test listen_test preauth_test tenants_test)
TSAN_TESTS += remote/channel/tls_test
REMOTE_ADDRESS_SRC	:= $(addprefix remote/channel/,address.c sockets.c owner.c rights.c)
REMOTE_CONF_SRC	:= $(wildcard remote/conf/*.c) $(REMOTE_ADDRESS_SRC)
SRC_remote/channel/address_test	:= $(REMOTE_ADDRESS_SRC)
SRC_remote/channel/tls_test	:= $(REMOTE_CHANNEL_SRC) $(addprefix remote/ctl/,certs.c write.c) remote/conf/kept.c
LIBS_remote/channel/tls_test	:= -lgnutls
SRC_remote/conf/conf_test	:= $(REMOTE_CONF_SRC)
SRC_remote/starter/filter_test	:= $(addprefix remote/starter/,filter.c confine.c) $(REMOTE_CONF_SRC)
REMOTE_STARTER_SRC	:= $(addprefix remote/starter/,bucket.c preauth.c clients.c listen.c tenants.c) remote/server/pool.c remote/server/images.c $(wildcard remote/conf/*.c) \
			   $(REMOTE_CHANNEL_SRC) selftests/unit/remote/starter/quiet.c
SRC_remote/starter/bucket_test	:= remote/starter/bucket.c
SRC_remote/starter/preauth_test	:= $(REMOTE_STARTER_SRC)
LIBS_remote/starter/preauth_test	:= $(addprefix -Xlinker --wrap=,now_ms setsockopt getsockopt)
SRC_remote/starter/listen_test	:= $(REMOTE_STARTER_SRC)
SRC_remote/starter/tenants_test	:= $(REMOTE_STARTER_SRC)
UNIT_TESTS += $(addprefix remote/starter/,arbiter_test log_test shared_test starter_test)
SRC_remote/starter/arbiter_test	:= $(REMOTE_STARTER_SRC) remote/starter/arbiter.c remote/turns/turns.c
LIBS_remote/starter/arbiter_test	:= -Xlinker --wrap=clock_gettime
SRC_remote/starter/log_test	:= $(REMOTE_STARTER_SRC) remote/starter/log.c
LIBS_remote/starter/log_test	:= -Xlinker --wrap=now_ms
SRC_remote/starter/shared_test	:= remote/starter/shared.c $(REMOTE_CHANNEL_SRC)
LIBS_remote/starter/shared_test	:= $(addprefix -Xlinker --wrap=,fork memory_give_back setsockopt getsockopt)
SRC_remote/starter/starter_test	:= $(REMOTE_STARTER_SRC) $(addprefix remote/starter/,starter.c admin.c arbiter.c shared.c) remote/turns/turns.c
LIBS_remote/starter/starter_test	:= $(addprefix -Xlinker --wrap=,poll now_ms setsockopt getsockopt)
SRC_remote/starter/admin_test	:= $(REMOTE_STARTER_SRC) remote/starter/admin.c remote/ctl/talk.c
UNIT_TESTS += remote/turns/turns_test
SRC_remote/turns/turns_test	:= remote/turns/turns.c
FUZZ_TESTS += remote/turns/turns_fuzz
FUZZSRC_remote/turns/turns_fuzz	:= remote/turns/turns.c
# --- remote/cluster
UNIT_TESTS += $(addprefix remote/cluster/relay/,broker_test cut_test parser_test message_test forker_test greet_test measure_test note_test proxy_test pull_test ranks_test registry_test) \
	      remote/client/cut_test $(addprefix remote/cluster/run/,children_test options_test plan_test slurm_test \
	      wait_test)
SRC_remote/cluster/relay/cut_test	:=
SRC_remote/cluster/relay/parser_test	:= remote/cluster/relay/parser.c
SRC_remote/cluster/relay/message_test	:= remote/wire/cursor.c
# broker.c, greet.c, measure.c, pull.c, bulk.c, proxy.c and link.c are compiled with a stand-in for mpi.h
SRC_remote/cluster/relay/broker_test	:=
SRC_remote/cluster/relay/forker_test	:= $(addprefix remote/cluster/relay/,forker.c registry.c) $(REMOTE_CHANNEL_SRC)
SRC_remote/cluster/relay/greet_test	:= remote/cluster/relay/greet.c $(REMOTE_CHANNEL_SRC)
SRC_remote/cluster/relay/measure_test	:= remote/cluster/relay/measure.c
SRC_remote/cluster/relay/note_test	:= remote/wire/cursor.c
SRC_remote/cluster/relay/proxy_test	:= $(addprefix remote/cluster/relay/,proxy.c link.c)
SRC_remote/cluster/relay/pull_test	:= $(addprefix remote/cluster/relay/,pull.c bulk.c) remote/wire/cursor.c
$(addprefix $(O)/asan/,$(addprefix remote/cluster/relay/,greet.o measure.o pull.o bulk.o proxy.o link.o) \
  $(addprefix selftests/unit/remote/cluster/relay/,broker_test.o greet_test.o measure_test.o proxy_test.o pull_test.o)): \
	TEST_CPPFLAGS += -Iselftests/unit/remote/cluster/relay/mpi
$(addprefix $(O)/asan/,$(addprefix remote/cluster/relay/,forker.o pull.o link.o) $(addprefix selftests/unit/remote/cluster/relay/,broker_test.o pull_test.o proxy_test.o)): TEST_CPPFLAGS += -D_GNU_SOURCE
UNIT_TESTS += remote/cluster/local/carrier_test
SRC_remote/cluster/local/carrier_test	:= $(addprefix remote/cluster/local/,wire.c match.c requests.c)
$(addprefix $(O)/asan/,$(SRC_remote/cluster/local/carrier_test:.c=.o) selftests/unit/remote/cluster/local/carrier_test.o): \
	TEST_CPPFLAGS += -Iremote/cluster/local -D_GNU_SOURCE
SRC_remote/client/cut_test	:=
SRC_remote/cluster/run/children_test	:= remote/cluster/run/children.c
SRC_remote/cluster/run/options_test	:= remote/cluster/run/options.c
SRC_remote/cluster/run/slurm_test	:= $(addprefix remote/cluster/run/,slurm.c step.c command.c plan.c)
SRC_remote/cluster/relay/ranks_test	:= remote/cluster/relay/ranks.c
SRC_remote/cluster/relay/registry_test	:= remote/cluster/relay/registry.c remote/channel/rights.c
LIBS_remote/cluster/relay/registry_test	:= $(addprefix -Xlinker --wrap=,setsockopt getsockopt glob)
SRC_remote/cluster/run/wait_test	:= $(addprefix remote/cluster/run/,wait.c program.c)
$(addprefix $(O)/asan/remote/cluster/run/,wait.o program.o): TEST_CPPFLAGS += -D_GNU_SOURCE
SRC_remote/cluster/run/plan_test	:= $(addprefix remote/cluster/run/,plan.c command.c)
UNIT_TESTS += remote/pmem/pmem_test
SRC_remote/pmem/pmem_test	:= $(addprefix remote/pmem/,file.c nd.c look.c) remote/channel/label.c remote/conf/kept.c
FUZZ_TESTS += remote/channel/address_fuzz remote/conf/conf_fuzz
FUZZSRC_remote/channel/address_fuzz	:= remote/channel/address.c
FUZZSRC_remote/conf/conf_fuzz	:= $(wildcard remote/conf/*.c) remote/channel/address.c
SRC_remote/server/frames_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/launch_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/memory_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/nodes_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/copies_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/words_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/images_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/order_test	:= $(REMOTE_FAKE_SRC)
SRC_remote/server/flood_test	:= $(REMOTE_FAKE_SRC) selftests/unit/remote/server/flood.c
SRC_remote/server/text_test	:= remote/server/text.c
UNIT_TESTS += remote/server/sched_client_test remote/server/grow_test remote/server/launch_test
SRC_remote/server/sched_client_test	:= $(REMOTE_FAKE_SRC)
LIBS_remote/server/sched_client_test	:= -Xlinker --wrap=clock_gettime
SRC_remote/server/grow_test	:= $(REMOTE_FAKE_SRC)
LIBS_remote/server/grow_test	:= -Xlinker --wrap=open
UNIT_TESTS += $(addprefix remote/client/,memory_test managed_test cross_fence_test peer_copy_test box_test copy_test bulk_test device_test context_test bounce_test hostfunc_test init_test)
TSAN_TESTS += remote/client/context_test remote/client/init_test remote/client/bulk_test
SRC_remote/client/peer_copy_test	:= $(addprefix remote/client/,peer_copy.c peer_via_host.c copy.c line.c side.c)
SRC_remote/client/box_test	:= $(addprefix remote/client/,box.c copybox.c)
SRC_remote/client/context_test	:= $(addprefix remote/client/,context.c current.c capture.c)
SRC_remote/client/copy_test	:= $(addprefix remote/client/,copy.c line.c side.c)
SRC_remote/client/bulk_test	:= remote/client/bulk.c
SRC_remote/client/device_test	:= remote/client/device.c
SRC_remote/client/bounce_test	:= remote/client/bounce.c
LIBS_remote/client/bounce_test	:= -Xlinker --wrap=pthread_mutex_unlock
SRC_remote/client/cross_fence_test	:= $(addprefix remote/client/,cross_fence.c fencewait.c helper.c peer.c)
SRC_remote/client/hostfunc_test	:= remote/client/hostfunc.c
LIBS_remote/client/hostfunc_test	:= -Xlinker --wrap=pthread_mutex_lock -Xlinker --wrap=pthread_mutex_unlock
SRC_remote/client/init_test	:= $(addprefix remote/client/,init.c client.c device.c) $(addprefix cuda/api/,forked.c visible.c) cuda/api/export/tools.c
SRC_remote/client/managed_test := $(addprefix remote/client/,peer.c route.c managed.c arena.c staging.c) remote/channel/signals.c
LIBS_remote/client/managed_test := -Xlinker --wrap=mprotect
SRC_remote/client/memory_test	:= $(addprefix remote/client/,answer.c peer.c route.c object.c ranges.c settle.c arena.c staging.c hostmem.c grow.c pin.c)
$(foreach t,memory managed cross_fence peer_copy box copy device context bounce hostfunc init,$(eval SRC_remote/client/$(t)_test += selftests/unit/remote/client/absent.c))
# all of the client over channels that lie
REMOTE_LIAR_SRC	:= $(filter-out %/find.c,$(wildcard remote/client/*.c)) $(addprefix remote/wire/,cursor.c image.c resource.c) \
		   remote/channel/signals.c cuda/api/export/storage.c cuda/api/export/tools.c $(filter-out %/jit.c %/procaddress.c,$(API_SRC)) $(addprefix selftests/unit/remote/client/,made.c liar.c program.c)
UNIT_TESTS += $(addprefix remote/client/,answers_test lies_test forms_test kept_test) cuda/api/text_test cuda/api/pcie_test
SRC_cuda/api/text_test	:=
SRC_cuda/api/pcie_test	:=
SRC_remote/client/answers_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/lies_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/forms_test	:= $(REMOTE_LIAR_SRC)
SRC_remote/client/kept_test	:= $(REMOTE_LIAR_SRC)
FUZZ_TESTS += remote/server/frames_fuzz remote/client/answers_fuzz
FUZZSRC_remote/client/answers_fuzz := $(REMOTE_LIAR_SRC)
$(foreach t,answers_test lies_test forms_test kept_test answers_fuzz,$(eval LIBS_remote/client/$(t) := -Xlinker --wrap=client_say -Xlinker --wrap=process_vm_readv))
FUZZSRC_remote/server/frames_fuzz := $(REMOTE_FAKE_SRC)
REMOTE_TEST_OBJ	:= $(foreach d,asan tsan fuzzobj,$(patsubst %.c,$(O)/$(d)/%.o,$(REMOTE_FAKE_SRC) $(wildcard remote/client/*.c remote/conf/*.c remote/starter/*.c remote/ctl/*.c remote/pmem/*.c) \
		   $(addprefix selftests/unit/remote/server/,shapes.c flood.c) $(addprefix selftests/unit/remote/,client/absent.c starter/quiet.c) remote/server/library.c $(REMOTE_LIAR_SRC) \
		   $(wildcard $(foreach r,wire channel server client conf starter pmem,selftests/unit/remote/$(r)/*_test.c selftests/fuzz/remote/$(r)/*.c))))
$(sort $(REMOTE_TEST_OBJ)): TEST_CPPFLAGS += -Iselftests/unit/remote/server -Iselftests/unit/remote/client -D_GNU_SOURCE
$(filter %/made.o,$(REMOTE_TEST_OBJ)): $(REMOTE_GEN)/fake.c
$(REMOTE_GEN)/fake.c: selftests/unit/remote/server/fake.py $(REMOTE_GEN)/.made
	$(call Q,GEN)selftests/unit/remote/server/fake.py . '$(REMOTE_GEN)' && touch $@
$(REMOTE_GEN)/fake_shapes.c $(REMOTE_GEN)/fake_calls.c: $(REMOTE_GEN)/fake.c ;
