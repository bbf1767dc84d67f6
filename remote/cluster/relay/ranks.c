// SPDX-License-Identifier: MIT
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

/* the index of the next "--next" at or behind @i, or argc */
static int command_end(int argc, char **argv, int i)
{
	while (i < argc && strcmp(argv[i], "--next"))
		i++;
	return i;
}

bool ranks_pick(const char *rank, int *argc, char ***argv)
{
	char **words = *argv, *end;
	unsigned long left;
	int begin = 2, stop;

	if (!rank || *rank < '0' || *rank > '9')
		return false;
	left = strtoul(rank, &end, 10);
	if (*end)
		return false;
	stop = command_end(*argc, words, begin);
	for (; left && stop < *argc; left--) {
		begin = stop + 1;
		stop = command_end(*argc, words, begin);
	}
	if (left || begin >= stop)
		return false;
	words[stop] = NULL;
	*argv = words + begin;
	*argc = stop - begin;
	return true;
}
