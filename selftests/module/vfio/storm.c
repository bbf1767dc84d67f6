// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random calls on one device from several threads at once. The test passes if each thread comes
 * back, and afterwards no page is pinned and the device answers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "check.h"
#include "tap.h"
#include "tests.h"

enum { THREADS = 4, PAGE = 4096, STORM_IOVA = 0x10000000, STORM_LEN = 1 << 20 };

struct storm {
	struct device *d;
	unsigned int seed;
	uint8_t *memory;
};

static atomic_bool stop;
static atomic_ulong calls;

static unsigned int rnd(struct storm *s, unsigned int n)
{
	return ((unsigned int)rand_r(&s->seed) << 8 ^ (unsigned int)rand_r(&s->seed)) % n;
}

static void random_ioctl(struct storm *s)
{
	static const unsigned long known[] = { VFIO_DEVICE_SET_IRQS, VFIO_DEVICE_GET_REGION_INFO,
					       VFIO_DEVICE_GET_IRQ_INFO, VFIO_DEVICE_GET_INFO,
					       VFIO_DEVICE_RESET };
	uint32_t w[64];
	unsigned int i;

	for (i = 0; i < 64; i++)
		w[i] = rnd(s, ~0u);
	w[0] = rnd(s, 100);
	w[1] = rnd(s, 64);
	w[2] = rnd(s, 6);
	w[3] = rnd(s, 3);
	w[4] = rnd(s, 3);
	w[5] = rnd(s, 16);
	if (rnd(s, 2))
		ioctl(s->d->fd, known[rnd(s, rnd(s, 8) ? 4 : 5)], w);
	else
		ioctl(s->d->fd, _IO(VFIO_TYPE, VFIO_BASE + rnd(s, 25)), w);
}

static uint32_t random_register(struct storm *s)
{
	static const uint32_t first[] = {
		0x100,	0x1700,	 0x1704,  0x1714,   0x2000,   0x2254,	0x2270,	  0x2600,   0x9100,
		0x9400, 0x40000, 0x70000, 0x100c80, 0x100cb8, 0x400100, 0x409800, 0x800000, 0x88000
	};

	return rnd(s, 4) ? first[rnd(s, sizeof(first) / sizeof(first[0]))] + rnd(s, 64) * 4 :
			   rnd(s, BAR0_SIZE);
}

static void random_write(struct storm *s)
{
	uint32_t w[16];
	unsigned int i;

	for (i = 0; i < 16; i++)
		w[i] = rnd(s, 2) ? rnd(s, 0x100000) : rnd(s, ~0u);
	switch (rnd(s, 4)) {
	case 0:
		(void)!pwrite(s->d->fd, w, rnd(s, 64),
			      REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + rnd(s, 4100));
		break;
	case 1:
		(void)!pwrite(s->d->fd, w, rnd(s, 64), REGION_AT(rnd(s, 10)) + rnd(s, 0x2000000));
		break;
	default:
		(void)!pwrite(s->d->fd, w, 4, random_register(s));
	}
}

static void random_read(struct storm *s)
{
	char b[600];

	(void)!pread(s->d->fd, b, rnd(s, sizeof(b)), REGION_AT(rnd(s, 10)) + rnd(s, 0x2000000));
}

static void random_mapping(struct storm *s)
{
	size_t len = (1 + rnd(s, 64)) * PAGE, i;
	off_t at = REGION_AT(rnd(s, 4)) + (off_t)rnd(s, 0x2000) * PAGE;
	volatile char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, s->d->fd,
				rnd(s, 4) ? at : PRAMIN_AT);

	if (p == MAP_FAILED)
		return;
	for (i = 0; i < len; i += PAGE)
		p[i]++;
	if (len > PAGE)
		munmap((void *)(p + PAGE), PAGE);
	munmap((void *)p, PAGE);
	if (len > 2 * PAGE)
		munmap((void *)(p + 2 * PAGE), len - 2 * PAGE);
}

static void random_eventfd(struct storm *s)
{
	union {
		struct vfio_irq_set set;
		char bytes[sizeof(struct vfio_irq_set) + 4];
	} u = { .set = { .argsz = sizeof(u), .index = rnd(s, 5), .count = 1 } };
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t one = 1;

	u.set.flags = VFIO_IRQ_SET_DATA_EVENTFD |
		      (rnd(s, 2) ? VFIO_IRQ_SET_ACTION_UNMASK : VFIO_IRQ_SET_ACTION_TRIGGER);
	memcpy(u.set.data, &fd, sizeof(fd));
	ioctl(s->d->fd, VFIO_DEVICE_SET_IRQS, &u);
	(void)!write(fd, &one, sizeof(one));
	close(fd);
}

static void random_dma(struct storm *s)
{
	uint64_t at = (uint64_t)rnd(s, STORM_LEN / PAGE) * PAGE, len = (1 + rnd(s, 16)) * PAGE;

	if (at + len > STORM_LEN)
		len = STORM_LEN - at;
	if (rnd(s, 2))
		dma_map(s->d, s->memory + at, STORM_IOVA + at, len);
	else
		dma_unmap(s->d, STORM_IOVA + (rnd(s, 4) ? at : 0), rnd(s, 4) ? len : STORM_LEN);
}

static void *blow(void *arg)
{
	static void (*const moves[])(
		struct storm * s) = { random_ioctl,   random_read,    random_write, random_write,
				      random_mapping, random_eventfd, random_dma };
	struct storm *s = arg;

	while (!atomic_load(&stop)) {
		moves[rnd(s, sizeof(moves) / sizeof(moves[0]))](s);
		atomic_fetch_add(&calls, 1);
	}
	return NULL;
}

void test_storm(struct device *d, const struct options *o)
{
	struct storm s[THREADS];
	pthread_t t[THREADS];
	uint8_t *memory =
		mmap(NULL, STORM_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t began;
	unsigned int i;

	checks_begin();
	config_write(d, 4, 2, 6);
	for (i = 0; i < THREADS; i++) {
		s[i] = (struct storm){ d, o->seed * 100 + i, memory };
		CHECK(!pthread_create(&t[i], NULL, blow, &s[i]));
	}
	sleep(o->seconds);
	atomic_store(&stop, true);
	began = now_ms();
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(now_ms() - began < 60000);
	dma_unmap(d, STORM_IOVA, STORM_LEN);
	CHECK(!ioctl(d->fd, VFIO_DEVICE_RESET));
	CHECK(counter(d, "pinned_pages") == 0);
	CHECK(reg_read(d, 0) >> 20 == 0x0f0);
	munmap(memory, STORM_LEN);
	tap_diag("%lu calls in %u s, seed %u", atomic_load(&calls), o->seconds, o->seed);
	checks_end("a storm of random calls: every thread comes back, and the device answers");
}
