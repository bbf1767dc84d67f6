// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the card in sysfs, maps its BARs, and makes host memory with known bus addresses, as root.
 * kvgpu-attack and kvgpu-bench (selftests/system/bench) link this file. An error ends the program
 * by bail(), which prints "Bail out!" and exits with 1. A kernel that keeps the BARs of a driver's
 * card from user space (CONFIG_IO_STRICT_DEVMEM, where the driver claims them) ends it as skipped.
 * The kernel's settings that this file changes (nr_hugepages, the card's command register) stay
 * changed.
 */
#include "linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gk110/ptimer.h>

#include "gpu.h" /* selftests/system/client/gpu.h: bail() */
#include "tap.h"

enum {
	BAR0_BYTES = 16 << 20,
	ARENA_BYTES = 2 << 20,
	PAGE = 4096,
	PCI_COMMAND = 4,
	COMMAND_MEMORY = 2,
	COMMAND_MASTER = 4,
	COMMAND_NO_INTX = 0x400,
};

static bool file_says(const char *folder, const char *file, const char *want)
{
	char path[512], text[32] = "";
	FILE *f;
	bool same;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "r");
	if (!f)
		return false;
	same = fgets(text, sizeof(text), f) && !strncmp(text, want, strlen(want));
	fclose(f);
	return same;
}

static void find_card(struct machine *m)
{
	DIR *d = opendir("/sys/bus/pci/devices");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		snprintf(m->device, sizeof(m->device), "/sys/bus/pci/devices/%.64s", e->d_name);
		if (file_says(m->device, "vendor", "0x10de") &&
		    file_says(m->device, "class", "0x03")) {
			closedir(d);
			return;
		}
	}
	bail("no PCI display device of vendor 10de");
}

static void find_driver(struct machine *m)
{
	char path[512], link[256];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/driver", m->device);
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = 0;
	snprintf(m->driver, sizeof(m->driver), "%.31s", strrchr(link, '/') + 1);
}

static volatile uint8_t *map_resource(struct machine *m, const char *name, uint64_t *size)
{
	char path[512];
	struct stat st;
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", m->device, name);
	fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		bail("%s: %s", path, strerror(errno));
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED && m->driver[0] && errno == EINVAL) {
		tap_skip("the BARs of a card with a driver", "this kernel keeps them from root");
		exit(tap_finish());
	}
	if (map == MAP_FAILED)
		bail("mmap of %s: %s", path, strerror(errno));
	close(fd);
	*size = st.st_size;
	return map;
}

static uint64_t bus_address(const void *p)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &entry, 8, (uintptr_t)p / PAGE * 8) != 8)
		bail("/proc/self/pagemap: %s", strerror(errno));
	close(fd);
	/*
	 * Bit 63: the page is present. Bits 54:0: its frame, which is 0 without CAP_SYS_ADMIN
	 * (Documentation/admin-guide/mm/pagemap.rst).
	 */
	if (!(entry >> 63) || !(entry << 9 >> 9))
		bail("a locked page has no frame: not root?");
	return (entry << 9 >> 9) * PAGE + (uintptr_t)p % PAGE;
}

static void *huge_page(void)
{
	return mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
}

/* The number may be an admin's, so it is never lowered. */
static void one_more_huge_page(void)
{
	const char *path = "/proc/sys/vm/nr_hugepages";
	FILE *f = fopen(path, "r+");
	unsigned long n;

	if (!f || fscanf(f, "%lu", &n) != 1 || fseek(f, 0, SEEK_SET) ||
	    fprintf(f, "%lu\n", n + 1) < 0 || fflush(f))
		bail("%s: %s", path, strerror(errno));
	fclose(f);
}

/*
 * Take one huge page: it is contiguous, and the kernel does not move it. It is MAP_SHARED, so a
 * write after a fork (tenant.c) makes no copy of it.
 */
static void make_arena(struct bare_pages *a)
{
	void *p = huge_page();

	if (p == MAP_FAILED) {
		one_more_huge_page();
		p = huge_page();
	}
	if (p == MAP_FAILED)
		bail("no huge page: %s", strerror(errno));
	memset(p, 0, ARENA_BYTES);
	a->cpu = p;
	a->bus = bus_address(p);
	a->size = ARENA_BYTES;
}

uint8_t *secret_page(uint64_t *bus)
{
	uint8_t *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);

	if (p == MAP_FAILED)
		bail("no memory");
	memset(p, 0x11, PAGE);
	*bus = bus_address(p);
	return p;
}

/* Make a card without a driver ready: switched on, may master the bus, raises no interrupts. */
static void machine_power(struct machine *m)
{
	char path[512];
	uint16_t command;
	int fd;

	snprintf(path, sizeof(path), "%s/config", m->device);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, &command, 2, PCI_COMMAND) != 2)
		bail("%s: %s", path, strerror(errno));
	command |= COMMAND_MEMORY | COMMAND_MASTER | COMMAND_NO_INTX;
	if (pwrite(fd, &command, 2, PCI_COMMAND) != 2)
		bail("%s: %s", path, strerror(errno));
	close(fd);
}

/* PTIMER stands still after a reset, and nobody has set it. */
static void start_time(struct bare_gpu *g)
{
	bare_write(g, PTIMER_CLOCK_SOURCE, PTIMER_NS_SOURCE_MUL - 1);
	bare_write(g, PTIMER_CLOCK_DIV, PTIMER_NS_DIV);
	bare_write(g, PTIMER_CLOCK_MUL, PTIMER_NS_MUL);
}

void machine_open(struct machine *m)
{
	uint64_t size;

	memset(m, 0, sizeof(*m));
	find_card(m);
	find_driver(m);
	/* a card with a driver is switched on already */
	if (!m->driver[0])
		machine_power(m);
	m->gpu.bars.bar0 = map_resource(m, "resource0", &size);
	if (size != BAR0_BYTES)
		bail("BAR0 has %llu bytes", (unsigned long long)size);
	m->gpu.bars.bar1 = map_resource(m, "resource1", &m->gpu.bars.bar1_size);
	if (!m->driver[0])
		start_time(&m->gpu);
	make_arena(&m->gpu.host);
}
