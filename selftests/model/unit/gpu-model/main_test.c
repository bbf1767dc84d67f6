// SPDX-License-Identifier: GPL-2.0-only
/* The command line: options that are accepted, and options that are refused. */
#define _GNU_SOURCE
#include <selftests/unit_test.h>

#define main model_main
#include "gpu-model/main.c"
#undef main

/* stand-ins for what main() calls if the command line is good: some record the call, or fail */
static struct gk110_config got_cfg;
static struct vfio_options got_opt;
static bool server_fails, device_fails, run_fails;
static unsigned int destroyed;

const struct bus_ops vfio_bus_ops;

struct vfio_server *vfio_server_create(const struct vfio_options *opt)
{
	got_opt = *opt;
	return server_fails ? NULL : (struct vfio_server *)&got_opt;
}

int vfio_server_run(struct vfio_server *s, struct gk110 *g)
{
	return run_fails ? -EIO : 0;
}

void vfio_server_destroy(struct vfio_server *s)
{
	destroyed |= 1;
}

struct gk110 *gk110_create(const struct gk110_config *cfg, const struct bus_ops *bus,
			   void *bus_priv)
{
	got_cfg = *cfg;
	return device_fails ? NULL : (struct gk110 *)&got_cfg;
}

int gk110_start(struct gk110 *g)
{
	return 0;
}

void gk110_stop(struct gk110 *g)
{
	destroyed |= 2;
}

void gk110_destroy(struct gk110 *g)
{
	destroyed |= 4;
}

/* Returns the exit code of a command line, and puts its messages on stderr into @said. */
static int command(char *said, size_t cap, int argc, char **argv)
{
	int keep = dup(STDERR_FILENO), pipes[2], code;
	ssize_t n;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	optind = 0;
	destroyed = 0;
	code = model_main(argc, argv);
	fflush(stderr);
	/* closes the last write end of the pipe, so that read() ends */
	dup2(keep, STDERR_FILENO);
	close(keep);
	n = read(pipes[0], said, cap - 1);
	said[n > 0 ? n : 0] = 0;
	close(pipes[0]);
	return code;
}

#define RUN(said, ...)                                                                    \
	({                                                                                \
		char *argv_[] = { "gk110-model", ##__VA_ARGS__, NULL };                   \
		command(said, sizeof(said), sizeof(argv_) / sizeof(argv_[0]) - 1, argv_); \
	})

TEST(test_defaults)
{
	char said[1024];

	assert_int_equal(RUN(said, "--socket", "/s"), 0);
	assert_string_equal(said, "");
	assert_string_equal(got_opt.socket, "/s");
	assert_null(got_opt.plugin_socket);
	assert_null(got_opt.stats_socket);
	assert_true(got_cfg.vram_size == 5ull << 30);
	assert_string_equal(got_cfg.board.name, "k20m");
	assert_true(got_cfg.ce_bytes_per_s == 0 && got_cfg.gr_warps_per_s == 0 &&
		    !got_cfg.verbose && !got_cfg.unposted);
	assert_string_equal(strrchr(got_cfg.vbios_path, '/'), "/k20m.rom");
	assert_true(strlen(got_cfg.vbios_path) > strlen("/k20m.rom"));
	assert_int_equal(destroyed, 7);
}

TEST(test_everything)
{
	char said[1024];

	assert_int_equal(RUN(said, "--socket=/s", "--plugin-socket=/p", "--stats-socket", "/t",
			     "--vram", "640M", "--vbios", "/rom", "--board", "k40m", "--ce-rate",
			     "500M", "--gr-rate", "20k", "--verbose", "--unposted", "--defect",
			     "fecs"),
			 0);
	assert_string_equal(got_opt.plugin_socket, "/p");
	assert_string_equal(got_opt.stats_socket, "/t");
	assert_true(got_cfg.vram_size == 640ull << 20);
	assert_string_equal(got_cfg.vbios_path, "/rom");
	assert_string_equal(got_cfg.board.name, "k40m");
	assert_true(got_cfg.ce_bytes_per_s == 500000000);
	assert_true(got_cfg.gr_warps_per_s == 20000);
	assert_true(got_cfg.verbose && got_cfg.unposted);
	assert_string_equal(got_cfg.defect, "fecs");
}

TEST(test_boards)
{
	struct gk110_board first;
	char said[1024];

	assert_int_equal(RUN(said, "--socket", "/s", "--board", "k20x"), 0);
	assert_true(got_cfg.vram_size == 6ull << 30);
	assert_string_equal(strrchr(got_cfg.vbios_path, '/'), "/k20x.rom");
	first = got_cfg.board;
	assert_int_equal(RUN(said, "--socket", "/s", "--board", "k20x", "--seed", "0"), 0);
	assert_memory_equal(&got_cfg.board, &first, sizeof(first));
	assert_int_equal(RUN(said, "--socket", "/s", "--board", "k20x", "--seed", "7"), 0);
	assert_memory_not_equal(&got_cfg.board, &first, sizeof(first));
	assert_int_equal(RUN(said, "--socket", "/s", "--board-file", "/no/such"), EXIT_USAGE);
	assert_non_null(strstr(said, "/no/such"));
}

TEST(test_sizes)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = {
		{ "0", 0 },	      { "5368709120", 5ull << 30 }, { "5G", 5ull << 30 },
		{ "5g", 5ull << 30 }, { "1T", 1ull << 40 },	    { "16K", 16384 },
	};
	static const char *const bad[] = {
		"",
		"G",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1X",
		"1GB",
		"5.5G",
		"0x10",
		"99999999999999999999",
		"16777216T",
		"1K1",
	};
	unsigned int i;
	uint64_t val;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(parse_scaled(good[i].text, 1024, &val), 0);
		assert_true(val == good[i].want);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!parse_scaled(bad[i], 1024, &val))
			fail_msg("'%s' was taken", bad[i]);
}

