// SPDX-License-Identifier: MIT
/* A client's process gives up the privileges of the first process. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor.h"

/* a group that this machine does not have is left out */
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

int limit_memory(uint64_t bytes)
{
	return bytes ? limit(RLIMIT_DATA, bytes) : 0;
}

/* private memory that the process has, in bytes; UINT64_MAX: not known */
static uint64_t data_of(pid_t pid)
{
	unsigned long long pages;
	char path[40];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	n = f ? fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) : 0;
	if (f)
		fclose(f);
	return n == 1 ? pages * sysconf(_SC_PAGESIZE) : UINT64_MAX;
}

/* A limit is raised with CAP_SYS_RESOURCE alone, which systemd's unit does not have. */
int limit_memory_of(pid_t pid, uint64_t bytes, uint64_t more)
{
	struct rlimit l = { bytes + more, bytes + more };
	uint64_t data;
	int r;

	if (!bytes || !prlimit(pid, RLIMIT_DATA, &l, NULL))
		return 0;
	r = -errno;
	data = data_of(pid);
	return data < bytes && bytes - data >= more ? 0 : r;
}

/* RLIMIT_NPROC counts the user's threads, and the user is this process's own */
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
	/* there must be no way back to root */
	return setuid(0) ? 0 : -EPERM;
}

/*
 * A file that a client's process left would belong to the next client whose process has this user
 * number. So the process can give no file a name, and rename and remove none, if the kernel has
 * Landlock, but in folders that this user can't go to (compiled.c). The filter can't do that:
 * NVIDIA's library opens its threads' names in /proc with O_CREAT.
 */
enum {
	CHANGES_OF_FOLDERS = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
			     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			     LANDLOCK_ACCESS_FS_MAKE_SYM
};

/*
 * Without a user of its own a process may leave files. But a process with any rules can trace only
 * processes that have these rules, too. Without rules it could take over the first process, which
 * has the same user, by /proc/PID/mem.
 */
enum { NO_DEVICES = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK };

/*
 * A process that was taken over could take a port of this machine with its client's TCP socket,
 * once the connection has ended: NVIDIA's library needs bind(), and the filter does not see the
 * address. These rules, of Linux 6.7 and later, forbid it, and connect(), which the filter refuses.
 */
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 }; /* LANDLOCK_ACCESS_NET_... */

/* struct landlock_ruleset_attr as Linux 6.7 has it */
struct rules {
	uint64_t fs, net;
};

/* rules of Linux's Landlock that only forbid; -1: the kernel has no Landlock, or not these rules */
static int make_rules(uint64_t fs, uint64_t net)
{
	struct rules rules = { fs, net };

	return syscall(SYS_landlock_create_ruleset, &rules, net ? sizeof(rules) : sizeof(rules.fs),
		       0);
}

bool folders_can_be_kept(void)
{
	int fd = make_rules(CHANGES_OF_FOLDERS, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool network_can_be_kept(void)
{
	int fd = make_rules(CHANGES_OF_FOLDERS, BIND_TCP | CONNECT_TCP);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* in @folder files may come and go, but no folders; -1: there is none */
static int except(int rules, int folder)
{
	struct landlock_path_beneath_attr a = { .allowed_access = LANDLOCK_ACCESS_FS_MAKE_REG |
								  LANDLOCK_ACCESS_FS_REMOVE_FILE,
						.parent_fd = folder };

	return folder < 0 ?
		       0 :
		       syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
}

/* without Landlock, or its rules for networks, the process goes on */
static int keep_rules(uint64_t fs, uint64_t net, int folder)
{
	int fd = make_rules(fs, net), r;

	if (fd < 0 && net)
		fd = make_rules(fs, 0);
	if (fd < 0)
		return 0;
	r = except(fd, folder) || syscall(SYS_landlock_restrict_self, fd, 0) ? -errno : 0;
	close(fd);
	return r;
}

static int give_up(const char **what)
{
	int r;

	*what = "privileges";
	r = limit(RLIMIT_CORE, 0);
	if (r)
		return r;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

int confine(const struct remoted_conf *conf, unsigned int slot, const char **what)
{
	/* its user can't go there: it is given what it may have (compiled.c) */
	int folder = conf->users && *conf->compiled_folder && !compiled_wrong(conf) ?
			     open(conf->compiled_folder, O_PATH | O_DIRECTORY | O_CLOEXEC) :
			     -1,
	    r = conf->users ? own_user(conf, slot, what) : 0;

	r = r ?: give_up(what);
	if (!r) {
		*what = "folders and networks";
		r = keep_rules(conf->users ? CHANGES_OF_FOLDERS : NO_DEVICES,
			       conf->filter == FILTER_ON ? BIND_TCP | CONNECT_TCP : 0, folder);
	}
	if (folder >= 0)
		close(folder);
	return r;
}
