/* SPDX-License-Identifier: GPL-2.0-only */
/* "kvgpu-tenants test": prints TAP, returns the exit code. */
#ifndef KVGPU_TENANTS_TESTS_H
#define KVGPU_TENANTS_TESTS_H

int run_tests(void);

#endif
