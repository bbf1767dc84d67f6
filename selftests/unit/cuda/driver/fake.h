/* SPDX-License-Identifier: MIT */
/*
 * A device without a GPU: work is queued, and done when somebody asks whether it is, in any order
 * that the moments allow.
 */
#ifndef KVGPU_TESTS_CUDA_FAKE_H
#define KVGPU_TESTS_CUDA_FAKE_H

#include <cuda/device/device.h>

extern const struct device_ops fake_device;
extern struct device_launch fake_last_launch;	/* with .const0 of the following bytes */
extern uint8_t fake_const0[DEVICE_CONST0_MAX];
extern unsigned int fake_launches, fake_open, fake_buffers;
extern uint64_t fake_vram;
/* the n-th launch from now on: what poll() says of it and all that comes after */
extern int fake_fail_after;
extern enum device_status fake_failure;
/* work of a queue is not done before this is cleared */
extern bool fake_hold[NR_QUEUES], fake_one_queue;		/* one_queue: no copies beside */
extern unsigned int fake_asked_beside;
/* PLACE_HOST at one address for CPU and GPU from now on; else at different ones */
extern bool fake_same;
/* whether there are views of PLACE_HOST made from now on */
extern bool fake_views;
/* memory at an address; NULL: not in one buffer */
void *fake_bytes(struct device *d, uint64_t va, uint64_t size);
/* times that work began before what it had to wait for; any is a bug */
extern unsigned int fake_early;

#endif
