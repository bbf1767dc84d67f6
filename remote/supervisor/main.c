// SPDX-License-Identifier: MIT
/* kvgpu-remoted: its command line and its configuration. */
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <include/user/command_line.h>
#include <remote/channel/address.h>
#include <remote/channel/memory.h>
#include <remote/channel/tls.h>

#include "ops.h" /* made by remote/api.py */
#include "supervisor.h"

enum { DESCRIPTORS_MIN = 128 };

static const char usage[] =
	"usage: kvgpu-remoted [--config FILE] [--listen ADDRESS]... [--library FILE] [--memory BYTES] [--arena BYTES]\n"
	"                     [--admin PATH] [--tls-folder PATH] [--users FIRST|none]\n"
	"                     [--host-memory BYTES] [--pinned BYTES] [--dump]\n"
	"  --config FILE   what remoted.conf says, " REMOTED_CONF
	" usually; the options below go before it\n"
	"  --listen ADDRESS  unix:/path, vsock:CID:PORT, tls:HOST:PORT or tcp:127.0.0.1:PORT, * for all CIDs or HOSTs.\n"
	"                  unix:/path serves aperture:/path, too. Memory that a client's VM shares: aperture:FILE or\n"
	"                  aperture:/dev/daxX.Y, with ,bell=vsock:CID:PORT or ,bell=unix:/path behind it or without\n"
	"  --library FILE  the libcuda.so.1 that does the work\n"
	"  --memory BYTES  device memory that each client may have (all there is)\n"
	"  --arena BYTES   host memory that client and server share (256M). A file or a device has the size that it has\n"
	"  --pinned BYTES  more of it for pinned memory of each client of this machine (a quarter of the machine's)\n"
	"  --host-memory BYTES  private memory of a client's processes (half of the machine's); 0: no limit\n"
	"  --admin PATH    socket for kvgpu-remotectl\n"
	"  --users FIRST   each client's process has a user number of its own from FIRST on; without --config: none\n"
	"  --dump          frames as text on standard error\n"
	"  --version, --help\n"
	"  KVGPU_REMOTE_SPIN_US in the environment: how long it looks for a frame before it sleeps, on an aperture (50)\n";

/* ---------------------------- the command line: options that are keys of the configuration */

static const struct {
	const char *option, *key;
} options_of_keys[] = {
	{ "listen", "listen" },		{ "library", "library" },	  { "memory", "memory" },
	{ "arena", "arena" },		{ "admin", "admin-socket" },	  { "users", "users" },
	{ "tls-folder", "tls-folder" }, { "host-memory", "host-memory" }, { "pinned", "pinned" },
};
enum {
	OPTION_CONFIG = 100,
	OPTION_DUMP,
	OPTION_VERSION,
	OPTION_HELP,
	OPTION_ADOPT,
	OPTION_CAN_ADOPT,
	NR_KEYS = sizeof(options_of_keys) / sizeof(*options_of_keys)
};

static bool set_key(struct remoted_conf *conf, unsigned int option, const char *value)
{
	const char *key = options_of_keys[option].key;
	struct conf_error e;
	char name[32];
	const struct conf_form *form = &remoted_conf_form;
	const struct conf_key *k = form->keys;

	while (strcmp(k->name, key))
		k++;
	if (*value && k->read(value, k->often ? (void *)conf : (char *)conf + k->at, k))
		return true;
	snprintf(name, sizeof(name), "--%s", options_of_keys[option].option);
	conf_wrong_value(&e, name, k, value);
	say("%s", e.text);
	return false;
}

static void say_wrong_line(const struct conf_error *e, void *path)
{
	say("%s:%u: %s", (const char *)path, e->line, e->text);
}

/* false: all wrong lines were said */
static bool load_conf(struct remoted_conf *conf, const char *path)
{
	struct conf_form form = remoted_conf_form;
	struct conf_error e;
	bool missing;

	form.wrong = say_wrong_line;
	form.of = (void *)(uintptr_t)path;
	if (conf_load(&form, conf, path, &missing, &e))
		return true;
	if (!e.line)
		say("%s: %s", path, e.text);
	return false;
}

struct wishes {
	const char *config;
	const char *values[NR_KEYS];
	const char *listen[CONF_LISTEN];
	unsigned int nr_listen;
	bool dump, help, version, trial;
	int state; /* the descriptor of a state to take over; -1: none */
};

