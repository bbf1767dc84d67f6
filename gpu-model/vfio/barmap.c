// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapped windows: pages of BAR1, BAR3 and PRAMIN that show memory inside QEMU, so that the guest's
 * loads and stores reach memory without a message. A page is filled when it is touched (a fault
 * that the helper reports) and checked again when the GPU's translation changes (win_invalidate).
 *
 * Why no stale page survives an invalidate
 *   A record here says what each page of a window shows. Only calls to the helper change what a
 *   page shows, and the helper serves calls one after the other. A call is made, answered and
 *   recorded with barmap.lock held. A fault is translated without the lock, since recording a GPU
 *   fault may take time. Its answer is installed only if the window's generation is the one from
 *   before the translation. An invalidate first raises the generation, with the lock held, and then
 *   asks anew for every recorded page, or empties it. So for any fault and any invalidate:
 *     installed before the invalidate - the answer is recorded, and the invalidate checks it;
 *     installed after, but translated before the generation rose - the answer is refused, and the
 *     fault translated again;
 *     installed after, and translated after - the answer comes from the new state, which the unit
 *     set before it asked for the invalidate.
 *   When win_invalidate() returns, the helper has acknowledged, and the kernel has replaced the
 *   mappings: any later access by a vCPU misses the old ones. (Or the helper is lost, which ends
 *   the client's connection: barmap_link.c.) The thread that invalidates holds gk110.lock and
 *   barmap.lock while it waits for the helper's answers, BARMAP_ACK_TIMEOUT_MS at most for each.
 *   The helper needs neither lock.
 *
 * Transient pages are emptied again after a moment (TRANSIENT_NS or USERD_NS, longer for a page
 * that is touched again and again):
 *   - a page that can't be translated or mapped, or whose BAR is off, which reads as ones: the
 *     access that faulted has to complete somehow. A translation's fault is recorded once for each
 *     time that the page is shown, not for each access, and writes to the page are lost;
 *   - a page whose tables forbid writing, after a write: a private copy takes the write, so it
 *     never reaches memory, but the CPU sees it until the page is emptied;
 *   - a page whose tables forbid reading, after a write: it can be read for that moment;
 *   - a page that holds USERD outside of the part of BAR1 that is never mapped. After it is
 *     emptied, every doorbell that was rung in it is in memory, and fifo/ is told to look. A later
 *     write faults again, so no doorbell is lost.
 *
 * A page that shows read-only memory for reading is mapped privately as well (QEMU would die of a
 * store into a read-only mapping). A store into it makes a copy that CPUs alone see, and records no
 * fault. They see the copy, and nothing that memory gets later, until an invalidate finds another
 * translation, or all pages are taken back.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "barmap.h"

#define RUN_PAGES    512u /* pages mapped at one fault */
#define TRANSIENT_NS 2000000ull /* life of a transient page */
#define USERD_NS     200000ull
#define LIFE_GROWS   8u
#define RECENT_NS    50000000ull

uint64_t barmap_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* ------------------------------------------------------------------ the record; lock held */

static void show_set(struct barmap_window *win, uint32_t page, uint32_t nr, uint64_t first)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		win->show[page + i] = first ? first + (first & SHOW_POISON ? 0 : i) : 0;
	if (!first)
		return;
	if (page < win->lo)
		win->lo = page;
	if (page + nr > win->hi)
		win->hi = page + nr;
}

void barmap_forget(struct barmap *b)
{
	unsigned int w;

	for (w = 0; w < NR_WIN; w++) {
		struct barmap_window *win = &b->win[w];

		win->generation++;
		if (win->hi > win->lo)
			memset(win->show + win->lo, 0, (win->hi - win->lo) * sizeof(*win->show));
		win->lo = win->nr_pages;
		win->hi = 0;
	}
	b->cuts = 0;
	b->nr_ops = 0;
}

