// SPDX-License-Identifier: MIT
/*
 * A record is texts that end with 0: its kind, its index, "name=value" or "@name=descriptor" for
 * each member, and an empty text. The last record is LAST: a state that was cut has none. It is
 * written in pieces without a buffer, which a child of fork() would find.
 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/conf/conf.h>

static const char last[] = "end";
enum { STATE_MAX = 64 << 20 };

static bool failed; /* some of the state that is being written is missing */

int state_begin(void)
{
	int fd = memfd_create("kvgpu-remoted state", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	failed = false;
	return fd < 0 ? -errno : fd;
}

static void put(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(int fd, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	failed |= vdprintf(fd, format, args) < 0 || write(fd, "", 1) != 1;
	va_end(args);
}

static uint64_t get_number(const void *from, size_t size)
{
	uint64_t n = 0;

	memcpy(&n, from, size); /* a little-endian machine */
	return n;
}

void state_write(int fd, const char *kind, unsigned int index, const struct state_field *fields,
		 const void *of)
{
	const struct state_field *f;
	uint64_t n;

	put(fd, "%s", kind);
	put(fd, "%u", index);
	for (f = fields; f->name; f++) {
		const char *member = (const char *)of + f->at;

		n = f->kind == STATE_TEXT ? 0 : get_number(member, f->size);
		if (f->kind == STATE_TEXT)
			put(fd, "%s=%s", f->name, member);
		else if (f->kind == STATE_NUMBER)
			put(fd, "%s=%llu", f->name, (unsigned long long)n);
		else if ((int)n > STDERR_FILENO)
			put(fd, "@%s=%d", f->name, (int)n);
	}
	failed |= write(fd, "", 1) != 1;
}

int state_seal(int fd)
{
	const struct state_field none[] = { STATE_END };

	state_write(fd, last, 0, none, NULL);
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return -errno;
	return failed ? -ENOMEM : 0;
}

/* behind the record */
static const char *skip(const char *record)
{
	while (*record)
		record += strlen(record) + 1;
	return record + 1;
}

const char *state_next(const char *state, const char *record, const char *kind)
{
	for (record = record ? skip(record) : state; strcmp(record, kind); record = skip(record))
		if (!strcmp(record, last))
			return NULL;
	return record;
}

static bool is_whole(const char *state, size_t bytes)
{
	const char *record = state, *end = state + bytes;

	if (bytes < 2 || end[-1] || end[-2])
		return false;
	while (record < end && *record && strcmp(record, last))
		record = skip(record);
	return record < end && *record && skip(record) == end;
}

const char *state_open(int fd, const char **why)
{
	struct stat st;
	void *state;

	*why = "there is none";
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size || st.st_size > STATE_MAX)
		return NULL;
	state = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*why = "out of memory";
	if (state == MAP_FAILED)
		return NULL;
	*why = "it is not whole";
	if (is_whole(state, st.st_size))
		return state;
	munmap(state, st.st_size);
	return NULL;
}

void state_close(const char *state)
{
	munmap((void *)(uintptr_t)state, skip(state_next(state, NULL, last)) - state);
}

static int descriptor_of(const char *item)
{
	const char *value = strchr(item, '=');
	uint64_t n;

	return *item == '@' && value && conf_natural(value + 1, INT32_MAX, &n) &&
			       n > STDERR_FILENO ?
		       (int)n :
		       -1;
}

void state_descriptors(const char *state, int flags)
{
	const char *record, *item;

	for (record = state; strcmp(record, last); record = skip(record))
		for (item = record; *item; item += strlen(item) + 1)
			if (descriptor_of(item) >= 0)
				fcntl(descriptor_of(item), F_SETFD, flags);
}

void state_close_rest(const char *state)
{
	const char *record, *item;
	int fd;

	for (record = state; strcmp(record, last); record = skip(record))
		for (item = record; *item; item += strlen(item) + 1) {
			fd = descriptor_of(item);
			if (fd >= 0 && !fcntl(fd, F_GETFD))
				close(fd);
		}
}

/* the greatest number of a member of 4 or 8 bytes; of a bool it is 1 */
static uint64_t most_in(size_t size)
{
	return size == sizeof(bool) ? 1 : size < sizeof(uint64_t) ? UINT32_MAX : UINT64_MAX;
}

static bool take_item(const struct state_field *f, const char *item, void *to)
{
	const char *value = strchr(item, '=') + 1;
	char *member = (char *)to + f->at;
	uint64_t n;
	int fd = descriptor_of(item);

	if (f->kind == STATE_TEXT) {
		if (strlen(value) >= f->size)
			return false;
		strcpy(member, value);
		return true;
	}
	if (f->kind == STATE_NUMBER) {
		if (*item == '@' || !conf_natural(value, most_in(f->size), &n))
			return false;
		memcpy(member, &n, f->size);
		return true;
	}
	memcpy(member, &fd, sizeof(fd));
	return fd >= 0 && !fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static const struct state_field *field_of(const struct state_field *fields, const char *item)
{
	const char *name = *item == '@' ? item + 1 : item;
	size_t n = strcspn(name, "=");

	while (fields->name && (strlen(fields->name) != n || memcmp(fields->name, name, n)))
		fields++;
	return fields->name && name[n] ? fields : NULL;
}

const char *state_read(const char *record, unsigned int *index, const struct state_field *fields,
		       void *to)
{
	const char *item = record + strlen(record) + 1;
	const struct state_field *f;
	uint64_t n;

	if (!*item || !conf_natural(item, UINT32_MAX, &n))
		return "index";
	*index = n;
	while (*(item += strlen(item) + 1)) {
		f = field_of(fields, item);
		if (f ? !take_item(f, item, to) : 0)
			return f->name;
		if (!f && descriptor_of(item) >= 0) /* of a newer build, which can do without it */
			close(descriptor_of(item));
	}
	return NULL;
}