static bool read_options(int argc, char **argv, struct wishes *w, char text[WRONG_TEXT])
{
	struct option known[NR_KEYS + 7] = {
		{ "config", required_argument, NULL, OPTION_CONFIG },
		{ "dump", no_argument, NULL, OPTION_DUMP },
		{ "version", no_argument, NULL, OPTION_VERSION },
		{ "help", no_argument, NULL, OPTION_HELP },
		/* by handover() alone, as the last words */
		{ "adopt", required_argument, NULL, OPTION_ADOPT },
		{ "can-adopt", required_argument, NULL, OPTION_CAN_ADOPT },
	};
	uint64_t fd = 0;
	int c, i;

	for (i = 0; i < (int)NR_KEYS; i++)
		known[6 + i] = (struct option){ options_of_keys[i].option, 1, NULL, i };
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", known, NULL)) >= 0) {
		if (c == OPTION_CONFIG)
			w->config = optarg;
		else if (c == OPTION_DUMP)
			w->dump = true;
		else if (c == OPTION_HELP)
			w->help = true;
		else if (c == OPTION_VERSION)
			w->version = true;
		else if (c == OPTION_ADOPT || c == OPTION_CAN_ADOPT) {
			w->trial = c == OPTION_CAN_ADOPT;
			w->state = conf_natural(optarg, INT32_MAX, &fd) ? (int)fd : INT32_MAX;
		} else if (c == '?' || c == ':')
			break;
		else if (c)
			w->values[c] = optarg;
		else if (w->nr_listen < CONF_LISTEN)
			w->listen[w->nr_listen++] = optarg;
		else
			break;
	}
	if (c == '?' || c == ':')
		wrong_option(text, c, argv, known);
	else if (c >= 0)
		snprintf(text, WRONG_TEXT, "--listen stands %d times at most", CONF_LISTEN);
	else if (optind < argc)
		snprintf(text, WRONG_TEXT, "there are no arguments without an option: \"%.*s\"",
			 WORD_MAX, argv[optind]);
	return c < 0 && optind == argc;
}

/* listen addresses of the command line take the place of the configuration's */
static bool carry_out(const struct wishes *w, struct remoted_conf *conf)
{
	bool fine = true;
	unsigned int i;

	remoted_conf_default(conf);
	if (w->config) {
		if (!load_conf(conf, w->config))
			return false;
	} else {
		conf->users = 0;
		conf->admin[0] = 0;
		/* then all clients may be programs of one user, which share a name */
		conf->share.programs = conf->clients;
	}
	if (w->nr_listen)
		conf->nr_listen = 0;
	for (i = 0; i < w->nr_listen; i++)
		fine &= set_key(conf, 0, w->listen[i]);
	for (i = 1; i < NR_KEYS; i++)
		fine &= !w->values[i] || set_key(conf, i, w->values[i]);
	return fine;
}

/* ------------------------------------------- what has to be right before the first client comes */

/* in another process: this one must not have the key */
static bool check_tls(const struct supervisor *s)
{
	struct tls_credentials *c;
	const char *why;
	int status = 1;
	pid_t pid;

	if (tls_load(&why)) {
		say("%s", why);
		return false;
	}
	/* a trial has read the files just now, and a fork could fail */
	if (s->state && !s->trial)
		return true;
	pid = fork();
	if (!pid) {
		if (!tls_credentials_read(s->conf->tls_folder, true, &c, &why))
			_exit(0);
		say("%s", why);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* of the configuration's addresses, and of the sockets that systemd opened */
static bool wants_tls(const struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->conf->nr_listen; i++)
		if (!strncmp(s->conf->listen[i], "tls:", 4))
			return true;
	for (i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].tls)
			return true;
	return false;
}

static bool has_tcp(const struct supervisor *s)
{
	socklen_t bytes = sizeof(int);
	unsigned int i;
	int family;

	for (i = 0; i < s->nr_listeners; i++)
		if (s->listeners[i].fd >= 0 &&
		    !getsockopt(s->listeners[i].fd, SOL_SOCKET, SO_DOMAIN, &family, &bytes) &&
		    (family == AF_INET || family == AF_INET6))
			return true;
	return false;
}

