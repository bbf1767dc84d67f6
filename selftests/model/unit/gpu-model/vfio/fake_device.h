/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device for the tests of vfio/: it counts accesses, answers reads with fixed values or with the
 * offset. All of vfio/ is real, but server.c is linked in server_test alone; else fake_send() takes
 * its place, in the test's own thread.
 */
#ifndef KVGPU_SELFTESTS_FAKE_DEVICE_H
#define KVGPU_SELFTESTS_FAKE_DEVICE_H

#include "gpu-model/vfio/internal.h"

#define FAKE_VRAM_SIZE (64u << 20)

struct fake_access {
	uint32_t region; /* 0, 1, 3 */
	uint64_t off, val;
	unsigned int size;
};

struct fake {
	struct gk110 *g;
	struct vfio_server s;
	unsigned int resets, nr_access;
	struct fake_access last;
	/*
	 * Translations of each window, by page: number of a page of video memory, plus 1. 0:
	 * faults. FAKE_SYS: a page of guest memory instead. FAKE_RO: read-only.
	 */
	uint64_t *table[NR_WIN];
	atomic_uint faults_recorded, peeks, doorbells;
	_Atomic uint64_t userd_off, userd_size;
	/* the server's last reply */
	uint8_t reply[8192];
	size_t reply_len;
	unsigned int replies;
	int reply_fd;
	char note[512];
};

#define FAKE_RO	 (1ull << 62)
#define FAKE_SYS (1ull << 61)

extern struct fake fake;

/*
 * Makes @fake anew, and ends the state of an earlier test. @greeted: with a client that has sent
 * its version.
 */
void fake_setup(bool greeted);
void fake_teardown(void);

/* Feeds one message. Returns the result of messages_feed(). */
ssize_t fake_send(uint16_t cmd, uint32_t flags, const void *data, size_t len, const int *fds,
		  unsigned int nr_fds);
/* Returns whether the last note or error contains @what. */
bool fake_noted(const char *what);
/* Returns the errno in the last reply; 0: success. */
uint32_t fake_error(void);
const void *fake_payload(void);
size_t fake_payload_len(void);

#endif
