/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_TENANTS_TESTS_H
#define KVGPU_TENANTS_TESTS_H

int run_tests(void);

#endif
