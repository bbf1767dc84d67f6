/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stand-in for the kernel: devices, PCI, DMA, registers, user mappings, VFIO, and all of its
 * other headers. The linux/ headers of HARNESS_LINUX (harness.mk) lead here, also where the system
 * has one of that name. Add one to that list if the module newly includes it and
 * include/user/linux/ does not have it.
 */
#ifndef KVGPU_HARNESS_KERNEL_H
#define KVGPU_HARNESS_KERNEL_H

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "selftests/module/harness/kernel/containers.h"
#include "selftests/module/harness/kernel/sync.h"

/* ------------------------------------------------------------------ devices */

struct kobject {
	int unused;
};
struct device {
	struct kobject kobj;
	void *drvdata;
	const char *name;
	int refs;
	void (*release)(struct device *d);
	u64 mask, bus_dma_limit;
};
struct device *get_device(struct device *d);
void put_device(struct device *d); /* a mediated device is freed at its last reference */
struct device_attribute;
struct attribute {
	const char *name;
	umode_t mode;
};
struct attribute_group {
	const char *name;
	struct attribute **attrs;
};
struct device_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device *dev, struct device_attribute *attr, char *buf);
	ssize_t (*store)(struct device *dev, struct device_attribute *attr, const char *buf,
			 size_t len);
};

#define DEVICE_ATTR_RO(n) struct device_attribute dev_attr_##n = { { #n, 0444 }, n##_show, NULL }
#define DEVICE_ATTR_RW(n) \
	struct device_attribute dev_attr_##n = { { #n, 0644 }, n##_show, n##_store }
#define KOBJ_CHANGE		  2
#define kobject_uevent(k, action) ((void)(k))

