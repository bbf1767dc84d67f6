// SPDX-License-Identifier: GPL-2.0-only
/* Guest memory, and a random history compared with an array of pages. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gk110/pci.h>

#include "fake_device.h"

#define RAM_SIZE (16u << 20)

static int ram;
static uint8_t *mem;

static void master(bool on)
{
	uint8_t cmd = on ? GK110_PCI_CMD_MASTER : 0;

	pci_config_write(fake.g, GK110_PCI_CMD_STA, &cmd, 1);
}

static int setup(void **state)
{
	fake_setup(true);
	master(true);
	ram = memfd_create("ram", 0);
	if (ram < 0 || ftruncate(ram, RAM_SIZE))
		return -1;
	mem = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ram, 0);
	return mem == MAP_FAILED;
}

static int teardown(void **state)
{
	munmap(mem, RAM_SIZE);
	close(ram);
	fake_teardown();
	return 0;
}

static int map(uint64_t iova, uint64_t size, uint64_t offset, uint32_t flags)
{
	struct vu_dma_map m = {
		.argsz = sizeof(m), .flags = flags, .offset = offset, .address = iova, .size = size
	};

	return dma_map(&fake.s, &m, dup(ram));
}

static uint8_t *at(uint64_t iova, size_t want, size_t *len, bool write)
{
	*len = want;
	return dma_ptr(&fake.s, iova, len, write);
}

TEST(test_map_and_find)
{
	size_t len;
	uint8_t *p;

	assert_int_equal(map(0x100000, 0x3000, 0x5000, 3), 0);
	p = at(0x101234, 0x10000, &len, true);
	assert_non_null(p);
	assert_int_equal(len, 0x3000 - 0x1234);
	p[0] = 0x5a;
	assert_int_equal(mem[0x5000 + 0x1234], 0x5a);
	assert_null(at(0xfffff, 1, &len, false));
	assert_null(at(0x103000, 1, &len, false));
	assert_non_null(at(0x102fff, 1, &len, false));
}

TEST(test_bus_master)
{
	size_t len;

	assert_int_equal(map(0, 0x1000, 0, 3), 0);
	master(false);
	assert_null(at(0, 1, &len, false));
	master(true);
	assert_non_null(at(0, 1, &len, false));
}

TEST(test_rights)
{
	size_t len;

	assert_int_equal(map(0x0000, 0x1000, 0, 1), 0);
	assert_int_equal(map(0x1000, 0x1000, 0, 2), 0);
	assert_non_null(at(0, 1, &len, false));
	assert_null(at(0, 1, &len, true));
	assert_null(at(0x1000, 1, &len, false));
	assert_non_null(at(0x1000, 1, &len, true));
}

/* A descriptor that is open for reading only gives memory that can't be written. */
TEST(test_read_only_file)
{
	struct vu_dma_map m = { .argsz = sizeof(m), .flags = 3, .size = 0x1000 };
	char path[64];
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ram);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(dma_map(&fake.s, &m, fd), 0);
	assert_non_null(at(0, 1, &len, false));
	assert_null(at(0, 1, &len, true));
}

TEST(test_no_file)
{
	struct vu_dma_map m = {
		.argsz = sizeof(m), .flags = 1, .address = 0xc0000, .size = 0x20000
	};
	size_t len;

	assert_int_equal(dma_map(&fake.s, &m, -1), 0);
	assert_null(at(0xc0000, 1, &len, false));
	assert_int_equal(map(0xd0000, 0x1000, 0, 3), -EEXIST);
	assert_int_equal(dma_unmap(&fake.s, 0xc0000, 0x20000), 0);
}

TEST(test_bad_maps)
{
	struct vu_dma_map m = { .argsz = sizeof(m), .flags = 3, .size = 0x1000 };
	int pipes[2];

	assert_int_equal(map(0, 0, 0, 3), -EINVAL);
	assert_int_equal(map(0x800, 0x1000, 0, 3), -EINVAL);
	assert_int_equal(map(0, 0x1800, 0, 3), -EINVAL);
	assert_int_equal(map(0, 0x1000, 0x10, 3), -EINVAL);
	assert_int_equal(map(0, 0x1000, 0, 0), -EINVAL);
	assert_int_equal(map(0, 0x1000, 0, 7), -EINVAL);
	assert_int_equal(map(UINT64_MAX - 0xfff, 0x2000, 0, 3), -EINVAL);
	/* beyond the end of the file: accesses would end in SIGBUS */
	assert_int_equal(map(0, RAM_SIZE + 0x1000, 0, 3), -EINVAL);
	assert_int_equal(map(0, 0x1000, UINT64_MAX - 0xfff, 3), -EINVAL);
	/* the last page of the address space */
	assert_int_equal(map(UINT64_MAX - 0xfff, 0x1000, 0, 3), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dma_map(&fake.s, &m, pipes[1]), -EINVAL);
	close(pipes[0]);
	m.argsz = 31;
	assert_int_equal(dma_map(&fake.s, &m, dup(ram)), -EINVAL);
	assert_int_equal(fake.s.dma.nr, 1);
}

