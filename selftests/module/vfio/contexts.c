// SPDX-License-Identifier: GPL-2.0-only
/*
 * FECS obeys the patch list of any context image that it loads: kvgpu-attack's no-context and
 * patch-list show that. So FECS must not load an image of the guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include <gk110/fifo.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "bare/context.h"
#include "check.h"
#include "methods.h"
#include "tap.h"
#include "tests.h"

enum {
	PAGE = 4096,
	RUN_MS = 60000,
	REFUSED_MS = 1500,
	IMAGE_VA = 0x400000,
	OTHER_VA = 0x600000,
	DEFAULT_SIZE = 0x10000
};
/* The channel with this id has its ring and pushbuffer above an image at address 0. */
enum { HIGH_ID = 15 };

/* The register of the physical card that no image may change. */
#define GOAL PFIFO_ENG_TIMESLICE(6)
#define EVIL 0x10005042u

struct card {
	volatile uint32_t *bar0;
	uint32_t before;
};

static bool card_open(struct card *c, const char *folder)
{
	char path[512];
	int fd;

	memset(c, 0, sizeof(*c));
	if (!folder)
		return true;
	snprintf(path, sizeof(path), "%s/resource0", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	c->bar0 = mmap(NULL, BAR0_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (c->bar0 == MAP_FAILED)
		return false;
	c->before = c->bar0[GOAL / 4];
	return c->before != EVIL;
}

static bool card_untouched(const struct card *c)
{
	return !c->bar0 || c->bar0[GOAL / 4] == c->before;
}

static void open_channel(struct bare_gpu *g, struct bare_space *s, struct bare_chan *c,
			 unsigned int id, uint64_t ctx)
{
	struct bare_chan_config cfg = { .id = id, .gr_ctx = ctx };
	uint32_t entry = id;

	bare_chan_create(g, s, &cfg, c);
	bare_runlist(g, 0, &entry, 1);
}

static void close_channel(struct bare_chan *c)
{
	bare_runlist(c->g, c->runlist, NULL, 0);
	bare_chan_destroy(c);
}

static bool run_graphics(struct bare_chan *c, unsigned int ms)
{
	bare_emit(c, SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
	bare_emit(c, SUBC_INLINE, GR_WAIT_FOR_IDLE, 0);
	return bare_run(c, ms);
}

static uint32_t image_size(struct bare_gpu *g)
{
	uint32_t size = bare_image_size(g);

	return size ? size : DEFAULT_SIZE;
}

/* Return true when the graphics engine serves a guest that behaves. */
static bool serves(struct bare_gpu *g, unsigned int id)
{
	struct bare_space s;
	struct bare_image img;
	struct bare_chan c;
	bool ran;

	bare_space_create(g, &s);
	bare_image_create(g, &s, IMAGE_VA, image_size(g), &img);
	open_channel(g, &s, &c, id, IMAGE_VA);
	ran = run_graphics(&c, RUN_MS);
	close_channel(&c);
	return ran;
}

static void no_context(struct bare_gpu *g, const struct card *card)
{
	struct bare_space s;
	struct bare_image img;
	struct bare_chan c;

	bare_space_create(g, &s);
	bare_image_create(g, &s, 0, image_size(g), &img);
	bare_image_patch(g, &img, GOAL, EVIL);
	open_channel(g, &s, &c, HIGH_ID, 0);
	/* in a group it is on GR's runlist, whether or not the card has one for copies alone */
	bare_runlist(g, 0, (uint32_t[]){ bare_tsg_entry(1, 1), HIGH_ID }, 2);
	CHECK(!run_graphics(&c, REFUSED_MS));
	CHECK(card_untouched(card));
	CHECK(bare_poll(g, PFIFO_INTR, PFIFO_INTR_MMU_FAULT, PFIFO_INTR_MMU_FAULT, RUN_MS));
	close_channel(&c);
	bare_write(g, PFIFO_INTR, ~0u);
	CHECK(serves(g, 1));
}

/*
 * The channel names the image. The host reads the image's list, and leaves out what is not
 * harmless.
 */
static void named_context(struct device *d, struct bare_gpu *g, const struct card *card)
{
	uint64_t faults = counter(d, "faults");
	struct bare_space s;
	struct bare_image img, other;
	struct bare_chan c;
	uint32_t off;

	bare_space_create(g, &s);
	bare_image_create(g, &s, IMAGE_VA, image_size(g), &img);
	bare_image_patch(g, &img, GOAL, EVIL);
	open_channel(g, &s, &c, 2, IMAGE_VA);
	CHECK(run_graphics(&c, RUN_MS) && card_untouched(card));
	CHECK(counter(d, "faults") > faults);

	/* the image is changed after the host has read it */
	bare_image_patch(g, &img, GOAL, EVIL);
	CHECK(run_graphics(&c, RUN_MS) && card_untouched(card));

	/* other memory is mapped at the image's address */
	bare_image_create(g, &s, OTHER_VA, img.size, &other);
	other.va = IMAGE_VA;
	bare_image_patch(g, &other, GOAL, EVIL);
	for (off = 0; off <= img.size; off += PAGE)
		bare_space_map(g, &s, IMAGE_VA + off, BARE_VRAM, other.vram + off);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	CHECK(run_graphics(&c, RUN_MS) && card_untouched(card));

	/* the instance block gets another address while the channel is bound */
	other.va = OTHER_VA;
	bare_image_patch(g, &other, GOAL, EVIL);
	bare_mem_write32(g, BARE_VRAM, c.inst + RAMIN_GR_CTX, OTHER_VA | RAMIN_CTX_VIRTUAL);
	bare_flush(g);
	bare_write(g, PCCSR_CHAN(c.id), PCCSR_CHAN_ENABLE_CLR);
	bare_preempt(g, false, c.id);
	bare_write(g, PCCSR_CHAN(c.id), PCCSR_CHAN_ENABLE_SET);
	CHECK(run_graphics(&c, RUN_MS) && card_untouched(card));
	close_channel(&c);
}

/* Context pointers that are refused: the channel has no context, or is not bound at all. */
static void odd_contexts(struct bare_gpu *g, const struct card *card)
{
	static const uint64_t at[] = { 0xfffff00000ull, 0xfffffff000ull, 0xff000000 };
	struct bare_space s;
	struct bare_image img;
	struct bare_chan c;
	unsigned int i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		bare_space_create(g, &s);
		bare_image_create(g, &s, 0, image_size(g), &img);
		bare_image_patch(g, &img, GOAL, EVIL);
		open_channel(g, &s, &c, HIGH_ID, at[i]);
		CHECK(!run_graphics(&c, REFUSED_MS) && card_untouched(card));
		close_channel(&c);
		bare_write(g, PFIFO_INTR, ~0u);
	}
	CHECK(serves(g, 3));
}

void test_contexts(struct device *d, const struct options *o)
{
	struct bare_gpu g;
	struct card card;

	checks_begin();
	CHECK(card_open(&card, o->card));
	if (!o->card)
		tap_diag("without --card the physical card's register is not looked at");
	gpu_attach(d, &g);
	CHECK(serves(&g, 4));
	no_context(&g, &card);
	named_context(d, &g, &card);
	odd_contexts(&g, &card);
	gpu_detach(d, &g);
	CHECK(counter(d, "pinned_pages") == 0);
	checks_end(
		"no context image of the guest's is loaded: without a context, named, changed, swapped, moved, beyond the end");
}
