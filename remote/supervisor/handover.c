// SPDX-License-Identifier: MIT
/*
 * Another build takes the first process's place: exec keeps its number, its cgroup, its children,
 * which don't see it, and the descriptors that the state names. A trial comes first: the installed
 * build reads the state and the configuration in a child, as it would, and says why it can't go on.
 * The loop waits for that, and nothing else happens between the trial and exec. Turns go on
 * meanwhile; the arbiter's thread ends by exec. What is not handed over begins anew: budgets of
 * lines and of starts, and connections to bells, which come again. Children that end during exec
 * are reaped by supervisor_run(); SIGTERM during exec ends the process at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/text.h>
#include <remote/channel/channel.h>
#include <remote/channel/rights.h>
#include <remote/server/images.h>

#include "supervisor.h"
#include "state.h"

enum { TRIAL_S = 20, TRIAL_TEXT = 2048 };

/* first of all: what the other build and its configuration have to be the same in */
struct head {
	uint64_t version, clients, newcomers, users;
	bool turns, cgroups;
	uint64_t sleep; /* of struct sleep_shared; 0: of a build without */
	char layouts[64], admin[108], cgroup[CGROUP_PATH];
	/* what it may be different in */
	char admin_group[CONF_GROUP], socket_group[CONF_GROUP];
};
static const struct state_field of_head[] = { STATE(struct head, version),
					      STATE(struct head, layouts),
					      STATE(struct head, clients),
					      STATE(struct head, newcomers),
					      STATE(struct head, users),
					      STATE(struct head, turns),
					      STATE(struct head, admin),
					      STATE(struct head, cgroups),
					      STATE(struct head, cgroup),
					      STATE(struct head, admin_group),
					      STATE(struct head, socket_group),
					      STATE(struct head, sleep),
					      STATE_END };
static const struct state_field of_server[] = { STATE_FD(struct supervisor, admin_fd),
						STATE_FD(struct supervisor, awaits),
						STATE(struct supervisor, admin_file.path),
						STATE(struct supervisor, admin_file.dev),
						STATE(struct supervisor, admin_file.ino),
						STATE(struct supervisor, notify),
						STATE(struct supervisor, tenants_left),
						STATE(struct supervisor, since),
						STATE(struct supervisor, last_id),
						STATE(struct supervisor, accepted),
						STATE(struct supervisor, refused),
						STATE(struct supervisor, gone.calls),
						STATE(struct supervisor, gone.received),
						STATE(struct supervisor, gone.sent),
						STATE_END };

struct handed_listener {
	struct listener l;
	char text[sizeof(((struct remoted_conf *)0)->listen[0])];
	struct kvgpu_remote_endpoint_kept e;
};
static const struct state_field of_listener[] = {
	STATE_FD(struct handed_listener, l.fd),	     STATE(struct handed_listener, l.tls),
	STATE(struct handed_listener, l.taken),	     STATE(struct handed_listener, l.leaves),
	STATE(struct handed_listener, l.who),	     STATE(struct handed_listener, l.file.path),
	STATE(struct handed_listener, l.file.dev),   STATE(struct handed_listener, l.file.ino),
	STATE(struct handed_listener, text),	     STATE_FD(struct handed_listener, e.file),
	STATE_FD(struct handed_listener, e.bell),    STATE(struct handed_listener, e.any),
	STATE(struct handed_listener, e.cid),	     STATE(struct handed_listener, e.at),
	STATE(struct handed_listener, e.from),	     STATE(struct handed_listener, e.bytes),
	STATE(struct handed_listener, e.generation), STATE(struct handed_listener, e.only),
	STATE(struct handed_listener, e.nonce),	     STATE_END
};

static const struct state_field of_tenant[] = {
	STATE_FD(struct tenant, fd),	   STATE_FD(struct tenant, images),
	STATE_FD(struct tenant, compiled), STATE(struct tenant, who),
	STATE(struct tenant, programs),	   STATE(struct tenant, anew),
	STATE(struct tenant, left),	   STATE_END
};

