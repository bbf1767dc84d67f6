/* SPDX-License-Identifier: GPL-2.0-only */
void eventfd_signal_mask(struct eventfd_ctx *ctx, __poll_t mask);
static inline void eventfd_signal(struct eventfd_ctx *ctx)
{
	eventfd_signal_mask(ctx, 0);
}
