// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message stream: framing, the table of commands, replies. Works on memory; server.c feeds it
 * from a socket, tests and the fuzzer from arrays.
 *
 * After a header that can't be right, the two ends no longer agree where messages begin: the
 * connection ends.
 *
 * The socket thread runs all of this, with no lock held (internal.h has the contracts). The second
 * part is the connection's life: resets, and the end of a client.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

typedef int (*vu_handler)(struct vfio_server *s, struct vu_msg *m);

static int handle_dma_map(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_dma_map map;
	int fd = -1;

	memcpy(&map, m->data, sizeof(map));
	if (m->nr_fds > 1)
		return -EINVAL;
	if (m->nr_fds) {
		fd = m->fds[0];
		m->fds[0] = -1;
	}
	return dma_map(s, &map, fd);
}

static int handle_dma_unmap(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_dma_unmap u;
	int ret;

	memcpy(&u, m->data, sizeof(u));
	if (u.argsz < sizeof(u) || u.flags & ~VFIO_DMA_UNMAP_FLAG_ALL)
		return -EINVAL;
	if (u.flags & VFIO_DMA_UNMAP_FLAG_ALL) {
		if (u.address || u.size)
			return -EINVAL;
		dma_unmap_all(s);
	} else {
		ret = dma_unmap(s, u.address, u.size);
		if (ret)
			return ret;
	}
	memcpy(m->reply, &u, sizeof(u));
	m->reply_len = sizeof(u);
	return 0;
}

static int handle_device_info(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_device_info info;

	memcpy(&info, m->data, sizeof(info));
	if (info.argsz < sizeof(info))
		return -EINVAL;
	info = (struct vu_device_info){ .argsz = sizeof(info),
					.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET,
					.num_regions = NR_REGIONS,
					.num_irqs = NR_IRQS };
	memcpy(m->reply, &info, sizeof(info));
	m->reply_len = sizeof(info);
	return 0;
}

static int handle_io_fds(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_io_fds f;

	memcpy(&f, m->data, sizeof(f));
	if (f.argsz < sizeof(f) || f.flags || f.index >= NR_REGIONS || f.count)
		return -EINVAL;
	f.argsz = sizeof(f);
	memcpy(m->reply, &f, sizeof(f));
	m->reply_len = sizeof(f);
	return 0;
}

