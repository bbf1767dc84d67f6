// SPDX-License-Identifier: MIT
/*
 * What this process has mapped, from /proc. A thread's stack is found by the thread's control
 * block, which lies at its upper end and begins with glibc's list of robust mutexes, whose address
 * the kernel knows.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

/* LINE: a path of 4096 bytes fits */
enum { LINE = 4352, MAX_THREADS = 4096, MAX_TRIES = 500 };

/* digits alone: strtoull() would take blanks, a sign and a prefix, too */
static uint64_t number(const char **s, int base)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t n = 0;

	for (;; (*s)++) {
		const char *digit = **s ? strchr(digits, **s) : NULL;

		if (!digit || digit - digits >= base)
			return n;
		n = n * base + (digit - digits);
	}
}

/* start-end rwxp offset major:minor inode   name */
static struct mapping parse(const char *s)
{
	struct mapping m = { .start = number(&s, 16) };
	const char *may;

	m.end = *s ? (s++, number(&s, 16)) : 0;
	if (strlen(s) < 6)
		return (struct mapping){ 0 };
	may = ++s;
	s += 5;
	m.offset = number(&s, 16);
	m.major = *s ? (s++, number(&s, 16)) : 0;
	m.minor = *s ? (s++, number(&s, 16)) : 0;
	m.inode = *s ? (s++, number(&s, 10)) : 0;
	s += strspn(s, " ");
	m.plain = !memcmp(may, "rw-p", 4) && !m.inode &&
		  (!*s || *s == '\n' || !strncmp(s, "[heap]", 6) || !strncmp(s, "[anon", 5));
	m.shared = !memcmp(may, "rw-s", 4);
	return m;
}

bool maps_each(bool (*look)(const struct mapping *m, void *arg), void *arg)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[LINE];
	bool more = true, ok;

	if (!f)
		return false;
	while (more && fgets(line, sizeof(line), f)) {
		struct mapping m = parse(line);

		more = look(&m, arg);
	}
	ok = !ferror(f);
	fclose(f);
	return ok;
}

/* ------------------------------------------------------------------ threads */

/* 0: they can't be read, or are more than @max */
static unsigned int threads(pid_t *out, unsigned int max)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int n = 0;
	struct dirent *e;

	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		const char *s = e->d_name;
		pid_t id = number(&s, 10);

		if (!id || *s)
			continue;
		if (n < max)
			out[n] = id;
		n++;
	}
	closedir(dir);
	return n <= max ? n : 0;
}

bool maps_alone(void)
{
	pid_t id[2];

	return threads(id, 2) == 1;
}

/*
 * Of all living threads but the first, whose stack has a name in /proc. False: some can't be found.
 */
static bool control_blocks(uintptr_t *at, unsigned int *n)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	pid_t *id = malloc(MAX_THREADS * sizeof(*id));
	unsigned int i, tries, found = id ? threads(id, MAX_THREADS) : 0;
	bool ok = found;

	*n = 0;
	for (i = 0; ok && i < found; i++) {
		struct robust_list_head *head = NULL;
		size_t size;
		long ret = 0;

		if (id[i] == getpid())
			continue;
		/* Not known for a thread that has just begun: wait. */
		for (tries = 0; tries < MAX_TRIES && !ret && !head; tries++) {
			ret = syscall(SYS_get_robust_list, id[i], &head, &size);
			if (!ret && !head)
				nanosleep(&moment, NULL);
		}
		ok = ret ? errno == ESRCH : head != NULL;
		if (!ret && head)
			at[(*n)++] = (uintptr_t)head;
	}
	free(id);
	return ok;
}

struct question {
	uintptr_t at, end, upto;	/* upto: to here all is plain */
	uintptr_t *block;
	unsigned int nr_blocks;
	bool stack;
};

/*
 * Whether [at, end) has a part of a thread's stack in @m. A stack is taken to begin with @m (its
 * guard page is another mapping), and to end one page behind that of the control block.
 */
static bool has_stack(const struct question *q, const struct mapping *m)
{
	unsigned int i;

	for (i = 0; i < q->nr_blocks; i++) {
		uintptr_t b = q->block[i];

		if (b >= m->start && b < m->end &&
		    q->at < (b | (PAGE_BYTES - 1)) + 1 + PAGE_BYTES && q->end > m->start)
			return true;
	}
	return false;
}

static bool look(const struct mapping *m, void *arg)
{
	struct question *q = arg;

	if (m->end <= q->at)
		return true;
	if (m->start >= q->end)
		return false;
	if (!m->plain || m->start > q->upto)
		return false;
	q->stack |= has_stack(q, m);
	q->upto = m->end;
	return true;
}

bool maps_plain(const uint8_t *at, size_t bytes)
{
	struct question q = { .at = (uintptr_t)at,
			      .end = (uintptr_t)at + bytes,
			      .upto = (uintptr_t)at,
			      .block = malloc(MAX_THREADS * sizeof(*q.block)) };
	bool ok = q.block && control_blocks(q.block, &q.nr_blocks) && maps_each(look, &q);

	free(q.block);
	return ok && q.upto >= q.end && !q.stack;
}
