// SPDX-License-Identifier: MIT
/*
 * kvgpu-remotectl: the command line. kvgpu-remotectl.8 describes its options, too. Tests that link
 * other files of this folder have a complain() of their own.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda/driver/process.h>
#include <remote/conf/conf.h>

#include "ctl.h"

#define ADMIN_SOCKET "/run/kvgpu-remoted/admin"
#define TLS_FOLDER   "/etc/kvgpu/tls"
enum { DAYS = 730, DAYS_MAX = 3650 };

static const char usage[] =
	"usage: kvgpu-remotectl [--socket PATH] COMMAND\n"
	"  list [--json] [--interval SECONDS]   clients, what they hold, and rates over the interval (1; 0: no rates)\n"
	"  metrics                              the counters once, for Prometheus\n"
	"  end ID                               ends a client; its program gets an error\n"
	"  refuse NAME|FINGERPRINT [--folder PATH]\n"
	"                                       ends the clients with a certificate of that name, or with this one, and lets them in no more\n"
	"  accept NAME|FINGERPRINT [--folder PATH]\n"
	"                                       lets them in again\n"
	"  drain                                no new clients; the server ends when the last one has gone\n"
	"  certs server HOST...                 key and certificate of the server, for the names and addresses that clients use\n"
	"  certs client NAME                    a client's: copy the folder that it prints to that machine's " TLS_FOLDER
	"\n"
	"      [--folder PATH] [--days N]       certificates go to " TLS_FOLDER
	" and are valid for 730 days\n"
	"  certs show FILE...                   the fingerprints of certificates' keys, and their names\n"
	"  --socket PATH  the server's admin socket (" ADMIN_SOCKET ")\n";

struct options {
	const char *socket, *folder;
	bool json, help;
	double interval;
	uint64_t days;
};

void complain(const char *format, ...)
{
	va_list args;

	fputs("kvgpu-remotectl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

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

static int command(const struct options *o, const char *what, const char *of)
{
	char line[64], *text;
	bool fine;

	if ((size_t)snprintf(line, sizeof(line), "%s%s%s", what, *of ? " " : "", of) >=
		    sizeof(line) ||
	    strchr(of, '\n')) {
		complain("end wants the number of a client: kvgpu-remotectl list");
		return 1;
	}
	fine = talk(o->socket, line, &text);
	free(text);
	return !fine;
}

static int certs(const struct options *o, char **args, int n)
{
	struct certs_wish w = { o->folder, o->days, (const char *const *)args + 1, n - 1 };

	if (n >= 2 && !strcmp(args[0], "server"))
		return certs_server(&w);
	if (n == 2 && !strcmp(args[0], "client"))
		return certs_client(&w);
	if (n >= 2 && !strcmp(args[0], "show"))
		return certs_show(&w);
	fputs(usage, stderr);
	return 2;
}

static bool read_options(int argc, char **argv, struct options *o)
{
	static const struct option known[] = { { "socket", required_argument, NULL, 's' },
					       { "json", no_argument, NULL, 'j' },
					       { "interval", required_argument, NULL, 'i' },
					       { "folder", required_argument, NULL, 'f' },
					       { "days", required_argument, NULL, 'd' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	bool fine = true;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		switch (c) {
		case 's':
			o->socket = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 'i':
			o->interval = strtod(optarg, &end);
			fine = fine && end != optarg && !*end && o->interval >= 0 &&
			       o->interval <= 3600;
			break;
		case 'f':
			o->folder = optarg;
			break;
		case 'd':
			fine = fine && conf_natural(optarg, DAYS_MAX, &o->days) && o->days;
			break;
		case 'h':
			o->help = true;
			break;
		default:
			fine = false;
		}
	return fine;
}

int main(int argc, char **argv)
{
	struct options o = {
		.socket = ADMIN_SOCKET, .folder = TLS_FOLDER, .interval = 1, .days = DAYS
	};
	bool fine = read_options(argc, argv, &o);
	char **args = argv + optind;
	int n = argc - optind;

	process_begin();
	if (o.help) {
		fputs(usage, stdout);
		return 0;
	}
	if (fine && n == 1 && !strcmp(args[0], "list"))
		return list_clients(&o);
	if (fine && n == 1 && !strcmp(args[0], "metrics"))
		return metrics(&o);
	if (fine && n == 2 && !strcmp(args[0], "end"))
		return command(&o, "end", args[1]);
	if (fine && n == 2 && !strcmp(args[0], "refuse"))
		return refuse(o.socket, o.folder, args[1]);
	if (fine && n == 2 && !strcmp(args[0], "accept"))
		return accept_again(o.folder, args[1]);
	if (fine && n == 1 && !strcmp(args[0], "drain"))
		return command(&o, "drain", "");
	if (fine && n >= 2 && !strcmp(args[0], "certs"))
		return certs(&o, args + 1, n - 1);
	fputs(usage, stderr);
	return 2;
}
