# SPDX-License-Identifier: GPL-2.0-only
# Unit tests and fuzz targets of the module's rooms, of its tools and of include/user

# --- mmio-trap
TRAP_SRC	:= $(wildcard mmio-trap/*.c)
TRAP_TESTS	:= $(addprefix mmio-trap/,table_test trace_test poll_test intr_test command_test boot_test file_test)
UNIT_TESTS += $(TRAP_TESTS)
$(foreach t,$(TRAP_TESTS),$(eval SRC_$(t) := $(TRAP_SRC) selftests/module/unit/mmio-trap/guest.c))
FUZZ_TESTS += mmio-trap/access_fuzz
FUZZSRC_mmio-trap/access_fuzz	:= $(TRAP_SRC)
# it names each command, whose form it checks
$(O)/fuzzobj/selftests/module/fuzz/mmio-trap/access_fuzz.o: SAN_CFLAGS += -Werror=switch-enum

$(O)/regdoc: selftests/tooling/docs/regdoc.c $(TRAP_SRC) $(wildcard mmio-trap/*.h include/kvgpu/*.h include/gk110/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O1 -Wall -Wextra -Wno-unused-parameter -I. -Iinclude -Iinclude/user $(filter %.c,$^) -o $@
docs: $(O)/regdoc ## writes build/docs/registers.md from the tables of mmio-trap, build/docs/cuda-api.md from cuda/api/api.def, docs/open-points.md, docs/glossary.md
	@mkdir -p build/docs
	$(call Q,DOC)$(O)/regdoc > build/docs/registers.md && remote/api.py . doc > build/docs/cuda-api.md
	$(call Q,DOC)selftests/tooling/docs/points.py . > build/docs/points && cp build/docs/points docs/open-points.md
	$(call Q,DOC)selftests/tooling/docs/words.py . > build/docs/words && cp build/docs/words docs/glossary.md

# all pictures of docs/ but those that show one run of make demo and of make bench-shares
PICTURES := $(O)/pictures
$(PICTURES)/.drawn: export PYTHONDONTWRITEBYTECODE := 1
$(PICTURES)/.drawn: FORCE
	@rm -rf $(@D) && mkdir -p $(@D)
	@selftests/tooling/docs/rooms.py . > $(@D)/rooms.svg
	@selftests/tooling/docs/diagrams.py $(@D)
	@selftests/system/bench/plot.py rows selftests/system/bench/performance_rows.json $(@D)/performance.svg
	@for p in remote_plot cluster/plot; do selftests/system/bench/$$p.py selftests/system/bench/remote_rows.json $(@D) > $@ || exit; done
pictures: $(PICTURES)/.drawn ## draws docs/*.svg: the rooms, what is in selftests/tooling/docs/diagrams.py, recorded rows of the benchmarks
	$(call Q,DOC)cp $(PICTURES)/*.svg docs/
check-pictures: $(PICTURES)/.drawn
	@for p in $(PICTURES)/*.svg; do cmp docs/$${p##*/} $$p || { echo "docs/$${p##*/} is stale: make pictures"; exit 1; }; done
FORCE:
.PHONY: docs pictures check-pictures FORCE

# --- hw: the firmware file, boot scripts, and initialization of the graphics engine on a fake chip
HW_GR_SRC	:= $(addprefix hw/,fwfile.c gr.c grctx.c grlist.c grshape.c grtrap.c fecs.c golden.c)
HW_KERNEL	:= selftests/module/unit/hw/no_chip.c $(addprefix selftests/module/harness/,task.c lock.c kernel/memory.c kernel/containers.c)
HW_POST_SRC	:= $(addprefix hw/,post.c postio.c postops.c postpins.c) selftests/module/unit/hw/postrom.c
UNIT_TESTS += hw/firmware_test hw/gr_sequence_test hw/post_test
SRC_hw/firmware_test	:= hw/fwfile.c selftests/module/unit/hw/fwbuild.c
KSRC_hw/gr_sequence_test := $(HW_GR_SRC) $(addprefix selftests/module/unit/hw/,chip.c fwbuild.c) $(HW_KERNEL)
SRC_hw/post_test	:= $(HW_POST_SRC)
FUZZ_TESTS += hw/firmware_fuzz hw/post_fuzz
FUZZSRC_hw/post_fuzz	:= $(HW_POST_SRC)
FUZZSRC_hw/firmware_fuzz := hw/fwfile.c selftests/module/unit/hw/fwbuild.c
$(addprefix $(O)/,asan/selftests/module/unit/hw/%.o fuzzobj/selftests/module/unit/hw/%.o fuzzobj/selftests/module/fuzz/hw/%.o): TEST_CPPFLAGS += -Iselftests/module/unit/hw

