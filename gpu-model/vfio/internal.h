/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of vfio/ share. */
#ifndef KVGPU_MODEL_VFIO_INTERNAL_H
#define KVGPU_MODEL_VFIO_INTERNAL_H

#include <sys/types.h>

#include "vfio.h"
#include "wire.h"

#define VU_PAGE		4096u
#define VU_MSG_MAX	(sizeof(struct vu_hdr) + sizeof(struct vu_region_access) + VU_DEFAULT_XFER)
#define NR_REGIONS	VFIO_PCI_NUM_REGIONS
#define NR_IRQS		VFIO_PCI_NUM_IRQS

/* ------------------------------------------------------------------ guest memory (dma.c) */

#define DMA_MAX_FILES	255	/* ids 1..255; 0 is video memory in the mapped windows */

/*
 * One file that guest memory lies in, mapped once as a whole however many pieces of it are visible
 * to the device. Changed with dma_lock held for writing.
 */
struct dma_file {
	int fd;				/* -1: free slot */
	dev_t dev;
	ino_t ino;
	bool writable;
	uint8_t *base;
	uint64_t size;
	unsigned int refs;		/* entries of the map */
};

struct dma_entry {
	uint64_t iova, size;
	uint64_t offset;		/* in the file */
	int file;			/* slot, -1: the client shared no memory for it */
	bool readable, writable;
};

struct dma_table {
	struct dma_entry *entry;	/* sorted by iova, never overlapping */
	unsigned int nr, cap;
	struct dma_file file[DMA_MAX_FILES];
};

void dma_init(struct dma_table *t);
/* takes over @fd (-1: none); 0 or -errno. Socket thread. */
int dma_map(struct vfio_server *s, const struct vu_dma_map *m, int fd);
/* removes every entry inside the range; -EINVAL when one lies only partly inside */
int dma_unmap(struct vfio_server *s, uint64_t iova, uint64_t size);
void dma_unmap_all(struct vfio_server *s);
void *dma_ptr(void *bus, uint64_t iova, size_t *len, bool write);
/* where in which shared file @iova lies; @len is cut. dma_lock held for reading */
bool dma_locate(struct vfio_server *s, uint64_t iova, int *file, uint64_t *offset, uint64_t *len,
		bool *writable);

/* ------------------------------------------------------------------ interrupts (irq.c) */

struct irq_state {			/* gk110.lock */
	/* eventfds of INTx, MSI, MSI-X (never), error, request; -1: none */
	int fd[NR_IRQS];
	bool level;			/* the line, as the device drives it */
	/* INTx fired (or was masked) and waits for the client's unmask */
	bool masked;
};

void irq_init(struct irq_state *irq);
unsigned int irq_count(unsigned int index);
uint32_t irq_flags(unsigned int index);
/* @data: the bytes behind the structure. Takes over fds it uses (sets them to -1). 0 or -errno */
int irq_set(struct vfio_server *s, const struct vfio_irq_set *set, const uint8_t *data,
	    size_t data_len, int *fds, unsigned int nr_fds);
void irq_disable_all(struct vfio_server *s);
void irq_output(void *bus, bool level, bool edge);
/* a command register or unmask changed what INTx may do; lock held */
void irq_update_intx(struct vfio_server *s);

/* ------------------------------------------------------------------ configuration space (pci.c) */

/* reset values into g->config; lock held */
void pci_config_reset(struct gk110 *g);
bool pci_memory_enabled(const struct gk110 *g);
/* may be asked by any thread: engines ask for every access to guest memory */
bool pci_bus_master(const struct gk110 *g);
bool pci_intx_enabled(const struct gk110 *g);
void pci_show_intx(struct gk110 *g, bool level);
void pci_config_read(struct gk110 *g, uint32_t off, uint8_t *data, size_t len);
/* applies the register's write masks; no side effects. lock held */
void pci_config_write(struct gk110 *g, uint32_t off, const uint8_t *data, size_t len);

/* ------------------------------------------------------------------ mapped windows (barmap.c) */

struct barmap;