/*
 * Length of the run at @page: pages that show successive pages of one file in one way. A page that
 * is poisoned or transient is a run of its own.
 */
static uint32_t run_length(const struct barmap_window *win, uint32_t page)
{
	uint64_t first = win->show[page];
	uint32_t n = 1;

	if (first & (SHOW_POISON | SHOW_TRANSIENT))
		return 1;
	while (page + n < win->hi && win->show[page + n] == first + n)
		n++;
	return n;
}

/* ------------------------------------------------------------ changing what is shown; lock held */

static bool usable(const struct barmap *b)
{
	return b->helper == HELPER_READY && !b->broken;
}

int barmap_zap_all(struct barmap *b)
{
	struct barmap_op op[NR_WIN];
	unsigned int w;
	int ret;

	barmap_forget(b);
	for (w = 0; w < NR_WIN; w++)
		op[w] = (struct barmap_op){ .code = BARMAP_ZAP,
					    .win = w,
					    .nr_pages = b->win[w].nr_pages };
	ret = barmap_call(b, BARMAP_BATCH, NR_WIN, op, sizeof(op), -1);
	if (ret < 0 && !b->broken) {
		gk110_note(b->g,
			   "mapped BARs: pages can't be taken back (%s): giving the helper up",
			   strerror(-ret));
		barmap_break(b);
	}
	return ret;
}

/* Send the gathered operations; on failure take all pages back. */
static int ops_flush(struct barmap *b)
{
	unsigned int n = b->nr_ops;
	int ret;

	if (!n || !usable(b))
		return 0;
	b->nr_ops = 0;
	b->cuts += n;
	ret = barmap_call(b, BARMAP_BATCH, n, b->op, n * sizeof(b->op[0]), -1);
	if (ret < 0 && ret != -EPIPE) {
		gk110_note(
			b->g,
			"mapped BARs: %s in QEMU (is vm.max_map_count at least %u?): all pages taken back",
			strerror(-ret), BARMAP_GOOD_MAP_COUNT);
		barmap_zap_all(b);
	} else if (b->cuts > b->max_cuts) {
		barmap_zap_all(b);
	}
	return ret;
}

/*
 * Gather an operation. The gathered ones may be sent first, which may take all pages back and
 * empties the record then: record what @op shows after this call.
 */
static void op_add(struct barmap *b, const struct barmap_op *op)
{
	struct barmap_op *last = b->nr_ops ? &b->op[b->nr_ops - 1] : NULL;

	if (last && op->code == BARMAP_ZAP && last->code == BARMAP_ZAP && last->win == op->win &&
	    last->page + last->nr_pages == op->page) {
		last->nr_pages += op->nr_pages;
		return;
	}
	if (b->nr_ops == BARMAP_MAX_OPS)
		ops_flush(b);
	b->op[b->nr_ops++] = *op;
}

static void op_show(struct barmap *b, enum bar_window w, uint32_t page, uint32_t nr, uint64_t show)
{
	struct barmap_op op = { .code = BARMAP_MAP, .win = w, .page = page, .nr_pages = nr };

	if (show & SHOW_POISON) {
		op.code = BARMAP_POISON;
	} else {
		op.file = (show & SHOW_FILE) >> SHOW_FILE_SHIFT;
		op.file_page = show & SHOW_PAGE;
		op.flags = show & SHOW_PRIVATE ? BARMAP_F_PRIVATE : 0;
	}
	op_add(b, &op);
	show_set(&b->win[w], page, nr, show);
}

static void op_zap(struct barmap *b, enum bar_window w, uint32_t page, uint32_t nr)
{
	struct barmap_op op = { .code = BARMAP_ZAP, .win = w, .page = page, .nr_pages = nr };

	op_add(b, &op);
	show_set(&b->win[w], page, nr, 0);
}

/* ------------------------------------------------------------------ translating */

