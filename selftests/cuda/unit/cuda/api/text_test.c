// SPDX-License-Identifier: MIT
/* What a terminal and a reader of JSON (RFC 8259) may see of the other side's text. */
#include <selftests/unit_test.h>

#include <cuda/api/text.h>

TEST(only_printable_ascii_is_left)
{
	char text[64] = "K20m\x1b]0;owned\x07\x1b[2J \"\\ \x7f\xc3\xa9\xff\n.";
	char full[4] = { 'a', 'b', 'c', 'd' };

	text_clean(text, sizeof(text));
	assert_string_equal(text, "K20m?]0;owned??[2J \"\\ ?????.");
	text_clean(full, sizeof(full));
	assert_string_equal(full, "abc");
}

TEST(a_string_of_json_ends_where_it_should)
{
	char *made = NULL;
	size_t n;
	FILE *f = open_memstream(&made, &n);

	text_json(f, "K20m\"}],\"x\":\"\\\x1b[0m\n");
	fclose(f);
	assert_string_equal(made, "\"K20m\\\"}],\\\"x\\\":\\\"\\\\?[0m?\"");
	free(made);
}

TEST_MAIN(NULL, NULL)
