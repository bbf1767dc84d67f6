/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device for the tests of vfio/: what the bus calls is counted, what it reads comes from plain
 * arrays.
 */
#ifndef KVGPU_SELFTESTS_FAKE_DEVICE_H
#define KVGPU_SELFTESTS_FAKE_DEVICE_H

#include "gpu-model/vfio/internal.h"

#define FAKE_VRAM_SIZE (64u << 20)

struct fake_access {
	uint32_t region;	/* 0, 1, 3 */
	uint64_t off, val;
	unsigned int size;
};

struct fake {
	struct gk110 *g;
	struct vfio_server s;
	unsigned int resets, nr_access;
	struct fake_access last;
	/*
	 * window translation: per page, a page of video memory + 1; 0 faults, FAKE_SYS a bus page,
	 * FAKE_RO read-only
	 */
	uint64_t *table[NR_WIN];
	atomic_uint faults_recorded, peeks, doorbells;
	_Atomic uint64_t userd_off, userd_size;
	/* last reply that the server sent */
	uint8_t reply[8192];
	size_t reply_len;
	unsigned int replies;
	int reply_fd;
	char note[512];
};

#define FAKE_RO		(1ull << 62)
#define FAKE_SYS	(1ull << 61)

extern struct fake fake;

/* makes @fake anew, with a greeted client when @greeted; ends what an earlier one left */
void fake_setup(bool greeted);
void fake_teardown(void);

/* feeds one message; returns what messages_feed() did */
ssize_t fake_send(uint16_t cmd, uint32_t flags, const void *data, size_t len, const int *fds,
		  unsigned int nr_fds);
/* whether the last note or error has @what in it */
bool fake_noted(const char *what);
/* errno of the last reply, 0 when it was good */
uint32_t fake_error(void);
const void *fake_payload(void);
size_t fake_payload_len(void);

#endif
