/* SPDX-License-Identifier: GPL-2.0-only */
struct vfio_device {
	struct device *dev;
	struct iommufd_access *iommufd_access;
	struct inode *inode;
};
struct vfio_device_ops {
	void	(*release)(struct vfio_device *vdev);
	int	(*bind_iommufd)(struct vfio_device *vdev,
				struct iommufd_ctx *ictx, u32 *out_device_id);
	long	(*ioctl)(struct vfio_device *vdev, unsigned int cmd,
			 unsigned long arg);
	int	(*get_region_info_caps)(struct vfio_device *vdev,
					struct vfio_region_info *info,
					struct vfio_info_cap *caps);
};
int vfio_iommufd_emulated_bind(struct vfio_device *vdev,
			       struct iommufd_ctx *ictx, u32 *out_device_id);
int vfio_pin_pages(struct vfio_device *device, dma_addr_t iova,
		   int npage, int prot, struct page **pages);
