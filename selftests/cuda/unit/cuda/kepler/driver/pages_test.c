// SPDX-License-Identifier: MIT
/*
 * A file's memory is put in the place of memory of the process while threads write there: no write
 * is lost, no thread waits for ever, and no thread reads a value that it has overwritten. A memfd
 * stands for the file of the device's buffer.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <errno.h>
#include <pthread.h>
#include <selftests/unit_test.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/kepler/driver/pages.h>

enum { PAGES = 530, BYTES = PAGES * PAGE_BYTES, THREADS = 4, ROUNDS = 8, NOBODY = 65534 };

struct own {
	uint8_t *at;
	int file;
	uint8_t *source;
	struct pages pages;
};

static struct own fresh(size_t bytes)
{
	struct own o = { .file = memfd_create("view", MFD_CLOEXEC) };

	assert_int_equal(ftruncate(o.file, bytes), 0);
	o.at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	o.source = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o.file, 0);
	assert_true(o.at != MAP_FAILED && o.source != MAP_FAILED);
	return o;
}

static bool put(struct own *o, uint8_t *at, size_t bytes)
{
	uint8_t *view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->file, 0);

	o->pages = (struct pages){ .at = at, .bytes = bytes, .source = o->source };
	return pages_put(&o->pages, view, pages_means());
}

static void end(struct own *o, size_t bytes)
{
	munmap(o->at, bytes);
	if (o->source)
		munmap(o->source, bytes);
	close(o->file);
}

static void fill(uint8_t *at, size_t bytes, unsigned int seed)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = i * 31 + (i >> 12) + seed;
}

TEST(contents_stay)
{
	struct own o = fresh(BYTES);
	uint8_t *want = malloc(BYTES);
	size_t n = BYTES - 2 * PAGE_BYTES;

	fill(o.at, BYTES, 1);
	fill(want, BYTES, 1);
	assert_true(maps_alone());
	assert_true(maps_plain(o.at, BYTES));
	assert_true(put(&o, o.at + PAGE_BYTES, n));
	assert_memory_equal(o.at, want, BYTES);
	assert_memory_equal(o.source, want + PAGE_BYTES, n);
	assert_false(maps_plain(o.at, BYTES));
	assert_true(pages_has(o.at + PAGE_BYTES) && !pages_has(o.at) &&
		    !pages_has(o.at + BYTES - 1));
	o.source[5] = 99; /* stands for a write by the GPU */
	assert_int_equal(o.at[PAGE_BYTES + 5], 99);
	o.at[PAGE_BYTES + 6] = 77;
	assert_int_equal(o.source[6], 77);
	assert_true(pages_back(&o.pages));
	assert_int_equal(o.at[PAGE_BYTES + 5], 99);
	assert_int_equal(o.at[PAGE_BYTES + 6], 77);
	o.at[PAGE_BYTES + 5] = want[PAGE_BYTES + 5];
	o.at[PAGE_BYTES + 6] = want[PAGE_BYTES + 6];
	assert_memory_equal(o.at, want, BYTES);
	assert_int_equal(o.source[5], 99);
	assert_true(maps_plain(o.at, BYTES));
	assert_false(pages_has(o.at + PAGE_BYTES));
	free(want);
	end(&o, BYTES);
}

/* ------------------------------------------------------------------ threads */

struct writer {
	pthread_t thread;
	volatile uint64_t *mine;
	uint8_t *buffer; /* in these pages, too; system calls use it */
	atomic_bool begun;
	uint64_t count, wrong, failed;
};

static atomic_bool stop;
static atomic_bool calls; /* system calls with buffers in these pages, too */

__attribute__((no_sanitize("thread"))) static void *write_on(void *arg)
{
	struct writer *w = arg;
	int pipes[2];

	if (pipe(pipes))
		return NULL;
	while (!atomic_load(&stop)) {
		unsigned int i;

		for (i = 0; i < 2 * PAGES; i++) {
			/* read again right after each write */
			volatile uint64_t *at = w->mine + (size_t)i * PAGE_BYTES / 16;

			w->wrong += *at != w->count;
			*at = w->count + 1;
			w->wrong += *at != w->count + 1;
		}
		w->count++;
		atomic_store(&w->begun, true);
		if (atomic_load(&calls)) {
			w->failed += write(pipes[1], w->buffer, 64) != 64;
			w->failed += read(pipes[0], w->buffer, 64) != 64;
		}
	}
	close(pipes[0]);
	close(pipes[1]);
	return NULL;
}