#define dev_name(d)	      ((d)->name)
#define dev_get_drvdata(d)    ((d)->drvdata)
#define dev_set_drvdata(d, p) ((d)->drvdata = (p))
#define dev_to_node(d)	      ((void)(d), 0)
void harness_log(const struct device *dev, const char *level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define dev_err(d, ...)	       harness_log(d, "error", __VA_ARGS__)
#define dev_warn(d, ...)       harness_log(d, "warning", __VA_ARGS__)
#define dev_notice(d, ...)     harness_log(d, "notice", __VA_ARGS__)
#define dev_info(d, ...)       harness_log(d, "info", __VA_ARGS__)
#define dev_dbg(d, ...)	       harness_log(d, "debug", __VA_ARGS__)
#define dev_err_ratelimited    dev_err
#define dev_warn_ratelimited   dev_warn
#define dev_notice_ratelimited dev_notice
#define pci_info(p, ...)       dev_info(&(p)->dev, __VA_ARGS__)
#define pr_err(...)	       harness_log(NULL, "error", __VA_ARGS__)
#define dev_err_probe(d, e, ...)         \
	({                               \
		dev_err(d, __VA_ARGS__); \
		(e);                     \
	})

/* no_snoop: its control register lets it read memory without a look into the CPU's caches */
struct pci_dev {
	struct device dev;
	bool msi_enabled, master, enabled, no_snoop;
};
struct pci_device_id {
	u32 vendor, device;
	kernel_ulong_t driver_data;
};
struct dev_pm_ops {
	int (*prepare)(struct device *dev);
};
struct device_driver {
	const char *name, *mod_name;
	struct module *owner;
	const struct dev_pm_ops *pm;
	const struct attribute_group **dev_groups;
};
struct pci_error_handlers {
	void (*reset_prepare)(struct pci_dev *pdev);
};
struct pci_driver {
	const char *name;
	const struct pci_device_id *id_table;
	int (*probe)(struct pci_dev *pdev, const struct pci_device_id *id);
	void (*remove)(struct pci_dev *pdev);
	void (*shutdown)(struct pci_dev *pdev);
	const struct pci_error_handlers *err_handler;
	const struct attribute_group **dev_groups;
	struct device_driver driver;
};
#define PCI_VENDOR_ID_NVIDIA  0x10de
#define PCI_DEVICE(v, d)      .vendor = (v), .device = (d)
#define PCI_IRQ_MSI	      1
#define PCI_IRQ_ALL_TYPES     7
#define pci_name(p)	      ((p)->dev.name)
#define pci_set_drvdata(p, d) dev_set_drvdata(&(p)->dev, d)
#define pci_get_drvdata(p)    dev_get_drvdata(&(p)->dev)
extern struct pci_driver *the_pci_driver;
#define pci_register_driver(d)	 (the_pci_driver = (d), 0)
#define pci_unregister_driver(d) ((void)(d), the_pci_driver = NULL)
int pci_enable_device_mem(struct pci_dev *p);
void pci_disable_device(struct pci_dev *p);
#define pci_request_regions(p, name) ((void)(p), 0)
#define pci_release_regions(p)	     ((void)(p))
void pci_set_master(struct pci_dev *p);
void pci_clear_master(struct pci_dev *p);
int pci_read_config_word(struct pci_dev *p, int where, u16 *val);
int pcie_capability_clear_word(struct pci_dev *p, int pos, u16 clear);
resource_size_t pci_resource_start(struct pci_dev *p, int bar);
resource_size_t pci_resource_len(struct pci_dev *p, int bar);
void __iomem *pci_iomap(struct pci_dev *p, int bar, unsigned long max);
#define pci_iounmap(p, at) ((void)(at))
int pci_alloc_irq_vectors(struct pci_dev *p, unsigned int min_vecs, unsigned int max_vecs,
			  unsigned int flags);
#define pci_free_irq_vectors(p)		    ((p)->msi_enabled = false)
#define pci_irq_vector(p, n)		    (33 + (n))
#define arch_io_reserve_memtype_wc(at, len) 0
#define arch_io_free_memtype_wc(at, len)

typedef enum { IRQ_NONE, IRQ_HANDLED, IRQ_WAKE_THREAD } irqreturn_t;
#define IRQF_ONESHOT 1
#define IRQF_SHARED  2
int request_threaded_irq(int irq, irqreturn_t (*hard)(int, void *),
			 irqreturn_t (*thread)(int, void *), unsigned long flags, const char *name,
			 void *arg);
void free_irq(int irq, void *arg);
void irq_wake_thread(int irq, void *arg);

struct firmware {
	size_t size;
	const u8 *data;
};
int request_firmware(const struct firmware **fw, const char *name, struct device *dev);
void release_firmware(const struct firmware *fw);

/* ----------------------------------------------------------------- registers, windows, the pool */

u32 ioread32(const void __iomem *at);
u8 ioread8(const void __iomem *at);
void iowrite32(u32 val, void __iomem *at);
void iowrite8(u8 val, void __iomem *at);
void writeq(u64 val, void __iomem *at);
#define writel iowrite32
void memset_io(void __iomem *at, int c, size_t n);
void memcpy_fromio(void *to, const void __iomem *from, size_t n);
void memcpy_toio(void __iomem *to, const void *from, size_t n);
void __iowrite64_copy(void __iomem *to, const void *from, size_t nr);
void __iomem *ioremap(resource_size_t at, size_t n);
#define ioremap_wc  ioremap
#define iounmap(at) ((void)(at))

struct gen_pool;
struct genpool_data_align {
	int align;
};
struct gen_pool *gen_pool_create(int order, int node);
int gen_pool_add(struct gen_pool *p, unsigned long at, size_t n, int node);
void gen_pool_destroy(struct gen_pool *p);
unsigned long gen_pool_alloc_algo(struct gen_pool *p, size_t n, void *algo, void *data);
void gen_pool_free(struct gen_pool *p, unsigned long at, size_t n);
size_t gen_pool_avail(struct gen_pool *p);
#define gen_pool_first_fit_align NULL

/* ----------------------------------------------------------- DMA: an IOMMU in front of the card */

struct page {
	u64 pfn;
	bool reserved;
};
#define PageReserved(p) ((p)->reserved)
enum dma_data_direction { DMA_BIDIRECTIONAL };
#define DMA_BIT_MASK(n)			((1ull << (n)) - 1)
#define dma_set_mask_and_coherent(d, m) ((d)->mask = (m), 0)
#define dma_get_mask(d)			((d)->mask ?: DMA_BIT_MASK(32))
void *dma_alloc_coherent(struct device *d, size_t n, dma_addr_t *at, gfp_t gfp);
void dma_free_coherent(struct device *d, size_t n, void *cpu, dma_addr_t at);
dma_addr_t dma_map_page(struct device *d, struct page *page, size_t off, size_t n,
			enum dma_data_direction dir);
void dma_unmap_page(struct device *d, dma_addr_t at, size_t n, enum dma_data_direction dir);
#define dma_mapping_error(d, at) ((at) == ~0ull)
#define is_zone_device_page(p)	 ((void)(p), false)
struct iommu_domain {
	unsigned int type;
};
#define IOMMU_DOMAIN_IDENTITY 4u
struct iommu_domain *iommu_get_domain_for_dev(struct device *d);
phys_addr_t iommu_iova_to_phys(struct iommu_domain *domain, dma_addr_t at);
#define page_to_phys(p) ((p)->pfn << PAGE_SHIFT)
#define IOMMU_READ	1
#define IOMMU_WRITE	2

/* ------------------------------------------------------------------ user memory and mappings */

struct vm_fault;
struct vm_area_struct;
struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	int (*mremap)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	vm_fault_t (*fault)(struct vm_fault *vmf);
	vm_fault_t (*huge_fault)(struct vm_fault *vmf, unsigned int order);
};
struct vm_area_struct {
	struct list_head node;
	struct mm_struct *vm_mm;
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	int vm_page_prot;
	void *vm_private_data;
	struct file *vm_file;
	const struct vm_operations_struct *vm_ops;
	u32 walkers; /* threads that walk its page tables at this moment */
};
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address;
	unsigned int flags;
};
#define FAULT_FLAG_ALLOW_RETRY	 0x04
#define FAULT_FLAG_RETRY_NOWAIT	 0x08
#define FAULT_FLAG_USER		 0x40
#define FAULT_FLAG_REMOTE	 0x80
#define FAULT_FLAG_INTERRUPTIBLE 0x200
#define VM_FAULT_OOM		 1
#define VM_FAULT_SIGBUS		 2
#define VM_FAULT_NOPAGE		 0x100
#define VM_FAULT_RETRY		 0x400
#define VM_FAULT_FALLBACK	 0x800
#define VM_SHARED		 8
#define VM_IO			 0x4000
#define VM_PFNMAP		 0x400
#define VM_DONTCOPY		 0x20000
#define VM_DONTEXPAND		 0x40000
#define VM_DONTDUMP		 0x4000000
#define pgprot_writecombine(p)	 (p)
vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long address, unsigned long pfn);
vm_fault_t vmf_insert_pfn_pmd(struct vm_fault *vmf, unsigned long pfn, bool write);
#define CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
#define PMD_ORDER 9
int zap_vma_ptes(struct vm_area_struct *vma, unsigned long address, unsigned long size);
bool mmget_not_zero(struct mm_struct *mm);
void mmput(struct mm_struct *mm);
void mmap_read_lock(struct mm_struct *mm);
void mmap_read_unlock(struct mm_struct *mm);
void mmap_write_lock(struct mm_struct *mm);
void mmap_write_unlock(struct mm_struct *mm);

