// SPDX-License-Identifier: GPL-2.0-only
/* BARs: accesses, mappings, and that both show the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>

#include "check.h"
#include "tests.h"

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

/* A register of PFIFO's default time slices, which keeps what is written. */
#define PLAIN PFIFO_ENG_TIMESLICE(4)

static bool region_get(struct device *d, unsigned int r, uint64_t off, void *buf, size_t len)
{
	return pread(d->fd, buf, len, REGION_AT(r) + off) == (ssize_t)len;
}

static bool region_put(struct device *d, unsigned int r, uint64_t off, const void *buf, size_t len)
{
	return pwrite(d->fd, buf, len, REGION_AT(r) + off) == (ssize_t)len;
}

static uint32_t word_at(struct device *d, unsigned int r, uint64_t off)
{
	uint32_t v = 0xdeaddead;

	CHECK(region_get(d, r, off, &v, 4));
	return v;
}

/* ------------------------------------------------------------------ BAR0 */

static void check_widths(struct device *d)
{
	uint64_t q = 0x8877665544332211ull, back = 0;
	uint16_t w = 0;
	uint8_t b = 0;

	reg_write(d, PLAIN, 0x11223344);
	CHECK(reg_read(d, PLAIN) == 0x11223344);
	CHECK(region_get(d, 0, PLAIN + 1, &b, 1) && b == 0x33);
	CHECK(region_get(d, 0, PLAIN + 2, &w, 2) && w == 0x1122);
	b = 0xee;
	CHECK(region_put(d, 0, PLAIN + 1, &b, 1));
	CHECK(reg_read(d, PLAIN) == 0x1122ee44);
	CHECK(region_put(d, 0, PLAIN + 2, &q, 8));
	CHECK(reg_read(d, PLAIN) == 0x2211ee44 && reg_read(d, PLAIN + 4) == 0x66554433);
	CHECK((reg_read(d, PLAIN + 8) & 0xffff) == 0x8877);
	CHECK(region_get(d, 0, PLAIN + 2, &back, 8) && back == q);
}

static void check_ends(struct device *d)
{
	static const unsigned int empty[] = { 2, 4, 5, 6, 8, 9, 200 };
	static char big[70000];
	uint32_t v = 0;
	unsigned int i;

	CHECK(pread(d->fd, &v, 4, BAR0_SIZE - 2) == 2);
	CHECK_ERRNO(pread(d->fd, &v, 4, BAR0_SIZE), EINVAL);
	CHECK_ERRNO(pwrite(d->fd, &v, 4, BAR0_SIZE), EINVAL);
	CHECK_ERRNO(pread(d->fd, &v, 4, REGION_AT(1) + d->bar1_size), EINVAL);
	CHECK_ERRNO(pread(d->fd, &v, 4, -8), EINVAL);
	for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		CHECK_ERRNO(pread(d->fd, &v, 4, REGION_AT(empty[i])), EINVAL);
		CHECK_ERRNO(pwrite(d->fd, &v, 4, REGION_AT(empty[i])), EINVAL);
	}
	CHECK_ERRNO(pread(d->fd, nowhere, 4, PLAIN), EFAULT);
	CHECK_ERRNO(pwrite(d->fd, nowhere, 4, PLAIN), EFAULT);
	CHECK(pread(d->fd, big, sizeof(big), 0x600000) == (ssize_t)sizeof(big));
	CHECK(pread(d->fd, big, sizeof(big), REGION_AT(3)) == (ssize_t)sizeof(big));
}

void test_registers(struct device *d, const struct options *o)
{
	uint32_t chip = reg_read(d, 0);

	checks_begin();
	check_widths(d);
	check_ends(d);
	CHECK(chip >> 20 == 0x0f0);
	reg_write(d, 0, ~chip);
	CHECK(reg_read(d, 0) == chip);
	checks_end(
		"BAR0: accesses of all widths and alignments, ends, empty regions, bad pointers");
}

/* ------------------------------------------------------------------ what may be mapped */

