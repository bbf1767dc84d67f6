// SPDX-License-Identifier: MIT
/*
 * What cuLink*() do: pieces, which jit.c links. A state belongs to no context and has no lock: the
 * application uses it with one thread at a time.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "jit.h"

enum { MAX_PIECES = 1024 };

struct piece {
	uint8_t *bytes; /* a cubin, or PTX with a 0 behind */
	size_t size;
	bool ptx;
};

struct CUlinkState_st {
	struct jit jit;
	struct piece *piece;
	unsigned int n;
	uint8_t *result;
};

CUresult jit_image(struct jit *j, const void *image, size_t bytes, uint8_t **cubin, size_t *size)
{
	struct image_pick pick;
	enum image_error e = image_pick(image, bytes, &pick);
	CUresult r = error_of_image(e);

	if (e == IMAGE_ONLY_PTX)
		r = jit_compile(j, pick.ptx, pick.ptx_size, JIT_WHOLE, cubin, size);
	image_pick_free(&pick);
	return r;
}

CUresult link_make(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
	CUlinkState s = calloc(1, sizeof(*s));
	CUresult r = s ? jit_options(&s->jit, n, options, values) : CUDA_ERROR_OUT_OF_MEMORY;

	if (r)
		free(s);
	else
		*state = s;
	return r;
}

/* an executable cubin, which needs no link */
static bool is_whole(const struct piece *p)
{
	Elf64_Ehdr h;

	if (p->ptx || p->size < sizeof(h))
		return false;
	memcpy(&h, p->bytes, sizeof(h));
	return h.e_type == ET_EXEC;
}

static CUresult add(CUlinkState s, const void *bytes, size_t n, bool ptx)
{
	struct piece *grown = s->n < MAX_PIECES ? realloc(s->piece, (s->n + 1) * sizeof(*grown)) :
						  NULL;
	struct piece p = { .size = n, .ptx = ptx };

	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->piece = grown;
	p.bytes = malloc(n + 1);
	if (!p.bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(p.bytes, bytes, n);
	p.bytes[n] = 0;
	s->piece[s->n++] = p;
	return CUDA_SUCCESS;
}

/* PTX is compiled when it is added, so that its errors show then. */
static CUresult add_ptx(CUlinkState s, const char *text, size_t n)
{
	uint8_t *object;
	size_t size;
	CUresult r = jit_compile(&s->jit, text, n, JIT_OBJECT, &object, &size);

	if (r)
		return r;
	free(object);
	return add(s, text, n, true);
}

static CUresult add_image(CUlinkState s, const void *data, size_t size)
{
	struct image_pick pick;
	enum image_error e = image_pick(data, size, &pick);
	CUresult r;

	if (!e)
		r = add(s, pick.cubin, pick.size, false);
	else if (e == IMAGE_ONLY_PTX)
		r = add_ptx(s, pick.ptx, pick.ptx_size);
	else
		r = error_of_image(e);
	if (r && !s->jit.failed)
		jit_say(&s->jit, "not a cubin, fat binary or PTX for sm_35, or a damaged one");
	image_pick_free(&pick);
	return r;
}

CUresult link_add(CUlinkState s, CUjitInputType type, const void *data, size_t size)
{
	CUresult r;

	switch (type) {
	case CU_JIT_INPUT_PTX:
		r = add_ptx(s, data, size);
		break;
	case CU_JIT_INPUT_CUBIN:
	case CU_JIT_INPUT_FATBINARY:
		r = add_image(s, data, size);
		break;
	case CU_JIT_INPUT_OBJECT:
	case CU_JIT_INPUT_LIBRARY:
	case CU_JIT_INPUT_NVVM:
	default:
		jit_say(&s->jit, "only PTX, cubins and fat binaries can be linked here");
		r = CUDA_ERROR_NOT_SUPPORTED;
		break;
	}
	if (r)
		jit_report(&s->jit);
	return r;
}

static CUresult link_all(CUlinkState s, size_t *size)
{
	uint8_t **cubins = calloc(s->n, sizeof(*cubins));
	size_t *sizes = calloc(s->n, sizeof(*sizes));
	CUresult r = cubins && sizes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	unsigned int i;

	for (i = 0; i < s->n && !r; i++) {
		struct piece *p = &s->piece[i];

		cubins[i] = p->bytes;
		sizes[i] = p->size;
		if (p->ptx)
			r = jit_compile(&s->jit, (char *)p->bytes, p->size, JIT_OBJECT, &cubins[i],
					&sizes[i]);
	}
	if (!r)
		r = jit_link(&s->jit, cubins, sizes, s->n, &s->result, size);
	while (i--)
		if (s->piece[i].ptx && cubins[i] != s->piece[i].bytes)
			free(cubins[i]);
	free(cubins);
	free(sizes);
	return r;
}

CUresult link_complete(CUlinkState s, void **cubin, size_t *size)
{
	size_t n = 0;
	CUresult r = CUDA_SUCCESS;

	if (!s->n || s->result)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->n == 1 && s->piece[0].ptx) {
		r = jit_compile(&s->jit, (char *)s->piece[0].bytes, s->piece[0].size, JIT_WHOLE,
				&s->result, &n);
	} else if (s->n == 1 && is_whole(&s->piece[0])) {
		s->result = s->piece[0].bytes;
		n = s->piece[0].size;
		s->piece[0].bytes = NULL;
	} else {
		r = link_all(s, &n);
	}
	jit_report(&s->jit);
	if (r)
		return r;
	*cubin = s->result;
	if (size)
		*size = n;
	return CUDA_SUCCESS;
}

void link_free(CUlinkState s)
{
	while (s->n)
		free(s->piece[--s->n].bytes);
	free(s->piece);
	free(s->result);
	free(s);
}
