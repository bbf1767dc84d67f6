/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card as stock libdrm_nouveau offers it: sessions (struct gpu), channels with a pushbuffer
 * each, buffers with fixed GPU addresses. A call that must not fail ends the program with a TAP
 * "Bail out!".
 */
#ifndef KVGPU_SELFTESTS_GPU_H
#define KVGPU_SELFTESTS_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <nouveau.h>

struct gpu {
	int fd;
	struct nouveau_drm *drm;
	struct nouveau_device *dev;
	struct nouveau_client *client;
	const volatile uint32_t *bar0; /* NULL unless root: only to look at the channel table */
	struct nouveau_object *parked[16]; /* channels that are closed, see chan_close() */
	unsigned int nr_parked;
};

/* values of the channel allocation's engine selector (uapi nouveau_drm.h NOUVEAU_FIFO_ENGINE_*) */
enum gpu_engine { ENGINE_GR = 0x01, ENGINE_CE = 0x30 };

struct gpu_chan {
	struct gpu *g;
	enum gpu_engine engine;
	struct nouveau_object *obj, *copy;
	struct nouveau_pushbuf *push;
	struct nouveau_bo *done; /* one word: number of the last finished job */
	uint32_t seq; /* number of the last submitted job */
	int chid;
};

void bail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
uint64_t now_us(void);
/* the running kernel is older than this version */
bool kernel_before(unsigned int major, unsigned int minor);

/* @node: render node, or NULL for the first one that nouveau drives */
void gpu_open(struct gpu *g, const char *node);
void gpu_close(struct gpu *g);
uint64_t gpu_param(struct gpu *g, uint64_t param, uint64_t otherwise);

/* @domain: NOUVEAU_BO_VRAM or NOUVEAU_BO_GART. Mapped for the CPU at bo->map. */
struct nouveau_bo *bo_new(struct gpu *g, uint32_t domain, uint64_t size);
struct nouveau_bo *bo_new_kind(struct gpu *g, uint64_t size, uint8_t kind, uint32_t tile_mode);
void bo_free(struct nouveau_bo **bo);
/* asks without sleeping: 0 when no work uses the buffer any more, -EBUSY, or another error */
int bo_idle(struct nouveau_bo *bo);

/* 0 or -errno; the channel has a copy object, which is on no subchannel yet */
int chan_open(struct gpu *g, enum gpu_engine engine, struct gpu_chan *c);
void chan_close(struct gpu_chan *c);
/* and runs a first job, which puts the copy object on the copy subchannel */
void chan_must_open(struct gpu *g, enum gpu_engine engine, struct gpu_chan *c);
struct nouveau_object *chan_object(struct gpu_chan *c, uint32_t class);
/* from the chip's channel table; -1 / 0 when it can't be read */
int chan_runlist(struct gpu_chan *c);
uint64_t chan_instance(struct gpu_chan *c);
bool chan_dead(struct gpu_chan *c);

/* one job: begin, use each buffer, emit methods, then kick. NOUVEAU_BO_RD or _WR in @access. */
void job_begin(struct gpu_chan *c, unsigned int words);
void job_use(struct gpu_chan *c, struct nouveau_bo *bo, uint32_t access);
void emit_words(struct gpu_chan *c, uint32_t subc, uint32_t mthd, const uint32_t *words,
		unsigned int count);
#define emit(c, subc, mthd, ...)                                                       \
	do {                                                                           \
		const uint32_t words_[] = { __VA_ARGS__ };                             \
		emit_words(c, subc, mthd, words_, sizeof(words_) / sizeof(words_[0])); \
	} while (0)
void emit_semaphore(struct gpu_chan *c, uint64_t va, uint32_t payload, uint32_t operation);
/* appends the release of the job's number and submits; 0 or -errno */
int job_kick(struct gpu_chan *c);
/* polls, so that no interrupt is needed (sleep.c). 0, -ETIMEDOUT, or -ENODEV: a killed channel */
int job_wait(struct gpu_chan *c, unsigned int timeout_ms);
int job_run(struct gpu_chan *c);

enum { JOB_TIMEOUT_MS = 60000 };

#endif