static bool maps(struct device *d, size_t len, int flags, off_t at)
{
	void *p = mmap(NULL, len, RW, flags, d->fd, at);

	if (p == MAP_FAILED)
		return false;
	munmap(p, len);
	return true;
}

/*
 * Return the bytes from PROM_AT that can be mapped: up to the end of the page in which the VBIOS
 * image ends.
 */
static size_t rom_len(struct device *d)
{
	size_t pages = 0;

	while (pages < 256 && maps(d, (pages + 1) * PAGE, MAP_SHARED, PROM_AT))
		pages++;
	return pages * PAGE;
}

void test_maps(struct device *d, const struct options *o)
{
	size_t rom = rom_len(d);
	unsigned int r;

	checks_begin();
	CHECK(rom && maps(d, PAGE, MAP_SHARED, PROM_AT + rom - PAGE));
	CHECK(!maps(d, PAGE, MAP_SHARED, PROM_AT + rom));
	CHECK(!maps(d, 2 * PAGE, MAP_SHARED, PROM_AT - PAGE));
	CHECK(!maps(d, PRAMIN_AT + PAGE - PROM_AT, MAP_SHARED, PROM_AT));
	CHECK(maps(d, PLAIN_LEN, MAP_SHARED, PLAIN_AT) &&
	      maps(d, PAGE, MAP_SHARED, PLAIN_AT + PLAIN_LEN - PAGE));
	CHECK(!maps(d, PAGE, MAP_SHARED, PLAIN_AT + PLAIN_LEN) &&
	      !maps(d, PLAIN_LEN + PAGE, MAP_SHARED, PLAIN_AT));
	CHECK(!maps(d, PLAIN_LEN, MAP_SHARED, PLAIN_AT - PAGE) &&
	      !maps(d, PROM_AT + PAGE - PLAIN_AT, MAP_SHARED, PLAIN_AT));
	for (r = 0; r < 16; r++)
		CHECK(maps(d, PAGE, MAP_SHARED, REGION_AT(r)) == (r == 1 || r == 3));
	CHECK(!maps(d, PAGE, MAP_PRIVATE, REGION_AT(1)));
	CHECK(maps(d, PRAMIN_LEN, MAP_SHARED, PRAMIN_AT));
	CHECK(!maps(d, 2 * PAGE, MAP_SHARED, PRAMIN_AT - PAGE));
	CHECK(!maps(d, 2 * PAGE, MAP_SHARED, PRAMIN_AT + PRAMIN_LEN - PAGE));
	CHECK(!maps(d, PAGE, MAP_SHARED, PRAMIN_AT + PRAMIN_LEN));
	CHECK(maps(d, d->bar1_size, MAP_SHARED, REGION_AT(1)));
	CHECK(!maps(d, d->bar1_size + PAGE, MAP_SHARED, REGION_AT(1)));
	CHECK(!maps(d, PAGE, MAP_SHARED, REGION_AT(1) + d->bar1_size));
	CHECK(!maps(d, PAGE, MAP_SHARED, REGION_AT(3) + d->bar3_size));
	CHECK(!maps(d, 2 * PAGE, MAP_SHARED, REGION_AT(3) + d->bar3_size - PAGE));
	CHECK(!maps(d, PAGE, MAP_SHARED, 0x7ffffffffffff000ll));
	checks_end(
		"only BAR1, BAR3, PRAMIN, the VBIOS and registers without effect can be mapped, shared, inside their ends");
}

/* ------------------------------------------------------------------ windows */

/* Map a region at a multiple of 2 MiB, so that the kernel may use pages of 2 MiB. */
static uint32_t *map_aligned(struct device *d, unsigned int region, size_t len, void **area)
{
	uintptr_t at;

	*area = mmap(NULL, len + (2 << 20), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);
	at = ((uintptr_t)*area + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1);
	return mmap((void *)at, len, RW, MAP_SHARED | MAP_FIXED, d->fd, REGION_AT(region));
}

/* A child may have no mapping: kernels without an inode for each device (mdev/vmas.c). */
static bool is_mapped(volatile uint32_t *page)
{
	unsigned char resident;

	return !mincore((void *)page, PAGE, &resident) || errno != ENOMEM;
}

