/* SPDX-License-Identifier: GPL-2.0-only */
struct vfio_device {
	struct device *dev;
	struct list_head iommu_entry;
};
struct vfio_device_ops {
	void	(*release)(struct vfio_device *vdev);
	int	(*open_device)(struct vfio_device *vdev);
	long	(*ioctl)(struct vfio_device *vdev, unsigned int cmd,
			 unsigned long arg);
};
void vfio_free_device(struct vfio_device *device);
int vfio_pin_pages(struct vfio_device *device, dma_addr_t iova,
		   int npage, int prot, struct page **pages);
