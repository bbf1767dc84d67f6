// SPDX-License-Identifier: MIT
/* kvgpu-remotectl: the command line. kvgpu-remotectl.8 describes its options, too. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda/api/process.h>
#include <include/user/command_line.h>
#include <remote/conf/conf.h>

#include "ctl.h"
#include "protocol.h" /* made by remote/api.py */

#define ADMIN_SOCKET "/run/kvgpu-remoted/admin"
#define TLS_FOLDER   "/etc/kvgpu/tls"
#define LIBRARIES    "/usr/lib/kvgpu-remoted/client"
enum { DAYS = 730, DAYS_MAX = 3650, SECONDS = 300, SECONDS_MAX = 86400, TRACE_SECONDS = 60 };

static const char usage[] =
	"usage: kvgpu-remotectl [--socket PATH] COMMAND\n"
	"  list [--json] [--interval SECONDS]   clients, what they hold, and rates over the interval (1; 0: no rates)\n"
	"  metrics                              the counters once, for Prometheus\n"
	"  end ID                               ends a client; its program gets an error\n"
	"  suspend ID [--seconds N]             puts a client to sleep: its device memory goes to host memory until its next call\n"
	"  resume ID [--gpu N] [--seconds N]    wakes it now, on another GPU of the same type if asked; waits 300 seconds at most\n"
	"  trace ID SECONDS > FILE.json         its kernels, copies and waits, for Perfetto or chrome://tracing; 60 seconds at most\n"
	"  refuse NAME|FINGERPRINT [--folder PATH]\n"
	"                                       ends the clients with a certificate of that name, or with this one, and lets them in no more\n"
	"  accept NAME|FINGERPRINT [--folder PATH]\n"
	"                                       lets them in again\n"
	"  drain [--within SECONDS]             no new clients; the server ends when the last one has gone, or then\n"
	"  reload                               the installed build goes on with all clients, and remoted.conf is read again\n"
	"  certs server HOST...                 key and certificate of the server, for the names and addresses that clients use\n"
	"  certs client NAME                    a client's: copy the folder that it prints to that machine's " TLS_FOLDER
	"\n"
	"      [--folder PATH] [--days N]       certificates go to " TLS_FOLDER
	" and are valid for 730 days\n"
	"  bundle NAME [--address ADDRESS] [--libraries PATH] > NAME.tar\n"
	"                                       all that a client needs: its user unpacks it, and calls NAME/run PROGRAM\n"
	"      [--folder PATH] [--days N]       as above; ADDRESS of the server: the first name in its certificate, port 7411\n"
	"  cdi [NAME] [--unpacked PATH] > /etc/cdi/kvgpu-remote.json\n"
	"                                       for containers: the device kvgpu.example/gpu=NAME (remote) is the server of remote.conf\n"
	"  certs show FILE...                   the fingerprints of certificates' keys, and their names\n"
	"  --socket PATH  the server's admin socket (" ADMIN_SOCKET ")\n"
	"  --version, --help\n";

struct options {
	const char *socket, *folder, *address, *libraries, *unpacked;
	bool json, help, version;
	double interval;
	uint64_t days;
	const char *within;
	const char *gpu;
	uint64_t seconds;
};

static int list_clients(const struct options *o)
{
	struct timespec pause = { o->interval, (o->interval - (time_t)o->interval) * 1e9 };
	struct ctl_sample before = { 0 }, now = { 0 };
	bool fine = true;

	if (o->interval > 0) {
		fine = sample_take(o->socket, &before);
		if (fine)
			nanosleep(&pause, NULL);
	}
	fine = fine && sample_take(o->socket, &now);
	if (fine)
		(o->json ? show_json : show_table)(stdout, o->interval > 0 ? &before : NULL, &now);
	sample_free(&before);
	sample_free(&now);
	return !fine;
}

static int metrics(const struct options *o)
{
	struct ctl_sample now;
	bool fine = sample_take(o->socket, &now);

	if (fine)
		show_prometheus(stdout, &now);
	sample_free(&now);
	return !fine;
}

