// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel without debugfs: mdev/debugfs.c and mdev/machine/show.c, which decide nothing, are not
 * built here.
 */
#include "mdev/internal.h"

void kvgpu_debugfs_init(void) { }
void kvgpu_debugfs_exit(void) { }
void kvgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu) { }
void kvgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu) { }
void kvgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v) { }
void kvgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v) { }
