// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle.h"

static void push(struct program *p, uint64_t word)
{
	if (p->words == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->word = realloc(p->word, p->room * sizeof(p->word[0]));
		p->text = realloc(p->text, p->room * sizeof(p->text[0]));
		p->refused = realloc(p->refused, p->room * sizeof(p->refused[0]));
		if (!p->word || !p->text || !p->refused)
			abort();
	}
	p->word[p->words] = word;
	p->text[p->words] = NULL;
	p->refused[p->words++] = false;
}

size_t program_add(struct program *p, uint64_t word)
{
	if (p->words % GROUP == 0)
		push(p, 0x0800000000000000ull);
	push(p, word);
	return p->words - 1;
}

static void pad(struct program *p)
{
	while (p->words % GROUP)
		push(p, NOP_WORD);
}

void program_append(struct program *p, const void *data, size_t bytes)
{
	uint64_t word;
	size_t i;

	pad(p);
	for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, (const char *)data + i, sizeof(word));
		push(p, word);
	}
	pad(p);
}

void program_free(struct program *p)
{
	size_t i;

	for (i = 0; i < p->words; i++)
		free(p->text[i]);
	free(p->word);
	free(p->text);
	free(p->refused);
	memset(p, 0, sizeof(*p));
}

static bool write_words(const struct program *p, int fd)
{
	FILE *f = fdopen(fd, "wb");
	uint64_t word;
	size_t i;

	if (!f)
		return false;
	for (i = 0; i < p->words; i++) {
		word = p->refused[i] ? NOP_WORD : p->word[i];
		if (fwrite(&word, sizeof(word), 1, f) != 1)
			break;
	}
	return fclose(f) == 0 && i == p->words;
}

/* "   /\*0008*\/     MOV R1, c[0x0][0x44];    /\* 0x64c03c00089c0006 *\/" */
static void take_line(struct program *p, char *line)
{
	char *at = strstr(line, "/*"), *text, *end;
	unsigned long address;

	if (!at || strspn(line, " \t") != (size_t)(at - line))
		return;
	address = strtoul(at + 2, &end, 16);
	if (end[0] != '*' || end[1] != '/' || address % 8 || address / 8 >= p->words)
		return;
	text = end + 2 + strspn(end + 2, " \t");
	end = strchr(text, ';');
	if (!end || p->refused[address / 8])
		return;
	*end = '\0';
	free(p->text[address / 8]);
	p->text[address / 8] = strdup(text);
}

/* how many words nvdisasm refused; -1: it said nothing */
static long read_output(struct program *p, FILE *f)
{
	static const char mark[] = "at address 0x";
	long refused = 0, lines = 0;
	unsigned long address;
	char line[4096], *at;

	while (fgets(line, sizeof(line), f)) {
		lines++;
		at = strstr(line, mark);
		if (strstr(line, "nvdisasm error") && at) {
			address = strtoul(at + sizeof(mark) - 1, NULL, 16);
			if (address / 8 < p->words && !p->refused[address / 8]) {
				p->refused[address / 8] = true;
				refused++;
			}
		} else {
			take_line(p, line);
		}
	}
	return lines ? refused : -1;
}

static long run_once(const char *nvdisasm, struct program *p)
{
	char path[] = "/tmp/sm35-XXXXXX", command[600];
	int fd = mkstemp(path);
	long refused = -1;
	FILE *f;

	if (fd < 0 || !write_words(p, fd)) {
		perror(path);
		return -1;
	}
	snprintf(command, sizeof(command), "'%s' --binary SM35 -ndf -hex '%s' 2>&1", nvdisasm,
		 path);
	f = popen(command, "r");
	if (f) {
		refused = read_output(p, f);
		if (pclose(f) != 0 && refused == 0)
			refused = -1;
	}
	unlink(path);
	return refused;
}

bool oracle_run(const char *nvdisasm, struct program *p)
{
	long refused;
	size_t i;

	pad(p);
	/* nothing is printed while a word is refused */
	do {
		refused = run_once(nvdisasm, p);
	} while (refused > 0);
	if (refused < 0) {
		fprintf(stderr, "%s: can't be run, or failed without a reason\n", nvdisasm);
		return false;
	}
	for (i = 0; i < p->words; i++) {
		if (p->refused[i])
			continue;
		if (i % GROUP && !p->text[i]) {
			fprintf(stderr, "%s: no text for word %zu, %016llx\n", nvdisasm, i,
				(unsigned long long)p->word[i]);
			return false;
		}
	}
	return true;
}

bool oracle_doubts(const char *text)
{
	const char *at = strstr(text, "ILLEGAL");

	if (strstr(text, "INVALID") || strstr(text, "???"))
		return true;
	if (at && at[7] >= '0' && at[7] <= '9')
		return true;
	/* a query without a name: "TXQ R0, R1, 7, 0x0, 0x0" */
	if (strstr(text, "TXQ") && !strstr(text, "TEX_"))
		return true;
	return false;
}
