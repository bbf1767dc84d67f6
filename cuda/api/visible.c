// SPDX-License-Identifier: MIT
/*
 * CUDA_VISIBLE_DEVICES: which GPUs this process sees, and in which order. A list with commas of
 * numbers and UUIDs ("GPU-" and digits, as many as tell one GPU); it ends before an entry that
 * names no GPU, or one for the second time. Pure; remote/'s libcuda.so.1 is linked with it, too.
 */
#include "visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { UUID_TEXT = 41 }; /* "GPU-", 32 digits, 4 dashes, the end */

static void uuid_text(const CUuuid *uuid, char text[UUID_TEXT])
{
	unsigned int i, n = snprintf(text, UUID_TEXT, "GPU-");

	for (i = 0; i < sizeof(uuid->bytes); i++)
		n += snprintf(text + n, UUID_TEXT - n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      (unsigned char)uuid->bytes[i]);
}

/* -1: none, or several. */
static int by_uuid(const CUuuid *uuid, unsigned int n, const char *name, size_t len)
{
	char text[UUID_TEXT];
	unsigned int i;
	int found = -1;

	for (i = 0; i < n; i++) {
		uuid_text(&uuid[i], text);
		if (len >= UUID_TEXT || strncasecmp(text, name, len))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

static int named(const CUuuid *uuid, unsigned int n, const char *name, size_t len)
{
	unsigned long index;
	char *end;

	if (len > 4 && !strncasecmp(name, "GPU-", 4))
		return by_uuid(uuid, n, name, len);
	index = strtoul(name, &end, 10);
	if (!len || *name < '0' || *name > '9' || (size_t)(end - name) != len || index >= n)
		return -1;
	return index;
}

unsigned int visible_devices(const char *list, const CUuuid *uuid, unsigned int n,
			     unsigned int *out)
{
	unsigned int i, nr = 0;
	size_t len;
	int at;

	if (!list) {
		for (nr = 0; nr < n; nr++)
			out[nr] = nr;
		return nr;
	}
	for (;; list += len + 1) {
		list += strspn(list, " \t");
		len = strcspn(list, ",");
		at = named(uuid, n, list, strcspn(list, ", \t"));
		for (i = 0; i < nr && at >= 0; i++)
			if (out[i] == (unsigned int)at)
				at = -1;
		if (at < 0)
			return nr;
		out[nr++] = at;
		if (!list[len])
			return nr;
	}
}
