// SPDX-License-Identifier: GPL-2.0-only
/*
 * vGPUs and the processes that use them, from outside: they are made, told what to do, looked at
 * through sysfs, and removed.
 */
#include "tenant.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gk110/ce.h>

static char card[256]; /* sysfs folder */

static void __attribute__((noreturn)) bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void find_card(const char *address)
{
	DIR *d = opendir("/sys/bus/pci/drivers/kvgpu");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strchr(e->d_name, ':') && (!address || !strcmp(e->d_name, address)))
			snprintf(card, sizeof(card), "/sys/bus/pci/devices/%.64s", e->d_name);
	if (!d || !card[0])
		bail(address ? "kvgpu does not have that card" : "no card with driver kvgpu");
	closedir(d);
}

/* ------------------------------------------------------------------ files */

static bool read_file(const char *path, char *text, unsigned int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return true;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

static uint64_t value(const char *path)
{
	char text[64];

	return read_file(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : ~0ull;
}

static const char *vgpu_path(const struct tenant *t, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/kvgpu/%s", t->uuid, name);
	return path;
}

static const char *card_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/kvgpu/%s", card, name);
	return path;
}

uint64_t vgpu_value(const struct tenant *t, const char *name)
{
	return value(vgpu_path(t, name));
}

int vgpu_write(const struct tenant *t, const char *name, const char *text)
{
	return write_file(vgpu_path(t, name), text);
}

int vgpu_open(const struct tenant *t, const char *name)
{
	int fd = open(vgpu_path(t, name), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		bail(name);
	return fd;
}

uint64_t value_read(int fd)
{
	char text[64];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return ~0ull;
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

uint64_t card_value(const char *name)
{
	return value(card_path(name));
}

int card_write(const char *name, const char *text)
{
	return write_file(card_path(name), text);
}

bool card_read(const char *name, char *text, unsigned int size)
{
	return read_file(card_path(name), text, size);
}

volatile uint32_t *card_registers(void)
{
	char path[512];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/resource0", card);
	fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

/* The interrupts are turned off again and again: a reset of an engine turns them on. */
bool mute_engines(unsigned int seconds)
{
	volatile uint32_t *regs = card_registers();
	uint64_t end = now_ns() + seconds * 1000000000ull;
	unsigned int i;

	while (regs && now_ns() < end) {
		for (i = 0; i < GK110_CE_NR; i++)
			regs[(GK110_CE(i) + GK110_CE_INTR_EN) / 4] = 0;
		usleep(20000);
	}
	return regs;
}

/* ------------------------------------------------------------------ life */

int vgpu_make(struct tenant *t, unsigned int nr, const char *type)
{
	char path[512];

	memset(t, 0, sizeof(*t));
	snprintf(t->uuid, sizeof(t->uuid), "7e4a4715-0000-4000-8000-%012u", nr);
	snprintf(path, sizeof(path), "%s/mdev_supported_types/kvgpu-%s/create", card, type);
	return write_file(path, t->uuid);
}

void tenant_create(struct tenant *t, unsigned int nr, const char *type)
{
	errno = vgpu_make(t, nr, type);
	if (errno)
		bail("making a vGPU");
	t->shared = mmap(NULL, sizeof(*t->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->shared == MAP_FAILED)
		bail("no memory");
}

void tenant_start(struct tenant *t, enum role role)
{
	memset(t->shared, 0, sizeof(*t->shared));
	t->role = role;
	fflush(stdout);
	t->pid = fork();
	if (t->pid < 0)
		bail("fork");
	if (!t->pid)
		tenant_main(t->uuid, role, t->shared);
}

bool tenant_await(struct tenant *t, enum state state, unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < ms && t->shared->state < (int)state; i++)
		usleep(1000);
	return t->shared->state >= (int)state;
}

bool tenant_end(struct tenant *t)
{
	int status = -1;

	t->shared->order = ORDER_END;
	if (waitpid(t->pid, &status, 0) != t->pid)
		return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

void tenant_remove(struct tenant *t)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", t->uuid);
	errno = write_file(path, "1");
	if (errno)
		bail("removing a vGPU");
	if (t->shared)
		munmap(t->shared, sizeof(*t->shared));
}
