// SPDX-License-Identifier: GPL-2.0-only
/* A kernel without debugfs. mdev/debugfs.c and mdev/machine/show.c are not built here. */
#include "mdev/internal.h"

void vgpu_debugfs_init(void)
{
}
void vgpu_debugfs_exit(void)
{
}
void vgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu)
{
}
void vgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu)
{
}
void vgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v)
{
}
void vgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v)
{
}
