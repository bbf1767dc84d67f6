// SPDX-License-Identifier: MIT
/*
 * kvgpu-remoted: listens, and forks a process for each client before any call of CUDA is made. That process loads the library,
 * serves until its client is gone, and takes all that the client had with it.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

#define ARENA_BYTES	(256ull << 20)
enum { PATIENCE_S = 3 };

static bool dump;

static const char usage[] =
	"usage: kvgpu-remoted --listen ADDRESS --library /path/libcuda.so.1 [--memory BYTES] [--arena BYTES] [--dump]\n"
	"  ADDRESS is unix:/path, a socket for clients with unix:/path or aperture:/path; or memory that a VM of a client shares:\n"
	"  aperture:FILE or aperture:/dev/daxX.Y, with ,bell=vsock:CID:PORT or ,bell=unix:/path behind it or without\n"
	"  --memory BYTES  device memory that each client may have (all there is)\n"
	"  --arena BYTES   host memory that client and server share (256 MiB); it bounds a client's pinned memory. A file or a device\n"
	"                  has the size that it has\n"
	"  --dump          frames as text on standard error\n"
	"  KVGPU_REMOTE_SPIN_US in the environment: how long it looks for a frame before it sleeps, on an aperture (50)\n";

static FILE *log_to;	/* NULL: standard error */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(log_to ? log_to : stderr, "kvgpu-remoted[%d]: %s\n", (int)getpid(), line);
}

/* what the process may still do is cut down here, when there is something to cut it with */
static void confine(void)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_DUMPABLE, 0);
}

/* a client that is gone ends its server process also where that is inside of the library, waiting for a kernel without end */
static void *watch(void *port)
{
	kvgpu_remote_await_end(port);
	sleep(PATIENCE_S);
	say("the client is gone, and the library does not return");
	_exit(1);
	return NULL;
}

/* never returns: a process of one client, who is at @fd, or at @place */
static void serve_client(int fd, struct kvgpu_remote_place *place, const char *path, const struct options *options)
{
	struct server s = { .options = *options };
	pthread_t watcher;
	const char *why;
	int r;

	confine();
	r = place ? kvgpu_remote_place_welcome(place, &s.port) :
	    kvgpu_remote_welcome(fd, KVGPU_REMOTE_VERSION, options->arena, &s.port);
	if (r) {
		say("a client was refused: %s", r == -EPROTO ? "it is of another version" : strerror(-r));
		exit(1);
	}
	r = text_catch(&s, &log_to);
	if (r) {
		say("the library's output can't be caught: %s", strerror(-r));
		exit(1);
	}
	if (!library_load(&s.library, path, &why)) {
		say("%s: %s", path, why);
		exit(1);
	}
	if (dump)
		s.options.dump = log_to;
	if (server_init(&s)) {
		say("out of memory");
		exit(1);
	}
	if (pthread_create(&watcher, NULL, watch, s.port)) {
		say("no thread can be made");
		exit(1);
	}
	serve(&s);
	/* what the library still does is nobody's any more: the kernel takes all of it back */
	_exit(0);
}

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = 1;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (WIFSIGNALED(status))
			say("the process of a client, %d, was killed by signal %d", (int)pid, WTERMSIG(status));
}

static void child_ended(int signal)
{
}

static void own_signals(void)
{
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
}

static void listen_for(int at, const char *path, const struct options *options)
{
	pid_t pid;
	int fd, e;

	while (!ended) {
		fd = accept4(at, NULL, NULL, SOCK_CLOEXEC);
		e = errno;
		reap();
		if (fd < 0) {
			if (e != EINTR && e != ECONNABORTED) {
				say("accept: %s", strerror(e));
				usleep(100000);
			}
			continue;
		}
		pid = fork();
		if (!pid) {
			own_signals();
			close(at);
			serve_client(fd, NULL, path, options);
		}
		if (pid < 0)
			say("fork: %s", strerror(errno));
		close(fd);
	}
}

/* until the client's process has ended; this one ends it where it has to end itself */
static void wait_for_process(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (ended)
			kill(pid, SIGTERM);
	if (WIFSIGNALED(status))
		say("the process of a client, %d, was killed by signal %d", (int)pid, WTERMSIG(status));
}

/* one client after the other, as many as memory that is shared has room for */
static void serve_place(struct kvgpu_remote_place *place, const char *path, const struct options *options)
{
	pid_t pid;

	while (!ended) {
		if (!kvgpu_remote_place_await(place))
			continue;
		pid = fork();
		if (!pid) {
			own_signals();
			serve_client(-1, place, path, options);
		}
		if (pid < 0)
			say("fork: %s", strerror(errno));
		kvgpu_remote_place_served(place);
		if (pid > 0)
			wait_for_process(pid);
		kvgpu_remote_place_again(place);
	}
	kvgpu_remote_place_close(place);
}

/* exit code */
static int serve_address(const char *address, const char *path, const struct options *options)
{
	struct kvgpu_remote_place *place = NULL;
	const char *why;
	int at;

	at = kvgpu_remote_is_place(address) ? kvgpu_remote_place_open(address, KVGPU_REMOTE_VERSION, &place, &why) :
	     kvgpu_remote_listen(address, &why);
	if (at < 0) {
		say("%s: %s", address, why);
		return 1;
	}
	say("listens at %s", address);
	if (place) {
		serve_place(place, path, options);
		return 0;
	}
	listen_for(at, path, options);
	unlink(strchr(address, ':') + 1);
	return 0;
}

static bool number(const char *text, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *n;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "listen", required_argument, NULL, 'l' }, { "library", required_argument, NULL, 'L' },
		{ "memory", required_argument, NULL, 'm' }, { "arena", required_argument, NULL, 'a' },
		{ "dump", no_argument, NULL, 'd' }, { "help", no_argument, NULL, 'h' }, { 0 }
	};
	struct options options = { .arena = ARENA_BYTES };
	const char *address = NULL, *path = NULL;
	bool fine = true;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		switch (c) {
		case 'l':
			address = optarg;
			break;
		case 'L':
			path = optarg;
			break;
		case 'm':
			fine = fine && number(optarg, &options.memory);
			break;
		case 'a':
			fine = fine && number(optarg, &options.arena) && options.arena >= 4 * (uint64_t)KVGPU_REMOTE_PIECE_MAX &&
			       options.arena <= KVGPU_REMOTE_ARENA_MAX;
			break;
		case 'd':
			dump = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fine = false;
		}
	if (!fine || !address || !path || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	/* no SA_RESTART: accept() returns, and what ended is taken care of */
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = end }, NULL);
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = end }, NULL);
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = child_ended }, NULL);
	signal(SIGPIPE, SIG_IGN);
	return serve_address(address, path, &options);
}
