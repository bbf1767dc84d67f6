/* SPDX-License-Identifier: GPL-2.0-only */
struct file *eventfd_fget(int fd);
/* void eventfd_signal(struct eventfd_ctx *ctx) is for later kernels */
__u64 eventfd_signal(struct eventfd_ctx *ctx, __u64 n);
__u64 eventfd_signal_mask(struct eventfd_ctx *ctx, __u64 n, __poll_t mask);
