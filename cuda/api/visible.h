/* SPDX-License-Identifier: MIT */
/* CUDA_VISIBLE_DEVICES: which GPUs a process sees. */
#ifndef KVGPU_CUDA_API_VISIBLE_H
#define KVGPU_CUDA_API_VISIBLE_H

#include "api.h"

/*
 * Store in @out which of @n GPUs @list names, in its order, and return how many; all of them if it
 * is NULL. @uuid: of each GPU; not read if @list is NULL.
 */
unsigned int visible_devices(const char *list, const CUuuid *uuid, unsigned int n,
			     unsigned int *out);

#endif
