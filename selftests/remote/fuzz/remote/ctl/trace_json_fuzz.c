// SPDX-License-Identifier: MIT
/*
 * A trace's lines, which a client's process may have made up: what is written is letters alone,
 * with brackets in pairs outside of texts, and no text goes on over a line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <remote/ctl/ctl.h>

static void must(bool fine)
{
	if (!fine)
		abort();
}

static void check(const char *json, size_t n)
{
	bool inside = false;
	char open[8];
	unsigned int depth = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		must(json[i] == '\n' || (json[i] >= ' ' && json[i] <= '~'));
		must(!inside || json[i] != '\n');
		if (json[i] == '"')
			inside = !inside;
		else if (inside && json[i] == '\\')
			i++;
		if (inside)
			continue;
		if (json[i] == '{' || json[i] == '[') {
			must(depth < sizeof(open));
			open[depth++] = json[i];
		} else if (json[i] == '}' || json[i] == ']') {
			must(depth && open[--depth] == (json[i] == '}' ? '{' : '['));
		}
	}
	must(!inside && !depth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = calloc(1, n + 1), *json;
	struct trace_sum sum = { 0 };
	size_t bytes;
	FILE *f = open_memstream(&json, &bytes);

	memcpy(text, data, n);
	must(trace_json(f, text, 1, "", &sum));
	fclose(f);
	check(json, bytes);
	free(json);
	free(text);
	return 0;
}
