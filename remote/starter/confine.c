// SPDX-License-Identifier: MIT
/* A client's process gives up what the first process has. */
#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "starter.h"

/* a group that this machine does not have gives nothing; which ones open the GPU differs among distributions */
static int set_groups(const struct remoted_conf *conf)
{
	gid_t list[CONF_GROUPS];
	const struct group *g;
	unsigned int i, n = 0;

	for (i = 0; i < conf->nr_groups; i++) {
		g = getgrnam(conf->groups[i]);
		if (g)
			list[n++] = g->gr_gid;
	}
	return setgroups(n, list) ? -errno : 0;
}

static int limit(int what, rlim_t n)
{
	struct rlimit l = { n, n };

	return setrlimit(what, &l) ? -errno : 0;
}

/* with a user of its own the number of its threads is the number of the user's */
static int own_user(const struct remoted_conf *conf, unsigned int slot, const char **what)
{
	uid_t user = conf->users + slot;
	int r;

	*what = "limits";
	r = limit(RLIMIT_NPROC, conf->tasks);
	if (r)
		return r;
	*what = "groups";
	r = set_groups(conf);
	if (r)
		return r;
	*what = "user";
	if (setresgid(user, user, user) || setresuid(user, user, user))
		return -errno;
	/* the way back has to be closed, or nothing of it is worth anything */
	return setuid(0) ? 0 : -EPERM;
}

int confine(const struct remoted_conf *conf, unsigned int slot, const char **what)
{
	int r = conf->users ? own_user(conf, slot, what) : 0;

	if (r)
		return r;
	*what = "privileges";
	r = limit(RLIMIT_CORE, 0);
	if (r)
		return r;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}
