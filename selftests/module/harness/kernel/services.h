/* SPDX-License-Identifier: GPL-2.0-only */
/* The stand-in's own side, for the harness. The module does not use this. */
#ifndef KVGPU_HARNESS_SERVICES_H
#define KVGPU_HARNESS_SERVICES_H

#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/kernel/kernel.h"

/* work.c */
void work_begin(void);
void work_end(void);
/* Fail if the caller works for a queue of the kernel's own: no item there may wait for a VMM. */
void work_waits_for_vmm(const char *what);

/* device.c: the card's PCI function and the drivers that were registered */
#define BAR1_PHYS 0x100000000ull
#define BAR3_PHYS 0x200000000ull
#define BAR0_SIZE (16u << 20)
#define BAR1_SIZE (256u << 20)
#define BAR3_SIZE (32u << 20)
extern struct mdev_parent *the_parent;
extern u32 host_reads; /* reads of the card by threads of the kernel */
/* the interrupt, whose handler and thread are one thread here */
extern struct irq {
	irqreturn_t (*hard)(int, void *), (*thread)(int, void *);
	void *arg;
	struct task_struct *task;
	bool wake, stop;
	u64 ran; /* ns that the handler and its thread ran, with the sleeps of the thread */
	u64 worked; /* the same without these sleeps */
	u32 runs; /* of the thread, that have begun */
} the_irq;
/* Not NULL: the interrupt thread has read a register, and calls this before it goes on. */
extern void (*irq_has_read)(u32 reg);
void irq_line(void); /* the card raises its interrupt: the handler runs soon */
extern u64 config_ns; /* an access to configuration space takes, as if its thread got no CPU */

/* memory.c: the IOMMU in front of the card */
struct dma_entry {
	dma_addr_t at;
	u64 pfn; /* 0: memory from dma_alloc_coherent() */
	u8 *cpu; /* the memory, when .pfn is 0 */
	size_t size;
	/* the flushes of L2 after which L2 has nothing of the page; 0: it had nothing */
	struct l2_flushes l2;
};
const struct dma_entry *iommu_find(dma_addr_t at);
/* The card has had a translation to the page at @at until now: L2 may have data of the page. */
void iommu_in_l2(dma_addr_t at);
extern bool iommu_bounces; /* a page that is mapped for DMA gets a bounce buffer */
/* If it does not translate, dma_map_page() has no bounce buffers. */
extern enum iommu_kind { IOMMU_TRANSLATES, IOMMU_IDENTITY, IOMMU_NONE } iommu_kind;
void iommu_end(void);

struct pool_piece { /* in use; the memory is the chip's */
	u64 at, size;
	u32 owner; /* the vGPU whose lock was held when it was taken; 0: none */
};
const struct pool_piece *pool_find(u64 at);
extern bool pool_watched; /* taking may fail; pieces given back must be zero */

/* vfio.c: containers as in vfio_iommu_type1, one for each VMM. mm.c: the VMM's address space. */
#define RAM_PAGES 2048
struct mm_struct *mm_new(void);
struct pid *mm_process(struct mm_struct *mm); /* the process that has this memory */
void mm_free(struct mm_struct *mm);
/* A VMM's memory, for type1 (a container: vfio.c) and for iommufd (an IOAS: iommufd.c). */
#define MAPPINGS_MAX 160

struct mapping {
	bool used, prevent_access; /* prevent_access: an iommufd unmap is under way */
	u64 iova, size, ram;
	u32 pins;
	/* not 0: it is one page of a device, which the VMM has mapped here; @page while pinned */
	unsigned long device_at;
	struct page page;
};

struct container {
	u32 nr; /* 0: not in use */
	struct mm_struct *mm;
	struct mutex lock; /* iommu->lock; an IOAS's iova_rwsem */
	struct mutex device_list_lock;
	struct list_head devices;
	struct mapping map[MAPPINGS_MAX];
	struct mapping *maps_end; /* those from here on were never used */
	u8 *ram;
	/* Each vfio_dma_rw() takes this long. */
	u64 slow_ns;
	u32 lock_limit; /* RLIMIT_MEMLOCK of the VMM, pages; 0: none */
	u64 warned; /* lines in the host's log about that limit */
	u16 *pins; /* by page of ram */
	struct page page[RAM_PAGES];
};