/* BAR1 in physical mode shows video memory from its start. */
static void check_bar1(struct device *d, volatile uint32_t *p1)
{
	uint32_t i, pages = d->bar1_size / PAGE, wrong = 0;
	int status;
	pid_t c;

	for (i = 0; i < pages; i++)
		p1[i * 1024] = i ^ 0x5a5a0000;
	for (i = 0; i < pages; i += 97)
		wrong += word_at(d, 1, i * PAGE) != (i ^ 0x5a5a0000);
	CHECK(!wrong);
	reg_write(d, HOSTMEM_BAR1, 0);
	CHECK(p1[3 * 1024] == (3 ^ 0x5a5a0000));
	mprotect((void *)p1, PAGE, PROT_READ);
	munmap((void *)(p1 + (8 << 20) / 4), PAGE);
	reg_write(d, HOSTMEM_BAR1, 0);
	CHECK(p1[0] == 0x5a5a0000 && p1[1024] == (1 ^ 0x5a5a0000));
	c = fork();
	if (!c) {
		uint32_t z;

		if (!is_mapped(p1 + 1024))
			_exit(0);
		z = p1[1024];
		reg_write(d, HOSTMEM_BAR1, 0);
		_exit(z == (1 ^ 0x5a5a0000) && p1[2048] == (2 ^ 0x5a5a0000) ? 0 : 1);
	}
	CHECK(c > 0 && waitpid(c, &status, 0) == c && status == 0);
	CHECK(p1[5 * 1024] == (5 ^ 0x5a5a0000));
}

static void check_pramin(struct device *d, volatile uint32_t *pr, volatile uint32_t *p1)
{
	uint64_t q = 0;
	uint32_t v = 78;

	reg_write(d, HOSTMEM_PRAMIN, 0);
	pr[0x3000 / 4 + 1] = 77;
	CHECK(word_at(d, 0, PRAMIN_AT + 0x3004) == 77 && p1[0x3004 / 4] == 77);
	CHECK(region_put(d, 0, PRAMIN_AT + 0x3004, &v, 4) && pr[0x3004 / 4] == 78);
	reg_write(d, HOSTMEM_PRAMIN, 0x10000 >> HOSTMEM_PRAMIN_BASE_SHIFT);
	CHECK(pr[0] == (0x10 ^ 0x5a5a0000));
	/* the first half is a register, the second half is the window's first word */
	CHECK(region_get(d, 0, PRAMIN_AT - 4, &q, 8) && q >> 32 == (0x10 ^ 0x5a5a0000));
	CHECK(region_get(d, 0, PRAMIN_AT + PRAMIN_LEN - 4, &q, 8));
	/*
	 * beyond the partition, and for host memory, the window shows nothing, and a write to it
	 * changes no memory
	 */
	reg_write(d, HOSTMEM_PRAMIN, 0xffffff);
	pr[9] = 1;
	CHECK(word_at(d, 0, PRAMIN_AT) != (0x10 ^ 0x5a5a0000));
	reg_write(d, HOSTMEM_PRAMIN, 0x02000000 | 0x10);
	pr[9] = 1;
	reg_write(d, HOSTMEM_PRAMIN, 0);
	CHECK(pr[0] == 0x5a5a0000);
}

/* The mapping shows the guest's own copy of the VBIOS. */
void test_rom(struct device *d, const struct options *o)
{
	size_t len = rom_len(d), i;
	uint32_t word, wrong = 0;
	volatile uint32_t *p;

	checks_begin();
	p = mmap(NULL, len, RW, MAP_SHARED, d->fd, PROM_AT);
	CHECK(len && p != MAP_FAILED);
	if (p != MAP_FAILED) {
		CHECK((p[0] & 0xffff) == 0xaa55);
		for (i = 0; i < len / 4; i++)
			wrong += p[i] != reg_read(d, PROM_AT + 4 * i);
		CHECK(!wrong);
		word = p[5];
		reg_write(d, PROM_AT + 20, ~word);
		CHECK(p[5] == word);
		p[5] = ~word;
		p[len / 4 - 1] = 0x12345678;
		CHECK(reg_read(d, PROM_AT + 20) == ~word);
		CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
		CHECK(p[5] == word && p[len / 4 - 1] != 0x12345678);
		munmap((void *)p, len);
	}
	checks_end("the VBIOS: mapped it is what its registers say, and a reset brings it back");
}

