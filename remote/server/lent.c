// SPDX-License-Identifier: MIT
/*
 * Registered memory that the GPU sees. Its pages are of a file in memory of the client's, which
 * this process maps, too. It reads and writes none of them by itself: the library pins them, and
 * then the GPU has them even where the client cuts the file short. Should the library touch a page
 * that is gone, this process ends, which serves that client alone.
 *
 * The client may not have its files filled with memory of the server's: they have all pages before,
 * and are no more than the arena.
 */
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "server.h"

enum { REGISTER_PORTABLE = 1, REGISTER_DEVICEMAP = 2, REGISTER_READ_ONLY = 8 };

struct lent {
	struct lent *next;
	uint64_t context;
	uint8_t *base, *begin; /* the mapping, and what is registered in it */
	uint64_t bytes; /* of the mapping */
	CUdeviceptr device;
};

/* whether it is the file that the client has named, in memory, with pages that suffice */
static bool is_file(int file, const struct q_lend *q)
{
	struct statfs fs;
	struct stat st;

	return !fstat(file, &st) && !fstatfs(file, &fs) && fs.f_type == TMPFS_MAGIC &&
	       S_ISREG(st.st_mode) && st.st_dev == q->dev && st.st_ino == q->inode &&
	       (uint64_t)st.st_size == q->size && q->bytes && q->at < q->size &&
	       q->bytes <= q->size - q->at && q->bytes <= 512ull * st.st_blocks;
}

static CUresult map_lent(struct server *s, const struct q_lend *q, int file, struct lent *l)
{
	const uint64_t page = sysconf(_SC_PAGESIZE), before = q->at % page;

	if (!is_file(file, q))
		return CUDA_ERROR_INVALID_VALUE;
	l->bytes = (before + q->bytes + page - 1) & -page;
	if (l->bytes + s->lents.bytes > s->arena_first)
		return CUDA_ERROR_OUT_OF_MEMORY;
	l->base = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
		       q->at - before);
	if (l->base == MAP_FAILED) /* sealed against writing, or not open for it */
		return CUDA_ERROR_INVALID_VALUE;
	l->begin = l->base + before;
	return CUDA_SUCCESS;
}

static CUresult register_lent(struct server *s, const struct q_lend *q, struct lent *l)
{
	const unsigned int flags = q->flags & (REGISTER_PORTABLE | REGISTER_READ_ONLY);
	CUresult r = CALL(s, cuMemHostRegister_v2, l->begin, q->bytes, flags | REGISTER_DEVICEMAP);

	if (r)
		return r;
	r = CALL(s, cuMemHostGetDevicePointer_v2, &l->device, l->begin, 0);
	if (r)
		CALL(s, cuMemHostUnregister, l->begin);
	return r;
}

static CUresult lend(struct server *s, const struct q_lend *q, int file, struct lent *l)
{
	CUresult r = map_lent(s, q, file, l);

	if (r)
		return r;
	r = register_lent(s, q, l);
	if (r)
		munmap(l->base, l->bytes);
	return r;
}

CUresult frame_lend(struct server *s, const struct q_lend *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	struct a_lend *a = kvgpu_remote_put(out, sizeof(*a));
	struct lent *l = calloc(1, sizeof(*l));
	int file = kvgpu_remote_lent(s->port);
	CUresult r = file < 0 ? CUDA_ERROR_NOT_SUPPORTED :
		     a && l   ? lend(s, q, file, l) :
				CUDA_ERROR_OUT_OF_MEMORY;

	if (file >= 0)
		close(file);
	if (r) {
		free(l);
		return r;
	}
	l->context = s->current;
	l->next = s->lents.list;
	s->lents.list = l;
	s->lents.bytes += l->bytes;
	a->device = l->device;
	return CUDA_SUCCESS;
}

static void end_lent(struct server *s, struct lent **at)
{
	struct lent *l = *at;

	*at = l->next;
	s->lents.bytes -= l->bytes;
	munmap(l->base, l->bytes);
	free(l);
}

CUresult frame_lend_end(struct server *s, const struct q_lend_end *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct lent **at = &s->lents.list;
	CUresult r;

	while (*at && (*at)->device != q->device)
		at = &(*at)->next;
	if (!*at)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	r = CALL(s, cuMemHostUnregister, (*at)->begin);
	if (!r)
		end_lent(s, at);
	return r;
}

void lents_forget(struct server *s, uint64_t id)
{
	struct lent **at = &s->lents.list;
	uint64_t before = s->current;

	while (*at) {
		if ((*at)->context != id) {
			at = &(*at)->next;
			continue;
		}
		if (!enter_context(s, id))
			CALL(s, cuMemHostUnregister, (*at)->begin);
		enter_context(s, before);
		end_lent(s, at);
	}
}

void lents_free(struct server *s)
{
	while (s->lents.list)
		end_lent(s, &s->lents.list);
}
