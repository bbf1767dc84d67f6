// SPDX-License-Identifier: MIT
/*
 * CUDA_VISIBLE_DEVICES: which GPUs this process sees, and in which order. A list with commas of
 * numbers and UUIDs ("GPU-" and digits, as many as tell one GPU); it ends before an entry that
 * names no GPU, or one for the second time. cuInit() calls visible_devices() and machine_word()
 * with `table` held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver.h"
#include "process.h"

enum { UUID_TEXT = 41 }; /* "GPU-", 32 digits, 4 dashes, the end */

/* FNV-1a, 32 bits */
uint32_t machine_word(const char *path)
{
	FILE *f = own_file(fopen(path, "re"), "r");
	uint32_t hash = 2166136261u;
	unsigned int n = 0;
	int c;

	if (!f)
		return 0;
	while ((c = getc(f)) != EOF && c != '\n' && n++ < 64)
		hash = (hash ^ (uint32_t)c) * 16777619u;
	fclose(f);
	return n ? hash : 0;
}

/* nouveau knows no serial number: take the machine and the place on the bus. */
void uuid_of(const struct device_facts *f, CUuuid *uuid)
{
	uint32_t words[] = { 0x6b766770, f->pci_id, f->domain ^ f->machine, f->bus << 8 | f->slot };

	memcpy(uuid->bytes, words, sizeof(uuid->bytes));
}

static void uuid_text(const struct device_facts *f, char text[UUID_TEXT])
{
	CUuuid uuid;
	unsigned int i, n = snprintf(text, UUID_TEXT, "GPU-");

	uuid_of(f, &uuid);
	for (i = 0; i < sizeof(uuid.bytes); i++)
		n += snprintf(text + n, UUID_TEXT - n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      (uint8_t)uuid.bytes[i]);
}

/* -1: none, or several. */
static int by_uuid(const struct device_facts *f, unsigned int n, const char *name, size_t len)
{
	char text[UUID_TEXT];
	unsigned int i;
	int found = -1;

	for (i = 0; i < n; i++) {
		uuid_text(&f[i], text);
		if (len >= UUID_TEXT || strncasecmp(text, name, len))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

static int named(const struct device_facts *f, unsigned int n, const char *name, size_t len)
{
	unsigned long index;
	char *end;

	if (len > 4 && !strncasecmp(name, "GPU-", 4))
		return by_uuid(f, n, name, len);
	index = strtoul(name, &end, 10);
	if (!len || *name < '0' || *name > '9' || (size_t)(end - name) != len || index >= n)
		return -1;
	return index;
}

unsigned int visible_devices(const char *list, const struct device_facts *f, unsigned int n,
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
		at = named(f, n, list, strcspn(list, ", \t"));
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
