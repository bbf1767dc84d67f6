/* SPDX-License-Identifier: GPL-2.0-only */
/* In the place of remote/ring/shared.h: the test carries out every access. */
#ifndef KVGPU_REMOTE_RING_SHARED_H
#define KVGPU_REMOTE_RING_SHARED_H

#include <string.h>

#include "remote/ring/hooks.h"

#define shared_load_acquire  hook_load
#define shared_load	     hook_load
#define shared_load32	     hook_load32
#define shared_store	     hook_store
#define shared_store32	     hook_store32
#define shared_store_release hook_store_release
#define shared_fence	     hook_fence
#define shared_copy_in	     hook_copy_in
#define shared_copy_out	     hook_copy_out

/* no accesses: they read nothing that this side sees */
static inline void shared_prefetch(const void *p)
{
}

static inline void shared_prefetch_own(const void *p)
{
}

#endif
