/* SPDX-License-Identifier: MIT */
/* Files of "key = value" lines. */
#ifndef KVGPU_REMOTE_CONF_H
#define KVGPU_REMOTE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONF_FILE_MAX = 64 << 10, CONF_LINE_MAX = 512, CONF_TEXT = 256 };

struct conf_error {
	unsigned int line; /* 0: about the whole file */
	char text[CONF_TEXT];
};

/*
 * One key that a file may have. @read: puts @value into @to; false: there is no such value, and the
 * error message says by @want what a value is.
 */
struct conf_key {
	const char *name, *want;
	bool (*read)(const char *value, void *to, const struct conf_key *k);
	size_t at; /* offset in the struct that is filled */
	uint64_t min, max; /* bounds of numbers and sizes; texts: max is the size of the array */
	bool often; /* the key may come often: @to is the struct itself */
	/* why @read takes no such value, more closely than .want; NULL: nothing more is known */
	const char *(*why)(const char *value);
};

/* What a file may have. */
struct conf_form {
	const struct conf_key *keys;
	unsigned int nr_keys; /* 64 at most */
	/*
	 * "[kind name]" begins a section: return what its keys fill, or NULL and @why. NULL: the
	 * file has no sections.
	 */
	void *(*section)(void *conf, const char *kind, const char *name, char why[CONF_TEXT]);
	/* sections may have so many keys, the first ones of .keys */
	unsigned int nr_section_keys;
	/* is told each wrong line, and .of; NULL: what comes behind the first one is not read */
	void (*wrong)(const struct conf_error *e, void *of);
	void *of;
};

/*
 * Fill @conf from @n bytes; false: *e is the last error that was met, and @conf has what was right.
 * Keys of a section whose head is wrong are not looked at. Pure.
 */
bool conf_parse(const struct conf_form *form, void *conf, const char *bytes, size_t n,
		struct conf_error *e);
/* Say in *e that the value is none for that key, which the user has called @name. */
void conf_wrong_value(struct conf_error *e, const char *name, const struct conf_key *k,
		      const char *value);
/* Fill @conf from a file. *missing: there is no such file, which is no error in the file. */
bool conf_load(const struct conf_form *form, void *conf, const char *path, bool *missing,
	       struct conf_error *e);

/* Read a number of digits alone, @max at most. */
bool conf_natural(const char *text, uint64_t max, uint64_t *n);

/* for conf_key.read; @to: uint64_t for a number and a size, bool, else char[k->max] */
bool conf_number(const char *value, void *to, const struct conf_key *k);
/* such as 4096, 512K, 64M, 4G, 1T */
bool conf_size(const char *value, void *to, const struct conf_key *k);
bool conf_time(const char *value, void *to, const struct conf_key *k); /* 0, 30s, 10min, 2h */
bool conf_yes(const char *value, void *to, const struct conf_key *k);
bool conf_path(const char *value, void *to, const struct conf_key *k); /* the value begins with / */
bool conf_text(const char *value, void *to, const struct conf_key *k);

#endif