TEST(test_overlap)
{
	size_t len;

	assert_int_equal(map(0x10000, 0x4000, 0, 3), 0);
	assert_int_equal(map(0x10000, 0x4000, 0, 3), -EEXIST);
	assert_int_equal(map(0x0f000, 0x2000, 0, 3), -EEXIST);
	assert_int_equal(map(0x13000, 0x2000, 0, 3), -EEXIST);
	assert_int_equal(map(0x11000, 0x1000, 0, 3), -EEXIST);
	assert_int_equal(map(0x00000, 0x100000, 0, 3), -EEXIST);
	assert_int_equal(map(0x0f000, 0x1000, 0, 3), 0);
	assert_int_equal(map(0x14000, 0x1000, 0, 3), 0);
	assert_non_null(at(0x13fff, 1, &len, true));
}

TEST(test_unmap)
{
	size_t len;

	assert_int_equal(map(0x10000, 0x4000, 0, 3), 0);
	assert_int_equal(map(0x20000, 0x4000, 0x4000, 3), 0);
	assert_int_equal(map(0x30000, 0x4000, 0x8000, 3), 0);
	assert_int_equal(dma_unmap(&fake.s, 0x10000, 0x1000), -EINVAL); /* a part */
	assert_int_equal(dma_unmap(&fake.s, 0x12000, 0x10000), -EINVAL);
	assert_int_equal(dma_unmap(&fake.s, 0, 0), -EINVAL);
	assert_int_equal(dma_unmap(&fake.s, UINT64_MAX, 2), -EINVAL);
	/* no mapping there */
	assert_int_equal(dma_unmap(&fake.s, 0x50000, 0x1000), 0);
	assert_int_equal(fake.s.dma.nr, 3);
	assert_int_equal(dma_unmap(&fake.s, 0x10000, 0x4000), 0);
	assert_null(at(0x10000, 1, &len, false));
	assert_non_null(at(0x20000, 1, &len, false));
	/* two mappings at once */
	assert_int_equal(dma_unmap(&fake.s, 0x18000, 0x20000), 0);
	assert_int_equal(fake.s.dma.nr, 0);
}

TEST(test_unmap_messages)
{
	struct vu_dma_unmap u = { .argsz = sizeof(u), .flags = VFIO_DMA_UNMAP_FLAG_ALL };

	assert_int_equal(map(0, 0x1000, 0, 3), 0);
	assert_int_equal(map(0x4000, 0x1000, 0, 3), 0);
	u.size = 0x1000;
	assert_true(fake_send(VU_DMA_UNMAP, 0, &u, sizeof(u), NULL, 0) > 0);
	assert_int_equal(fake_error(), EINVAL);
	u.size = 0;
	assert_true(fake_send(VU_DMA_UNMAP, 0, &u, sizeof(u), NULL, 0) > 0);
	assert_int_equal(fake_error(), 0);
	assert_int_equal(fake_payload_len(), sizeof(u));
	assert_memory_equal(fake_payload(), &u, sizeof(u));
	assert_int_equal(fake.s.dma.nr, 0);
	u.flags = 1; /* dirty bitmap */
	assert_true(fake_send(VU_DMA_UNMAP, 0, &u, sizeof(u), NULL, 0) > 0);
	assert_int_equal(fake_error(), EINVAL);
}

/*
 * Mappings of pieces of one file share one memory map of the file. The file is released with its
 * last mapping.
 */
TEST(test_files_are_shared)
{
	unsigned int i;
	size_t len;
	uint8_t *a, *b;

	for (i = 0; i < 8; i++)
		assert_int_equal(map(0x100000 * i, 0x1000, 0x1000 * (7 - i), 3), 0);
	a = at(0, 1, &len, true);
	b = at(0x100000, 1, &len, true);
	assert_ptr_equal(a - b, 0x1000);
	assert_int_equal(fake.s.dma.file[0].refs, 8);
	assert_true(fake.s.dma.file[1].fd < 0);
	dma_unmap_all(&fake.s);
	assert_true(fake.s.dma.file[0].fd < 0);
}