static int tell_server(const struct options *o, const char *what, const char *of)
{
	char line[64], *text;
	bool fine;

	if ((size_t)snprintf(line, sizeof(line), "%s%s%s", what, *of ? " " : "", of) >=
		    sizeof(line) ||
	    strchr(of, '\n')) {
		report_error("%s wants a number: kvgpu-remotectl list shows those of clients",
			     what);
		return 1;
	}
	fine = admin_socket_ask(o->socket, line, &text);
	free(text);
	return !fine;
}

static int sleep_or_wake(const struct options *o, const char *what, const char *of)
{
	char line[64];
	uint64_t id;

	if (!conf_natural(of, INT64_MAX, &id)) {
		report_error("%s wants a number: kvgpu-remotectl list shows those of clients",
			     what);
		return 1;
	}
	snprintf(line, sizeof(line), "%s %llu%s%.20s", what, (unsigned long long)id,
		 *o->gpu ? " gpu " : "", o->gpu);
	return ctl_sleep(o->socket, line, id, o->seconds);
}

static int trace(const struct options *o, const char *of, const char *text)
{
	uint64_t id, seconds;

	if (conf_natural(of, INT64_MAX, &id) && conf_natural(text, TRACE_SECONDS, &seconds) &&
	    seconds)
		return ctl_trace(o->socket, id, seconds);
	report_error(
		"trace wants a number, as kvgpu-remotectl list shows, and seconds from 1 to %d",
		TRACE_SECONDS);
	return 1;
}

/* ---------------------------------------------------------------------------- the command line */

static int wrong_usage(const char *text)
{
	report_error("%s; kvgpu-remotectl --help lists what there is", text);
	return 2;
}

/* @args: of n words, the first is behind "certs" */
static int run_certs(const struct options *o, char **args, int n)
{
	static const struct tool_command kinds[] = { { "server", "HOST...", 1, INT_MAX },
						     { "client", "NAME", 1, 1 },
						     { "show", "FILE...", 1, INT_MAX } };
	struct certs_wish w = { o->folder, o->days, (const char *const *)args + 1, n - 1 };
	char text[WRONG_TEXT], whole[WRONG_TEXT + 8];

	switch (find_command(kinds, 3, n, args, text)) {
	case 0:
		return certs_server(&w);
	case 1:
		return certs_client(&w);
	case 2:
		return certs_show(&w);
	}
	snprintf(whole, sizeof(whole), "certs: %s", text);
	return wrong_usage(whole);
}

static int bundle(const struct options *o, const char *name)
{
	struct certs_wish w = { o->folder, o->days, &name, 1 };

	return ctl_bundle(&w, o->address, o->libraries);
}

enum {
	LIST,
	METRICS,
	END,
	SUSPEND,
	RESUME,
	TRACE,
	REFUSE,
	ACCEPT,
	DRAIN,
	RELOAD,
	CERTS,
	BUNDLE,
	CDI,
	NR_COMMANDS
};

static int run_command(const struct options *o, char **args, int n)
{
	static const struct tool_command commands[NR_COMMANDS] = {
		[LIST] = { "list", "", 0, 0 },
		[METRICS] = { "metrics", "", 0, 0 },
		[END] = { "end", "ID", 1, 1 },
		[SUSPEND] = { "suspend", "ID", 1, 1 },
		[RESUME] = { "resume", "ID", 1, 1 },
		[TRACE] = { "trace", "ID SECONDS", 2, 2 },
		[REFUSE] = { "refuse", "NAME or FINGERPRINT", 1, 1 },
		[ACCEPT] = { "accept", "NAME or FINGERPRINT", 1, 1 },
		[DRAIN] = { "drain", "", 0, 0 },
		[RELOAD] = { "reload", "", 0, 0 },
		[CERTS] = { "certs", "server, client or show", 1, INT_MAX },
		[BUNDLE] = { "bundle", "NAME", 1, 1 },
		[CDI] = { "cdi", "NAME", 0, 1 },
	};
	char text[WRONG_TEXT];

	switch (find_command(commands, NR_COMMANDS, n, args, text)) {
	case LIST:
		return list_clients(o);
	case METRICS:
		return metrics(o);
	case END:
		return tell_server(o, "end", args[1]);
	case SUSPEND:
		return sleep_or_wake(o, "suspend", args[1]);
	case RESUME:
		return sleep_or_wake(o, "resume", args[1]);
	case TRACE:
		return trace(o, args[1], args[2]);
	case REFUSE:
		return ctl_refuse(o->socket, o->folder, args[1]);
	case ACCEPT:
		return accept_again(o->folder, args[1]);
	case DRAIN:
		return tell_server(o, "drain", o->within);
	case RELOAD:
		return tell_server(o, "reload", "");
	case CERTS:
		return run_certs(o, args + 1, n - 1);
	case BUNDLE:
		return bundle(o, args[1]);
	case CDI:
		return ctl_cdi(n > 1 ? args[1] : "remote", o->unpacked);
	}
	return wrong_usage(text);
}

