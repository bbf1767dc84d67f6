// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapped windows, with both ends in one process: the model's part (barmap.c, barmap_link.c), and
 * the helper that QEMU loads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <gk110/bar.h>
#include <gk110/pci.h>

#include "gpu-model/plugin/helper.h"
#include "gpu-model/vfio/barmap.h"

#include "fake_device.h"
#include "selftests/own_folder.h"

#define BAR1_MAP_BASE (2u << 20)
#define FIRST	      (BAR1_MAP_BASE / VU_PAGE) /* first page of BAR1 that is mapped */

static struct helper helper;
static bool helper_on;
static char path[108];
static uint8_t *bar1, *bar3, *pramin; /* bar1: address at which BAR1's page 0 would be */

static void nap(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

static int listen_here(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(path, sizeof(path), "%s/barmap", own_folder());
	unlink(path);
	strcpy(a.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4))
		return -1;
	return fd;
}

static void *map_region(unsigned int region, uint64_t off, uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       barmap_region_fd(fake.s.barmap, region), off);

	return p == MAP_FAILED ? NULL : p;
}

static void map_regions(void)
{
	bar1 = (uint8_t *)map_region(1, BAR1_MAP_BASE, GK110_BAR1_SIZE - BAR1_MAP_BASE) -
	       BAR1_MAP_BASE;
	bar3 = map_region(3, 0, GK110_BAR3_SIZE);
	pramin = map_region(0, PRAMIN_BASE, PRAMIN_SIZE);
}

static void unmap_regions(void)
{
	munmap(bar1 + BAR1_MAP_BASE, GK110_BAR1_SIZE - BAR1_MAP_BASE);
	munmap(bar3, GK110_BAR3_SIZE);
	munmap(pramin, PRAMIN_SIZE);
}

static void start_helper(void)
{
	assert_int_equal(helper_start(&helper, helper_connect(path), NULL), 0);
	helper_on = true;
}

static void write_command(uint16_t cmd)
{
	struct {
		struct vu_region_access a;
		uint16_t cmd;
	} __attribute__((packed)) m = {
		{ .offset = GK110_PCI_CMD_STA, .region = VFIO_PCI_CONFIG_REGION_INDEX, .count = 2 },
		cmd,
	};

	assert_true(fake_send(VU_REGION_WRITE, 0, &m, sizeof(m), NULL, 0) > 0);
	assert_int_equal(fake_error(), 0);
}

static int setup_server(void **state)
{
	int fd;

	fake_setup(true);
	fd = listen_here();
	fake.s.barmap = barmap_create(&fake.s, fd);
	if (!fake.s.barmap)
		return -1;
	/* the helper of a busy machine is not late */
	fake.s.barmap->hello_ms = fake.s.barmap->wait_helper_ms = 60000;
	return barmap_start(fake.s.barmap, fake.g);
}

/* As after a guest's firmware: windows mapped, memory decoding and bus mastering on. */
static int setup(void **state)
{
	if (setup_server(state))
		return -1;
	start_helper();
	if (!barmap_wait_helper(fake.s.barmap, getpid()))
		return -1;
	map_regions();
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	return 0;
}

/*
 * End the helper's threads, as if the model had ended; only while the model is connected. The
 * windows read as ones then.
 */
static void stop_helper(void)
{
	shutdown(helper.calls, SHUT_RDWR);
	pthread_join(helper.worker, NULL);
	helper_on = false;
}

static int teardown_server(void **state)
{
	if (helper_on)
		stop_helper();
	fake_teardown();
	unlink(path);
	return 0;
}

static int teardown(void **state)
{
	teardown_server(state);
	unmap_regions();
	return 0;
}

/* Changes translations as a unit does, before invalidate() tells the bus with g->lock held. */
static void point(enum bar_window w, uint32_t page, uint32_t n, uint64_t entry, uint64_t step)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		__atomic_store_n(&fake.table[w][page + i], entry ? entry + i * step : 0,
				 __ATOMIC_SEQ_CST);
}

static void invalidate(enum bar_window w)
{
	pthread_mutex_lock(&fake.g->lock);
	barmap_invalidate(&fake.s, w);
	pthread_mutex_unlock(&fake.g->lock);
}

