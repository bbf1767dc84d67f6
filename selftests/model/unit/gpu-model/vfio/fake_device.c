// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gk110/bar.h>

#include "fake_device.h"

struct fake fake;
static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;

void gk110_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&note_lock);
	vsnprintf(fake.note, sizeof(fake.note), fmt, ap);
	pthread_mutex_unlock(&note_lock);
	va_end(ap);
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&note_lock);
	vsnprintf(fake.note, sizeof(fake.note), fmt, ap);
	pthread_mutex_unlock(&note_lock);
	va_end(ap);
}

bool fake_noted(const char *what)
{
	bool found;

	pthread_mutex_lock(&note_lock);
	found = strstr(fake.note, what);
	pthread_mutex_unlock(&note_lock);
	return found;
}

static void note_access(uint32_t region, uint64_t off, unsigned int size, uint64_t val)
{
	fake.last = (struct fake_access){ .region = region, .off = off, .val = val, .size = size };
	fake.nr_access++;
}

uint64_t gk110_mmio_read(struct gk110 *g, uint32_t off, unsigned int size)
{
	note_access(0, off, size, 0);
	return 0x8877665544332211ull;
}

void gk110_mmio_write(struct gk110 *g, uint32_t off, unsigned int size, uint64_t val)
{
	note_access(0, off, size, val);
}

uint64_t bar_read(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size)
{
	note_access(w == WIN_BAR1 ? 1 : 3, off, size, 0);
	return off;
}

void bar_write(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size, uint64_t val)
{
	note_access(w == WIN_BAR1 ? 1 : 3, off, size, val);
}

void gk110_reset(struct gk110 *g)
{
	pthread_mutex_lock(&g->lock);
	fake.resets++;
	pthread_mutex_unlock(&g->lock);
}

void gk110_stats_json(struct gk110 *g, int fd)
{
	if (write(fd, "{}\n", 3) != 3)
		snprintf(fake.note, sizeof(fake.note), "statistics not written");
}

void fifo_bar1_written(struct gk110 *g, uint64_t off, unsigned int size)
{
	fake.doorbells++;
}

void fifo_userd_window(struct gk110 *g, uint64_t *off, uint64_t *size)
{
	*off = fake.userd_off;
	*size = fake.userd_size;
}

void dma_write_lock(struct gk110 *g)
{
	pthread_rwlock_wrlock(&g->dma_lock);
}

void dma_write_unlock(struct gk110 *g)
{
	pthread_rwlock_unlock(&g->dma_lock);
}

/* Returns in *seg the memory of one entry of a window's table. */
static int page_segment(struct gk110 *g, uint64_t entry, enum mmu_access acc, struct mmu_seg *seg)
{
	uint64_t page = (entry & ~(FAKE_RO | FAKE_SYS)) - 1;

	if (!entry || (entry & FAKE_RO && acc != ACC_READ))
		return -EFAULT;
	*seg = (struct mmu_seg){ .len = VU_PAGE,
				 .phys = page * VU_PAGE,
				 .read_only = entry & FAKE_RO };
	if (entry & FAKE_SYS) {
		seg->target = MEM_SYS_COH;
		seg->ptr = dma_ptr(&fake.s, seg->phys, &seg->len, acc != ACC_READ);
	} else {
		seg->ptr = g->vram + seg->phys;
	}
	return seg->ptr ? 0 : -EFAULT;
}

int bar_translate(struct gk110 *g, enum bar_window w, uint64_t off, size_t want,
		  enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	uint64_t page = off / VU_PAGE;
	struct mmu_seg next;

	if (flags & MMU_PEEK)
		fake.peeks++;
	if (page_segment(g, __atomic_load_n(&fake.table[w][page], __ATOMIC_SEQ_CST), acc, seg)) {
		fake.faults_recorded += !(flags & MMU_PEEK);
		return -EFAULT;
	}
	while (seg->len < want) {
		if (page_segment(g, __atomic_load_n(&fake.table[w][++page], __ATOMIC_SEQ_CST), acc,
				 &next) ||
		    next.phys != seg->phys + seg->len || next.read_only != seg->read_only ||
		    next.target != seg->target)
			break;
		seg->len += next.len;
	}
	return 0;
}

