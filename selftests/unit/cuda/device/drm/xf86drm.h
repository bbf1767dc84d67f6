/* SPDX-License-Identifier: MIT */
/*
 * As much of libdrm as cuda/device/memory.c uses, for buffers_test.c, which stands in for that
 * library.
 */
#ifndef KVGPU_TESTS_XF86DRM_H
#define KVGPU_TESTS_XF86DRM_H

int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size);

#endif
