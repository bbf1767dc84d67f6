/* SPDX-License-Identifier: MIT */
/* The part of the kernel's interface that cuda/kepler/device/memory.c uses, for buffers_test.c. */
#ifndef KVGPU_TESTS_NOUVEAU_DRM_H
#define KVGPU_TESTS_NOUVEAU_DRM_H

#include <stdint.h>

#define DRM_NOUVEAU_GEM_INFO 0x44

struct drm_nouveau_gem_info {
	uint32_t handle, domain;
	uint64_t size, offset, map_handle;
	uint32_t tile_mode, tile_flags;
};

#endif
