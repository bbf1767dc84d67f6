// SPDX-License-Identifier: MIT
/*
 * Programs of one client share its quota. Rows and memory are free again when the client's last
 * program has ended.
 */
#include <selftests/unit_test.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/supervisor/supervisor.h>

enum { CLIENTS = 12, LIMIT = 1000 };

static struct remoted_conf conf;
static struct supervisor s;

static int set_up(void **state)
{
	remoted_conf_default(&conf);
	strcpy(conf.compiled_folder, "/tmp/kvgpu-tenants-XXXXXX");
	if (!mkdtemp(conf.compiled_folder))
		return -1;
	conf.share.compiled = 0;
	s = (struct supervisor){ .conf = &conf, .admin_fd = -1, .nr_clients = CLIENTS };
	s.clients = calloc(CLIENTS, sizeof(*s.clients));
	s.tenants = calloc(CLIENTS, sizeof(*s.tenants));
	return !s.clients || !s.tenants;
}

static unsigned int nr_folders(void)
{
	DIR *d = opendir(conf.compiled_folder);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int tear_down(void **state)
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		s.clients[i].tenant = NULL;
	tenants_forget(&s);
	while (wait(NULL) > 0) {
	}
	assert_int_equal(rmdir(conf.compiled_folder), 0); /* it is empty */
	free(s.clients);
	free(s.tenants);
	return 0;
}

static struct client *come(const char *who)
{
	struct client *c = client_row(&s);

	c->state = CLIENT_SERVED;
	strcpy(c->who, who);
	assert_true(tenants_enter(&s, c));
	return c;
}

static unsigned int row(const struct client *c)
{
	return c - s.clients;
}

static bool take(struct client *c, uint64_t bytes)
{
	return pool_take(c->tenant->pool, CLIENTS, row(c), bytes, LIMIT);
}

