// SPDX-License-Identifier: MIT
/* What a terminal and a reader of JSON (RFC 8259) may see of the other side's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda/api/text.h>

static void only_printable_ascii_is_left(void **state)
{
	char text[64] = "K20m\x1b]0;owned\x07\x1b[2J \"\\ \x7f\xc3\xa9\xff\n.";
	char full[4] = { 'a', 'b', 'c', 'd' };

	text_clean(text, sizeof(text));
	assert_string_equal(text, "K20m?]0;owned??[2J \"\\ ?????.");
	text_clean(full, sizeof(full));
	assert_string_equal(full, "abc");
}

static void a_string_of_json_ends_where_it_should(void **state)
{
	char *made = NULL;
	size_t n;
	FILE *f = open_memstream(&made, &n);

	text_json(f, "K20m\"}],\"x\":\"\\\x1b[0m\n");
	fclose(f);
	assert_string_equal(made, "\"K20m\\\"}],\\\"x\\\":\\\"\\\\?[0m?\"");
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_printable_ascii_is_left),
		cmocka_unit_test(a_string_of_json_ends_where_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