/*
 * Registers that only keep their values have the same words when they are mapped. A reset empties
 * them.
 */
void test_plain(struct device *d, const struct options *o)
{
	uint32_t i, wrong = 0;
	volatile uint32_t *p;

	checks_begin();
	p = mmap(NULL, PLAIN_LEN, RW, MAP_SHARED, d->fd, PLAIN_AT);
	CHECK(p != MAP_FAILED);
	if (p != MAP_FAILED) {
		for (i = 0; i < PLAIN_LEN / 4; i++)
			p[i] = i * 0x01010101u;
		for (i = 0; i < PLAIN_LEN / 4; i++)
			wrong += reg_read(d, PLAIN_AT + 4 * i) != i * 0x01010101u;
		for (i = 0; i < PLAIN_LEN / 4; i += 97) {
			reg_write(d, PLAIN_AT + 4 * i, ~i);
			wrong += p[i] != ~i;
		}
		CHECK(!wrong);
		CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
		for (i = 0; i < PLAIN_LEN / 4; i++)
			wrong += p[i] != reg_read(d, PLAIN_AT + 4 * i) ||
				 p[i] == i * 0x01010101u + !i || p[i] == ~i;
		CHECK(!wrong);
		munmap((void *)p, PLAIN_LEN);
	}
	checks_end(
		"registers that only keep their values: mapped they are the same words, and a reset empties them");
}

/*
 * The page of the MMU's registers is mapped at a touch, which has the vGPU's tables looked at.
 * Until then a copy to it is refused: the thread that copies may hold locks.
 */
void test_mmu(struct device *d, const struct options *o)
{
	uint32_t i, wrong = 0;
	volatile uint32_t *p;

	checks_begin();
	CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
	p = mmap(NULL, PAGE, RW, MAP_SHARED, d->fd, MMU_AT);
	CHECK(p != MAP_FAILED);
	if (p != MAP_FAILED) {
		CHECK_ERRNO(pread(d->fd, (void *)p, 4, REGION_AT(0)), EFAULT);
		for (i = 0; i < PAGE / 4; i++)
			wrong += p[i] != reg_read(d, MMU_AT + 4 * i);
		CHECK(!wrong);
		p[(FB_MMU_INVALIDATE_PDB - MMU_AT) / 4] = 0x12345670;
		CHECK(reg_read(d, FB_MMU_INVALIDATE_PDB) == 0x12345670);
		reg_write(d, FB_MMU_INVALIDATE_PDB, 0);
		CHECK(!p[(FB_MMU_INVALIDATE_PDB - MMU_AT) / 4]);
		p[(FB_MMU_INVALIDATE - MMU_AT) / 4] = FB_MMU_INVALIDATE_TRIGGER |
						      FB_MMU_INVALIDATE_ALL_PDB;
		CHECK(pread(d->fd, (void *)(p + 8), 4, REGION_AT(0)) == 4);
		CHECK(p[8] == reg_read(d, 0));
		CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
		for (i = 0; i < PAGE / 4; i++)
			wrong += p[i] != reg_read(d, MMU_AT + 4 * i);
		CHECK(!wrong && !p[8]);
		munmap((void *)p, PAGE);
	}
	checks_end("the MMU's registers: mapped they are the same words, and a reset empties them");
}

static bool flushed(const volatile uint32_t *word, uint32_t busy)
{
	unsigned int ms;

	for (ms = 0; (*word & busy) && ms < 60000; ms++)
		usleep(1000);
	return !(*word & busy);
}

enum way { BY_COMMAND, BY_READ, BY_WRITE };