static int open_descriptors(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

TEST(one_quota)
{
	struct client *a = come("tls:ann"), *b = come("tls:ann"), *other = come("tls:bob");

	assert_int_equal(tenants_programs(&s, "tls:ann"), 2);
	assert_ptr_equal(a->tenant, b->tenant);
	assert_ptr_not_equal(a->tenant, other->tenant);
	assert_true(take(a, 600));
	assert_false(take(b, 401));
	assert_true(take(b, 400));
	assert_false(take(a, 601));
	assert_int_equal(pool_others(a->tenant->pool, CLIENTS, row(a)), 400);
	assert_true(take(other, LIMIT));
	pool_give(a->tenant->pool, row(a), 100);
	assert_true(take(b, 900));
	client_gone(&s, b);
	assert_int_equal(tenants_programs(&s, "tls:ann"), 1);
	assert_true(take(a, LIMIT));
	client_gone(&s, a);
	client_gone(&s, other);
	assert_int_equal(tenants_programs(&s, "tls:ann"), 0);
}

/* Clients with many names come and go. */
TEST(rows_come_back)
{
	struct client *c[CLIENTS];
	int before = open_descriptors();
	unsigned int i, round;
	char who[16];

	for (round = 0; round < 50; round++) {
		for (i = 0; i < CLIENTS; i++) {
			snprintf(who, sizeof(who), "unix:%u", round % 3 ? i : 0);
			c[i] = come(who);
			assert_true(take(c[i], LIMIT / CLIENTS));
		}
		for (i = 0; i < CLIENTS; i++)
			client_gone(&s, c[i]);
	}
	assert_int_equal(open_descriptors(), before);
}

/* what a client's programs share of images, and the next one finds; 0: nothing */
static int images_of(const char *who)
{
	struct client *c = come(who);
	int fd = c->tenant->images;

	client_gone(&s, c);
	return fd;
}

/* Images stay for the next program of the name, and for nobody else. */
TEST(images_stay)
{
	int before = open_descriptors(), first = images_of("tls:ann");
	char who[16];
	unsigned int i;

	assert_true(first > 0);
	assert_int_equal(images_of("tls:ann"), first);
	assert_int_not_equal(images_of("tls:bob"), first);
	assert_int_equal(images_of("tls:ann"), first);
	/* who is a user is not known of all that comes this way, or nothing needs to be kept */
	assert_int_equal(images_of("tcp"), 0);
	assert_int_equal(images_of("unix:1000"), 0);
	assert_int_equal(images_of("vsock:5"), 0);
	assert_int_equal(images_of("aperture:/dev/dax0.0"), 0);
	/* of clients that have gone the last 8 keep theirs, of more rows than that */
	for (i = 0; i < 7; i++) {
		snprintf(who, sizeof(who), "tls:%u", i);
		assert_true(images_of(who) > 0);
	}
	assert_int_equal(images_of("tls:ann"), first);
	assert_true(images_of("tls:8") > 0);
	assert_int_equal(images_of("tls:ann"), first);
	assert_true(open_descriptors() <= before + 8);
	/* the configuration wants none */
	strcpy(conf.rules[0].who, "tls:none");
	conf.nr_rules = 1;
	assert_int_equal(images_of("tls:none"), 0);
	conf.nr_rules = 0;
}

/* the folder of what is compiled, of a client that has gone; 0: none */
static ino_t folder_of(const char *who)
{
	struct client *c = come(who);
	int fd = c->tenant->compiled;
	struct stat st = { 0 };

	if (fd) {
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(faccessat(fd, "f/a", W_OK, 0), 0);
		close(openat(fd, "f/a/kept", O_CREAT | O_WRONLY, 0666));
	}
	client_gone(&s, c);
	return st.st_ino;
}

/* The same of folders for what is compiled, whatever carrier a client comes by. */
TEST(compiled_stays)
{
	static const char *const all[] = { "tls:ann", "unix:1000", "vsock:5",
					   "aperture:/dev/dax0.0" };
	unsigned int i;
	char who[16];
	ino_t first;

	conf.share.compiled = 4096;
	first = folder_of("tls:ann");

	for (i = 0; i < 4; i++) {
		assert_true(folder_of(all[i]) > 0);
		assert_true((folder_of(all[i]) == first) == !i);
	}
	for (i = 0; i < 20; i++) {
		snprintf(who, sizeof(who), "unix:%u", i);
		assert_true(folder_of(who) > 0);
	}
	while (wait(NULL) > 0) {
	}
	assert_int_equal(nr_folders(), 8);
	/* the configuration wants none, or others could come into the folder */
	strcpy(conf.rules[0].who, "tls:none");
	conf.nr_rules = 1;
	assert_int_equal(folder_of("tls:none"), 0);
	conf.nr_rules = 0;
	assert_int_equal(chmod(conf.compiled_folder, 0710), 0);
	assert_non_null(compiled_wrong(&conf));
	assert_int_equal(folder_of("tls:new"), 0);
}

/* Rows of other names take a row over, and its images end. */
TEST(images_end_with_their_row)
{
	int before = open_descriptors(), i;
	char who[24];

	for (i = 0; i < 3 * CLIENTS; i++) {
		snprintf(who, sizeof(who), "tls:%d", i);
		assert_true(images_of(who) > 0);
	}
	for (i = 0; i < CLIENTS; i++) {
		snprintf(who, sizeof(who), "unix:%d", i);
		images_of(who);
	}
	assert_int_equal(open_descriptors(), before);
}

/* Processes that write false numbers: their sum is too large for a number. */
TEST(lies)
{
	struct client *a = come("vsock:5"), *b = come("vsock:5"), *c = come("vsock:5");

	pool_give(a->tenant->pool, row(a), UINT64_MAX);
	pool_give(b->tenant->pool, row(b), UINT64_MAX);
	assert_false(take(c, 1));
	client_gone(&s, a);
	client_gone(&s, b);
	assert_true(take(c, LIMIT));
	client_gone(&s, c);
}

/*
 * Memory that a process has taken can be taken by it again: under the lock the sum of all rows is
 * never more than the limit.
 */
static void take_for_ever(struct client *c)
{
	uint64_t bytes;
	unsigned int i;

	for (i = 0;; i++) {
		bytes = i * 2654435761u % LIMIT;
		if (take(c, bytes) && !take(c, bytes))
			_exit(1);
		pool_give(c->tenant->pool, row(c), 0);
	}
}

/* Processes that are killed at any moment, even while they have the lock. */
TEST(killed)
{
	struct client *c[3], *last = come("tls:ann");
	unsigned int i, round;
	int status;

	for (round = 0; round < 60; round++) {
		for (i = 0; i < 3; i++) {
			c[i] = come("tls:ann");
			c[i]->pid = fork();
			if (!c[i]->pid) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				c[i]->tenant->pool = pool_map(c[i]->tenant->fd, CLIENTS);
				take_for_ever(c[i]);
			}
		}
		usleep(1000 + round * 37);
		for (i = 0; i < 3; i++) {
			kill(c[i]->pid, SIGKILL);
			assert_int_equal(waitpid(c[i]->pid, &status, 0), c[i]->pid);
			assert_true(WIFSIGNALED(status));
			client_gone(&s, c[i]);
		}
		assert_true(take(last, LIMIT));
		pool_give(last->tenant->pool, row(last), 0);
	}
	client_gone(&s, last);
}

TEST_MAIN(set_up, tear_down)