/* False: there is no means to replace pages here. */
static bool storm(unsigned int rounds)
{
	struct own o = fresh(BYTES);
	struct writer w[THREADS] = { 0 };
	unsigned int i, done = 0, plain = 0;
	enum pages_means means;

	atomic_store(&stop, false);
	atomic_store(&calls, false);
	for (i = 0; i < THREADS; i++) {
		w[i].mine = (uint64_t *)(o.at + i * 64);
		w[i].buffer = o.at + (i % 2 ? 0 : BYTES - PAGE_BYTES) + 1024 + i * 64;
		assert_int_equal(pthread_create(&w[i].thread, NULL, write_on, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		while (!atomic_load(&w[i].begun))
			usleep(1000);
	means = pages_means();
	atomic_store(&calls, means == MEANS_WHOLE);
	rounds = means == MEANS_NONE ? 0 : rounds;
	for (i = 0; i < rounds; i++) {
		size_t skip = i % 3 * PAGE_BYTES;

		plain += maps_plain(o.at + skip, BYTES - skip);
		done += put(&o, o.at + skip, BYTES - skip);
		usleep(i % 5 * 300);
		done += pages_back(&o.pages);
		usleep(i % 7 * 200);
	}
	atomic_store(&stop, true);
	for (i = 0; i < THREADS; i++) {
		unsigned int k;

		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].wrong, 0);
		assert_int_equal(w[i].failed, 0);
		assert_true(w[i].count > 0);
		for (k = 0; k < 2 * PAGES; k++)
			assert_int_equal(w[i].mine[(size_t)k * PAGE_BYTES / 16], w[i].count);
	}
	assert_int_equal(plain, rounds);
	assert_int_equal(done, 2 * rounds);
	end(&o, BYTES);
	return rounds;
}

TEST(nothing_is_lost)
{
	if (!storm(ROUNDS))
		skip();
}

/* Without the right to stop other threads' system calls. */
TEST(nothing_is_lost_without_rights)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		if (getuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY))
			_exit(2);
		storm(ROUNDS);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static volatile uint64_t *of_signals;
static uint64_t signals;

static void on_signal(int number)
{
	of_signals[0] = ++signals;
	of_signals[PAGE_BYTES / 8] = signals;
}

static void *idle(void *arg)
{
	while (!atomic_load(&stop))
		usleep(1000);
	return NULL;
}

