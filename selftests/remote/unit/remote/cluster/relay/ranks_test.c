// SPDX-License-Identifier: MIT
/* The command of one rank, out of a command line that has those of all ranks. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/cluster/relay/ranks.h>

/* the words that rank @rank gets of @line, with blanks between; NULL: it gets none */
static const char *picked(const char *rank, const char *line)
{
	static char copy[256], text[256];
	char *words[32], **argv = words, *word;
	int argc = 0, i;

	strcpy(copy, line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[argc++] = word;
	words[argc] = NULL;
	if (!ranks_pick(rank, &argc, &argv))
		return NULL;
	assert_null(argv[argc]);
	text[0] = 0;
	for (i = 0; i < argc; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", argv[i]);
	return text;
}

TEST(each_rank_its_own)
{
	const char *line =
		"relay ranks relay broker --first 0 --next relay proxy --device 0 --next relay proxy";

	assert_string_equal(picked("0", line), "relay broker --first 0");
	assert_string_equal(picked("1", line), "relay proxy --device 0");
	assert_string_equal(picked("2", line), "relay proxy");
	assert_null(picked("3", line));
}

TEST(no_such_rank)
{
	static const char *const wrong[] = {
		NULL, "", "-1", "x", "1x", " 0", "18446744073709551616"
	};
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_null(picked(wrong[i], "relay ranks relay broker --next relay proxy"));
	assert_null(picked("0", "relay ranks"));
	assert_null(picked("0", "relay ranks --next relay proxy"));
	assert_null(picked("1", "relay ranks relay broker --next"));
	assert_null(picked("1", "relay ranks relay broker --next --next relay proxy"));
}

TEST_MAIN(NULL, NULL)