static uint32_t *word(uint8_t *window, uint32_t page, uint32_t off)
{
	return (uint32_t *)(window + (size_t)page * VU_PAGE + off);
}

/*
 * An access by a vCPU. The helper changes the mapping meanwhile, which the thread sanitizer would
 * take for a race.
 */
__attribute__((no_sanitize("thread"))) static uint32_t load(uint8_t *window, uint32_t page,
							    uint32_t off)
{
	return __atomic_load_n(word(window, page, off), __ATOMIC_SEQ_CST);
}

__attribute__((no_sanitize("thread"))) static void store(uint8_t *window, uint32_t page,
							 uint32_t off, uint32_t v)
{
	__atomic_store_n(word(window, page, off), v, __ATOMIC_SEQ_CST);
}

static uint32_t *vram(uint32_t page, uint32_t off)
{
	return (uint32_t *)(fake.g->vram + (size_t)page * VU_PAGE + off);
}

/* Waits for @cond; a minute without it is a hang, on any machine. */
#define eventually(cond)                                                                   \
	do {                                                                               \
		uint64_t until_ = barmap_now() + 60000000000ull;                           \
		while (!(cond)) {                                                          \
			if (barmap_now() > until_)                                         \
				fail_msg("line %d: not within 60 s: %s", __LINE__, #cond); \
			nap(1);                                                            \
		}                                                                          \
	} while (0)

static unsigned int nr_transient(void)
{
	unsigned int n;

	pthread_mutex_lock(&fake.s.barmap->lock);
	n = fake.s.barmap->nr_transient;
	pthread_mutex_unlock(&fake.s.barmap->lock);
	return n;
}

/* Waits until no page is mapped for one access only. */
static void settle(void)
{
	eventually(!nr_transient());
}

static void await_doorbells(unsigned int n)
{
	eventually(fake.doorbells >= n);
}

/* ------------------------------------------------------------------ region questions */

static void ask_region(uint32_t index, uint32_t argsz, struct vfio_region_info *r)
{
	*r = (struct vfio_region_info){ .argsz = argsz, .index = index };
	assert_true(fake_send(VU_DEVICE_GET_REGION_INFO, 0, r, sizeof(*r), NULL, 0) > 0);
	assert_int_equal(fake_error(), 0);
	memcpy(r, fake_payload(), sizeof(*r));
}

static void check_sparse(uint32_t index, uint64_t off, uint64_t size)
{
	struct vfio_region_info r;
	struct vu_sparse_cap cap;

	ask_region(index, sizeof(r), &r);
	assert_int_equal(r.flags, 15);
	/* QEMU refuses an offset of 0 even in the first answer */
	assert_int_equal(r.cap_offset, 32);
	assert_int_equal(r.argsz, 64);
	assert_int_equal(fake_payload_len(), 32);
	assert_int_equal(fake.reply_fd, -1);
	ask_region(index, 64, &r);
	assert_int_equal(fake_payload_len(), 64);
	assert_true(fake.reply_fd >= 0);
	memcpy(&cap, (const uint8_t *)fake_payload() + 32, sizeof(cap));
	assert_int_equal(cap.header.id, VFIO_REGION_INFO_CAP_SPARSE_MMAP);
	assert_int_equal(cap.header.version, 1);
	assert_int_equal(cap.nr_areas, 1);
	assert_int_equal(cap.area.offset, off);
	assert_int_equal(cap.area.size, size);
}

TEST_WITH(test_regions_offered, setup_server, teardown_server)
{
	struct vfio_region_info r;

	start_helper();
	fake.s.client.pid = getpid();
	check_sparse(0, PRAMIN_BASE, PRAMIN_SIZE);
	check_sparse(1, 2u << 20, 254u << 20);
	ask_region(3, sizeof(r), &r);
	assert_int_equal(r.flags, 7);
	assert_int_equal(r.argsz, 32);
	assert_true(fake.reply_fd >= 0);
	ask_region(7, sizeof(r), &r);
	assert_int_equal(r.flags, 3);
}

TEST_WITH(test_no_helper_in_time, setup_server, teardown_server)
{
	struct vfio_region_info r;

	fake.s.barmap->wait_helper_ms = 1;
	assert_false(barmap_wait_helper(fake.s.barmap, 0));
	assert_true(fake_noted("no helper came"));
	fake.s.client.asked_mapping = true;
	ask_region(1, sizeof(r), &r);
	assert_int_equal(r.flags, 3);
}

TEST_WITH(test_helper_of_another_process, setup_server, teardown_server)
{
	start_helper();
	assert_false(barmap_wait_helper(fake.s.barmap, getpid() + 1));
	assert_true(fake_noted("the client is"));
}

/* Greets the model as a helper. @note: text that the model must report about it. */
static void say_hello(uint32_t magic, uint32_t version, int error, const char *note)
{
	struct barmap_hello h = {
		.hdr.type = BARMAP_HELLO, .magic = magic, .version = version, .uffd_error = error
	};
	int fd = helper_connect(path);

	assert_true(fd >= 0);
	assert_int_equal(send(fd, &h, sizeof(h), 0), sizeof(h));
	eventually(fake_noted(note));
	close(fd);
}

TEST_WITH(test_helper_without_userfaultfd, setup_server, teardown_server)
{
	say_hello(BARMAP_MAGIC, BARMAP_VERSION, EPERM, "userfaultfd");
	assert_false(barmap_wait_helper(fake.s.barmap, getpid()));
	barmap_disconnect(fake.s.barmap);
	start_helper(); /* a helper that comes later, from the next QEMU, is accepted */
	assert_true(barmap_wait_helper(fake.s.barmap, getpid()));
}

TEST_WITH(test_strangers_on_the_plugin_socket, setup_server, teardown_server)
{
	struct pollfd silent = { .events = POLLIN };

	say_hello(1, BARMAP_VERSION, EPERM, "no helper");
	say_hello(BARMAP_MAGIC, BARMAP_VERSION + 1, EPERM, "version");
	/* says that userfaultfd works, but sends no descriptor for faults */
	say_hello(BARMAP_MAGIC, BARMAP_VERSION, 0, "no helper");
	/* a client that says nothing: the model waits for a while, and then for the next one */
	atomic_store(&fake.s.barmap->hello_ms, 1);
	silent.fd = helper_connect(path);
	assert_int_equal(poll(&silent, 1, 60000), 1);
	assert_true(silent.revents & POLLHUP);
	close(silent.fd);
	atomic_store(&fake.s.barmap->hello_ms, 60000);
	start_helper();
	assert_true(barmap_wait_helper(fake.s.barmap, getpid()));
}

/* ------------------------------------------------------------------ pages */

TEST(test_fault_maps)
{
	point(WIN_BAR1, FIRST, 4, 101, 1);
	*vram(100, 0x10) = 0xabcd1234;
	assert_int_equal(load(bar1, FIRST, 0x10), 0xabcd1234);
	store(bar1, FIRST, 0x20, 77);
	assert_int_equal(*vram(100, 0x20), 77);
	*vram(100, 0x30) = 5; /* the window shows the memory itself, not a copy */
	assert_int_equal(load(bar1, FIRST, 0x30), 5);
	store(bar1, FIRST + 3, 0, 9);
	assert_int_equal(*vram(103, 0), 9);
}

TEST(test_all_windows)
{
	point(WIN_BAR3, 0, 8192, 1, 1);
	point(WIN_PRAMIN, 0, 256, 5001, 1);
	store(bar3, 8191, 0xffc, 1);
	assert_int_equal(*vram(8191, 0xffc), 1);
	store(pramin, 255, 0, 2);
	assert_int_equal(*vram(5255, 0), 2);
	store(bar1, GK110_BAR1_SIZE / VU_PAGE - 1, 0, 3); /* no entry: the write is dropped */
	/* more than 1 if the machine is so busy that the access was tried again */
	assert_true(fake.faults_recorded >= 1);
}

/* One fault maps a contiguous run of pages, up to 2 MiB. Scattered pages are mapped one by one. */
TEST(test_runs)
{
	uint64_t before;
	uint32_t i;

	point(WIN_BAR1, FIRST, 512, 1, 1);
	store(bar1, FIRST, 0, 1);
	before = fake.g->stats.bar_pages_mapped[WIN_BAR1];
	assert_int_equal(before, 512);
	for (i = 0; i < 512; i++)
		store(bar1, FIRST + i, 4, i);
	assert_int_equal(fake.g->stats.bar_pages_mapped[WIN_BAR1], before);
	point(WIN_BAR1, FIRST + 512, 16, 1001, 2);
	for (i = 0; i < 16; i++)
		store(bar1, FIRST + 512 + i, 4, i);
	assert_int_equal(fake.g->stats.bar_pages_mapped[WIN_BAR1], before + 16);
	for (i = 0; i < 16; i++)
		assert_int_equal(*vram(1000 + 2 * i, 4), i);
}

TEST(test_invalidate_repoints)
{
	point(WIN_BAR1, FIRST, 8, 101, 1);
	store(bar1, FIRST + 2, 0, 1);
	point(WIN_BAR1, FIRST, 8, 201, 1);
	/* as with a TLB: without an invalidate the old page is seen */
	assert_int_equal(load(bar1, FIRST + 2, 0), 1);
	invalidate(WIN_BAR1);
	*vram(202, 0) = 22;
	assert_int_equal(load(bar1, FIRST + 2, 0), 22);
	store(bar1, FIRST + 2, 0, 23);
	assert_int_equal(*vram(202, 0), 23);
	assert_int_equal(*vram(102, 0), 1);
}

TEST(test_invalidate_in_the_middle)
{
	uint32_t i;

	point(WIN_BAR1, FIRST, 64, 101, 1);
	store(bar1, FIRST, 0, 1);
	point(WIN_BAR1, FIRST + 10, 3, 0, 0); /* three pages lose their entries */
	point(WIN_BAR1, FIRST + 20, 3, 901, 1); /* three pages move */
	invalidate(WIN_BAR1);
	for (i = 0; i < 64; i++)
		*vram(100 + i, 8) = i;
	for (i = 0; i < 3; i++)
		*vram(900 + i, 8) = 900 + i;
	for (i = 0; i < 64; i++) {
		uint32_t want = i >= 10 && i < 13 ? ~0u : i >= 20 && i < 23 ? 900 + i - 20 : i;

		assert_int_equal(load(bar1, FIRST + i, 8), want);
	}
	assert_true(fake.faults_recorded >= 3);
}

TEST(test_unchanged_pages_stay)
{
	uint64_t mapped;

	point(WIN_BAR1, FIRST, 512, 1, 1);
	store(bar1, FIRST, 0, 1);
	mapped = fake.g->stats.bar_pages_mapped[WIN_BAR1];
	invalidate(WIN_BAR1);
	store(bar1, FIRST + 100, 0, 1);
	assert_int_equal(fake.g->stats.bar_pages_mapped[WIN_BAR1], mapped);
}

TEST(test_fault_reads_ones)
{
	unsigned int before;

	assert_int_equal(load(bar1, FIRST + 7, 0), ~0u);
	before = fake.faults_recorded;
	assert_true(before >= 1);
	assert_int_equal(fake.g->stats.bar_faults[WIN_BAR1], before);
	store(bar1, FIRST + 8, 0, 1); /* dropped */
	assert_true(fake.faults_recorded > before);
	settle();
	before = fake.faults_recorded;
	/* that access is over: a new access makes a new fault */
	assert_int_equal(load(bar1, FIRST + 8, 0), ~0u);
	assert_true(fake.faults_recorded > before);
	settle();
	/* a page that becomes valid is seen at the next access, without an invalidate */
	point(WIN_BAR1, FIRST + 7, 1, 301, 0);
	*vram(300, 0) = 12;
	assert_int_equal(load(bar1, FIRST + 7, 0), 12);
}

TEST(test_read_only)
{
	point(WIN_BAR3, 5, 1, 401 | FAKE_RO, 0);
	*vram(400, 0) = 1;
	assert_int_equal(load(bar3, 5, 0), 1);
	*vram(400, 0) = 2;
	assert_int_equal(load(bar3, 5, 0), 2);
	store(bar3, 5, 0, 3);
	assert_int_equal(*vram(400, 0), 2); /* the write is dropped */
	point(WIN_BAR3, 6, 1, 402 | FAKE_RO, 0);
	*vram(401, 0) = 4;
	store(bar3, 6, 0, 5); /* first access is a write: a fault */
	assert_true(fake.faults_recorded >= 1);
	assert_int_equal(*vram(401, 0), 4);
	settle();
	assert_int_equal(load(bar3, 6, 0), 4); /* after that a read sees memory again */
}

/* ------------------------------------------------------------------ guest memory in a window */

static void map_ram(int fd, uint64_t iova, uint64_t size)
{
	struct vu_dma_map m = { .argsz = sizeof(m), .flags = 3, .address = iova, .size = size };

	assert_int_equal(dma_map(&fake.s, &m, dup(fd)), 0);
}

TEST(test_system_memory)
{
	int fd = memfd_create("ram", MFD_CLOEXEC);
	uint32_t *ram;

	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	ram = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	map_ram(fd, 0x40000000, 1 << 20);
	point(WIN_BAR1, FIRST, 4, (0x40000 + 1) | FAKE_SYS, 1);
	store(bar1, FIRST + 1, 8, 42);
	assert_int_equal(ram[0x1008 / 4], 42);

	/* without bus mastering the card can't access guest memory */
	write_command(GK110_PCI_CMD_MEMORY);
	assert_int_equal(load(bar1, FIRST + 1, 8), ~0u);
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	assert_int_equal(load(bar1, FIRST + 1, 8), 42);

	assert_int_equal(dma_unmap(&fake.s, 0x40000000, 1 << 20), 0);
	assert_int_equal(load(bar1, FIRST + 1, 8), ~0u);
	store(bar1, FIRST + 1, 8, 43);
	assert_int_equal(ram[0x1008 / 4], 42);
	settle();
	map_ram(fd, 0x40000000, 1 << 20); /* map the file again */
	assert_int_equal(load(bar1, FIRST + 1, 8), 42);
	munmap(ram, 1 << 20);
	close(fd);
}

/* ------------------------------------------------------------------ USERD in mapped space */

TEST(test_userd_pages_are_watched)
{
	unsigned int rung;

	fake.userd_off = (FIRST + 16) * VU_PAGE;
	fake.userd_size = 4 * VU_PAGE;
	point(WIN_BAR1, FIRST, 64, 101, 1);
	store(bar1, FIRST, 0, 1); /* run ends before the USERD pages */
	assert_int_equal(fake.g->stats.bar_pages_mapped[WIN_BAR1], 16);
	store(bar1, FIRST + 17, 0x8c, 1);
	assert_int_equal(*vram(117, 0x8c), 1);
	await_doorbells(1);
	settle();
	rung = fake.doorbells;
	store(bar1, FIRST + 17, 0x8c, 2); /* a later write is noticed as well */
	await_doorbells(rung + 1);
	assert_int_equal(*vram(117, 0x8c), 2);
	settle();
	/* the thread that rings doorbells serves this read, too, after it has rung */
	load(bar1, FIRST + 40, 0);
	rung = fake.doorbells;
	nap(50);
	assert_int_equal(fake.doorbells, rung); /* no doorbell is rung without a write */
}

TEST(test_userd_moves_onto_mapped_pages)
{
	point(WIN_BAR1, FIRST, 64, 101, 1);
	store(bar1, FIRST + 20, 0, 1);
	fake.userd_off = (FIRST + 20) * VU_PAGE;
	fake.userd_size = VU_PAGE;
	invalidate(WIN_BAR1);
	store(bar1, FIRST + 20, 0x8c, 1);
	await_doorbells(1);
}

/* ------------------------------------------------------------------ life */

TEST(test_memory_decoding_off_and_on)
{
	point(WIN_BAR1, FIRST, 8, 101, 1);
	*vram(100, 0) = 1;
	assert_int_equal(load(bar1, FIRST, 0), 1);
	write_command(0);
	/* QEMU makes no such access; the answer is right all the same */
	assert_int_equal(load(bar1, FIRST, 0), ~0u);
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	assert_int_equal(load(bar1, FIRST, 0), 1);
}

TEST(test_reset_empties)
{
	point(WIN_BAR1, FIRST, 8, 101, 1);
	store(bar1, FIRST, 0, 1);
	point(WIN_BAR1, FIRST, 8, 0, 0);
	assert_true(fake_send(VU_DEVICE_RESET, 0, NULL, 0, NULL, 0) > 0);
	assert_int_equal(fake_error(), 0);
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	assert_int_equal(load(bar1, FIRST, 0), ~0u);
}

/* Unplug and plug in again: the same process and the same helper make new mappings. */
TEST(test_replug)
{
	point(WIN_BAR1, FIRST, 8, 101, 1);
	store(bar1, FIRST, 0, 1);
	unmap_regions();
	client_gone(&fake.s);
	fake.s.client.greeted = true;
	assert_true(barmap_wait_helper(fake.s.barmap, getpid()));
	map_regions();
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	store(bar1, FIRST, 0, 2);
	assert_int_equal(*vram(100, 0), 2);
}

TEST(test_helper_dies)
{
	uint64_t lost;

	point(WIN_BAR1, FIRST, 8, 101, 1);
	store(bar1, FIRST, 0, 1);
	stop_helper();
	/* reads give ones, as from a dead card */
	assert_int_equal(load(bar1, FIRST, 0), ~0u);
	assert_int_equal(load(bar3, 0, 0), ~0u);
	assert_int_equal(
		poll(&(struct pollfd){ .fd = barmap_lost_fd(fake.s.barmap), .events = POLLIN }, 1,
		     60000),
		1);
	assert_int_equal(read(barmap_lost_fd(fake.s.barmap), &lost, sizeof(lost)), sizeof(lost));
	/* an invalidate does not block without a helper */
	invalidate(WIN_BAR1);
	barmap_disconnect(fake.s.barmap);
	unmap_regions();
	start_helper();
	assert_true(barmap_wait_helper(fake.s.barmap, getpid()));
	map_regions();
	write_command(0);
	write_command(GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER);
	*vram(100, 0) = 8;
	assert_int_equal(load(bar1, FIRST, 0), 8);
}

/* More single pages than the process may map. */
TEST(test_mapping_budget)
{
	uint32_t i, round;

	fake.s.barmap->max_cuts = 100;
	point(WIN_BAR1, FIRST, 1000, 1, 2);
	for (round = 0; round < 2; round++)
		for (i = 0; i < 1000; i++)
			store(bar1, FIRST + i, 4 * round, i + round);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(*vram(2 * i, 0), i);
		assert_int_equal(*vram(2 * i, 4), i + 1);
	}
	pthread_mutex_lock(&fake.s.barmap->lock);
	assert_true(fake.s.barmap->cuts <= 101);
	pthread_mutex_unlock(&fake.s.barmap->lock);
}

