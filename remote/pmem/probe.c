// SPDX-License-Identifier: MIT
/* Looking at devices: their labels, and how their memory is mapped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/label.h>

#include "pmem.h"

enum { ALIGN = 2 << 20, PAGE = 4096 };

/* Read the first label. A character device can only be mapped, in pieces of its alignment. */
static bool first_label(int fd, bool disk, uint8_t *to)
{
	uint8_t *base;

	if (disk)
		return pread(fd, to, SHMEM_LABEL_BYTES, 0) == SHMEM_LABEL_BYTES;
	base = mmap(NULL, ALIGN, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return false;
	memcpy(to, base + SHMEM_LABEL_AT, SHMEM_LABEL_BYTES);
	munmap(base, ALIGN);
	return true;
}

bool probe_has_label(const char *device, const char **why)
{
	uint8_t text[SHMEM_LABEL_BYTES];
	struct shmem_label l;
	struct stat st;
	int fd = open(device, O_RDONLY | O_CLOEXEC);
	bool read;

	*why = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		*why = strerror(errno);
		if (fd >= 0)
			close(fd);
		return false;
	}
	read = first_label(fd, !S_ISCHR(st.st_mode), text);
	if (!read)
		*why = errno ? strerror(errno) : "it is too short";
	close(fd);
	return read && shmem_label_read(text, &l);
}

/* a line is "PAT: [mem 0x0000000100000000-0x0000000104000000] write-back" */
bool probe_memory_type(FILE *list, uint64_t address, char *to, size_t size)
{
	uint64_t from, end;
	char line[256], type[64];

	while (fgets(line, sizeof(line), list)) {
		const char *at = strstr(line, "[mem ");

		if (at &&
		    sscanf(at, "[mem %" SCNi64 "-%" SCNi64 "] %63s", (int64_t *)&from,
			   (int64_t *)&end, type) == 3 &&
		    address >= from && address < end) {
			snprintf(to, size, "%s", type);
			return true;
		}
	}
	return false;
}

/* read a number from sysfs; 0: the file is not there */
static uint64_t read_number(const char *format, const char *sys, const char *name)
{
	char path[PATH_MAX], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), format, sys, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return strtoull(text, NULL, 0);
}

static void show_device(const struct nd *nd, const char *name, FILE *to)
{
	char path[PATH_MAX], type[64] = "?";
	uint64_t at = read_number("%s/bus/dax/devices/%s/resource", nd->sys, name);
	FILE *list;

	snprintf(path, sizeof(path), "%s/kernel/debug/x86/pat_memtype_list", nd->sys);
	list = at ? fopen(path, "re") : NULL;
	if (list) {
		probe_memory_type(list, at, type, sizeof(type));
		fclose(list);
	}
	fprintf(to, "%s/%s\t%" PRIu64 " MiB\t%s\n", nd->dev, name,
		read_number("%s/bus/dax/devices/%s/size", nd->sys, name) >> 20, type);
}

unsigned int probe_list(const struct nd *nd, FILE *to)
{
	char path[PATH_MAX];
	struct dirent **names;
	unsigned int found = 0;
	const char *why;
	int i, n;

	snprintf(path, sizeof(path), "%s/bus/dax/devices", nd->sys);
	n = scandir(path, &names, NULL, versionsort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", nd->dev, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && probe_has_label(path, &why)) {
			show_device(nd, names[i]->d_name, to);
			found++;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}