/* NULL after gk110_err(); @path is bound already as @listen_fd (taken over) */
struct barmap *barmap_create(struct vfio_server *s, int listen_fd);
void barmap_destroy(struct barmap *b);
int barmap_start(struct barmap *b, struct gk110 *g);
/*
 * waits a bounded time for the helper in process @client_pid (0: unknown); true: offer the windows
 * for mapping
 */
bool barmap_wait_helper(struct barmap *b, pid_t client_pid);
/* file behind a region (0, 1 or 3) and the part of it that may be mapped */
int barmap_region_fd(const struct barmap *b, unsigned int region);
bool barmap_region_area(unsigned int region, uint64_t *off, uint64_t *size);
/* the guest can, or can't, reach its BARs; lock not held */
void barmap_enable(struct barmap *b, bool on);
/* everything forgotten: the next access of a page asks again; lock not held */
void barmap_reset(struct barmap *b);
/* the client is gone, or there is none */
void barmap_disconnect(struct barmap *b);
void barmap_add_file(struct barmap *b, int slot, int fd);
void barmap_del_file(struct barmap *b, int slot);
/*
 * guest memory or bus mastering changed: pages that show guest memory are looked at again; lock not
 * held
 */
void barmap_recheck_sysmem(struct barmap *b);
void barmap_invalidate(void *bus, enum bar_window win);
/* becomes readable when the helper is lost while a client has windows mapped */
int barmap_lost_fd(const struct barmap *b);

/* --------------------------------------------------- messages (messages.c, version.c, region.c) */

struct vu_msg {
	struct vu_hdr hdr;
	const uint8_t *data;		/* behind the header, not aligned */
	uint32_t len;
	int *fds;			/* a handler that keeps one sets it to -1 */
	unsigned int nr_fds;
	uint8_t *reply;			/* room for VU_MSG_MAX - 16 bytes */
	uint32_t reply_len;
	int reply_fd;			/* not closed */
};

struct vfio_client {			/* one connection */
	bool greeted;			/* VERSION was exchanged */
	bool asked_mapping, mapping;	/* decided at the first question for a region */
	pid_t pid;
	uint32_t max_xfer;		/* the peer's limit for data in one message */
	/* sends all or returns -errno; @fd -1: none */
	int (*send)(void *to, const void *hdr, size_t hdr_len, const void *data, size_t len,
		    int fd);
	void *to;
};

struct vfio_server {
	struct gk110 *g;
	struct dma_table dma;
	struct irq_state irq;
	struct barmap *barmap;		/* NULL: no plugin socket was asked for */
	struct vfio_client client;
	uint8_t *reply;
	struct server_sockets *sockets;	/* server.c */
};

struct vu_fds {				/* descriptors that came with the stream */
	int fd[VU_MAX_FDS];
	unsigned int nr;
	/* offset in the buffer of a byte of the message they belong to */
	size_t at;
};

/*
 * Serves the complete messages at the start of @buf. Returns the bytes used (the rest is an
 * incomplete message), or -errno after a note: the stream makes no sense any more and the
 * connection must end. Descriptors are handed to their message (@fds->nr becomes 0) and closed
 * unless it keeps them; while it is incomplete they stay.
 */
ssize_t messages_feed(struct vfio_server *s, const uint8_t *buf, size_t len, struct vu_fds *fds);
/* state of a connection that begins or ended */
void client_reset(struct vfio_server *s);
/* a connection ended: guest memory, interrupts and mapped pages go, the device is reset */
void client_gone(struct vfio_server *s);
/* reset by message: device, configuration space, mapped windows */
void device_reset(struct vfio_server *s);

/* VERSION: 0 and the reply, or -errno */
int version_negotiate(struct vfio_server *s, struct vu_msg *m);

int region_info(struct vfio_server *s, struct vu_msg *m);
int region_read(struct vfio_server *s, struct vu_msg *m);
int region_write(struct vfio_server *s, struct vu_msg *m);
int region_write_multi(struct vfio_server *s, struct vu_msg *m);

#endif