TEST(test_file_that_grew)
{
	size_t len;
	uint8_t *p;

	assert_int_equal(map(0, 0x1000, 0, 3), 0);
	assert_int_equal(ftruncate(ram, RAM_SIZE + 0x10000), 0);
	assert_int_equal(map(0x100000, 0x1000, RAM_SIZE + 0x3000, 3), 0);
	p = at(0x100000, 1, &len, true);
	*p = 1;
	p = at(0, 1, &len, true);
	*p = 0x77;
	assert_int_equal(mem[0], 0x77);
}

TEST(test_many_files)
{
	struct vu_dma_map m = { .argsz = sizeof(m), .flags = 3, .size = 0x1000 };
	unsigned int i;
	int fd;

	for (i = 0; i <= DMA_MAX_FILES; i++) {
		fd = memfd_create("one", MFD_CLOEXEC);
		assert_int_equal(ftruncate(fd, 0x1000), 0);
		m.address = i * 0x1000ull;
		assert_int_equal(dma_map(&fake.s, &m, fd), i < DMA_MAX_FILES ? 0 : -ENOSPC);
	}
	assert_int_equal(dma_unmap(&fake.s, 0, 0x1000), 0);
	m.address = 0;
	fd = memfd_create("one", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, 0x1000), 0);
	assert_int_equal(dma_map(&fake.s, &m, fd), 0);
}

TEST(test_table_limit)
{
	uint64_t i;

	for (i = 0; i < VU_MAX_DMA_MAPS; i++)
		assert_int_equal(map(i * 0x2000, 0x1000, 0, 3), 0);
	assert_int_equal(map(i * 0x2000, 0x1000, 0, 3), -ENOSPC);
	assert_int_equal(dma_unmap(&fake.s, 0x2000, 0x1000), 0);
	assert_int_equal(map(i * 0x2000, 0x1000, 0, 3), 0);
}

#define PAGES 256

struct oracle {
	/* by page: first page of the mapping that this page belongs to, or -1 */
	int first[PAGES];
	int off[PAGES];
};

static bool oracle_free(const struct oracle *o, int page, int n)
{
	int i;

	for (i = page; i < page + n; i++)
		if (o->first[i] >= 0)
			return false;
	return true;
}

/* Returns whether the range splits no mapping. */
static bool oracle_unmappable(const struct oracle *o, int page, int n)
{
	if (page && o->first[page] >= 0 && o->first[page] < page)
		return false;
	return page + n == PAGES || o->first[page + n] < 0 || o->first[page + n] >= page + n;
}

static void oracle_check(const struct oracle *o)
{
	size_t len;
	uint8_t *p;
	int i;

	for (i = 0; i < PAGES; i++) {
		p = at(i * 0x1000ull + 8, 4, &len, true);
		if (o->first[i] < 0) {
			assert_null(p);
			continue;
		}
		assert_non_null(p);
		assert_ptr_equal(p, fake.s.dma.file[0].base + o->off[i] * 0x1000 + 8);
	}
}

TEST(test_random_history)
{
	struct oracle o;
	int step, page, n, off, i, ret;

	memset(o.first, 0xff, sizeof(o.first));
	srandom(1);
	for (step = 0; step < 4000; step++) {
		page = random() % PAGES;
		n = 1 + random() % 12;
		if (page + n > PAGES)
			n = PAGES - page;
		off = random() % 1024;
		if (random() & 1) {
			ret = map(page * 0x1000ull, n * 0x1000ull, off * 0x1000ull, 3);
			assert_int_equal(ret, oracle_free(&o, page, n) ? 0 : -EEXIST);
			for (i = 0; !ret && i < n; i++) {
				o.first[page + i] = page;
				o.off[page + i] = off + i;
			}
		} else {
			ret = dma_unmap(&fake.s, page * 0x1000ull, n * 0x1000ull);
			assert_int_equal(ret, oracle_unmappable(&o, page, n) ? 0 : -EINVAL);
			for (i = 0; !ret && i < n; i++)
				o.first[page + i] = -1;
		}
		if (step % 50 == 0)
			oracle_check(&o);
	}
	oracle_check(&o);
}

TEST_MAIN(setup, teardown)
