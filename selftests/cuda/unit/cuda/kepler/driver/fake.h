/* SPDX-License-Identifier: MIT */
/*
 * A device without a GPU. Work is done when a caller asks whether it is done, that of the later
 * queue first where the moments allow it. What is set here stays from one test to the next, but for
 * what the test's set_up() sets.
 */
#ifndef KVGPU_TESTS_CUDA_FAKE_H
#define KVGPU_TESTS_CUDA_FAKE_H

#include <cuda/kepler/device/device.h>

extern const struct device_ops fake_device;
/* .const0 points to fake_const0 */
extern struct device_launch fake_last_launch;
extern uint8_t fake_const0[DEVICE_CONST0_MAX];
extern unsigned int fake_count, fake_gpu;
extern unsigned int fake_launches, fake_open, fake_buffers;
extern uint64_t fake_vram, fake_in_use[2];
/* how many launches succeed before one fails; -1: all do */
extern int fake_fail_after;
extern enum device_status fake_failure;
/* no work of a held queue is done; fake_one_queue: there is no second queue for copies */
extern bool fake_hold[NR_QUEUES], fake_one_queue;
/* There is no more PLACE_HOST memory. */
extern bool fake_host_full;
extern unsigned int fake_asked_beside;
/* From now on PLACE_HOST memory has one address for CPU and GPU, or two. */
extern bool fake_same;
/* Whether PLACE_HOST memory from now on can have views. */
extern bool fake_views;
/* NULL: not all of the bytes are in one buffer. */
void *fake_bytes(struct device *d, uint64_t va, uint64_t size);
/*
 * How often work began before what it has to wait for. It is never reset: after one such failure
 * all later tests' tear_down() fails, too.
 */
extern unsigned int fake_early;

#endif
