# SPDX-License-Identifier: GPL-2.0-only
# Unit tests and fuzz targets of cuda/

# --- cuda
IMAGE_SRC	:= $(wildcard cuda/kepler/image/*.c cuda/kepler/syscalls/*.c) cuda/api/fatbin.c cuda/api/lz4.c
API_SRC		:= $(wildcard cuda/api/*.c)
EXPORT_SRC	:= $(wildcard cuda/api/export/*.c)
UNIT_TESTS += cuda/kepler/image/image_test cuda/api/lz4_test cuda/kepler/device/qmd_test cuda/kepler/device/texture_test cuda/kepler/device/cause_test cuda/kepler/device/board_test cuda/kepler/driver/driver_test cuda/kepler/driver/resource_test cuda/kepler/driver/hostfunc_test cuda/kepler/driver/contexts_test cuda/kepler/driver/devices_test cuda/kepler/driver/forked_test cuda/kepler/driver/graph_test cuda/kepler/driver/library_test cuda/kepler/driver/checkpoint_test
TSAN_TESTS += cuda/kepler/driver/driver_test cuda/kepler/driver/resource_test cuda/kepler/driver/hostfunc_test cuda/kepler/driver/contexts_test cuda/kepler/driver/devices_test cuda/kepler/driver/graph_test cuda/kepler/driver/library_test cuda/kepler/driver/checkpoint_test
# subtests of selftests/cuda/driver, with the shader machine of gpu-model as the GPU
UNIT_TESTS += cuda/kepler/model_test
SRC_cuda/kepler/model_test	:= $(filter-out %/backend.c,$(wildcard cuda/kepler/driver/*.c)) $(API_SRC) $(EXPORT_SRC) $(IMAGE_SRC) cuda/kepler/device/qmd.c cuda/kepler/device/texture.c $(SM_RIG_SRC) \
			   $(addprefix selftests/cuda/driver/,context.c memory.c calls.c array.c launch.c stream.c graph.c syscall.c) selftests/system/client/tap.c
$(addprefix $(O)/asan/selftests/cuda/,unit/cuda/%.o driver/%.o): TEST_CPPFLAGS += -Iselftests/system/client -Iselftests
SRC_cuda/kepler/device/qmd_test	:= cuda/kepler/device/qmd.c gpu-model/gr/qmd.c
SRC_cuda/kepler/device/texture_test	:= cuda/kepler/device/texture.c
SRC_cuda/kepler/device/cause_test	:= cuda/kepler/device/cause.c
SRC_cuda/kepler/device/board_test	:= cuda/kepler/device/board.c
# buffers_test: its own functions and header replace libdrm_nouveau; log_test has the header only
UNIT_TESTS += cuda/kepler/device/buffers_test cuda/kepler/device/log_test
TSAN_TESTS += cuda/kepler/device/log_test
SRC_cuda/kepler/device/log_test	:= cuda/kepler/device/log.c cuda/kepler/device/cause.c
SRC_cuda/kepler/device/buffers_test	:= $(addprefix cuda/kepler/device/,memory.c places.c queue.c launch.c copy.c qmd.c)
$(addprefix $(O)/asan/,$(addprefix cuda/kepler/device/,memory.o queue.o launch.o copy.o) selftests/cuda/unit/cuda/kepler/device/buffers_test.o): \
	TEST_CPPFLAGS += -Iselftests/cuda/unit/cuda/kepler/device/drm
$(foreach d,asan tsan,$(O)/$(d)/cuda/kepler/device/log.o $(O)/$(d)/selftests/cuda/unit/cuda/kepler/device/log_test.o): \
	TEST_CPPFLAGS += -Iselftests/cuda/unit/cuda/kepler/device/drm
SRC_cuda/kepler/driver/driver_test	:= $(filter-out %/backend.c,$(wildcard cuda/kepler/driver/*.c)) $(API_SRC) $(EXPORT_SRC) cuda/kepler/device/texture.c $(IMAGE_SRC) selftests/cuda/unit/cuda/kepler/driver/fake.c
SRC_cuda/kepler/driver/resource_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/hostfunc_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/contexts_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/devices_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/forked_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/checkpoint_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/graph_test	:= $(SRC_cuda/kepler/driver/driver_test)
SRC_cuda/kepler/driver/library_test	:= $(SRC_cuda/kepler/driver/driver_test)
# this test makes allocations fail
LIBS_cuda/kepler/driver/graph_test	:= $(addprefix -Xlinker --wrap=,malloc calloc realloc)
UNIT_TESTS += cuda/kepler/driver/pages_test cuda/api/procaddress_test
SRC_cuda/api/procaddress_test	:= cuda/api/procaddress.c selftests/cuda/unit/cuda/api/procaddress_names.c
SRC_cuda/kepler/driver/pages_test	:= $(addprefix cuda/kepler/driver/,pages.c maps.c)
LIBS_cuda/kepler/driver/pages_test	:= -Xlinker --wrap=fopen
SRC_cuda/kepler/image/image_test	:= $(IMAGE_SRC)
SRC_cuda/api/lz4_test	:= cuda/api/lz4.c
FUZZ_TESTS += cuda/kepler/image/image_fuzz
FUZZSRC_cuda/kepler/image/image_fuzz	:= $(IMAGE_SRC)

# --- cuda/api/export
UNIT_TESTS += $(addprefix cuda/api/export/,code_cache_test tables_test without_check_test)
TSAN_TESTS += cuda/api/export/tables_test
SRC_cuda/api/export/code_cache_test	:= cuda/api/export/code_cache.c
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
$(foreach t,$(CUDART_TESTS),$(eval SRC_$(t) := $(SRC_cuda/kepler/driver/driver_test) $(wildcard cuda/kepler/runtime/*.c) selftests/cuda/unit/cuda/kepler/runtime/program.c))
# program.c wraps calls of cuda/kepler/driver
$(foreach t,$(CUDART_TESTS),$(eval LIBS_$(t) := $(LIBS_$(t)) $(addprefix -Xlinker --wrap=,cuModuleLoadDataEx cuDevicePrimaryCtxSetFlags_v2 cuDriverGetVersion)))

# liblz4 packs what cuda/api unpacks
$(foreach t,kepler/image/image api/lz4,$(eval LIBS_cuda/$(t)_test := -llz4))
