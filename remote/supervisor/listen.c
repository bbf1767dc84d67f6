// SPDX-License-Identifier: MIT
/*
 * What clients come to: sockets that systemd opened, and those of the configuration that are not
 * among them; and endpoints: shmem regions in files and on devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* some kernels' header wants sa_family_t of <sys/socket.h> */
#include <linux/vm_sockets.h>

#include <remote/channel/address.h>
#include <remote/channel/channel.h>
#include <remote/channel/rights.h>

#include "supervisor.h"

enum { FIRST_FD = 3 }; /* the first of systemd's sockets */
enum { TRY_AGAIN_MS = 1000 };

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

union name {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_vm vm;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static bool name_of(int fd, union name *name)
{
	socklen_t bytes = sizeof(*name);

	memset(name, 0, sizeof(*name));
	return !getsockname(fd, &name->any, &bytes);
}

/*
 * Take over a socket that systemd has opened. From another machine TLS is demanded, so a TCP socket
 * of systemd is for TLS, whatever its address.
 */
static bool adopt(struct supervisor *s, int fd)
{
	int listening = 0, type = 0;
	socklen_t size = sizeof(int);
	struct listener *l;
	sa_family_t family;
	union name name;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) || !listening ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM ||
	    !name_of(fd, &name)) {
		say("descriptor %d of LISTEN_FDS is no stream socket that listens: ListenStream= with Accept=no",
		    fd);
		return false;
	}
	if (s->nr_listeners == LISTENERS) {
		say("there are too many sockets: %d at most", LISTENERS);
		return false;
	}
	rights_refuse(fd);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	family = name.any.sa_family;
	l = &s->listeners[s->nr_listeners++];
	*l = (struct listener){ .fd = fd, .tls = family == AF_INET || family == AF_INET6 };
	return true;
}

/* as sd_listen_fds(3) says: the descriptors are for the process that LISTEN_PID names */
bool listen_adopt(struct supervisor *s)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t process, n, i;

	if (!pid || !conf_natural(pid, INT32_MAX, &process) || (pid_t)process != getpid())
		return true;
	if (!fds || !conf_natural(fds, LISTENERS, &n)) {
		say("LISTEN_FDS is a number, %d at most, not \"%s\"", LISTENERS, fds ?: "");
		return false;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (i = 0; i < n; i++)
		if (!adopt(s, FIRST_FD + i))
			return false;
	return true;
}

