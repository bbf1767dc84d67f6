// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message stream from memory. After every input the books must balance: no descriptor leaked,
 * guest memory consistent.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio/fake_device.h"

#define RAM_SIZE (1u << 20)

static int ram = -1;

static unsigned int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void check_table(void)
{
	const struct dma_table *t = &fake.s.dma;
	unsigned int i, refs = 0, entries = 0;

	for (i = 0; i < t->nr; i++) {
		if (i && t->entry[i - 1].iova + (t->entry[i - 1].size - 1) >= t->entry[i].iova)
			abort();
		if (t->entry[i].file >= 0) {
			if (t->entry[i].offset + t->entry[i].size > t->file[t->entry[i].file].size)
				abort();
			entries++;
		}
	}
	for (i = 0; i < DMA_MAX_FILES; i++)
		refs += t->file[i].fd >= 0 ? t->file[i].refs : 0;
	if (refs != entries)
		abort();
}

static void feed_raw(const uint8_t *data, size_t len)
{
	struct vu_fds fds = { .nr = 1, .at = len / 2 };
	size_t used = 0, step = 1 + len / 3;
	ssize_t n;

	fds.fd[0] = dup(ram);
	while (used < len) {
		size_t avail = used + step < len ? used + step : len;
		uint8_t *exact = malloc(avail - used); /* reads behind the end are seen */

		memcpy(exact, data + used, avail - used);
		n = messages_feed(&fake.s, exact, avail - used, &fds);
		free(exact);
		if (n < 0)
			break;
		used += n;
		fds.at -= n;
		if (!n && avail == len)
			break;
		step = n ? 1 + len / 3 : step * 2;
	}
	if (fds.nr)
		close(fds.fd[0]);
}

/* {command, what comes with it, length, body} ... */
static void feed_messages(const uint8_t *data, size_t len)
{
	int fd[2];

	while (len >= 3) {
		uint16_t cmd = data[0] % 20;
		unsigned int nr = data[1] & 3;
		size_t body = data[2] < len - 3 ? data[2] : len - 3;

		if (nr == 3) {
			client_gone(&fake.s);
			fake.s.client.greeted = true;
			nr = 0;
		}
		fd[0] = data[1] & 4 ? eventfd(0, EFD_NONBLOCK) : dup(ram);
		fd[1] = dup(ram);
		if (nr < 1)
			close(fd[0]);
		if (nr < 2)
			close(fd[1]);
		if (fake_send(cmd, data[1] & 8 ? VU_F_NO_REPLY : 0, data + 3, body, fd, nr) < 0)
			fake.s.client.greeted = true;
		irq_output(&fake.s, data[1] & 16, data[1] & 32);
		check_table();
		data += 3 + body;
		len -= 3 + body;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned int before;

	if (len < 2)
		return 0;
	if (ram < 0) {
		ram = memfd_create("ram", MFD_CLOEXEC);
		if (ftruncate(ram, RAM_SIZE))
			abort();
		fake_setup(true);
	}
	before = open_fds();
	fake.s.client.greeted = !(data[0] & 2);
	if (data[0] & 1)
		feed_raw(data + 1, len - 1);
	else
		feed_messages(data + 1, len - 1);
	check_table();
	client_gone(&fake.s);
	if (open_fds() != before)
		abort();
	return 0;
}
