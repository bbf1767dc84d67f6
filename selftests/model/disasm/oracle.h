/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_SELFTESTS_CUDA_DISASM_ORACLE_H
#define KVGPU_SELFTESTS_CUDA_DISASM_ORACLE_H
/*
 * nvdisasm as an oracle: the text it has for each word of a raw program, or that it refuses the
 * word.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOP_WORD 0x85800000001c3c02ull
#define GROUP	 8 /* the first word of a group is scheduling control */

struct program {
	uint64_t *word;
	/* without semicolon; NULL for control words and refused ones */
	char **text;
	bool *refused;
	size_t words, room;
};

/* returns its index; a control word comes before where one is due */
size_t program_add(struct program *p, uint64_t word);
/* control words and all; padded to a whole group */
void program_append(struct program *p, const void *data, size_t bytes);
void program_free(struct program *p);

/* Fills text and refused. False, with a message: nvdisasm did not do its work. */
bool oracle_run(const char *nvdisasm, struct program *p);

/* nvdisasm marks a field as meaningless */
bool oracle_doubts(const char *text);

#endif