static bool is_interval(const char *text, double *interval)
{
	char *end;

	*interval = strtod(text, &end);
	return end != text && !*end && *interval >= 0 && *interval <= 3600;
}

/* false: @text says which option is wrong */
static bool read_options(int argc, char **argv, struct options *o, char text[WRONG_TEXT])
{
	static const struct option known[] = { { "socket", required_argument, NULL, 's' },
					       { "json", no_argument, NULL, 'j' },
					       { "interval", required_argument, NULL, 'i' },
					       { "folder", required_argument, NULL, 'f' },
					       { "days", required_argument, NULL, 'd' },
					       { "address", required_argument, NULL, 'a' },
					       { "libraries", required_argument, NULL, 'l' },
					       { "unpacked", required_argument, NULL, 'u' },
					       { "within", required_argument, NULL, 'w' },
					       { "gpu", required_argument, NULL, 'g' },
					       { "seconds", required_argument, NULL, 't' },
					       { "version", no_argument, NULL, 'v' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	uint64_t n;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", known, NULL)) >= 0) {
		if (c == 's') {
			o->socket = optarg;
		} else if (c == 'j') {
			o->json = true;
		} else if (c == 'i' && !is_interval(optarg, &o->interval)) {
			snprintf(text, WRONG_TEXT,
				 "--interval is seconds from 0 to 3600, not \"%s\"", optarg);
			return false;
		} else if (c == 'f') {
			o->folder = optarg;
		} else if (c == 'd' && !(conf_natural(optarg, DAYS_MAX, &o->days) && o->days)) {
			snprintf(text, WRONG_TEXT, "--days is a number from 1 to %d, not \"%s\"",
				 DAYS_MAX, optarg);
			return false;
		} else if (c == 'a') {
			o->address = optarg;
		} else if (c == 'l') {
			o->libraries = optarg;
		} else if (c == 'u') {
			o->unpacked = optarg;
		} else if (c == 'w') {
			o->within = optarg;
		} else if (c == 'g' && !conf_natural(optarg, INT32_MAX, &n)) {
			snprintf(text, WRONG_TEXT, "--gpu is a number, not \"%s\"", optarg);
			return false;
		} else if (c == 'g') {
			o->gpu = optarg;
		} else if (c == 't' && !conf_natural(optarg, SECONDS_MAX, &o->seconds)) {
			snprintf(text, WRONG_TEXT, "--seconds is a number to %d, not \"%s\"",
				 SECONDS_MAX, optarg);
			return false;
		} else if (c == 'v') {
			o->version = true;
		} else if (c == 'h') {
			o->help = true;
		} else if (c == '?' || c == ':') {
			wrong_option(text, c, argv, known);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = { .socket = ADMIN_SOCKET,
			     .folder = TLS_FOLDER,
			     .libraries = LIBRARIES,
			     .interval = 1,
			     .days = DAYS,
			     .within = "",
			     .gpu = "",
			     .seconds = SECONDS };
	char text[WRONG_TEXT];

	process_begin();
	if (!read_options(argc, argv, &o, text))
		return wrong_usage(text);
	if (o.help || o.version) {
		fputs(o.help ? usage :
			       "kvgpu-remotectl " KVGPU_VERSION ", protocol " KVGPU_REMOTE_PROTOCOL
			       "\n",
		      stdout);
		return 0;
	}
	return run_command(&o, argv + optind, argc - optind);
}