/* as sd_notify(3) says: a path, or with an @ a name without a file */
void listen_tell(struct supervisor *s, const char *text)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *at = getenv("NOTIFY_SOCKET") ?: s->notify;
	size_t n = strlen(at);
	int fd;

	if (!n || n >= sizeof(to.sun_path) || (*at != '/' && *at != '@'))
		return;
	memmove(s->notify, at, n + 1);
	memcpy(to.sun_path, at, n);
	if (*at == '@')
		to.sun_path[0] = 0;
	unsetenv("NOTIFY_SOCKET");
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
			     offsetof(struct sockaddr_un, sun_path) + n) < 0)
		say("NOTIFY_SOCKET: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* The first @adopted listeners are systemd's. The others were opened for lines of "listen". */
static bool is_path_there(const struct supervisor *s, const char *path, unsigned int adopted)
{
	union name name;
	unsigned int i;

	for (i = 0; i < adopted; i++)
		if (name_of(s->listeners[i].fd, &name) && name.any.sa_family == AF_UNIX &&
		    !strcmp(name.un.sun_path, path))
			return true;
	return false;
}

/* whether a socket of systemd has that port, of vsock or of IP, at whatever address */
static bool is_port_there(const struct supervisor *s, enum address_scheme scheme, uint32_t port,
			  unsigned int adopted)
{
	union name name;
	unsigned int i;

	for (i = 0; i < adopted; i++) {
		if (!name_of(s->listeners[i].fd, &name))
			continue;
		if (scheme == ADDRESS_VSOCK && name.any.sa_family == AF_VSOCK &&
		    name.vm.svm_port == port)
			return true;
		if (scheme != ADDRESS_VSOCK && name.any.sa_family == AF_INET &&
		    ntohs(name.in.sin_port) == port)
			return true;
		if (scheme != ADDRESS_VSOCK && name.any.sa_family == AF_INET6 &&
		    ntohs(name.in6.sin6_port) == port)
			return true;
	}
	return false;
}

/* a row that is free, or NULL */
static struct listener *free_row(struct supervisor *s)
{
	struct listener *l = s->listeners;

	while (l < s->listeners + s->nr_listeners && (l->fd >= 0 || l->endpoint || l->taken))
		l++;
	return l < s->listeners + LISTENERS ? l : NULL;
}

static void fill_row(struct supervisor *s, struct listener *l, struct listener of)
{
	*l = of;
	if (l == s->listeners + s->nr_listeners)
		s->nr_listeners++;
}

static int open_endpoint(struct supervisor *s, const char *text, const char *who,
			 unsigned int index, const char **why)
{
	struct listener *l = free_row(s), of = { .fd = -1, .text = text };
	int r;

	*why = "there are too many addresses and places";
	r = l ? kvgpu_remote_endpoint_open(text, index, s->build.version, &of.endpoint, why) :
		-E2BIG;
	if (r)
		return r;
	strcpy(of.who, who);
	fill_row(s, l, of);
	return 0;
}

static const char open_to_clients[] =
	"its group is one of \"groups\", so each client's process could open it: chgrp";

/* whether clients' processes may open the region: the memory of another client */
static bool is_open_to_clients(const struct supervisor *s, const char *path)
{
	struct stat st;
	unsigned int i;

	if (!s->conf->users || stat(path, &st) || !(st.st_mode & S_IRWXG))
		return false;
	for (i = 0; i < s->nr_groups && s->groups[i] != st.st_gid; i++)
		;
	return i < s->nr_groups;
}

/* whether they may open no region that this server has taken over; else it was said */
static bool are_kept_from_clients(const struct supervisor *s)
{
	const struct listener *l;

	for (l = s->listeners; l < s->listeners + s->nr_listeners; l++)
		if (l->endpoint && l->text && is_open_to_clients(s, l->who + strlen("aperture:"))) {
			say("%s: %s", l->text, open_to_clients);
			return false;
		}
	return true;
}

/* Whether this server has endpoints of that file or device, by whatever name. */
static bool is_served(const struct supervisor *s, const char *path)
{
	const struct listener *l;
	struct stat st, other;

	if (stat(path, &st))
		return false;
	for (l = s->listeners; l < s->listeners + s->nr_listeners; l++)
		if (l->endpoint && !stat(l->who + strlen("aperture:"), &other) &&
		    other.st_dev == st.st_dev && other.st_ino == st.st_ino)
			return true;
	return false;
}

/* open all endpoints of an address, or none: how many, or -errno */
static int open_all(struct supervisor *s, const char *text, const char *path, const char *who,
		    const char **why)
{
	int i, r = 0, n = kvgpu_remote_endpoints(text, why);
	struct listener *l;

	if (n > 0 && is_served(s, path)) {
		*why = "it is listed twice: this server serves it already, by another name";
		return -EEXIST;
	}
	if (n > 0 && is_open_to_clients(s, path)) {
		*why = open_to_clients;
		return -EPERM;
	}

	for (i = 0; i < n && !r; i++)
		r = open_endpoint(s, text, who, i, why);
	if (!r)
		return n;
	for (l = s->listeners; l < s->listeners + s->nr_listeners; l++)
		if (l->endpoint && l->text == text) {
			kvgpu_remote_endpoint_close(l->endpoint);
			*l = (struct listener){ .fd = -1 };
		}
	return r;
}

/* @text has to stay. @said: why the device is not served yet; empty: it is not there. */
static bool await_device(struct supervisor *s, const char *text, const char *said)
{
	struct awaited *w;

	if (s->nr_awaited == LISTENERS) {
		say("%s: there are too many addresses", text);
		return false;
	}
	w = &s->awaited[s->nr_awaited++];
	w->text = text;
	snprintf(w->said, sizeof(w->said), "%s", said);
	return true;
}

static bool name_client(struct supervisor *s, const char *text, const struct address *a,
			char who[CONF_WHO])
{
	if (snprintf(who, CONF_WHO, "aperture:%s", a->host) >= CONF_WHO || !conf_is_who(who)) {
		say("%s: the path of a file or device that is an aperture has letters, digits, - . _ / alone, %d bytes at most",
		    text, CONF_WHO - 10);
		return false;
	}
	if (!remoted_conf_share(s->conf, who)->allow) {
		say("%s: the configuration does not allow its client: allow = yes in its section",
		    text);
		return false;
	}
	return true;
}

static void say_endpoints(const char *text, int n)
{
	if (n > 1)
		say("listens at %s, for %d programs at once", text, n);
	else
		say("listens at %s", text);
}

/*
 * What is not there yet is awaited, and so is what can't be served now: a client can cut a file,
 * write a label that fits nothing, or hold the server's lock. That must not keep the server from
 * its other clients.
 */
static bool open_endpoints(struct supervisor *s, const char *text, const struct address *a)
{
	char who[CONF_WHO];
	const char *why;
	int n;

	if (!name_client(s, text, a, who))
		return false;
	n = open_all(s, text, a->host, who, &why);
	if (n == -ENOENT)
		return await_device(s, text, "");
	if (n < 0) {
		say(n == -EEXIST ? "%s: %s" : "%s: %s; it is served as soon as that is right", text,
		    why);
		return await_device(s, text, why);
	}
	say_endpoints(text, n);
	return true;
}

static void try_again(struct supervisor *s, const struct awaited *w)
{
	char who[CONF_WHO];
	struct address a;
	const char *why;
	int n;

	if (address_parse(w->text, true, &a, &why) || !name_client(s, w->text, &a, who))
		return;
	n = open_all(s, w->text, a.host, who, &why);
	if (n > 0) {
		say_endpoints(w->text, n);
		return;
	}
	if (n == -ENOENT)
		why = "";
	if (*why && strncmp(why, w->said, sizeof(w->said) - 1))
		say("%s: %s", w->text, why);
	await_device(s, w->text, why);
}

int listen_again(struct supervisor *s)
{
	unsigned int i, n = s->nr_awaited;
	uint64_t now = now_ms();
	struct awaited w;

	if (!n)
		return -1;
	if (now < s->next_try_ms)
		return s->next_try_ms - now;
	s->next_try_ms = now + TRY_AGAIN_MS;
	s->nr_awaited = 0;
	/* each address is served, or put back at its old index or a lower one */
	for (i = 0; i < n; i++) {
		w = s->awaited[i];
		try_again(s, &w);
	}
	return s->nr_awaited ? TRY_AGAIN_MS : -1;
}

void listen_lost(struct supervisor *s, struct listener *l)
{
	unsigned int i;

	say("%s: the aperture's memory is gone (its file was cut short, or its device failed): not served any more",
	    l->who);
	kvgpu_remote_endpoint_close(l->endpoint);
	l->endpoint = NULL;
	for (i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].fd >= 0 || s->listeners[i].endpoint)
			return;
	if (s->nr_awaited)
		return;
	s->failed = s->ended = true;
}