/* User memory is always there. At times a copy takes mmap_lock nevertheless, as a fault does. */
unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
#define copy_to_user copy_from_user
void *memdup_user(const void __user *from, size_t n);

/* ------------------------------------------------------------------ eventfds */

struct virqfd;
struct eventfd_ctx {
	int refs; /* the kernel's references */
	u64 count;
	bool closed; /* by user space */
	struct virqfd *waits;
};
struct eventfd_ctx *eventfd_ctx_fdget(int fd);
void eventfd_ctx_put(struct eventfd_ctx *ctx);
void eventfd_signal(struct eventfd_ctx *ctx);
int vfio_virqfd_enable(void *opaque, int (*handler)(void *, void *), void (*thread)(void *, void *),
		       void *data, struct virqfd **pvirqfd, int fd);
void vfio_virqfd_disable(struct virqfd **pvirqfd);

/* ------------------------------------------------------------------ VFIO and mediated devices */

struct vfio_info_cap {
	struct vfio_info_cap_header *buf;
	size_t size;
};
int vfio_info_add_capability(struct vfio_info_cap *caps, struct vfio_info_cap_header *cap,
			     size_t size);
#define vfio_info_cap_shift(caps, offset) ((void)(caps))
int vfio_set_irqs_validate_and_prepare(struct vfio_irq_set *hdr, int num_irqs, int max_irq_type,
				       size_t *data_size);