enum { NO_INDEX = UINT32_MAX };
struct handed_client {
	struct client c;
	uint32_t listener, tenant; /* index, or NO_INDEX */
};
static const struct state_field of_client[] = {
	STATE_FD(struct handed_client, c.report),   STATE_FD(struct handed_client, c.log),
	STATE_FD(struct handed_client, c.life),	    STATE_FD(struct handed_client, c.program),
	STATE_FD(struct handed_client, c.memory),   STATE_FD(struct handed_client, c.page),
	STATE(struct handed_client, listener),	    STATE(struct handed_client, tenant),
	STATE(struct handed_client, c.state),	    STATE(struct handed_client, c.tls),
	STATE(struct handed_client, c.pid),	    STATE(struct handed_client, c.reaped),
	STATE(struct handed_client, c.id),	    STATE(struct handed_client, c.told),
	STATE(struct handed_client, c.left_ms),	    STATE(struct handed_client, c.peer),
	STATE(struct handed_client, c.who),	    STATE(struct handed_client, c.fingerprint),
	STATE(struct handed_client, c.from.net),    STATE(struct handed_client, c.from.host),
	STATE(struct handed_client, c.since),	    STATE(struct handed_client, c.came_ms),
	STATE(struct handed_client, c.deadline_ms), STATE(struct handed_client, c.weight),
	STATE(struct handed_client, c.traced),	    STATE_END
};
/* of a client that can sleep; what readings say comes again */
#define SLEEPER(member) STATE(struct client, sleeper.member)
#define TOLD(member)	STATE(struct client, sleep.member)
static const struct state_field of_sleeper[] = {
	SLEEPER(asked),	    SLEEPER(called),	SLEEPER(target),     SLEEPER(state),
	SLEEPER(why),	    SLEEPER(sleeps),	SLEEPER(wished_ms),  SLEEPER(bytes),
	SLEEPER(moves),	    SLEEPER(from),	SLEEPER(to),	     SLEEPER(owes),
	SLEEPER(listed),    SLEEPER(headed_ms), SLEEPER(calls),	     SLEEPER(place),
	SLEEPER(frame_ms),  SLEEPER(awake_ms),	SLEEPER(ordered_ms), SLEEPER(refused_ms),
	SLEEPER(apart_ms),  SLEEPER(needs[0]),	SLEEPER(needs[1]),   SLEEPER(needs[2]),
	SLEEPER(needs[3]),  SLEEPER(needs[4]),	SLEEPER(needs[5]),   SLEEPER(needs[6]),
	SLEEPER(needs[7]),  SLEEPER(needs[8]),	SLEEPER(needs[9]),   SLEEPER(needs[10]),
	SLEEPER(needs[11]), SLEEPER(needs[12]), SLEEPER(needs[13]),  SLEEPER(needs[14]),
	SLEEPER(needs[15]), TOLD(order),	TOLD(granted),	     TOLD(wakes),
	TOLD(answers),	    TOLD(error),	TOLD(raised),	     STATE_END
};
static const struct state_field of_conn[] = {
	STATE_FD(struct preauth_conn, fd),    STATE(struct preauth_conn, tls),
	STATE(struct preauth_conn, from.net), STATE(struct preauth_conn, from.host),
	STATE(struct preauth_conn, ready),    STATE(struct preauth_conn, again),
	STATE(struct preauth_conn, came_ms),  STATE_END
};

/* A build from before clients slept would let those that sleep wait for ever. */
static struct head head_of(const struct supervisor *s)
{
	struct head h = { .version = one_sleeps(s) ? STATE_VERSION_SLEEP : STATE_VERSION,
			  .sleep = sizeof(struct sleep_shared),
			  .clients = s->conf->clients,
			  .newcomers = s->conf->newcomers,
			  .users = s->conf->users,
			  .turns = s->conf->turns,
			  .cgroups = s->cgroups };

	/* of what clients' processes share with the first one, and among themselves */
	snprintf(h.layouts, sizeof(h.layouts), "%zu-%zu-%zu-%u-%zu",
		 offsetof(struct client_page, sleep), sizeof(struct report), sizeof(struct share),
		 POOL_SHARES, sizeof(struct kvgpu_remote_hello));
	strcpy(h.admin, s->conf->admin);
	strcpy(h.cgroup, cgroup_own());
	strcpy(h.admin_group, s->conf->admin_group);
	strcpy(h.socket_group, s->conf->socket_group);
	return h;
}

/* ------------------------------------------------------------------ the build that goes */

