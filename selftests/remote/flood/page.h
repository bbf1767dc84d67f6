/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory in which servers' processes count: a file that KVGPU_FLOOD_PAGE names. */
#ifndef KVGPU_SELFTESTS_REMOTE_FLOOD_PAGE_H
#define KVGPU_SELFTESTS_REMOTE_FLOOD_PAGE_H

#include <stdint.h>

/* each word atomic; of clients that attack, but for .verified */
struct flood_page {
	uint64_t calls; /* of the library */
	uint64_t ends; /* of completion slots  in host memory, with bytes */
	uint64_t later; /* functions and copies that the library's thread carried out */
	uint64_t verified; /* calls of clients that verify */
};

/* a client that calls cuDeviceGetByPCIBusId() with a text that begins so attacks from then on */
#define FLOOD_ATTACKS "attacks "

#endif
