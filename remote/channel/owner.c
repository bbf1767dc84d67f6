// SPDX-License-Identifier: MIT
/*
 * Whose a user number is, and what is told to a user whose open() fails. By subuid(5) a user has
 * subordinate numbers, and can be each of them in a user namespace (a container). Numbers that root
 * has given to itself, as container managers do, stay what they are.
 */
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"

static bool number(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

/* whether the line, "owner:first:count", is about @user; *owner: 0 if it is not known */
static bool is_about(char *line, uid_t user, uid_t *owner)
{
	char *first, *count, *rest = NULL, *name = strtok_r(line, ":\n", &rest);
	const struct passwd *p;
	uint64_t from, n;

	first = strtok_r(NULL, ":\n", &rest);
	count = strtok_r(NULL, ":\n", &rest);
	if (!count || !number(first, &from) || !number(count, &n) || user < from ||
	    user - from >= n)
		return false;
	if (number(name, &n)) {
		*owner = n;
		return true;
	}
	p = getpwnam(name);
	*owner = p ? p->pw_uid : 0;
	return true;
}

uid_t address_owner(const char *subuid, uid_t user)
{
	FILE *f = fopen(subuid, "re");
	char line[512];
	uid_t owner = 0;

	while (f && fgets(line, sizeof(line), f) && !is_about(line, user, &owner))
		;
	if (f)
		fclose(f);
	return owner ? owner : user;
}

const char *address_not_opened(int error, const char *missing)
{
	switch (error) {
	case EACCES:
		return "you may not open it: users in its group may, mostly video (usermod -aG video USER, then a new login)";
	case ENOENT:
		return missing;
	default:
		return strerror(error);
	}
}