static void write_listener(const struct listener *l, unsigned int i, int fd)
{
	struct handed_listener h = { .l = *l, .e = { .file = -1, .bell = -1 } };

	if (l->endpoint)
		kvgpu_remote_endpoint_keep(l->endpoint, &h.e);
	strcpy(h.text, l->text ?: "");
	state_write(fd, "listener", i, of_listener, &h);
}

static void write_client(const struct supervisor *s, const struct client *c, int fd)
{
	struct handed_client h = { *c, c->listener ? c->listener - s->listeners : NO_INDEX,
				   c->tenant ? c->tenant - s->tenants : NO_INDEX };

	state_write(fd, "client", c - s->clients, of_client, &h);
	if (c->sleeper.state || c->sleeper.owes)
		state_write(fd, "sleeper", c - s->clients, of_sleeper, c);
}

/* a descriptor, or -errno; with the arbiter held */
static int write_state(const struct supervisor *s)
{
	struct head h = head_of(s);
	int fd = state_begin(), r;
	unsigned int i;

	if (fd < 0)
		return fd;
	state_write(fd, "kvgpu-remoted", 0, of_head, &h);
	state_write(fd, "server", 0, of_server, s);
	for (i = 0; i < s->nr_listeners; i++)
		write_listener(&s->listeners[i], i, fd);
	for (i = 0; i < s->nr_clients; i++)
		if (*s->tenants[i].who)
			state_write(fd, "tenant", i, of_tenant, &s->tenants[i]);
	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE)
			write_client(s, &s->clients[i], fd);
	for (i = 0; i < s->nr_preauth; i++)
		if (s->preauth[i].fd >= 0)
			state_write(fd, "preauth", i, of_conn, &s->preauth[i]);
	arbiter_write(s, fd);
	r = state_seal(fd);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* Execute the installed build with the state at @fd. Returns only if that can't be: errno. */
static void execute(const struct supervisor *s, const char *option, int fd)
{
	char **argv = calloc(s->argc + 3, sizeof(*argv)), number[12];
	const char *why, *state = state_open(fd, &why);

	if (argv && state) {
		memcpy(argv, s->argv, s->argc * sizeof(*argv));
		snprintf(number, sizeof(number), "%d", fd);
		argv[s->argc] = (char *)(uintptr_t)option;
		argv[s->argc + 1] = number;
		state_descriptors(state, 0);
		fcntl(fd, F_SETFD, 0);
		execv(s->program, argv);
		state_descriptors(state, FD_CLOEXEC);
	}
	if (state)
		state_close(state);
	free(argv);
}

static void try_installed(const struct supervisor *s, int fd, int to) __attribute__((noreturn));
static void try_installed(const struct supervisor *s, int fd, int to)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (getppid() == parent && dup2(to, STDOUT_FILENO) >= 0 && dup2(to, STDERR_FILENO) >= 0)
		execute(s, "--can-adopt", fd);
	dprintf(STDERR_FILENO, "%s: %s\n", s->program, strerror(errno));
	_exit(1);
}

/* The last lines that come from @fd until its end. False: that does not come within TRIAL_S. */
static bool hear(int fd, char text[TRIAL_TEXT])
{
	uint64_t now = now_ms(), until = now + TRIAL_S * 1000;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	ssize_t n = 1;

	for (; n > 0 && now < until; now = now_ms()) {
		if (poll(&p, 1, until - now) <= 0)
			continue;
		n = read(fd, text + have, TRIAL_TEXT - 1 - have);
		have += n > 0 ? n : 0;
		if (have < TRIAL_TEXT - 1)
			continue;
		have /= 2;
		memmove(text, text + TRIAL_TEXT - 1 - have, have);
	}
	text[have] = 0;
	return n <= 0;
}

/* false: @text has why not, in lines */
static bool can_go_on(const struct supervisor *s, int fd, char text[TRIAL_TEXT])
{
	int log[2], status = -1;
	pid_t pid;

	strcpy(text, "out of processes or descriptors");
	if (pipe2(log, O_CLOEXEC))
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid)
		try_installed(s, fd, log[1]);
	close(log[1]);
	if (pid > 0 && !hear(log[0], text))
		snprintf(text, TRIAL_TEXT,
			 "%s has not said within %d s whether it goes on from here: it was ended",
			 s->program, TRIAL_S);
	close(log[0]);
	if (pid > 0) {
		/* its children, too; has no effect on a process that is about to exit */
		kill(-pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (status && !*text)
		strcpy(text, "the installed build does not go on from here, and does not say why");
	return !status;
}

/* say each line; the answer to the admin has the last one */
static size_t refuse(char *text, char *to, size_t size)
{
	char *line, *last = text, *save;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		text_clean(line, strlen(line) + 1);
		say("reload: %s", line);
		last = line;
	}
	return snprintf(to, size, "error nothing has changed: %s\n", last);
}