static bool segment_show(struct barmap *b, const struct mmu_seg *seg, uint32_t *nr, uint64_t *show)
{
	uint64_t len = seg->len, offset = seg->phys;
	bool writable = !seg->read_only;
	int slot, file = SHOW_VRAM;

	if (seg->target != MEM_VRAM) {
		if (!dma_locate(b->server, seg->phys, &slot, &offset, &len, &writable))
			return false;
		file = slot + 1;
		writable &= !seg->read_only;
	}
	if (offset % VU_PAGE || len < VU_PAGE)
		return false;
	if (*nr > len / VU_PAGE)
		*nr = len / VU_PAGE;
	*show = SHOW_MAPPED | (writable ? 0 : SHOW_PRIVATE) | (uint64_t)file << SHOW_FILE_SHIFT |
		offset / VU_PAGE;
	return true;
}

/* Locks: as bar_translate() allows for @flags. */
static int translate(struct barmap *b, enum bar_window w, uint32_t page, enum mmu_access acc,
		     unsigned int flags, uint32_t *nr, uint64_t *show)
{
	struct mmu_seg seg;
	int ret;

	pthread_rwlock_rdlock(&b->g->dma_lock);
	ret = bar_translate(b->g, w, (uint64_t)page * VU_PAGE, (size_t)*nr * VU_PAGE, acc, flags,
			    &seg);
	if (!ret && !segment_show(b, &seg, nr, show))
		ret = -EFAULT;
	pthread_rwlock_unlock(&b->g->dma_lock);
	return ret;
}

static void userd_pages(struct barmap *b, uint32_t *lo, uint32_t *hi)
{
	uint64_t off = 0, size = 0;

	fifo_userd_window(b->g, &off, &size);
	*lo = off / VU_PAGE;
	*hi = size ? (off + size + VU_PAGE - 1) / VU_PAGE : *lo;
}

/* ------------------------------------------------------------------ invalidating; lock held */

/*
 * Translate pages of a run of @n again, from the first on, and show what they translate to now.
 * Return for how many that is done.
 */
static uint32_t recheck_run(struct barmap *b, enum bar_window w, uint32_t page, uint32_t n)
{
	uint64_t old = b->win[w].show[page], now;
	uint32_t nr = n;

	if (translate(b, w, page, ACC_READ, MMU_PEEK, &nr, &now)) {
		op_zap(b, w, page, 1);
		return 1;
	}
	if (now != old)
		op_show(b, w, page, nr, now);
	return nr;
}

static bool shows_sysmem(uint64_t show)
{
	return show & SHOW_POISON || (show & SHOW_FILE) >> SHOW_FILE_SHIFT != SHOW_VRAM;
}

static void recheck_window(struct barmap *b, enum bar_window w, bool sysmem_only)
{
	struct barmap_window *win = &b->win[w];
	uint32_t page, n, userd_lo = 0, userd_hi = 0;

	win->generation++;
	if (w == WIN_BAR1)
		userd_pages(b, &userd_lo, &userd_hi);
	for (page = win->lo; page < win->hi; page += n) {
		uint64_t show = win->show[page];

		n = 1;
		if (!show || (sysmem_only && !shows_sysmem(show)))
			continue;
		n = run_length(win, page);
		if (show & SHOW_TRANSIENT || (page >= userd_lo && page < userd_hi)) {
			n = 1;
			op_zap(b, w, page, 1);
			continue;
		}
		if (page < userd_lo && page + n > userd_lo)
			n = userd_lo - page;
		n = recheck_run(b, w, page, n);
	}
	ops_flush(b);
}

void barmap_invalidate(void *bus, enum bar_window win)
{
	struct barmap *b = ((struct vfio_server *)bus)->barmap;

	if (!b || !b->g)
		return;
	pthread_mutex_lock(&b->lock);
	if (usable(b))
		recheck_window(b, win, false);
	else
		b->win[win].generation++;
	pthread_mutex_unlock(&b->lock);
}

