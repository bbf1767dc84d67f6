/* SPDX-License-Identifier: MIT */
/*
 * What the tools say of a wrong command line: the word, and the right one that is nearest. All
 * functions are pure.
 */
#ifndef KVGPU_COMMAND_LINE_H
#define KVGPU_COMMAND_LINE_H

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* longer words are near to none; a text has room for what is said of a word */
enum { WORD_MAX = 40, WRONG_TEXT = 256 };

/*
 * How many letters have to be put in, left out or exchanged, for another one or with the next one,
 * to make @b of @a. UINT_MAX: one of them is longer than WORD_MAX.
 */
static inline unsigned int word_distance(const char *a, const char *b)
{
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1], best;
	const size_t n = strlen(a), m = strlen(b);
	size_t i, k;

	if (n > WORD_MAX || m > WORD_MAX)
		return UINT_MAX;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (k = 0; k <= m; k++)
		d[0][k] = k;
	for (i = 1; i <= n; i++)
		for (k = 1; k <= m; k++) {
			best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
			if (d[i - 1][k] + 1 < best)
				best = d[i - 1][k] + 1;
			if (d[i][k - 1] + 1 < best)
				best = d[i][k - 1] + 1;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    d[i - 2][k - 2] + 1 < best)
				best = d[i - 2][k - 2] + 1;
			d[i][k] = best;
		}
	return d[n][m];
}

/*
 * The one of @nr words that @word is nearest to. @words is an array of structs of @size bytes, each
 * of which begins with a pointer to its word. NULL: more than a third of @word had to change.
 */
static inline const char *nearest_word(const char *word, const void *words, size_t nr, size_t size)
{
	unsigned int distance, least = (strlen(word) + 2) / 3 + 1;
	const char *nearest = NULL, *other;
	size_t i;

	for (i = 0; i < nr; i++) {
		other = *(const char *const *)((const char *)words + i * size);
		distance = word_distance(word, other);
		if (distance < least) {
			least = distance;
			nearest = other;
		}
	}
	return nearest;
}

/* Say in @text that there is no such word, a @kind as "command", and which one is near. */
static inline void wrong_word(char text[WRONG_TEXT], const char *kind, const char *word,
			      const void *words, size_t nr, size_t size)
{
	const char *nearest = nearest_word(word, words, nr, size);

	snprintf(text, WRONG_TEXT, "there is no %s \"%.*s\"%s%s%s", kind, WORD_MAX, word,
		 nearest ? "; the nearest is \"" : "", nearest ? nearest : "", nearest ? "\"" : "");
}

/*
 * Say in @text what is wrong with the option for which getopt_long() has just returned @c, '?' or
 * ':'. Its string of short options begins with ':' or "+:".
 */
static inline void wrong_option(char text[WRONG_TEXT], int c, char *const *argv,
				const struct option *options)
{
	const char *word = argv[optind - 1];
	const size_t letters = strcspn(word, "=");
	char dashes[WORD_MAX + 1], letter[3] = { '-', (char)optopt };
	const char *nearest;
	size_t nr, begun = 0;

	for (nr = 0; options[nr].name; nr++)
		begun += letters > 2 && !strncmp(options[nr].name, word + 2, letters - 2);
	if (c == ':') {
		snprintf(text, WRONG_TEXT, "\"%.*s\" wants a value", WORD_MAX, word);
	} else if (optopt && !(word[0] == '-' && word[1] == '-' && word[letters])) {
		wrong_word(text, "option", letter, options, 0, sizeof(*options));
	} else if (optopt) {
		snprintf(text, WRONG_TEXT, "this option has no value: \"%.*s\"", WORD_MAX, word);
	} else if (begun > 1) {
		snprintf(text, WRONG_TEXT, "\"%.*s\" begins more than one option", WORD_MAX, word);
	} else {
		snprintf(dashes, sizeof(dashes), "%.*s", (int)letters, word);
		nearest = nearest_word(dashes + 2, options, nr, sizeof(*options));
		wrong_word(text, "option", dashes, options, 0, sizeof(*options));
		if (nearest)
			snprintf(text + strlen(text), WRONG_TEXT - strlen(text),
				 "; the nearest is \"--%s\"", nearest);
	}
}

/* A command of a tool; @least to @most words follow it, which @wants names, as "FILE SIZE". */
struct tool_command {
	const char *name, *wants;
	int least, most;
};

/*
 * Which of @nr commands args[0] is, where @n - 1 words follow it. -1: it is none, or others have to
 * follow, and @text says so.
 */
static inline int find_command(const struct tool_command *commands, size_t nr, int n,
			       char *const *args, char text[WRONG_TEXT])
{
	const struct tool_command *c;
	size_t i;

	if (n < 1) {
		snprintf(text, WRONG_TEXT, "a command is missing");
		return -1;
	}
	for (i = 0; i < nr && strcmp(commands[i].name, args[0]); i++)
		;
	if (i == nr) {
		wrong_word(text, "command", args[0], commands, nr, sizeof(*commands));
		return -1;
	}
	c = &commands[i];
	if (n - 1 >= c->least && n - 1 <= c->most)
		return i;
	if (n - 1 < c->least)
		snprintf(text, WRONG_TEXT, "%s wants %s", c->name, c->wants);
	else
		snprintf(text, WRONG_TEXT, "%s takes %s, and not \"%.*s\"", c->name,
			 *c->wants ? c->wants : "no further word", WORD_MAX, args[c->most + 1]);
	return -1;
}

#endif