/* Connections that are not handed over end here: where exec closed them, it could have to wait. */
static void let_go(struct supervisor *s, int admin)
{
	unsigned int i;

	for (i = 0; i < ADMINS; i++)
		if (s->admins[i].fd >= 0 && s->admins[i].fd != admin) {
			rights_close(s->admins[i].fd);
			s->admins[i].fd = -1;
		}
	for (i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].endpoint)
			kvgpu_remote_endpoint_served(s->listeners[i].endpoint);
	rights_close_kept();
	meter_end(s);
}

static void tell_reloading(struct supervisor *s)
{
	struct timespec t;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 t.tv_sec * 1000000ull + t.tv_nsec / 1000);
	listen_tell(s, text);
}

size_t handover(struct supervisor *s, int admin, char *to, size_t size)
{
	char text[TRIAL_TEXT] = "the server ends, or a drain goes on: it ends with its last client";
	bool can = false;
	int fd;

	if (s->draining || s->ended)
		return refuse(text, to, size);
	s->awaits = admin;
	arbiter_hold();
	fd = write_state(s);
	arbiter_go_on();
	if (fd >= 0)
		can = can_go_on(s, fd, text);
	else
		strcpy(text, strerror(-fd));
	if (fd >= 0)
		close(fd);
	if (!can)
		return refuse(text, to, size);
	let_go(s, admin);
	tell_reloading(s);
	arbiter_hold();
	fd = write_state(s);
	if (fd >= 0)
		execute(s, "--adopt", fd);
	snprintf(text, sizeof(text), "%s: %s", s->program, strerror(fd < 0 ? -fd : errno));
	arbiter_go_on();
	if (fd >= 0)
		close(fd);
	listen_tell(s, "READY=1");
	return refuse(text, to, size);
}

/* ------------------------------------------------------------------ the build that comes */

static bool is_wrong(const char *kind, const char *wrong)
{
	if (wrong)
		say("the state to take over: %s: %s", kind, wrong);
	return wrong;
}

/* the key that a reload can't change, and that is another one; NULL: none */
static const char *fixed_key(const struct supervisor *s, const struct head *h)
{
	const struct remoted_conf *c = s->conf;

	return h->clients != c->clients	    ? "clients" :
	       h->newcomers != c->newcomers ? "newcomers" :
	       h->users != c->users	    ? "users" :
	       h->turns != c->turns	    ? "turns" :
	       strcmp(h->admin, c->admin)   ? "admin-socket" :
					      NULL;
}

static bool take_head(struct supervisor *s, struct head *h)
{
	const char *r = state_next(s->state, NULL, "kvgpu-remoted"), *wrong = "there is none";
	struct head own = head_of(s);
	unsigned int i;

	if (is_wrong("head", r ? state_read(r, &i, of_head, h) : wrong))
		return false;
	if ((h->version != STATE_VERSION && h->version != STATE_VERSION_SLEEP) ||
	    strcmp(h->layouts, own.layouts) || (h->sleep && h->sleep != own.sleep)) {
		say("this build takes over a server's state of version %llu (%s-%llu), not %llu (%s-%llu): drain it, and start it anew",
		    (unsigned long long)own.version, own.layouts, (unsigned long long)own.sleep,
		    (unsigned long long)h->version, h->layouts, (unsigned long long)h->sleep);
		return false;
	}
	wrong = fixed_key(s, h);
	if (wrong) {
		say("%s was another one when the server was started: a reload does not change it, a restart does, and ends all clients",
		    wrong);
		return false;
	}
	s->cgroups = h->cgroups;
	strcpy(cgroup_own(), h->cgroup);
	return true;
}

