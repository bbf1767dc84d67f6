// SPDX-License-Identifier: MIT
/*
 * The log is the first process's standard error. A client's process has no copy of it, and says its
 * lines into a pipe of its own: the first process reads them, and says them with the client's name.
 * What clients can cause is bounded for each source, so that no client keeps lines about another
 * one out of the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda/api/text.h>

#include "supervisor.h"

/*
 * Each source has LINES_A_MINUTE of each kind. Sources beyond SOURCES in one minute share a budget,
 * and so do lines of no source.
 */
enum { LINES_A_MINUTE = 30, SOURCES = 16, OTHERS = SOURCES, NOBODY, BUDGETS };
enum { LINE = 512, PART = 4096, PARTS_AT_ONCE = 16, MINUTE_MS = 60000 };

static int log_to = STDERR_FILENO;
static bool in_client; /* this is a client's process */
static bool for_journal; /* the journal writes name and process before each line */

static struct budget {
	struct address_source of;
	unsigned int said, unsaid;
} budgets[NR_ABOUT][BUDGETS];
static unsigned int nr_sources[NR_ABOUT];
static uint64_t minute;

/* by systemd.exec(5): JOURNAL_STREAM has device and inode of the journal's socket */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;

	if (!stream || fstat(fd, &st))
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return !strcmp(stream, own);
}

void log_begin(void)
{
	for_journal = is_journal(STDERR_FILENO);
}

void log_part(int fd)
{
	log_to = fd;
	in_client = true;
	explicit_bzero(budgets, sizeof(budgets)); /* whom the lines were about */
}

/* one write, so that lines of several threads do not mix; what does not fit into a pipe is lost */
static void say_line(const char *format, va_list args)
{
	char line[LINE + 40];
	int n = 0;

	if (!in_client && !for_journal)
		n = snprintf(line, 40, "kvgpu-remoted[%d]: ", (int)getpid());
	vsnprintf(line + n, LINE - 1, format, args);
	n = strlen(line);
	line[n++] = '\n';
	if (write(log_to, line, n) < 0)
		return;
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

/* ------------------------------------------------------------------ budgets */

static void begin_minute(void)
{
	uint64_t now = now_ms() / MINUTE_MS;
	unsigned int i, unsaid = 0;

	if (now == minute)
		return;
	for (i = 0; i < NR_ABOUT * BUDGETS; i++)
		unsaid += budgets[i / BUDGETS][i % BUDGETS].unsaid;
	minute = now;
	memset(budgets, 0, sizeof(budgets));
	memset(nr_sources, 0, sizeof(nr_sources));
	if (unsaid)
		say("%u more lines about clients were left out", unsaid);
}

static struct budget *budget_of(enum about about, const struct address_source *from)
{
	struct budget *rows = budgets[about];
	struct address_source key;
	unsigned int i;

	begin_minute();
	if (!from)
		return &rows[NOBODY];
	key = preauth_source(from);
	for (i = 0; i < nr_sources[about]; i++)
		if (rows[i].of.net == key.net && rows[i].of.host == key.host)
			return &rows[i];
	if (i == SOURCES)
		return &rows[OTHERS];
	nr_sources[about]++;
	rows[i].of = key;
	return &rows[i];
}

/* count one more line; whether it may be said */
static bool count_line(enum about about, const struct address_source *from)
{
	struct budget *b = budget_of(about, from);

	if (b->said == LINES_A_MINUTE) {
		b->unsaid++;
		return false;
	}
	b->said++;
	return true;
}

void say_of_clients(enum about about, const struct address_source *from, const char *format, ...)
{
	va_list args;

	if (!count_line(about, from))
		return;
	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

/* ------------------------------------------------------------------ what clients' processes say */

/* O_DIRECT: a read gives what one write has written. Lines that nobody reads block no process. */
int log_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK | O_DIRECT) ? -errno : 0;
}

int log_wait(const struct client *c)
{
	bool room = budget_of(BY_PROCESSES, &c->from)->said < LINES_A_MINUTE;

	return room ? 0 : MINUTE_MS - (int)(now_ms() % MINUTE_MS);
}

/* An empty line is not said, but counts: each part that is read counts at least one line. */
static void say_for(const struct client *c, char *part, size_t bytes)
{
	char *end = part + bytes, *line, *next;

	for (line = part; line < end; line = next + 1) {
		next = memchr(line, '\n', end - line);
		next = next ? next : end;
		*next = 0;
		text_clean(line, next - line + 1);
		if (!count_line(BY_PROCESSES, &c->from) || !*line)
			continue;
		say("%s, process %d: %s", *c->who ? c->who : c->peer, (int)c->pid, line);
	}
}

void log_hear(struct client *c)
{
	char part[PART + 1];
	unsigned int i;
	ssize_t n;

	for (i = 0; i < PARTS_AT_ONCE && c->log >= 0 && !log_wait(c); i++) {
		n = read(c->log, part, PART);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(c->log);
			c->log = -1;
			return;
		}
		say_for(c, part, n);
	}
}
