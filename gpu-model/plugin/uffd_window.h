/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows inside QEMU's address space: find, fill, empty. */
#ifndef KVGPU_MODEL_PLUGIN_UFFD_WINDOW_H
#define KVGPU_MODEL_PLUGIN_UFFD_WINDOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define UW_MAX_AREAS 16
#define UW_RESERVE   16

/* keep calls inside the helper: QEMU exports its own names, which would replace the helper's */
#pragma GCC visibility push(hidden)

struct uw_area {
	uint8_t *va;
	/* the window, and the pages of it, that the mapping shows */
	uint32_t win, page, nr_pages;
};

struct uw_window {
	uint64_t dev, ino, base, size;
	int fd; /* the window's own file */
};

/*
 * The windows. Once the helper's two threads run, the reader calls uw_read_fault() and the worker
 * all other functions. @lock protects the area table, which the worker changes. Hold @lock for the
 * table alone, never across mremap(): that waits for the reader, which takes @lock.
 */
struct uw {
	int uffd, stop_fd;
	struct uw_window win[BARMAP_NR_WIN];
	struct uw_area area[UW_MAX_AREAS];
	unsigned int nr_areas;
	pthread_mutex_t lock;
	int file[BARMAP_MAX_FILES];
	int ones_fd; /* a file of UW_ONES bytes, all 0xff */
	/* unmapped when the process may have no more mappings */
	void *reserve[UW_RESERVE];
};

/* Return 0, or the -errno that says why pages can't be served here. */
int uw_init(struct uw *w);
/* @fds: the windows' files, taken over */
void uw_set_windows(struct uw *w, const struct barmap_welcome *msg, const int *fds);
/* No page can be filled any more: make all windows read as ones, and wake waiting vCPUs. */
void uw_blind(struct uw *w);
/* Make uw_read_fault() return -ECANCELED in the other thread. */
void uw_stop_reading(struct uw *w);
void uw_fini(struct uw *w);

/* Takes over @fd. Return 0, or -EINVAL. */
int uw_set_file(struct uw *w, uint32_t id, int fd);
void uw_forget_file(struct uw *w, uint32_t id);

/* Return the number of areas found, or -errno. */
int uw_attach(struct uw *w);
void uw_detach(struct uw *w);
int uw_apply(struct uw *w, const struct barmap_op *ops, unsigned int nr);

/*
 * Wait for one fault. Return 1 and *@f, 0 for an event that needs no answer, or -errno when there
 * will be no more faults.
 */
int uw_read_fault(struct uw *w, struct barmap_fault *f);

#pragma GCC visibility pop

#endif
