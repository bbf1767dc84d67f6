/* SPDX-License-Identifier: MIT */
/*
 * CUDA_RESOURCE_DESC as it crosses: all of it but the handle of an array or mipmap, which each side
 * knows by another value.
 */
#ifndef KVGPU_REMOTE_RESOURCE_H
#define KVGPU_REMOTE_RESOURCE_H

#include <stdbool.h>

#include <cuda/api/types.h>
#include <remote/wire/frame.h>

/*
 * Both write all of the target, but for an array or mipmap: the caller fills in `what`, or the
 * handle. False: there is no such kind of resource.
 */
bool kvgpu_remote_resource_put(const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);
bool kvgpu_remote_resource_get(const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);

#endif
