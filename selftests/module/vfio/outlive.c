// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells are pages of the card, which may become another vGPU's when a vGPU is reset. A VMM may
 * keep a mapping beyond the reset, by moving, copying and cutting it. It must not see or touch
 * through it what the page shows then (S4).
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/userfaultfd.h>

#include <gk110/fifo.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "check.h"
#include "tap.h"
#include "tests.h"

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, PER_PAGE = PAGE / USERD_SIZE };
/*
 * ID is a channel of the second page of doorbells; AT is the offset of a word that no channel uses.
 */
enum { ID = PER_PAGE + 1, AT = 0xf00, LET_SETTLE_US = 10000 };
enum { MINE = 0x1111, SECRET = 0x5ec4e7, FORGED = 0xbadbad };

typedef volatile uint32_t word;

/* -------------------------------------------------- ways to keep a mapping; each one is touched */

/* Map @pages pages of BAR1 from @at on. */
static void *doorbells(struct device *d, uint64_t at, unsigned int pages)
{
	void *p = mmap(NULL, pages * PAGE, RW, MAP_SHARED, d->fd,
		       REGION_AT(VFIO_PCI_BAR1_REGION_INDEX) + at);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Pages beside those that are kept. They stay mapped until the end, and keep the device open. */
static void *left[8];
static unsigned int nr_left;

static void leave(void *page)
{
	left[nr_left++] = page;
}

static void unmap_left(void)
{
	while (nr_left)
		munmap(left[--nr_left], PAGE);
}

static void touch(void *page)
{
	((word *)page)[AT / 4] = MINE;
}

static void *elsewhere(unsigned int pages)
{
	return mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
}

static void *moved(struct device *d, uint64_t at)
{
	void *p = doorbells(d, at + PAGE, 1);

	touch(p);
	return mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere(1));
}

static void *moved_twice(struct device *d, uint64_t at)
{
	void *p = moved(d, at);

	touch(p);
	return mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere(1));
}

/* Map three pages and move the one in the middle. */
static void *moved_part(struct device *d, uint64_t at)
{
	uint8_t *p = doorbells(d, at, 3);

	touch(p + PAGE);
	leave(p);
	leave(p + 2 * PAGE);
	return mremap(p + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere(1));
}

static void *cut(struct device *d, uint64_t at)
{
	uint8_t *p = doorbells(d, at, 3);

	touch(p + PAGE);
	CHECK(!munmap(p, PAGE) && !munmap(p + 2 * PAGE, PAGE));
	return p + PAGE;
}

static void *protected(struct device *d, uint64_t at)
{
	uint8_t *p = doorbells(d, at, 3);

	touch(p + PAGE);
	CHECK(!mprotect(p, PAGE, PROT_READ) && !mprotect(p + 2 * PAGE, PAGE, PROT_NONE) &&
	      !mprotect(p + PAGE, PAGE, PROT_READ));
	CHECK(!mprotect(p + PAGE, PAGE, RW));
	leave(p);
	leave(p + 2 * PAGE);
	return p + PAGE;
}

static void *advised(struct device *d, uint64_t at)
{
	void *p = doorbells(d, at + PAGE, 1);

	touch(p);
	madvise(p, PAGE, MADV_WILLNEED);
	madvise(p, PAGE, MADV_DONTNEED);
	return p;
}

static void *turned(struct device *d, uint64_t at)
{
	void *p = doorbells(d, at, 1);

	touch(p);
	if (syscall(SYS_remap_file_pages, p, PAGE, 0,
		    (REGION_AT(VFIO_PCI_BAR1_REGION_INDEX) + at + PAGE) / PAGE, 0))
		return NULL; /* not every kernel can do this */
	touch(p);
	return p;
}

static const struct {
	const char *name;
	void *(*make)(struct device *d, uint64_t at);
} ways[] = {
	{ "moved", moved },   { "moved twice", moved_twice }, { "moved in part", moved_part },
	{ "cut", cut },	      { "protected", protected },     { "advised", advised },
	{ "turned", turned },
};

