// SPDX-License-Identifier: MIT
/*
 * What this process has mapped, from /proc. A thread's stack is found by the thread's control
 * block, which lies at its upper end and has glibc's list of robust mutexes, whose address the
 * kernel knows. The first thread's stack has a name in /proc, but its control block lies elsewhere,
 * beside its errno.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../api/process.h"
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
	FILE *f = own_file(fopen("/proc/self/maps", "re"), "r");
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

/* Return 0 or errno. *at: the thread's list of robust mutexes; 0: it has none yet, or none more. */
static int control_block(pid_t thread, uintptr_t *at)
{
	struct robust_list_head *head;
	size_t size;

	if (syscall(SYS_get_robust_list, thread, &head, &size))
		return errno;
	*at = (uintptr_t)head;
	return 0;
}

/* Of all living threads but the first. False: some can't be found. */
static bool control_blocks(uintptr_t *at, unsigned int *n)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	pid_t *id = malloc(MAX_THREADS * sizeof(*id));
	unsigned int i, tries, found = id ? threads(id, MAX_THREADS) : 0;
	bool ok = found;

	*n = 0;
	for (i = 0; ok && i < found; i++) {
		uintptr_t block = 0;
		int err = 0;

		if (id[i] == getpid())
			continue;
		/* Not known for a thread that has just begun: wait. */
		for (tries = 0; tries < MAX_TRIES && !err && !block; tries++) {
			err = control_block(id[i], &block);
			if (!err && !block)
				nanosleep(&moment, NULL);
		}
		ok = err ? err == ESRCH : block;
		if (!err && block)
			at[(*n)++] = block;
	}
	free(id);
	return ok;
}

struct question {
	uintptr_t at, end, upto; /* upto: to here all is plain */
	/* .block[nr_blocks] is the first thread's */
	uintptr_t *block, frame; /* frame: in the calling thread's stack */
	unsigned int nr_blocks;
	bool stack;
};

/* A control block ends one page behind that of the list of robust mutexes, at the latest. */
static uintptr_t behind(uintptr_t block)
{
	return (block | (PAGE_BYTES - 1)) + 1 + PAGE_BYTES;
}

/*
 * Whether [at, end) has a part of a thread's stack in @m. A stack is taken to begin with @m (its
 * guard page is another mapping), and to end with the control block. A first thread has a stack
 * without a name, too, if another thread has called fork(): in the child it is the first.
 */
static bool has_stack(const struct question *q, const struct mapping *m)
{
	unsigned int i, n = q->nr_blocks;

	if (q->frame >= m->start && q->frame < m->end)
		n++;
	for (i = 0; i < n; i++) {
		uintptr_t b = q->block[i];

		if (b >= m->start && b < m->end && q->at < behind(b) && q->end > m->start)
			return true;
	}
	return false;
}

/*
 * Whether [at, end) has a part of what the first thread uses in every system call: its errno and
 * its control block; and of its rseq area, to which the kernel writes. They are mapped together,
 * maybe in one mapping with the application's memory, and are as far apart as in any thread.
 */
static bool has_first_block(const struct question *q)
{
	uintptr_t first = q->block[q->nr_blocks], mine = 0, from = (uintptr_t)&errno,
		  rseq = (uintptr_t)__builtin_thread_pointer() + __rseq_offset;

	if (control_block(0, &mine))
		return true;
	from = rseq < from ? rseq : from;
	from = (first - (mine - from)) & ~(uintptr_t)(PAGE_BYTES - 1);
	return first && q->at < behind(first) && q->end > from;
}

static bool look_at_mapping(const struct mapping *m, void *arg)
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
			      .frame = (uintptr_t)__builtin_frame_address(0),
			      .block = malloc(MAX_THREADS * sizeof(*q.block)) };
	bool ok = q.block && control_blocks(q.block, &q.nr_blocks) &&
		  !control_block(getpid(), &q.block[q.nr_blocks]) && !has_first_block(&q) &&
		  maps_each(look_at_mapping, &q);

	free(q.block);
	return ok && q.upto >= q.end && !q.stack;
}