static int capture(void *to, const void *hdr, size_t hdr_len, const void *data, size_t len, int fd)
{
	fake.reply_len = hdr_len + len;
	memcpy(fake.reply, hdr, hdr_len);
	if (len)
		memcpy(fake.reply + hdr_len, data,
		       len < sizeof(fake.reply) - hdr_len ? len : sizeof(fake.reply) - hdr_len);
	fake.reply_fd = fd;
	fake.replies++;
	return 0;
}

static void fake_vram(struct gk110 *g)
{
	board_find("k20m", &g->cfg.board);
	g->cfg.vram_size = FAKE_VRAM_SIZE;
	g->vram_fd = memfd_create("gk110-vram", MFD_CLOEXEC);
	if (g->vram_fd < 0 || ftruncate(g->vram_fd, FAKE_VRAM_SIZE))
		abort();
	g->vram = mmap(NULL, FAKE_VRAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, g->vram_fd, 0);
	if (g->vram == MAP_FAILED)
		abort();
}

void fake_setup(bool greeted)
{
	static const uint32_t size[NR_WIN] = { GK110_BAR1_SIZE, GK110_BAR3_SIZE, PRAMIN_SIZE };
	unsigned int w;

	fake_teardown();
	fake.g = calloc(1, sizeof(*fake.g));
	pthread_mutex_init(&fake.g->lock, NULL);
	pthread_rwlock_init(&fake.g->dma_lock, NULL);
	fake_vram(fake.g);
	for (w = 0; w < NR_WIN; w++)
		fake.table[w] = calloc(size[w] / VU_PAGE + 1, sizeof(uint64_t));
	fake.s.g = fake.g;
	fake.s.reply = malloc(VU_MSG_MAX);
	fake.s.client.send = capture;
	dma_init(&fake.s.dma);
	irq_init(&fake.s.irq);
	client_reset(&fake.s);
	fake.s.client.greeted = greeted;
	pci_config_reset(fake.g);
}

void fake_teardown(void)
{
	unsigned int w;

	if (!fake.g)
		return;
	irq_disable_all(&fake.s);
	dma_unmap_all(&fake.s);
	barmap_destroy(fake.s.barmap);
	munmap(fake.g->vram, FAKE_VRAM_SIZE);
	close(fake.g->vram_fd);
	for (w = 0; w < NR_WIN; w++)
		free(fake.table[w]);
	free(fake.s.dma.entry);
	free(fake.s.reply);
	free(fake.g);
	memset(&fake, 0, sizeof(fake));
}

ssize_t fake_send(uint16_t cmd, uint32_t flags, const void *data, size_t len, const int *fds,
		  unsigned int nr_fds)
{
	struct vu_hdr hdr = { .id = 0x1234, .cmd = cmd, .size = sizeof(hdr) + len, .flags = flags };
	struct vu_fds f = { .nr = nr_fds };
	uint8_t *buf = malloc(hdr.size);
	ssize_t ret;

	memcpy(buf, &hdr, sizeof(hdr));
	if (len)
		memcpy(buf + sizeof(hdr), data, len);
	if (nr_fds)
		memcpy(f.fd, fds, nr_fds * sizeof(int));
	fake.reply_len = 0;
	ret = messages_feed(&fake.s, buf, hdr.size, &f);
	free(buf);
	return ret;
}

uint32_t fake_error(void)
{
	struct vu_hdr hdr;

	if (fake.reply_len < sizeof(hdr))
		return 9999;
	memcpy(&hdr, fake.reply, sizeof(hdr));
	return hdr.flags & VU_F_ERROR ? hdr.error : 0;
}

const void *fake_payload(void)
{
	return fake.reply + sizeof(struct vu_hdr);
}

size_t fake_payload_len(void)
{
	return fake.reply_len - sizeof(struct vu_hdr);
}