/* A handler writes to the pages, in the thread that replaces them. */
TEST(signals_come_between)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	struct own o = fresh(BYTES);
	unsigned int i, done = 0;
	sigset_t every, mask;
	pthread_t thread;

	atomic_store(&stop, false);
	/* the handler shall run in this thread */
	sigfillset(&every);
	pthread_sigmask(SIG_BLOCK, &every, &mask);
	assert_int_equal(pthread_create(&thread, NULL, idle, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (pages_means() == MEANS_NONE) {
		atomic_store(&stop, true);
		pthread_join(thread, NULL);
		skip();
	}
	of_signals = (uint64_t *)o.at;
	signals = 0;
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < ROUNDS; i++) {
		done += put(&o, o.at, BYTES);
		done += pages_back(&o.pages);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(done, 2 * ROUNDS);
	assert_true(signals > 0);
	assert_int_equal(of_signals[0], signals);
	end(&o, BYTES);
}

/* ------------------------------------------------------------------ what is not taken */

struct shown_stack {
	pthread_barrier_t ready, over;
	uint8_t *at;
};

/*
 * For a page of the stack give the frame, no variable: a sanitizer may have put variables
 * elsewhere.
 */
static uint8_t *page_of(void *at)
{
	return (uint8_t *)((uintptr_t)at & ~(uintptr_t)(PAGE_BYTES - 1));
}

static void *show_stack(void *arg)
{
	struct shown_stack *s = arg;

	s->at = page_of(__builtin_frame_address(0));
	pthread_barrier_wait(&s->ready);
	pthread_barrier_wait(&s->over);
	return (void *)(uintptr_t)maps_plain(s->at, PAGE_BYTES);
}

TEST(other_memory_is_left_alone)
{
	uint8_t *at = mmap(NULL, 8 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = memfd_create("other", MFD_CLOEXEC);
	struct shown_stack s;
	pthread_t thread;
	void *own_is_plain;

	assert_int_equal(ftruncate(file, 8 * PAGE_BYTES), 0);
	assert_true(maps_plain(at, 8 * PAGE_BYTES));
	mprotect(at + PAGE_BYTES, PAGE_BYTES, PROT_READ);
	assert_false(maps_plain(at, 8 * PAGE_BYTES));
	assert_true(maps_plain(at, PAGE_BYTES) && maps_plain(at + 2 * PAGE_BYTES, PAGE_BYTES));
	mprotect(at + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE);
	mmap(at + 2 * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
	     0);
	assert_false(maps_plain(at, 8 * PAGE_BYTES));
	mmap(at + 2 * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
	     0);
	assert_false(maps_plain(at, 8 * PAGE_BYTES));
	munmap(at + 2 * PAGE_BYTES, PAGE_BYTES);
	assert_false(maps_plain(at, 8 * PAGE_BYTES));
	assert_true(maps_plain(at, 2 * PAGE_BYTES));
	assert_false(maps_plain(page_of(__builtin_frame_address(0)), PAGE_BYTES));
	pthread_barrier_init(&s.ready, NULL, 2);
	pthread_barrier_init(&s.over, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, show_stack, &s), 0);
	pthread_barrier_wait(&s.ready);
	assert_false(maps_plain(s.at, PAGE_BYTES));
	assert_true(maps_plain(at, 2 * PAGE_BYTES));
	pthread_barrier_wait(&s.over);
	pthread_join(thread, &own_is_plain);
	assert_null(own_is_plain);
	/* the third page may be another's by now */
	munmap(at, 2 * PAGE_BYTES);
	munmap(at + 3 * PAGE_BYTES, 5 * PAGE_BYTES);
	close(file);
}

/* Whether the page is plain that has @at. */
static bool page_is_plain(const void *at)
{
	return maps_plain(page_of((void *)(uintptr_t)at), PAGE_BYTES);
}

struct first_thread {
	void *head; /* of its list of robust mutexes, in its control block */
	int *error;
	uint8_t *rseq;
};

static void *ask_about(void *arg)
{
	struct first_thread *f = arg;

	return (void *)(uintptr_t)(page_is_plain(f->head) + page_is_plain(f->error) +
				   page_is_plain(f->rseq));
}

/*
 * The first thread's control block, errno and rseq area are not in its stack. A thread that
 * replaced the page of its own errno would wait for itself.
 */
TEST(the_first_threads_block_is_left_alone)
{
	struct first_thread f = { .error = &errno,
				  .rseq = (uint8_t *)__builtin_thread_pointer() + __rseq_offset };
	pthread_t thread;
	void *plain;
	size_t size;

	assert_int_equal(syscall(SYS_get_robust_list, 0, &f.head, &size), 0);
	assert_null(ask_about(&f));
	assert_int_equal(pthread_create(&thread, NULL, ask_about, &f), 0);
	pthread_join(thread, &plain);
	assert_null(plain);
}

static void *fork_here(void *arg)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(page_is_plain(__builtin_frame_address(0)) || page_is_plain(&errno) ||
		      !page_is_plain(arg));
	waitpid(child, &status, 0);
	return (void *)(uintptr_t)status;
}

/* In the child the stack is the first thread's, but has no name in /proc. */
TEST(the_stack_of_a_thread_that_forked_is_left_alone)
{
	struct own o = fresh(PAGE_BYTES);
	pthread_t thread;
	void *status;

	assert_int_equal(pthread_create(&thread, NULL, fork_here, o.at), 0);
	pthread_join(thread, &status);
	assert_null(status);
	end(&o, PAGE_BYTES);
}

