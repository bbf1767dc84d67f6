// SPDX-License-Identifier: MIT
/* What the tools say of a wrong command line (include/user/command_line.h). */
#include <selftests/unit_test.h>

#include <include/user/command_line.h>

static char text[WRONG_TEXT];

TEST(distances)
{
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} pairs[] = {
		{ "list", "list", 0 },	    { "", "list", 4 },	     { "lst", "list", 1 },
		{ "liist", "list", 1 },	    { "lisd", "list", 1 },   { "lsit", "list", 1 },
		{ "ilts", "list", 2 },	    { "certs", "drain", 5 }, { "metrcis", "metrics", 1 },
		{ "kitten", "sitting", 3 }, { "ca", "abc", 3 },
	};
	char word[WORD_MAX + 2];
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		assert_int_equal(word_distance(pairs[i].a, pairs[i].b), pairs[i].distance);
		assert_int_equal(word_distance(pairs[i].b, pairs[i].a), pairs[i].distance);
	}
	memset(word, 'a', sizeof(word));
	word[WORD_MAX] = 0;
	assert_int_equal(word_distance(word, ""), WORD_MAX);
	word[WORD_MAX] = 'a';
	word[WORD_MAX + 1] = 0;
	assert_int_equal(word_distance(word, word), UINT_MAX);
}

static const struct tool_command commands[] = {
	{ "list", "", 0, 0 },
	{ "make", "FILE SIZE [PROGRAMS]", 2, 3 },
	{ "show", "FILE...", 1, INT_MAX },
};

/* @words: a command with what follows it, until NULL */
static int find(char *const *words)
{
	int n = 0;

	while (words[n])
		n++;
	*text = 0;
	return find_command(commands, 3, n, words, text);
}

#define FIND(...) find((char *[]){ __VA_ARGS__, NULL })

TEST(found_commands)
{
	assert_int_equal(FIND("list"), 0);
	assert_int_equal(FIND("make", "f", "1M"), 1);
	assert_int_equal(FIND("make", "f", "1M", "4"), 1);
	assert_int_equal(FIND("show", "a", "b", "c", "d"), 2);
	assert_string_equal(text, "");
	assert_int_equal(FIND(NULL), -1);
	assert_string_equal(text, "a command is missing");
	assert_int_equal(FIND("lsit"), -1);
	assert_string_equal(text, "there is no command \"lsit\"; the nearest is \"list\"");
	assert_int_equal(FIND("drain"), -1);
	assert_string_equal(text, "there is no command \"drain\"");
	assert_int_equal(FIND("make", "f"), -1);
	assert_string_equal(text, "make wants FILE SIZE [PROGRAMS]");
	assert_int_equal(FIND("make", "f", "1M", "4", "more"), -1);
	assert_string_equal(text, "make takes FILE SIZE [PROGRAMS], and not \"more\"");
	assert_int_equal(FIND("list", "all"), -1);
	assert_string_equal(text, "list takes no further word, and not \"all\"");
}

TEST(options)
{
	static const struct option known[] = { { "json", no_argument, NULL, 'j' },
					       { "plan", required_argument, NULL, 'm' },
					       { "prometheus", no_argument, NULL, 'p' },
					       { 0 } };
	static const struct {
		const char *word, *said;
	} lines[] = {
		{ "--jsno", "there is no option \"--jsno\"; the nearest is \"--json\"" },
		{ "--plna=1", "there is no option \"--plna\"; the nearest is \"--plan\"" },
		{ "--bogus", "there is no option \"--bogus\"" },
		{ "--p", "\"--p\" begins more than one option" },
		{ "--json=yes", "this option has no value: \"--json=yes\"" },
		{ "--plan", "\"--plan\" wants a value" },
		{ "-z", "there is no option \"-z\"" },
		{ "-j", "there is no option \"-j\"" },
		{ "-zz", "there is no option \"-z\"" },
	};
	char *argv[] = { "tool", NULL, NULL };
	size_t i;
	int c;

	opterr = 0;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		argv[1] = (char *)(uintptr_t)lines[i].word;
		optind = 0;
		c = getopt_long(2, argv, ":", known, NULL);
		assert_true(c == '?' || c == ':');
		wrong_option(text, c, argv, known);
		assert_string_equal(text, lines[i].said);
	}
}

/* Words of any length leave room in the text. */
TEST(long_words)
{
	char word[1000], *argv[] = { "tool", word, NULL };
	static const struct option known[] = { { 0 } };

	memset(word, '-', sizeof(word));
	word[sizeof(word) - 1] = 0;
	assert_int_equal(find(argv + 1), -1);
	optind = opterr = 0;
	wrong_option(text, getopt_long(2, argv, ":", known, NULL), argv, known);
	assert_non_null(strstr(text, "there is no option \"---"));
}

TEST_MAIN(NULL, NULL)
