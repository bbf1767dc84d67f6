// SPDX-License-Identifier: MIT
/* What the library writes to standard output and error goes to the client, byte for byte. */
#include <selftests/unit_test.h>
#include <sys/wait.h>

#include <unistd.h>

#include <remote/server/server.h>

enum { PAGE = 4096, ROOM = 1 << 21 };

/* what the client got, by descriptor */
static struct {
	uint8_t bytes[ROOM];
	size_t n;
	unsigned int events;
} got[2], written[2];

int kvgpu_remote_notify(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			const void *bytes, size_t n)
{
	unsigned int to = h->value - 1;

	if (h->kind != KVGPU_REMOTE_NOTIFY_TEXT || to > 1 || n > ROOM - got[to].n)
		_exit(2);
	memcpy(got[to].bytes + got[to].n, bytes, n);
	got[to].n += n;
	got[to].events++;
	return 0;
}

static void print(unsigned int to, size_t n)
{
	static unsigned int seed;
	size_t i, at = written[to].n;

	for (i = 0; i < n; i++, seed++)
		written[to].bytes[at + i] = 'a' + (seed * 7 + seed / 50) % 26;
	if (write(to + 1, written[to].bytes + at, n) != (ssize_t)n)
		_exit(3);
	written[to].n += n;
}

static void check(struct server *s, int why)
{
	unsigned int to;

	stdio_capture_send(s);
	for (to = 0; to < 2; to++)
		if (got[to].n != written[to].n ||
		    memcmp(got[to].bytes, written[to].bytes, got[to].n))
			_exit(why);
}

/* the text of a length, then of another one, so that texts begin and end anywhere in a page */
static void write_and_send(void)
{
	static const size_t lengths[] = { 1,	    63,		  64,	    65,
					  PAGE - 1, PAGE,	  PAGE + 1, 2 * PAGE - 64,
					  2 * PAGE, 3 * PAGE + 5, 70000 };
	enum { NR = sizeof(lengths) / sizeof(*lengths) };
	static const char refusal[] = "libcuda (remote): a pool is not supported: reasons\n";
	static struct server s;
	unsigned int i, events;
	bool told = false;

	if (stdio_capture_start(&s))
		_exit(4);
	check(&s, 5);
	for (i = 0; i < NR * NR; i++) {
		print(0, lengths[i % NR]);
		if (i % 3 == 0)
			print(1, lengths[i / NR]);
		check(&s, 6);
	}
	events = got[0].events;
	check(&s, 7);
	if (got[0].events != events)
		_exit(8);
	/* text that begins with zeros comes, too, where there is some letter soon */
	written[0].n += 40;
	if (write(1, written[0].bytes + written[0].n - 40, 40) != 40)
		_exit(3);
	print(0, 30);
	check(&s, 9);
	/* where there is none soon a later look finds it */
	written[0].n += 2 * PAGE;
	if (write(1, written[0].bytes + written[0].n - 2 * PAGE, 2 * PAGE) != 2 * PAGE)
		_exit(3);
	print(0, 30);
	for (i = 0; i < 64; i++)
		stdio_capture_send(&s);
	check(&s, 10);
	/* what the server refuses is told once */
	for (i = 0; i < 3; i++)
		if (refuse_once("a pool", "reasons", &told) != CUDA_ERROR_NOT_SUPPORTED)
			_exit(11);
	memcpy(written[1].bytes + written[1].n, refusal, sizeof(refusal) - 1);
	written[1].n += sizeof(refusal) - 1;
	check(&s, 12);
	_exit(0);
}

/* in a child, as it replaces standard output and error */
TEST(byte_for_byte)
{
	pid_t child = fork();
	int status;

	if (!child)
		write_and_send();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN(NULL, NULL)
