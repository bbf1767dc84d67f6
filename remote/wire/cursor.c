// SPDX-License-Identifier: MIT
#include "cursor.h"

#include <string.h>

static uint64_t round_up8(uint64_t n)
{
	return (n + 7) & ~7ull;
}

const void *kvgpu_remote_take_bytes(struct kvgpu_remote_cursor *in, uint64_t n)
{
	const uint8_t *at = in->at;

	if (n > in->left || round_up8(n) > in->left)
		return NULL;
	in->at += round_up8(n);
	in->left -= round_up8(n);
	return at;
}

bool kvgpu_remote_take(struct kvgpu_remote_cursor *in, void *to, size_t n)
{
	const void *from = kvgpu_remote_take_bytes(in, n);

	if (!from)
		return false;
	memcpy(to, from, n);
	return true;
}

const char *kvgpu_remote_take_string(struct kvgpu_remote_cursor *in, uint64_t n)
{
	const char *text;

	if (!n)
		return NULL;
	text = kvgpu_remote_take_bytes(in, n);
	return text && memchr(text, 0, n) == text + n - 1 ? text : NULL;
}

void *kvgpu_remote_put(struct kvgpu_remote_reply *out, size_t n)
{
	uint8_t *at = out->at + out->used;

	if (n > out->room - out->used || round_up8(n) > out->room - out->used)
		return NULL;
	memset(at, 0, round_up8(n));
	out->used += round_up8(n);
	return at;
}

bool kvgpu_remote_put_bytes(struct kvgpu_remote_reply *out, const void *from, size_t n)
{
	void *to = kvgpu_remote_put(out, n);

	if (!to)
		return false;
	if (n)
		memcpy(to, from, n);
	return true;
}

bool kvgpu_remote_in_arena(uint64_t at, uint64_t bytes, uint64_t arena)
{
	return bytes <= arena && at <= arena - bytes;
}
