// SPDX-License-Identifier: MIT
/* Processes that have a GPU's render node open. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/text.h"
#include "info.h"

enum { PATH_BYTES = 512 };

/* the PCI address behind a render node */
static bool bus_of(const char *node, char bus[16])
{
	char path[PATH_BYTES], target[PATH_BYTES];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/class/drm/%.32s/device", node);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	slash = strrchr(target, '/');
	snprintf(bus, 16, "%.15s", slash ? slash + 1 : target);
	return true;
}

static bool has_node(pid_t pid, char bus[16])
{
	static const char prefix[] = "/dev/dri/renderD";
	char path[PATH_BYTES], target[PATH_BYTES];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = 0;
		if (!strncmp(target, prefix, sizeof(prefix) - 1))
			found = bus_of(target + sizeof("/dev/dri/") - 1, bus);
	}
	if (d)
		closedir(d);
	return found;
}

/* a process chooses its own name */
static void name_of(pid_t pid, char name[NAME_BYTES])
{
	char path[PATH_BYTES];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	name[0] = 0;
	if (f && !fgets(name, NAME_BYTES, f))
		name[0] = 0;
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = 0;
	text_clean(name, NAME_BYTES);
}

unsigned int processes_read(struct process *processes)
{
	DIR *d = opendir("/proc");
	unsigned int n = 0;
	struct dirent *e;

	while (d && n < MAX_PROCESSES && (e = readdir(d))) {
		pid_t pid = atoi(e->d_name);

		if (pid <= 0 || pid == getpid() || !has_node(pid, processes[n].bus))
			continue;
		processes[n].pid = pid;
		name_of(pid, processes[n].name);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}
