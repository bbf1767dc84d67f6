// SPDX-License-Identifier: MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "registry.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/rights.h>

#define PREFIX "kvgpu-run/"
enum { WAITING = 16, GROUPS_MAX = 256, USER_TEXT = 65, USERS_KNOWN = 64 };

void registry_write(const struct registry_name *n, char *text)
{
	snprintf(text, ENTRY_TEXT - 1, PREFIX "%s/%u/%u/%s", n->uuid, n->device, n->pid, n->label);
}

/* only characters that can't change a line or a terminal */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-._:+", *text))
			return false;
	return true;
}

bool registry_read(const char *text, struct registry_name *n)
{
	*n = (struct registry_name){ .uuid = "" };
	return sscanf(text, PREFIX "%32[0-9a-f-]/%u/%u/%40s", n->uuid, &n->device, &n->pid,
		      n->label) == 4 &&
	       is_plain(n->label) && strchr(n->label, ':');
}

bool registry_is_of(const struct registry_name *n, const char *uuid, unsigned int device)
{
	return strcmp(n->uuid, "-") ? !strcmp(n->uuid, uuid) : n->device == device;
}

static socklen_t address(const char *text, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(at->sun_path + 1, text, strlen(text));
	return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(text);
}

int registry_enter(const char *uuid, unsigned int device, const char *label)
{
	struct registry_name n = { .device = device, .pid = getpid() };
	char text[ENTRY_TEXT];
	struct sockaddr_un at;
	socklen_t size;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(n.uuid, sizeof(n.uuid), "%s", uuid);
	snprintf(n.label, sizeof(n.label), "%s", label);
	registry_write(&n, text);
	size = address(text, &at);
	rights_refuse(fd);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, size) && !listen(fd, WAITING))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void registry_answer(int registry)
{
	int fd = accept4(registry, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		rights_close(fd);
}

static void print_user(const char *host, unsigned int device, pid_t pid, const char *user,
		       const struct registry_name *n)
{
	printf("user %s %u %d %s %.*s %s\n", host, device, pid, user, (int)strcspn(n->label, ":"),
	       n->label, strchr(n->label, ':') + 1);
}

static bool is_in_group(const struct passwd *user, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int i, n = GROUPS_MAX;

	if (!user || getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
		return false;
	for (i = 0; i < n && groups[i] != group; i++)
		;
	return i < n;
}

static bool may_open_one(const struct stat *node, uid_t user)
{
	const mode_t both = S_IROTH | S_IWOTH;

	if (!user || (node->st_mode & both) == both)
		return true;
	if (node->st_uid == user)
		return (node->st_mode >> 6 & both) == both;
	return (node->st_mode >> 3 & both) == both && is_in_group(getpwuid(user), node->st_gid);
}

bool registry_may_open(uid_t user, const char *nodes)
{
	bool may = false, none = true;
	glob_t found;
	size_t i;

	if (glob(nodes, GLOB_BRACE, NULL, &found))
		return true;
	for (i = 0; i < found.gl_pathc && !may; i++) {
		struct stat st;

		if (stat(found.gl_pathv[i], &st))
			continue;
		none = false;
		may = may_open_one(&st, user);
	}
	globfree(&found);
	return none || may;
}

struct known {
	bool is, may;
	uid_t user;
	char name[USER_TEXT];
};

/* what the machine says of a user is asked once, as it may ask a network */
static const struct known *learn(uid_t user)
{
	static struct known users[USERS_KNOWN];
	struct known *k = &users[user % USERS_KNOWN];
	struct passwd *entry;

	if (k->is && k->user == user)
		return k;
	*k = (struct known){ true, registry_may_open(user, REGISTRY_NODES), user, "" };
	entry = k->may ? getpwuid(user) : NULL;
	if (entry)
		snprintf(k->name, sizeof(k->name), "%s", entry->pw_name);
	else
		snprintf(k->name, sizeof(k->name), "%u", user);
	return k;
}

/*
 * Nothing is waited for. The socket is shut for reading before it has a peer: else that could send
 * a descriptor, and close() would wait for as long as the peer likes (remote/channel/rights.h).
 */
static void print_entry(const char *host, unsigned int device, const char *text,
			const struct registry_name *n)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer), size;
	const struct known *user;
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	size = address(text, &at);
	if (fd < 0 || shutdown(fd, SHUT_RD)) {
		print_user(host, device, n->pid, REGISTRY_SILENT, n);
		return;
	}
	if (connect(fd, (struct sockaddr *)&at, size)) {
		/* EAGAIN: it is there, and its queue is full; else it has just ended */
		if (errno == EAGAIN)
			print_user(host, device, n->pid, REGISTRY_SILENT, n);
	} else if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) {
		user = learn(peer.uid);
		if (user->may)
			print_user(host, device, peer.pid, user->name, n);
	}
	close(fd);
}

static void print_if_of(const char *host, struct registry_gpu *gpu, const char *text,
			const struct registry_name *n)
{
	if (registry_is_of(n, gpu->uuid, gpu->device) && gpu->entries++ < REGISTRY_MOST)
		print_entry(host, gpu->device, text, n);
}

void registry_print(const char *host, struct registry_gpu *gpus, unsigned int nr)
{
	FILE *f = fopen("/proc/net/unix", "re");
	struct registry_name n;
	char *line = NULL, *at;
	unsigned int i;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		/* connections have the name, too: only the socket that listens has that flag */
		at = strstr(line, " @" PREFIX);
		if (!at || !strstr(line, " 00010000 "))
			continue;
		at += 2;
		at[strcspn(at, "\n")] = 0;
		if (strlen(at) >= ENTRY_TEXT - 1 || !registry_read(at, &n))
			continue;
		for (i = 0; i < nr; i++)
			print_if_of(host, &gpus[i], at, &n);
	}
	free(line);
	if (f)
		fclose(f);
}