/*
 * A user number that is in use would share files and signals with a client's process. Many a
 * directory of users does not list them, but can be asked.
 */
static bool users_are_free(const struct remoted_conf *conf)
{
	uint64_t last = conf->users + conf->clients + 2 * conf->newcomers;
	uid_t owned = conf->users, owner;
	const struct passwd *p;

	if (!conf->users)
		return true;
	setpwent();
	while ((p = getpwent()) && (p->pw_uid < conf->users || p->pw_uid > last))
		;
	p = p ?: getpwuid(conf->users) ?: getpwuid(last);
	if (p)
		say("users: %u is the user %s already: set another first number", p->pw_uid,
		    p->pw_name);
	endpwent();
	owner = address_owner_of_any(ADDRESS_SUBUID, &owned, last);
	if (owner != owned)
		say("users: by " ADDRESS_SUBUID
		    " user %u has the number %u already: set another first number",
		    owner, owned);
	return !p && owner == owned;
}

/* @state: a descriptor, or -1 */
static bool prepare_supervisor(struct supervisor *s, struct remoted_conf *conf, int state)
{
	if (conf->users && geteuid()) {
		say("not started by root: the processes of all clients are of this user");
		conf->users = 0;
	}
	address_owners_learn(ADDRESS_SUBUID);
	if (state >= 0 ? !handover_begin(s, state) : !users_are_free(conf) || !listen_adopt(s))
		return false;
	/* "listens at" is said of what can be served, so the certificates are read before */
	if (wants_tls(s) && !check_tls(s))
		return false;
	if (!listen_all(s) || (!s->state && !admin_listen(s)))
		return false;
	if (!folders_can_be_kept())
		say("this kernel has no Landlock: %s",
		    conf->users ?
			    "what a client's process leaves in /tmp or /dev/shm a later one can open" :
			    "a client's process that was taken over can take over others of this user");
	else if (conf->filter == FILTER_ON && has_tcp(s) && !network_can_be_kept())
		say("this kernel's Landlock has no rules for networks (Linux 6.7 has): a client's process that was taken over "
		    "can take TCP ports of this machine");
	if (strcmp(conf->compiled_folder, COMPILED_FOLDER) && compiled_wrong(conf))
		say("compiled-folder = %s: %s; what the GPU's library compiles is not kept",
		    conf->compiled_folder, compiled_wrong(conf));
	if (!s->state)
		s->cgroups = conf->users && cgroups_begin();
	return true;
}

int main(int argc, char **argv)
{
	static struct remoted_conf conf;
	static struct supervisor s = { .conf = &conf,
				       .build = { KVGPU_REMOTE_VERSION, KVGPU_REMOTE_TABLE },
				       .admin_fd = -1,
				       .awaits = -1 };
	struct wishes w = { .state = -1 };
	unsigned long descriptors;
	char text[WRONG_TEXT];
	int r = 1;

	process_begin();
	memory_unlimited();
	descriptors = process_descriptors();
	log_begin();
	if (descriptors < DESCRIPTORS_MIN) {
		say("here a process may have %lu descriptors (ulimit -n), and a server wants %d: raise that limit",
		    descriptors, DESCRIPTORS_MIN);
		return 1;
	}
	if (!read_options(argc, argv, &w, text)) {
		say("%s; kvgpu-remoted --help lists what there is", text);
		return 2;
	}
	if (w.help || w.version) {
		fputs(w.help ? usage :
			       "kvgpu-remoted " KVGPU_VERSION ", protocol " KVGPU_REMOTE_PROTOCOL
			       "\n",
		      stdout);
		return 0;
	}
	if (w.trial)
		log_part(STDERR_FILENO);
	if (!carry_out(&w, &conf))
		return 2;
	s.dump = w.dump ? stderr : NULL;
	s.trial = w.trial;
	s.program = (const char *)getauxval(AT_EXECFN);
	s.argv = argv;
	s.argc = w.state >= 0 ? argc - 2 : argc;
	signal(SIGPIPE, SIG_IGN);
	if (prepare_supervisor(&s, &conf, w.state))
		r = supervisor_run(&s);
	else if (!s.trial)
		listen_end(&s);
	if (s.trial)
		listen_undo(&s);
	return r;
}
