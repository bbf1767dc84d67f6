/* SPDX-License-Identifier: MIT */
/*
 * Text that another side has said, such as a server the name of a GPU: what a terminal or a reader
 * of JSON may see of it. Pure but for text_json(), which prints.
 */
#ifndef KVGPU_CUDA_API_TEXT_H
#define KVGPU_CUDA_API_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Put '?' in the place of each byte that is not printable ASCII: of control characters, escape
 * sequences, UTF-8. @text, which has room for @size bytes, ends within them afterwards.
 */
static inline void text_clean(char *text, size_t size)
{
	text[size - 1] = 0;
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

/* Print @text as a string of JSON, with its quotes. */
static inline void text_json(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text < 0x20 || *text > 0x7e ? '?' : *text, to);
	}
	fputc('"', to);
}

#endif
