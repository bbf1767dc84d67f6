// SPDX-License-Identifier: MIT
/* The command line of kvgpu-run. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/cluster/run/options.h>

static struct run_options o;
static char why[OPTIONS_TEXT];
static char *words[32];
static char room[512];

/* @line: kvgpu-run's arguments without its name, such as "--gpus 2 prog -x". */
static int read_line(const char *line)
{
	int n = 0;
	char *at;

	words[n++] = (char *)(uintptr_t) "kvgpu-run";
	snprintf(room, sizeof(room), "%s", line);
	for (at = strtok(room, " "); at; at = strtok(NULL, " "))
		words[n++] = at;
	words[n] = NULL;
	return options_read(n, words, &o, why);
}

TEST(what_the_program_gets)
{
	assert_int_equal(read_line("--gpus 3 prog --gpus 9 -x"), 0);
	assert_int_equal(o.gpus, 3);
	assert_string_equal(o.program[0], "prog");
	assert_string_equal(o.program[1], "--gpus");
	assert_string_equal(o.program[3], "-x");
	assert_null(o.program[4]);
	assert_int_equal(read_line("-- --odd"), 0);
	assert_string_equal(o.program[0], "--odd");
}

TEST(left_out)
{
	assert_int_equal(read_line("prog"), 0);
	assert_int_equal(o.gpus, 0);
	assert_int_equal(o.mpi, MPI_KIND_AUTO);
	assert_string_equal(o.library, "libcuda.so.1");
	assert_true(!o.staging && !o.slots && o.eager == UINT64_MAX && !o.share && !o.each &&
		    !o.client);
}

TEST(values)
{
	assert_int_equal(
		read_line(
			"--mpi mpich --jobs each --staging 64K --slots 16 --eager 0 --arena 1G --pipeline off --client none --list"),
		0);
	assert_int_equal(o.mpi, MPI_KIND_MPICH);
	assert_true(o.each && o.list && !o.program && !o.trust_network);
	assert_int_equal(o.staging, 65536);
	assert_int_equal(o.slots, 16);
	assert_int_equal(o.eager, 0);
	assert_int_equal(o.arena, 1 << 30);
	assert_true(o.whole);
	assert_string_equal(o.client, "");
}

TEST(where_it_runs)
{
	assert_int_equal(read_line("prog"), 0);
	assert_int_equal(o.launcher, LAUNCHER_AUTO);
	assert_int_equal(read_line("--mpi local --trust-network prog"), 0);
	assert_true(o.mpi == MPI_KIND_LOCAL && o.trust_network);
	assert_int_equal(read_line("prog"), 0);
	assert_true(!o.spread && !o.memory && !o.wait_s && o.load == UINT32_MAX);
	assert_int_equal(
		read_line("--launcher srun --place spread --memory 512M --load 0 --wait 60 p"), 0);
	assert_int_equal(o.launcher, LAUNCHER_SRUN);
	assert_true(o.spread && o.memory == 512 << 20 && !o.load && o.wait_s == 60);
}

TEST(refused)
{
	static const struct {
		const char *line, *said;
	} wrong[] = {
		{ "", "PROGRAM is missing" },
		{ "--gpus 0 p", "--gpus is all or a number from 1 to 64, not \"0\"" },
		{ "--gpus -1 p", "\"-1\"" },
		{ "--gpus 65 p", "\"65\"" },
		{ "--gpus two p", "\"two\"" },
		{ "--gpus 2x p", "\"2x\"" },
		{ "--mpi intel p", "--mpi is auto, local, openmpi or mpich, not \"intel\"" },
		{ "--jobs two p", "--jobs is one or each" },
		{ "--staging 63K p", "--staging is bytes from 64K to 2M" },
		{ "--staging 3M p", "\"3M\"" },
		{ "--staging 18446744073709551615G p", "--staging is" },
		{ "--slots 1 p", "--slots is a number from 2 to 16" },
		{ "--slots 17 p", "\"17\"" },
		{ "--eager 65K p", "--eager is bytes from 0 to 64K" },
		{ "--pipeline no p", "--pipeline is on or off" },
		{ "--arena 17000000 p", "a multiple of 4096" },
		{ "--patience 0 p", "--patience is seconds from 1" },
		{ "--nothing p", "there is no option \"--nothing\"" },
		{ "--gpsu 2 p", "there is no option \"--gpsu\"; the nearest is \"--gpus\"" },
		{ "--share=2 p", "this option has no value: \"--share=2\"" },
		{ "--gpus", "\"--gpus\" wants a value" },
		{ "--launcher ssh p", "--launcher is auto, mpirun or srun" },
		{ "--place random p", "--place is pack or spread" },
		{ "--memory 0 p", "--memory is bytes from 1M on" },
		{ "--memory x p", "\"x\"" },
		{ "--load -1 p", "--load is a number from 0 to 1000" },
		{ "--wait soon p", "--wait is seconds from 0 to 86400" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(read_line(wrong[i].line), OPTIONS_WRONG);
		if (!strstr(why, wrong[i].said))
			fail_msg("%s: %s", wrong[i].line, why);
	}
	assert_int_equal(read_line("--help"), OPTIONS_HELP);
	assert_int_equal(read_line("--version p"), OPTIONS_VERSION);
}

TEST_MAIN(NULL, NULL)
