// SPDX-License-Identifier: MIT
/*
 * What the client says of servers that are not there at cuInit(). There is no server.
 */
#include <errno.h>
#include <pthread.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/api/usage.h>
#include <remote/client/client.h>

#include "../result.h"

#define RUN "/run/user/1000/kvgpu-run.Ab12Cd/"

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
unsigned int nr_peers;
bool several;
int all_devices, device_at[DEVICES_MAX];

static const char *named[2];
static int connected[2]; /* what connecting gives */
static CUresult asked[2]; /* what the first question gives */
static uint32_t the_version = 11080;
static bool no_addresses;
static unsigned int connections, closed, forgotten;

unsigned int find_servers(const char *address[], const char **tls_folder)
{
	memcpy(address, named, sizeof(named));
	*tls_folder = NULL;
	return 2;
}

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	*why = "is kvgpu-remoted running";
	connections++;
	return connected[(struct peer *)ctx - peers];
}

CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_init a = { .devices = 1 };
	static struct a_facts facts;

	a.arena = (c->to.peer - peers + 1) << 20;
	a.version = the_version;
	facts.uuid[0] = 0x10 + (c->to.peer - peers);
	c->answer = c->op == OP_facts ? (void *)&facts : &a;
	return asked[c->to.peer - peers];
}

void call_forked(void)
{
	forgotten++;
}

static unsigned int apart; /* servers whose pools were set apart, a bit for each */
static uint64_t seen_at[2];
void arena_is_seen_at(struct peer *p, uint64_t where)
{
	seen_at[p - peers] = where;
}
void pools_set_apart(struct peer *p)
{
	apart |= 1u << peer_number(p);
}
void peers_slow(enum slow why, bool is)
{
	assert_int_equal(why, SLOW_SEVERAL);
	assert_true(is);
}

bool objects_begin(void)
{
	return !no_addresses;
}

void kvgpu_remote_forked(struct kvgpu_remote_channel *c)
{
	closed++;
}

/* what device.c calls for more than the count */
struct peer *peer_of_number(int dev, uint32_t *number)
{
	*number = 0;
	return &peers[dev];
}

bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return false;
}

/* ------------------------------------------------------------------ */

static int before; /* the standard error */
static FILE *record;

static void listen_to_client(void)
{
	before = dup(STDERR_FILENO);
	record = tmpfile();
	assert_non_null(record);
	fflush(stderr);
	dup2(fileno(record), STDERR_FILENO);
}

/* @said: all that was printed since listen_to_client() */
static void heard(char *said, size_t bytes)
{
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(record);
	said[fread(said, 1, bytes - 1, record)] = 0;
	fclose(record);
}

static CUresult init(char *said, size_t bytes)
{
	CUresult r;

	listen_to_client();
	r = cuInit(0);
	heard(said, bytes);
	return r;
}

static void begin(const char *first, const char *second)
{
	memset(connected, 0, sizeof(connected));
	memset(asked, 0, sizeof(asked));
	named[0] = first;
	named[1] = second;
	nr_peers = 0;
	connections = 0;
}

/* A server that isn't there makes cuInit() fail. A proxy's user has no kvgpu-remoted to look at. */
TEST(first_is_not_there)
{
	char said[1024];

	begin("unix:/run/kvgpu/socket", "unix:/run/kvgpu/other");
	connected[0] = -ECONNREFUSED;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_non_null(strstr(said, "unix:/run/kvgpu/socket: is kvgpu-remoted running"));
	assert_null(strstr(said, "kvgpu-run"));

	begin("unix:" RUN "0", "unix:" RUN "1");
	connected[0] = -ENOENT;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_non_null(strstr(said, RUN "0: kvgpu-run's proxy for this device is gone"));
	assert_null(strstr(said, "kvgpu-remoted"));

	/* the broker has a socket still, and hangs up */
	connected[0] = -ECONNRESET;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_non_null(strstr(said, RUN "0: kvgpu-run's proxy for this device is gone"));
}