static const char *line_of(const struct remoted_conf *conf, const char *text)
{
	unsigned int i;

	for (i = 0; i < conf->nr_listen; i++)
		if (!strcmp(conf->listen[i], text))
			return conf->listen[i];
	return NULL;
}

static const char *take_listener(struct supervisor *s, unsigned int i,
				 const struct handed_listener *h)
{
	struct listener *l = &s->listeners[i];

	if (i != s->nr_listeners || i == LISTENERS)
		return "index";
	*l = h->l;
	s->nr_listeners++;
	if (s->trial)
		l->file.path[0] = 0;
	if (h->e.file >= 0 && kvgpu_remote_endpoint_adopt(&h->e, s->build.version, &l->endpoint)) {
		if (s->trial)
			return "memory";
		say("%s: out of memory: its place is not served any more", l->who);
		close(h->e.file);
		if (h->e.bell >= 0)
			close(h->e.bell);
	}
	if (l->fd < 0 && !l->endpoint)
		return NULL;
	l->text = line_of(s->conf, h->text);
	if (l->text || !*h->text)
		return NULL;
	if (s->trial) {
		l->fd = -1;
		l->endpoint = NULL;
		return NULL;
	}
	say("listens no more at %s", h->text);
	listener_drop(s, l);
	return NULL;
}

/* by a file of its own; the socket's is not changed in a trial */
static bool may_give(const char *group)
{
	int fd = memfd_create("kvgpu-remoted group", MFD_CLOEXEC);
	bool may = file_give(fd, "a socket", group);

	close(fd);
	return may;
}

/* The sockets that stay go to the groups that the configuration has by now. */
static bool regroup(struct supervisor *s, const struct head *before)
{
	const struct remoted_conf *c = s->conf;
	bool sockets = strcmp(before->socket_group, c->socket_group);
	bool admins = strcmp(before->admin_group, c->admin_group);
	struct listener *l;

	if (s->trial)
		return (!sockets || may_give(c->socket_group)) &&
		       (!admins || may_give(c->admin_group));
	for (l = s->listeners; sockets && l < s->listeners + s->nr_listeners; l++)
		if (*l->file.path && !socket_file_give(&l->file, l->text, c->socket_group))
			s->undone = l->text;
	if (admins && *s->admin_file.path &&
	    !socket_file_give(&s->admin_file, c->admin, c->admin_group))
		s->undone = c->admin;
	return true;
}

bool handover_begin(struct supervisor *s, int fd)
{
	struct handed_listener h;
	const char *why, *r, *wrong = NULL;
	struct head head = { 0 };
	unsigned int i;

	s->state_fd = fd;
	s->state = state_open(fd, &why);
	if (!s->state)
		return !is_wrong("all of it", why);
	if (!take_head(s, &head))
		return false;
	r = state_next(s->state, NULL, "server");
	if (is_wrong("server", r ? state_read(r, &i, of_server, s) : "there is none"))
		return false;
	for (r = NULL; !wrong && (r = state_next(s->state, r, "listener"));) {
		h = (struct handed_listener){ .l = { .fd = -1 }, .e = { .file = -1, .bell = -1 } };
		wrong = state_read(r, &i, of_listener, &h);
		wrong = wrong ?: take_listener(s, i, &h);
	}
	return !is_wrong("listener", wrong) && regroup(s, &head);
}

/* where the configuration has another size by now, a client's next programs find none */
static void check_images(const struct supervisor *s, struct tenant *n)
{
	uint64_t bytes = remoted_conf_share(s->conf, n->who)->images;
	struct stat st;

	if (!n->images || (!fstat(n->images, &st) && images_fit(bytes, st.st_size)))
		return;
	close(n->images);
	n->images = 0;
}

static const char *take_tenant(struct supervisor *s, unsigned int i, const struct tenant *h)
{
	struct tenant *n = &s->tenants[i];

	if (i >= s->nr_clients)
		return "index";
	*n = *h;
	check_images(s, n);
	if (!n->programs)
		return NULL;
	n->pool = pool_map(n->fd, s->nr_clients);
	if (!n->pool)
		return "fd";
	pool_keep(n->pool, s->nr_clients);
	return NULL;
}