static void check_refused(int code, const char *said, const char *want)
{
	assert_int_equal(code, EXIT_USAGE);
	assert_int_equal(destroyed, 0);
	if (!strstr(said, want) || !strstr(said, "--help"))
		fail_msg("'%s' where '%s' is due", said, want);
}

TEST(test_refused)
{
	char said[1024];

	check_refused(RUN(said), said, "--socket PATH is missing");
	check_refused(RUN(said, "--socket", ""), said, "needs a path");
	check_refused(RUN(said, "--socket"), said, "requires an argument");
	check_refused(RUN(said, "--bogus"), said, "unrecognized option");
	check_refused(RUN(said, "--socket", "/s", "more"), said, "unexpected argument 'more'");
	check_refused(RUN(said, "--socket", "/s", "--vram", "five"), said, "--vram five");
	check_refused(RUN(said, "--socket", "/s", "--board", "k80"), said, "k40c or flat");
	check_refused(RUN(said, "--socket", "/s", "--seed", "-1"), said, "--seed -1");
	check_refused(RUN(said, "--socket", "/s", "--ce-rate", "fast"), said, "--ce-rate fast");
	check_refused(RUN(said, "--socket", "/s", "--gr-rate", "-5"), said, "--gr-rate -5");
	check_refused(RUN(said, "--socket", "/s", "--stats-socket", "/s"), said, "two sockets");
}

TEST(test_failures)
{
	char said[1024];

	server_fails = true;
	assert_int_equal(RUN(said, "--socket", "/s"), EXIT_START);
	server_fails = false;
	device_fails = true;
	assert_int_equal(RUN(said, "--socket", "/s"), EXIT_START);
	/* the server was destroyed, so its sockets are removed */
	assert_true(destroyed & 1);
	device_fails = false;
	run_fails = true;
	assert_int_equal(RUN(said, "--socket", "/s"), EXIT_RUN);
	assert_int_equal(destroyed, 7);
	run_fails = false;
}

TEST(test_help)
{
	const struct option *o;
	char said[1024];

	assert_int_equal(RUN(said, "--help"), EXIT_OK);
	assert_int_equal(RUN(said, "--version"), EXIT_OK);
	assert_int_equal(destroyed, 0);
	for (o = options; o->name; o++)
		if (!strstr(help_text, o->name))
			fail_msg("--help does not mention --%s", o->name);
}

TEST_MAIN(NULL, NULL)
