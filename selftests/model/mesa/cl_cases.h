/* SPDX-License-Identifier: GPL-2.0-only */
/* The tests of kvgpu-cl-kernels, by what they are about; each list ends with one without a name. */
#ifndef KVGPU_SELFTESTS_CL_CASES_H
#define KVGPU_SELFTESTS_CL_CASES_H

#include "cl_job.h"

extern const struct job_case cases_memory[];
extern const struct job_case cases_queues[];
extern const struct job_case cases_images[];

#endif
