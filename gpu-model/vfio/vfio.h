/* SPDX-License-Identifier: GPL-2.0-only */
/* The bus side of the model as main.c sees it. */
#ifndef KVGPU_MODEL_VFIO_H
#define KVGPU_MODEL_VFIO_H

#include "model.h"

struct vfio_server;

struct vfio_options {
	const char *socket; /* path that QEMU's vfio-user-pci connects to */
	/* the helper's socket; NULL: all accesses are messages */
	const char *plugin_socket;
	/* NULL: none */
	const char *stats_socket;
};

extern const struct bus_ops vfio_bus_ops;

/*
 * Bind the sockets and block the signals that vfio_server_run() waits for: call it before any
 * thread is started, as threads inherit the mask. NULL: an error.
 */
struct vfio_server *vfio_server_create(const struct vfio_options *opt);
/*
 * Reset @g, which was started, with its configuration space, and print "ready" on stdout. Then
 * serve it until SIGTERM or SIGINT. Return 0, or -errno when the server itself can't go on.
 */
int vfio_server_run(struct vfio_server *s, struct gk110 *g);
/*
 * Remove the sockets. Call after gk110_stop(), as the device must not use the bus any more, and
 * before gk110_destroy(), as it takes the device's locks.
 */
void vfio_server_destroy(struct vfio_server *s);

#endif
