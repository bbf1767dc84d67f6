/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages between the GPU model and its helper inside QEMU.
 *
 * Two SOCK_SEQPACKET channels, one message per packet:
 *   calls   model -> helper. The helper answers each by one BARMAP_ACK. This channel is the
 *           helper's connection to the model's socket.
 *   faults  helper -> model, BARMAP_FAULT only. The model does not answer it, but makes a call that
 *           fills the page or wakes the vCPU.
 *
 * Opening: helper sends HELLO on calls (with the faults channel attached unless @uffd_error), model
 * sends WELCOME. After a HELLO with @uffd_error, or of another version, the model closes the
 * connection instead.
 */
#ifndef KVGPU_MODEL_PLUGIN_PROTOCOL_H
#define KVGPU_MODEL_PLUGIN_PROTOCOL_H

#include <stdint.h>

#define BARMAP_MAGIC	  0x30313147u
#define BARMAP_VERSION	  1u
#define BARMAP_PAGE_SHIFT 12
#define BARMAP_NR_WIN	  3 /* numbers as in the model's enum bar_window */
#define BARMAP_MAX_FILES  256
#define BARMAP_MAX_OPS	  512 /* in one BARMAP_BATCH */
/* QEMU waits 5 s for the model, which may wait for the helper */
#define BARMAP_ACK_TIMEOUT_MS 4000
#define BARMAP_GOOD_MAP_COUNT 262144u

enum barmap_type {
	BARMAP_HELLO = 1,
	BARMAP_WELCOME, /* with one descriptor for each window, its region's file */
	BARMAP_ACK,
	BARMAP_FAULT,
	BARMAP_FILE, /* @arg: id; the file comes as descriptor */
	BARMAP_FORGET, /* @arg: id; close the file, no page shows it any more */
	/* find QEMU's mappings of the windows; the ack's value: how many were found */
	BARMAP_ATTACH,
	BARMAP_DETACH, /* the windows will be unmapped: do not touch them any more */
	/*
	 * @arg: number of operations that follow. The helper stops at the first that fails; those
	 * before it stay done.
	 */
	BARMAP_BATCH,
};

/* @seq: the model counts its calls, and an ACK has its call's number; another one ends the link */
struct barmap_hdr {
	uint32_t type;
	uint32_t seq;
	uint32_t arg;
	uint32_t reserved;
};

struct barmap_hello {
	struct barmap_hdr hdr;
	uint32_t magic, version;
	/* 0, or the errno that says why pages can't be served (no userfaultfd, no /proc) */
	int32_t uffd_error;
	uint32_t max_map_count; /* vm.max_map_count, 0 unknown */
};

/* a window is [base, base + size) of the file that QEMU maps for the region */
struct barmap_welcome {
	struct barmap_hdr hdr;
	uint32_t magic, version;
	struct {
		uint64_t dev, ino;
		uint64_t base, size;
	} win[BARMAP_NR_WIN];
};

struct barmap_ack {
	struct barmap_hdr hdr;
	int32_t error; /* 0 or errno */
	uint32_t value;
};

struct barmap_fault {
	struct barmap_hdr hdr;
	uint32_t win, page;
	uint32_t write;
	uint32_t reserved;
};

enum barmap_op_code {
	BARMAP_MAP = 1, /* pages show @file from @file_page on; wakes waiting vCPUs */
	/*
	 * pages read as ones; a write stays in QEMU and is read back until the page is emptied;
	 * wakes waiting vCPUs
	 */
	BARMAP_POISON,
	BARMAP_ZAP, /* pages are emptied: the next access faults */
	BARMAP_WAKE, /* changes nothing: waiting vCPUs try again */
};

#define BARMAP_F_PRIVATE 1u /* MAP: writes stay in QEMU and never reach the file */

struct barmap_op {
	uint32_t code;
	uint32_t win, page, nr_pages;
	uint32_t file, flags;
	uint64_t file_page;
};

_Static_assert(sizeof(struct barmap_hdr) == 16, "padding");
_Static_assert(sizeof(struct barmap_welcome) == 24 + 32 * BARMAP_NR_WIN, "padding");
_Static_assert(sizeof(struct barmap_op) == 32, "padding");

#endif
