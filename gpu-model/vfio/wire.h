/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vfio-user on the wire, as QEMU's docs/interop/vfio-user.rst defines it; where that document says
 * "as in <linux/vfio.h>", the kernel's structure is used. All fields have the machine's byte order.
 */
#ifndef KVGPU_MODEL_VFIO_WIRE_H
#define KVGPU_MODEL_VFIO_WIRE_H

#include <linux/vfio.h>
#include <stdint.h>

struct vu_hdr {
	uint16_t id, cmd;
	uint32_t size; /* bytes of the message, with this header */
	uint32_t flags;
	uint32_t error; /* errno, in a reply with VU_F_ERROR */
};

#define VU_F_TYPE     0xfu
#define VU_F_COMMAND  0x0u
#define VU_F_REPLY    0x1u
#define VU_F_NO_REPLY 0x10u
#define VU_F_ERROR    0x20u

enum vu_cmd {
	VU_VERSION = 1,
	VU_DMA_MAP = 2,
	VU_DMA_UNMAP = 3,
	VU_DEVICE_GET_INFO = 4,
	VU_DEVICE_GET_REGION_INFO = 5,
	VU_DEVICE_GET_REGION_IO_FDS = 6,
	VU_DEVICE_GET_IRQ_INFO = 7,
	VU_DEVICE_SET_IRQS = 8,
	VU_REGION_READ = 9,
	VU_REGION_WRITE = 10,
	VU_DMA_READ = 11, /* server to client only */
	VU_DMA_WRITE = 12, /* server to client only */
	VU_DEVICE_RESET = 13,
	VU_REGION_WRITE_MULTI = 15,
	VU_DEVICE_FEATURE = 16,
	VU_MIG_DATA_READ = 17,
	VU_MIG_DATA_WRITE = 18,
};

struct vu_version {
	uint16_t major, minor; /* JSON text with its terminating NUL follows */
};

struct vu_dma_map {
	uint32_t argsz, flags;
	uint64_t offset, address, size;
};

struct vu_dma_unmap {
	uint32_t argsz, flags;
	uint64_t address, size;
};

struct vu_device_info {
	uint32_t argsz, flags, num_regions, num_irqs;
};

struct vu_io_fds {
	uint32_t argsz, flags, index, count;
};

struct vu_region_access {
	uint64_t offset;
	uint32_t region, count; /* data follows */
};

struct vu_write_multi {
	uint64_t wr_cnt;
};

struct vu_single_write {
	uint64_t offset;
	uint32_t region, count;
	uint64_t data;
};

struct vu_sparse_cap { /* vfio_region_info_cap_sparse_mmap with one area */
	struct vfio_info_cap_header header;
	uint32_t nr_areas, reserved;
	struct vfio_region_sparse_mmap_area area;
};

#define VU_DEFAULT_XFER 1048576u /* max_data_xfer_size */
#define VU_MAX_DMA_MAPS 65535u
#define VU_MAX_FDS	8u

_Static_assert(sizeof(struct vu_hdr) == 16, "wire");
_Static_assert(sizeof(struct vu_dma_map) == 32, "wire");
_Static_assert(sizeof(struct vu_dma_unmap) == 24, "wire");
_Static_assert(sizeof(struct vfio_region_info) == 32, "wire");
_Static_assert(sizeof(struct vfio_irq_info) == 16, "wire");
_Static_assert(sizeof(struct vfio_irq_set) == 20, "wire");
_Static_assert(sizeof(struct vu_sparse_cap) == 32, "wire");

#endif