/* Asks for a flush. Returns whether it is over when the access that traps returns. */
static bool is_over_at_once(struct device *d, uint32_t reg, volatile uint32_t *w, enum way way,
			    uint32_t n)
{
	if (way == BY_WRITE)
		reg_write(d, reg, FLUSH_TRIGGER);
	else
		*w = FLUSH_TRIGGER;
	if (way == BY_COMMAND)
		reg_write(d, HOSTMEM_PRAMIN, n);
	else if (reg_read(d, reg))
		return false;
	return !*w;
}

/*
 * The slicer may be serving the page when the access traps. Then the access flushes, too, but the
 * word is the slicer's and not 0 yet. So not each of ten has to be over at once.
 */
static void access_flushes(struct device *d, uint32_t reg, volatile uint32_t *w, enum way way)
{
	unsigned int n, at_once = 0;

	for (n = 0; n < 10; n++) {
		at_once += is_over_at_once(d, reg, w, way, n);
		CHECK(flushed(w, FLUSH_TRIGGER | FLUSH_BUSY));
	}
	CHECK(at_once >= 5);
}

/* A flush that is triggered through a mapping is done later; when the write traps, at once. */
void test_flushes(struct device *d, const struct options *o)
{
	static const uint32_t regs[] = { FLUSH_BAR, FLUSH_L2_SYSMEM_INVALIDATE, FLUSH_L2_DIRTY };
	volatile uint32_t *p, *w;
	unsigned int i, n;

	checks_begin();
	p = mmap(NULL, PAGE, RW, MAP_SHARED, d->fd, FLUSH_AT);
	CHECK(p != MAP_FAILED);
	for (i = 0; p != MAP_FAILED && i < sizeof(regs) / sizeof(regs[0]); i++) {
		w = p + (regs[i] - FLUSH_AT) / 4;
		for (n = 0; n < 10; n++) {
			*w = FLUSH_TRIGGER;
			CHECK(regs[i] != FLUSH_BAR || !(*w & FLUSH_BUSY));
			CHECK(flushed(w, FLUSH_TRIGGER | FLUSH_BUSY));
		}
		access_flushes(d, regs[i], w, BY_COMMAND);
		access_flushes(d, regs[i], w, BY_READ);
		access_flushes(d, regs[i], w, BY_WRITE);
		*w = ~0u;
		CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET) && !*w);
	}
	if (p != MAP_FAILED)
		munmap((void *)p, PAGE);
	checks_end(
		"flushes: asked for through a mapping they are done by the next command, and without one soon");
}

void test_windows(struct device *d, const struct options *o)
{
	uint32_t *p1, *pr, *p3;
	void *area;

	checks_begin();
	pr = mmap(NULL, PRAMIN_LEN, RW, MAP_SHARED, d->fd, PRAMIN_AT);
	p1 = map_aligned(d, 1, d->bar1_size, &area);
	p3 = mmap(NULL, d->bar3_size, RW, MAP_SHARED, d->fd, REGION_AT(3));
	CHECK(pr != MAP_FAILED && p1 != MAP_FAILED && p3 != MAP_FAILED);
	CHECK(p1[0] == 0 && p1[d->bar1_size / 4 - 1] == 0); /* S4: nothing of the last user */
	reg_write(d, HOSTMEM_BAR1, 0);
	check_bar1(d, p1);
	check_pramin(d, pr, p1);
	p3[9] = 99;
	CHECK(word_at(d, 3, 36) == 99);
	/*
	 * BAR1 points at an instance block that is none: accesses do nothing, and raise no signal
	 */
	reg_write(d, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | 0x123);
	p1[2048] = 1;
	CHECK(p1[2048] == p1[2048]);
	reg_write(d, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | HOSTMEM_INST);
	p1[2048] = 1;
	munmap(area, d->bar1_size + (2 << 20));
	munmap(pr, PRAMIN_LEN);
	munmap(p3, d->bar3_size);
	checks_end(
		"BAR1, BAR3, PRAMIN: mapped and accessed they show the same, across zaps, fork and unmapping");
}
