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

static bool parse_number(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

/* a name that address_owners_learn() has asked NSS for, which may wait for a network */
struct known {
	uid_t user;
	char *name;
};
static struct known *known;
static size_t nr_known;

void address_owners_learn(const char *subuid)
{
	FILE *f = fopen(subuid, "re");
	const struct passwd *p;
	struct known *more;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, ":\n")] = 0;
		p = getpwnam(line);
		more = p ? reallocarray(known, nr_known + 1, sizeof(*known)) : NULL;
		if (!more)
			continue;
		known = more;
		known[nr_known] = (struct known){ p->pw_uid, strdup(line) };
		nr_known += known[nr_known].name ? 1 : 0;
	}
	if (f)
		fclose(f);
}

/* a user of this machine, or one who was learnt before, else @unknown */
static uid_t user_named(const char *name, uid_t unknown)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;
	uid_t user = unknown;
	size_t i;

	for (i = 0; i < nr_known; i++)
		if (!strcmp(known[i].name, name))
			user = known[i].user;
	while (f && (p = fgetpwent(f)) && strcmp(p->pw_name, name))
		;
	if (p)
		user = p->pw_uid;
	if (f)
		fclose(f);
	return user;
}

/*
 * Whether the line, "owner:first:count", is about @user. *owner: if it is not known the line's
 * first number, so that all its numbers are one user.
 */
static bool is_about(char *line, uid_t user, uid_t *owner)
{
	char *first, *count, *rest = NULL, *name = strtok_r(line, ":\n", &rest);
	uint64_t from, n;

	first = strtok_r(NULL, ":\n", &rest);
	count = strtok_r(NULL, ":\n", &rest);
	if (!count || !parse_number(first, &from) || !parse_number(count, &n) || user < from ||
	    user - from >= n)
		return false;
	if (parse_number(name, &n)) {
		*owner = n;
		return true;
	}
	*owner = user_named(name, from);
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

uid_t address_owner_of_any(const char *subuid, uid_t *user, uid_t last)
{
	uid_t owner;

	while ((owner = address_owner(subuid, *user)) == *user && *user < last)
		++*user;
	return owner;
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