struct vfio_device;
struct iommufd_ctx;
struct vfio_device_ops {
	char *name;
	int (*bind_iommufd)(struct vfio_device *vdev, struct iommufd_ctx *ictx, u32 *out_device_id);
	void (*unbind_iommufd)(struct vfio_device *vdev);
	int (*attach_ioas)(struct vfio_device *vdev, u32 *pt_id);
	void (*detach_ioas)(struct vfio_device *vdev);
	int (*init)(struct vfio_device *vdev);
	void (*release)(struct vfio_device *vdev);
	int (*open_device)(struct vfio_device *vdev);
	void (*close_device)(struct vfio_device *vdev);
	ssize_t (*read)(struct vfio_device *vdev, char __user *buf, size_t count, loff_t *ppos);
	ssize_t (*write)(struct vfio_device *vdev, const char __user *buf, size_t count,
			 loff_t *ppos);
	long (*ioctl)(struct vfio_device *vdev, unsigned int cmd, unsigned long arg);
	int (*mmap)(struct vfio_device *vdev, struct vm_area_struct *vma);
	void (*request)(struct vfio_device *vdev, unsigned int count);
	void (*dma_unmap)(struct vfio_device *vdev, u64 iova, u64 length);
};

struct vfio_device {
	struct device *dev;
	const struct vfio_device_ops *ops;
	/* vfio.c's */
	struct container *container;
	struct list_head iommu_entry;
	int refs;
	/* iommufd.c's */
	struct iommufd_access *iommufd_access;
};
int vfio_iommufd_emulated_bind(struct vfio_device *vdev, struct iommufd_ctx *ictx,
			       u32 *out_device_id);
void vfio_iommufd_emulated_unbind(struct vfio_device *vdev);
int vfio_iommufd_emulated_attach_ioas(struct vfio_device *vdev, u32 *pt_id);
void vfio_iommufd_emulated_detach_ioas(struct vfio_device *vdev);

struct mdev_driver;
struct mdev_parent {
	struct device *dev;
	struct mdev_driver *mdev_driver;
	struct mdev_type **types;
	unsigned int nr_types;
};
struct mdev_type {
	const char *sysfs_name, *pretty_name;
	struct mdev_parent *parent;
};
struct mdev_device {
	struct device dev;
	struct mdev_type *type;
	char name[16]; /* takes the place of a UUID */
};
struct mdev_driver {
	const char *device_api;
	int (*probe)(struct mdev_device *dev);
	void (*remove)(struct mdev_device *dev);
	unsigned int (*get_available)(struct mdev_type *mtype);
	ssize_t (*show_description)(struct mdev_type *mtype, char *buf);
	struct device_driver driver;
};
#define to_mdev_device(d) container_of(d, struct mdev_device, dev)
int mdev_register_parent(struct mdev_parent *p, struct device *d, struct mdev_driver *drv,
			 struct mdev_type **types, unsigned int nr);
void mdev_unregister_parent(struct mdev_parent *p);
extern struct mdev_driver *the_mdev_driver;
#define mdev_register_driver(d)	  (the_mdev_driver = (d), 0)
#define mdev_unregister_driver(d) ((void)(d), the_mdev_driver = NULL)

void *harness_vfio_alloc(size_t n, struct device *d, const struct vfio_device_ops *ops);
#define vfio_alloc_device(type, member, d, ops) \
	((struct type *)harness_vfio_alloc(sizeof(struct type), d, ops))
#define vfio_register_emulated_iommu_dev(vdev) ((void)(vdev), 0)
void vfio_unregister_group_dev(struct vfio_device *vdev);
#define vfio_free_device kfree
void vfio_put_device(struct vfio_device *vdev);
int vfio_pin_pages(struct vfio_device *vdev, dma_addr_t iova, int npage, int prot,
		   struct page **pages);
void vfio_unpin_pages(struct vfio_device *vdev, dma_addr_t iova, int npage);
int vfio_dma_rw(struct vfio_device *vdev, dma_addr_t iova, void *data, size_t len, bool write);

#endif
