// SPDX-License-Identifier: MIT
/*
 * Copies to and from arrays: of lines, or of bytes that go on in the array's next line. Offsets in
 * x count bytes.
 */
#include "runtime.h"

static cudaError_t memory_side(enum cudaMemcpyKind kind, const void *ptr, bool to_array,
			       enum side *side)
{
	enum side array, dst, src;
	cudaError_t e =
		memcpy_sides(kind, to_array ? NULL : ptr, to_array ? ptr : NULL, &dst, &src);

	if (e)
		return e;
	array = to_array ? dst : src;
	*side = to_array ? src : dst;
	return kind != cudaMemcpyDefault && array == HOST ? cudaErrorInvalidMemcpyDirection :
							    cudaSuccess;
}

/* in an array as one long line */
struct cursor {
	struct end end;
	size_t line;
	size_t left; /* to the end of the array */
};

static struct end in_array(cudaArray_const_t array, size_t x, size_t y)
{
	return (struct end){ .side = ARRAY, .array = (CUarray)array, .x = x, .y = y };
}

static cudaError_t start(cudaArray_const_t array, size_t x, size_t y, struct cursor *c)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	size_t lines;
	cudaError_t e = array ? array_shape((CUarray)array, &shape) :
				cudaErrorInvalidResourceHandle;

	if (e)
		return e;
	lines = shape.Height ? shape.Height : 1;
	c->end = in_array(array, x, y);
	c->line = shape.Width * bytes_of(shape.Format, shape.NumChannels);
	if (x >= c->line || y >= lines)
		return cudaErrorInvalidValue;
	c->left = (lines - y) * c->line - x;
	return cudaSuccess;
}

static void advance(struct cursor *c, size_t n)
{
	size_t at = c->end.y * c->line + c->end.x + n;

	c->end.y = at / c->line;
	c->end.x = at % c->line;
}

/* The rest of a line, or whole lines. */
static size_t piece(const struct cursor *c, size_t n)
{
	size_t rest = c->line - c->end.x;

	if (c->end.x || n < c->line)
		return n < rest ? n : rest;
	return n / c->line * c->line;
}

/* ------------------------------------------------------------------ lines */

static cudaError_t lines_to(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch,
			    size_t width, size_t height, enum cudaMemcpyKind kind, struct when w)
{
	struct end from = { .ptr = src, .pitch = spitch };
	cudaError_t e = use_context();

	if (!e)
		e = memory_side(kind, src, true, &from.side);
	if (e || !width || !height)
		return e;
	if (!dst || !src)
		return cudaErrorInvalidValue;
	return width > spitch ? cudaErrorInvalidValue :
				copy_lines(in_array(dst, x, y), from, width, height, w);
}

static cudaError_t lines_from(void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y,
			      size_t width, size_t height, enum cudaMemcpyKind kind, struct when w)
{
	struct end to = { .ptr = dst, .pitch = dpitch };
	cudaError_t e = use_context();

	if (!e)
		e = memory_side(kind, dst, false, &to.side);
	if (e || !width || !height)
		return e;
	if (!dst || !src)
		return cudaErrorInvalidValue;
	return width > dpitch ? cudaErrorInvalidValue :
				copy_lines(to, in_array(src, x, y), width, height, w);
}

static cudaError_t lines_between(cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
				 size_t sx, size_t sy, size_t width, size_t height,
				 enum cudaMemcpyKind kind, struct when w)
{
	cudaError_t e = use_context();