TEST(new_mappings_stay)
{
	struct own o = fresh(BYTES);
	uint8_t *mine;

	fill(o.at, BYTES, 3);
	assert_true(put(&o, o.at, BYTES));
	munmap(o.at + 10 * PAGE_BYTES, 20 * PAGE_BYTES);
	mine = mmap(o.at + 15 * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mine[7] = 42;
	o.source[15 * PAGE_BYTES + 7] = 1;
	assert_true(pages_back(&o.pages));
	assert_int_equal(mine[7], 42);
	assert_true(maps_plain(o.at, 10 * PAGE_BYTES) &&
		    maps_plain(o.at + 30 * PAGE_BYTES, BYTES - 30 * PAGE_BYTES));
	assert_false(maps_plain(o.at + 10 * PAGE_BYTES, PAGE_BYTES));
	assert_int_equal(o.at[1000], (uint8_t)(1000 * 31 + 3));
	/* without pages that may be another's by now */
	munmap(o.at + 30 * PAGE_BYTES, BYTES - 30 * PAGE_BYTES);
	munmap(mine, PAGE_BYTES);
	munmap(o.source, BYTES);
	o.source = NULL;
	end(&o, 10 * PAGE_BYTES);
}

TEST(a_child_has_its_own)
{
	struct own o = fresh(BYTES);
	int status = 0;
	pid_t child;

	fill(o.at, BYTES, 9);
	assert_true(put(&o, o.at, BYTES));
	child = fork();
	if (!child) {
		bool same = o.at[5000] == (uint8_t)(5000 * 31 + 1 + 9) && maps_plain(o.at, BYTES);

		memset(o.at, 0, BYTES);
		_exit(!same);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(o.at[5000], (uint8_t)(5000 * 31 + 1 + 9));
	assert_true(pages_back(&o.pages));
	assert_int_equal(o.at[5000], (uint8_t)(5000 * 31 + 1 + 9));
	end(&o, BYTES);
}

/* ------------------------------------------------------------------ failures */

static bool broken; /* opened files can't be read */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	return __real_fopen(broken ? "/" : path, mode);
}

/* Let this process open @n more files. */
static struct rlimit leave_files(unsigned int n)
{
	struct rlimit before, now;
	int next = dup(0);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = before;
	now.rlim_cur = next + n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	return before;
}

static void assert_still_put(struct own *o, unsigned int value)
{
	assert_int_equal(o->pages.bytes, BYTES);
	assert_true(pages_has(o->at));
	o->source[5] = value;
	assert_int_equal(o->at[5], value);
}

/*
 * Without a free descriptor there is no userfaultfd. With one, /proc/self/maps can't be opened. Or
 * it can't be read. Each time the pages stay in use.
 */
TEST(pages_stay_if_mappings_are_unknown)
{
	struct own o = fresh(BYTES);
	struct rlimit before;
	enum pages_means means;
	pthread_t thread;
	unsigned int i;
	bool back;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, idle, NULL), 0);
	means = pages_means();
	if (means != MEANS_NONE) {
		assert_true(put(&o, o.at, BYTES));
		for (i = 0; i < 2; i++) {
			before = leave_files(i);
			back = pages_back(&o.pages);
			assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
			assert_false(back);
			assert_still_put(&o, 40 + i);
		}
		broken = true;
		back = pages_back(&o.pages);
		broken = false;
		assert_false(back);
		assert_still_put(&o, 50);
		before = leave_files(2);
		back = pages_back(&o.pages);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_true(back);
		assert_int_equal(o.pages.bytes, 0);
		assert_false(pages_has(o.at));
		assert_int_equal(o.at[5], 50);
		o.source[5] = 1;
		assert_int_equal(o.at[5], 50);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	end(&o, BYTES);
	if (means == MEANS_NONE)
		skip();
}

TEST_MAIN(NULL, NULL)
