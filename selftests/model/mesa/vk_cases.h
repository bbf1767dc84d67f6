/* SPDX-License-Identifier: GPL-2.0-only */
/* The tests of kvgpu-vk-compute, by what they are about; each list ends with one without a name. */
#ifndef KVGPU_SELFTESTS_VK_CASES_H
#define KVGPU_SELFTESTS_VK_CASES_H

#include "vk_job.h"

extern const struct vk_case vk_cases_commands[];
extern const struct vk_case vk_cases_images[];

#endif
