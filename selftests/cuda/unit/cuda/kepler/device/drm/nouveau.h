/* SPDX-License-Identifier: MIT */
/* The part of libdrm_nouveau's interface that cuda/kepler/device/ uses. */
#ifndef KVGPU_TESTS_NOUVEAU_H
#define KVGPU_TESTS_NOUVEAU_H

#include <stdbool.h>
#include <stdint.h>

struct nouveau_drm;
struct nouveau_client;
struct nouveau_object {
	uint32_t oclass;
};

struct nouveau_device {
	struct nouveau_object object;
	uint64_t vram_size;
};

union nouveau_bo_config {
	struct {
		uint32_t memtype;
	} nvc0;
};

struct nouveau_bo {
	uint32_t handle;
	uint64_t offset, size;
	void *map;
};

struct nouveau_pushbuf {
	uint32_t *cur;
};

struct nouveau_pushbuf_refn {
	struct nouveau_bo *bo;
	uint32_t flags;
};

struct nve0_fifo {
	uint32_t engine;
};

enum {
	NOUVEAU_BO_VRAM = 1,
	NOUVEAU_BO_GART = 2,
	NOUVEAU_BO_RD = 0x100,
	NOUVEAU_BO_WR = 0x200,
	NOUVEAU_BO_MAP = 0x80000000,
	NOUVEAU_FIFO_CHANNEL_CLASS = 0x80000001
};

int nouveau_bo_new(struct nouveau_device *dev, uint32_t flags, uint32_t align, uint64_t size,
		   union nouveau_bo_config *config, struct nouveau_bo **out);
void nouveau_bo_ref(struct nouveau_bo *bo, struct nouveau_bo **at);
int nouveau_bo_map(struct nouveau_bo *bo, uint32_t access, struct nouveau_client *client);
int nouveau_pushbuf_new(struct nouveau_client *client, struct nouveau_object *channel, int nr,
			uint32_t size, bool immediate, struct nouveau_pushbuf **out);
void nouveau_pushbuf_del(struct nouveau_pushbuf **at);
int nouveau_pushbuf_space(struct nouveau_pushbuf *p, uint32_t words, uint32_t relocs,
			  uint32_t pushes);
int nouveau_pushbuf_refn(struct nouveau_pushbuf *p, struct nouveau_pushbuf_refn *refs, int nr);
int nouveau_pushbuf_kick(struct nouveau_pushbuf *p, struct nouveau_object *channel);
int nouveau_object_new(struct nouveau_object *parent, uint64_t handle, uint32_t oclass, void *data,
		       uint32_t size, struct nouveau_object **out);
void nouveau_object_del(struct nouveau_object **at);
bool nouveau_check_dead_channel(struct nouveau_drm *drm, struct nouveau_object *channel);

#endif
