// SPDX-License-Identifier: MIT
/*
 * One cgroup for each client, and in it one for each of its programs, below the service's own,
 * which systemd delegates by Delegate=; and one for all newcomers. If a limit can't be set, the
 * server works on without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "supervisor.h"

#define ROOT "/sys/fs/cgroup"

/*
 * cpu.weight of all newcomers together, beside 100 of the first process, where the arbiter of turns
 * runs, and the weight of each client
 */
enum { NEWCOMERS_WEIGHT = 25 };

static char own[CGROUP_PATH]; /* the service's own cgroup */

char *cgroup_own(void)
{
	return own;
}

/* O_NONBLOCK: newer kernels do not wait then until a lower limit of memory is kept */
static bool write_file(const char *folder, const char *name, const char *format,
		       unsigned long long n)
{
	char path[700], text[64];
	int fd, bytes = snprintf(text, sizeof(text), format, n);
	bool fine;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	fine = write(fd, text, bytes) == bytes;
	close(fd);
	return fine;
}

/* find the service's cgroup: the line of version 2 in /proc/self/cgroup is 0::/path */
static bool find_own(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[400];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		found = !strncmp(line, "0::/", 4) && line[4];
		if (found)
			snprintf(own, sizeof(own), ROOT "%s", line + 3);
	}
	if (f)
		fclose(f);
	return found;
}

/* systemd marks a cgroup that it delegates */
static bool is_ours(void)
{
	static const char *const marks[] = { "trusted.delegate", "user.delegate" };
	char value = 0;
	size_t i;

	for (i = 0; i < 2; i++)
		if (getxattr(own, marks[i], &value, 1) == 1 && value == '1')
			return true;
	return false;
}

static void make_newcomers(void)
{
	char folder[600];

	snprintf(folder, sizeof(folder), "%s/newcomers", own);
	if ((mkdir(folder, 0755) && errno != EEXIST) ||
	    !write_file(folder, "cpu.weight", "%llu", NEWCOMERS_WEIGHT))
		say("%s: newcomers have the CPU time of the first process: %s", folder,
		    strerror(errno));
}

/* Processes may only be in leaf cgroups: this process moves into one beside its clients'. */
bool cgroups_begin(void)
{
	static const char *const controllers[] = { "+cpu", "+memory", "+pids" };
	struct statfs fs;
	char leaf[600];
	size_t i;

	if (statfs(ROOT, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC || !find_own() || !is_ours()) {
		say("no cgroup was delegated to this service: clients' processes have no limit of CPU time, and each its own of memory");
		return false;
	}
	snprintf(leaf, sizeof(leaf), "%s/first", own);
	if ((mkdir(leaf, 0755) && errno != EEXIST) ||
	    !write_file(leaf, "cgroup.procs", "%llu", getpid())) {
		say("%s: %s: clients' processes have no limit of CPU time, and each its own of memory",
		    leaf, strerror(errno));
		return false;
	}
	for (i = 0; i < 3; i++)
		if (!write_file(own, "cgroup.subtree_control", controllers[i], 0))
			say("%s: no %s: %s", own, controllers[i] + 1, strerror(errno));
	make_newcomers();
	return true;
}

void cgroup_newcomer(void)
{
	char folder[600];

	snprintf(folder, sizeof(folder), "%s/newcomers", own);
	write_file(folder, "cgroup.procs", "%llu", 0);
}

static void folder_of(unsigned int tenant, char to[600])
{
	snprintf(to, 600, "%s/client-%u", own, tenant);
}

static void folder_in(unsigned int tenant, unsigned int slot, char to[640])
{
	snprintf(to, 640, "%s/client-%u/program-%u", own, tenant, slot);
}

static bool make_folder(const char *folder)
{
	if (!mkdir(folder, 0755) || errno == EEXIST)
		return true;
	say_of_clients(ABOUT_PROCESSES, NULL, "%s: %s", folder, strerror(errno));
	return false;
}

/* limits that all programs of the client share; @more: as cgroup_memory() has it */
static bool limit_client(const char *folder, const struct conf_share *share, uint64_t more)
{
	bool fine = write_file(folder, "cpu.weight", "%llu", share->weight);

	fine = write_file(folder, "memory.max", share->host_memory ? "%llu" : "max",
			  share->host_memory + more) &&
	       fine;
	write_file(folder, "memory.swap.max", share->host_memory ? "0" : "max", 0);
	fine = write_file(folder, "cgroup.subtree_control", "+memory", 0) && fine;
	return write_file(folder, "cgroup.subtree_control", "+pids", 0) && fine;
}

/* memory.oom.group: a program ends as a whole */
static bool limit_program(const char *folder, pid_t pid, uint64_t tasks)
{
	bool fine = write_file(folder, "pids.max", "%llu", tasks);

	write_file(folder, "memory.oom.group", "1", 0);
	return write_file(folder, "cgroup.procs", "%llu", pid) && fine;
}

void cgroup_enter(unsigned int tenant, unsigned int slot, pid_t pid, const struct conf_share *share,
		  uint64_t more, uint64_t tasks)
{
	char client[600], program[640];
	bool fine;

	folder_of(tenant, client);
	folder_in(tenant, slot, program);
	if (!make_folder(client))
		return;
	fine = limit_client(client, share, more);
	if (!make_folder(program))
		return;
	fine = limit_program(program, pid, tasks) && fine;
	if (!fine)
		say_of_clients(ABOUT_PROCESSES, NULL, "%s: not all limits could be set: %s", client,
			       strerror(errno));
}

bool cgroup_memory(unsigned int tenant, const struct conf_share *share, uint64_t more)
{
	char folder[600];

	folder_of(tenant, folder);
	return !share->host_memory ||
	       write_file(folder, "memory.max", "%llu", share->host_memory + more);
}

void cgroup_weigh(unsigned int tenant, uint64_t weight)
{
	char folder[600];

	folder_of(tenant, folder);
	write_file(folder, "cpu.weight", "%llu", weight);
}

void cgroup_end(unsigned int tenant, unsigned int slot, bool last)
{
	char folder[640];

	folder_in(tenant, slot, folder);
	rmdir(folder);
	if (!last)
		return;
	folder_of(tenant, folder);
	rmdir(folder);
}
