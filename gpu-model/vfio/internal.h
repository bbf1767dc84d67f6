/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of vfio/ share. Any thread calls dma_ptr(), irq_output() and
 * barmap_invalidate(), and through them dma_locate(), irq_update_intx() and functions of pci.c. The
 * other functions are for the socket thread. "Lock held" means gk110.lock; where nothing is said
 * the caller holds no lock.
 */
#ifndef KVGPU_MODEL_VFIO_INTERNAL_H
#define KVGPU_MODEL_VFIO_INTERNAL_H

#include <sys/types.h>

#include "vfio.h"
#include "wire.h"

#define VU_PAGE	   4096u
#define VU_MSG_MAX (sizeof(struct vu_hdr) + sizeof(struct vu_region_access) + VU_DEFAULT_XFER)
#define NR_REGIONS VFIO_PCI_NUM_REGIONS
#define NR_IRQS	   VFIO_PCI_NUM_IRQS

/* ------------------------------------------------------------------ guest memory (dma.c) */

#define DMA_MAX_FILES 255 /* ids 1..255; 0 is video memory in the mapped windows */

/*
 * The table, its entries and files: the socket thread changes them with dma_lock held for writing,
 * other threads read them with it held for reading.
 */
struct dma_file {
	int fd; /* -1: free slot */
	dev_t dev;
	ino_t ino;
	bool writable;
	uint8_t *base;
	uint64_t size;
	unsigned int refs;
};

struct dma_entry {
	uint64_t iova, size;
	uint64_t offset; /* offset in the file */
	int file; /* slot, -1: no memory is shared for it */
	bool readable, writable;
};

struct dma_table {
	struct dma_entry *entry; /* sorted by iova, never overlapping */
	unsigned int nr, cap;
	struct dma_file file[DMA_MAX_FILES];
};

void dma_init(struct dma_table *t);
/* Add an entry; takes over @fd (-1: none). Return 0 or -errno. */
int dma_map(struct vfio_server *s, const struct vu_dma_map *m, int fd);
/*
 * Remove all entries inside of the range. -EINVAL: an entry is partly inside, or the range is
 * wrong.
 */
int dma_unmap(struct vfio_server *s, uint64_t iova, uint64_t size);
void dma_unmap_all(struct vfio_server *s);
void *dma_ptr(void *bus, uint64_t iova, size_t *len, bool write); /* bus_ops.dma_ptr */
/*
 * Find the shared file and the offset of @iova; *@len is cut. Call with dma_lock held for reading.
 */
bool dma_locate(struct vfio_server *s, uint64_t iova, int *file, uint64_t *offset, uint64_t *len,
		bool *writable);

/* ------------------------------------------------------------------ interrupts (irq.c) */

struct irq_state { /* protected by gk110.lock */
	/* eventfds; -1: none */
	int fd[NR_IRQS];
	bool level;
	/* INTx waits for the client's unmask */
	bool masked;
};

void irq_init(struct irq_state *irq);
unsigned int irq_count(unsigned int index);
uint32_t irq_flags(unsigned int index);
/*
 * @data: the bytes behind the structure. Takes over descriptors that it keeps (sets them to -1).
 * Return 0 or -errno.
 */
int irq_set(struct vfio_server *s, const struct vfio_irq_set *set, const uint8_t *data,
	    size_t data_len, int *fds, unsigned int nr_fds);
void irq_disable_all(struct vfio_server *s);
void irq_output(void *bus, bool level, bool edge); /* bus_ops.intr; lock held */
/*
 * Fire INTx if it is due. Call after a change of the line, of the command register, of the mask or
 * of the eventfd. Lock held.
 */
void irq_update_intx(struct vfio_server *s);

/* ------------------------------------------------------------------ configuration space (pci.c) */

/*
 * Set g->config to its reset values. Call before gk110_reset(), as the reset of the units reads and
 * changes g->config. Lock held.
 */
void pci_config_reset(struct gk110 *g);
/* These three read one word: any thread, with or without the lock. */
bool pci_memory_enabled(const struct gk110 *g);
bool pci_bus_master(const struct gk110 *g);
bool pci_intx_enabled(const struct gk110 *g);
void pci_show_intx(struct gk110 *g, bool level); /* lock held */
/* Lock held. */
void pci_config_read(struct gk110 *g, uint32_t off, uint8_t *data, size_t len);
/* Write through the registers' write masks; no side effects. Lock held. */
void pci_config_write(struct gk110 *g, uint32_t off, const uint8_t *data, size_t len);