static const char *take_client(struct supervisor *s, unsigned int i, const struct handed_client *h)
{
	struct client *c = &s->clients[i];

	if (i >= s->nr_clients)
		return "index";
	*c = h->c;
	if (h->listener != NO_INDEX && h->listener >= s->nr_listeners)
		return "listener";
	if (h->tenant != NO_INDEX &&
	    (h->tenant >= s->nr_clients || !s->tenants[h->tenant].programs))
		return "tenant";
	if (c->state == CLIENT_NONE || c->state > CLIENT_ENDING)
		return "c.state";
	if (c->page < 0 || !client_map(c))
		return "c.page";
	clients_part(s, c, true);
	c->listener = h->listener == NO_INDEX ? NULL : &s->listeners[h->listener];
	c->tenant = h->tenant == NO_INDEX ? NULL : &s->tenants[h->tenant];
	c->weight = remoted_conf_share(s->conf, c->who)->weight;
	return NULL;
}

static const char *take_sleeper(struct supervisor *s, unsigned int i, const struct client *h)
{
	const struct sleeper *r = &h->sleeper;

	if (i >= s->nr_clients || s->clients[i].state == CLIENT_NONE)
		return "index";
	if (r->state > SLEEPER_WAKING || r->from >= SLEEP_GPUS || r->to >= SLEEP_GPUS)
		return "sleeper.state";
	s->clients[i].sleeper = *r;
	s->clients[i].sleep = h->sleep;
	return NULL;
}

static const char *take_conn(struct supervisor *s, const struct preauth_conn *h)
{
	if (h->fd < 0)
		return "fd";
	if (!s->trial) /* that others would see */
		preauth_adopt(s, h);
	return NULL;
}

bool __attribute__((noinline)) handover_rows(struct supervisor *s)
{
	const char *r, *wrong = NULL;
	unsigned int i;

	for (r = NULL; !wrong && (r = state_next(s->state, r, "tenant"));) {
		struct tenant n = { .fd = -1 };

		wrong = state_read(r, &i, of_tenant, &n);
		wrong = wrong ?: take_tenant(s, i, &n);
	}
	if (is_wrong("tenant", wrong))
		return false;
	for (r = NULL; !wrong && (r = state_next(s->state, r, "client"));) {
		struct handed_client c = { free_client, NO_INDEX, NO_INDEX };

		wrong = state_read(r, &i, of_client, &c);
		wrong = wrong ?: take_client(s, i, &c);
	}
	if (is_wrong("client", wrong))
		return false;
	for (r = NULL; !wrong && (r = state_next(s->state, r, "sleeper"));) {
		struct client c = free_client;

		wrong = state_read(r, &i, of_sleeper, &c);
		wrong = wrong ?: take_sleeper(s, i, &c);
	}
	if (is_wrong("sleeper", wrong))
		return false;
	for (r = NULL; !wrong && (r = state_next(s->state, r, "preauth"));) {
		struct preauth_conn c = { .fd = -1 };

		wrong = state_read(r, &i, of_conn, &c);
		wrong = wrong ?: take_conn(s, &c);
	}
	return !is_wrong("preauth", wrong);
}

/* what the configuration says of a client that runs, by now */
static void apply_share(struct supervisor *s, struct client *c)
{
	const struct conf_share *share = remoted_conf_share(s->conf, c->who);
	char refused[CONF_TEXT] = "the configuration does not allow it any more";

	client_limit(c, share);
	if (s->cgroups)
		cgroup_weigh(c->tenant - s->tenants, c->weight);
	if (share->allow && !client_is_refused(s, c, refused))
		return;
	say("client %llu (%s) is ended: %s", (unsigned long long)c->id, c->who, refused);
	client_kill(c);
}

void __attribute__((noinline)) handover_done(struct supervisor *s)
{
	char answer[512] = "ok\n";
	unsigned int i;

	if (s->undone)
		snprintf(
			answer, sizeof(answer),
			"error the installed build goes on with all clients, but %s is not as remoted.conf says: the journal says why\n",
			s->undone);
	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state == CLIENT_SERVED && !s->clients[i].reaped)
			apply_share(s, &s->clients[i]);
	state_close_rest(s->state);
	state_close(s->state);
	s->state = NULL;
	close(s->state_fd);
	say("goes on after a reload, with %u clients", clients_in(s, CLIENT_SERVED));
	if (s->awaits >= 0) {
		send(s->awaits, answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
		rights_close(s->awaits);
	}
	s->awaits = -1;
}