enum { NR_WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---------------------------------------------------------------- another process that has them */

struct other {
	pid_t pid;
	int to, from;
};

static uint32_t value_at(const void *page)
{
	return ((word *)page)[AT / 4];
}

static sigjmp_buf not_there;

static void on_fault(int sig)
{
	siglongjmp(not_there, sig);
}

/* A page may not be mapped in the child: then a fault ends the access, and 0 is returned. */
static uint32_t use(void *page, bool forge)
{
	if (!page || sigsetjmp(not_there, 1))
		return 0;
	if (forge)
		((word *)page)[AT / 4] = FORGED;
	return value_at(page);
}

static void obey(void *const *pages, int from, int to)
{
	uint32_t answer[NR_WAYS];
	unsigned int i;
	char c;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	while (read(from, &c, 1) == 1) {
		for (i = 0; i < NR_WAYS; i++)
			answer[i] = use(pages[i], c == 'w');
		if (write(to, answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static void fork_other(struct other *o, void *const *pages)
{
	int to[2], from[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe(to) && !pipe(from));
	o->pid = fork();
	if (!o->pid) {
		close(to[1]);
		close(from[0]);
		obey(pages, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	o->to = to[1];
	o->from = from[0];
}

static void ask_other(struct other *o, char what, uint32_t *answer)
{
	CHECK(write(o->to, &what, 1) == 1 && read(o->from, answer, NR_WAYS * 4) == NR_WAYS * 4);
}

static void end_other(struct other *o)
{
	close(o->to);
	close(o->from);
	waitpid(o->pid, NULL, 0);
}

/* ------------------------------------------------------------------ what is refused */

static bool registers_uffd(void *page)
{
	struct uffdio_register r = { .range = { (uintptr_t)page, PAGE },
				     .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	bool ok = fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &r);

	if (fd >= 0)
		close(fd);
	return ok;
}

static ssize_t by_proc(void *page, bool write)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint32_t v = FORGED;
	ssize_t n = write ? pwrite(fd, &v, 4, (uintptr_t)page + AT) :
			    pread(fd, &v, 4, (uintptr_t)page + AT);

	close(fd);
	return n;
}

/* Ways to have the page itself, and to make a mapping grow or double, are refused. */
static void check_refused(void *page)
{
	struct iovec here = { (uint8_t *)page + AT, 4 }, there;
	uint32_t v = FORGED;
	int p[2];

	there = (struct iovec){ &v, 4 };
	CHECK(process_vm_readv(getpid(), &there, 1, &here, 1, 0) <= 0);
	CHECK(process_vm_writev(getpid(), &there, 1, &here, 1, 0) <= 0);
	CHECK(by_proc(page, false) <= 0 && by_proc(page, true) <= 0);
	CHECK(!pipe(p));
	CHECK(vmsplice(p[1], &here, 1, SPLICE_F_GIFT) <= 0);
	close(p[0]);
	close(p[1]);
	CHECK(!registers_uffd(page));
	CHECK(mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0) == MAP_FAILED);
	CHECK(mremap(page, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(value_at(page) != FORGED);
}

/* ------------------------------------------------------------------ the test */

static uint64_t channel(struct bare_gpu *g, struct bare_space *s, struct bare_chan *c)
{
	struct bare_chan_config cfg = { .id = ID, .runlist = g->engine[BARE_CE0].runlist };

	bare_space_create(g, s);
	bare_chan_create(g, s, &cfg, c);
	return c->userd_bar1 - ID * USERD_SIZE;
}

static void check_second(struct device *d, uint64_t at, void *const *pages, struct other *o)
{
	word *own = doorbells(d, at + PAGE, 1);
	uint32_t seen[NR_WAYS];
	unsigned int i;

	own[AT / 4] = SECRET;
	usleep(LET_SETTLE_US);
	ask_other(o, 'r', seen);
	for (i = 0; i < NR_WAYS; i++) {
		if ((pages[i] && value_at(pages[i]) == SECRET) || seen[i] == SECRET)
			tap_diag("%s: shows what another vGPU has at its doorbells", ways[i].name);
		CHECK(!pages[i] || value_at(pages[i]) != SECRET);
		CHECK(seen[i] != SECRET);
		if (pages[i])
			((word *)pages[i])[AT / 4] = FORGED;
	}
	ask_other(o, 'w', seen);
	usleep(LET_SETTLE_US);
	CHECK(own[AT / 4] == SECRET);
	munmap((void *)own, PAGE);
}

void test_outlive(struct device *d, const struct options *o)
{
	void *pages[NR_WAYS];
	struct bare_space s, s2;
	struct bare_chan c, c2;
	struct bare_gpu g, g2;
	struct other other;
	struct device d2;
	unsigned int i;
	uint64_t at;

	if (!o->second) {
		tap_skip("outlive", "no second vGPU was named");
		return;
	}
	checks_begin();
	gpu_attach(d, &g);
	at = channel(&g, &s, &c);
	for (i = 0; i < NR_WAYS; i++) {
		pages[i] = ways[i].make(d, at);
		CHECK(pages[i] != MAP_FAILED);
		CHECK(!pages[i] || value_at(pages[i]) == MINE);
	}
	check_refused(pages[0]);
	fork_other(&other, pages);
	for (i = 0; i < NR_WAYS; i++)
		if (pages[i])
			touch(pages[i]);
	CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
	device_open(&d2, o->second);
	gpu_attach(&d2, &g2);
	check_second(&d2, channel(&g2, &s2, &c2), pages, &other);
	end_other(&other);
	bare_chan_destroy(&c2);
	gpu_detach(&d2, &g2);
	device_close(&d2);
	for (i = 0; i < NR_WAYS; i++)
		if (pages[i])
			munmap(pages[i], PAGE);
	unmap_left();
	gpu_detach(d, &g);
	checks_end(
		"doorbells whose mapping was moved, cut, forked show nothing of the vGPU that has them after a reset");
}
