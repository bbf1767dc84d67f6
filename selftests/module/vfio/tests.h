/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tests of kvgpu-vfio. @d was just opened, by main.c, which closes it after the test. A test
 * that closes it opens it again.
 */
#ifndef KVGPU_VFIO_TESTS_H
#define KVGPU_VFIO_TESTS_H

#include "device.h"

struct options {
	unsigned int seconds, seed; /* for the storm */
	/* UUID of another vGPU of the same card that may be opened; NULL: none. */
	const char *second;
	/*
	 * The physical card's folder /sys/bus/pci/devices/..., to look at its registers and
	 * counters and to make a vGPU of it; NULL: none of that is done.
	 */
	const char *card;
};

void test_info(struct device *d, const struct options *o);
void test_config(struct device *d, const struct options *o);
void test_registers(struct device *d, const struct options *o);
void test_rom(struct device *d, const struct options *o);
void test_plain(struct device *d, const struct options *o);
void test_mmu(struct device *d, const struct options *o);
void test_flushes(struct device *d, const struct options *o);
void test_windows(struct device *d, const struct options *o);
void test_maps(struct device *d, const struct options *o);
void test_irqs(struct device *d, const struct options *o);
void test_copies(struct device *d, const struct options *o);
void test_unmap(struct device *d, const struct options *o);
void test_reuse(struct device *d, const struct options *o);
void test_foreign(struct device *d, const struct options *o);
void test_contexts(struct device *d, const struct options *o);
void test_reenable(struct device *d, const struct options *o);
void test_relist(struct device *d, const struct options *o);
void test_outlive(struct device *d, const struct options *o);
void test_nonstall(struct device *d, const struct options *o);
void test_retries(struct device *d, const struct options *o);
void test_failnth(struct device *d, const struct options *o);
void test_storm(struct device *d, const struct options *o);
/* Not a test: keep the device open until the kernel asks for it. */
void hold(struct device *d);

#endif