void barmap_recheck_sysmem(struct barmap *b)
{
	enum bar_window w;

	pthread_mutex_lock(&b->lock);
	for (w = 0; w < NR_WIN; w++) {
		if (usable(b))
			recheck_window(b, w, true);
		else
			b->win[w].generation++;
	}
	pthread_mutex_unlock(&b->lock);
}

void barmap_reset(struct barmap *b)
{
	pthread_mutex_lock(&b->lock);
	if (usable(b) && b->enabled)
		barmap_zap_all(b);
	else
		barmap_forget(b);
	pthread_mutex_unlock(&b->lock);
}

/* ------------------------------------------------------------------ faults; lock not held */

/*
 * On a busy machine a woken vCPU may not run before its page is gone again, so a page that faults
 * again soon lives longer.
 */
static uint64_t transient_life(const struct barmap *b, enum bar_window w, uint32_t page, bool userd,
			       uint64_t now)
{
	uint64_t life = userd ? USERD_NS : TRANSIENT_NS, longer = life;
	unsigned int i;

	for (i = 0; i < BARMAP_NR_RECENT; i++) {
		const struct barmap_transient *t = &b->recent[i];

		if (t->life && t->win == w && t->page == page && now - t->deadline < RECENT_NS &&
		    2 * t->life > longer)
			longer = 2 * t->life;
	}
	return longer < LIFE_GROWS * life ? longer : LIFE_GROWS * life;
}

static void transient_add(struct barmap *b, enum bar_window w, uint32_t page, bool userd)
{
	uint64_t now = barmap_now(), life = transient_life(b, w, page, userd, now);
	struct barmap_transient *t;
	unsigned int i;

	for (i = 0; i < b->nr_transient; i++)
		if (b->transient[i].win == w && b->transient[i].page == page)
			/* its deadline stays: touching a page must not keep it for ever */
			return;
	t = &b->transient[b->nr_transient++];
	*t = (struct barmap_transient){
		.win = w, .page = page, .userd = userd, .life = life, .deadline = now + life
	};
}

static uint64_t fault_answer(struct barmap *b, enum bar_window w, uint32_t page, bool write,
			     uint32_t *nr)
{
	enum mmu_access acc = write ? ACC_WRITE : ACC_READ;
	uint64_t show, ignore;
	uint32_t one = 1;

	if (!translate(b, w, page, acc, 0, nr, &show)) {
		/* write-only pages can't be mapped: show it for a moment only */
		if (write && translate(b, w, page, ACC_READ, MMU_PEEK, &one, &ignore))
			show |= SHOW_TRANSIENT;
		return show;
	}
	stat_inc(b->g, bar_faults[w]);
	*nr = 1;
	if (write && !translate(b, w, page, ACC_READ, MMU_PEEK, nr, &show))
		return show | SHOW_PRIVATE | SHOW_TRANSIENT;
	return SHOW_MAPPED | SHOW_POISON | SHOW_TRANSIENT;
}

/* Lock held. */
static uint32_t fault_room(struct barmap *b, enum bar_window w, uint32_t page, uint32_t userd_lo)
{
	const struct barmap_window *win = &b->win[w];
	uint32_t n = 1, max = RUN_PAGES - page % RUN_PAGES;

	if (max > win->nr_pages - page)
		max = win->nr_pages - page;
	if (w == WIN_BAR1 && page < userd_lo && max > userd_lo - page)
		max = userd_lo - page;
	while (n < max && !win->show[page + n])
		n++;
	return n;
}

static void wake(struct barmap *b, enum bar_window w, uint32_t page)
{
	struct barmap_op op = { .code = BARMAP_WAKE, .win = w, .page = page, .nr_pages = 1 };

	op_add(b, &op);
	ops_flush(b);
}