/* What has another cause keeps its own text. */
TEST(first_refuses)
{
	char said[1024];

	begin("unix:" RUN "0", "unix:" RUN "1");
	connected[0] = -EPROTO;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_null(strstr(said, "proxy for this device is gone"));
}

/*
 * cuInit() succeeds once in a process; so each choice is tried by a child, whose exit code is a
 * digit for each device.
 */
static int chosen(const char *list)
{
	int status, i, said = 0;
	pid_t pid = fork();

	if (!pid) {
		begin("unix:/run/kvgpu/socket", "unix:/run/kvgpu/other");
		setenv("CUDA_VISIBLE_DEVICES", list, 1);
		if (cuInit(0))
			_exit(99);
		for (i = 0; i < all_devices; i++)
			said = said * 10 + 1 + device_at[i];
		_exit(said);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(devices_are_chosen)
{
	assert_int_equal(chosen("0"), 1);
	assert_int_equal(chosen("1"), 2);
	assert_int_equal(chosen("1,0"), 21);
	assert_int_equal(chosen("GPU-11"), 2);
	assert_int_equal(chosen("1,GPU-10"), 21);
	assert_int_equal(chosen("0,7,1"), 1);
	assert_int_equal(chosen(""), 99);
	assert_int_equal(chosen("-1"), 99);
}

/* Each proxy was promised to have a GPU; a server of a list may have none, which is said. */
TEST(one_has_no_gpu)
{
	char said[1024];

	begin("unix:" RUN "0", "unix:" RUN "1");
	asked[1] = CUDA_ERROR_NO_DEVICE;
	FAILS(init(said, sizeof(said)), NO_DEVICE);
	assert_non_null(strstr(said, RUN "1: this server has no GPU"));
}

static int version_now(void)
{
	int version = -1;

	OK(cuDriverGetVersion(&version));
	return version;
}

/* @test in a process that has not looked for servers yet */
static void in_process(void (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		begin("unix:/run/kvgpu/socket", "unix:/run/kvgpu/other");
		closed = forgotten = 0;
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void version_is_early(void)
{
	int want = the_version < 13000 ? the_version : 13000;

	assert_int_equal(version_now(), want);
	assert_int_equal(version_now(), want);
	OK(cuInit(0));
	assert_int_equal(version_now(), want);
	assert_int_equal(connections, 2);
}

TEST(version_is_the_servers)
{
	static const int versions[] = { 11080, 12040, 13000, 13020 };
	unsigned int i;

	for (i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		the_version = versions[i];
		in_process(version_is_early);
	}
	the_version = 11080;
}

/* Only cuInit() says that a server isn't there, and looks again. */
static void question_is_quiet(void)
{
	static const char line[] = "is kvgpu-remoted running";
	char said[1024], *at;

	connected[0] = -ECONNREFUSED;
	listen_to_client();
	assert_int_equal(version_now(), 13000);
	assert_int_equal(version_now(), 13000);
	heard(said, sizeof(said));
	assert_string_equal(said, "");
	assert_int_equal(connections, 1);
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	at = strstr(said, line);
	assert_non_null(at);
	assert_null(strstr(at + 1, line));
	assert_int_equal(connections, 2);
	connected[0] = 0;
	OK(init(said, sizeof(said)));
	assert_int_equal(version_now(), 11080);
}

static void answers_are_quiet(void)
{
	char said[1024];

	begin("unix:" RUN "0", "unix:" RUN "1");
	asked[1] = CUDA_ERROR_NO_DEVICE;
	listen_to_client();
	version_now();
	heard(said, sizeof(said));
	assert_string_equal(said, "");
	FAILS(init(said, sizeof(said)), NO_DEVICE);
	assert_non_null(strstr(said, RUN "1: this server has no GPU"));
	assert_int_equal(connections, 2);
}

TEST(version_is_asked_quietly)
{
	in_process(question_is_quiet);
	in_process(answers_are_quiet);
}

/* A child of fork() before cuInit() drops what its parent has, and connects by itself. */
static void child_is_new(void)
{
	assert_int_equal(closed, 2);
	assert_int_equal(forgotten, 1);
	assert_int_equal(connections, 0);
	assert_int_equal(version_now(), 12040);
	OK(cuInit(0));
	assert_int_equal(connections, 2);
}

static void child_has_nothing(void)
{
	assert_int_equal(closed, 2);
	assert_int_equal(forgotten, 0);
	FAILS(cuInit(0), NOT_INITIALIZED);
	assert_int_equal(version_now(), 11080);
	assert_int_equal(connections, 0);
}

static void run_child(void (*test)(void))
{
	int status;
	pid_t pid;

	closed = forgotten = connections = 0;
	pid = fork();
	if (!pid) {
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void forks_around_init(void)
{
	assert_int_equal(version_now(), 11080);
	the_version = 12040; /* of a server that a child finds */
	run_child(child_is_new);
	OK(cuInit(0));
	assert_int_equal(connections, 0);
	run_child(child_has_nothing);
}

TEST(child_before_init_is_new)
{
	in_process(forks_around_init);
}

static void child_asks_anew(void)
{
	int n;

	assert_int_equal(closed, 2);
	FAILS(cuDeviceGetCount(&n), NOT_INITIALIZED);
	OK(kvgpu_usage_init());
	assert_int_equal(connections, 2);
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
}

/* for questions: no address is reserved, no device hidden, and the children ask, too */
static void forks_around_questions(void)
{
	int n;

	begin("unix:" RUN "0", "unix:" RUN "1");
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	no_addresses = true;
	apart = 0;
	OK(kvgpu_usage_init());
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
	assert_int_equal(apart, 0);
	run_child(child_asks_anew);
	OK(cuDeviceGetCount(&n));
}

TEST(child_asks_as_its_parent)
{
	in_process(forks_around_questions);
}

static void *ask_version(void *arg)
{
	int *stop = arg, version = 0, last;

	do {
		last = __atomic_load_n(stop, __ATOMIC_ACQUIRE);
		if (cuDriverGetVersion(&version))
			return NULL;
	} while (!last);
	return (void *)(intptr_t)version;
}

/* A program may ask for the version while another thread is in cuInit(): this is for TSan. */
TEST(version_meanwhile)
{
	pthread_t thread;
	char said[1024];
	int stop = 0;
	void *version;

	/* the client keeps these addresses, as one server is there */
	begin("unix:" RUN "0", "unix:" RUN "1");
	connected[1] = -ECONNREFUSED;
	assert_int_equal(pthread_create(&thread, NULL, ask_version, &stop), 0);
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	connected[1] = 0;
	asked[1] = CUDA_ERROR_SYSTEM_NOT_READY;
	the_version = 11070;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, &version), 0);
	assert_int_equal((intptr_t)version, 11070);
}

/*
 * The first proxy is there, the second one is gone: no device works. When it is there, both do. The
 * last test, as cuInit() has succeeded then.
 */
TEST(second_is_gone)
{
	char said[1024];
	int n = -1;

	begin("unix:" RUN "0", "unix:" RUN "1");
	connected[1] = -ECONNREFUSED;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_non_null(strstr(said, RUN "1: kvgpu-run's proxy for this device is gone"));
	FAILS(cuDeviceGetCount(&n), NOT_INITIALIZED);

	connected[1] = 0;
	asked[1] = CUDA_ERROR_SYSTEM_NOT_READY;
	FAILS(init(said, sizeof(said)), SYSTEM_NOT_READY);
	assert_non_null(strstr(said, RUN "1: kvgpu-run's proxy for this device is gone"));
	assert_null(strstr(said, "journalctl"));
	FAILS(cuDeviceGetCount(&n), NOT_INITIALIZED);

	asked[1] = CUDA_SUCCESS;
	no_addresses = true;
	FAILS(init(said, sizeof(said)), OUT_OF_MEMORY);
	assert_non_null(strstr(said, "ulimit -v"));
	no_addresses = false;
	OK(init(said, sizeof(said)));
	assert_string_equal(said, "");
	assert_int_equal(apart, 3);
	assert_int_equal(seen_at[0], 1 << 20);
	assert_int_equal(seen_at[1], 2 << 20);
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
}

TEST_MAIN(NULL, NULL)