void socket_file_begin(struct socket_file *f, const char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISSOCK(st.st_mode))
		return;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	strcpy(f->path, path);
}

static bool is_same(const struct socket_file *f, const struct stat *st)
{
	return st->st_dev == f->dev && st->st_ino == f->ino;
}

void socket_file_end(const struct socket_file *f)
{
	struct stat st;

	if (*f->path && !lstat(f->path, &st) && is_same(f, &st))
		unlink(f->path);
}

bool file_give(int fd, const char *as, const char *group)
{
	const struct group *g = *group ? getgrnam(group) : NULL;
	bool known = g || !*group;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (known && !chown(path, -1, g ? g->gr_gid : getegid()) && !chmod(path, g ? 0660 : 0600))
		return true;
	say("%s can't be given to %s%s: %s", as, g || !known ? "the group " : "its owner alone",
	    group, known ? strerror(errno) : "there is no such group");
	return false;
}

bool socket_file_give(const struct socket_file *f, const char *as, const char *group)
{
	int fd = open(f->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool given = false;

	if (fd >= 0 && !fstat(fd, &st) && is_same(f, &st))
		given = file_give(fd, as, group);
	else
		say("%s: its socket is not there any more, so no group gets it: may others write the folder?",
		    as);
	if (fd >= 0)
		close(fd);
	return given;
}

static bool open_one(struct supervisor *s, const char *text, unsigned int adopted)
{
	struct listener *l = free_row(s);
	struct address a;
	const char *why;
	bool is_path;
	int r = address_parse(text, true, &a, &why);

	if (!r && address_is_endpoint(&a))
		return open_endpoints(s, text, &a);
	is_path = a.scheme == ADDRESS_UNIX || a.scheme == ADDRESS_SHMEM;
	if (!r && (is_path ? is_path_there(s, a.host, adopted) :
			     is_port_there(s, a.scheme, a.port, adopted)))
		return true;
	if (!l) {
		r = -E2BIG;
		why = "there are too many sockets";
	}
	if (!r)
		r = address_listen(&a, &why);
	if (r < 0) {
		say("%s: %s", text, why);
		return false;
	}
	fill_row(s, l, (struct listener){ .fd = r, .tls = a.scheme == ADDRESS_TLS, .text = text });
	fcntl(l->fd, F_SETFL, O_NONBLOCK);
	say("listens at %s", text);
	if (!is_path)
		return true;
	socket_file_begin(&l->file, a.host);
	return !*s->conf->socket_group || socket_file_give(&l->file, a.host, s->conf->socket_group);
}

/* a wrong name looks like a device that comes later: list devices with a similar name */
static void say_awaited(const char *text)
{
	enum { TOLD_MAX = 8 };
	char pattern[sizeof(((struct address *)0)->host) + 1], there[1024] = "";
	const char *dash, *why;
	glob_t found = { 0 };
	struct address a;
	size_t i, n = 0;

	dash = address_parse(text, true, &a, &why) ? NULL : strrchr(a.host, '-');
	if (dash && dash > strrchr(a.host, '/')) {
		snprintf(pattern, sizeof(pattern), "%.*s*", (int)(dash + 1 - a.host), a.host);
		glob(pattern, 0, NULL, &found);
	}
	for (i = 0; i < found.gl_pathc && i < TOLD_MAX && n < sizeof(there); i++)
		n += snprintf(there + n, sizeof(there) - n, "%s %s", i ? "," : "; there is",
			      found.gl_pathv[i]);
	globfree(&found);
	say("%s is not there yet: it is served as soon as it is%s", text, there);
}

/* whether an earlier line has the same address as line @n */
static bool is_listed(const struct remoted_conf *conf, unsigned int n)
{
	unsigned int i = 0;

	while (strcmp(conf->listen[i], conf->listen[n]))
		i++;
	return i < n;
}

/* whether a listener has the line already: it was taken over */
static bool is_open(const struct supervisor *s, const char *text)
{
	const struct listener *l;

	for (l = s->listeners; l < s->listeners + s->nr_listeners; l++)
		if (l->text == text && (l->fd >= 0 || l->endpoint))
			return true;
	return false;
}

static void learn_groups(struct supervisor *s)
{
	const struct group *g;
	unsigned int i;

	for (i = s->nr_groups = 0; i < s->conf->nr_groups; i++) {
		g = getgrnam(s->conf->groups[i]);
		if (g)
			s->groups[s->nr_groups++] = g->gr_gid;
	}
}

bool listen_all(struct supervisor *s)
{
	unsigned int i, adopted = 0;

	while (adopted < s->nr_listeners && s->listeners[adopted].fd >= 0 &&
	       !s->listeners[adopted].text)
		adopted++;
	learn_groups(s);
	if (s->trial && !are_kept_from_clients(s))
		return false;
	for (i = 0; i < s->conf->nr_listen; i++)
		if (is_listed(s->conf, i))
			say("%s is listed twice: it is served once", s->conf->listen[i]);
		else if (!is_open(s, s->conf->listen[i]) &&
			 !open_one(s, s->conf->listen[i], adopted)) {
			if (!s->state || s->trial)
				return false;
			/* the trial could open it: who took it meanwhile ends no client */
			s->undone = s->conf->listen[i];
		}
	for (i = 0; i < s->nr_awaited; i++)
		if (!*s->awaited[i].said)
			say_awaited(s->awaited[i].text);
	if (!s->nr_listeners && !s->nr_awaited)
		say("there is nothing to listen at: \"listen = ADDRESS\" in the configuration, or --listen ADDRESS");
	return s->nr_listeners || s->nr_awaited;
}

void accept_failed(struct supervisor *s)
{
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	say_of_clients(ABOUT_NEWCOMERS, NULL, "accept: %s", strerror(errno));
	s->accept_ms = now_ms() + AGAIN_MS;
}

void listener_drop(struct supervisor *s, struct listener *l)
{
	l->text = NULL;
	if (l->taken) {
		l->leaves = true;
		return;
	}
	socket_file_end(&l->file);
	if (l->fd >= 0)
		rights_close_copy(l->fd);
	if (l->endpoint)
		kvgpu_remote_endpoint_close(l->endpoint);
	*l = (struct listener){ .fd = -1 };
}

void listen_undo(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_listeners; i++)
		socket_file_end(&s->listeners[i].file);
}

void listen_end(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_listeners; i++) {
		socket_file_end(&s->listeners[i].file);
		if (s->listeners[i].fd >= 0)
			rights_close_copy(s->listeners[i].fd);
		if (s->listeners[i].endpoint)
			kvgpu_remote_endpoint_close(s->listeners[i].endpoint);
		s->listeners[i].endpoint = NULL;
	}
	s->nr_listeners = s->nr_awaited = 0;
	preauth_end(s);
}