/* Install an answer. False: it is out of date, or has no room in .transient. Lock held. */
static bool fault_install(struct barmap *b, enum bar_window w, uint32_t page, uint32_t nr,
			  uint64_t show, bool userd, uint64_t generation)
{
	uint32_t room;

	if (!usable(b))
		return true;
	if (b->win[w].generation != generation)
		return false;
	if (b->win[w].show[page]) {
		wake(b, w, page);
		return true;
	}
	if (show & SHOW_TRANSIENT) {
		if (b->nr_transient == BARMAP_NR_TRANSIENT)
			return false;
		nr = 1;
		transient_add(b, w, page, userd);
	}
	room = fault_room(b, w, page, ~0u);
	if (nr > room)
		nr = room;
	op_show(b, w, page, nr, show);
	if (!(show & SHOW_POISON))
		stat_add(b->g, bar_pages_mapped[w], nr);
	if (ops_flush(b) < 0)
		wake(b, w, page); /* let the vCPU fault again: there is room now */
	return true;
}

void barmap_serve_fault(struct barmap *b, enum bar_window w, uint32_t page, bool write)
{
	uint32_t nr, userd_lo = 0, userd_hi = 0;
	uint64_t generation, show;
	bool userd, enabled, done;

	if (w >= NR_WIN || page >= b->win[w].nr_pages)
		return;
	do {
		if (w == WIN_BAR1)
			userd_pages(b, &userd_lo, &userd_hi);
		userd = page >= userd_lo && page < userd_hi;
		pthread_mutex_lock(&b->lock);
		generation = b->win[w].generation;
		enabled = b->enabled;
		nr = userd ? 1 : fault_room(b, w, page, userd_lo);
		pthread_mutex_unlock(&b->lock);

		if (enabled) {
			show = fault_answer(b, w, page, write, &nr);
		} else {
			show = SHOW_MAPPED | SHOW_POISON | SHOW_TRANSIENT;
			nr = 1;
		}
		if (userd)
			show |= SHOW_TRANSIENT;
		pthread_mutex_lock(&b->lock);
		done = fault_install(b, w, page, nr, show, userd, generation);
		pthread_mutex_unlock(&b->lock);
		if (!done)
			barmap_expire(b);
	} while (!done);
}

/*
 * Take the transient pages that are due off the list, and empty them. If the list is full, take
 * all. Lock held.
 */
static unsigned int expire_zap(struct barmap *b, uint64_t now, struct barmap_transient *due)
{
	unsigned int i, n = 0, kept = 0;

	for (i = 0; i < b->nr_transient; i++) {
		const struct barmap_transient *t = &b->transient[i];

		if (t->deadline > now && b->nr_transient < BARMAP_NR_TRANSIENT) {
			b->transient[kept++] = *t;
			continue;
		}
		due[n++] = *t;
		b->recent[b->next_recent++ % BARMAP_NR_RECENT] = *t;
		if (b->win[t->win].show[t->page] & SHOW_TRANSIENT && usable(b))
			op_zap(b, t->win, t->page, 1);
	}
	b->nr_transient = kept;
	ops_flush(b);
	return n;
}

int64_t barmap_expire(struct barmap *b)
{
	struct barmap_transient due[BARMAP_NR_TRANSIENT];
	uint64_t now = barmap_now(), next = UINT64_MAX;
	unsigned int i, n;

	pthread_mutex_lock(&b->lock);
	n = expire_zap(b, now, due);
	for (i = 0; i < b->nr_transient; i++)
		if (b->transient[i].deadline < next)
			next = b->transient[i].deadline;
	pthread_mutex_unlock(&b->lock);
	for (i = 0; i < n; i++) {
		if (!due[i].userd)
			continue;
		pthread_mutex_lock(&b->g->lock);
		fifo_bar1_written(b->g, (uint64_t)due[i].page * VU_PAGE, VU_PAGE);
		pthread_mutex_unlock(&b->g->lock);
	}
	if (next == UINT64_MAX)
		return -1;
	return next > now ? (int64_t)(next - now) : 0;
}