	if (!e && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		e = cudaErrorInvalidMemcpyDirection;
	if (e || !width || !height)
		return e;
	return dst && src ?
		       copy_lines(in_array(dst, dx, dy), in_array(src, sx, sy), width, height, w) :
		       cudaErrorInvalidValue;
}

#define KIND enum cudaMemcpyKind kind
SYNC_FORMS(cudaMemcpy2DToArray, lines_to,
	   (cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width,
	    size_t height, KIND),
	   dst, x, y, src, spitch, width, height, kind)
ASYNC_FORMS(cudaMemcpy2DToArrayAsync, lines_to,
	    (cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch, size_t width,
	     size_t height, KIND, cudaStream_t stream),
	    dst, x, y, src, spitch, width, height, kind)
SYNC_FORMS(cudaMemcpy2DFromArray, lines_from,
	   (void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
	    size_t height, KIND),
	   dst, dpitch, src, x, y, width, height, kind)
ASYNC_FORMS(cudaMemcpy2DFromArrayAsync, lines_from,
	    (void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
	     size_t height, KIND, cudaStream_t stream),
	    dst, dpitch, src, x, y, width, height, kind)
SYNC_FORMS(cudaMemcpy2DArrayToArray, lines_between,
	   (cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src, size_t sx, size_t sy,
	    size_t width, size_t height, KIND),
	   dst, dx, dy, src, sx, sy, width, height, kind)

/* ------------------------------------------------------------------ bytes */

static cudaError_t bytes_to(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, KIND,
			    struct when w)
{
	struct end from = { .ptr = src };
	struct cursor to;
	size_t part;
	cudaError_t e = use_context();

	if (!e)
		e = memory_side(kind, src, true, &from.side);
	if (!e)
		e = start(dst, x, y, &to);
	if (!e && (n > to.left || (n && !src)))
		e = cudaErrorInvalidValue;
	for (; !e && n; n -= part) {
		part = piece(&to, n);
		from.pitch = part < to.line ? part : to.line;
		e = copy_lines(to.end, from, from.pitch, part / from.pitch, w);
		from.ptr = (const char *)from.ptr + part;
		advance(&to, part);
	}
	return e;
}

static cudaError_t bytes_from(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, KIND,
			      struct when w)
{
	struct end to = { .ptr = dst };
	struct cursor from;
	size_t part;
	cudaError_t e = use_context();

	if (!e)
		e = memory_side(kind, dst, false, &to.side);
	if (!e)
		e = start(src, x, y, &from);
	if (!e && (n > from.left || (n && !dst)))
		e = cudaErrorInvalidValue;
	for (; !e && n; n -= part) {
		part = piece(&from, n);
		to.pitch = part < from.line ? part : from.line;
		e = copy_lines(to, from.end, to.pitch, part / to.pitch, w);
		to.ptr = (const char *)to.ptr + part;
		advance(&from, part);
	}
	return e;
}

/* Each copy ends where a line of one of the arrays ends. */
static cudaError_t bytes_between(cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
				 size_t sx, size_t sy, size_t n, KIND, struct when w)
{
	struct cursor to, from;
	size_t part, a, b;
	cudaError_t e = use_context();

	if (!e && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		e = cudaErrorInvalidMemcpyDirection;
	if (!e)
		e = start(dst, dx, dy, &to);
	if (!e)
		e = start(src, sx, sy, &from);
	if (!e && (n > to.left || n > from.left))
		e = cudaErrorInvalidValue;
	for (; !e && n; n -= part) {
		a = to.line - to.end.x;
		b = from.line - from.end.x;
		part = a < b ? a : b;
		part = part < n ? part : n;
		e = copy_lines(to.end, from.end, part, 1, w);
		advance(&to, part);
		advance(&from, part);
	}
	return e;
}

SYNC_FORMS(cudaMemcpyToArray, bytes_to,
	   (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, KIND), dst, x, y, src,
	   n, kind)
ASYNC_FORMS(cudaMemcpyToArrayAsync, bytes_to,
	    (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, KIND,
	     cudaStream_t stream),
	    dst, x, y, src, n, kind)
SYNC_FORMS(cudaMemcpyFromArray, bytes_from,
	   (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, KIND), dst, src, x, y,
	   n, kind)
ASYNC_FORMS(cudaMemcpyFromArrayAsync, bytes_from,
	    (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, KIND,
	     cudaStream_t stream),
	    dst, src, x, y, n, kind)
SYNC_FORMS(cudaMemcpyArrayToArray, bytes_between,
	   (cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src, size_t sx, size_t sy,
	    size_t n, KIND),
	   dst, dx, dy, src, sx, sy, n, kind)
