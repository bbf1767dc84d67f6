/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows inside QEMU's address space: find, fill, empty. */
#ifndef KVGPU_MODEL_PLUGIN_UFFD_WINDOW_H
#define KVGPU_MODEL_PLUGIN_UFFD_WINDOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define UW_MAX_AREAS	16
#define UW_RESERVE	16

/* QEMU exports its own names, and they would win over ours: calls must stay inside the helper */
#pragma GCC visibility push(hidden)

struct uw_area {			/* one mapping that QEMU made of (a part of) a window */
	uint8_t *va;
	uint32_t win, page, nr_pages;	/* which pages of the window it shows */
};

struct uw_window {
	uint64_t dev, ino, base, size;
	int fd;				/* the window's own, always empty file */
};

/*
 * Created by the helper, used by two threads: the reader (uw_read_fault) and the worker (everything
 * else). @lock covers the area table, which the worker alone changes.
 */
struct uw {
	int uffd, stop_fd;
	struct uw_window win[BARMAP_NR_WIN];
	struct uw_area area[UW_MAX_AREAS];
	unsigned int nr_areas;
	pthread_mutex_t lock;
	int file[BARMAP_MAX_FILES];
	int ones_fd;			/* a file of UW_ONES bytes, all 0xff */
	/* mappings kept to be given up when the process may have no more */
	void *reserve[UW_RESERVE];
};

/* 0 or -errno: what keeps userfaultfd from working here */
int uw_init(struct uw *w);
/* @fds: the windows' files, taken over */
void uw_set_windows(struct uw *w, const struct barmap_welcome *msg, const int *fds);
/* nobody can fill pages any more: all windows read as ones from now on, who waits goes on */
void uw_blind(struct uw *w);
/* makes uw_read_fault() return -ECANCELED in the other thread */
void uw_stop_reading(struct uw *w);
void uw_fini(struct uw *w);

/* takes over @fd; 0, or -EINVAL */
int uw_set_file(struct uw *w, uint32_t id, int fd);
void uw_forget_file(struct uw *w, uint32_t id);

/* number of areas found, or -errno */
int uw_attach(struct uw *w);
void uw_detach(struct uw *w);
int uw_apply(struct uw *w, const struct barmap_op *ops, unsigned int nr);

/*
 * waits for one fault; 1 and *@f, 0 for an event that needs nothing, -errno when there will be no
 * more
 */
int uw_read_fault(struct uw *w, struct barmap_fault *f);

#pragma GCC visibility pop

#endif