/* ------------------------------------------------------------------ mapped windows (barmap.c) */

struct barmap;

/* @listen_fd: the plugin socket, taken over. NULL: an error. */
struct barmap *barmap_create(struct vfio_server *s, int listen_fd);
void barmap_destroy(struct barmap *b);
int barmap_start(struct barmap *b, struct gk110 *g);
/*
 * Wait, for a bounded time, for the helper in process @client_pid (0: unknown). True: offer the
 * windows for mapping.
 */
bool barmap_wait_helper(struct barmap *b, pid_t client_pid);
/* The file behind a region (0, 1 or 3), and the part of the region that may be mapped. */
int barmap_region_fd(const struct barmap *b, unsigned int region);
bool barmap_region_area(unsigned int region, uint64_t *off, uint64_t *size);
/* @on: whether the guest can reach its BARs. barmap.lock not held. */
void barmap_enable(struct barmap *b, bool on);
/* Forget all pages: the next access to a page faults and asks again. barmap.lock not held. */
void barmap_reset(struct barmap *b);
/* Call when no client has windows mapped, or the one that had them is gone. */
void barmap_disconnect(struct barmap *b);
void barmap_add_file(struct barmap *b, int slot, int fd);
void barmap_del_file(struct barmap *b, int slot);
/*
 * Guest memory was taken away, or bus mastering changed: check again all pages that show guest
 * memory. barmap.lock not held.
 */
void barmap_recheck_sysmem(struct barmap *b);
/* bus_ops.win_invalidate; lock held, dma_lock not held */
void barmap_invalidate(void *bus, enum bar_window win);
/* A descriptor that becomes readable when the helper is lost while a client may map the windows. */
int barmap_lost_fd(const struct barmap *b);

/* --------------------------------------------------- messages (messages.c, version.c, region.c) */

struct vu_msg {
	struct vu_hdr hdr;
	const uint8_t *data; /* the bytes behind the header, not aligned */
	/* for a handler: within the bounds that messages.c's table has for the command */
	uint32_t len;
	int *fds; /* a handler that keeps a descriptor sets it to -1 */
	unsigned int nr_fds;
	uint8_t *reply; /* room for VU_MSG_MAX - 16 bytes */
	uint32_t reply_len;
	/* descriptor to send with the reply; stays open */
	int reply_fd;
};

struct vfio_client { /* one connection */
	bool greeted; /* VERSION was exchanged */
	bool asked_mapping, mapping;
	pid_t pid;
	uint32_t max_xfer;
	/* Send all, or return -errno. @fd -1: none. */
	int (*send)(void *to, const void *hdr, size_t hdr_len, const void *data, size_t len,
		    int fd);
	void *to;
};

struct vfio_server {
	struct gk110 *g; /* NULL until vfio_server_run() */
	struct dma_table dma;
	struct irq_state irq;
	struct barmap *barmap; /* NULL: no plugin socket was asked for */
	struct vfio_client client;
	uint8_t *reply;
	struct server_sockets *sockets; /* server.c */
};

struct vu_fds { /* descriptors that came with the stream */
	int fd[VU_MAX_FDS];
	unsigned int nr;
	/* offset in the buffer of a byte of the message that the descriptors belong to */
	size_t at;
};

/*
 * Serve the complete messages at the start of @buf. Return the bytes used (the rest is an
 * incomplete message), or -errno: the connection must end. Descriptors go to their message
 * (@fds->nr becomes 0) and are closed unless its handler keeps them; they stay in @fds while the
 * message is incomplete.
 */
ssize_t messages_feed(struct vfio_server *s, const uint8_t *buf, size_t len, struct vu_fds *fds);
/* Reset the state of the connection, when it begins or has ended. */
void client_reset(struct vfio_server *s);
/* A connection ended: drop guest memory, interrupts and mapped pages, and reset the device. */
void client_gone(struct vfio_server *s);
/* Reset the device, its configuration space and the mapped windows. */
void device_reset(struct vfio_server *s);

/* Serve VERSION: 0 and the reply, or -errno. */
int version_negotiate(struct vfio_server *s, struct vu_msg *m);

int region_info(struct vfio_server *s, struct vu_msg *m);
int region_read(struct vfio_server *s, struct vu_msg *m);
int region_write(struct vfio_server *s, struct vu_msg *m);
int region_write_multi(struct vfio_server *s, struct vu_msg *m);

#endif
