/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VMM's memory as devices see it: type1's container (vfio.c) and iommufd's IOAS (iommufd.c) have
 * the same mappings and pins.
 */
#ifndef KVGPU_HARNESS_CONTAINER_H
#define KVGPU_HARNESS_CONTAINER_H

#include "selftests/harness/kernel/services.h"

#define MAPS 160

struct mapping {
	bool used, prevent_access; /* prevent_access: an iommufd unmap is under way */
	u64 iova, size, ram;
	u32 pins;
	/*
	 * Not 0: the mapping is one page, no memory but a device's page that the VMM has mapped at
	 * this address. While it is pinned, @page is that page.
	 */
	unsigned long device_at;
	struct page page;
};

struct container {
	bool used;
	u32 nr;
	struct mm_struct *mm;
	struct mutex lock; /* iommu->lock; an IOAS's iova_rwsem */
	struct mutex device_list_lock;
	struct list_head devices;
	struct mapping map[MAPS];
	u8 *ram;
	/* Each vfio_dma_rw() takes this long. */
	u64 slow_ns;
	u32 lock_limit; /* RLIMIT_MEMLOCK of the VMM, pages; 0: none */
	u64 warned; /* lines in the host's log about that limit */
	u16 *pins; /* by page of ram */
	struct page page[RAM_PAGES];
};

/* Call the next three with c->lock held. */
/* Return the lowest mapping that has an address from @first to @last; NULL: none has. */
struct mapping *container_find(struct container *c, u64 first, u64 last);
bool container_pin(struct container *c, u64 at, struct page **page);
void container_unpin(struct container *c, u64 at);
/* takes c->lock itself */
int container_rw(struct container *c, u64 iova, void *data, size_t len, bool write);

/* not NULL: called in an unmap of iommufd before each device is asked */
extern void (*ioas_asks)(void);
struct iommufd_access;
int iommufd_pin(struct iommufd_access *a, u64 iova, int npage, struct page **pages);
void iommufd_unpin(struct iommufd_access *a, u64 iova, int npage);
int iommufd_rw(struct iommufd_access *a, u64 iova, void *data, size_t len, bool write);

#endif