# all of the room on gpu-model
UNIT_TESTS += hw/bringup_test
SRC_hw/bringup_test	= selftests/module/unit/hw/card_model.c $(SRC_gpu-model/core/stop_test)
KSRC_hw/bringup_test	:= $(wildcard hw/*.c) $(addprefix selftests/module/unit/hw/,card_kernel.c fwbuild.c) $(HW_KERNEL)
HW_TESTS	:= $(addprefix $(O)/asan/selftests/module/unit/hw/,bringup_test.o gr_sequence_test.o)
$(O)/harness/pic/selftests/module/unit/hw/%.o $(HW_TESTS): HARNESS_CPPFLAGS += -Iselftests/module/unit/hw
$(HW_TESTS): TEST_CPPFLAGS = $(HARNESS_CPPFLAGS) $(HARNESS_CFLAGS)
$(HW_TESTS): | harness-headers

# --- gtt-shadow
SHADOW_SRC	:= $(wildcard gtt-shadow/*.c)
SHADOW_GUEST	:= $(addprefix selftests/module/unit/gtt-shadow/,guest.c chip.c oracle.c) gpu-model/mmu/kind.c
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
# The oracle and the fake guest (selftests/module/unit/gtt-shadow) take much of shadow_fuzz's time, so they
# are built without sanitizers here
$(O)/fuzzobj/selftests/module/unit/gtt-shadow/%.o: FUZZ_SAN := -O3

# --- sched: on a simulated GPU and driver (selftests/module/sim)
SCHED_SRC	:= $(wildcard sched/*.c)
SCHED_TESTS	:= $(addprefix sched/,share_test cap_test wake_test fluid_test turn_test knob_test park_test owed_test capped_test policy_test)
UNIT_TESTS += $(SCHED_TESTS) sched/gap_test
$(foreach t,$(SCHED_TESTS),$(eval SRC_$(t) := $(SCHED_SRC) selftests/module/sim/gpu.c))
# simulations of hours of GPU time
$(addprefix $(O)/asan/,sched/%.o selftests/module/sim/%.o): SAN_CFLAGS += -O2
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
$(addprefix $(O)/asan/,tools/http.o selftests/module/unit/tools/http_test.o): TEST_CPPFLAGS += -D_GNU_SOURCE
# plan.c beside the module's own type.c, which is built for the kernel of selftests/module/harness
UNIT_TESTS += tools/plan_test
SRC_tools/plan_test	:= tools/plan.c
KSRC_tools/plan_test	:= mdev/type.c $(addprefix selftests/module/harness/,kernel/containers.c)
$(O)/asan/selftests/module/unit/tools/plan_test.o: TEST_CPPFLAGS = $(HARNESS_CPPFLAGS) $(HARNESS_CFLAGS)
$(O)/asan/selftests/module/unit/tools/plan_test.o: | harness-headers

$(O)/kvgpu-schedsim: selftests/module/sim/main.c selftests/module/sim/gpu.c $(SCHED_SRC) $(wildcard sched/*.h selftests/module/sim/*.h)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -I. -Iinclude -Iinclude/user $(filter %.c,$^) -o $@
bench-sched: $(O)/kvgpu-schedsim ## simulation of the scheduling policy: shares, latencies, cost (tables, and build/bench/sched.json)
	@mkdir -p build/bench
	@$(O)/kvgpu-schedsim build/bench/sched.json
.PHONY: bench-sched
