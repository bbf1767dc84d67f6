/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that barmap.c (the record of pages) and barmap_link.c (the helper inside QEMU)
 * share. "Lock" is barmap.lock here; gk110.lock comes before it.
 */
#ifndef KVGPU_MODEL_VFIO_BARMAP_H
#define KVGPU_MODEL_VFIO_BARMAP_H

#include "plugin/protocol.h"

#include "internal.h"

_Static_assert((unsigned int)BARMAP_NR_WIN == NR_WIN, "the helper's windows are the model's");

#define BARMAP_NR_TRANSIENT 256
#define BARMAP_NR_RECENT    16

/* what a page shows: 0 nothing, else these bits and the page number inside the file */
#define SHOW_MAPPED (1ull << 63)
/* a private mapping: the CPU's writes never reach the memory */
#define SHOW_PRIVATE	(1ull << 62)
#define SHOW_TRANSIENT	(1ull << 61) /* the page will be emptied soon */
#define SHOW_POISON	(1ull << 60) /* the page reads as ones */
#define SHOW_FILE_SHIFT 40
#define SHOW_FILE	(0xffull << SHOW_FILE_SHIFT)
#define SHOW_PAGE	((1ull << SHOW_FILE_SHIFT) - 1)
#define SHOW_VRAM	0u /* file id; guest memory has slot + 1 */

struct barmap_window {
	uint64_t *show; /* per page */
	uint32_t nr_pages;
	uint32_t lo, hi; /* outside of [lo, hi) nothing is shown */
	uint64_t generation;
};

struct barmap_transient {
	enum bar_window win;
	uint32_t page;
	/* @life in ns; @deadline in monotonic ns */
	uint64_t life, deadline;
	bool userd;
};

enum barmap_helper {
	HELPER_NONE,
	HELPER_READY,
	HELPER_USELESS, /* the helper said why it can't help */
};

struct barmap {
	struct vfio_server *server;
	struct gk110 *g;
	/* comes after gk110.lock; protects windows, operations, pages and the helper's state */
	pthread_mutex_t lock;
	pthread_cond_t helper_changed;

	struct barmap_window win[NR_WIN];
	/* the guest can reach its BARs, and the windows are attached */
	bool enabled;
	struct barmap_op op[BARMAP_MAX_OPS];
	unsigned int nr_ops;
	/* operations since the windows were last single mappings, and how many there may be */
	uint64_t cuts, max_cuts;
	struct barmap_transient transient[BARMAP_NR_TRANSIENT]; /* oldest first */
	unsigned int nr_transient;
	struct barmap_transient recent[BARMAP_NR_RECENT]; /* the pages emptied last, a ring */
	unsigned int next_recent;

	/* the helper: barmap_link.c */
	enum barmap_helper helper;
	/* the helper is given up: the link thread will drop it */
	bool broken;
	bool offered;
	int calls, faults;
	pid_t helper_pid;
	uint32_t seq;
	int region_fd[NR_WIN]; /* empty files that the client maps */
	int file[DMA_MAX_FILES]; /* descriptors of dma.c, -1 none */

	/* how long the model waits for a new helper's hello, and for a helper to come */
	atomic_uint hello_ms;
	unsigned int wait_helper_ms;
	int listen_fd, stop_fd, lost_fd; /* constant */
	pthread_t thread; /* barmap_link.c: the link thread */
	bool started;
};

uint64_t barmap_now(void);

/* barmap.c. These two are for the link thread; neither lock nor gk110.lock held. */
void barmap_serve_fault(struct barmap *b, enum bar_window w, uint32_t page, bool write);
/* Empty the transient pages that are due. Return the ns until the next one is due, or -1. */
int64_t barmap_expire(struct barmap *b);
/* Forget what pages show. Any thread; lock held. */
void barmap_forget(struct barmap *b);
/* Make each window one empty mapping again. Any thread; lock held. Return 0 or -errno. */
int barmap_zap_all(struct barmap *b);

/*
 * barmap_link.c. Make one call and wait for its answer, BARMAP_ACK_TIMEOUT_MS at most. Any thread;
 * lock held, and at times gk110.lock, too: do not take that here. Return 0 or a positive value,
 * -errno of the helper, or -EPIPE when the helper is lost.
 */
int barmap_call(struct barmap *b, enum barmap_type type, uint32_t arg, const void *data, size_t len,
		int fd);
/* Do not use the helper any more. Any thread; lock held. */
void barmap_break(struct barmap *b);
void *barmap_thread(void *arg);

#endif
