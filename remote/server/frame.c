// SPDX-License-Identifier: MIT
/*
 * What functions that carry out a frame share: memory until the frame is done, lists of handles,
 * the answer.
 */
#include "server.h"

bool is_zero(const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n && !*at) {
		at++;
		n--;
	}
	return !n;
}

void *frame_scratch(struct server *s, uint64_t n, size_t size)
{
	uint64_t bytes;
	void *p = s->frame.scratch + s->frame.scratch_used;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SCRATCH_BYTES ||
	    ((bytes + 15) & ~15ull) > SCRATCH_BYTES - s->frame.scratch_used)
		return NULL;
	memset(p, 0, bytes);
	s->frame.scratch_used += (bytes + 15) & ~15ull;
	return p;
}

void *list_open(struct server *s, struct kvgpu_remote_cursor *in, unsigned int class, uint64_t n)
{
	const uint64_t *ids = NULL;
	void **list;
	uint64_t i;

	if (n <= KVGPU_REMOTE_LIST_MAX)
		ids = kvgpu_remote_take_bytes(in, n * sizeof(*ids));
	list = ids ? frame_scratch(s, n, sizeof(*list)) : NULL;
	for (i = 0; list && i < n; i++)
		if (!handle_find(s, class, ids[i], &list[i]))
			return NULL;
	return list;
}

bool list_close(struct server *s, struct kvgpu_remote_reply *out, unsigned int class,
		const void *list, uint64_t n, uint64_t parent)
{
	void *const *handles = list;
	uint64_t *ids = n <= KVGPU_REMOTE_LIST_MAX ? kvgpu_remote_put(out, n * sizeof(*ids)) : NULL;
	uint64_t i;

	for (i = 0; ids && i < n; i++) {
		ids[i] = handle_give(s, class, handles[i], parent);
		if (handles[i] && !ids[i])
			return false;
	}
	return ids;
}

void frame_answer(struct server *s, const struct kvgpu_remote_head *head, CUresult r,
		  const struct kvgpu_remote_reply *out)
{
	if (!head->completion) {
		if (r && !s->late_error)
			s->late_error = r;
		return;
	}
	if (op_reports(head->op)) {
		stdio_capture_send(s);
		if (s->late_error && r != CUDA_ERROR_NOT_READY) {
			r = s->late_error;
			s->late_error = CUDA_SUCCESS;
		}
	}
	kvgpu_remote_reply(s->port, head, r, out ? out->at : NULL, out ? out->used : 0);
}
