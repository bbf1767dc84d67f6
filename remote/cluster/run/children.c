// SPDX-License-Identifier: MIT
#include "children.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_child(pid_t pid, pid_t parent)
{
	char path[64], line[512], state = 'X', *name_end;
	size_t n = 0;
	int of = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(line, 1, sizeof(line) - 1, f);
		fclose(f);
	}
	line[n] = 0;
	/* the line is "pid (name) state parent ...", and a name may have blanks and parentheses */
	name_end = strrchr(line, ')');
	return name_end && sscanf(name_end, ") %c %d", &state, &of) == 2 && of == parent &&
	       state != 'Z' && state != 'X';
}

unsigned int children_of(pid_t parent, pid_t *to, unsigned int most)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned int n = 0;
	pid_t pid;

	while (d && n < most && (e = readdir(d))) {
		pid = isdigit((unsigned char)*e->d_name) ? atoi(e->d_name) : 0;
		if (pid && is_child(pid, parent))
			to[n++] = pid;
	}
	if (d)
		closedir(d);
	return n;
}