/*
 * An invalidate that changes more pages than one batch holds reaches the budget at the first full
 * batch: all pages are taken back while further ones are still to be changed. A page that is shown
 * after that has to be in the record: the next invalidate moves it, too.
 */
TEST(test_mapping_budget_within_an_invalidate)
{
	enum { PAGES = BARMAP_MAX_OPS + 100 };
	uint32_t i, wrong = 0;

	point(WIN_BAR1, FIRST, PAGES, 1, 2);
	for (i = 0; i < PAGES; i++)
		store(bar1, FIRST + i, 0, i);
	pthread_mutex_lock(&fake.s.barmap->lock);
	fake.s.barmap->max_cuts = fake.s.barmap->cuts + BARMAP_MAX_OPS / 2;
	pthread_mutex_unlock(&fake.s.barmap->lock);
	point(WIN_BAR1, FIRST, PAGES, 2001, 2);
	invalidate(WIN_BAR1);
	point(WIN_BAR1, FIRST, PAGES, 4001, 2);
	invalidate(WIN_BAR1);
	for (i = 0; i < PAGES; i++) {
		*vram(4000 + 2 * i, 0) = 4000 + i;
		wrong += load(bar1, FIRST + i, 0) != 4000 + i;
	}
	assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------ hammering */

#define HAMMER_PAGES 16
#define HAMMER_LOADS 2000 /* that the moves have to race with, at least */

static atomic_bool hammer_stop;
/* epoch of the memory that the pages show; odd: a move is under way */
static atomic_uint hammer_epoch;
static atomic_uint_least64_t hammer_stale, hammer_done;

/*
 * The pages of even epoch e lie from video page 1000 + (e & 14) * 64 on, and have the number of
 * their epoch in word 0. A load that starts and ends in the same even epoch must see that epoch.
 */
static void *hammer_load(void *arg)
{
	uint32_t page = (uintptr_t)arg, before, v;

	while (!hammer_stop) {
		before = hammer_epoch;
		v = load(bar1, FIRST + page % HAMMER_PAGES, 0);
		if (!(before & 1) && before == hammer_epoch) {
			hammer_stale += v != before;
			hammer_done++;
		}
		page++;
	}
	return NULL;
}

static void *hammer_store(void *arg)
{
	uint32_t page = 0, before;

	while (!hammer_stop) {
		before = hammer_epoch;
		if (before & 1)
			continue;
		store(bar1, FIRST + page++ % HAMMER_PAGES, 4, before);
	}
	return NULL;
}

static uint32_t hammer_base(uint32_t epoch)
{
	return 1000 + (epoch & 14) * 64;
}

static void hammer_move(uint32_t epoch, uint32_t step)
{
	uint32_t i;

	for (i = 0; i < HAMMER_PAGES; i++) {
		*vram(hammer_base(epoch) + i * step, 0) = epoch;
		*vram(hammer_base(epoch) + i * step, 4) = 0;
	}
	__sync_synchronize();
	point(WIN_BAR1, FIRST, HAMMER_PAGES, hammer_base(epoch) + 1, step);
	invalidate(WIN_BAR1);
}

/* @gaps: no translation between two moves, so that pages become empty and faults race */
static void hammer(bool gaps, uint32_t moves)
{
	uint32_t epoch = 2, i, was, step = 1;
	pthread_t t[3];

	hammer_stop = false;
	hammer_stale = hammer_done = 0;
	hammer_move(epoch, 1);
	hammer_epoch = epoch;
	assert_int_equal(pthread_create(&t[0], NULL, hammer_load, (void *)0), 0);
	assert_int_equal(pthread_create(&t[1], NULL, hammer_load, (void *)5), 0);
	assert_int_equal(pthread_create(&t[2], NULL, hammer_store, NULL), 0);
	while (hammer_done < HAMMER_LOADS || epoch < 2 * moves) {
		hammer_epoch = epoch + 1;
		if (gaps) {
			point(WIN_BAR1, FIRST, HAMMER_PAGES, 0, 0);
			invalidate(WIN_BAR1);
		}
		was = step;
		step = 1 + (epoch / 2) % 3; /* contiguous pages and scattered ones */
		hammer_move(epoch + 2, step);
		epoch += 2;
		hammer_epoch = epoch;
		nap(1);
		/* the pages of the epoch before have no store of this one */
		for (i = 0; i < HAMMER_PAGES; i++)
			assert_true(*vram(hammer_base(epoch - 2) + i * was, 4) < epoch);
	}
	hammer_stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(hammer_stale, 0);
}

TEST(test_hammer_repoint)
{
	hammer(false, 100);
}

TEST(test_hammer_gaps)
{
	hammer(true, 250);
}

/*
 * When the invalidate has returned, a store can't get into the old page: a value that is put there
 * then must stay.
 */
static void *late_store(void *arg)
{
	while (!hammer_stop)
		store(bar1, FIRST, 0, 0x11111111);
	return NULL;
}

TEST(test_no_store_reaches_the_old_page)
{
	pthread_t t;
	uint32_t i;

	hammer_stop = false;
	point(WIN_BAR1, FIRST, 1, 1, 0);
	assert_int_equal(pthread_create(&t, NULL, late_store, NULL), 0);
	for (i = 0; i < 250; i++) {
		uint32_t old = i & 1, new = !old;

		point(WIN_BAR1, FIRST, 1, new + 1, 0);
		invalidate(WIN_BAR1);
		__atomic_store_n(vram(old, 0), 0x22222222, __ATOMIC_SEQ_CST);
		usleep(300);
		assert_int_equal(__atomic_load_n(vram(old, 0), __ATOMIC_SEQ_CST), 0x22222222);
	}
	hammer_stop = true;
	pthread_join(t, NULL);
}

int main(void)
{
	struct uw probe;

	if (uw_init(&probe)) {
		puts("1..0 # SKIP no userfaultfd here (a sandbox may forbid it)");
		return 0;
	}
	uw_fini(&probe);
	return unit_tests_run(setup, teardown, NULL, NULL);
}