struct container *container_new(void); /* with the memory of a new process, .mm */
void containers_end(void); /* frees all, and their processes' memory; fails if a page is pinned */
int container_map(struct container *c, u64 iova, u64 ram, u64 size);
/* Map one page as memory: a page that the VMM's process has mapped of a device at @at. */
int container_map_device(struct container *c, u64 iova, unsigned long at);
u64 container_unmap(struct container *c, u64 iova, u64 size); /* returns the bytes unmapped */
/* Not NULL: called at the end of an unmap, where the kernel copies its answer, without locks. */
extern void (*container_answer)(void);
u8 *container_page(u64 pfn); /* NULL: the page is not pinned */
bool container_pinned(u64 pfn, const struct container *c);
u32 container_pins(const struct container *c);
/* Return the lowest mapping with an address from @first to @last, or NULL. Hold c->lock. */
struct mapping *container_find(struct container *c, u64 first, u64 last);
/* These take c->lock. */
int container_pin_pages(struct container *c, u64 iova, int npage, struct page **pages);
void container_unpin_pages(struct container *c, u64 iova, int npage);
int container_rw(struct container *c, u64 iova, void *data, size_t len, bool write);

/* not NULL: called in an unmap of iommufd before each device is asked */
extern void (*ioas_asks)(void);
struct iommufd_access;
int iommufd_pin(struct iommufd_access *a, u64 iova, int npage, struct page **pages);
void iommufd_unpin(struct iommufd_access *a, u64 iova, int npage);
int iommufd_rw(struct iommufd_access *a, u64 iova, void *data, size_t len, bool write);
extern u32 container_most_rounds; /* an unmap has asked again for one mapping so often so far */

/* iommufd.c: the same memory as an IOAS. An open device is attached and detached at any time. */
int ioas_attach(struct vfio_device *v);
void ioas_detach(struct vfio_device *v);
int ioas_unmap(struct container *c, u64 iova, u64 size);

/* eventfd.c: eventfds 3 to 10. user_eventfd_...() is what user space does with them. */
void eventfd_begin(void);
void eventfd_cost(int fd, u64 ns); /* a signal of @fd takes @ns, as if many waited for it */
/* How often that eventfd was signalled since that call. */
extern struct signalled {
	u32 nr;
	u32 by_host; /* by threads of the kernel */
	u32 locked; /* by threads that held event_lock or gpu->lock of the card */
} signalled;
void eventfd_end(void); /* fails if the kernel still has one */
void user_eventfd_open(int fd);
void user_eventfd_close(int fd);
void user_eventfd_write(int fd);
u64 user_eventfd_read(int fd); /* returns the signals and writes since the last read */

struct mdev_device *mdev_create(const char *type); /* NULL: refused */
void mdev_remove(struct mdev_device *m);
/* Take the card from the module. Fail if a mediated device uses memory of the module still. */
void card_remove(struct pci_dev *pdev);
int device_open(struct vfio_device *v, struct container *c);
void device_close(struct vfio_device *v);

/* debugfs.c: the text of a file, until the next call. @dir: the name of the folder it is in. */
const char *debugfs_text(const char *dir, const char *file);

/* mm.c: mappings of a VMM's process */
/* Return the address; 0: refused. */
unsigned long mm_map(struct mm_struct *mm, struct vfio_device *v, u64 offset, u64 len);
/* From now on each munmap() also unmaps other memory first, which takes @ns. */
void mm_slow(struct mm_struct *mm, u64 ns);
void mm_unmap(struct mm_struct *mm, unsigned long at, u64 len);
unsigned long mm_move(struct mm_struct *mm, unsigned long at, u64 len);
struct mm_struct *mm_fork(struct mm_struct *mm, bool open_first);
/* A CPU accesses a byte. Return the frame, mapped until the next point; 0: SIGBUS or SIGSEGV. */
unsigned long mm_touch(struct mm_struct *mm, unsigned long at);
/* Return the frame that is mapped; 0: none. No point. */
unsigned long mm_look(struct mm_struct *mm, unsigned long at);
/* The same, and the kernel would map 2 MiB at once. Return what the driver does. */
vm_fault_t mm_touch_huge(struct mm_struct *mm, unsigned long at, unsigned int flags);
/* VFIO's container asks for the frame, for another device. Return 0 when that is refused. */
unsigned long mm_for_device(struct mm_struct *mm, unsigned long at);
/* Ask oracle_mapping() about each page that is mapped. What munmap() has taken out is none. */
void mm_check(const char *when);

#endif