static int handle_irq_info(struct vfio_server *s, struct vu_msg *m)
{
	struct vfio_irq_info info;

	memcpy(&info, m->data, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= NR_IRQS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.flags = irq_flags(info.index);
	info.count = irq_count(info.index);
	memcpy(m->reply, &info, sizeof(info));
	m->reply_len = sizeof(info);
	return 0;
}

static int handle_set_irqs(struct vfio_server *s, struct vu_msg *m)
{
	struct vfio_irq_set set;

	memcpy(&set, m->data, sizeof(set));
	return irq_set(s, &set, m->data + sizeof(set), m->len - sizeof(set), m->fds, m->nr_fds);
}

static int handle_reset(struct vfio_server *s, struct vu_msg *m)
{
	device_reset(s);
	return 0;
}

static int handle_unsupported(struct vfio_server *s, struct vu_msg *m)
{
	return -EOPNOTSUPP;
}

static const struct {
	const char *name;
	uint32_t min, max; /* bytes behind the header; max 0: exactly min */
	vu_handler handle;
} commands[] = {
	[VU_VERSION] = { "VERSION", sizeof(struct vu_version), 65536, version_negotiate },
	[VU_DMA_MAP] = { "DMA_MAP", sizeof(struct vu_dma_map), 0, handle_dma_map },
	[VU_DMA_UNMAP] = { "DMA_UNMAP", sizeof(struct vu_dma_unmap), 0, handle_dma_unmap },
	[VU_DEVICE_GET_INFO] = { "DEVICE_GET_INFO", sizeof(struct vu_device_info), 0,
				 handle_device_info },
	[VU_DEVICE_GET_REGION_INFO] = { "DEVICE_GET_REGION_INFO", sizeof(struct vfio_region_info),
					VU_DEFAULT_XFER, region_info },
	[VU_DEVICE_GET_REGION_IO_FDS] = { "DEVICE_GET_REGION_IO_FDS", sizeof(struct vu_io_fds), 0,
					  handle_io_fds },
	[VU_DEVICE_GET_IRQ_INFO] = { "DEVICE_GET_IRQ_INFO", sizeof(struct vfio_irq_info), 0,
				     handle_irq_info },
	[VU_DEVICE_SET_IRQS] = { "DEVICE_SET_IRQS", sizeof(struct vfio_irq_set), 65536,
				 handle_set_irqs },
	[VU_REGION_READ] = { "REGION_READ", sizeof(struct vu_region_access), 0, region_read },
	[VU_REGION_WRITE] = { "REGION_WRITE", sizeof(struct vu_region_access) + 1,
			      sizeof(struct vu_region_access) + VU_DEFAULT_XFER, region_write },
	[VU_DMA_READ] = { "DMA_READ", 0, VU_DEFAULT_XFER, handle_unsupported },
	[VU_DMA_WRITE] = { "DMA_WRITE", 0, VU_DEFAULT_XFER, handle_unsupported },
	[VU_DEVICE_RESET] = { "DEVICE_RESET", 0, 0, handle_reset },
	[VU_REGION_WRITE_MULTI] = { "REGION_WRITE_MULTI", sizeof(struct vu_write_multi),
				    VU_DEFAULT_XFER, region_write_multi },
	[VU_DEVICE_FEATURE] = { "DEVICE_FEATURE", 8, VU_DEFAULT_XFER, handle_unsupported },
	[VU_MIG_DATA_READ] = { "MIG_DATA_READ", 8, 0, handle_unsupported },
	[VU_MIG_DATA_WRITE] = { "MIG_DATA_WRITE", 8, VU_DEFAULT_XFER, handle_unsupported },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int dispatch(struct vfio_server *s, struct vu_msg *m)
{
	uint32_t max;

	if (m->hdr.cmd >= NR_COMMANDS || !commands[m->hdr.cmd].handle) {
		gk110_note(s->g, "vfio-user: unknown command %u", m->hdr.cmd);
		return -ENOSYS;
	}
	max = commands[m->hdr.cmd].max ? commands[m->hdr.cmd].max : commands[m->hdr.cmd].min;
	if (m->len < commands[m->hdr.cmd].min || m->len > max) {
		gk110_note(s->g, "vfio-user: %s with %u bytes", commands[m->hdr.cmd].name, m->len);
		return -EINVAL;
	}
	if (s->client.greeted == (m->hdr.cmd == VU_VERSION)) {
		gk110_note(s->g, "vfio-user: %s %s the hand-shake", commands[m->hdr.cmd].name,
			   s->client.greeted ? "after" : "before");
		return -EINVAL;
	}
	return commands[m->hdr.cmd].handle(s, m);
}

static int send_reply(struct vfio_server *s, struct vu_msg *m, int error)
{
	struct vu_hdr hdr = { .id = m->hdr.id, .cmd = m->hdr.cmd, .flags = VU_F_REPLY };

	if (error) {
		hdr.flags |= VU_F_ERROR;
		hdr.error = -error;
		m->reply_len = 0;
		m->reply_fd = -1;
	}
	hdr.size = sizeof(hdr) + m->reply_len;
	return s->client.send(s->client.to, &hdr, sizeof(hdr), m->reply, m->reply_len, m->reply_fd);
}

static int serve(struct vfio_server *s, struct vu_msg *m)
{
	unsigned int i;
	int ret, error;

	error = dispatch(s, m);
	for (i = 0; i < m->nr_fds; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	ret = m->hdr.flags & VU_F_NO_REPLY ? 0 : send_reply(s, m, error);
	if (!ret && error && !s->client.greeted)
		ret = -EPROTO; /* no hand-shake, no session */
	return ret;
}

static int header_check(struct vfio_server *s, const struct vu_hdr *hdr)
{
	if (hdr->size < sizeof(*hdr) || hdr->size > VU_MSG_MAX) {
		gk110_note(s->g, "vfio-user: a message of %u bytes: connection dropped", hdr->size);
		return -EMSGSIZE;
	}
	if ((hdr->flags & VU_F_TYPE) != VU_F_COMMAND) {
		gk110_note(s->g,
			   "vfio-user: message type %u where a command is due: connection dropped",
			   hdr->flags & VU_F_TYPE);
		return -EPROTO;
	}
	return 0;
}

ssize_t messages_feed(struct vfio_server *s, const uint8_t *buf, size_t len, struct vu_fds *fds)
{
	size_t used = 0;
	int ret;

	while (len - used >= sizeof(struct vu_hdr)) {
		struct vu_msg m = { .reply = s->reply, .reply_fd = -1 };

		memcpy(&m.hdr, buf + used, sizeof(m.hdr));
		ret = header_check(s, &m.hdr);
		if (ret)
			return ret;
		if (m.hdr.size > len - used)
			break;
		m.data = buf + used + sizeof(m.hdr);
		m.len = m.hdr.size - sizeof(m.hdr);
		used += m.hdr.size;
		if (fds->nr && fds->at < used) {
			m.fds = fds->fd;
			m.nr_fds = fds->nr;
			fds->nr = 0;
		}
		ret = serve(s, &m);
		if (ret)
			return ret;
	}
	return used;
}

/* ------------------------------------------------------------------ the connection's life */

void client_reset(struct vfio_server *s)
{
	s->client.greeted = false;
	s->client.asked_mapping = false;
	s->client.mapping = false;
	s->client.max_xfer = VU_DEFAULT_XFER;
}

void device_reset(struct vfio_server *s)
{
	if (s->barmap)
		barmap_enable(s->barmap, false);
	pthread_mutex_lock(&s->g->lock);
	/*
	 * first: bus mastering ends, and the reset of the units (root/ppci.c) reads the link's
	 * capability there and sets ROM_SHADOW
	 */
	pci_config_reset(s->g);
	s->irq.level = false;
	s->irq.masked = false;
	pthread_mutex_unlock(&s->g->lock);
	gk110_reset(s->g);
}

void client_gone(struct vfio_server *s)
{
	irq_disable_all(s);
	if (s->barmap)
		barmap_disconnect(s->barmap);
	device_reset(s);
	dma_unmap_all(s);
	client_reset(s);
}
