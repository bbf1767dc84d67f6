// SPDX-License-Identifier: MIT
/* A trace's lines as a Chrome trace: what is written of right ones, and of those that lie. */
#include <stdlib.h>
#include <string.h>

#include <remote/ctl/ctl.h>
#include <selftests/unit_test.h>

static struct trace_sum sum;
static char *out;

static void write_json(const char *text)
{
	size_t bytes;
	FILE *f;

	free(out);
	sum = (struct trace_sum){ .dropped = 3 };
	f = open_memstream(&out, &bytes);
	assert_true(trace_json(f, text, 7, "its \"end\"", &sum));
	fclose(f);
}

static int end(void **state)
{
	free(out);
	out = NULL;
	return 0;
}

static void has(const char *text)
{
	if (!strstr(out, text))
		fail_msg("%s\nis not in\n%s", text, out);
}

TEST(work_has_a_call_and_a_span)
{
	write_json("n 5 _Z3addv\n"
		   "w launch 5 9 0 0 1000 2500 4000 3001 9007 gpu\n"
		   "w copy_out 0 0 2 64 5000 5000 6000 5500 5600 gpu\n"
		   "w cuStreamSynchronize 0 0 2 0 7000 7000 8000 0 0 waits\n");
	assert_int_equal(sum.kernels, 1);
	assert_int_equal(sum.copies, 1);
	assert_int_equal(sum.waits, 1);
	assert_int_equal(sum.wrong, 0);
	has("{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":1.500,\"dur\":1.500,\"cat\":\"kernel\",\"name\":\"_Z3addv\","
	    "\"args\":{\"op\":\"launch\",\"waited_us\":1.500,\"bytes\":0,\"gpu\":\"gpu\"}}");
	has("{\"ph\":\"X\",\"pid\":2,\"tid\":0,\"ts\":2.001,\"dur\":6.006,\"cat\":\"kernel\"");
	has("{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":4.500,\"dur\":0.100,\"cat\":\"copy\",\"name\":\"copy_out\"");
	has("\"pid\":2,\"tid\":1,\"args\":{\"name\":\"null stream\"}}");
	has("\"cat\":\"wait\",\"name\":\"cuStreamSynchronize\"");
	has("\"otherData\":{\"client\":7,\"end\":\"its \\\"end\\\"\",\"dropped\":3,\"wrong\":0}}");
}

TEST(captured_work_has_a_call_alone)
{
	write_json("w launch 5 9 0 0 1 1 1 0 0 captured\n");
	has("\"name\":\"function 5\"");
	has("\"gpu\":\"captured\"");
	assert_null(strstr(out, "\"pid\":2,\"tid\":0,\"ts\""));
}

TEST(names_are_cleaned)
{
	write_json("n 5 \"},{\\\x1b[31m\n"
		   "w launch 5 9 0 0 1 1 1 0 0 late\n"
		   "w a\"b\\ 0 0 0 0 1 1 1 0 0 x\"y\n");
	has("\"name\":\"\\\"},{\\\\?[31m\"");
	has("\"op\":\"a\\\"b\\\\\"");
	has("\"gpu\":\"x\\\"y\"");
	assert_int_equal(sum.wrong, 0);
}

TEST(lines_that_lie_are_left_out)
{
	static const char *const lies[] = {
		"w launch 5 9 0 0 3 2 4 0 0 gpu\n", /* begun before it came */
		"w launch 5 9 0 0 1 3 2 0 0 late\n",
		"w launch 5 9 0 0 1 5 6 4 9 gpu\n", /* on the GPU before it was begun */
		"w launch 5 9 0 0 1 5 6 9 8 gpu\n",
		"w launch 5 9 65536 0 1 1 1 0 0 late\n",
		"w launch 5 9 0 0 1 1 1 0 99999999999999999999 late\n",
		"w launch 5 9 0 0 1 1 1 0 -1 late\n",
		"w launch 5 9 0 0 1 1 1 0 0\n",
		"w launch 5 9 0 0 1 1 1 0 0 late late\n",
		"n x name\n",
		"n 5\n",
		"\n",
		"whatever",
	};
	char line[2000];
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		write_json(lies[i]);
		assert_int_equal(sum.wrong, 1);
		assert_null(strstr(out, "\"X\""));
	}
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = 0;
	write_json(line);
	assert_int_equal(sum.wrong, 1);
	write_json("");
	has("\"traceEvents\":[\n");
	assert_int_equal(sum.wrong, 0);
}

TEST_MAIN(NULL, end)
