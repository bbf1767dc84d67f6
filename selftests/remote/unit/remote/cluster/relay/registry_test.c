// SPDX-License-Identifier: MIT
/* The registry of a machine's proxies: names, and entries that end with their process. */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glob.h>
#include <sys/un.h>

#include <remote/cluster/relay/registry.h>

#include "selftests/own_folder.h"
#include "selftests/remote/unit/remote/linger.h"

enum { NOBODY = 65534, NOGROUP = 65534 };

#define UUID "00112233445566778899aabbccddeeff"

/* of entries(): not that of another run of this test, whose looks would fill the entry's queue */
static char own_uuid[33];
/* of the last printed() */
static struct registry_gpu gpu;

static unsigned int globs; /* calls of glob() */

int __real_glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found);

int __wrap_glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found)
{
	globs++;
	return __real_glob(pattern, flags, error, found);
}

/* An entry that sends every looker a descriptor whose last close() waits. */
static int trap;
static int trapped = -1; /* what linger_send() returned */

/* A look asks who its peer is while it is connected. */
static void send_to_looker(int option)
{
	int looker;

	if (option != SO_PEERCRED)
		return;
	looker = accept(trap, NULL, NULL);
	trapped = linger_send(looker, "x", 1, 0);
	close(looker);
}

TEST(names)
{
	struct registry_name n = { .uuid = UUID, .device = 1, .pid = 4000000, .label = "12:prog" },
			     m;
	static const char *const wrong[] = {
		"",
		"kvgpu-run/",
		"kvgpu-run/-/0/1/",
		"kvgpu-run/-/0/1/x",
		"kvgpu-run/X/0/1/1:x",
		"kvgpu-run/-/0/1/1:\x1b[2J",
		"other/-/0/1/1:x",
	};
	char text[ENTRY_TEXT];
	unsigned int i;

	registry_write(&n, text);
	assert_true(registry_read(text, &m));
	assert_true(!strcmp(m.uuid, UUID) && m.device == 1 && m.pid == 4000000 &&
		    !strcmp(m.label, "12:prog"));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(registry_read(wrong[i], &m));
	assert_true(registry_is_of(&n, UUID, 0));
	assert_false(registry_is_of(&n, "ff", 1));
	strcpy(n.uuid, "-");
	assert_true(registry_is_of(&n, UUID, 1));
	assert_false(registry_is_of(&n, UUID, 0));
}

/* how many lines registry_print() writes that have @what */
static unsigned int printed(const char *what)
{
	char line[256];
	unsigned int n = 0;
	int out = dup(STDOUT_FILENO);
	FILE *f = tmpfile();

	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	strcpy(gpu.uuid, own_uuid);
	gpu.device = gpu.entries = 0;
	registry_print("here", &gpu, 1);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, what) != NULL;
	fclose(f);
	return n;
}

TEST(entries)
{
	char label[40], what[80];
	int fd;

	snprintf(own_uuid, sizeof(own_uuid), "%032x", getpid());
	snprintf(label, sizeof(label), "77:test%d", getpid());
	snprintf(what, sizeof(what), "user here 0 %d ", getpid());
	assert_int_equal(printed(what), 0);
	fd = registry_enter(own_uuid, 0, label);
	assert_true(fd >= 0);
	assert_int_equal(printed(what), 1);
	assert_int_equal(printed(strchr(label, ':') + 1), 1);
	/* connections of lookers end when they are answered, and are no entries */
	registry_answer(fd);
	registry_answer(fd);
	assert_int_equal(printed(what), 1);
	close(fd);
	assert_int_equal(printed(what), 0);
}

/* Who can't open a GPU has none: its entries would only make others wait. */
TEST(users_of_gpus)
{
	char node[64], none[64];

	snprintf(node, sizeof(node), "%s/node", own_folder());
	snprintf(none, sizeof(none), "%s/{none,no*ne}", own_folder());
	assert_true(registry_may_open(NOBODY, none));
	fclose(fopen(node, "w"));
	assert_int_equal(chmod(node, 0660), 0);
	assert_true(registry_may_open(0, node));
	assert_true(registry_may_open(getuid(), node));
	assert_false(registry_may_open(NOBODY, node));
	assert_int_equal(chmod(node, 0666), 0);
	assert_true(registry_may_open(NOBODY, node));
	assert_int_equal(chmod(node, 0660), 0);
	if (getuid())
		skip();
	assert_int_equal(chown(node, NOBODY, 0), 0);
	assert_true(registry_may_open(NOBODY, node));
	assert_int_equal(chown(node, 0, NOGROUP), 0);
	assert_true(registry_may_open(NOBODY, node));
}

/* Lookers that are not answered do not hide an entry: a local user can be all of them. */
TEST(full_queue)
{
	char label[40], silent[80], what[80];
	int fd, i;

	snprintf(own_uuid, sizeof(own_uuid), "%032x", getpid());
	snprintf(label, sizeof(label), "78:full%d", getpid());
	snprintf(what, sizeof(what), "user here 0 %d ", getpid());
	snprintf(silent, sizeof(silent), "user here 0 %d ? 78 full%d\n", getpid(), getpid());
	fd = registry_enter(own_uuid, 0, label);
	assert_true(fd >= 0);
	assert_int_equal(printed(silent), 0);
	for (i = 0; i < 40; i++)
		assert_int_equal(printed(what), 1);
	assert_int_equal(printed(silent), 1);
	for (i = 0; i < 40; i++)
		registry_answer(fd);
	assert_int_equal(printed(what), 1);
	assert_int_equal(printed(silent), 0);
	close(fd);
	assert_int_equal(printed(what), 0);
}

/* A name of another process of this test's GPU; the socket listens. */
static int enter_as(unsigned int pid)
{
	struct registry_name n = { .device = 0, .pid = pid, .label = "1:many" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[ENTRY_TEXT];

	strcpy(n.uuid, own_uuid);
	registry_write(&n, text);
	strcpy(at.sun_path + 1, text);
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			      offsetof(struct sockaddr_un, sun_path) + 1 + strlen(text)),
			 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* Any local user can make entries: so many are asked, and for each user the machine once. */
TEST(many_entries)
{
	static int fd[REGISTRY_MOST + 20];
	unsigned int i, n = sizeof(fd) / sizeof(*fd);

	snprintf(own_uuid, sizeof(own_uuid), "%032x", getpid());
	for (i = 0; i < n; i++)
		fd[i] = enter_as(i + 1);
	globs = 0;
	assert_int_equal(printed(" 1 many\n"), REGISTRY_MOST);
	assert_true(globs <= 1);
	assert_int_equal(gpu.entries, n);
	for (i = 0; i < n; i++)
		close(fd[i]);
}

/* Neither a look nor an answer waits for a peer, also where the kernel can't help. */
TEST(nobody_waits)
{
	struct sockaddr_un at;
	socklen_t bytes = sizeof(at);
	int fd, looker, other;

	alarm(HANGS_S);
	old_kernel = true;
	snprintf(own_uuid, sizeof(own_uuid), "%032x", getpid());
	trap = enter_as(1);
	linger_asked = send_to_looker;
	printed("many");
	assert_int_equal(trapped, -1);
	close(trap);
	linger_asked = NULL;
	fd = registry_enter(own_uuid, 0, "1:x");
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
	looker = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(looker, (struct sockaddr *)&at, bytes), 0);
	other = linger_send(looker, "x", 1, 0);
	assert_true(other >= 0);
	close(looker);
	registry_answer(fd);
	linger_ends(other);
	close(fd);
	old_kernel = false;
	alarm(0);
}

TEST_MAIN(NULL, NULL)
