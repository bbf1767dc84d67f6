# SPDX-License-Identifier: GPL-2.0-only
# Which test program covers which sources. UNIT_TESTS and FUZZ_TESTS name files under selftests/unit and selftests/fuzz
# without their ending; TSAN_TESTS are run a second time under the thread sanitizer.

# --- core
UNIT_TESTS += gpu-model/core/mmio_test gpu-model/core/config_test
SRC_gpu-model/core/mmio_test	:= gpu-model/core/mmio.c gpu-model/core/note.c
SRC_gpu-model/core/config_test	:= gpu-model/core/config.c gpu-model/core/note.c
