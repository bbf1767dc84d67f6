# SPDX-License-Identifier: GPL-2.0-only
# Unit tests and fuzz targets of gpu-model/ (selftests/selftests.mk says what the variables mean).

# a clock that the test sets; it replaces gpu-model/core/clock.c
TEST_CLOCK	:= selftests/model/unit/gpu-model/clock.c

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
ROOT_SRC	:= $(wildcard gpu-model/root/*.c) selftests/model/unit/gpu-model/root/card.c $(TEST_CLOCK)
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
CE_CARD	:= selftests/model/unit/gpu-model/ce/card.c selftests/model/unit/gpu-model/ce/oracle.c
CE_TESTS := $(addprefix gpu-model/ce/,launch_test move_test remap_test semaphore_test surface_test unit_test)
UNIT_TESTS += $(CE_TESTS)
$(foreach t,$(CE_TESTS),$(eval SRC_$(t) := $(CE_SRC) $(CE_CARD)))
# the copy engines on gpu-model/mmu in place of a stand-in
UNIT_TESTS += gpu-model/ce/mmu_copy_test
SRC_gpu-model/ce/mmu_copy_test	:= $(CE_SRC) gpu-model/core/pacer.c $(TEST_CLOCK) $(wildcard gpu-model/mmu/*.c)
FUZZ_TESTS += gpu-model/ce/method_fuzz
FUZZSRC_gpu-model/ce/method_fuzz := $(CE_SRC) selftests/model/unit/gpu-model/ce/card.c

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
GR_SRC		:= $(wildcard gpu-model/gr/*.c) $(SM_SRC) gpu-model/root/board.c selftests/model/unit/gpu-model/gr/fake.c
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
SM_PRINT	:= selftests/model/unit/gpu-model/gr/sm/print
SM_DECODE_SRC	:= $(addprefix gpu-model/gr/sm/,decode.c derive.c) \
		   $(addprefix gpu-model/gr/sm/encoding_,alu.c control.c memory.c other.c texture.c video.c) \
		   $(addprefix $(SM_PRINT),.c _forms.c _words.c _operands.c)
UNIT_TESTS += gpu-model/gr/sm/decode_test
SRC_gpu-model/gr/sm/decode_test	:= $(SM_DECODE_SRC)
FUZZ_TESTS += gpu-model/gr/sm/decode_fuzz
FUZZSRC_gpu-model/gr/sm/decode_fuzz := $(SM_DECODE_SRC)
SM_DISASM	:= $(O)/cuda-disasm
$(SM_DISASM)/compare: $(addprefix selftests/model/disasm/,compare.c oracle.c oracle.h) $(SM_DECODE_SRC) $(SM_PRINT).h $(wildcard gpu-model/gr/sm/*.h gpu-model/gr/sm/*.inc)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(TEST_CPPFLAGS) $(MODEL_CFLAGS) $(filter %.c,$^) -o $@ $(MODEL_LDLIBS)
$(SM_DISASM)/ptxgen: selftests/model/disasm/ptxgen.c
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(MODEL_CFLAGS) $< -o $@
sm-disasm: $(SM_DISASM)/compare $(SM_DISASM)/ptxgen ## what selftests/model/disasm/run.sh runs; prints where it is
	@echo '$(SM_DISASM)'
.PHONY: sm-disasm
UNIT_TESTS += gpu-model/gr/sm/isa_test
SRC_gpu-model/gr/sm/isa_test	:=
$(O)/asan/selftests/model/unit/gpu-model/gr/sm/isa_test.o: $(addprefix gpu-model/gr/sm/,isa_avx2.c isa_avx512.c)
SM_RIG_SRC	:= $(SM_SRC) $(MMU_SRC) $(addprefix gpu-model/,gr/qmd.c gr/topology.c root/board.c core/pacer.c core/clock.c) \
		   $(addprefix selftests/model/unit/gpu-model/gr/sm/,rig.c oracle.c)
UNIT_TESTS += $(addprefix gpu-model/gr/sm/,kernels_test ops_test textures_test surfaces_test)
SRC_gpu-model/gr/sm/textures_test	:= $(SM_RIG_SRC)
SRC_gpu-model/gr/sm/surfaces_test	:= $(SM_RIG_SRC)
$(O)/asan/selftests/model/unit/gpu-model/gr/sm/surfaces_test.o: selftests/model/unit/gpu-model/gr/sm/surfaces.cubin
$(O)/asan/selftests/model/unit/gpu-model/gr/sm/textures_test.o: selftests/model/unit/gpu-model/gr/sm/textures.cubin
SRC_gpu-model/gr/sm/kernels_test	:= $(filter-out %/core/clock.c,$(SM_RIG_SRC)) $(TEST_CLOCK)
# this test makes allocations and threads fail
LIBS_gpu-model/gr/sm/kernels_test	:= $(addprefix -Xlinker --wrap=,aligned_alloc calloc pthread_create)
SRC_gpu-model/gr/sm/ops_test	:= $(SM_RIG_SRC) $(SM_PRINT)_forms.c
$(O)/asan/selftests/model/unit/gpu-model/gr/sm/kernels_test.o $(O)/sm_bench: selftests/model/unit/gpu-model/gr/sm/kernels.cubin
FUZZ_TESTS += gpu-model/gr/sm/program_fuzz
FUZZSRC_gpu-model/gr/sm/program_fuzz	:= $(filter-out %/pacer.c %/clock.c %/oracle.c,$(SM_RIG_SRC))

SM_BENCH_OBJ	:= $(patsubst %.c,$(O)/%.o,$(filter gpu-model/%,$(filter-out %_test.c,$(SM_RIG_SRC))))
$(O)/sm_bench: selftests/system/bench/sm_bench.c selftests/model/unit/gpu-model/gr/sm/rig.c $(SM_BENCH_OBJ)
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
		   gpu-model/root/board.c selftests/model/unit/gpu-model/vfio/fake_device.c
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
FIFO_SRC	:= $(wildcard gpu-model/fifo/*.c) selftests/model/unit/gpu-model/fifo/chip.c $(TEST_CLOCK)
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
