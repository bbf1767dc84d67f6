/* SPDX-License-Identifier: MIT */
/* The part of libdrm's interface that cuda/kepler/device/memory.c uses. */
#ifndef KVGPU_TESTS_XF86DRM_H
#define KVGPU_TESTS_XF86DRM_H

int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size);

#endif
